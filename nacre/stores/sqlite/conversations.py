"""What was asked and answered, for people to come back to: owners, their threads, their turns; one SQLite file."""

import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from nacre.records.answer import Answer

Execute = Callable[..., None]
# what the file of conversations raises where it can't be read or written, the loop's own tables in it included
ConversationStoreError = sqlite3.Error

TITLE = 80
BUSY_SECONDS = 3.0
TRIAL_SECONDS = 0.5
SCHEMA = """
CREATE TABLE IF NOT EXISTS conversation (
    owner TEXT NOT NULL, thread TEXT NOT NULL, graph TEXT NOT NULL, title TEXT NOT NULL,
    created REAL NOT NULL, updated REAL NOT NULL, PRIMARY KEY (owner, thread)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS latest ON conversation (owner, updated DESC);
CREATE TABLE IF NOT EXISTS turn (
    owner TEXT NOT NULL, thread TEXT NOT NULL, turn INTEGER NOT NULL, at REAL NOT NULL,
    run TEXT NOT NULL, question TEXT NOT NULL, answer TEXT NOT NULL, record TEXT NOT NULL,
    PRIMARY KEY (owner, thread, turn)
);
CREATE INDEX IF NOT EXISTS run ON turn (owner, run);
CREATE TABLE IF NOT EXISTS feedback (
    owner TEXT NOT NULL, thread TEXT NOT NULL, turn INTEGER NOT NULL, at REAL NOT NULL,
    thumb INTEGER NOT NULL, comment TEXT NOT NULL, PRIMARY KEY (owner, thread, turn)
) WITHOUT ROWID;
"""


@dataclass(frozen=True)
class Conversation:
    """One thread. Times are seconds since 1970; `turns` counts those that were finished."""

    thread: str
    graph: str
    title: str
    created: float
    updated: float
    turns: int


@dataclass(frozen=True)
class Turn:
    """One finished turn; `thumb` is 1, -1 or 0 (nobody said), `comment` what was said with it."""

    at: float
    record: Answer
    thumb: int
    comment: str


