"""Where branches say different things, the answer says which says what; what is absent is named with what is there."""

from dataclasses import replace

import pytest

from agents.answering.draft import draft_answer
from agents.turn_view import AnswerDraft, TurnView
from nacre.records.evidence import BranchResult, Evidence, EvidenceSentence, Query, QueryError, Rows, Table
from nacre.records.plan import Attribute, Itself, Plan, Select, Variable
from nacre.records.schema import Class, Predicate, Schema
from nacre.records.turn import Mention, Reading, Rewrite, Understanding

E = "http://example.org/"


def predicate(name: str) -> Predicate:
    return Predicate(E + name.replace(" ", ""), name, 3, 3, 3, True, False, True, {}, {})


SCHEMA = Schema(
    (Class("https://e.org/Dish", "dish", 1, "dish"),),
    (),
    (predicate("cooking time"), predicate("serves"), predicate("founding year")),
    (),
    {},
    9,
    3,
)
QUESTION = "What is the cooking time of the pilaf?"
PILAF = Mention("pilaf", 31, 36, "entity", f"{E}pilaf", "pilaf", 1.0)
TIME = Plan(
    Select((Itself("x"), Attribute("x", f"{E}cookingtime")), (Variable("x", keys=(f"{E}pilaf",), label="pilaf"),))
)
SURE = Understanding(QUESTION, (PILAF,), (Reading(TIME, 1.0, 1.0, "the cooking time of pilaf", probability=1.0),))
UNSURE = replace(SURE, readings=(replace(SURE.readings[0], covered=0.6, probability=0.5),))
ROWS = Rows(
    "sql",
    1,
    text="dish: pilaf, cooking time: 25 min",
    reading=0,
    query=Query("sql", 1, "SELECT 1"),
    table=Table(("dish", "cooking time"), (("pilaf", 25),), units=("", "min")),
    words="the cooking time of pilaf",
)
WRITTEN = replace(ROWS, reading=None, words="", query=Query("sql", 1, "SELECT 2", by="model"))
TEXT = EvidenceSentence(
    "lexical", 1, text="The cooking time of pilaf is 40 min.", title="Recipes", document="recipes.md"
)
FACT = EvidenceSentence(
    "lexical",
    1,
    text="The serves of pilaf are 4.",
    title="pilaf",
    keys=(f"{E}pilaf",),
    triples=((f"{E}pilaf", f"{E}serves", "4"),),
)


def accounted(question: str, understanding: Understanding, *evidence: Evidence, **failures: QueryError) -> AnswerDraft:
    found = (BranchResult("sql", evidence),)
    return draft_answer(TurnView(question, Rewrite(question), understanding, found=found, failures=failures), SCHEMA)


def told(
    *evidence: Evidence, understanding: Understanding = SURE, **failures: QueryError
) -> tuple[str, tuple[str, ...]]:
    found = accounted(QUESTION, understanding, *evidence, **failures)
    return " ".join(text for text, _ in found.sentences), found.caveats


@pytest.mark.parametrize(
    "text",
    [
        "The cooking time of pilaf is 25 min.",
        "The cooking time of pilaf is 1500 s.",
        "The cooking time of pilaf is short.",
    ],
)
def test_a_text_that_agrees_or_says_nothing_is_no_dispute(text: str) -> None:
    assert told(ROWS, replace(TEXT, text=text))[1] == ()


def test_a_text_that_says_otherwise_is_named_with_the_reason_for_the_rows() -> None:
    answer, caveats = told(ROWS, TEXT)
    assert "25" in answer
    assert "the text recipes.md says otherwise" in answer
    assert "The cooking time of pilaf is 40 min." in answer
    assert "preferred, since it is what the graph itself states" in answer
    assert len(caveats) == 1
    assert accounted(QUESTION, SURE, ROWS, TEXT).status == "answered"


def test_a_text_about_another_thing_is_no_dispute() -> None:
    assert told(ROWS, replace(TEXT, text="The cooking time of dal is 40 min."))[1] == ()


def test_a_text_may_speak_of_it_under_its_title() -> None:
    told_of = replace(TEXT, title="Pilaf", text="Its cooking time is 40 min.")
    assert len(told(ROWS, told_of)[1]) == 1
    assert told(ROWS, replace(told_of, text="The cooking time of dal is 40 min."))[1] == ()


def test_a_query_of_the_model_that_says_the_same_is_no_dispute() -> None:
    other = replace(WRITTEN, table=Table(("time",), ((25.0,),)))
    assert told(ROWS, other)[1] == ()


@pytest.mark.parametrize(("likely", "given"), [(0.3, 25), (0.5, 40), (0.7, 40)])
def test_the_likelier_rows_answer_and_the_others_are_not_in_the_text(likely: float, given: int) -> None:
    other = replace(WRITTEN, table=Table(("time",), ((40,),), units=("min",)), probability=likely)
    # the model's rows come first, as its writer gives them
    answer, caveats = told(other, ROWS, understanding=UNSURE)
    assert (f"{given} min" in answer, f"{65 - given} min" in answer) == (True, False)
    assert caveats == ()


def test_rows_that_are_half_as_likely_dispute_nothing() -> None:
    other = replace(WRITTEN, table=Table(("time",), ((40,),), units=("min",)), probability=0.2)
    assert told(replace(ROWS, probability=0.5), other)[1] == ()


EMPTY = replace(ROWS, text="", table=Table(("dish", "cooking time"), ()))


def test_an_empty_result_that_is_sure_is_not_answered_by_other_facts() -> None:
    found = accounted(QUESTION, SURE, EMPTY, replace(FACT, text="pilaf cooking time of the pilaf"))
    assert (found.status, found.values) == ("answered", ())
    assert found.sentences[0][0].startswith("Nothing in this graph matches")


def test_a_text_may_know_what_the_graph_does_not() -> None:
    found = accounted(QUESTION, SURE, EMPTY, TEXT)
    assert "40 min" in found.sentences[0][0]


def test_what_the_graph_lacks_is_named() -> None:
    found = accounted("How many servants has the pilaf?", Understanding("How many servants has the pilaf?"), FACT)
    assert (found.status, found.values) == ("not_in_graph", ())
    assert "nothing on “servants”" in found.sentences[0][0]


@pytest.mark.parametrize(("absent", "said"), [(("xyzzy",), "knows nothing called"), ((), "found nothing for “xyzzy”")])
def test_only_names_are_said_to_be_unknown(absent: tuple[str, ...], said: str) -> None:
    asked = Understanding("What of xyzzy?", unknown=(("xyzzy", ""),), absent=absent)
    assert said in accounted("What of xyzzy?", asked).sentences[0][0]


def test_a_failure_says_what_failed() -> None:
    answer, _ = told(sql=QueryError("timeout", "The query was stopped after 5 seconds."))
    assert "stopped after 5 seconds" in answer
