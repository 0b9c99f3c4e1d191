"""Write the answer: TurnView -> sentences with their evidence, through a gate, and the answer as data.

Then the rules' answer in the language of the question: AnswerDraft + TurnView -> AnswerDraft, by templates.
"""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from rapidfuzz import fuzz, process

from agents.answering.answer_record import limit_confidence, understood_by_model
from agents.answering.draft import asks_for_prose, draft_answer, verbalise_answer
from agents.answering.fallbacks import confirm_reading, offer_readings
from agents.answering.grounding_gate import GroundingGate, ShownEvidence
from agents.answering.select_answer import indexed_sentences, plan_of, unplanned_rows
from agents.doubts import preview_rows
from agents.model_calls import CHARACTERS_PER_TOKEN, Limits, ModelFailed, UsageCounter, prompt, stream_reply
from agents.turn_view import AnswerDraft, CitedSentence, Result, TurnView
from nacre.language.sanitize import quote_line, quote_lines, strip_control_characters
from nacre.language.small_talk import intents
from nacre.language.thesaurus import rank_sentences
from nacre.language.tokens import ENGLISH, fold, language_name, tokenize
from nacre.language.translation import fill_template, gloss_words, join_translated
from nacre.records.answer import Value
from nacre.records.evidence import Evidence, EvidenceSentence, Rows, Table
from nacre.records.schema import Schema
from nacre.records.threads import run_in_thread
from nacre.records.turn import Reading
from nacre.wording.grid import build_grid
from nacre.wording.translations import (
    plan_words,
    translate_result,
    translated_kinds,
    translated_lead,
    translated_literal,
    translated_overview,
    translated_property,
)

log = logging.getLogger(__name__)

MOST_VALUES_SHOWN = 30

ROWS_SHOWN = 100

MOST_WORDS = 2000

LONGEST_ANSWER = 600

LONGEST_CELL = 500

UNSUPPORTED_LEAD = "A sentence is left out here, for the graph does not support it."

_SWAPPED = str.maketrans(",.", ".,")


Fuser = Callable[[TurnView, Schema, GroundingGate], Awaitable[Result[AnswerDraft]]]

Stream = Callable[[Sequence[BaseMessage]], AsyncIterator[str]]


async def by_rules(view: TurnView, schema: Schema, gate: GroundingGate) -> Result[AnswerDraft]:
    """The sentences of the rules' draft, each through the gate."""
    return Result(await run_in_thread(_say_draft, view, schema, gate))


def _limited(view: TurnView, draft: AnswerDraft) -> AnswerDraft:
    """The draft, no surer than what its question rests on."""
    return limit_confidence(draft, understood_by_model(view), is_first=not view.conversation)


def _say_draft(view: TurnView, schema: Schema, gate: GroundingGate) -> AnswerDraft:
    draft = translate_draft(_limited(view, draft_answer(view, schema)), view, schema)
    for i, (text, evidence) in enumerate(draft.sentences):
        gate.say(text, evidence, draft.translated[i] if i < len(draft.translated) else "")
    _say_offer(draft, gate)
    return draft


def by_model(model: BaseChatModel, rules: Fuser, limits: Limits, *, small: bool = False) -> Fuser:
    """Prose of the model over numbered evidence; values and status stay those of the rules.

    The rules say rows, in full. The model words descriptions, comparisons, summaries, and answers in another language.
    The rules complete what it leaves out or fails to end. A small model leaves out most of the evidence, so it only
    answers in other languages. If nothing was found there is nothing to word.
    """

    async def fuser(view: TurnView, schema: Schema, gate: GroundingGate) -> Result[AnswerDraft]:
        draft = _limited(view, await run_in_thread(draft_answer, view, schema))
        has_evidence = any(evidence for _, evidence in draft.sentences)
        if not has_evidence or (view.language == ENGLISH and (small or not asks_for_prose(view))):
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
    return [
        (text, indexes)
        for text, indexes in draft.sentences
        if indexes and not any(_is_wide(view.evidence[index]) for index in indexes)
    ]


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
    language = f"Answer in {language_name(view.language)}.\n" if view.language != ENGLISH else ""
    earlier = "".join(
        f"{quote_line(turn.standalone)}\n{quote_line(turn.answer)[:LONGEST_ANSWER]}\n"
        for turn in view.referenced_turns[-1:]
    )
    turn = prompt(
        "fuser_turn",
        evidence="\n".join(lines),
        before=f"<before>\n{earlier}</before>\n" if earlier else "",
        language=language,
        question=quote_line(view.standalone) + (f"\nAs typed: {quote_line(view.question)}" if earlier else ""),
    )
    return [SystemMessage(prompt("fuser")), HumanMessage(turn)]


def _is_wide(evidence: Evidence) -> bool:
    return isinstance(evidence, Rows) and len(evidence.table.columns) > 1


