"""The doubt of a conversation: no answer is surer than the turn that it leans on, however it refers to it."""

from dataclasses import replace
from typing import Any

import pytest

from agents.answering.answer_record import DOUBT, FIRST_DOUBT, inheritable_confidence, limit_confidence
from agents.turn_view import AnswerDraft
from nacre.records.plan import Itself, Plan, Select, Variable
from nacre.records.turn import Reading, Understanding
from nacre.understanding.ranking.rank import load_weights

READING = Reading(Plan(Select((Itself("x"),), (Variable("x"),))), 1.0, 1.0, "towns", 0.97)
SURE = Understanding("q", readings=(READING,))
TOLD = AnswerDraft((("Aldby.", ()),), "answered", confidence=0.97)


@pytest.mark.parametrize("confidence", [None, 0.97])
def test_an_answer_on_doubtful_ground_is_in_doubt(confidence: float | None) -> None:
    found = limit_confidence(replace(TOLD, confidence=confidence), replace(SURE, most=0.6))
    assert (found.status, found.confidence, found.doubt) == ("clarify", 0.6, DOUBT)
    assert limit_confidence(TOLD, SURE) == TOLD


def test_a_first_question_rests_on_no_answer() -> None:
    found = limit_confidence(TOLD, replace(SURE, most=0.5), is_first=True)
    assert (found.status, found.doubt) == ("clarify", FIRST_DOUBT)


def test_what_was_understood_is_not_what_is_doubted() -> None:
    asked = replace(TOLD, status="clarify", confidence=0.6, confirm="towns")
    assert limit_confidence(asked, replace(SURE, most=0.6)).doubt == DOUBT
    assert not limit_confidence(asked, replace(SURE, most=0.8)).doubt


@pytest.mark.parametrize(
    ("told", "seen", "sure"),
    [
        ({}, {}, 0.97),
        ({"confidence": None}, {}, None),
        ({"confidence": None}, {"most": 0.6}, 0.6),
        ({"status": "clarify"}, {}, None),
        ({"status": "clarify", "confidence": 0.4}, {}, 0.4),
        ({"status": "partial"}, {"unknown": (("Xanadu", ""),)}, None),
        ({"status": "partial"}, {}, 0.97),
        ({"status": "not_in_graph", "confidence": None}, {"unknown": (("Xanadu", ""),), "most": 0.3}, 0.3),
        ({"status": "failed", "confidence": None}, {"readings": ()}, 0.0),
    ],
)
def test_what_later_turns_may_rest_on(told: dict[str, Any], seen: dict[str, Any], sure: float | None) -> None:
    found = inheritable_confidence(replace(TOLD, **told), replace(SURE, **seen))
    doubtful = told.get("status") == "clarify" or "unknown" in seen
    if sure is None and doubtful:
        assert found is not None
        assert found < load_weights().threshold
    else:
        assert found == sure
