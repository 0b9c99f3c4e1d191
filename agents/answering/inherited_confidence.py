"""Confidence in a conversation: no answer is surer than the turn that its question refers to."""

from dataclasses import replace

from agents.answering.answer_draft import AnswerDraft
from agents.answering.selection.rows import UNSURE
from agents.turn_view import TurnView
from nacre.records.turn import Understanding
from nacre.understanding.ranking.weights import load_weights

DOUBT = "This rests on an answer before it that I was not sure of."
FIRST_DOUBT = "I am not sure that this is what you mean."


def understood_by_model(view: TurnView) -> Understanding:
    """The understanding of a turn; if a model made the follow-up stand alone, with its reference instead of the rules':
    the turn before if the question changed, else none. A first question that a model read refers to nothing."""
    first = not view.conversation and any(part.outcome for part in view.found)
    if not (first or any(part.standalone for part in view.found)):
        return view.understanding
    depends = view.standalone.casefold() != view.question.casefold()
    before = view.conversation[-1].confidence if depends and view.conversation else None
    return replace(view.understanding, most=1.0 if before is None else before)


def limit_confidence(draft: AnswerDraft, understanding: Understanding, *, is_first: bool = False) -> AnswerDraft:
    """The answer, with a doubt and a lower confidence if the turn that it refers to was not sure, or if a name, date or
    pronoun of a first question was guessed."""
    if understanding.most >= load_weights().threshold:
        return draft
    asks = draft.status == "clarify" and draft.confirm and draft.confidence == round(understanding.most, 3)
    if asks and not is_first:
        # the doubt is about the earlier turn, not about this reading
        return replace(draft, doubt=DOUBT)
    if draft.status != "answered":
        return draft
    sure = understanding.most if draft.confidence is None else min(draft.confidence, understanding.most)
    return replace(
        draft, status="clarify", confidence=round(sure, 3), confirm="", doubt=FIRST_DOUBT if is_first else DOUBT
    )


def inheritable_confidence(draft: AnswerDraft, understanding: Understanding) -> float | None:
    """The probability that a turn was right, for turns that refer to it; None if it is unknown.

    An answer that was asked back, left words out or was not understood is never sure.
    """
    is_guess = bool(draft.things) and draft.topic is None and not draft.values
    left_out = draft.status in ("partial", "not_in_graph") and (bool(understanding.unknown) or is_guess)
    if not left_out and draft.status not in ("clarify", "not_understood", "failed"):
        leaning = understanding.most < 1.0
        return draft.confidence if draft.confidence is not None or not leaning else understanding.most
    sure = draft.confidence
    if sure is None:
        sure = (understanding.readings[0].probability or 0.0) if understanding.readings else 0.0
    return min(sure, understanding.most, load_weights().threshold - UNSURE)
