"""A question is analysed into cues, numbers and quotations."""

import pytest

from nacre.semantics.question_form import MOST_TOKENS, analyse


@pytest.mark.parametrize(
    ("text", "cue"),
    [
        ("How many boats are there?", ("count", "")),
        ("the oldest boat", ("superlative", "up")),
        ("boats that cost more than the average", ("compare", ">")),
        ("the number of boats for each harbour", ("group", "")),
        ("boats sorted by age", ("order", "")),
        ("boats without sails", ("negation", "")),
        ("harbours with no boats", ("negation", "")),
        ("names that start with A", ("contains", "starts")),
        ("how tall is the mast", ("degree", "height")),
        ("harbours that have both", ("both", "")),
        ("boats with 9 kW of power or more", ("bound", ">=")),
        ("since when is the pier open", ("open", "when")),
        ("how much would a sail cost", ("degree", "price")),
    ],
)
def test_cues(text: str, cue: tuple[str, str]) -> None:
    kind, value = cue
    assert any(c.kind == kind and c.value.startswith(value) for c in analyse(text).cues)


@pytest.mark.parametrize("text", ["piers no more than a kilometre away", "boats with at least two sails"])
def test_what_compares_a_number_says_nothing_else(text: str) -> None:
    assert not [c for c in analyse(text).cues if c.kind in ("negation", "most")]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("boats older than 30", [(">", 30.0)]),
        ("boats with at least two sails", [(">=", 2.0)]),
        ("boats between 3 and 5", [(">=", 3.0), ("<=", 5.0)]),
        ("boats built in 1990", [("=", 1990.0)]),
        ("piers no more than a kilometre away", [("<=", 1.0)]),
        ("boats seen after 2019-05-05 10:20:30", [(">", 2019.0)]),
    ],
)
def test_numbers(text: str, numbers: list[tuple[str, float]]) -> None:
    assert [(n.op, n.value) for n in analyse(text).numbers] == numbers


def test_quotations() -> None:
    question = analyse('boats called "Blue Heron"')
    (start, end) = question.quoted[0]
    assert [t.norm for t in question.tokens[start:end]] == ["blue", "heron"]


def test_long_questions_are_cut() -> None:
    assert len(analyse("the engine of " * 500).tokens) == MOST_TOKENS
