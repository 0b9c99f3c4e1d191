"""Verified questions of all graphs in a state database: entries by graph and owner, and bounded look-ups."""

import json
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from math import log
from pathlib import Path
from typing import Any

from nacre.errors import ConfigError
from nacre.records.json_form import from_json, to_json
from nacre.records.turn import GraphCalibration, VerifiedQuestion, VerifiedState, question_id, question_words
from nacre.stores.state.database import Execute, StateDatabase, install_tables, make_private, open_file

FILE = "verified.sqlite"

# entries of one owner and graph (given): what is looked up stays fast, and a key can't fill the disk
MAX_OF_OWNER = 100_000

# rows that one call returns at most
MAX_LISTED = 1000

# words of a question that are looked up, and entries read for each: 10 ms at most (measured with 100,000 entries)
MAX_WORDS, MAX_OF_WORD = 30, 300

MAX_CANDIDATES = 50

# what another server confirmed answers here after this time, in seconds
RECENT_SECONDS = 0.3

_OF_WORD = (
    "SELECT word, number FROM verified_word WHERE graph = ? AND scope = ? AND word = ? ORDER BY number DESC LIMIT ?"
)

_SUMMARY = (
    "SELECT (SELECT version FROM verified_graph WHERE graph = ?),"
    " (SELECT calibration FROM verified_calibration WHERE graph = ?),"
    " EXISTS (SELECT 1 FROM verified WHERE graph = ?)"
)


@dataclass(frozen=True)
class _Summary:
    """The version of a graph that was last noted, its calibration as JSON, and whether it has entries."""

    version: str | None
    calibration: str | None
    has_entries: bool


