"""Say what the branches found: FuseTask -> sentences with their evidence into a gate, and the answer as data."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from agents.answering.account import Account, account
from agents.answering.clarify import offer
from agents.answering.trust import is_empty, is_in_doubt, plan_of
from agents.models.calls import ModelFailed, streamed
from agents.models.limits import ANY_TURN, Limits, Turn
from agents.models.meter import Meter
from agents.off_loop import off_loop
from agents.plain import plain, quoted
from agents.prompt import prompt
from agents.result import Result
from records.answer import Value
from records.evidence import Evidence, QueryError
from records.schema import Schema
from records.turn import Understanding
from semantics.languages import ENGLISH, language_name

log = logging.getLogger(__name__)

CHARACTERS_A_TOKEN = 4
MOST_VALUES_SAID = 30
_SWAPPED = str.maketrans(",.", ".,")


@dataclass(frozen=True)
class FuseTask:
    """All that a turn found; `failures` are the errors of branches that brought back nothing, by branch; `language` is
    what a model answers in."""

    question: str
    understanding: Understanding
    schema: Schema
    evidence: tuple[Evidence, ...]
    failures: dict[str, QueryError]
    language: str = ENGLISH
    turn: Turn = ANY_TURN


class Gate(Protocol):
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


Fuser = Callable[[FuseTask, Gate], Awaitable[Result[Account]]]


async def by_rules(task: FuseTask, gate: Gate) -> Result[Account]:
    """The sentences of the rules' account, each through the gate."""
    told = await off_loop(_account, task)
    for text, evidence in told.ledger.sentences:
        gate.say(text, evidence)
    _offer(told, gate)
    return Result(told)


def by_model(model: BaseChatModel, rules: Fuser, limits: Limits, *, words_everything: bool = True) -> Fuser:
    """Prose of the model over numbered evidence; values and status stay the rules'.

    Where nothing was found there is nothing to word, and the rules say so. They also complete what a model leaves out,
    and what it fails to end. A model that does not word everything words what the rules can't: rows of a query that it
    wrote itself, and answers in another language.
    """

    async def fuser(task: FuseTask, gate: Gate) -> Result[Account]:
        told = await off_loop(_account, task)
        rests = any(evidence for _, evidence in told.ledger.sentences)
        if not rests or _is_said_by_rules(task, told, words_everything):
            return await rules(task, gate)
        gate.spare = [(text, indexes) for text, indexes in told.ledger.sentences if indexes]
        shown = numbered(task.evidence, told, limits.evidence_tokens)
        meter = Meter()
        why = ""
        try:
            async for text in streamed(model, _messages(task, shown), meter, limits=limits.of(task.turn)):
                gate.feed(text, shown)
            gate.finish(shown)
        except ModelFailed as failed:
            gate.discard()
            why = failed.why
        if not gate.fed and not why:
            why = "nothing it said rests on the evidence"
        if why or _left_out(told.values, gate.answer):
            _complete(told, gate)
        if not {index for _, indexes in told.disputed for index in indexes} <= set(gate.cited):
            for text, indexes in told.disputed:
                gate.say(text, indexes)
        _offer(told, gate)
        return Result(told, f"rules after model: {why}" if why else "model", meter.usage)

    return fuser


def _is_said_by_rules(task: FuseTask, told: Account, words_everything: bool) -> bool:
    """Whether the rules say it in checked sentences: rows of a reading that leave no doubt, or all that they have."""
    if task.language != ENGLISH:
        return False
    if told.table is None:
        return not words_everything
    used = task.evidence[told.table]
    if used.table is None or is_empty(used.table):
        return True
    return plan_of(task.understanding, used) is not None and not is_in_doubt(task.understanding, [used])


def numbered(evidence: Sequence[Evidence], told: Account, tokens: int) -> list[int]:
    """What a model is shown, as indexes, within about `tokens`: what the rules cite first, then by rank."""
    order = [i for _, indexes in told.ledger.sentences for i in indexes] + list(range(len(evidence)))
    shown: list[int] = []
    texts: set[str] = set()
    left = tokens * CHARACTERS_A_TOKEN
    for index in dict.fromkeys(order):
        line = _line(evidence[index])
        if not line or line in texts or (shown and len(line) > left):
            continue
        shown.append(index)
        texts.add(line)
        left -= len(line)
    return shown


def _account(task: FuseTask) -> Account:
    return account(task.question, task.understanding, task.schema, task.evidence, task.failures)


def _messages(task: FuseTask, shown: Sequence[int]) -> list[BaseMessage]:
    lines = [f"[{n}] {_line(task.evidence[index])}" for n, index in enumerate(shown, 1)]
    language = f"Answer in {language_name(task.language)}.\n" if task.language != ENGLISH else ""
    question = quoted(task.understanding.standalone)
    turn = prompt("fuser_turn", evidence="\n".join(lines), language=language, question=question)
    return [SystemMessage(prompt("fuser")), HumanMessage(turn)]


def _line(evidence: Evidence) -> str:
    if evidence.kind == "table":
        rows = quoted(evidence.text) or "no rows"
        return f"{quoted(evidence.words)}: {rows}" if evidence.words else rows
    text = quoted(evidence.text)
    return text if not evidence.title or evidence.title in evidence.text else f"{quoted(evidence.title)}: {text}"


def _left_out(values: Sequence[Value], said: str) -> bool:
    """Whether the prose lacks one of the values, where there are few enough to name."""
    if len(values) > MOST_VALUES_SAID:
        return False
    said = said.casefold()
    return any(all(form not in said for form in _forms(value)) for value in values if not isinstance(value, bool))


def _forms(value: Value) -> tuple[str, ...]:
    """How prose may write a value: numbers with or without separators, rounded or not."""
    if isinstance(value, str):
        return (plain(value).casefold(),)
    forms = (str(value), f"{value:,}", f"{value:g}", f"{value:.2f}", f"{value:.1f}", f"{value:,.0f}", f"{value:.0f}")
    # many languages write 1.234,5
    return (*forms, *(form.translate(_SWAPPED) for form in forms))


def _offer(told: Account, gate: Gate) -> None:
    if told.options:
        gate.say(offer(told.options), ())


def _complete(told: Account, gate: Gate) -> None:
    for text, evidence in told.ledger.sentences:
        if not evidence or not set(evidence) <= set(gate.cited) or _left_out(told.values, gate.answer):
            gate.say(text, evidence)
