"""The answer of the rules in the language of the question, by templates: AnswerDraft + TurnView -> AnswerDraft; then
what it cites, and the words of its record."""

import calendar
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import cast

from rapidfuzz import fuzz, process

from agents.answering.draft import verbalise_answer
from agents.answering.select_answer import empty_table, plan_of
from agents.fuser import stated_rows
from agents.turn_view import AnswerDraft, CitedSentence, TurnView
from nacre.language.data import load_language_texts
from nacre.language.sanitize import quote_line
from nacre.language.small_talk import intents
from nacre.language.tokens import fold, tokenize
from nacre.language.translation import fill_template, gloss_words, join_translated, translated_plural
from nacre.language.values import MONEY_SIGN
from nacre.language.word_forms import plural
from nacre.plans.selects import asked_select
from nacre.records.answer import Answer
from nacre.records.evidence import Evidence, EvidenceSentence, Rows
from nacre.records.plan import Plan, Select
from nacre.records.schema import Schema
from nacre.records.turn import Reading
from nacre.understanding.dialogue.rewrite import meta_kind
from nacre.wording.grid import build_grid
from nacre.wording.labels import predicate_label
from nacre.wording.nouns import nominal_label
from nacre.wording.overview import translated_kinds, translated_lead, translated_overview
from nacre.wording.translations import (
    ResultWording,
    class_label,
    plan_words,
    separate_number,
    translate_result,
    translated_class,
    translated_literal,
    translated_property,
    translated_texts,
)

# Similarity of a corrected word to what the user wrote, at least (rapidfuzz); words of earlier turns have less (given).
MIN_OWN_RATIO = 60

# Facts of a thing, and properties of two compared things, that one answer states (given).
MAX_FACTS, MAX_COMPARED = 6, 30


def translate_draft(draft: AnswerDraft, view: TurnView, schema: Schema) -> AnswerDraft:
    """The draft in the language that the question was glossed from; unchanged for English and without a template."""
    code = view.rewrite.gloss
    if not code:
        stated = stated_rows(draft, view)
        return _with_rows(draft, stated, view, schema, view.language) if stated is not None else draft
    if view.understanding.orientation:
        return _translate_orientation(draft, view.understanding.orientation, schema, code)
    if view.rewrite.aside and view.conversation:
        return replace(draft, translated=(_translated_meta_answer(view, schema),))
    rows = view.evidence[draft.table] if draft.table is not None else None
    options, others = (_translated_options(readings, schema, view) for readings in (draft.options, draft.others))
    offer = fill_template(code, "offer", words="; ".join(_quoted(each.words, code) for each in options))
    doubt = fill_template(code, "confirm") if draft.confirm or draft.doubt else ""
    caveats = tuple(_caveats(draft, view, rows if isinstance(rows, Rows) else None))
    reason = caveats[0] if draft.reason and caveats else draft.reason
    translated = replace(
        draft, options=options, others=others, offer=offer, confirm="", doubt=doubt, caveats=caveats, reason=reason
    )
    comparison = next((i for _, indexes in draft.sentences for i in indexes if _is_comparison(view.evidence[i])), None)
    if comparison is not None:
        source = _translated_comparison(cast("Rows", view.evidence[comparison]), schema, view.rewrite.own, code)
        text = f"{source.words}:\n\n{build_grid(source.table).markdown(MAX_COMPARED)}"
        english = next(sentence for sentence in draft.sentences if comparison in sentence[1])
        columns = source.table.columns if draft.columns else ()
        rows_shown = source.table.rows if draft.columns else ()
        return replace(translated, sentences=(english,), translated=(text,), columns=columns, rows=rows_shown)
    facts = _facts(draft, view, schema)
    if facts is not None and not draft.values:
        english, text = facts
        if draft.status == "answered":
            return replace(translated, sentences=(english,), translated=(text,))
        why = _without_rows(translated, view, schema, has_facts=True)
        return replace(why, sentences=(why.sentences[0], english), translated=("", text), status="partial")
    if isinstance(rows, Rows) and draft.values:
        return _with_rows(translated, rows, view, schema, code)
    if draft.values or any(evidence for text, evidence in draft.sentences if text):
        return (
            _without_rows(translated, view, schema) if not draft.values and draft.status != "answered" else translated
        )
    return _without_rows(translated, view, schema)


