"""Say what the branches found: TurnView -> sentences with their evidence into a gate, and the answer as data."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from agents.answering.clarify import confirm_reading, offer_readings
from agents.answering.draft import AnswerDraft, asks_for_prose, draft_answer
from agents.answering.inherited_confidence import limit_confidence
from agents.answering.select_answer import indexed_sentences, unplanned_rows
from agents.models.calls import ModelFailed, stream_reply
from agents.models.limits import Limits
from agents.models.usage import UsageCounter
from agents.prompt import prompt
from agents.query_writing.doubts import preview_rows as shown_rows
from agents.result import Result
from agents.run_in_thread import run_in_thread
from agents.turn_view import TurnView
from nacre.language.detect_language import ENGLISH, language_name
from nacre.language.rank_sentences import rank_sentences
from nacre.language.sanitize import quote_line, quote_lines, strip_control_characters
from nacre.language.tokens import fold
from nacre.records.answer import Value
from nacre.records.evidence import Evidence, Rows
from nacre.records.schema import Schema

log = logging.getLogger(__name__)

CHARACTERS_A_TOKEN = 4
MOST_VALUES_SHOWN = 30
ROWS_SHOWN = 100
MOST_WORDS = 2000
LONGEST_ANSWER = 600
LONGEST_CELL = 500
_SWAPPED = str.maketrans(",.", ".,")


class AnswerGate(Protocol):
    """Where words go: checked sentence by sentence against their evidence, then released for good.

    `say` takes one sentence of the rules with the indexes of its evidence; `feed` takes a piece of free text whose [n]
    are 1-based places in `shown`, a list of such indexes; `finish` checks what is held, `discard` forgets it.
    `spare` sentences replace what is unsupported, `fed` counts sentences of free text that passed.
    """

    answer: str
    cited: list[int]
    fed: int
    spare: list[tuple[str, tuple[int, ...]]]

    def say(self, text: str, evidence: Sequence[int]) -> None: ...

    def feed(self, text: str, shown: Sequence[int]) -> None: ...

    def finish(self, shown: Sequence[int]) -> None: ...

    def discard(self) -> None: ...


Fuser = Callable[[TurnView, Schema, AnswerGate], Awaitable[Result[AnswerDraft]]]


async def by_rules(view: TurnView, schema: Schema, gate: AnswerGate) -> Result[AnswerDraft]:
    """The sentences of the rules' account, each through the gate."""
    return Result(await run_in_thread(_said, view, schema, gate))


def _said(view: TurnView, schema: Schema, gate: AnswerGate) -> AnswerDraft:
    told = limit_confidence(draft_answer(view, schema), view.understanding)
    for text, evidence in told.ledger.sentences:
        gate.say(text, evidence)
    _offer(told, gate)
    return told


def by_model(model: BaseChatModel, rules: Fuser, limits: Limits, *, small: bool = False) -> Fuser:
    """Prose of the model over numbered evidence; values and status stay the rules'. A small one leaves out most of what
    there is to say, so that the rules describe in English, and it only answers in other languages.

    Rows are said by the rules, in full; the model words descriptions, comparisons, summaries, and answers in another
    language. Where nothing was found there is nothing to word. What it leaves out, or fails to end, the rules complete.
    """

    async def fuser(view: TurnView, schema: Schema, gate: AnswerGate) -> Result[AnswerDraft]:
        told = limit_confidence(await run_in_thread(draft_answer, view, schema), view.understanding)
        rests = any(evidence for _, evidence in told.ledger.sentences)
        if not rests or (view.language == ENGLISH and (small or not asks_for_prose(view))):
            return await rules(view, schema, gate)
        # rows in one breath are no sentence to put in the place of another
        gate.spare = [
            (text, indexes)
            for text, indexes in told.ledger.sentences
            if indexes and not any(_is_wide(view.evidence[index]) for index in indexes)
        ]
        shown = await run_in_thread(numbered_evidence, view, told, limits.evidence_tokens)
        meter = UsageCounter()
        why = ""
        try:
            bounds = limits.until(view.deadline, view.version)
            async for text in stream_reply(model, _messages(view, shown), meter, limits=bounds):
                await run_in_thread(gate.feed, text, shown)
            await run_in_thread(gate.finish, shown)
        except ModelFailed as failed:
            gate.discard()
            why = failed.why
        if not gate.fed and not why:
            why = "nothing it said rests on the evidence"
        await run_in_thread(_completed, told, gate, broken=bool(why))
        return Result(told, f"rules after model: {why}" if why else "model", meter.usage)

    return fuser


