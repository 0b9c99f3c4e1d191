"""Write the answer by a model: TurnView -> sentences with their evidence, through a gate, and the answer as data."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from functools import partial

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from agents.answering.draft import asks_for_prose, draft_answer
from agents.answering.grounding_gate import GroundingGate, ShownEvidence
from agents.answering.select_answer import indexed_sentences, unplanned_rows
from agents.fuser import Fuser, limited_draft, say_offer, stated_rows
from agents.model_calls import CHARACTERS_PER_TOKEN, Limits, ModelFailed, UsageCounter, prompt, stream_reply
from agents.turn_view import AnswerDraft, CitedSentence, Result, TurnView
from nacre.extensions.model_agents.doubts import preview_rows, with_truth_words
from nacre.language.sanitize import quote_line, quote_lines, strip_control_characters
from nacre.language.thesaurus import rank_sentences
from nacre.language.tokens import ENGLISH, fold, language_name
from nacre.records.answer import Value
from nacre.records.evidence import Evidence, Rows, Table
from nacre.records.schema import Schema
from nacre.records.threads import run_in_thread
from nacre.wording.grid import build_grid

MOST_VALUES_SHOWN = 30

ROWS_SHOWN = 100

MOST_WORDS = 2000

LONGEST_ANSWER = 600

LONGEST_CELL = 500

UNSUPPORTED_LEAD = "A sentence is left out here, for the graph does not support it."

_SWAPPED = str.maketrans(",.", ".,")

Stream = Callable[[Sequence[BaseMessage]], AsyncIterator[str]]


def by_model(model: BaseChatModel, rules: Fuser, limits: Limits, *, small: bool = False) -> Fuser:
    """Prose of the model over numbered evidence; values and status stay those of the rules.

    The rules say rows, in full. The model words descriptions, comparisons, summaries, and answers in a language that
    the rules do not write. The rules complete what it leaves out or fails to end. A small model leaves out most of the
    evidence, so it only answers in these languages. If nothing was found there is nothing to word.
    """

    async def fuser(view: TurnView, schema: Schema, gate: GroundingGate) -> Result[AnswerDraft]:
        draft = limited_draft(view, await run_in_thread(draft_answer, view, schema))
        has_evidence = any(evidence for _, evidence in draft.sentences)
        is_worded = view.language == ENGLISH or bool(view.rewrite.gloss) or stated_rows(draft, view) is not None
        if not has_evidence or (is_worded and (small or not asks_for_prose(view))):
            return await rules(view, schema, gate)
        if view.language == ENGLISH and (lead := _uncited_lead(draft)):
            gate.say(lead, ())
        indexes = await run_in_thread(numbered_evidence, view, draft, limits.evidence_tokens)
        shown = ShownEvidence(indexes, _fallbacks(view, draft))
        counter = UsageCounter()
        bounds = limits.until(view.deadline, view.version)
        stream = partial(stream_reply, model, counter=counter, limits=bounds)
        why = await _stream_prose(stream, _messages(view, indexes), shown, gate, small=small)
        if not gate.passed and not why:
            why = "nothing it said rests on the evidence"
        await run_in_thread(_say_rest, draft, gate, broken=bool(why))
        if gate.is_lead_lost and not why and view.language == ENGLISH:
            gate.say(UNSUPPORTED_LEAD, ())
        return Result(draft, f"rules after model: {why}" if why else "model", counter.usage)

    return fuser


async def _stream_prose(
    stream: Stream, messages: list[BaseMessage], shown: ShownEvidence, gate: GroundingGate, *, small: bool
) -> str:
    """Stream a reply through the gate; what the gate refuses goes back to the model once with the reason. Returns why
    it failed, or ""."""
    try:
        reply = await _feed(stream(messages), replace(shown, may_retry=not small), gate)
        if gate.refused:
            await _feed(stream([*messages, AIMessage(reply), HumanMessage(_refusal(gate))]), shown, gate)
    except ModelFailed as failed:
        gate.discard()
        return failed.why
    return ""


async def _feed(pieces: AsyncIterator[str], shown: ShownEvidence, gate: GroundingGate) -> str:
    """The whole reply, after each piece of it went through the gate."""
    reply = ""
    async for text in pieces:
        reply += text
        await run_in_thread(gate.feed, text, shown)
    await run_in_thread(gate.finish, shown)
    return reply


def _refusal(gate: GroundingGate) -> str:
    """The refused sentences with reasons, as a message to the model."""
    what = (
        "Give the whole answer again, corrected."
        if gate.is_lead_refused
        else "Give these sentences again, corrected, and nothing else; leave out what the evidence does not say."
    )
    lines = [f"- {quote_line(each.text)}\n  {quote_line(each.why)}" for each in gate.refused]
    return prompt("fuser_retry", refused="\n".join(lines), what=what)


def _uncited_lead(draft: AnswerDraft) -> str:
    """What the draft says of the graph as a whole before its facts: what is missing."""
    text, indexes = draft.sentences[0]
    return "" if indexes else text


def _fallbacks(view: TurnView, draft: AnswerDraft) -> list[CitedSentence]:
    """The draft's sentences that may replace one of the model; rows of several columns are no sentence."""
    wide = {n for n, each in enumerate(view.evidence) if isinstance(each, Rows) and len(each.table.columns) > 1}
    return [(text, indexes) for text, indexes in draft.sentences if indexes and wide.isdisjoint(indexes)]


