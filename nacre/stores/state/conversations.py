"""Saved conversations in a state database: owners, their threads, turns and feedback. Turns that were replaced, since a
client went on from an earlier checkpoint, are stored apart and taken up again."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Literal, cast

from nacre.records.answer import Answer
from nacre.stores.state.database import Execute, StateDatabase, StateDialect, StorageError, install_tables, json_text

# raised if the database can't be read or written; it also has the tables of LangGraph's checkpoints
ConversationStoreError = StorageError

MAX_TITLE_LENGTH = 80

# beyond the number of every turn
MAX_TURN = 2**31

# of a row besides its record: names, times, question, answer and indexes (measured with turns of 8 KB)
ROW_BYTES = 1000

# the observed time is read from a server after so long; it only grows
OBSERVED_SECONDS = 10.0

PART = "conversations"

VERSIONS = (
    (
        """CREATE TABLE IF NOT EXISTS conversation (
        owner TEXT NOT NULL, thread TEXT NOT NULL, graph TEXT NOT NULL, title TEXT NOT NULL,
        created {real} NOT NULL, updated {real} NOT NULL, PRIMARY KEY (owner, thread)) {clustered}""",
        "CREATE INDEX IF NOT EXISTS latest ON conversation (owner, updated DESC)",
        """CREATE TABLE IF NOT EXISTS turn (
        owner TEXT NOT NULL, thread TEXT NOT NULL, turn INTEGER NOT NULL, at {real} NOT NULL,
        run TEXT NOT NULL, question TEXT NOT NULL, answer TEXT NOT NULL, record TEXT NOT NULL,
        PRIMARY KEY (owner, thread, turn))""",
        "CREATE INDEX IF NOT EXISTS run ON turn (owner, run)",
        "CREATE INDEX IF NOT EXISTS turn_size ON turn (owner, {size:record})",
        """CREATE TABLE IF NOT EXISTS feedback (
        owner TEXT NOT NULL, thread TEXT NOT NULL, turn INTEGER NOT NULL, at {real} NOT NULL,
        thumb INTEGER NOT NULL, comment TEXT NOT NULL, PRIMARY KEY (owner, thread, turn)) {clustered}""",
        "CREATE TABLE IF NOT EXISTS observed (id INTEGER PRIMARY KEY CHECK (id = 1), time {real} NOT NULL)",
        """CREATE TABLE IF NOT EXISTS replaced_turn (
        owner TEXT NOT NULL, thread TEXT NOT NULL, id TEXT NOT NULL, at {real} NOT NULL, record TEXT NOT NULL,
        PRIMARY KEY (owner, thread, id))""",
        """CREATE TABLE IF NOT EXISTS thread_metadata (
        owner TEXT NOT NULL, thread TEXT NOT NULL, metadata TEXT NOT NULL, PRIMARY KEY (owner, thread))""",
    ),
    (
        """CREATE TABLE IF NOT EXISTS shared_answer (
        hash TEXT PRIMARY KEY, id TEXT NOT NULL UNIQUE, owner TEXT NOT NULL, thread TEXT NOT NULL,
        turn INTEGER NOT NULL, graph TEXT NOT NULL, key_hash TEXT NOT NULL, question TEXT NOT NULL,
        created {real} NOT NULL, expires {real} NOT NULL, record TEXT NOT NULL)""",
        "CREATE INDEX IF NOT EXISTS shared_by ON shared_answer (owner, thread)",
        "CREATE INDEX IF NOT EXISTS shared_until ON shared_answer (expires)",
    ),
)

THREAD_TABLES = ("conversation", "turn", "feedback", "replaced_turn", "thread_metadata", "shared_answer")

# what counts as stored: tables and their longest column
_SIZED = {
    "conversation": "title",
    "turn": "record",
    "feedback": "comment",
    "replaced_turn": "record",
    "thread_metadata": "metadata",
    "shared_answer": "record",
}


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


Scalar = str | int | float | bool | None


@dataclass(frozen=True)
class ThreadFilter:
    """Which threads of an owner to list. `graphs` are those that the owner may read (None: all), `waiting` those whose
    last turn asked a question back; threads without a graph count as readable."""

    owner: str
    graphs: Sequence[str] | None = None
    graph: str | None = None
    ids: Sequence[str] | None = None
    without: Sequence[str] = ()
    metadata: Mapping[str, Scalar] = field(default_factory=dict)
    waiting: bool | None = None
    order: Literal["created", "updated", "thread"] = "updated"
    descending: bool = True
    limit: int = 10
    skip: int = 0


class Conversations:
    """All threads, each visible to its owner only. Safe to share between threads and processes."""

    def __init__(self, database: StateDatabase) -> None:
        self.database = database
        self._rows, self._writing = database.read, database.writing
        self._observed, self._observed_at = 0.0, -OBSERVED_SECONDS
        install_tables(database, PART, VERSIONS)

    def close(self) -> None:
        self.database.close()

    def find(self, owner: str, thread: str) -> Conversation | None:
        """One thread of an owner; None if there is no such thread."""
        found = self._rows(f"{_LISTED} WHERE owner = ? AND thread = ?", owner, thread)
        return Conversation(*found[0]) if found else None

    def listed(
        self, owner: str, search: str = "", graphs: Sequence[str] | None = None, limit: int = 50, skip: int = 0
    ) -> list[Conversation]:
        """An owner's threads, latest first, of which the title, a question or an answer contains `search`."""
        where, given = "owner = ? AND graph != ''", list[object]([owner])
        if graphs is not None:
            where += " AND graph IN (?)"
            given.append(list(graphs))
        if search:
            like = "%" + search.lower().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
            where += (
                " AND (lower(title) LIKE ? ESCAPE '\\' OR EXISTS (SELECT 1 FROM turn t WHERE t.owner = c.owner"
                " AND t.thread = c.thread AND (lower(t.question) LIKE ? ESCAPE '\\'"
                " OR lower(t.answer) LIKE ? ESCAPE '\\')))"
            )
            given += [like] * 3
        rows = self._rows(f"{_LISTED} WHERE {where} ORDER BY updated DESC LIMIT ? OFFSET ?", *given, limit, skip)
        return [Conversation(*row) for row in rows]

    def search(self, filter: ThreadFilter) -> list[Conversation]:
        """The threads of an owner that pass a filter, those without a graph included."""
        where, given = search_statement(filter, self.database.dialect)
        return [Conversation(*row) for row in self._rows(f"{_LISTED} WHERE {where}", *given)]

    def metadata(self, owner: str, thread: str) -> dict[str, Any]:
        """What a client noted about a thread."""
        rows = self._rows("SELECT metadata FROM thread_metadata WHERE owner = ? AND thread = ?", owner, thread)
        return cast(dict[str, Any], json.loads(rows[0][0])) if rows else {}

    def set_metadata(self, owner: str, thread: str, metadata: Mapping[str, Any]) -> None:
        """Store what a client notes about a thread; it replaces earlier metadata."""
        with self._writing() as run:
            row = {"owner": owner, "thread": thread, "metadata": json_text(metadata)}
            run.upsert("thread_metadata", row, "owner", "thread")

    def turns(self, owner: str, thread: str, first: int = 1, last: int = MAX_TURN) -> list[Turn]:
        """The finished turns of a thread from one number to another, in order."""
        rows = self._rows(
            "SELECT t.at, t.record, coalesce(f.thumb, 0), coalesce(f.comment, '') FROM turn t LEFT JOIN feedback f"
            " USING (owner, thread, turn) WHERE owner = ? AND thread = ? AND turn BETWEEN ? AND ? ORDER BY turn",
            *(owner, thread, first, last),
        )
        return [Turn(at, cast(Answer, json.loads(record)), thumb, comment) for at, record, thumb, comment in rows]

    def latest_turns(self, owner: str, thread: str, most_bytes: int) -> list[Turn]:
        """The last finished turns whose records have so many bytes together, at least one, in order."""
        size = self.database.dialect.byte_length.format
        sql = f"SELECT turn, {size('record')} FROM turn WHERE owner = ? AND thread = ? ORDER BY turn DESC"
        rows = self._rows(sql, owner, thread)
        sums = accumulate(bytes for _, bytes in rows)
        fitting = [number for (number, _), total in zip(rows, sums, strict=True) if total <= most_bytes]
        return self.turns(owner, thread, *(fitting[-1:] or [rows[0][0]])) if rows else []

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
        size = self.database.dialect.byte_length.format
        checkpoints, given = checkpoint_sizes(self.database, owner)
        parts = [
            f"SELECT count(*), sum({size(column)}) FROM {table} WHERE owner = ?" for table, column in _SIZED.items()
        ]
        counted = self._rows(" UNION ALL ".join([checkpoints, *parts]), *given, *[owner] * len(parts))
        return sum(int(rows) * ROW_BYTES + int(bytes or 0) for rows, bytes in counted)

    def begin(self, owner: str, thread: str, graph: str, title: str = "") -> None:
        """Create a thread before its first turn; an existing one stays unchanged."""
        now = self._now()
        with self._writing() as run:
            run(
                "INSERT INTO conversation VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (owner, thread) DO NOTHING",
                *(owner, thread, graph, title, now, now),
            )

    def keep(self, owner: str, thread: str, record: Answer, after: Sequence[str] | None = None) -> None:
        """Save a finished turn in one transaction, in place of that number and all later ones. `after` are the ids of
        the records before it: with it, replaced turns are stored, and those of these ids become the thread's again."""
        now, number = self._now(), record["turn"]
        known = after is not None and has_turns(self.database, owner, thread, after)
        title = " ".join(record["question"].split())[:MAX_TITLE_LENGTH]
        with self._writing() as run:
            run(
                "INSERT INTO conversation VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (owner, thread) DO UPDATE"
                " SET updated = excluded.updated, graph = excluded.graph,"
                " title = CASE conversation.title WHEN '' THEN excluded.title ELSE conversation.title END",
                *(owner, thread, record["graph"], title, now, now),
            )
            if after is not None and known:
                exchange_turns(run, self.database.dialect, owner, thread, after)
            _cut(run, owner, thread, number)
            text = json_text(record)
            run(
                "INSERT INTO turn VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                *(owner, thread, number, now, record["id"], record["question"], record["answer"], text),
            )

    def take_up(self, owner: str, thread: str, ids: Sequence[str]) -> None:
        """Make the turns whose records have these ids those of a thread, if all of them are known."""
        if has_turns(self.database, owner, thread, ids):
            with self._writing() as run:
                exchange_turns(run, self.database.dialect, owner, thread, ids)
                _cut(run, owner, thread, len(ids) + 1)

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
            place = owner, thread, turns
            sql = "SELECT turn, at, question, answer, record FROM turn WHERE owner = ? AND thread = ? AND turn <= ?"
            for turn, at, question, answer, record in run(sql, *place).fetchall():
                given = owner, new, turn, at, "", question, answer, _of_thread(record, new)
                run("INSERT INTO turn VALUES (?, ?, ?, ?, ?, ?, ?, ?)", *given)
            sql = "SELECT id, at, record FROM replaced_turn WHERE owner = ? AND thread = ?"
            for id, at, record in run(sql, owner, thread).fetchall():
                run("INSERT INTO replaced_turn VALUES (?, ?, ?, ?, ?)", owner, new, id, at, _of_thread(record, new))

    def rename(self, owner: str, thread: str, title: str) -> None:
        """Change the title of a thread."""
        with self._writing() as run:
            run("UPDATE conversation SET title = ? WHERE owner = ? AND thread = ?", title, owner, thread)

    def say(self, owner: str, thread: str, turn: int, thumb: int, comment: str) -> None:
        """Save the owner's feedback on an answer; it replaces earlier feedback."""
        row = {"owner": owner, "thread": thread, "turn": turn, "at": self.database.now()}
        with self._writing() as run:
            run.upsert("feedback", {**row, "thumb": thumb, "comment": comment}, "owner", "thread", "turn")

    def delete(self, owner: str, thread: str) -> None:
        """Delete a thread with its turns, feedback and shared answers."""
        with self._writing(deletes=True) as run:
            for table in THREAD_TABLES:
                run(f"DELETE FROM {table} WHERE owner = ? AND thread = ?", owner, thread)

    def try_writing(self) -> None:
        """Raise ConversationStoreError if nothing can be written; no turn waits for it."""
        self.database.try_writing()

    def untouched(self, since: float, like: str = "%") -> list[tuple[str, str]]:
        """(owner, thread) of all threads, with names `like` this, that did not change since a time."""
        sql = "SELECT owner, thread FROM conversation WHERE updated < ? AND thread LIKE ?"
        return [(row[0], row[1]) for row in self._rows(sql, since, like)]

    def observed_time(self) -> float | None:
        """The time that servers have observed, in seconds since 1970; None if there was no server."""
        rows = self._rows("SELECT time FROM observed")
        return float(rows[0][0]) if rows else None

    def observe_time(self, at: float) -> None:
        """Store a time that a server has observed; a later one remains."""
        with self._writing() as run:
            run(
                "INSERT INTO observed VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET time = excluded.time"
                " WHERE excluded.time > observed.time",
                at,
            )

    def now(self) -> float:
        """The later of the clock and the time that servers observed: a clock set back revives nothing."""
        return max(self.database.now(), self.observed_time() or 0.0)

    def delete_shares(self, graph: str) -> int:
        """Delete all shared answers about a graph; their number. Without any, nothing is written."""
        if not self._rows("SELECT 1 FROM shared_answer WHERE graph = ? LIMIT 1", graph):
            return 0
        with self._writing(deletes=True) as run:
            return int(run("DELETE FROM shared_answer WHERE graph = ?", graph).rowcount)

    def delete_expired_shares(self) -> int:
        """Delete the shared answers that have expired; their number."""
        now = self.now()
        with self._writing(deletes=True) as run:
            return int(run("DELETE FROM shared_answer WHERE expires <= ?", now).rowcount)

    def last_change(self) -> float | None:
        """When a thread was last changed; None if there is no thread."""
        found = self._rows("SELECT max(updated) FROM conversation")[0][0]
        return None if found is None else float(found)

    def _now(self) -> float:
        """The time of a change; a clock that was set far back would make it look old."""
        if not self.database.is_server or time.monotonic() - self._observed_at >= OBSERVED_SECONDS:
            self._observed, self._observed_at = self.observed_time() or 0.0, time.monotonic()
        return max(self.database.now(), self._observed)