class VerifiedQuestionStore:
    """The verified questions of a data folder, safe to share between threads and processes: in the database that
    `shared` opens, else in a file, created with the first entry. Methods raise sqlite3.Error (StorageError)."""

    def __init__(self, file: Path, shared: Callable[[], StateDatabase] | None = None) -> None:
        self._file = file
        self._shared = shared
        self._lock = threading.Lock()
        self._database: StateDatabase | None = None
        self._summaries: dict[str, tuple[float, _Summary]] = {}

    def close(self) -> None:
        """Close the file; the next call opens it again."""
        with self._lock:
            if self._database is not None:
                self._database.close()
            self._database = None

    def usable(self, graph: str, owner: str, limit: int = MAX_LISTED) -> tuple[VerifiedQuestion, ...]:
        """The entries that may answer questions of an owner, one for each question, the latest first."""
        if not self._summary(graph).has_entries:
            return ()
        most = min(limit, MAX_LISTED)
        rows: list[tuple[Any, ...]] = []
        for condition, given in (("approved = 1", ()), ("owner = ?", (owner,))):
            rows += self._read(
                f"SELECT {FIELDS}, number FROM verified v WHERE graph = ? AND {condition} AND state = 'in use'"
                f" AND {UNDISPUTED} ORDER BY number DESC LIMIT ?",
                *(graph, *given, owner, most),
            )
        return one_of_each(sorted(rows, key=lambda row: -row[-1]), owner)[:most]

    def find(self, graph: str, owner: str, question: str) -> VerifiedQuestion | None:
        """The entry that answers this question of an owner, up to case and punctuation, the owner's own first; None if
        there is none, or if the owner's own entry contradicts another."""
        if not self._summary(graph).has_entries:
            return None
        rows = self.entries(graph, question_id(graph, question))
        if any(each.by == owner and each.state == "contradicted" for each in rows):
            return None
        able = [each for each in rows if each.state == "in use" and (each.approved or each.by == owner)]
        return next(iter(sorted(able, key=lambda each: each.by != owner)), None)

    def similar(
        self, graph: str, owner: str, words: Sequence[str], limit: int = MAX_CANDIDATES
    ) -> tuple[VerifiedQuestion, ...]:
        """The entries that an owner may use and that share the most and rarest of these `question_words`, best first.
        It reads a bounded number of entries for each of the first words."""
        looked_up = list(dict.fromkeys(words))[:MAX_WORDS]
        if not looked_up or not self._summary(graph).has_entries:
            return ()
        # all words at once, since each question to a server takes a while
        places = [(graph, scope, word, MAX_OF_WORD) for word in looked_up for scope in {EVERYONE, owner}]
        sql = " UNION ALL ".join(f"SELECT * FROM ({_OF_WORD}) w{n}" for n in range(len(places)))
        numbers: defaultdict[str, set[int]] = defaultdict(set)
        for word, number in self._read(sql, *(value for place in places for value in place)):
            numbers[word].add(number)
        weights: defaultdict[int, float] = defaultdict(float)
        for found_numbers in numbers.values():
            for number in found_numbers:
                weights[number] += 1 / log(len(found_numbers) + 2)
        best = sorted(weights, key=lambda number: (-weights[number], -number))[: min(limit, MAX_LISTED)]
        sql = f"SELECT {FIELDS}, number FROM verified v WHERE number IN (?) AND {UNDISPUTED}"
        found = self._read(sql, best, owner) if best else []
        order = {number: place for place, number in enumerate(best)}
        return one_of_each(sorted(found, key=lambda row: order[row[-1]]), owner)

    def listed(
        self,
        graph: str,
        owner: str | None = None,
        *,
        search: str = "",
        states: Sequence[str] = (),
        waiting: bool = False,
        own: bool = False,
        limit: int = MAX_LISTED,
        skip: int = 0,
    ) -> list[VerifiedQuestion]:
        """Entries of a graph, the latest first: approved ones and those of an owner, or all (None). `search` is part of
        the question; `waiting` ones are in use and not approved; `own`: only those of the owner."""
        where, given = ["graph = ?"], [graph]
        if owner is not None:
            where.append("owner = ?" if own else "(approved = 1 OR owner = ?)")
            given.append(owner)
        if search:
            like = search.lower().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
            where.append("(lower(question) LIKE ? ESCAPE '\\' OR lower(standalone) LIKE ? ESCAPE '\\')")
            given += [f"%{like}%"] * 2
        if states:
            where.append(f"state IN ({', '.join('?' * len(states))})")
            given += states
        if waiting:
            where.append("approved = 0 AND state = 'in use'")
        sql = f"SELECT {FIELDS} FROM verified WHERE {' AND '.join(where)} ORDER BY number DESC LIMIT ? OFFSET ?"
        return [parse_entry(row) for row in self._read(sql, *given, min(limit, MAX_LISTED), skip)]

    def entries(self, graph: str, id: str) -> list[VerifiedQuestion]:
        """The entries of all owners for one question."""
        sql = f"SELECT {FIELDS} FROM verified WHERE graph = ? AND id = ? ORDER BY number LIMIT ?"
        return [parse_entry(row) for row in self._read(sql, graph, id, MAX_LISTED)]

    def count(
        self, graph: str, owner: str | None = None, states: Sequence[VerifiedState] = (), *, waiting: bool = False
    ) -> int:
        """The number of entries of a graph, of these owners and states; `waiting` ones are in use and not approved."""
        where, given = "graph = ?", [graph]
        if waiting:
            where += " AND approved = 0 AND state = 'in use'"
        if owner is not None:
            where += " AND owner = ?"
            given.append(owner)
        if states:
            where += f" AND state IN ({', '.join('?' * len(states))})"
            given += states
        rows = self._read(f"SELECT count(*) FROM verified WHERE {where}", *given)
        return int(rows[0][0]) if rows else 0

    def add(self, graph: str, entry: VerifiedQuestion) -> VerifiedQuestion:
        """Store an entry in place of the owner's earlier one for the question; returns it with its state. An earlier
        approval stays if the plan or query is the same. Raises ConfigError if the owner has too many."""
        return self.add_all(graph, (entry,))[0]

    def add_all(self, graph: str, entries: Sequence[VerifiedQuestion]) -> list[VerifiedQuestion]:
        """Store several entries in one transaction."""
        with self._writing() as run:
            sql = "SELECT count(*) FROM verified WHERE graph = ? AND owner = ?"
            left = {by: MAX_OF_OWNER - run(sql, graph, by).fetchone()[0] for by in {entry.by for entry in entries}}
            for entry in entries:
                own = select_entries(run, "graph = ? AND id = ? AND owner = ?", graph, entry.id, entry.by)
                left[entry.by] -= not own
                if left[entry.by] < 0:
                    raise ConfigError(f"There are {MAX_OF_OWNER} verified questions already. Remove some first.")
                same = bool(own) and (own[0].plan, own[0].query) == (entry.plan, entry.query)
                store_entry(run, graph, replace(entry, approved=entry.approved or (same and own[0].approved)))
            for id in dict.fromkeys(entry.id for entry in entries):
                compare_entries(run, graph, id)
            return [select_entries(run, "graph = ? AND id = ? AND owner = ?", graph, e.id, e.by)[0] for e in entries]

    def approve(self, graph: str, id: str, owner: str, *, approved: bool = True) -> VerifiedQuestion | None:
        """Approve an owner's entry for everyone, or take the approval back; None if there is no such entry."""
        return self._change(graph, id, owner, lambda entry: replace(entry, approved=approved))

    def record_check(self, graph: str, checked: VerifiedQuestion) -> VerifiedQuestion | None:
        """Store what a check found; None if the entry is gone. A plan or query confirmed meanwhile stays."""

        def merged(entry: VerifiedQuestion) -> VerifiedQuestion:
            if (entry.plan, entry.query) != (checked.plan, checked.query):
                return entry
            return replace(checked, approved=entry.approved, at=entry.at)

        return self._change(graph, checked.id, checked.by, merged)

    def remove(self, graph: str, id: str, owner: str) -> bool:
        """Delete an owner's entry; whether there was one. What it contradicted is used again."""
        with self._writing(deletes=True) as run:
            gone = delete_entries(run, "graph = ? AND id = ? AND owner = ?", graph, id, owner)
            compare_entries(run, graph, id)
        return gone > 0

    def remove_all(self, graph: str | None = None, owner: str | None = None) -> int:
        """Delete all entries of a graph, of an owner, or of an owner in a graph; returns their number."""
        where = [name for name, value in (("graph", graph), ("owner", owner)) if value is not None]
        given = [value for value in (graph, owner) if value is not None]
        with self._writing(deletes=True) as run:
            clause = " AND ".join(f"{name} = ?" for name in where) or "1 = 1"
            touched = run(f"SELECT DISTINCT graph, id FROM verified WHERE {clause}", *given).fetchall()
            gone = delete_entries(run, clause, *given)
            for name, id in touched:
                compare_entries(run, name, id)
        return gone

    def forget_graph(self, graph: str) -> None:
        """Delete all that is stored of a graph. If there is nothing, nothing is written."""
        if self._read_summary(graph) != _Summary(None, None, False):
            with self._writing(deletes=True) as run:
                delete_entries(run, "graph = ?", graph)
                for table in ("verified_graph", "verified_calibration"):
                    run(f"DELETE FROM {table} WHERE graph = ?", graph)

    def set_aside(self, graph: str, state: VerifiedState, note: str) -> int:
        """Give all entries of a graph that are in use another state; returns their number."""
        with self._writing() as run:
            sql = "UPDATE verified SET state = ?, note = ? WHERE graph = ? AND state IN ('in use', 'contradicted')"
            changed = int(run(sql, state, note, graph).rowcount)
            run("DELETE FROM verified_word WHERE graph = ?", graph)
        return changed

    def graphs(self) -> list[str]:
        """The graphs that have entries, sorted."""
        return [str(row[0]) for row in self._read("SELECT DISTINCT graph FROM verified ORDER BY graph")]

    def calibrated_graphs(self) -> list[str]:
        """The graphs whose probabilities were calibrated, sorted."""
        return [str(row[0]) for row in self._read("SELECT graph FROM verified_calibration ORDER BY graph")]

    def known_version(self, graph: str) -> str | None:
        """The version of a graph that was last noted; None if there is none."""
        return self._summary(graph).version

    def known_graph(self, graph: str) -> tuple[frozenset[str], frozenset[str]] | None:
        """The classes and properties of the version that was last noted, and the bases of its things."""
        rows = self._read("SELECT terms, bases FROM verified_graph WHERE graph = ?", graph)
        return (frozenset(json.loads(rows[0][0])), frozenset(json.loads(rows[0][1]))) if rows else None

    def note_graph(self, graph: str, version: str, terms: frozenset[str], bases: frozenset[str]) -> None:
        """Store what `known_version` and `known_graph` return."""
        with self._writing() as run:
            row = {"graph": graph, "version": version}
            row |= {"terms": json.dumps(sorted(terms)), "bases": json.dumps(sorted(bases))}
            run.upsert("verified_graph", row, "graph")

    def calibration(self, graph: str) -> GraphCalibration | None:
        """What the verified questions of a graph say of its probabilities; None if that was not measured."""
        stored = self._summary(graph).calibration
        return None if stored is None else from_json(GraphCalibration, json.loads(stored))

    def store_calibration(self, graph: str, calibration: GraphCalibration) -> None:
        """Store what `calibration` returns."""
        with self._writing() as run:
            row = {"graph": graph, "calibration": json.dumps(to_json(calibration))}
            run.upsert("verified_calibration", row, "graph")

    def _summary(self, graph: str) -> "_Summary":
        """What every turn asks of a graph. A server is asked again after RECENT_SECONDS."""
        if self._shared is None:
            return self._read_summary(graph)
        now = time.monotonic()
        at, known = self._summaries.get(graph, (0.0, None))
        if known is None or now - at >= RECENT_SECONDS:
            known = self._read_summary(graph)
            # the number of graphs is that of the data folder
            self._summaries[graph] = now, known
        return known

    def _read_summary(self, graph: str) -> "_Summary":
        rows = self._read(_SUMMARY, graph, graph, graph)
        return _Summary(rows[0][0], rows[0][1], bool(rows[0][2])) if rows else _Summary(None, None, False)

    def _change(
        self, graph: str, id: str, owner: str, change: Callable[[VerifiedQuestion], VerifiedQuestion]
    ) -> VerifiedQuestion | None:
        with self._writing() as run:
            found = select_entries(run, "graph = ? AND id = ? AND owner = ?", graph, id, owner)
            if not found:
                return None
            store_entry(run, graph, change(found[0]))
            compare_entries(run, graph, id)
            return select_entries(run, "graph = ? AND id = ? AND owner = ?", graph, id, owner)[0]

    def _read(self, sql: str, *given: object) -> list[tuple[Any, ...]]:
        """The rows of a query; none if there is no file yet."""
        database = self._opened(create=False)
        return database.read(sql, *given) if database is not None else []

    def _opened(self, *, create: bool) -> StateDatabase | None:
        with self._lock:
            if self._database is None:
                if self._shared is None and not create and not self._file.exists():
                    return None
                self._database = self._open()
            return self._database

    def _open(self) -> StateDatabase:
        if self._shared is not None:
            database = self._shared()
        else:
            with suppress(OSError):
                # questions are private: only the owner of the data folder reads the file. SQLite reports other errors.
                make_private(self._file)
            database = open_file(self._file, ("journal_mode=WAL", "secure_delete=ON"))
        try:
            install_tables(database, PART, VERSIONS)
        except BaseException:
            database.close()
            raise
        return database

    @contextmanager
    def _writing(self, *, deletes: bool = False) -> Iterator[Execute]:
        database = self._opened(create=True)
        assert database is not None
        try:
            with database.writing(PART, deletes=deletes) as run:
                yield run
        finally:
            self._summaries.clear()


