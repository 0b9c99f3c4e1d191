"""Accounts: the persons who logged in and their sessions, in a state database.

What is stored of a person: who vouches for them, their subject and name there, those of their groups that have rights
here, and hashes of the tokens of their sessions.
"""

import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Any

from nacre.config.settings import Settings
from nacre.extensions.login.rights import Person, RightsTable
from nacre.serving.keys import Caller
from nacre.stores.state.database import StateDatabase, StorageError, install_tables, open_state, unusable_state

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
)

# sessions of a person at the same time, the latest ones (set by hand)
MAX_SESSIONS = 20


class Accounts:
    """Persons and sessions. Methods raise StorageError if they can't be read or written."""

    def __init__(self, database: StateDatabase, rights: RightsTable) -> None:
        self._database = database
        self._rights = rights
        install_tables(database, PART, VERSIONS)

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

    def begin_session(self, person: Person, seconds: float) -> str:
        """A new session: its token, of which only the hash is stored. Expired sessions, and the oldest of too many,
        are deleted."""
        self.note(person)
        token, now = secrets.token_urlsafe(32), self._database.now()
        with self._database.writing() as run:
            run("DELETE FROM login_session WHERE expires <= ?", now)
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
        """What is stored of the persons with this owner, subject or name."""
        columns = ("owner", "issuer", "subject", "name", "groups", "seen")
        sql = f"SELECT {', '.join(columns)} FROM account WHERE owner = ? OR subject = ? OR name = ? ORDER BY owner"
        found = [dict(zip(columns, row, strict=True)) for row in self._database.read(sql, who, who, who)]
        sql = "SELECT began, expires FROM login_session WHERE owner = ? ORDER BY began"
        for each in found:
            each["sessions"] = [list(row) for row in self._database.read(sql, each["owner"])]
        return found

    def forget(self, owner: str, *tables: str) -> int:
        """Delete what these tables have of a person, all by default; the number of rows."""
        with self._database.writing() as run:
            deleted = [
                run(f"DELETE FROM {table} WHERE owner = ?", owner).rowcount
                for table in tables or ("account", "login_session")
            ]
        return sum(deleted)

    def close(self) -> None:
        """Close the database."""
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
