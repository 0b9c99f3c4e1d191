"""Rows of a rewording beside those of the question itself: which is likelier, and by how much."""

from dataclasses import replace

import pytest

from agents.answering.select_answer import UNSURE, is_sure
from agents.model_priors import Size, after_agreement, after_dispute, model_priors
from nacre.extensions.model_agents.query_writer import merge_rewording
from nacre.records.evidence import BranchResult, Doubt, Rows
from nacre.records.plan import Plan, Select
from nacre.records.turn import Reading, Understanding
from nacre.understanding.ranking.rank import load_weights
from tests.support.fake_database import rows

READING = Reading(Plan(Select((), ())), 1.0, 1.0, "")
UNDERSTANDING = Understanding("free stews", readings=(READING, READING))
SMALL = model_priors("small")
BELOW = load_weights().threshold - UNSURE
DOUBT = (Doubt("coverage", "stews"),)


def drafted(*given: tuple[float, BranchResult]) -> BranchResult:
    """What readings of the question gave, and how likely each is."""
    read = [replace(each, reading=i, probability=p) for i, (p, gave) in enumerate(given) for each in gave.rows]
    return BranchResult("sql", tuple(read))


def reworded(chance: float, gave: BranchResult) -> Rows:
    return replace(gave.rows[0], plan=READING.plan, probability=chance)


def chances(found: BranchResult) -> list[tuple[object, float]]:
    return [(each.table.rows[0][0], round(each.probability or 0.0, 3)) for each in found.rows]


@pytest.mark.parametrize("size", ["large", "unknown"])
def test_larger_models_are_not_asked_for_other_words(size: Size) -> None:
    assert model_priors(size).faithful is None


def test_what_both_give_is_surer_than_either() -> None:
    found = merge_rewording(UNDERSTANDING, drafted((0.6, rows("a")), (0.3, rows("b"))), reworded(0.9, rows("a")), SMALL)
    own = (SMALL.faithful or 0.0) * 0.9
    assert after_agreement(own, 0.6) > BELOW > max(own, 0.6)
    assert chances(found) == [("a", round(BELOW, 3)), ("b", 0.3)], "less sure than rules have to be"
    assert (found.rows[0].reading, found.rows[0].confirmed) == (0, True)


def test_a_likely_reading_and_its_rewording_are_sure_together() -> None:
    found = merge_rewording(UNDERSTANDING, drafted((BELOW, rows("a"))), reworded(0.95, rows("a")), SMALL)
    assert is_sure(UNDERSTANDING, found.rows[0])


@pytest.mark.parametrize(
    ("known", "read", "said"),
    [
        (replace(UNDERSTANDING, readings=(replace(READING, unused=("free",)),)), rows("a"), reworded(0.95, rows("a"))),
        (replace(UNDERSTANDING, readings=(replace(READING, lost=("free",)),)), rows("a"), reworded(0.95, rows("a"))),
        (replace(UNDERSTANDING, cut=True), rows("a"), reworded(0.95, rows("a"))),
        (UNDERSTANDING, rows("a"), replace(reworded(0.95, rows("a")), doubts=DOUBT)),
        (
            UNDERSTANDING,
            replace(rows("a"), evidence=(replace(rows("a").rows[0], doubts=DOUBT),)),
            reworded(0.95, rows("a")),
        ),
        (UNDERSTANDING, rows("a"), reworded(0.95, rows("a", 3, columns=2))),
        (UNDERSTANDING, rows(0), reworded(0.95, rows(0))),
    ],
    ids=[
        "word left out",
        "word lost",
        "too few readings",
        "rewording doubted",
        "reading doubted",
        "a column more",
        "nil",
    ],
)
def test_what_both_give_is_not_sure_without_a_proof(known: Understanding, read: BranchResult, said: Rows) -> None:
    found = merge_rewording(known, drafted((BELOW, read)), said, SMALL)
    assert not any(is_sure(known, each) for each in found.rows)


def test_no_rewording_alone_is_sure() -> None:
    for given in (drafted(), drafted((0.1, rows("a")))):
        found = merge_rewording(UNDERSTANDING, given, reworded(1.0, rows("c")), SMALL)
        assert found.rows[0].table.rows == (("c",),)
        assert not is_sure(UNDERSTANDING, found.rows[0])


def test_no_rewording_makes_an_answer_surer_than_what_it_leans_on() -> None:
    adrift = replace(UNDERSTANDING, most=0.5)
    found = merge_rewording(adrift, drafted((0.5, rows("a"))), reworded(0.9, rows("a")), SMALL)
    assert chances(found) == [("a", 0.5)]


def test_a_likelier_rewording_overrules_and_keeps_its_plan() -> None:
    own = (SMALL.faithful or 0.0) * 0.9
    found = merge_rewording(UNDERSTANDING, drafted((0.5, rows("a"))), reworded(0.9, rows("c")), SMALL)
    assert chances(found) == [("c", round(after_dispute(own, 0.5), 3)), ("a", round(after_dispute(0.5, own), 3))]
    assert (found.rows[0].reading, found.rows[0].plan) == (None, READING.plan)


def test_a_less_likely_rewording_overrules_nothing() -> None:
    found = merge_rewording(UNDERSTANDING, drafted((0.7, rows("a"))), reworded(0.6, rows("c")), SMALL)
    assert found.rows[0].table.rows == (("a",),)
    assert (found.rows[0].probability or 0.0) < 0.7, "two that differ make each other less sure"


def test_a_rewording_decides_between_two_readings() -> None:
    both = drafted((0.5, rows("a", "b")), (0.5, rows("a")))
    found = merge_rewording(UNDERSTANDING, both, reworded(0.9, rows("a")), SMALL)
    assert found.rows[0].reading == 1
    assert (found.rows[0].probability or 0.0) > 0.6 > (found.rows[1].probability or 0.0)


def test_what_shows_more_than_was_asked_for_agrees_and_stands_back() -> None:
    wide = drafted((0.7, rows("a", 3, columns=2)), (0.5, rows("a")))
    found = merge_rewording(UNDERSTANDING, wide, reworded(0.9, rows("a")), SMALL)
    assert [each.reading for each in found.rows] == [1, 0]
    assert (found.rows[0].probability or 0.0) == BELOW > (found.rows[1].probability or 0.0) == 0.7


@pytest.mark.parametrize("said", [rows("a"), rows("a", 3, "b", columns=3)], ids=["a column less", "a column more"])
def test_a_rewording_with_other_columns_does_not_take_the_place_of_a_reading(said: BranchResult) -> None:
    read = drafted((0.6, rows("a", 3, columns=2)), (0.4, rows("c")))
    found = merge_rewording(UNDERSTANDING, read, reworded(0.9, said), SMALL)
    assert [(each.reading, each.confirmed) for each in found.rows] == [(0, True), (1, False)]
    assert 0.6 < (found.rows[0].probability or 0.0) <= BELOW