PART = "verified questions"

VERSIONS = (
    (
        """CREATE TABLE IF NOT EXISTS verified (
        number {number}, graph TEXT NOT NULL, id TEXT NOT NULL, owner TEXT NOT NULL, question TEXT NOT NULL,
        standalone TEXT NOT NULL, plan TEXT NOT NULL, query TEXT NOT NULL, values_hash TEXT NOT NULL, kind TEXT NOT
        NULL, at TEXT NOT NULL, version TEXT NOT NULL, approved INTEGER NOT NULL, state TEXT NOT NULL, note TEXT NOT
        NULL, UNIQUE (graph, id, owner))""",
        "CREATE INDEX IF NOT EXISTS verified_of_owner ON verified (graph, owner, state, number)",
        "CREATE INDEX IF NOT EXISTS verified_approved ON verified (graph, approved, state, number)",
        """CREATE TABLE IF NOT EXISTS verified_word (
        graph TEXT NOT NULL, scope TEXT NOT NULL, word TEXT NOT NULL, number BIGINT NOT NULL,
        PRIMARY KEY (graph, scope, word, number)) {clustered}""",
        "CREATE INDEX IF NOT EXISTS verified_word_of ON verified_word (number)",
        """CREATE TABLE IF NOT EXISTS verified_graph (
        graph TEXT PRIMARY KEY, version TEXT NOT NULL, terms TEXT NOT NULL, bases TEXT NOT NULL) {clustered}""",
        """CREATE TABLE IF NOT EXISTS verified_calibration (
        graph TEXT PRIMARY KEY, calibration TEXT NOT NULL) {clustered}""",
    ),
)

