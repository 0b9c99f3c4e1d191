"""Settings -> who may do what: the rights of groups, and the proxies whose headers name persons.

Then accounts: the persons who logged in and their sessions, in a state database. What is stored of a person: who
vouches for them, their subject and name there, those of their groups that have rights here, and hashes of the tokens
of their sessions. Nothing is imported here that a server without logins would pay for."""

import ipaddress
import json
import re
import secrets
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import yaml
from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from nacre.config.settings import Settings
from nacre.errors import ConfigError
from nacre.language.sanitize import strip_control_characters
from nacre.serving.keys import RIGHTS, Caller
from nacre.stores.state.database import StateDatabase, StorageError, install_tables, open_state, unusable_state

# a subject has at most 255 characters (OpenID Connect Core, section 2); the others are set by hand
MAX_SUBJECT, MAX_NAME, MAX_TABLE = 255, 100, 1_000_000

# the file of the settings, and a line of it that is not for others
ENV_FILE = Path(".env")
SECRET_LINE = re.compile(r"^\s*(?:export )?\w*(?:KEYS?|SECRET|TOKEN|DATABASE_URL)\s*=\s*\S", re.MULTILINE)

# the group that every account has
EVERYBODY = "*"


@dataclass(frozen=True)
class Person:
    """An account: who vouches for it, its subject and name there, and those of its groups that have rights here."""

    issuer: str
    subject: str
    name: str
    groups: tuple[str, ...]

    @property
    def owner(self) -> str:
        """Who owns their threads. No key has such a name.

        >>> Person("https://id.example", "7", "Ann", ()).owner
        '@c1133f110e13585f61baded218293b67'
        """
        return "@" + sha256(f"{self.issuer}\n{self.subject}".encode()).hexdigest()[:32]


class GroupRights(BaseModel):
    """What the members of a group may read and do."""

    model_config = ConfigDict(extra="forbid")
    graphs: tuple[str, ...] | Literal["all"] = ()
    may: tuple[Literal["write", "approve", "share"], ...] = ()


class RightsTable:
    """The rights of each group; a person has those of all their groups."""

    def __init__(self, rights: Mapping[str, GroupRights]) -> None:
        self._rights = rights

    def known(self, groups: Iterable[str]) -> tuple[str, ...]:
        """The groups that have rights here; of thousands, few have."""
        return tuple(sorted(self._rights.keys() & {*groups, EVERYBODY}))

    def caller(self, person: Person) -> Caller | None:
        """The person as a caller; None if none of their groups has rights."""
        rights = [self._rights[group] for group in person.groups if group in self._rights]
        if not rights:
            return None
        named = {name for each in rights if each.graphs != "all" for name in each.graphs}
        graphs = None if any(each.graphs == "all" for each in rights) else tuple(sorted(named))
        may = tuple(right for right in RIGHTS if any(right in each.may for each in rights))
        return Caller(person.owner, graphs, may, person.name)


def read_rights(setting: str | None) -> RightsTable:
    """The table of NACRE_LOGIN_GROUPS: the name of a YAML file, or YAML in braces. Raises ConfigError."""
    if not setting:
        raise ConfigError(
            "Nobody who logs in has any rights. Set NACRE_LOGIN_GROUPS to a YAML file with lines such as:"
            " editors: {graphs: all, may: [write]}"
        )
    try:
        text = setting if setting.lstrip().startswith("{") else Path(setting).read_text(encoding="utf-8")
        if len(text) > MAX_TABLE:
            raise ConfigError(f"NACRE_LOGIN_GROUPS has more than {MAX_TABLE:,} characters.")
        table = TypeAdapter(dict[str, GroupRights]).validate_python(yaml.safe_load(text))
    except OSError as error:
        raise ConfigError(f"NACRE_LOGIN_GROUPS: {setting[:200]} can't be read ({error.strerror}).") from error
    except yaml.YAMLError as error:
        raise ConfigError("NACRE_LOGIN_GROUPS is not valid YAML.") from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise ConfigError(f"NACRE_LOGIN_GROUPS, {where or 'the table'}: {first['msg']}.") from error
    return RightsTable(table)


def make_person(issuer: str, subject: Any, name: Any, groups: Iterable[str], rights: RightsTable) -> Person | None:
    """The person of what an issuer or proxy states; None if the subject can't be one."""
    if not isinstance(subject, str) or not 0 < len(subject) <= MAX_SUBJECT or not subject.isprintable():
        return None
    shown = " ".join(strip_control_characters(str(name or subject)[: 10 * MAX_NAME]).split())[:MAX_NAME]
    return Person(issuer, subject, shown or subject[:MAX_NAME], rights.known(groups))


