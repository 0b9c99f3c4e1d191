"""What the rules answer: TurnView + Schema -> AnswerDraft, from rows, texts, sentences, or the reason for no answer."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agents.answering import fallbacks
from agents.answering.select_answer import (
    DECLINED,
    candidate_rows,
    content_words,
    find_disputes,
    indexed_sentences,
    is_covered_by,
    is_empty,
    is_enough,
    is_sure,
    plan_of,
    row_probability,
    sole_reading,
    unplanned_rows,
    unstated_rows,
)
from agents.turn_view import AnswerDraft, CitedSentence, Lack, TurnView
from nacre.extension import services
from nacre.language.data import word_list
from nacre.language.sanitize import quote_line
from nacre.language.small_talk import intents, lead, unserved_request
from nacre.language.thesaurus import rank_sentences
from nacre.language.tokens import tokenize
from nacre.language.word_forms import join_names, number_with_noun
from nacre.plans.selects import asked_select, compared_predicates
from nacre.records.answer import Value
from nacre.records.evidence import Evidence, EvidenceSentence, Rows
from nacre.records.plan import Plan
from nacre.records.schema import Schema
from nacre.records.turn import Understanding
from nacre.understanding.dialogue.rewrite import answer_meta_question
from nacre.understanding.ranking.probabilities import MIN_SHARE
from nacre.understanding.ranking.proof import ONE_PLACE
from nacre.wording.answer import verbalise_meaning, verbalise_result, verbalise_rows
from nacre.wording.comparison import single_property_sentence, summarise_difference
from nacre.wording.grid import Verbalisation
from nacre.wording.overview import EXAMPLES, MAX_SUBJECTS, kinds_sentence, subjects
from nacre.wording.sentence import marked_things, other_spellings
from nacre.wording.thing import MAX_DESCRIPTION_SENTENCES


def draft_answer(view: TurnView, schema: Schema) -> AnswerDraft:
    """The answer in the order of trust: rows, texts, an empty result that is sure, what is nearest, then why not. If an
    empty result is sure, sentences made from the graph's own triples can't answer, but those of documents may."""
    understanding, evidence = view.understanding, view.evidence
    if understanding.orientation:
        return draft_orientation(understanding.orientation, evidence, schema)
    if view.rewrite.aside and view.conversation:
        text = answer_meta_question(view.question, view.conversation, schema)
        return AnswerDraft(((text, ()),), "answered")
    selected = view.answer_rows
    if selected is None or not _is_settled(understanding, selected[1]) or unserved_request(view.question) == "action":
        unserved = draft_unserved(view, schema)
        if unserved is not None:
            return unserved
    from_text = best_text_answer(understanding.standalone, evidence)
    if asks_for_prose(view) and not (from_text is not None and from_text.is_sure and from_text.is_reason):
        description = draft_description(understanding, evidence)
        if description is not None:
            return _with_missing(description, view)
    if selected is not None and (
        is_question_for_texts(understanding, selected[1], evidence) or _is_denied(selected[1], view)
    ):
        selected = None
    bar = DECLINED if selected is None else max(DECLINED, row_probability(understanding, selected[1]))
    if from_text is not None and from_text.probability > bar:
        return _draft_from_text(from_text, view, schema)
    matches = fallbacks.draft_matches(evidence)
    if matches is not None and (selected is None or _left_out_words(understanding, selected[1])):
        return matches
    if selected is not None:
        # a text with the words that the reading leaves out covers more of the question
        left_out = _left_out_words(understanding, selected[1])
        covering = draft_sentences(understanding, evidence, left_out) if left_out else None
        if covering is not None and from_text is not None and from_text.probability > DECLINED:
            return _draft_from_text(from_text, view, schema)
        return _draft_from_rows(*selected, view, schema)
    return _draft_without_rows(view, schema)


def _draft_without_rows(view: TurnView, schema: Schema) -> AnswerDraft:
    """What documents say, else what surely is not stated, else what is nearest, else why there is no answer."""
    understanding, evidence = view.understanding, view.evidence
    from_texts = draft_sentences(understanding, evidence)
    if from_texts is not None:
        return from_texts
    missing = _reported_missing(view)
    if missing:
        return fallbacks.explain_reported_absence(missing, understanding, schema, evidence)
    is_unanswerable = fallbacks.is_unanswerable(understanding, evidence)
    nearest = None if is_unanswerable else fallbacks.draft_nearest(understanding, evidence, schema)
    if nearest is not None:
        return nearest
    absence = fallbacks.explain_absence(understanding, schema, evidence, dict(view.failures))
    if unstated_rows(understanding, evidence) is not None:
        return replace(absence, sentences=(*absence.sentences, *_nearest_fact(view, schema)))
    if absence.status not in ("not_in_graph", "not_understood"):
        return absence
    options = fallbacks.likeliest_readings(understanding, evidence, schema)
    return replace(absence, options=options, confirm="" if view.rewrite.gloss else absence.confirm)


def find_lack(view: TurnView) -> Lack:
    """What the answer lacks as the evidence stands: "words" if rows leave some out, "certainty" if they use all and are
    not sure, "everything" without rows; nothing if it answers, or if it is sure that nothing does."""
    understanding, evidence = view.understanding, view.evidence
    if view.rewrite.chosen is not None or view.rewrite.aside or understanding.orientation or _reported_missing(view):
        return ""
    if unserved_request(view.question):
        return "everything"
    if asks_for_prose(view) and indexed_sentences(evidence):
        return ""
    selected = view.answer_rows
    if selected is not None:
        if _left_out_words(understanding, selected[1]):
            return "words"
        is_of_reading = sole_reading(understanding, selected[1]) is not None
        return "certainty" if is_of_reading and not is_sure(understanding, selected[1]) else ""
    from_text = best_text_answer(understanding.standalone, evidence)
    is_in_texts = from_text is not None and from_text.probability > DECLINED
    return "" if is_in_texts or fallbacks.is_unanswerable(understanding, evidence) else "everything"


def needs_more_sentences(view: TurnView) -> bool:
    """Whether further sentences made from the graph's own triples may be part of the answer: not if queries gave all of
    a description, or if rows answer (words that they leave out are looked for by the words and the nearest facts)."""
    understanding, evidence = view.understanding, view.evidence
    if understanding.orientation or (view.rewrite.aside and view.conversation):
        return False
    if unserved_request(view.question):
        return True
    if asks_for_prose(view):
        is_queried = any(e.branch in QUERYING and e.round for e in evidence)
        return not (is_queried and is_enough(understanding, evidence, view.answer_rows))
    return view.answer_rows is None


def _nearest_fact(view: TurnView, schema: Schema) -> Iterator[CitedSentence]:
    """What the graph states instead of what it does not state of a thing: the nearest fact about it."""
    understanding = view.understanding
    nearest = fallbacks.nearest_rows(understanding, view.evidence)
    if nearest is not None:
        index, rows = nearest
        text = verbalise_answer(rows, plan_of(understanding, rows), schema, view.question).text
        yield f"The nearest that it states: {text}", (index,)


def _is_denied(rows: Rows, view: TurnView) -> bool:
    """Whether a model says that the graph lacks what is asked, and no sure reading that uses all words opposes."""
    is_read = sole_reading(view.understanding, rows) is not None and not unplanned_rows(view.evidence)
    return is_read and bool(_reported_missing(view)) and not _is_settled(view.understanding, rows)


def _with_missing(draft: AnswerDraft, view: TurnView) -> AnswerDraft:
    """The draft; only the nearest facts if a model says that the graph lacks what is asked. Texts may state it."""
    missing = _reported_missing(view)
    cited = [view.evidence[i] for _, indexes in draft.sentences for i in indexes]
    if not missing or any(each.document is not None or isinstance(each, Rows) for each in cited):
        return draft
    text = f"This graph does not hold {quote_line(missing)}."
    sentences = ((f"{text} The nearest that it says is this:", ()), *draft.sentences)
    return AnswerDraft(sentences, "partial", reason=text, caveats=(text,))


def asks_for_prose(view: TurnView) -> bool:
    """Whether sentences answer, as a model reads the question if one was asked, else as the rules do."""
    wants = next((part.wants for part in view.found if part.wants is not None), None)
    return view.understanding.expected == "prose" if wants is None else wants == "prose"


def verbalise_answer(rows: Rows, plan: Plan | None, schema: Schema, question: str) -> Verbalisation:
    """Rows as the answer to a question; `plan` gave them, or a query of a model if it is None."""
    result = verbalise_result(plan, rows.table, schema, question) if plan is not None else Verbalisation("")
    if not result.text or rows.meaning:
        result = verbalise_meaning(rows.meaning, rows.table, result if result.text else verbalise_rows(rows.table))
    # how many more there are is not known if not all rows were read
    text = re.sub(r" and [\d,]+ more \(", " and more (", result.text) if rows.table.truncated else result.text
    return replace(result, text=text)


def _reported_missing(view: TurnView) -> str:
    """What a model says that the graph lacks, or ""."""
    return next((part.missing for part in view.found if part.missing), "")


def _left_out_words(understanding: Understanding, rows: Rows) -> tuple[str, ...]:
    """The words that the reading behind rows does not use: none that it implies, no empty verbs ("use", "bring")."""
    reading = sole_reading(understanding, rows)
    if reading is None:
        return ()
    said = {token.lemma for token in tokenize(reading.words)} | word_list("answering", "light_verbs")
    return tuple(each for each in reading.unused if not {token.lemma for token in tokenize(each)} <= said)


def _is_settled(understanding: Understanding, rows: Rows) -> bool:
    return is_sure(understanding, rows) and not _left_out_words(understanding, rows)


@dataclass(frozen=True)
class DraftFromText:
    """An answer of a text: its words, its evidence by index (the sentence first), and the answer as data.
    `is_sure`: likely enough to be given as the answer; `is_reason`: the question asks why."""

    text: str
    evidence: tuple[int, ...]
    value: Value
    unit: str
    probability: float
    is_sure: bool
    is_reason: bool = False


def _draft_from_text(text: DraftFromText, view: TurnView, schema: Schema) -> AnswerDraft:
    """The sentence that answers, with the rows that it rests on; a caveat if it is not sure."""
    caveats = () if text.is_sure else ("The texts may mean something else: this is the nearest that they say.",)
    basis = [(index, rows) for index in text.evidence[1:] if isinstance(rows := view.evidence[index], Rows)]
    sentences = [(verbalise_answer(rows, rows.plan, schema, view.question).text, (index,)) for index, rows in basis]
    return AnswerDraft(
        ((text.text, text.evidence[:1]), *sentences),
        "answered" if text.is_sure else "clarify",
        confidence=round(text.probability, 3),
        values=(text.value,),
        unit=text.unit or None,
        caveats=caveats,
    )


def _draft_from_rows(index: int, rows: Rows, view: TurnView, schema: Schema) -> AnswerDraft:
    understanding, evidence = view.understanding, view.evidence
    plan = plan_of(understanding, rows)
    result = verbalise_answer(rows, plan, schema, view.question)
    result = replace(result, **_asked_values(rows, view))
    disputed = _disputed_sentences(rows, understanding, evidence)
    basis = tuple(
        (each.text, (i,))
        for i, each in indexed_sentences(evidence)
        if rows.joined is not None and each.joined == replace(rows.joined, basis=True)
    )
    sure = _is_settled(understanding, rows)
    least = 0.0 if sure else MIN_SHARE
    offered = () if rows.joined else fallbacks.other_readings(rows, understanding, evidence, schema, least)
    options = () if sure or rows.reading is None else offered
    unknown, others = tuple(_unknown_caveat(rows, view)), tuple(_caveats(rows, view))
    caveats = (*unknown, *others)
    beside = (
        ()
        if sure or view.rewrite.gloss
        else fallbacks.facts_beside(understanding, evidence, rows, is_offering=bool(options))
    )
    # the facts begin with what is doubtful
    shown_caveats = others if beside else caveats
    possible, spellings = fallbacks.possible_fits(rows), tuple(other_spellings(rows.table))
    unread = tuple(
        f"Left out: {number_with_noun(each.unread, 'text')} among the values of {quote_line(each.label)}."
        for each in map(schema.predicate_of.__getitem__, compared_predicates(plan.body) if plan is not None else ())
        if each.unread
    )
    others_said = [" ".join(sentence for sentence, _ in disputed)] if disputed else []
    return AnswerDraft(
        (
            (result.text, (index,)),
            *([(possible, ())] if possible else []),
            *((text, ()) for text in (*marked_things(rows.table), *spellings, *unread)),
            *basis,
            *disputed,
            *(() if sure else _doubt(rows, view)),
            *beside,
        ),
        "partial" if caveats or spellings else "answered" if sure else "clarify",
        confidence=round(row_probability(understanding, rows), 3),
        values=result.values,
        unit=result.unit,
        reason=next(iter((*caveats, *spellings)), None),
        caveats=(*shown_caveats, *unread, *others_said),
        table=index,
        disputed=disputed,
        options=options,
        others=() if options else offered,
        confirm="" if sure or caveats or options or beside or sole_reading(understanding, rows) is None else rows.words,
        columns=result.columns,
        rows=result.rows,
    )


def _asked_values(rows: Rows, view: TurnView) -> dict[str, Any]:
    """The values and unit of a model's rows that have more columns than are asked for; the sentence has all columns."""
    wants = next((part.wants for part in view.found if part.wants is not None), None)
    table = rows.table
    if sole_reading(view.understanding, rows) is not None or len(table.columns) < 2 or wants not in ("names", "number"):
        return {}
    cells = list(zip(*table.rows, strict=True))
    texts = [i for i, column in enumerate(cells) if any(isinstance(cell, str) for cell in column)]
    numbers = [i for i in range(len(cells)) if i not in texts]
    wanted = texts if wants == "names" else numbers if len(table.rows) == 1 else []
    if len(wanted) != 1:
        return {}
    values = dict.fromkeys(cell for cell in cells[wanted[0]] if cell is not None)
    return {"values": tuple(values), "unit": (table.units[wanted[0]] or None) if table.units else None}


