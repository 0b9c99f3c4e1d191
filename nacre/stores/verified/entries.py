"""The tables of verified questions, and what each change of them does: Execute + entry -> rows.

Entries of one question that contradict each other are found with every change, and the index of words has only the
entries in use.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from nacre.records.json_form import from_json
from nacre.records.verified_question import VerifiedQuestion, question_words
from nacre.stores.state.statements import Execute

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
    given = (
        *(graph, entry.id, entry.by, entry.question, entry.standalone, json.dumps(entry.plan), json.dumps(entry.query)),
        *(entry.values_hash, entry.kind, entry.at, entry.version, int(entry.approved), entry.state, entry.note),
    )
    run(
        "INSERT INTO verified (graph, id, owner, question, standalone, plan, query, values_hash, kind, at, version,"
        " approved, state, note) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (graph, id, owner) DO UPDATE SET question = excluded.question, standalone = excluded.standalone,"
        " plan = excluded.plan, query = excluded.query, values_hash = excluded.values_hash, kind = excluded.kind,"
        " at = excluded.at, version = excluded.version, approved = excluded.approved, state = excluded.state,"
        " note = excluded.note",
        *given,
    )


def compare_entries(run: Execute, graph: str, id: str) -> None:
    """Find the entries of one question that contradict each other, and put the words of those in use in the index.

    Values are only compared within one version of the graph. An entry that is not approved can't stop one that is.
    """
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
    id, question, standalone, plan, query, hash, kind, owner, at, version, approved, state, note = row[:13]
    data = {
        **{"id": id, "question": question, "standalone": standalone, "plan": json.loads(plan)},
        **{"query": json.loads(query), "values_hash": hash, "kind": kind, "by": owner, "at": at, "version": version},
        **{"approved": bool(approved), "state": state, "note": note},
    }
    return from_json(VerifiedQuestion, data)
