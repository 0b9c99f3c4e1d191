"""Which other readings are offered with an unsure answer, and what is said of conditions that nothing meets."""

from dataclasses import replace
from typing import Any

import pytest

from agents.answering.fallbacks import other_readings, stated_values
from nacre.extensions.nearest.search import changed_readings
from nacre.plans.selects import is_variant_plan
from nacre.records.evidence import Rows, Table
from nacre.records.plan import Aggregate, Attribute, Edge, Filter, Itself, Order, Plan, Select, Variable
from nacre.records.schema import Class, Predicate, Schema
from nacre.records.turn import Mention, Reading, Understanding


def predicate(label: str, **more: Any) -> Predicate:
    """A property of boats with literals."""
    return Predicate(label, label, 4, 4, 4, True, False, True, {"Boat": 4}, {}, **more)


FLEET = Schema(
    (Class("Boat", "boat", 4, "boat"),),
    (),
    (
        predicate("rig", values=("gaff sloop", "ketch", "yawl")),
        predicate("length", datatype="decimal", minimum=4.0, maximum=9.0, unit="m"),
        predicate("launch date", datatype="date"),
        predicate("sale date", datatype="date"),
        predicate("hull code", role="identifier"),
    ),
    (),
    {},
    20,
    4,
)
BOAT = Variable("x", ("Boat",))


def ran(question: str, *results: tuple[str, float, tuple[object, ...], Select]) -> tuple[Understanding, list[Rows]]:
    """An understanding whose readings (words, share, cells of the first row, plan) were run."""
    readings = tuple(Reading(Plan(plan), share, 1.0, words, share) for words, share, _, plan in results)
    rows = [
        Rows("sql", 1, Table(tuple(f"c{n}" for n in range(len(cells))), (cells,)), words=words, reading=i)  # type: ignore[arg-type]
        for i, (words, _, cells, _) in enumerate(results)
    ]
    return Understanding(question, readings=readings), rows


RIG, LENGTH, CODE = (Select((Attribute("x", each),), (BOAT,)) for each in ("rig", "length", "hull code"))
BOTH, SOLD = (Select((*RIG.answers, Attribute("x", each)), (BOAT,)) for each in ("length", "sale date"))


def test_other_readings_give_something_else_and_use_what_is_asked() -> None:
    understanding, rows = ran(
        "the rig and length of the boats",
        ("the rigs of the boats", 0.6, ("ketch",), RIG),
        ("the rigs of the old boats", 0.1, ("ketch",), RIG),
        ("the rigs and lengths of the boats", 0.1, ("ketch", 5), BOTH),
        ("the rigs and sale dates of the boats", 0.08, ("ketch", "1999"), SOLD),
        ("the hull codes of the boats", 0.06, ("B7",), CODE),
        ("the lengths of the yawls", 0.001, (7,), LENGTH),
    )
    length = Mention("length", 8, 14, "predicate", "length", "length", 1.0)
    offered = other_readings(rows[0], replace(understanding, mentions=(length,)), rows, FLEET)
    assert [each.words for each in offered] == ["the rigs and lengths of the boats"]
    # identifiers only if they are asked for; the shares of readings with the same rows add up
    coded = replace(understanding, standalone="which hull code?")
    assert [each.words for each in other_readings(None, coded, rows, FLEET)] == [
        "the rigs of the boats",
        "the hull codes of the boats",
    ]


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (Filter(Attribute("x", "rig"), "=", "sloops"), "The values of “rig” are gaff sloop, yawl and ketch."),
        (Filter(Attribute("x", "rig"), "contains", "gaff"), ""),
        (Filter(Attribute("x", "rig"), "=", "cutter", negated=True), ""),
        (Filter(Attribute("x", "length"), ">", 12), "The values of “length” are from 4 m to 9 m."),
        (Filter(Attribute("x", "length"), ">", 8), ""),
        (Filter(Attribute("x", "hull code"), "=", "B9"), ""),
    ],
)
def test_values_are_named_if_none_meets_a_condition(condition: Filter, text: str) -> None:
    assert stated_values(Plan(Select((Itself("x"),), (BOAT,), filters=(condition,))), FLEET) == text