_LISTED = (
    "SELECT thread, graph, title, created, updated,"
    " (SELECT count(*) FROM turn t WHERE t.owner = c.owner AND t.thread = c.thread) FROM conversation c"
)


def _cut(run: Execute, owner: str, thread: str, turn: int) -> None:
    for table in ("turn", "feedback"):
        run(f"DELETE FROM {table} WHERE owner = ? AND thread = ? AND turn >= ?", owner, thread, turn)


def _of_thread(record: str, thread: str) -> str:
    return json_text({**json.loads(record), "thread": thread})


def has_turns(database: StateDatabase, owner: str, thread: str, ids: Sequence[str]) -> bool:
    """Whether all of these ids are those of records of a thread, of its turns or of replaced ones."""
    id = database.dialect.json_field.format("record", "id")
    rows = database.read(
        f"SELECT {id} FROM turn WHERE owner = ? AND thread = ? AND {id} IN (?)"
        " UNION SELECT id FROM replaced_turn WHERE owner = ? AND thread = ? AND id IN (?)",
        *(owner, thread, list(ids)) * 2,
    )
    return {row[0] for row in rows} >= set(ids)


def exchange_turns(run: Execute, dialect: StateDialect, owner: str, thread: str, ids: Sequence[str]) -> None:
    """Make the records of these ids the turns of a thread, in order; others are stored apart, unknown ones stay."""
    id = dialect.json_field.format("record", "id")
    run(
        f"INSERT INTO replaced_turn SELECT owner, thread, {id}, at, record FROM turn"
        f" WHERE owner = ? AND thread = ? AND {id} NOT IN (?) AND {id} != ''"
        " ON CONFLICT (owner, thread, id) DO UPDATE SET at = excluded.at, record = excluded.record",
        *(owner, thread, list(ids)),
    )
    sql = "SELECT id, at, record FROM replaced_turn WHERE owner = ? AND thread = ? AND id IN (?)"
    for each, at, text in run(sql, owner, thread, list(ids)).fetchall():
        record = json.loads(text)
        row = {"owner": owner, "thread": thread, "turn": ids.index(each) + 1, "at": at, "run": each}
        row |= {"question": record["question"], "answer": record["answer"], "record": text}
        run.upsert("turn", row, "owner", "thread", "turn")
    run("DELETE FROM replaced_turn WHERE owner = ? AND thread = ? AND id IN (?)", owner, thread, list(ids))