def _translated_meta_answer(view: TurnView, schema: Schema) -> str:
    """The answer to a question about the conversation."""
    code, last, kind = view.rewrite.gloss, view.conversation[-1], meta_kind(view.standalone)
    quoted = [_quoted(quote_line(turn.question), code) for turn in view.conversation]
    if kind and kind != "doubt":
        return fill_template(code, kind, first=quoted[0], last=quoted[-1], all="; ".join(quoted))
    words = plan_words(last.plan, {}, schema, last.question, code) if last.plan is not None else ""
    if not words or last.confidence is None:
        return fill_template(code, "no_basis")
    percent = round(100 * last.confidence)
    return fill_template(code, "basis", question=quoted[-1], words=_quoted(words, code), percent=percent)


def _is_comparison(evidence: Evidence) -> bool:
    return isinstance(evidence, Rows) and evidence.query is None and evidence.table.columns[:1] == ("property",)


def _translate_orientation(draft: AnswerDraft, intent: str, schema: Schema, code: str) -> AnswerDraft:
    """The answer to a turn that asks nothing of the data: a lead, and what the graph is about with its evidence."""
    lead = translated_lead(intent, code)
    if intent in intents("small_talk"):
        text = " ".join(filter(None, (lead, translated_kinds(schema, code) if intent == "greeting" else "")))
        return replace(draft, sentences=((text, ()),))
    is_short = intent not in intents("about_graph")
    cited = [(text, evidence) for text, evidence in draft.sentences if evidence]
    # one sentence stands for all: together they may seem to say more than each
    english = cited[0][0] if cited else ""
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


_MORE = re.compile(r" and [\d,]+ more \(ask with --json for all\)")


def _with_rows(draft: AnswerDraft, rows: Rows, view: TurnView, schema: Schema, code: str) -> AnswerDraft:
    plan = plan_of(view.understanding, rows)
    english = verbalise_answer(rows, plan, schema, view.standalone)
    result = translate_result(english, plan, rows, schema, view.rewrite.own, code)
    # the number of those that are not shown is no value of the rows
    (first, indexes), *others = draft.sentences
    sentences = ((_MORE.sub("", first), indexes), *_in_language(others, view))
    return replace(draft, sentences=sentences, translated=(result.text,), columns=result.columns or draft.columns)


def _in_language(sentences: Sequence[CitedSentence], view: TurnView) -> Iterable[CitedSentence]:
    """The cited sentences without those that the graph's facts were put into, which are in English."""
    for text, indexes in sentences:
        cited = [view.evidence[i] for i in indexes]
        if cited and all(isinstance(each, EvidenceSentence) and each.document is not None for each in cited):
            yield text, indexes


def _facts(draft: AnswerDraft, view: TurnView, schema: Schema) -> tuple[CitedSentence, str] | None:
    """The values of one thing that the sentences state: cited in English, and as one line of the language; or None."""
    cited = dict.fromkeys(i for _, evidence in draft.sentences for i in evidence)
    found: dict[str, int] = {}
    titles: dict[str, None] = {}
    for index in cited:
        sentence = view.evidence[index]
        if not isinstance(sentence, EvidenceSentence) or sentence.document is not None:
            return None
        for fact in _stated(sentence, view, schema):
            titles.setdefault(sentence.title)
            found.setdefault(fact, index)
    if len(titles) != 1:
        return None
    text = _facts_line(next(iter(titles)), list(found)[:MAX_FACTS], view)
    indexes = tuple(dict.fromkeys(list(found.values())[:MAX_FACTS]))
    english = " ".join(view.evidence[index].text for index in indexes)
    return (english, indexes), text


def _facts_line(title: str, facts: Sequence[str], view: TurnView) -> str:
    return fill_template(view.rewrite.gloss, "facts", thing=quote_line(title), facts="; ".join(facts))


def _stated(sentence: EvidenceSentence, view: TurnView, schema: Schema) -> Iterator[str]:
    """The values of its thing that a sentence states, each with its property. "Across its 2 boats" has none."""
    code = view.rewrite.gloss
    for subject, predicate, value in sentence.triples:
        about = schema.predicate_of.get(predicate)
        is_iri = "://" in value or value.startswith(("_:", "urn:"))
        if about is not None and about.role == "fact" and not is_iri and subject in sentence.keys:
            is_boolean = about.datatype == "boolean"
            values = quote_line(translated_literal(value, code, about.unit, is_boolean=is_boolean))
            label = translated_property(predicate, schema, view.rewrite.own, code)
            yield fill_template(code, "fact", property=label, values=values)


