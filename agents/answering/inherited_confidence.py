"""Confidence in a conversation: no answer is surer than the turn that its question refers to."""

from dataclasses import replace

from agents.answering.answer_draft import AnswerDraft
from agents.answering.select_answer import UNSURE
from nacre.records.turn import Understanding
from nacre.understanding.ranking.weights import load_weights

DOUBT = "This rests on an answer before it that I was not sure of."


def limit_confidence(told: AnswerDraft, understanding: Understanding) -> AnswerDraft:
    """The answer, with a doubt and a lower confidence if the turn that it refers to was not sure."""
    if understanding.most >= load_weights().threshold:
        return told
    if told.status == "clarify" and told.confirm and told.confidence == round(understanding.most, 3):
        # the doubt is about the earlier turn, not about this reading
        return replace(told, doubt=DOUBT)
    if told.status != "answered":
        return told
    sure = understanding.most if told.confidence is None else min(told.confidence, understanding.most)
    return replace(told, status="clarify", confidence=round(sure, 3), confirm="", doubt=DOUBT)


def inheritable_confidence(told: AnswerDraft, understanding: Understanding) -> float | None:
    """The probability that a turn was right, for turns that refer to it; None if it is unknown.

    What was asked back, left words out or was not understood is never sure.
    """
    left_out = told.status in ("partial", "not_in_graph") and bool(understanding.unknown)
    if not left_out and told.status not in ("clarify", "not_understood", "failed"):
        leaning = understanding.most < 1.0
        return told.confidence if told.confidence is not None or not leaning else understanding.most
    sure = told.confidence
    if sure is None:
        sure = (understanding.readings[0].probability or 0.0) if understanding.readings else 0.0
    return min(sure, understanding.most, load_weights().threshold - UNSURE)
