"""Verified questions that two servers share, on any state database: the same checks for SQLite and PostgreSQL."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from nacre.records.turn import GraphCalibration, VerifiedQuestion, question_id, values_hash, values_kind
from nacre.stores.state.database import StateDatabase
from nacre.stores.state.verified_questions import RECENT_SECONDS, VerifiedQuestionStore

GRAPH = "ferries"
QUESTION = "How many ferries cross the strait?"
HOSTILE = "'; DROP TABLE verified; -- ? :p0 %s \0 how many ferries"
CALIBRATION = GraphCalibration(0.25, 12, 10, 9, "v1", "2026-05-03T10:00:00Z")


def entry(
    question: str = QUESTION, by: str = "ann", values: tuple[object, ...] = (3,), graph: str = GRAPH
) -> VerifiedQuestion:
    """An entry that only its owner uses."""
    plan = {"body": {"kind": "overview"}, "version": 1}
    hashes = values_hash(values), values_kind(values)
    return VerifiedQuestion(
        question_id(graph, question), question, question, plan, None, *hashes, by, "2026-05-03T10:00:00Z", "v1"
    )


def check_shared_questions(folder: Path, shared: Callable[[], StateDatabase], wait: Callable[[float], None]) -> None:
    """What is confirmed, approved, contradicted and removed through one store is so through the other one."""
    one, two = (VerifiedQuestionStore(folder / f"{name}.sqlite", shared) for name in "ab")
    try:
        _check(one, two, wait)
    finally:
        one.close()
        two.close()


def _check(one: VerifiedQuestionStore, two: VerifiedQuestionStore, wait: Callable[[float], None]) -> None:
    assert two.find(GRAPH, "ann", QUESTION) is None
    added = one.add(GRAPH, entry())
    assert one.find(GRAPH, "ann", QUESTION) == added
    wait(RECENT_SECONDS)
    assert two.find(GRAPH, "ann", QUESTION.upper()) == added
    # of another owner nothing is seen until it is approved
    assert two.find(GRAPH, "bo", QUESTION) is None
    assert two.similar(GRAPH, "bo", ["ferries", "strait"]) == two.usable(GRAPH, "bo") == ()
    approved = two.approve(GRAPH, added.id, "ann")
    assert approved == replace(added, approved=True)
    assert one.find(GRAPH, "bo", QUESTION) == approved
    assert one.similar(GRAPH, "bo", ["ferries", "strait"]) == one.usable(GRAPH, "bo") == (approved,)
    # the entry that shares more and rarer words comes first
    other = two.add(GRAPH, replace(entry("Which ferries are late?"), approved=True))
    assert one.similar(GRAPH, "bo", ["late", "ferries"]) == (other, approved)
    assert one.similar(GRAPH, "bo", ["strait", "ferries"]) == (approved, other)
    two.add(GRAPH, entry(by="bo", values=(4,)))
    assert one.find(GRAPH, "bo", QUESTION) is None
    assert one.find(GRAPH, "ann", QUESTION) == approved
    assert two.remove(GRAPH, added.id, "bo")
    hostile = two.add(GRAPH, entry(HOSTILE))
    assert [each.id for each in one.listed(GRAPH, "ann", search="drop table")] == [hostile.id]
    assert one.count(GRAPH) == 3
    one.note_graph(GRAPH, "v1", frozenset({"a"}), frozenset())
    one.store_calibration(GRAPH, CALIBRATION)
    wait(RECENT_SECONDS)
    assert (two.known_version(GRAPH), two.calibration(GRAPH)) == ("v1", CALIBRATION)
    assert two.known_graph(GRAPH) == (frozenset({"a"}), frozenset())
    assert two.set_aside(GRAPH, "replaced", "another graph") == 3
    assert one.find(GRAPH, "bo", QUESTION) is None
    assert one.remove_all(GRAPH) == 3
    assert (two.graphs(), two.similar(GRAPH, "ann", ["ferries"])) == ([], ())
