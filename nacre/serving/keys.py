"""API keys: a key -> its owner and readable graphs. NACRE_DATA/keys.json, or a shared database, has their hashes."""

import fcntl
import json
import logging
import os
import re
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from dataclasses import replace as replaced
from hashlib import sha256
from pathlib import Path
from typing import Any

from nacre.config.settings import Settings
from nacre.errors import ConfigError
from nacre.extension import service
from nacre.serving.errors import Forbidden
from nacre.stores.state.database import StateDatabase, StorageError, open_state, unusable_state

log = logging.getLogger(__name__)

KEY_FILE = "keys.json"

# what a key may do besides asking: change names, approve answers, share answers
RIGHTS = ("write", "approve", "share")

KEY_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")


@dataclass(frozen=True)
class Caller:
    """Who sent a request. `owner` owns the threads, `graphs` are the readable graphs (None: all), `may` its rights,
    `name` the name of a person who logged in, `visitor` the address of a visitor without a key. Of the owner's threads,
    a visitor may use those that visitors created, by their random names."""

    owner: str
    graphs: tuple[str, ...] | None = None
    may: tuple[str, ...] = ()
    name: str = ""
    visitor: str = ""

    def may_read(self, graph: str) -> bool:
        """Whether this caller may read a graph.

        >>> caller = Caller("ann", ("maps",))
        >>> caller.may_read("maps"), caller.may_read("cars"), Caller("bo").may_read("cars")
        (True, False, True)
        """
        return self.graphs is None or graph in self.graphs

    def require(self, right: str, deed: str) -> None:
        """Raise Forbidden unless this caller has a right, which the deed needs."""
        if right not in self.may:
            advice = f"Run: nacre keys add NAME --may {right}"
            if self.name:
                advice = f"Ask the operator to give one of your groups the right {right!r}."
            raise Forbidden(f"This {'account' if self.name else 'key'} may not {deed}. {advice}")


audit_log = logging.getLogger("nacre.audit")


def report_deed(caller: Caller, deed: str, *queries: str, **about: object) -> None:
    """Report what a caller did, with the hash of its queries, to the log `nacre.audit`, if an extension follows it."""
    if audit_log.handlers:
        if queries:
            about["query"] = sha256("\n".join(queries).encode(errors="replace")).hexdigest()[:16]
        audit_log.info(deed, extra={"caller": caller, "about": about})


# without keys, this machine may do everything
LOCAL_CALLER = Caller("local", may=RIGHTS)

# who sent what was refused, if that is not known
NOBODY = Caller("-", ())


@dataclass(frozen=True)
class StoredKey:
    """One key as stored: its hash (SHA-256, hex), never the key itself. `revoked` is a time, None while it is valid."""

    name: str
    hash: str
    graphs: tuple[str, ...] | None
    created: float
    revoked: float | None = None
    may: tuple[str, ...] = ()


class KeysUnavailable(ConfigError):
    """The database of the keys does not answer."""