FIELDS = "id, question, standalone, plan, query, values_hash, kind, owner, at, version, approved, state, note"

# not contradicted by an entry of the owner who asks
UNDISPUTED = (
    "NOT EXISTS (SELECT 1 FROM verified o WHERE o.graph = v.graph AND o.id = v.id AND o.owner = ?"
    " AND o.state = 'contradicted')"
)

# the scope of approved entries in the index of words; the others have that of their owner
EVERYONE = ""

# states that another entry of the same question decides
_COMPARED = ("in use", "contradicted")


def store_entry(run: Execute, graph: str, entry: VerifiedQuestion) -> None:
    """Insert or update an entry, without its words."""
    row = {"graph": graph, **vars(entry), "owner": entry.by, "approved": int(entry.approved)}
    row |= {"plan": json.dumps(entry.plan), "query": json.dumps(entry.query)}
    del row["by"]
    run.upsert("verified", row, "graph", "id", "owner")


def compare_entries(run: Execute, graph: str, id: str) -> None:
    """Find the entries of one question that contradict each other (within a version), and index the words of those in
    use. An entry that is not approved can't stop one that is."""
    entries = select_entries(run, "graph = ? AND id = ?", graph, id)
    for before in entries:
        entry = before
        if entry.state in _COMPARED:
            others = [o for o in entries if o.state in _COMPARED and (o.approved or not entry.approved)]
            if any(o.version == entry.version and o.values_hash != entry.values_hash for o in others):
                note = "other values were confirmed for the same question"
                entry = replace(entry, state="contradicted", note=note)
            elif entry.state == "contradicted":
                entry = replace(entry, state="in use", note="")
        if entry != before:
            store_entry(run, graph, entry)
        _index_words(run, graph, entry)


