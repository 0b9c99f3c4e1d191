"""Write the answer: TurnView -> sentences with their evidence, through a gate, and the answer as data.
Or the rules' answer in the language of the question: AnswerDraft + TurnView -> AnswerDraft, by templates."""

import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace

from rapidfuzz import fuzz, process

from agents.answering.answer_record import limit_confidence, understood_by_model
from agents.answering.draft import draft_answer, verbalise_answer
from agents.answering.fallbacks import confirm_reading, offer_readings
from agents.answering.grounding_gate import GroundingGate
from agents.answering.select_answer import plan_of
from agents.turn_view import AnswerDraft, CitedSentence, Result, TurnView
from nacre.language.sanitize import quote_line
from nacre.language.small_talk import intents
from nacre.language.tokens import fold, tokenize
from nacre.language.translation import fill_template, gloss_words, join_translated
from nacre.records.evidence import EvidenceSentence, Rows
from nacre.records.schema import Schema
from nacre.records.threads import run_in_thread
from nacre.records.turn import Reading
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


Fuser = Callable[[TurnView, Schema, GroundingGate], Awaitable[Result[AnswerDraft]]]


async def by_rules(view: TurnView, schema: Schema, gate: GroundingGate) -> Result[AnswerDraft]:
    """The sentences of the rules' draft, each through the gate."""
    return Result(await run_in_thread(_say_draft, view, schema, gate))


def limited_draft(view: TurnView, draft: AnswerDraft) -> AnswerDraft:
    """The draft, no surer than what its question rests on."""
    return limit_confidence(draft, understood_by_model(view), is_first=not view.conversation)


def _say_draft(view: TurnView, schema: Schema, gate: GroundingGate) -> AnswerDraft:
    draft = translate_draft(limited_draft(view, draft_answer(view, schema)), view, schema)
    for i, (text, evidence) in enumerate(draft.sentences):
        gate.say(text, evidence, draft.translated[i] if i < len(draft.translated) else "")
    say_offer(draft, gate)
    return draft


def say_offer(draft: AnswerDraft, gate: GroundingGate) -> None:
    """Offer other readings, or say what is in doubt, or ask for confirmation."""
    if draft.options:
        gate.say(draft.offer or offer_readings(draft.options), ())
    elif draft.doubt:
        gate.say(draft.doubt, ())
    elif draft.confirm:
        gate.say(confirm_reading(draft.confirm, gate.answer), ())


# Similarity of a corrected word to what the user wrote, at least (rapidfuzz); words of earlier turns have less (given).
MIN_OWN_RATIO = 60

# Facts of a thing that one answer states (given).
MAX_FACTS = 6


def translate_draft(draft: AnswerDraft, view: TurnView, schema: Schema) -> AnswerDraft:
    """The draft in the language that the question was glossed from; unchanged for English and without a template."""
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
    """The values of one thing that the sentences state: cited in English, and as one line of the language; or None."""
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
            is_iri = "://" in value or value.startswith(("_:", "urn:"))
            if about is not None and about.role == "fact" and not is_iri:
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


def _without_rows(draft: AnswerDraft, view: TurnView, *, has_facts: bool = False) -> AnswerDraft:
    """Why there is no answer, by status and lack; if facts follow, an unknown word is only doubtful."""
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