def evidence_line(evidence: Evidence) -> str:
    """Evidence as a model reads it: rows, a line each; a sentence with its title."""
    if isinstance(evidence, Rows):
        rows = quote_lines(preview_rows(_worded_table(evidence.table), ROWS_SHOWN, LONGEST_CELL))
        return f"{quote_line(evidence.words)}:\n{rows}" if evidence.words else rows
    text = quote_line(evidence.text)
    return text if not evidence.title or evidence.title in evidence.text else f"{quote_line(evidence.title)}: {text}"


def _worded_table(table: Table) -> Table:
    """A table with its cells as an answer writes them: "7,315 km", "20 to 25 kWh"."""
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


def _say_offer(draft: AnswerDraft, gate: GroundingGate) -> None:
    """Offer other readings, or say what is in doubt, or ask for confirmation."""
    if draft.options:
        gate.say(draft.offer or offer_readings(draft.options), ())
    elif draft.doubt:
        gate.say(draft.doubt, ())
    elif draft.confirm:
        gate.say(confirm_reading(draft.confirm, gate.answer), ())


def _say_rest(draft: AnswerDraft, gate: GroundingGate, *, broken: bool) -> None:
    """Say what the model left out."""
    if broken or _lacks_value(draft.values, gate.answer):
        for text, evidence in draft.sentences:
            if not evidence or not set(evidence) <= set(gate.cited) or _lacks_value(draft.values, gate.answer):
                gate.say(text, evidence)
    if not {index for _, indexes in draft.disputed for index in indexes} <= set(gate.cited):
        for text, indexes in draft.disputed:
            gate.say(text, indexes)
    _say_offer(draft, gate)


# Similarity of a corrected word to what the user wrote, at least (rapidfuzz); words of earlier turns have less (given).
MIN_OWN_RATIO = 60

# Facts of a thing that one answer states (given).
MAX_FACTS = 6


def translate_draft(draft: AnswerDraft, view: TurnView, schema: Schema) -> AnswerDraft:
    """The draft in the language that the question was glossed from; unchanged for English and for what has no
    template."""
    code = view.rewrite.gloss
    if not code:
        return draft
    if view.understanding.orientation:
        return _translate_orientation(draft, view.understanding.orientation, schema, code)
    rows = view.evidence[draft.table] if draft.table is not None else None
    options, others = (_translated_options(readings, schema, view) for readings in (draft.options, draft.others))
    offer = fill_template(code, "offer", words="; ".join(_quoted(each.words, code) for each in options))
    doubt = fill_template(code, "confirm") if draft.confirm or draft.doubt else ""
    caveats = tuple(_caveats(draft, view, rows if isinstance(rows, Rows) else None))
    reason = caveats[0] if draft.reason and caveats else draft.reason
    translated = replace(
        draft, options=options, others=others, offer=offer, confirm="", doubt=doubt, caveats=caveats, reason=reason
    )
    facts = _facts(draft, view, schema)
    if facts is not None and not draft.values:
        english, text = facts
        if draft.status == "answered":
            return replace(translated, sentences=(english,), translated=(text,))
        why = _without_rows(translated, view, has_facts=True)
        return replace(why, sentences=(why.sentences[0], english), translated=("", text), status="partial")
    if isinstance(rows, Rows) and draft.values:
        return _with_rows(translated, rows, view, schema)
    if draft.values or any(evidence for text, evidence in draft.sentences if text):
        return _without_rows(translated, view) if not draft.values and draft.status != "answered" else translated
    return _without_rows(translated, view)


def _translate_orientation(draft: AnswerDraft, intent: str, schema: Schema, code: str) -> AnswerDraft:
    """The answer to a turn that asks nothing of the data: a lead, and what the graph is about with its evidence."""
    lead = translated_lead(intent, code)
    if intent in intents("small_talk"):
        text = " ".join(filter(None, (lead, translated_kinds(schema, code) if intent == "greeting" else "")))
        return replace(draft, sentences=((text, ()),))
    is_short = intent not in intents("about_graph")
    cited = [(text, evidence) for text, evidence in draft.sentences if evidence]
    english = " ".join(text for text, _ in cited)
    indexes = tuple(dict.fromkeys(i for _, evidence in cited for i in evidence))
    about = translated_overview(schema, code, is_short=is_short)
    sentences: list[tuple[str, str, tuple[int, ...]]] = [(lead, lead, ())] if lead else []
    sentences += [(english, about, indexes)] if english and about else []
    if not sentences:
        return draft
    return replace(
        draft,
        sentences=tuple((text, evidence) for text, _, evidence in sentences),
        translated=tuple(translated for _, translated, _ in sentences),
        reason=lead if draft.reason else None,
    )


def _with_rows(draft: AnswerDraft, rows: Rows, view: TurnView, schema: Schema) -> AnswerDraft:
    plan, code = plan_of(view.understanding, rows), view.rewrite.gloss
    english = verbalise_answer(rows, plan, schema, view.standalone)
    result = translate_result(english, plan, rows, schema, view.rewrite.own, code)
    sentences = (draft.sentences[0], *_in_language(draft.sentences[1:], view))
    return replace(draft, sentences=sentences, translated=(result.text,), columns=result.columns or draft.columns)


