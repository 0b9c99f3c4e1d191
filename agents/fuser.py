"""Write the answer: TurnView -> sentences with their evidence, through a gate, and the answer as data."""

from collections.abc import Awaitable, Callable

from agents.answering.answer_record import limit_confidence, understood_by_model
from agents.answering.draft import draft_answer
from agents.answering.fallbacks import confirm_reading, offer_readings
from agents.answering.grounding_gate import GroundingGate
from agents.turn_view import AnswerDraft, Result, TurnView
from nacre.extension import services
from nacre.language.translation import STATED_LANGUAGES
from nacre.records.evidence import Rows
from nacre.records.schema import Schema
from nacre.records.threads import run_in_thread

Fuser = Callable[[TurnView, Schema, GroundingGate], Awaitable[Result[AnswerDraft]]]


async def by_rules(view: TurnView, schema: Schema, gate: GroundingGate) -> Result[AnswerDraft]:
    """The sentences of the rules' draft, each through the gate."""
    return Result(await run_in_thread(_say_draft, view, schema, gate))


def limited_draft(view: TurnView, draft: AnswerDraft) -> AnswerDraft:
    """The draft, no surer than what its question rests on."""
    return limit_confidence(draft, understood_by_model(view), is_first=not view.conversation)


def _say_draft(view: TurnView, schema: Schema, gate: GroundingGate) -> AnswerDraft:
    draft = limited_draft(view, draft_answer(view, schema))
    for translate in services("translate_draft"):
        draft = translate(draft, view, schema)
    for i, (text, evidence) in enumerate(draft.sentences):
        gate.say(text, evidence, draft.translated[i] if i < len(draft.translated) else "")
    say_offer(draft, gate)
    return draft


def stated_rows(draft: AnswerDraft, view: TurnView) -> Rows | None:
    """The rows of an answer in a language that states rows after the words of a model, if they have these words."""
    rows = view.evidence[draft.table] if draft.table is not None and view.language in STATED_LANGUAGES else None
    return rows if isinstance(rows, Rows) and rows.meaning and draft.values else None


def say_offer(draft: AnswerDraft, gate: GroundingGate) -> None:
    """Offer other readings, or say what is in doubt, or ask for confirmation."""
    if draft.options:
        gate.say(draft.offer or offer_readings(draft.options), ())
    elif draft.doubt:
        gate.say(draft.doubt, ())
    elif draft.confirm:
        gate.say(confirm_reading(draft.confirm, gate.answer), ())