def changed(question: str, plan: Select, *mentions: Mention, cells: tuple[object, ...] = ("Otter",)) -> list[str]:
    understanding, rows = ran(question, ("what was read", 0.9, cells, plan))
    understanding = replace(understanding, mentions=mentions)
    selected = rows[0] if cells != (None,) else None
    return [each.words for each in changed_readings(understanding, selected, rows, FLEET)]


def test_a_superlative_without_a_named_date_may_measure_another_date() -> None:
    first = Select((Itself("x"),), (BOAT,), order=Order(Attribute("x", "launch date"), False), limit=1)
    assert changed("which boat is the oldest?", first) == ["the boat with the earliest sale date"]
    assert changed("which boat has the earliest launch date?", first) == []


def test_a_mean_that_is_asked_for_may_take_the_place_of_a_total() -> None:
    total = Select((Aggregate("sum", Attribute("x", "length")),), (BOAT,))
    assert changed("how long are the boats on average?", total) == ["the average length of the boats"]
    assert changed("how long are the boats together?", total) == []


def test_a_condition_that_no_words_name_exactly_may_be_left_out() -> None:
    rig, long = Filter(Attribute("x", "rig"), "=", "yawl"), Filter(Attribute("x", "length"), ">", 5)
    plan = Select((Aggregate("count", Itself("x")),), (BOAT,), filters=(rig, long))
    named = Mention("yawl", 0, 4, "value", "yawl", "yawl", 1.0)
    guessed = Mention("big", 5, 8, "predicate", "length", "big", 0.5)
    without_length = "the number of boats whose rig is yawl"
    assert changed("how many big yawls?", plan, named, guessed, cells=(3,)) == [without_length]
    owner, town = Variable("o"), Filter(Attribute("o", "rig"), "=", "yawl")
    linked = replace(plan, variables=(BOAT, owner), edges=(Edge("x", "keeper", "o"),), filters=(town,))
    assert changed("how many big yawls?", linked, named, cells=(3,)) == []
    # of what gives nothing each condition may be too much, the worst named first
    every = changed("how many big yawls?", plan, named, guessed, cells=(None,))
    assert every == [without_length, "the number of boats whose length is above 5 m"]


def test_a_link_that_gives_nothing_may_be_left_out_but_not_every_condition_of_a_list() -> None:
    keeper = Variable("k", keys=("ann",), label="Ann")
    lists = Select((Itself("x"),), (BOAT, keeper), (Edge("x", "rig", "k"),))
    assert changed("Ann's boats", lists, cells=(None,)) == []
    counts = replace(lists, answers=(Aggregate("count", Itself("x")),))
    assert changed("how many boats has Ann?", counts, cells=(None,)) == ["the number of boats"]


@pytest.mark.parametrize(
    ("plan", "is_same"),
    [
        (replace(LENGTH, filters=(Filter(Attribute("x", "length"), ">", 5),)), True),
        (Select((Aggregate("sum", Attribute("x", "length")),), (BOAT,)), True),
        (Select((Itself("x"),), (BOAT,)), True),
        (Select((Aggregate("avg", Attribute("x", "length")),), (BOAT,)), False),
        (Select((Itself("x"),), (BOAT,), filters=(Filter(Attribute("x", "rig"), "=", "yawl"),)), False),
        (Select((Itself("x"),), (replace(BOAT, classes=("Quay",)),)), False),
        (RIG, False),
    ],
)
def test_variants_of_what_is_shown_are_not_offered(plan: Select, is_same: bool) -> None:
    assert is_variant_plan(Plan(plan), Plan(LENGTH)) == is_same
    understanding, rows = ran(
        "the length of the boats", ("the lengths of the boats", 0.6, (5,), LENGTH), ("the other", 0.3, (7,), plan)
    )
    assert [each.words for each in other_readings(rows[0], understanding, rows, FLEET)] == ["the other"] * (not is_same)
