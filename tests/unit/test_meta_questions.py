import pytest

from nacre.records.plan import Overview, Plan
from nacre.records.schema import Schema
from nacre.records.turn import EarlierTurn
from nacre.understanding.dialogue.rewrite import answer_meta_question, meta_kind

SCHEMA = Schema((), (), (), (), {}, 0, 0)
BEFORE = (
    EarlierTurn("Who wrote Emma?", "Who wrote Emma?", "Jane Austen [1].", Plan(Overview()), confidence=0.812),
    EarlierTurn("And <b>Home</b>?", "Who wrote Home?", "Nobody."),
)


@pytest.mark.parametrize(
    "question",
    ["are you sure?", "Why?", "really", "how do you know that?", "What did I ask first?", "what did i ask so far"],
)
def test_what_is_asked_of_the_conversation(question: str) -> None:
    assert meta_kind(question)


@pytest.mark.parametrize(
    "question",
    [
        "why is the sky blue?",
        "who asked first?",
        "are you sure that Emma is long?",
        "what is the first question of the exam?",
    ],
)
def test_what_is_asked_of_the_graph(question: str) -> None:
    assert not meta_kind(question)


def test_the_first_question_and_all() -> None:
    assert (
        answer_meta_question("what did I ask first?", BEFORE, SCHEMA)
        == "The first question that I remember is “Who wrote Emma?”."
    )
    assert "“Who wrote Emma?”; “And" in answer_meta_question("what did I ask so far?", BEFORE, SCHEMA)


def test_how_sure_the_last_answer_is() -> None:
    assert "about 81% are right" in answer_meta_question("are you sure?", BEFORE[:1], SCHEMA)
    assert "rests on what it cites" in answer_meta_question("why?", BEFORE, SCHEMA)