def search_statement(filter: ThreadFilter, dialect: StateDialect) -> tuple[str, list[object]]:
    """What follows WHERE, for a table `conversation` named c, and its values."""
    where, given = ["owner = ?"], list[object]([filter.owner])
    lists = {"(graph = '' OR graph IN (?))": filter.graphs, "thread IN (?)": filter.ids}
    for condition, members in {**lists, "thread NOT IN (?)": filter.without or None}.items():
        if members is not None:
            where.append(condition)
            given.append(list(members))
    if filter.graph is not None:
        where.append("graph = ?")
        given.append(filter.graph)
    for key, value in filter.metadata.items():
        where.append(dialect.has_json_entry)
        given += [json_text([value]), key]
    if filter.waiting is not None:
        # whether the last turn asked which of several readings was meant
        status = dialect.json_field.format("record", "status")
        options = dialect.list_length.format("record", "options")
        where.append(
            f"coalesce((SELECT CASE WHEN {status} = 'clarify' AND {options} > 0 THEN 1 ELSE 0 END"
            " FROM turn t WHERE t.owner = c.owner AND t.thread = c.thread ORDER BY t.turn DESC LIMIT 1), 0) = ?"
        )
        given.append(int(filter.waiting))
    direction = "DESC" if filter.descending else "ASC"
    order = f"{filter.order} {direction}, thread {direction} LIMIT ? OFFSET ?"
    return f"{' AND '.join(where)} ORDER BY {order}", [*given, filter.limit, filter.skip]


