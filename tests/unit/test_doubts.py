"""What speaks against rows, and what does not."""

from dataclasses import replace
from typing import Any

import pytest

from agents.turn_view import TurnView, first_turn
from nacre.extensions.model_agents.doubts import find_doubt, is_of_kind, preview_rows
from nacre.records.evidence import AnswerForm, BranchResult, Table
from nacre.records.schema import Class, Column, Predicate, Relation, Schema
from nacre.records.turn import Mention, Understanding
from tests.support.fake_database import refused, rows

QUESTION = "What is in the pilau?"
EMPTY_SCHEMA = Schema((), (), (), (), {}, 0, 0)


def mention(text: str = "pilau", label: str = "Pilaf Deluxe", score: float = 1.0, kind: Any = "entity") -> Mention:
    return Mention(text, 0, len(text), kind, "http://ex/p", label, score)


def view(*mentions: Mention) -> TurnView:
    return first_turn(QUESTION, Understanding(QUESTION, mentions))


@pytest.mark.parametrize(
    ("wants", "cells", "fits"),
    [
        ("number", ((3,),), True),
        ("number", (("3.5",),), True),
        ("number", (("-2",),), True),
        ("number", (("three",),), False),
        ("number", ((True,),), False),
        ("number", (("Oslo", 3),), True),
        ("date", (("1999-01-01",),), True),
        ("date", ((1999,),), True),
        ("date", ((None,),), False),
        ("names", (("Oslo",),), True),
        ("names", ((3,),), False),
        ("yes_no", ((1,),), True),
        ("yes_no", ((1,), (0,)), False),
    ],
)
def test_the_kind_of_answer(wants: AnswerForm, cells: Any, fits: bool) -> None:
    assert is_of_kind(wants, Table(tuple("abc"[: len(cells[0])]), cells)) == fits


@pytest.mark.parametrize("wants", ["text", "table", "prose", None])
def test_other_kinds_may_be_anything(wants: AnswerForm | None) -> None:
    assert find_doubt(view(), wants, [rows(3)], EMPTY_SCHEMA) is None


@pytest.mark.parametrize(
    ("ran", "why"),
    [
        ([refused("There is no table 'meal'.")], "There is no table 'meal'."),
        ([rows("a"), refused("Too slow.")], "Too slow."),
        ([], "It ran and gave no rows"),
        ([rows(None, None)], "It ran and gave no rows"),
    ],
)
def test_errors_and_nothing_go_back(ran: list[BranchResult], why: str) -> None:
    assert why in str(find_doubt(view(), "names", ran, EMPTY_SCHEMA))


def test_of_several_queries_one_with_rows_is_enough() -> None:
    assert find_doubt(view(), "prose", [rows(), rows("a")], EMPTY_SCHEMA) is None


@pytest.mark.parametrize(
    ("question", "doubted"),
    [("Is the pilau hot?", True), ("Is it the stew or the pilau?", False), ("Is it the pilau or the stew?", False)],
)
def test_answers_to_choose_from_are_no_conditions(question: str, doubted: bool) -> None:
    at = question.index("pilau")
    named = replace(mention(), start=at, end=at + len("pilau"))
    found = find_doubt(first_turn(question, Understanding(question, (named,))), "names", [rows("a")], EMPTY_SCHEMA)
    assert (found is not None) == doubted


@pytest.mark.parametrize(
    ("named", "sql", "doubted"),
    [
        (mention(), "SELECT 1", True),
        (mention(), "SELECT 1 WHERE label = 'PILAF deluxe'", False),
        (mention(), "SELECT 1 WHERE label LIKE '%pilau%'", False),
        (mention(score=0.6), "SELECT 1", False),
        (mention(kind="class"), "SELECT 1", False),
        (mention(kind="value"), "SELECT 1", True),
        (mention(label=""), "SELECT 1", False),
    ],
)
def test_a_name_that_no_condition_uses(named: Mention, sql: str, doubted: bool) -> None:
    why = find_doubt(view(named), "names", [rows("onion", sql=sql)], EMPTY_SCHEMA)
    assert bool(why) == doubted
    if doubted:
        assert "'pilau'" in str(why)


@pytest.mark.parametrize(
    ("named", "found"),
    [
        # the start of a word of the question
        (mention("curried", "Curry"), rows("onion", sql="SELECT 1 WHERE label LIKE '%curr%'")),
        (mention("wheels", "Wheels"), rows("onion", sql="SELECT kind = 'All-wheel drive'")),
        # what is asked for is among the rows, or in each of them, or a column has its name
        (mention("pilau", "Pilaf"), rows("onion", "Pilaf", sql="SELECT 1")),
        (mention("rice", "Basmati"), rows("brown rice", "rice pudding", sql="SELECT 1")),
        (mention("c0", "First"), rows("onion", sql="SELECT 1")),
    ],
)
def test_a_name_that_the_query_or_its_rows_cover_raises_no_doubt(named: Mention, found: BranchResult) -> None:
    assert find_doubt(view(named), "names", [found], EMPTY_SCHEMA) is None


def test_a_name_is_covered_by_another_thing_of_the_same_words() -> None:
    other = replace(mention(label="Risotto"), target="http://ex/r")
    turn = first_turn(QUESTION, Understanding(QUESTION, (mention(),), candidates=(other,)))
    assert find_doubt(turn, "names", [rows("onion", sql="SELECT 1 WHERE label = 'risotto'")], EMPTY_SCHEMA) is None