def numbered_evidence(view: TurnView, told: AnswerDraft, tokens: int) -> list[int]:
    """What a model is shown, as indexes, within about `tokens`, nothing twice: rows that a model gathered, what the
    rules cite, then sentences, those that share the most with the question first."""
    evidence = view.evidence
    rows = [i for i, _ in unplanned_rows(evidence)]
    cited = [i for _, indexes in told.ledger.sentences for i in indexes]
    sentences = indexed_sentences(evidence)
    ranked = [sentences[i] for i in rank_sentences(view.standalone, [each for _, each in sentences], MOST_WORDS)]
    shown: list[int] = []
    facts: set[str] = set()
    left = tokens * CHARACTERS_A_TOKEN
    # what was gathered for the question says most of what the graph's own sentences say
    worth = [i for i, each in ranked if each.document is not None or not rows] if asks_for_prose(view) else []
    before = [i for i, each in enumerate(evidence) if not each.round]
    for index in dict.fromkeys([*rows, *cited, *worth, *before]):
        line = evidence_line(evidence[index])
        fact = " ".join(fold(line).split())
        if not line or fact in facts or (shown and len(line) > left):
            continue
        shown.append(index)
        facts.add(fact)
        left -= len(line)
    return shown


def _messages(view: TurnView, shown: Sequence[int]) -> list[BaseMessage]:
    lines = [f"[{n}] {evidence_line(view.evidence[index])}" for n, index in enumerate(shown, 1)]
    language = f"Answer in {language_name(view.language)}.\n" if view.language != ENGLISH else ""
    before = "".join(
        f"{quote_line(turn.standalone)}\n{quote_line(turn.answer)[:LONGEST_ANSWER]}\n" for turn in view.leant_on[-1:]
    )
    turn = prompt(
        "fuser_turn",
        evidence="\n".join(lines),
        before=f"<before>\n{before}</before>\n" if before else "",
        language=language,
        question=quote_line(view.standalone),
    )
    return [SystemMessage(prompt("fuser")), HumanMessage(turn)]


def _is_wide(evidence: Evidence) -> bool:
    return isinstance(evidence, Rows) and len(evidence.table.columns) > 1


def evidence_line(evidence: Evidence) -> str:
    """Evidence as a model reads it: all rows, a line each; a sentence with what it is about."""
    if isinstance(evidence, Rows):
        rows = quote_lines(shown_rows(evidence.table, ROWS_SHOWN, LONGEST_CELL))
        return f"{quote_line(evidence.words)}:\n{rows}" if evidence.words else rows
    text = quote_line(evidence.text)
    return text if not evidence.title or evidence.title in evidence.text else f"{quote_line(evidence.title)}: {text}"


def _left_out(values: Sequence[Value], said: str) -> bool:
    """Whether the prose lacks one of the values, where there are few enough to name."""
    if len(values) > MOST_VALUES_SHOWN:
        return False
    said = said.casefold()
    return any(all(form not in said for form in _forms(value)) for value in values if not isinstance(value, bool))


def _forms(value: Value) -> tuple[str, ...]:
    """How prose may write a value: numbers with or without separators, rounded or not."""
    if isinstance(value, str):
        return (strip_control_characters(value).casefold(),)
    forms = (str(value), f"{value:,}", f"{value:g}", f"{value:.2f}", f"{value:.1f}", f"{value:,.0f}", f"{value:.0f}")
    # many languages write 1.234,5
    return (*forms, *(form.translate(_SWAPPED) for form in forms))


def _offer(told: AnswerDraft, gate: AnswerGate) -> None:
    if told.options:
        gate.say(offer_readings(told.options), ())
    elif told.doubt:
        gate.say(told.doubt, ())
    elif told.confirm:
        gate.say(confirm_reading(told.confirm, gate.answer), ())


def _completed(told: AnswerDraft, gate: AnswerGate, *, broken: bool) -> None:
    """Say what the model left out."""
    if broken or _left_out(told.values, gate.answer):
        _complete(told, gate)
    if not {index for _, indexes in told.disputed for index in indexes} <= set(gate.cited):
        for text, indexes in told.disputed:
            gate.say(text, indexes)
    _offer(told, gate)


def _complete(told: AnswerDraft, gate: AnswerGate) -> None:
    for text, evidence in told.ledger.sentences:
        if not evidence or not set(evidence) <= set(gate.cited) or _left_out(told.values, gate.answer):
            gate.say(text, evidence)