def _doubt(rows: Rows, view: TurnView) -> Iterator[CitedSentence]:
    """How many share the last of several places, and of which point an answer is not sure: the first check of the proof
    that its reading fails."""
    plan, measured = plan_of(view.understanding, rows), rows.table.measured
    select = asked_select(plan.body) if plan is not None else None
    if select is not None and 1 < (select.limit or 0) < len(measured):
        yield f"{measured.count(measured[-1])} share the last of these {select.limit} places.", ()
    if sole_reading(view.understanding, rows) is None or view.rewrite.gloss:
        return
    for doubt in rows.doubts[:1]:
        yield DOUBTS.get(doubt.check, UNREAD).format(quote_line(doubt.point)), ()


def _unknown_caveat(rows: Rows, view: TurnView) -> Iterator[str]:
    """That the reading behind rows leaves out words unknown to the graph."""
    left_out = {word for text in _left_out_words(view.understanding, rows) for word in text.split()}
    unknown = [each for each in view.understanding.unknown if left_out & set(each[0].split())]
    if unknown:
        # a code that is nearly another is a misspelling; a word may just be another word
        codes = [each for each in unknown if any(map(str.isdigit, each[0]))]
        words = [word for word, _ in unknown]
        is_name = not set(words).isdisjoint(view.understanding.absent)
        why = ": nothing in this graph is called that" if is_name else ""
        yield f"The answer leaves out {fallbacks.quoted_list(words)}{why}.{fallbacks.nearest_name_hint(codes)}"


