"""Saved conversations in one SQLite file: owners, their threads, turns and feedback.

A thread without a graph is about the graph of its first turn.
"""

import json
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from nacre.records.answer import Answer
from nacre.stores.sqlite.threads.replaced_turns import REPLACED_SCHEMA, UNKNOWN_TURNS, Execute, exchange_turns
from nacre.stores.sqlite.threads.search import METADATA_SCHEMA, ThreadFilter, search_statement

# raised if the file can't be read or written; it also has the tables of LangGraph's checkpoints
ConversationStoreError = sqlite3.Error

MAX_TITLE_LENGTH = 80
BUSY_SECONDS = 3.0
WRITE_TEST_SECONDS = 0.5
# of a row besides its record: names, times, question, answer and indexes (measured with turns of 8 KB)
ROW_BYTES = 1000
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
CREATE INDEX IF NOT EXISTS turn_size ON turn (owner, length(CAST(record AS BLOB)));
CREATE TABLE IF NOT EXISTS feedback (
    owner TEXT NOT NULL, thread TEXT NOT NULL, turn INTEGER NOT NULL, at REAL NOT NULL,
    thumb INTEGER NOT NULL, comment TEXT NOT NULL, PRIMARY KEY (owner, thread, turn)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS observed (id INTEGER PRIMARY KEY CHECK (id = 1), time REAL NOT NULL);
"""
# tables with rows of a thread
THREAD_TABLES = ("conversation", "turn", "feedback", "replaced_turn", "thread_metadata")


@dataclass(frozen=True)
class Conversation:
    """One thread. Times are seconds since 1970; `turns` counts finished turns."""

    thread: str
    graph: str
    title: str
    created: float
    updated: float
    turns: int


@dataclass(frozen=True)
class Turn:
    """One finished turn; `thumb` is 1, -1 or 0 (no feedback), `comment` the text of the feedback."""

    at: float
    record: Answer
    thumb: int
    comment: str


class Conversations:
    """All threads of a data folder, each visible to its owner only. Safe to share between threads and processes."""

    def __init__(self, file: Path) -> None:
        self._file = file
        # a connection and a lock each, so that readers do not wait for writers
        self._lock, self._read_lock = threading.Lock(), threading.Lock()
        self._connection = self._connect(BUSY_SECONDS)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.executescript(SCHEMA + REPLACED_SCHEMA + METADATA_SCHEMA)
        self._reading = self._connect(BUSY_SECONDS)

    def _connect(self, seconds: float) -> sqlite3.Connection:
        return sqlite3.connect(self._file, timeout=seconds, check_same_thread=False, isolation_level=None)

    def close(self) -> None:
        self._connection.close()
        self._reading.close()

    def find(self, owner: str, thread: str) -> Conversation | None:
        """One thread of an owner; None if there is no such thread."""
        found = self._rows(f"{_LISTED} WHERE owner = ? AND thread = ?", owner, thread)
        return Conversation(*found[0]) if found else None

    def listed(
        self, owner: str, search: str = "", graphs: Sequence[str] | None = None, limit: int = 50, skip: int = 0
    ) -> list[Conversation]:
        """An owner's threads, latest first, of which the title, a question or an answer contains `search`."""
        where, given = "owner = ? AND graph != ''", [owner]
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

    def search(self, filter: ThreadFilter) -> list[Conversation]:
        """The threads of an owner that pass a filter, those without a graph included."""
        where, given = search_statement(filter)
        return [Conversation(*row) for row in self._rows(f"{_LISTED} WHERE {where}", *given)]

    def metadata(self, owner: str, thread: str) -> dict[str, Any]:
        """What a client noted about a thread."""
        rows = self._rows("SELECT metadata FROM thread_metadata WHERE owner = ? AND thread = ?", owner, thread)
        return cast(dict[str, Any], json.loads(rows[0][0])) if rows else {}

    def set_metadata(self, owner: str, thread: str, metadata: Mapping[str, Any]) -> None:
        """Store what a client notes about a thread; it replaces earlier metadata."""
        with self._writing() as run:
            text = json.dumps(metadata, ensure_ascii=False)
            run("INSERT OR REPLACE INTO thread_metadata VALUES (?, ?, ?)", owner, thread, text)

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
        """The number of the last finished turn of a thread; 0 if there is none."""
        rows = self._rows("SELECT coalesce(max(turn), 0) FROM turn WHERE owner = ? AND thread = ?", owner, thread)
        return int(rows[0][0])

    def run(self, owner: str, run: str) -> Answer | None:
        """The answer record of a run, if it belonged to a thread."""
        rows = self._rows("SELECT record FROM turn WHERE owner = ? AND run = ?", owner, run)
        return cast(Answer, json.loads(rows[0][0])) if rows else None

    def stored_bytes(self, owner: str) -> int:
        """About how many bytes the threads of an owner take: records, checkpoints, feedback, and their rows."""
        sizes: list[tuple[str, tuple[str, ...]]] = [
            ("SELECT count(*), 0 FROM conversation WHERE owner = ?", (owner,)),
            ("SELECT count(*), sum(length(CAST(record AS BLOB))) FROM turn WHERE owner = ?", (owner,)),
            ("SELECT count(*), sum(length(comment)) FROM feedback WHERE owner = ?", (owner,)),
            ("SELECT count(*), sum(length(CAST(record AS BLOB))) FROM replaced_turn WHERE owner = ?", (owner,)),
            ("SELECT count(*), sum(length(metadata)) FROM thread_metadata WHERE owner = ?", (owner,)),
        ]
        # LangGraph creates its table with the first turn
        if self._rows("SELECT 1 FROM sqlite_master WHERE name = 'checkpoints'"):
            sql = "SELECT count(*), sum(length(checkpoint)) FROM checkpoints WHERE thread_id >= ? AND thread_id < ?"
            # a semicolon follows the colon that ends the name of the owner
            sizes.append((sql, (f"{owner}:", f"{owner};")))
        counted = [self._rows(sql, *given)[0] for sql, given in sizes]
        return sum(int(rows) * ROW_BYTES + int(size or 0) for rows, size in counted)

    def begin(self, owner: str, thread: str, graph: str, title: str = "") -> None:
        """Create a thread before its first turn; an existing one stays unchanged."""
        now = self._now()
        with self._writing() as run:
            run("INSERT OR IGNORE INTO conversation VALUES (?, ?, ?, ?, ?, ?)", owner, thread, graph, title, now, now)

    def keep(self, owner: str, thread: str, record: Answer, after: Sequence[str] | None = None) -> None:
        """Save a finished turn in one transaction; it replaces a turn of that number and all later ones.

        `after` are the ids of the records before it. With it, replaced turns are stored, and the turns of these ids
        become those of the thread again.
        """
        now, number = self._now(), record["turn"]
        known = after is not None and self._has_turns(owner, thread, after)
        title = " ".join(record["question"].split())[:MAX_TITLE_LENGTH]
        with self._writing() as run:
            run(
                "INSERT INTO conversation VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE"
                " SET updated = excluded.updated, graph = excluded.graph,"
                " title = CASE title WHEN '' THEN excluded.title ELSE title END",
                *(owner, thread, record["graph"], title, now, now),
            )
            if after is not None and known:
                exchange_turns(run, owner, thread, after)
            _cut(run, owner, thread, number)
            text = json.dumps(record, ensure_ascii=False)
            run(
                "INSERT INTO turn VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                *(owner, thread, number, now, record["id"], record["question"], record["answer"], text),
            )

    def take_up(self, owner: str, thread: str, ids: Sequence[str]) -> None:
        """Make the turns whose records have these ids those of a thread, if all of them are known."""
        if self._has_turns(owner, thread, ids):
            with self._writing() as run:
                exchange_turns(run, owner, thread, ids)
                _cut(run, owner, thread, len(ids) + 1)

    def _has_turns(self, owner: str, thread: str, ids: Sequence[str]) -> bool:
        return not self._rows(UNKNOWN_TURNS, json.dumps(list(ids)), *(owner, thread) * 2)

    def cut(self, owner: str, thread: str, turn: int) -> None:
        """Delete a turn and all later ones."""
        with self._writing() as run:
            _cut(run, owner, thread, turn)

    def copy(self, owner: str, thread: str, new: str, turns: int) -> None:
        """Copy the first `turns` turns of a thread to a new thread `new`."""
        now = self._now()
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
            run(
                "INSERT INTO replaced_turn SELECT owner, ?, id, at, json_set(record, '$.thread', ?) FROM replaced_turn"
                " WHERE owner = ? AND thread = ?",
                *(new, new, owner, thread),
            )

    def rename(self, owner: str, thread: str, title: str) -> None:
        """Change the title of a thread."""
        with self._writing() as run:
            run("UPDATE conversation SET title = ? WHERE owner = ? AND thread = ?", title, owner, thread)

    def say(self, owner: str, thread: str, turn: int, thumb: int, comment: str) -> None:
        """Save the owner's feedback on an answer; it replaces earlier feedback."""
        with self._writing() as run:
            given = owner, thread, turn, time.time(), thumb, comment
            run("INSERT OR REPLACE INTO feedback VALUES (?, ?, ?, ?, ?, ?)", *given)

    def delete(self, owner: str, thread: str) -> None:
        """Delete a thread with its turns and feedback."""
        with self._writing() as run:
            for table in THREAD_TABLES:
                run(f"DELETE FROM {table} WHERE owner = ? AND thread = ?", owner, thread)

    def try_writing(self) -> None:
        """Raise ConversationStoreError if the file can't be written within half a second.

        It uses a connection of its own, so that no turn waits for it.
        """
        with closing(self._connect(WRITE_TEST_SECONDS)) as trial:
            trial.execute("BEGIN IMMEDIATE")
            trial.execute("COMMIT")

    def untouched(self, since: float) -> list[tuple[str, str]]:
        """(owner, thread) of all threads that did not change since a time."""
        return [
            (row[0], row[1]) for row in self._rows("SELECT owner, thread FROM conversation WHERE updated < ?", since)
        ]

    def observed_time(self) -> float | None:
        """The time that servers have observed, in seconds since 1970; None if there was no server."""
        rows = self._rows("SELECT time FROM observed")
        return float(rows[0][0]) if rows else None

    def observe_time(self, at: float) -> None:
        """Store a time that a server has observed; a later one remains."""
        with self._writing() as run:
            run("INSERT INTO observed VALUES (1, ?) ON CONFLICT DO UPDATE SET time = max(time, excluded.time)", at)

    def last_change(self) -> float | None:
        """When a thread was last changed; None if there is no thread."""
        found = self._rows("SELECT max(updated) FROM conversation")[0][0]
        return None if found is None else float(found)

    def _now(self) -> float:
        """The time of a change; a clock that was set far back would make it look old."""
        return max(time.time(), self.observed_time() or 0.0)

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
                # if the disk is full, SQLite has rolled back already
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