def _without_rows(draft: AnswerDraft, view: TurnView, schema: Schema, *, has_facts: bool = False) -> AnswerDraft:
    """Why there is no answer, by status and lack; if facts follow, an unknown word is only doubtful."""
    code, understanding = view.rewrite.gloss, view.understanding
    name = {"answered": "nothing_matches", "failed": "failed", "not_understood": "not_understood"}.get(draft.status)
    if draft.status == "answered" and draft.table is None:
        return draft
    if name is None and understanding.unknown:
        unknown = tuple(word for word, _ in understanding.unknown)
        text = (
            _unsure(unknown, view)
            if has_facts
            else fill_template(code, "unknown_words", words=_own_words(unknown, view))
        )
        near = [near for _, near in understanding.unknown if near]
        hint = f" {fill_template(code, 'nearest_name', words=_quoted_list(near, code))}" if near else ""
        text = f"{text}{hint}"
    elif draft.status == "not_understood" and understanding.readings and understanding.readings[0].unused:
        text = _unsure(understanding.readings[0].unused, view)
    elif draft.status == "not_understood" and empty_table(understanding, view.evidence) is not None:
        words = _said_words(view, schema)[understanding.readings[0].words]
        text = fill_template(code, "nothing_found", words=_quoted(words, code))
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


def translate_sources(cited: Sequence[Evidence], view: TurnView, schema: Schema) -> Sequence[Evidence]:
    """What is cited, in the language that the question was glossed from."""
    return [_translated_source(each, view, schema) for each in cited] if view.rewrite.gloss else cited


def _translated_source(evidence: Evidence, view: TurnView, schema: Schema) -> Evidence:
    code, own = view.rewrite.gloss, view.rewrite.own
    if isinstance(evidence, Rows) and _is_comparison(evidence):
        return _translated_comparison(evidence, schema, own, code)
    if isinstance(evidence, Rows):
        words = _said_words(view, schema).get(evidence.words, evidence.words)
        return _translated_rows(evidence, plan_of(view.understanding, evidence), words, schema, own, code)
    if view.understanding.orientation:
        return replace(evidence, title="", text=translated_overview(schema, code, is_short=True, has_examples=False))
    if evidence.document is not None or not evidence.triples:
        return evidence
    # of links, whose ends have no names here, the properties alone
    labels = (translated_property(predicate, schema, own, code) for _, predicate, _ in evidence.triples)
    facts = list(_stated(evidence, view, schema)) or list(dict.fromkeys(filter(None, labels)))
    return replace(evidence, text=_facts_line(evidence.title, facts, view)) if facts else evidence


def translate_record(record: Answer, view: TurnView, schema: Schema) -> Answer:
    """The record with the words of its queries and steps in the language that the question was glossed from."""
    if not view.rewrite.gloss:
        return record
    said, steps = _said_words(view, schema), record["derivation"]
    for query in record["queries"]:
        query["words"] = said.get(query["words"], query["words"])
    for reading in steps["planned"]["selected"]:
        reading["words"] = said.get(reading["words"], reading["words"])
    for assertion in steps["assertions"]:
        assertion["says"] = said.get(assertion["says"], assertion["says"])
    for match in steps["matches"]:
        match["text"] = _own_word(match["text"], view)
        for candidate in match["candidates"]:
            candidate["label"] = candidate["label"] if candidate["iri"] else _own_word(candidate["label"], view)
    steps["triples"] = [[said.get(each, each) for each in triple] for triple in steps["triples"]]
    return record


def _said_words(view: TurnView, schema: Schema) -> dict[str, str]:
    """The words of readings, look-ups and steps in the language, by the English ones."""
    code, own, asked = view.rewrite.gloss, view.rewrite.own, view.standalone
    names = {key: name for each in view.evidence if isinstance(each, Rows) for key, name in each.names}
    texts = load_language_texts(f"{code}/answers.yaml")
    found = {english.format(asked): words.format(own) for english, words in texts["steps"].items()}
    for each in view.understanding.readings:
        found.setdefault(each.words, plan_words(each.plan, names, schema, own, code) or each.words)
        select = asked_select(each.plan.body)
        for variable in select.variables if select is not None else ():
            found.setdefault(f"?{variable.name}", f"?{translated_class(variable, schema, '', code) or variable.name}")
    return found


def _unsure(words: Sequence[str], view: TurnView) -> str:
    """That it is not known how words are meant, which are one or several as the user wrote them."""
    own = dict.fromkeys(_own_word(word, view) for word in words)
    return fill_template(
        view.rewrite.gloss, "unsure" if len(own) == 1 else "unsure_several", words=_own_words(words, view)
    )


def _own_words(words: Iterable[str], view: TurnView) -> str:
    """English words as the user wrote them, in quotes."""
    return _quoted_list([_own_word(word, view) for word in words], view.rewrite.gloss)