class Conversations:
    """All threads of a data folder, each seen by its owner alone. Safe to share between threads and processes."""

    def __init__(self, file: Path) -> None:
        self._file = file
        # who reads does not wait for who writes, in this process as in others
        self._lock, self._read_lock = threading.Lock(), threading.Lock()
        self._connection = self._connect(BUSY_SECONDS)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.executescript(SCHEMA)
        self._reading = self._connect(BUSY_SECONDS)

    def _connect(self, seconds: float) -> sqlite3.Connection:
        return sqlite3.connect(self._file, timeout=seconds, check_same_thread=False, isolation_level=None)

    def close(self) -> None:
        self._connection.close()
        self._reading.close()

    def find(self, owner: str, thread: str) -> Conversation | None:
        """One thread of an owner, None where there is none of that name."""
        found = self._rows(f"{_LISTED} WHERE owner = ? AND thread = ?", owner, thread)
        return Conversation(*found[0]) if found else None

    def listed(
        self, owner: str, search: str = "", graphs: Sequence[str] | None = None, limit: int = 50, skip: int = 0
    ) -> list[Conversation]:
        """An owner's threads, the latest first; those whose title, questions or answers hold all of `search`."""
        where, given = "owner = ?", [owner]
        if graphs is not None:
            where += f" AND graph IN ({', '.join('?' * len(graphs))})"
            given += graphs
        if search:
            like = "%" + search.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
            where += (
                " AND (title LIKE ? ESCAPE '\\' OR EXISTS (SELECT 1 FROM turn t WHERE t.owner = c.owner"
                " AND t.thread = c.thread AND (t.question LIKE ? ESCAPE '\\' OR t.answer LIKE ? ESCAPE '\\')))"
            )
            given += [like] * 3
        rows = self._rows(f"{_LISTED} WHERE {where} ORDER BY updated DESC LIMIT ? OFFSET ?", *given, limit, skip)
        return [Conversation(*row) for row in rows]

    def turns(self, owner: str, thread: str) -> list[Turn]:
        """The finished turns of a thread, in order."""
        rows = self._rows(
            "SELECT t.at, t.record, coalesce(f.thumb, 0), coalesce(f.comment, '') FROM turn t"
            " LEFT JOIN feedback f USING (owner, thread, turn) WHERE owner = ? AND thread = ? ORDER BY turn",
            owner,
            thread,
        )
        return [Turn(at, cast(Answer, json.loads(record)), thumb, comment) for at, record, thumb, comment in rows]

    def last(self, owner: str, thread: str) -> int:
        """The number of the last finished turn of a thread, 0 where there is none."""
        rows = self._rows("SELECT coalesce(max(turn), 0) FROM turn WHERE owner = ? AND thread = ?", owner, thread)
        return int(rows[0][0])

    def run(self, owner: str, run: str) -> Answer | None:
        """The record that a run ended with, where it belonged to a thread."""
        rows = self._rows("SELECT record FROM turn WHERE owner = ? AND run = ?", owner, run)
        return cast(Answer, json.loads(rows[0][0])) if rows else None

    def begin(self, owner: str, thread: str, graph: str, title: str = "") -> None:
        """Note a thread before its first turn; one that is there stays as it is."""
        now = time.time()
        with self._writing() as run:
            run("INSERT OR IGNORE INTO conversation VALUES (?, ?, ?, ?, ?, ?)", owner, thread, graph, title, now, now)

    def keep(self, owner: str, thread: str, record: Answer) -> None:
        """Keep a finished turn, in one step; a turn of that number that was there, and all after it, go."""
        now, number = time.time(), record["turn"]
        title = " ".join(record["question"].split())[:TITLE]
        with self._writing() as run:
            run(
                "INSERT INTO conversation VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE"
                " SET updated = excluded.updated, title = CASE title WHEN '' THEN excluded.title ELSE title END",
                *(owner, thread, record["graph"], title, now, now),
            )
            _cut(run, owner, thread, number)
            told = json.dumps(record, ensure_ascii=False)
            run(
                "INSERT INTO turn VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                *(owner, thread, number, now, record["id"], record["question"], record["answer"], told),
            )

    def cut(self, owner: str, thread: str, turn: int) -> None:
        """Forget a turn and all after it."""
        with self._writing() as run:
            _cut(run, owner, thread, turn)

    def copy(self, owner: str, thread: str, new: str, turns: int) -> None:
        """Begin the thread `new` with the first `turns` turns of another."""
        now = time.time()
        with self._writing() as run:
            run(
                "INSERT INTO conversation SELECT owner, ?, graph, title, ?, ? FROM conversation"
                " WHERE owner = ? AND thread = ?",
                *(new, now, now, owner, thread),
            )
            run(
                "INSERT INTO turn SELECT owner, ?, turn, at, '', question, answer, json_set(record, '$.thread', ?)"
                " FROM turn WHERE owner = ? AND thread = ? AND turn <= ?",
                *(new, new, owner, thread, turns),
            )

    def rename(self, owner: str, thread: str, title: str) -> None:
        """Give a thread another title."""
        with self._writing() as run:
            run("UPDATE conversation SET title = ? WHERE owner = ? AND thread = ?", title, owner, thread)

    def say(self, owner: str, thread: str, turn: int, thumb: int, comment: str) -> None:
        """Keep what its owner thinks of an answer, in place of what was said of it before."""
        with self._writing() as run:
            given = owner, thread, turn, time.time(), thumb, comment
            run("INSERT OR REPLACE INTO feedback VALUES (?, ?, ?, ?, ?, ?)", *given)

    def delete(self, owner: str, thread: str) -> None:
        """Forget a thread and all that belongs to it."""
        with self._writing() as run:
            for table in ("conversation", "turn", "feedback"):
                run(f"DELETE FROM {table} WHERE owner = ? AND thread = ?", owner, thread)

    def try_writing(self) -> None:
        """Raises KeepingError where nothing can be written, after waiting for whoever holds the file.

        It waits with a connection of its own, so that no turn waits for it.
        """
        with closing(self._connect(TRIAL_SECONDS)) as trial:
            trial.execute("BEGIN IMMEDIATE")
            trial.execute("COMMIT")

    def untouched(self, since: float) -> list[tuple[str, str]]:
        """(owner, thread) of all threads that were not touched since a time."""
        return [
            (row[0], row[1]) for row in self._rows("SELECT owner, thread FROM conversation WHERE updated < ?", since)
        ]

    def _rows(self, sql: str, *given: object) -> list[tuple[Any, ...]]:
        with self._read_lock:
            return self._reading.execute(sql, given).fetchall()

    @contextmanager
    def _writing(self) -> Iterator[Execute]:
        def run(sql: str, *given: object) -> None:
            self._connection.execute(sql, given)

        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield run
            except BaseException:
                # a full disk has rolled it back already
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")


_LISTED = (
    "SELECT thread, graph, title, created, updated,"
    " (SELECT count(*) FROM turn t WHERE t.owner = c.owner AND t.thread = c.thread) FROM conversation c"
)


def _cut(run: Execute, owner: str, thread: str, turn: int) -> None:
    for table in ("turn", "feedback"):
        run(f"DELETE FROM {table} WHERE owner = ? AND thread = ? AND turn >= ?", owner, thread, turn)