def numbered_evidence(view: TurnView, draft: AnswerDraft, tokens: int) -> list[int]:
    """The evidence that a model is shown, as indexes, within about `tokens`, nothing twice: rows that a model gathered,
    the evidence that the rules cite, then sentences, those nearest to the question first."""
    evidence = view.evidence
    rows = [i for i, _ in unplanned_rows(evidence)]
    cited = [i for _, indexes in draft.sentences for i in indexes]
    sentences = indexed_sentences(evidence)
    ranked = [sentences[i] for i in rank_sentences(view.standalone, [each for _, each in sentences], MOST_WORDS)]
    shown: list[int] = []
    facts: set[str] = set()
    left = tokens * CHARACTERS_PER_TOKEN
    # gathered rows contain most of what the graph's own sentences say
    further = [i for i, each in ranked if each.document is not None or not rows] if asks_for_prose(view) else []
    before = [i for i, each in enumerate(evidence) if not each.round]
    for index in dict.fromkeys([*rows, *cited, *further, *before]):
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
    name = language_name(view.language)
    language = f"Answer in {name}, and write numbers as {name} does.\n" if view.language != ENGLISH else ""
    earlier = "".join(
        f"{quote_line(turn.standalone)}\n{quote_line(turn.answer)[:LONGEST_ANSWER]}\n"
        for turn in view.referenced_turns[-1:]
    )
    is_other = bool(earlier) or view.language != ENGLISH
    turn = prompt(
        "fuser_turn",
        evidence="\n".join(lines),
        before=f"<before>\n{earlier}</before>\n" if earlier else "",
        language=language,
        question=quote_line(view.standalone) + (f"\nAs typed: {quote_line(view.question)}" if is_other else ""),
    )
    return [SystemMessage(prompt("fuser")), HumanMessage(turn)]


def evidence_line(evidence: Evidence) -> str:
    """Evidence as a model reads it: rows, a line each; a sentence with its title."""
    if isinstance(evidence, Rows):
        rows = quote_lines(preview_rows(_worded_table(evidence.table), ROWS_SHOWN, LONGEST_CELL))
        return f"{quote_line(evidence.words)}:\n{rows}" if evidence.words else rows
    text = quote_line(evidence.text)
    return text if not evidence.title or evidence.title in evidence.text else f"{quote_line(evidence.title)}: {text}"


def _worded_table(table: Table) -> Table:
    """A table with its cells as an answer writes them: "7,315 km", "20 to 25 kWh"."""
    # texts of numbers are all true
    table = with_truth_words(table) if table.columns[:1] == ("yes",) else table
    columns = build_grid(table).columns
    rows = zip(*(column.texts for column in columns), strict=True)
    return Table(tuple(column.heading for column in columns), tuple(rows))


def _lacks_value(values: Sequence[Value], text: str) -> bool:
    """Whether the prose lacks one of the values; no for too many values to name."""
    if len(values) > MOST_VALUES_SHOWN:
        return False
    text = text.casefold()
    return any(all(form not in text for form in _forms(value)) for value in values if not isinstance(value, bool))


def _forms(value: Value) -> tuple[str, ...]:
    """How prose may write a value: numbers with or without separators, rounded or not."""
    if isinstance(value, str):
        return (strip_control_characters(value).casefold(),)
    forms = (str(value), f"{value:,}", f"{value:g}", f"{value:.2f}", f"{value:.1f}", f"{value:,.0f}", f"{value:.0f}")
    # many languages write 1.234,5
    return (*forms, *(form.translate(_SWAPPED) for form in forms))


def _say_rest(draft: AnswerDraft, gate: GroundingGate, *, broken: bool) -> None:
    """Say what the model left out."""
    if broken or _lacks_value(draft.values, gate.answer):
        for text, evidence in draft.sentences:
            if not evidence or not set(evidence) <= set(gate.cited) or _lacks_value(draft.values, gate.answer):
                gate.say(text, evidence)
    if not {index for _, indexes in draft.disputed for index in indexes} <= set(gate.cited):
        for text, indexes in draft.disputed:
            gate.say(text, indexes)
    say_offer(draft, gate)