def _caveats(rows: Rows, view: TurnView) -> Iterator[str]:
    missing = _reported_missing(view)
    if missing and sole_reading(view.understanding, rows) is None:
        yield f"This graph does not hold {quote_line(missing)}."
    if rows.table.truncated:
        yield f"Only the first {len(rows.table.rows)} rows were read."


def _disputed_sentences(
    rows: Rows, understanding: Understanding, evidence: Sequence[Evidence]
) -> tuple[CitedSentence, ...]:
    """What texts say instead, two sentences for each dispute; none for rows that rest on a text."""
    if rows.joined is not None:
        return ()
    why = "the first is preferred, since it is what the graph itself states"
    return tuple(
        sentence
        for index, text in find_disputes(rows, understanding.standalone, evidence)
        for sentence in ((f"But the text {text.document} says otherwise ({why}):", ()), (text.text, (index,)))
    )


# branches that describe things by their facts
QUERYING = ("sql", "sparql")

# of which point a reading is not sure, by the check of its proof that it fails
UNREAD = "I am not sure that I took “{}” as you mean it."
DOUBTS = {
    ONE_PLACE: "{} of them are tied.",
    "own things first": "I am not sure that “{}” is what you mean.",
    "polarity": "I am not sure what “{}” leaves out.",
    "shape": "I am not sure that this is what “{}” asks for.",
    "whole values": "I am not sure whether “{}” is one name or value.",
}

