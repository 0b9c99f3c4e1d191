"""What a question is before its words are linked: courtesy blanked, slips corrected. The pairs in
fixtures/understanding are extended without Python.
"""

from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.language.labels import SpellingCorrector
from nacre.language.small_talk import strip_courtesy
from nacre.language.tokens import tokenize
from nacre.stores.sqlite.lexicon import Row
from tests.support.fake_database import NO_SCHEMA, lexicon_of
from tests.support.understanding_pairs import pairs

WORDS = "please hi thanks could you tell me who built the mill ? , . ! know I'd like to -".split()
CONTENT = ("built", "mill")


@pytest.mark.parametrize("case", pairs("courtesy"))
def test_courtesy(case: dict[str, Any]) -> None:
    left = strip_courtesy(case["ask"])
    assert " ".join(left.split()) == (case["ask"] if case.get("same") else case["left"])


@given(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join))
def test_courtesy_keeps_places_and_what_is_asked(question: str) -> None:
    left = strip_courtesy(question)
    assert len(left) == len(question)
    assert all(after in (before, " ") for before, after in zip(question, left, strict=True))
    assert [w for w in left.split() if w in CONTENT] == [w for w in question.split() if w in CONTENT]


@pytest.mark.parametrize("case", pairs("spelling"))
def test_spelling(case: dict[str, Any]) -> None:
    corrected = _spelling(case["names"]).correct(case["ask"])
    assert corrected == (case["ask"] if case.get("same") else case["right"])
    assert len(tokenize(corrected)) == len(tokenize(case["ask"]))
    assert _spelling(case["names"]).correct(corrected) == corrected


@pytest.mark.parametrize(
    ("word", "meant"),
    [("bride", "bridge"), ("heights", None), ("fridge", None), ("employ", None), ("grant", None), ("most", None)],
)
def test_a_right_word_is_a_letter_from_a_name(word: str, meant: str | None) -> None:
    found = _spelling("amber bridge mountain height grand grants granite").graph_word_near(tokenize(word)[0])
    assert (found.norm if found else None) == meant


@cache
def _spelling(names: str) -> SpellingCorrector:
    rows: list[Row] = [(name, "value", name, "", name, "", 1.0, None) for name in sorted(set(names.split()))]
    return SpellingCorrector(lexicon_of(NO_SCHEMA, rows))