def _own_word(word: str, view: TurnView) -> str:
    """An English word as the user wrote it, of a corrected one that which is most like it."""
    code, own = view.rewrite.gloss, [token.text for token in tokenize(view.rewrite.own)]
    glossed = {fold(word): word for word in own} | {
        fold(english): " ".join(own[g.start : g.end]) for g in gloss_words(own, code) for english in g.english.split()
    }
    found = process.extractOne(fold(word), glossed.keys(), scorer=fuzz.ratio, score_cutoff=MIN_OWN_RATIO)
    return glossed[found[0]] if found else word


def _quoted_list(words: Iterable[str], code: str) -> str:
    return join_translated([_quoted(word, code) for word in dict.fromkeys(words)], code)


def _quoted(text: str, code: str) -> str:
    return fill_template(code, "quote", text=quote_line(text))


MAX_SOURCE_ROWS = 3  # rows of a source that are shown in one line (given)
_ENGLISH_DAY = re.compile(rf"(\d\d?) ({'|'.join(calendar.month_name[1:])}) (\d{{4}})")
_NUMBER = re.compile(rf"-?(?:{MONEY_SIGN.pattern})?\d[\d,.]*%?(?: \S{{1,8}})?")


def _translated_rows(rows: Rows, plan: Plan | None, words: str, schema: Schema, question: str, code: str) -> Rows:
    """The rows as a source: with their words, headings and first values in a language."""
    if rows.table.columns == ("yes",):
        text = fill_template(code, "yes_value" if rows.table.rows[0][0] else "no_value")
        return replace(rows, words=words, text=text, table=replace(rows.table, columns=(fill_template(code, "holds"),)))
    if plan is None or not isinstance(plan.body, Select) or not rows.table.rows:
        return replace(rows, words=words)
    wording = ResultWording(plan.body, rows, schema, question, code)
    headings = wording.headings()
    cells = zip(*(translated_texts(column, code)[:MAX_SOURCE_ROWS] for column in wording.grid.columns), strict=True)
    lines = (", ".join(f"{name}: {text}" for name, text in zip(headings, row, strict=True) if text) for row in cells)
    order, table = plan.body.order, rows.table
    table = replace(table, columns=tuple(headings)) if len(headings) == len(table.columns) else table
    table = replace(table, measured_name=wording.heading(order.by)) if order is not None else table
    return replace(rows, words=words, text="; ".join(lines), table=table)


def _translated_comparison(rows: Rows, schema: Schema, question: str, code: str) -> Rows:
    """A comparison of things with its table, text and words in a language; labels that are no property's stay."""
    own = {str(row[0]) for row in rows.table.rows}
    labels = {
        form: translated_property(p.iri, schema, question, code)
        for p in schema.shown_predicates
        for noun in (predicate_label(p.iri, schema).one, nominal_label(p.iri, schema))
        for form in (noun, plural(noun))
    }
    for c in schema.shown_classes:
        kind, kinds = class_label(c, schema, "", code), plural(c.label.lower())
        several = translated_plural(kind, code) or kind
        labels[f"number of {kinds}"] = fill_template(code, "number_of", things=several)
        # of the things that link to them, as a price of cars
        parts = {label: property_ for label, property_ in labels.items() if f"{label} ({kinds})" in own}
        labels |= {f"{label} ({kinds})": f"{property_} ({several})" for label, property_ in parts.items()}
    cells = tuple(
        (labels.get(str(label), str(label)), *(_cell_in_language(str(cell), code) for cell in others))
        for label, *others in rows.table.rows
    )
    table = replace(rows.table, columns=(fill_template(code, "property"), *rows.table.columns[1:]), rows=cells)
    words = fill_template(code, "comparison", things=join_translated(list(table.columns[1:]), code))
    text = "; ".join(f"{label}: {' / '.join(others)}" for label, *others in cells)
    return replace(rows, table=table, words=words, title=words, text=text)


def _cell_in_language(text: str, code: str) -> str:
    """A cell that was worded in English: a day, a number, a truth value, or a list of names."""
    months = fill_template(code, "months").split()
    if found := _ENGLISH_DAY.fullmatch(text):
        month = months[list(calendar.month_name).index(found[2]) - 1]
        return fill_template(code, "date", day=found[1], month=month, year=found[3])
    if text in ("yes", "no"):
        return fill_template(code, f"{text}_value")
    if all(map(_NUMBER.fullmatch, ends := text.split(" to "))):
        return f" {fill_template(code, 'to')} ".join(separate_number(end, code) for end in ends)
    return text.replace(" and ", f" {fill_template(code, 'and')} ").replace(" to ", f" {fill_template(code, 'to')} ")