PROSE_WORDS = 150

LOOKUP_WORDS = 35

# a sentence, with its index in the evidence
IndexedSentence = tuple[int, EvidenceSentence]


def draft_description(understanding: Understanding, evidence: Sequence[Evidence]) -> AnswerDraft | None:
    """The rows that a model gathered, else a comparison as a table, else the best sentences: at most six, and 150
    words; those about one thing together, those of a profile before those of texts."""
    gathered = tuple(
        (verbalise_rows(rows.table).text, (i,))
        for i, rows in unplanned_rows(evidence)
        if rows.query is not None and not is_empty(rows.table)
    )
    if gathered:
        return AnswerDraft(gathered, "answered")
    comparison = next((found for found in candidate_rows(evidence) if found[1].query is None), None)
    if comparison is not None:
        index, rows = comparison
        shown = verbalise_rows(rows.table, summarise_difference(rows.table, rows.title))
        text = single_property_sentence(rows.table) or shown.text
        return AnswerDraft(((text, (index,)),), "answered", columns=shown.columns, rows=shown.rows)
    sentences = indexed_sentences(evidence)
    profile = [found for found in sentences if found[1].branch in QUERYING]
    # what the turn before said is said again only if this one found nothing
    profile = [found for found in profile if found[1].round] or profile
    # beside a profile, passages that the graph's own triples were put into would repeat its facts
    others = [(i, s) for i, s in sentences if s.branch not in QUERYING and (s.document is not None or not profile)]
    ranked = [*profile, *_ranked(understanding, others, PROSE_WORDS)]
    chosen = _within_budget(ranked, PROSE_WORDS)[:MAX_DESCRIPTION_SENTENCES]
    return _draft(chosen) if chosen else None