@pytest.mark.parametrize(
    ("question", "label", "doubted"),
    [
        ("How many pilau are there?", "PILAU", False),
        ("how many pilau are there?", "PILAU", True),
        ("How many pilau are there?", "Pilau", True),
    ],
)
def test_a_word_written_small_is_no_name_in_capitals(question: str, label: str, doubted: bool) -> None:
    named = replace(mention(label=label), start=9, end=14)
    turn = first_turn(question, Understanding(question, (named,)))
    assert bool(find_doubt(turn, "number", [rows(3, sql="SELECT 1")], EMPTY_SCHEMA)) == doubted


@pytest.mark.parametrize(
    ("sql", "values", "doubted"),
    [
        ("SELECT label FROM dish WHERE has_lid IS NOT NULL", ("true", "false"), True),
        ('SELECT label FROM dish WHERE "Has_Lid" is not null', ("ja", "nein", "ja"), False),
        ("SELECT label FROM dish WHERE has_lid IS NOT NULL", ("yes", "no"), True),
        ("SELECT label FROM dish WHERE has_lid IS NOT NULL", ("true",), False),
        ("SELECT label FROM dish WHERE has_lid IS NOT NULL", ("glass", "steel"), False),
        ("SELECT label, has_lid FROM dish WHERE has_lid IS NOT NULL", ("true", "false"), False),
        ("SELECT label FROM dish WHERE has_lid IS NOT NULL AND has_lid = 'true'", ("true", "false"), False),
    ],
)
def test_that_a_yes_or_no_is_stated_is_no_yes(sql: str, values: tuple[str, ...], doubted: bool) -> None:
    lid = Predicate("http://ex/lid", "has lid", 9, 9, len(set(values)), True, False, True, {}, {}, values=values)
    dish = Relation("dish", "table", "id", (Column("http://ex/lid", value="has_lid"),))
    schema = Schema((), (), (lid,), (dish,), {}, 0, 0)
    why = find_doubt(view(), "names", [rows("pot", "pan", sql=sql)], schema)
    assert (why is not None and "has_lid IS NOT NULL" in why) is doubted


def test_a_name_of_everything_restricts_nothing() -> None:
    only = Predicate("http://ex/maker", "maker", 9, 9, 1, True, False, True, {}, {}, values=("Pilau",))
    dish = Class("http://ex/Dish", "dish", 9, "dish")
    schema = Schema((dish,), (), (only,), (), {}, 0, 0)
    unused = [rows("onion", sql="SELECT 1")]
    value = replace(mention(kind="value", label="Pilau"), predicate="http://ex/maker")
    assert find_doubt(view(value), "names", unused, schema) is None
    assert find_doubt(view(mention("dishes", "Dishes of the day")), "names", unused, schema) is None
    assert find_doubt(view(mention("lids", "Lids of the day")), "names", unused, schema)


def test_no_more_than_three_names_are_told_of() -> None:
    names = [mention(text, text) for text in ("uno", "due", "tre", "quattro")]
    why = str(find_doubt(view(*names), "names", [rows("a", sql="SELECT 1")], EMPTY_SCHEMA))
    assert "'tre'" in why
    assert "quattro" not in why


def test_rows_are_shown_short_with_a_header() -> None:
    text = preview_rows(rows(*range(12)).rows[0].table, 5)
    assert text.splitlines() == ["c0", "0", "1", "2", "3", "4", "... 7 more rows"]
    assert len(preview_rows(rows("x" * 5000).rows[0].table)) < 200
    assert preview_rows(rows().rows[0].table) == "no rows"


@pytest.mark.parametrize(
    "sparql",
    [
        "SELECT ?o { <http://ex/p> ?p ?o }",
        "PREFIX e: <http://ex/> SELECT ?o { e:p ?p ?o }",
        "prefix x:<http://ex/> ASK { x:p ?p 1}",
    ],
)
def test_a_thing_is_named_by_its_address(sparql: str) -> None:
    part = replace(mention("Deluxe", "Deluxe", kind="value"), target="Deluxe")
    turn = first_turn("What is in it?", Understanding("What is in the Pilaf Deluxe?", (part,), candidates=(mention(),)))
    assert find_doubt(turn, "names", [rows("onion", sql=sparql)], EMPTY_SCHEMA) is None
    assert "'Deluxe'" in str(find_doubt(turn, "names", [rows("onion", sql="SELECT 1")], EMPTY_SCHEMA))


@pytest.mark.parametrize(
    ("text", "kind", "doubted"), [("hot", "value", False), ("Hot", "value", True), ("hot", "entity", True)]
)
def test_a_large_model_leaves_out_values_in_small_letters_on_purpose(text: str, kind: Any, doubted: bool) -> None:
    named, unused = view(mention(text, "hot", kind=kind)), [rows("onion", sql="SELECT 1")]
    assert find_doubt(named, "names", unused, EMPTY_SCHEMA)
    assert bool(find_doubt(named, "names", unused, EMPTY_SCHEMA, is_large=True)) == doubted


@pytest.mark.parametrize(("column", "doubted"), [("official_name_fr", False), ("official_name_de", True)])
def test_a_language_chooses_a_column(column: str, doubted: bool) -> None:
    found = rows("la paella", sql=f"SELECT {column} FROM dish WHERE label = 'Paella'")
    doubt = find_doubt(view(mention("French", "French")), "names", [found], EMPTY_SCHEMA)
    assert bool(doubt) == doubted