def _in_language(sentences: Sequence[CitedSentence], view: TurnView) -> Iterable[CitedSentence]:
    """The cited sentences without those that the graph's facts were put into, which are in English."""
    for text, indexes in sentences:
        cited = [view.evidence[i] for i in indexes]
        if cited and all(isinstance(each, EvidenceSentence) and each.document is not None for each in cited):
            yield text, indexes


def _facts(draft: AnswerDraft, view: TurnView, schema: Schema) -> tuple[CitedSentence, str] | None:
    """The facts that the sentences of the graph state: in English with their evidence, and in one line of the language.
    None if they state no values of one thing."""
    code, own = view.rewrite.gloss, view.rewrite.own
    cited = dict.fromkeys(i for _, evidence in draft.sentences for i in evidence)
    found: dict[str, int] = {}
    titles: dict[str, None] = {}
    for index in cited:
        sentence = view.evidence[index]
        if not isinstance(sentence, EvidenceSentence) or sentence.document is not None:
            return None
        for _, predicate, value in sentence.triples:
            about = schema.predicate_of.get(predicate)
            if about is not None and about.role == "fact" and not _is_iri(value):
                titles.setdefault(sentence.title)
                is_boolean = about.datatype == "boolean"
                values = quote_line(translated_literal(value, code, about.unit, is_boolean=is_boolean))
                label = translated_property(predicate, schema, own, code)
                found.setdefault(fill_template(code, "fact", property=label, values=values), index)
    if len(titles) != 1:
        return None
    facts = "; ".join(list(found)[:MAX_FACTS])
    text = fill_template(code, "facts", thing=quote_line(next(iter(titles))), facts=facts)
    indexes = tuple(dict.fromkeys(list(found.values())[:MAX_FACTS]))
    english = " ".join(view.evidence[index].text for index in indexes)
    return (english, indexes), text


def _is_iri(value: str) -> bool:
    return "://" in value or value.startswith(("_:", "urn:"))


def _without_rows(draft: AnswerDraft, view: TurnView, *, has_facts: bool = False) -> AnswerDraft:
    """Why there is no answer, by the status and what was not understood. If facts follow, an unknown word is only
    doubtful."""
    code, understanding = view.rewrite.gloss, view.understanding
    name = {"answered": "nothing_matches", "failed": "failed", "not_understood": "not_understood"}.get(draft.status)
    if draft.status == "answered" and draft.table is None:
        return draft
    if name is None and understanding.unknown:
        text = fill_template(
            code,
            "unsure" if has_facts else "unknown_words",
            words=_own_words((w for w, _ in understanding.unknown), view),
        )
        near = [near for _, near in understanding.unknown if near]
        hint = f" {fill_template(code, 'nearest_name', words=_quoted_list(near, code))}" if near else ""
        text = f"{text}{hint}"
    else:
        stated = "not_stated" if any(m.kind == "entity" for m in understanding.mentions) else "not_in_graph"
        text = fill_template(code, name or stated)
    kept = tuple(_in_language(draft.sentences, view))
    if draft.status == "answered" and kept:
        return replace(draft, translated=(text,))
    return replace(draft, sentences=((text, ()), *kept), reason=text if draft.reason else None)


def _caveats(draft: AnswerDraft, view: TurnView, rows: Rows | None) -> Iterable[str]:
    if not draft.caveats:
        return
    code, unknown = view.rewrite.gloss, view.understanding.unknown
    if unknown and rows is not None and rows.reading is not None:
        yield fill_template(code, "left_out", words=_own_words((word for word, _ in unknown), view))
    if rows is not None and rows.table.truncated:
        yield fill_template(code, "truncated", count=len(rows.table.rows))


def _translated_options(readings: Sequence[Reading], schema: Schema, view: TurnView) -> tuple[Reading, ...]:
    """The readings in words of the language; of those that differ in what has no words, the first."""
    names = {key: name for each in view.evidence if isinstance(each, Rows) for key, name in each.names}
    found: dict[str, Reading] = {}
    for each in readings:
        words = plan_words(each.plan, names, schema, view.rewrite.own, view.rewrite.gloss) or each.words
        found.setdefault(words, replace(each, words=words))
    return tuple(found.values())


def _own_words(words: Iterable[str], view: TurnView) -> str:
    """English words as the user wrote them, of corrected ones those that are most like them."""
    code, own = view.rewrite.gloss, [token.text for token in tokenize(view.rewrite.own)]
    glossed = {fold(word): word for word in own} | {
        fold(english): " ".join(own[g.start : g.end]) for g in gloss_words(own, code) for english in g.english.split()
    }
    near = (
        (word, process.extractOne(fold(word), glossed.keys(), scorer=fuzz.ratio, score_cutoff=MIN_OWN_RATIO))
        for word in words
    )
    return _quoted_list([glossed[found[0]] if found else word for word, found in near], code)


def _quoted_list(words: Iterable[str], code: str) -> str:
    return join_translated([_quoted(word, code) for word in dict.fromkeys(words)], code)


def _quoted(text: str, code: str) -> str:
    return fill_template(code, "quote", text=quote_line(text))