def draft_orientation(intent: str, evidence: Sequence[Evidence], schema: Schema) -> AnswerDraft:
    """A lead and the sentences about the graph with their evidence; small talk gets one line, which cites nothing.
    If the branch that describes the graph failed, its kinds are named without evidence."""
    sentences: list[CitedSentence] = [(lead(intent), ())] if lead(intent) else []
    if intent == "greeting":
        nouns = [subject.many for subject in subjects(schema)[:MAX_SUBJECTS]]
        sentences.append((f"Ask me about {f'the {join_names(nouns)} in this graph' if nouns else 'this graph'}.", ()))
    if intent in intents("small_talk"):
        return AnswerDraft(tuple(sentences), "answered")
    found = [(i, each) for i, each in indexed_sentences(evidence) if each.branch in QUERYING and each.round]
    first = min((each.branch for _, each in found), key=QUERYING.index, default="")
    about_graph = [(each.text, () if each.title == EXAMPLES else (i,)) for i, each in found if each.branch == first]
    sentences += about_graph or [(kinds_sentence(schema), ())]
    if intent in intents("no_answer"):
        return AnswerDraft(tuple(sentences), "not_in_graph", reason=lead(intent))
    return AnswerDraft(tuple(sentences), "answered")


def draft_sentences(
    understanding: Understanding, evidence: Sequence[Evidence], words: Sequence[str] = ()
) -> AnswerDraft | None:
    """The best sentences of documents, if they have most words, all that the graph does not know, and `words`."""
    candidates = [(i, each) for i, each in indexed_sentences(evidence) if each.document is not None]
    chosen = _within_budget(_ranked(understanding, candidates, LOOKUP_WORDS), LOOKUP_WORDS)
    if not chosen or not is_covered_by(understanding.standalone, [each for _, each in chosen]):
        return None
    covered = content_words(" ".join(f"{each.title} {each.text}" for _, each in chosen))
    if any(content_words(word) - covered for word in (*words, *(unknown for unknown, _ in understanding.unknown))):
        # a word that names nothing in the graph may still occur in a passage
        return None
    return _draft(chosen)