def add_login(app: FastAPI, *, alone: bool) -> None:
    """Let people log in, if the settings say so. Raises ConfigError."""
    settings: Settings = app.state.settings
    if settings.has_login:
        check_settings(settings)
        from nacre.extensions.login.routes import add_routes

        add_routes(app, settings)


@asynccontextmanager
async def close_accounts(app: FastAPI) -> AsyncIterator[None]:
    """Close the accounts when the server stops."""
    yield
    if (login := getattr(app.state, "login", None)) is not None:
        login.accounts.close()


def check_settings(settings: Settings) -> None:
    """Raise ConfigError unless people can log in with these settings."""
    read_rights(settings.login_groups)
    if settings.login_headers:
        trusted_networks(settings)
    try:
        from nacre.extensions.login.issuer import check_issuer
    except ImportError as error:
        raise ConfigError("The settings NACRE_LOGIN_* need more packages. Run: pip install 'nacre[login]'") from error
    if settings.login_issuer is not None:
        check_issuer(settings)


def examine_login(settings: Settings) -> Iterator[tuple[str, str, str, bool]]:
    """What `nacre doctor` finds of the login, if one is configured, and of who may read secrets in `.env`: about, text,
    next step, whether it is broken."""
    with suppress(OSError):
        if ENV_FILE.stat().st_mode & 0o077 and SECRET_LINE.search(ENV_FILE.read_text(errors="replace")):
            yield "settings", ".env has secrets, and other users can read it", "chmod 600 .env", False
    if not settings.has_login:
        return
    try:
        check_settings(settings)
    except ConfigError as error:
        yield "login", str(error).rstrip("."), "correct the settings NACRE_LOGIN_*, see docs/login.md", True
        return
    if settings.login_issuer is None:
        yield "login", f"the proxies {settings.trusted_proxies} name persons", "", False
        return
    from nacre.extensions.login.issuer import examine_issuer

    yield from examine_issuer(settings)


Networks = tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]


def trusted_networks(settings: Settings) -> Networks:
    """The proxies whose headers name persons. Raises ConfigError if that may be anybody."""
    names = [each.strip() for each in settings.trusted_proxies.split(",") if each.strip()]
    try:
        networks = tuple(ipaddress.ip_network(each, strict=False) for each in names)
    except ValueError as error:
        raise ConfigError(f"NACRE_LOGIN_HEADERS needs addresses in NACRE_TRUSTED_PROXIES: {error}.") from error
    if not networks or any(each.prefixlen == 0 for each in networks):
        raise ConfigError("NACRE_LOGIN_HEADERS needs the addresses of your proxies in NACRE_TRUSTED_PROXIES.")
    return networks


def is_within(address: str, networks: Networks) -> bool:
    """Whether an address is in one of the networks.

    >>> is_within("10.1.2.3", (ipaddress.ip_network("10.0.0.0/8"),)), is_within("unix", ())
    (True, False)
    """
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(found in each for each in networks)


FILE, PART = "login.sqlite", "login"

VERSIONS = (
    (
        """CREATE TABLE IF NOT EXISTS account (
        owner TEXT PRIMARY KEY, issuer TEXT NOT NULL, subject TEXT NOT NULL, name TEXT NOT NULL,
        groups TEXT NOT NULL, seen {real} NOT NULL)""",
        """CREATE TABLE IF NOT EXISTS login_session (
        hash TEXT PRIMARY KEY, owner TEXT NOT NULL, groups TEXT NOT NULL, began {real} NOT NULL,
        expires {real} NOT NULL)""",
        "CREATE INDEX IF NOT EXISTS login_session_owner ON login_session (owner, began)",
        "CREATE INDEX IF NOT EXISTS login_session_until ON login_session (expires)",
    ),
    ("CREATE TABLE IF NOT EXISTS login_key (number INTEGER PRIMARY KEY, value TEXT NOT NULL)",),
)

# sessions of a person at the same time, the latest ones (set by hand)
MAX_SESSIONS = 20