_SQLITE = "SELECT count(*), sum(length(checkpoint)) FROM checkpoints WHERE thread_id >= ? AND thread_id < ?"

# the order of PostgreSQL's texts depends on its language
_POSTGRES = (
    'SELECT (SELECT count(*) FROM checkpoints WHERE thread_id COLLATE "C" >= ? AND thread_id COLLATE "C" < ?),'
    " (SELECT sum(octet_length(blob)) FROM checkpoint_blobs"
    ' WHERE thread_id COLLATE "C" >= ? AND thread_id COLLATE "C" < ?)'
)

_INDEXES = (
    'CREATE INDEX IF NOT EXISTS checkpoint_owner ON checkpoints (thread_id COLLATE "C")',
    'CREATE INDEX IF NOT EXISTS checkpoint_blob_owner ON checkpoint_blobs (thread_id COLLATE "C", octet_length(blob))',
)


def checkpoint_sizes(database: StateDatabase, owner: str) -> tuple[str, tuple[str, ...]]:
    """A query for the number of an owner's checkpoints and their bytes, and its values."""
    # a semicolon follows the colon that ends the name of the owner
    given = f"{owner}:", f"{owner};"
    if database.is_server:
        return _POSTGRES, given * 2
    # LangGraph creates its table with the first turn
    if database.read("SELECT 1 FROM sqlite_master WHERE name = 'checkpoints'"):
        return _SQLITE, given
    return "SELECT 0, 0", ()


def index_sizes(database: StateDatabase) -> None:
    """Let a server count without reading checkpoints; LangGraph's tables must be there."""
    with database.writing("checkpoint sizes") as run:
        for statement in _INDEXES:
            run(statement)
