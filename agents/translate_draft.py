"""The rules' answer in the language of the question: AnswerDraft + TurnView -> AnswerDraft, by templates."""

from collections.abc import Iterable
from dataclasses import replace

from agents.answering.answer_draft import AnswerDraft, CitedSentence
from agents.answering.draft import verbalise_answer
from agents.answering.selection.rows import plan_of
from agents.turn_view import TurnView
from nacre.language.orientation import intents
from nacre.language.sanitize import quote_line
from nacre.language.tokens import fold, tokenize
from nacre.language.translation.glosses import gloss_words
from nacre.language.translation.templates import fill_template, join_translated
from nacre.records.evidence import EvidenceSentence, Rows
from nacre.records.schema import Schema
from nacre.records.turn import Reading
from nacre.wording.translations.answer import plan_words, translate_result
from nacre.wording.translations.labels import translated_property
from nacre.wording.translations.overview import translated_kinds, translated_lead, translated_overview
from nacre.wording.translations.values import translated_literal

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
    options = tuple(_translated_option(each, schema, view) for each in draft.options)
    offer = fill_template(code, "offer", words="; ".join(_quoted(each.words, code) for each in options))
    doubt = fill_template(code, "confirm") if draft.confirm or draft.doubt else ""
    caveats = tuple(_caveats(draft, view, rows if isinstance(rows, Rows) else None))
    reason = caveats[0] if draft.reason and caveats else draft.reason
    translated = replace(draft, options=options, offer=offer, confirm="", doubt=doubt, caveats=caveats, reason=reason)
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
    if plan is None:
        return draft
    english = verbalise_answer(rows, plan, schema, view.standalone)
    result = translate_result(english, plan, rows, schema, view.rewrite.own, code)
    return replace(draft, translated=(result.text,), columns=result.columns or draft.columns)


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
    kept: tuple[CitedSentence, ...] = tuple((t, evidence) for t, evidence in draft.sentences if evidence)
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


def _translated_option(reading: Reading, schema: Schema, view: TurnView) -> Reading:
    names = {key: name for each in view.evidence if isinstance(each, Rows) for key, name in each.names}
    words = plan_words(reading.plan, names, schema, view.rewrite.own, view.rewrite.gloss)
    return replace(reading, words=words or reading.words)


def _own_words(words: Iterable[str], view: TurnView) -> str:
    """English words as the user wrote them."""
    code, own = view.rewrite.gloss, [token.text for token in tokenize(view.rewrite.own)]
    glossed = {
        fold(english): " ".join(own[g.start : g.end]) for g in gloss_words(own, code) for english in g.english.split()
    }
    return _quoted_list([glossed.get(fold(word), word) for word in words], code)


def _quoted_list(words: Iterable[str], code: str) -> str:
    return join_translated([_quoted(word, code) for word in dict.fromkeys(words)], code)


def _quoted(text: str, code: str) -> str:
    return fill_template(code, "quote", text=quote_line(text))