class Accounts:
    """Persons and sessions. Methods raise StorageError if they can't be read or written."""

    def __init__(self, database: StateDatabase, rights: RightsTable) -> None:
        self._database = database
        self._rights = rights
        install_tables(database, PART, VERSIONS)

    def login_key(self) -> bytes:
        """What signs the cookies of logins that have begun, on all servers."""
        with self._database.writing() as run:
            run("INSERT INTO login_key VALUES (1, ?) ON CONFLICT (number) DO NOTHING", secrets.token_hex(32))
            return bytes.fromhex(run("SELECT value FROM login_key").fetchall()[0][0])

    def note(self, person: Person) -> None:
        """Store a person as they were seen last, with their groups."""
        row = {"owner": person.owner, "issuer": person.issuer, "subject": person.subject, "name": person.name}
        row |= {"groups": json.dumps(person.groups)}
        with self._database.writing() as run:
            run.upsert("account", {**row, "seen": self._database.now()}, "owner")

    def find(self, owner: str) -> Caller | None:
        """A person who was here, with the rights of their groups when they were seen last."""
        rows = self._database.read("SELECT issuer, subject, name, groups FROM account WHERE owner = ?", owner)
        return self._rights.caller(_person(*rows[0])) if rows else None

    def begin_session(self, person: Person, seconds: float, earlier: str = "") -> str:
        """A new session: its token, of which only the hash is stored. The session `earlier`, expired ones, and the
        oldest of too many are deleted."""
        self.note(person)
        token, now = secrets.token_urlsafe(32), self._database.now()
        with self._database.writing() as run:
            run("DELETE FROM login_session WHERE expires <= ? OR hash = ?", now, _hash(earlier))
            row = _hash(token), person.owner, json.dumps(person.groups), now, now + seconds
            run("INSERT INTO login_session VALUES (?, ?, ?, ?, ?)", *row)
            run(
                "DELETE FROM login_session WHERE owner = ? AND hash NOT IN (SELECT hash FROM login_session"
                " WHERE owner = ? ORDER BY began DESC, hash LIMIT ?)",
                *(person.owner, person.owner, MAX_SESSIONS),
            )
        return token

    def find_session(self, token: str) -> Caller | None:
        """Whose session a token is; None if it has ended."""
        rows = self._database.read(
            "SELECT a.issuer, a.subject, a.name, s.groups FROM login_session s JOIN account a ON a.owner = s.owner"
            " WHERE s.hash = ? AND s.expires > ?",
            *(_hash(token), self._database.now()),
        )
        return self._rights.caller(_person(*rows[0])) if rows else None

    def end_session(self, token: str) -> None:
        with self._database.writing() as run:
            run("DELETE FROM login_session WHERE hash = ?", _hash(token))

    def named(self, who: str) -> list[dict[str, Any]]:
        """What is stored of the persons with this owner, else with this subject, else with this name."""
        columns = ("owner", "issuer", "subject", "name", "groups", "seen")
        sql = f"SELECT {', '.join(columns)} FROM account WHERE owner = ? OR subject = ? OR name = ? ORDER BY owner"
        found = [dict(zip(columns, row, strict=True)) for row in self._database.read(sql, who, who, who)]
        # people choose their names, also those that are owners or subjects of others
        exact = ([each for each in found if each[column] == who] for column in ("owner", "subject", "name"))
        found = next(filter(None, exact), [])
        sql = "SELECT began, expires FROM login_session WHERE owner = ? ORDER BY began"
        for each in found:
            each["sessions"] = [list(row) for row in self._database.read(sql, each["owner"])]
        return found

    def forget(self, owner: str, *tables: str) -> int:
        """Delete what these tables have of a person, all by default; the number of rows."""
        with self._database.writing(deletes=True) as run:
            deleted = [
                run(f"DELETE FROM {table} WHERE owner = ?", owner).rowcount
                for table in tables or ("account", "login_session")
            ]
        return sum(deleted)

    def close(self) -> None:
        self._database.close()


def find_persons(settings: Settings, who: str) -> list[dict[str, Any]]:
    """What is stored of the persons with this owner, subject or name. Raises ConfigError."""
    with _opened(settings) as accounts:
        return accounts.named(who) if accounts is not None else []


def end_sessions(settings: Settings, owner: str) -> int:
    """End the sessions of a person; their number. Raises ConfigError."""
    with _opened(settings) as accounts:
        return accounts.forget(owner, "login_session") if accounts is not None else 0


def forget_person(settings: Settings, owner: str) -> None:
    """Delete what is stored of a person, and end their sessions. Raises ConfigError."""
    with _opened(settings) as accounts:
        if accounts is not None:
            accounts.forget(owner)


@contextmanager
def _opened(settings: Settings) -> Iterator[Accounts | None]:
    """The accounts; None if nobody has logged in."""
    if settings.database_url is None and not (settings.data / FILE).exists():
        yield None
        return
    database = open_state(settings, FILE)
    try:
        yield Accounts(database, RightsTable({}))
    except StorageError as error:
        raise unusable_state(database, error) from error
    finally:
        database.close()


def _person(issuer: str, subject: str, name: str, groups: str) -> Person:
    return Person(issuer, subject, name, tuple(json.loads(groups)))


def _hash(token: str) -> str:
    # a token has 256 random bits: a slow hash would add no protection
    return sha256(token.encode(errors="replace")).hexdigest()