class KeyStore:
    """The keys of a data folder. A change of the file takes effect with the next request, in every process."""

    # the one that several servers share
    database: StateDatabase | None = None
    # owners without a key: an extension sets what finds persons who have logged in
    find_person: Callable[[str], Caller | None] | None = None

    def __init__(self, data: Path) -> None:
        self.file = data / KEY_FILE
        self._file_state: tuple[int, int] | None = None
        self._keys: tuple[StoredKey, ...] = ()
        # once there were keys, only a new object, as after a restart, accepts that there are none
        self._had_keys = False

    def all(self) -> tuple[StoredKey, ...]:
        """All keys, also revoked ones; raises ConfigError if unreadable, or gone or empty after it had keys."""
        try:
            keys = self._all()
        except FileNotFoundError:
            keys = ()
        except OSError as error:
            raise ConfigError(
                f"{self.file} can't be read ({error.strerror}), so no key is accepted. Check its permissions."
            ) from error
        return self._checked(keys)

    def _checked(self, keys: tuple[StoredKey, ...]) -> tuple[StoredKey, ...]:
        if self._had_keys and not keys:
            raise ConfigError(
                f"{self.place} had keys and has none now. Run: nacre keys add NAME, or restart the server"
            )
        self._had_keys = bool(keys)
        return keys

    @property
    def place(self) -> str:
        """Where the keys are stored, for messages."""
        return str(self.file)

    def _all(self) -> tuple[StoredKey, ...]:
        status = self.file.stat()
        file_state = status.st_mtime_ns, status.st_ino
        if file_state != self._file_state:
            self._restrict(status.st_mode)
            try:
                entries = json.loads(self.file.read_text(encoding="utf-8"))
                if not isinstance(entries, list):
                    raise TypeError("it is no list")
                self._keys = tuple(map(_stored_key, entries))
            except (ValueError, TypeError, KeyError, RecursionError) as error:
                # a damaged file must not grant access, nor its removal
                self._had_keys = True
                raise ConfigError(
                    f"{self.file} is damaged ({error}). Remove it and run: nacre keys add NAME"
                ) from error
            self._file_state = file_state
        return self._keys

    def _restrict(self, mode: int) -> None:
        """Let only the owner read the file; a copy or an editor may have changed that."""
        if mode & 0o077:
            try:
                self.file.chmod(0o600)
            except OSError as error:
                log.warning("others can read %s, and its mode can't be changed: %s", self.file, error.strerror)

    def find_caller(self, token: str) -> Caller | None:
        """The caller that a key stands for; None if the key is not valid."""
        hashed = _hash(token)
        valid = (key for key in self.all() if key.hash == hashed and key.revoked is None)
        return next((Caller(key.name, key.graphs, key.may) for key in valid), None)

    def find_owner(self, name: str) -> tuple[Caller, str] | None:
        """The caller of this name and the hash of its key; None if its key is revoked. Without keys, this is the local
        caller, and the hash is "", as for persons who log in."""
        keys = self.all()
        if self.find_person is not None and (person := self.find_person(name)) is not None:
            return person, ""
        if not keys and self.find_person is None:
            return (LOCAL_CALLER, "") if name == LOCAL_CALLER.owner else None
        valid = (key for key in keys if key.name == name and key.revoked is None)
        return next(((Caller(key.name, key.graphs, key.may), key.hash) for key in valid), None)

    def person_names(self, owners: Iterable[str]) -> dict[str, str]:
        """The names of those owners that are persons who log in."""
        found = {each: self.find_person(each) for each in owners} if self.find_person is not None else {}
        return {owner: person.name for owner, person in found.items() if person is not None}

    def add(self, name: str, graphs: Sequence[str] | None, *, may: Sequence[str] = (), replace: bool = False) -> str:
        """Create a key and return it, once. `may` are RIGHTS; `replace` gives an existing name a new key."""
        unknown = sorted(set(may) - set(RIGHTS))
        if unknown:
            raise ConfigError(f"A key may {', '.join(RIGHTS)}; {', '.join(unknown)} is no right.")
        if not KEY_NAME.fullmatch(name) or name == LOCAL_CALLER.owner:
            raise ConfigError(f"{name!r} can't name a key: use lower-case letters, digits and hyphens, not 'local'.")
        with self._locked() as keys:
            return self._add(keys, name, graphs, may, replace=replace)

    def _add(
        self, keys: Sequence[StoredKey], name: str, graphs: Sequence[str] | None, may: Sequence[str], *, replace: bool
    ) -> str:
        if replace and not any(key.name == name for key in keys):
            raise ConfigError(f"There is no key named {name!r} to replace. Run: nacre keys add {name}")
        if not replace and any(key.name == name for key in keys):
            # threads belong to the name: a new owner of the name would get them
            raise ConfigError(
                f"The name {name!r} is in use, and its threads are stored. Choose another name, or run: "
                f"nacre keys add {name} --replace"
            )
        token = f"nacre_{secrets.token_urlsafe(32)}"
        new = StoredKey(name, _hash(token), None if graphs is None else tuple(graphs), self._now(), may=tuple(may))
        self._write([*(key for key in keys if key.name != name), new])
        return token

    def revoke(self, name: str) -> None:
        """Revoke a key; its threads stay."""
        with self._locked() as keys:
            if not any(key.name == name and key.revoked is None for key in keys):
                raise ConfigError(f"There is no key named {name!r} to revoke. Run: nacre keys list")
            now = self._now()
            self._write([replaced(key, revoked=now) if key.name == name else key for key in keys])

    def _now(self) -> float:
        return time.time()

    @contextmanager
    def _locked(self) -> Iterator[tuple[StoredKey, ...]]:
        """The current keys, locked against changes by other processes until the block ends."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with open(self.file.with_suffix(".lock"), "a", opener=_private) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self._file_state = None
            self._had_keys = False
            yield self.all()

    def _write(self, keys: Sequence[StoredKey]) -> None:
        new = self.file.with_suffix(f".{os.getpid()}")
        try:
            with open(new, "w", encoding="utf-8", opener=_private) as out:
                json.dump([asdict(key) for key in keys], out, indent=1)
                out.write("\n")
            os.replace(new, self.file)
        except OSError:
            new.unlink(missing_ok=True)
            raise


def open_keys(settings: Settings) -> KeyStore:
    """The keys of NACRE_DATABASE_URL, else those of the data folder. Raises ConfigError."""
    if settings.database_url is None:
        return KeyStore(settings.data)
    database = open_state(settings, KEY_FILE)
    try:
        keys: KeyStore = service("fleet", "keys")(database)
        return keys
    except StorageError as error:
        raise unusable_state(database, error) from error


def _stored_key(entry: dict[str, Any]) -> StoredKey:
    graphs = None if entry["graphs"] is None else tuple(entry["graphs"])
    return StoredKey(**{**entry, "graphs": graphs, "may": tuple(entry.get("may", ()))})


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _hash(token: str) -> str:
    # a key has 256 random bits: a slow hash would add no protection
    return sha256(token.encode(errors="replace")).hexdigest()
