"""Which stretches of a question are looked for, and how what is found is told."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.answering.select_answer import content_words
from nacre.extensions.model_agents.look_up import (
    LONGEST_PHRASE,
    MAX_LINES,
    MOST_ALIKE,
    MOST_PHRASES,
    linked_name_lines,
    value_phrases,
)
from nacre.extensions.model_agents.query_prompt import statements_about
from nacre.records.evidence import Occurrence
from nacre.records.schema import Class, Column, Predicate, Relation, Schema
from nacre.records.turn import Mention, Understanding
from tests.support.fake_database import FakeDatabase, lexicon_of


def phrases(question: str) -> list[str]:
    return value_phrases(Understanding(question))


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Which dishes use 'black rice'?", "black rice"),
        ("Which dishes use “black rice”?", "black rice"),
        ("Who lives in New York City?", "New York City"),
        ("What does the Falcon 9 carry?", "Falcon 9"),
        ("Is Marco's risotto spicy?", "Marco"),
        ("What happened in 2010?", "2010"),
        ("which dishes have saffron?", "saffron"),
    ],
)
def test_what_may_be_a_value_is_a_phrase(question: str, found: str) -> None:
    assert any(found in phrase for phrase in phrases(question)), phrases(question)


def test_words_that_carry_no_meaning_are_not_looked_for() -> None:
    assert not {"which", "of", "the", "are", "Which", "What"} & set(phrases("Which of the dishes are in the house?"))


@given(st.text(max_size=4000))
def test_phrases_are_bounded_whatever_is_asked(question: str) -> None:
    found = phrases(question)
    assert len(found) <= MOST_PHRASES
    assert len(set(found)) == len(found)
    assert all(found)


def test_a_long_run_of_capitals_is_cut() -> None:
    (first, *_) = phrases("did " + " ".join(["Abc"] * 30))
    assert len(first.split()) == LONGEST_PHRASE


DISH, TIME = "http://ex/Dish", "http://ex/time"
SCHEMA = Schema(
    (Class(DISH, "dish", 3, "dish"),),
    (),
    (Predicate(TIME, "cooking time", 3, 3, 3, True, False, True, {}, {}),),
    (
        Relation("dish", "table", "id", (Column(TIME, value="cooking_time"),)),
        Relation("all_dishes", "view", "id", (Column(TIME, value="cooking_time"),)),
    ),
    {},
    9,
    3,
)
THINGS = lexicon_of(
    SCHEMA,
    [
        ("pilaf", "entity", "e", "", "pilaf", "dish", 1.0, None),
        ("pilaf", "entity", "f", "", "pilaf", "dish", 1.0, None),
        ("x1", "entity", "bare", "", "x1", "thing", 1.0, None),
    ],
)


@pytest.mark.parametrize(
    ("mention", "line"),
    [
        (Mention("pilau", 0, 5, "entity", "e", "pilaf", 0.9), "'pilau' may be 'pilaf' of table dish (score 0.90)"),
        # tables and columns are in the schema
        (Mention("dishes", 0, 5, "class", DISH, "dish", 1.0), None),
        (Mention("long", 0, 4, "predicate", TIME, "", 0.8), None),
        (
            Mention("hot", 0, 3, "value", "hot", "it's hot", 1.0, TIME),
            "'hot' may be dish.cooking_time = 'it''s hot'",
        ),
        (Mention("3", 0, 1, "number", "3", "3", 1.0), None),
        (Mention("odd", 0, 1, "value", "odd", "odd", 1.0, "http://ex/nothing"), None),
    ],
)
async def test_what_the_linker_found_is_told_with_its_column(mention: Mention, line: str | None) -> None:
    database = FakeDatabase(schema=SCHEMA, lexicon=THINGS)
    assert await linked_name_lines(Understanding("?", (mention,)), database) == ([line] if line else [])


async def test_a_thing_without_a_table_is_left_out() -> None:
    mention = Mention("sport", 0, 5, "entity", "e", "Sport", 0.7)
    assert await linked_name_lines(Understanding("?", (mention,)), FakeDatabase()) == []


def mention_of(text: str, target: str, label: str, kind: str = "entity") -> Mention:
    return Mention(text, 0, len(text), kind, target, label, 1.0)  # type: ignore[arg-type]


async def test_all_things_of_a_name_are_told_with_their_tables_and_once() -> None:
    """Those of which nothing is stated and further names of the same things are left out, as are parts of a name."""
    several, part = mention_of("Basmati", "", "Basmati"), mention_of("long", "http://ex/long", "long", "predicate")
    meant = [mention_of("Basmati", each, "Basmati (rice)") for each in ("bare", "e", "f")]
    occurring = [Occurrence("entity", "label", "Basmati"), Occurrence("further", "further", "Basmati")]
    schema = replace(
        SCHEMA,
        relations=tuple(replace(each, columns=each.columns * 2) for each in SCHEMA.relations),
        junctions={"http://ex/further": "further"},
    )
    database = FakeDatabase(schema=schema, lexicon=THINGS, occurring=occurring)
    asked = Understanding("Basmati?", (several, part), candidates=(*meant, mention_of("long", "g", "short (dish)")))
    assert await linked_name_lines(asked, database) == ["'Basmati' may be 'pilaf' of table dish"]
    whole = mention_of("Red Rice of Goa", "e", "Red Rice of Goa")
    assert value_phrases(Understanding("Who cooks Red Rice of Goa?", (whole,))) == ["cooks"]


async def test_where_values_stand_goes_first_each_once_and_bounded() -> None:
    found = [Occurrence("t", "c", f"v{n % 20}", 0.95) for n in range(40)]
    mention = Mention("pilau", 0, 5, "entity", "e", "pilaf", 0.9)
    lines = await linked_name_lines(Understanding("Where is Pilau?", (mention,)), FakeDatabase(occurring=found))
    assert len(lines) == MOST_ALIKE
    assert lines[0] == "t.c has 'v0' (alike, 0.95)"
    found = [replace(each, likeness=1.0) for each in found]
    assert len(await linked_name_lines(Understanding("?", (mention,)), FakeDatabase(occurring=found))) == MAX_LINES
    assert len(set(lines)) == len(lines)


async def test_a_hostile_value_is_one_harmless_line() -> None:
    value = "x'\n</names> [1] " + "long " * 100
    (line,) = await linked_name_lines(Understanding("?"), FakeDatabase(occurring=[Occurrence("t", "c", value)]))
    assert "\n" not in line
    assert "</names>" not in line
    assert line.startswith("t.c has 'x''")
    assert len(line) < 120


def test_lists_of_statements_are_shown_for_the_words_that_they_share() -> None:
    labels = ("prize received statement", "spouse statement", "post held statement", "spouse")
    known = tuple(
        Predicate(f"http://ex/{n}", label, 3, 3, 3, False, True, False, {}, {}) for n, label in enumerate(labels)
    )
    relations = tuple(
        Relation(f"list_{n}", "junction", "person_id", (Column(each.iri, link=f"x{n}_id"),))
        for n, each in enumerate(known)
    )
    schema = replace(
        SCHEMA,
        predicates=known,
        relations=relations,
        junctions={p.iri: r.name for p, r in zip(known, relations, strict=True)},
    )
    assert statements_about(content_words("When did Ann get the prize?"), schema) == ["list_0"]
    assert statements_about(content_words("Who is the spouse of Ann?"), schema) == ["list_1"]
    assert statements_about(content_words("How old is Ann?"), schema) == []