def _ranked(understanding: Understanding, sentences: Sequence[IndexedSentence], words: int) -> list[IndexedSentence]:
    return [sentences[i] for i in rank_sentences(understanding.standalone, [each for _, each in sentences], words)]


def _within_budget(ranked: Sequence[IndexedSentence], words: int) -> list[IndexedSentence]:
    """The first that have at most `words` words together, no text twice; at least one."""
    chosen: list[IndexedSentence] = []
    texts: set[str] = set()
    for index, sentence in ranked:
        length = len(sentence.text.split())
        if sentence.text in texts or (chosen and length > words):
            continue
        chosen.append((index, sentence))
        texts.add(sentence.text)
        words -= length
    return chosen


def _draft(chosen: Sequence[IndexedSentence]) -> AnswerDraft:
    first = {sentence.title: place for place, (_, sentence) in reversed(list(enumerate(chosen)))}
    grouped = sorted(chosen, key=lambda each: first[each[1].title])
    return AnswerDraft(tuple((sentence.text, (index,)) for index, sentence in grouped), "answered")


# rows that cover less of a question do not answer it (given)
HALF = 0.5


def best_text_answer(question: str, evidence: Sequence[Evidence]) -> DraftFromText | None:
    """The likeliest answer among the sentences of documents; None if none of them answers, or nothing reads them."""
    found: list[DraftFromText | None] = [answer(question, evidence) for answer in services("text_answer")]
    return max(filter(None, found), key=lambda each: each.probability, default=None)


def is_question_for_texts(understanding: Understanding, used: Rows, evidence: Sequence[Evidence]) -> bool:
    """Whether the answer must be in texts: the rows are not sure and cover less than half of the question, and the
    texts contain at least half of the words that the graph does not know."""
    reading = sole_reading(understanding, used)
    if reading is None or is_sure(understanding, used) or not understanding.unknown:
        return False
    texts = (each.text for _, each in indexed_sentences(evidence) if each.document is not None)
    text_words = content_words(" ".join(texts))
    in_texts = sum(content_words(word) <= text_words for word, _ in understanding.unknown)
    return reading.covered < HALF and in_texts >= HALF * len(understanding.unknown)


def draft_unserved(view: TurnView, schema: Schema) -> AnswerDraft | None:
    """One sentence about what this can do, then the nearest facts of the named things; None for a question."""
    request = unserved_request(view.question)
    if not request:
        return None
    understanding = view.understanding
    text = lead(request)
    has_facts = bool(understanding.named) or request == "opinion"
    facts = fallbacks.draft_nearest(understanding, view.evidence, schema) if has_facts else None
    if facts is None:
        return AnswerDraft(((text, ()),), "not_in_graph", reason=text)
    named = join_names([quote_line(each.mention.label) for each in understanding.named])
    text = f"{text} The closest that it says{f' of {named}' if named else ''}:"
    return replace(facts, sentences=((text, ()), *facts.sentences[1:]), reason=lead(request))