def _index_words(run: Execute, graph: str, entry: VerifiedQuestion) -> None:
    sql = "SELECT number FROM verified WHERE graph = ? AND id = ? AND owner = ?"
    number = run(sql, graph, entry.id, entry.by).fetchone()[0]
    run("DELETE FROM verified_word WHERE number = ?", number)
    if entry.state == "in use":
        scope = EVERYONE if entry.approved else entry.by
        words = sorted(set(question_words(entry.standalone)))
        run.many("INSERT INTO verified_word VALUES (?, ?, ?, ?)", [(graph, scope, word, number) for word in words])


def delete_entries(run: Execute, clause: str, *given: object) -> int:
    """Delete the entries of a condition with their words; returns their number."""
    run(f"DELETE FROM verified_word WHERE number IN (SELECT number FROM verified WHERE {clause})", *given)
    return int(run(f"DELETE FROM verified WHERE {clause}", *given).rowcount)


def select_entries(run: Execute, clause: str, *given: object) -> list[VerifiedQuestion]:
    """The entries of a condition, the earliest first."""
    return [parse_entry(row) for row in run(f"SELECT {FIELDS} FROM verified WHERE {clause} ORDER BY number", *given)]


def one_of_each(rows: Sequence[tuple[Any, ...]], owner: str) -> tuple[VerifiedQuestion, ...]:
    """One entry for each question, the owner's own one before others, in the order of the rows."""
    chosen: dict[str, VerifiedQuestion] = {}
    for row in rows:
        entry = parse_entry(row)
        if entry.id not in chosen or (entry.by == owner and chosen[entry.id].by != owner):
            chosen[entry.id] = entry
    return tuple(chosen.values())


def parse_entry(row: tuple[Any, ...]) -> VerifiedQuestion:
    """The entry of a row that begins with `FIELDS`."""
    data = dict(zip(FIELDS.split(", "), row, strict=False))
    data |= {"by": data.pop("owner"), "approved": bool(data["approved"])}
    data |= {"plan": json.loads(data["plan"]), "query": json.loads(data["query"])}
    return from_json(VerifiedQuestion, data)
