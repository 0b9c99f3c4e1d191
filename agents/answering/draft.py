"""What the rules answer: question + evidence -> AnswerDraft: sentences with their evidence, values, status."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agents.answering.absence import explain_absence, is_unanswerable, nearest_name_hint, quoted_list
from agents.answering.clarify import other_readings
from agents.answering.disputes import Dispute, find_disputes
from agents.answering.from_texts import DraftFromText, best_text_answer, is_question_for_texts
from agents.answering.select_answer import (
    DECLINED,
    candidate_rows,
    content_words,
    has_wanted_number,
    indexed_sentences,
    is_covered_by,
    is_empty,
    is_sure,
    plan_of,
    row_probability,
    select_answer_rows,
    unplanned_rows,
)
from agents.turn_view import TurnView
from nacre.language.courtesy import is_greeting
from nacre.language.rank_sentences import rank_sentences
from nacre.language.sanitize import quote_line
from nacre.language.tokens import fold
from nacre.records.answer import Status, Value
from nacre.records.evidence import CitedSentences, Evidence, EvidenceSentence, Rows, Table
from nacre.records.plan import Plan
from nacre.records.schema import Schema
from nacre.records.turn import Reading, Understanding
from nacre.understanding.dialogue.meta_questions import answer_meta_question
from nacre.wording.answers.answer import Verbalisation, verbalise_result, verbalise_rows
from nacre.wording.answers.greeting import greeting
from nacre.wording.answers.match_question import match_question_spelling
from nacre.wording.descriptions.comparison import single_property_sentence, summarise_difference
from nacre.wording.descriptions.thing import MAX_DESCRIPTION_SENTENCES

# branches that tell of things from their facts
QUERYING = ("sql", "sparql")
PROSE_WORDS = 150
LOOKUP_WORDS = 35
NAME = 0.9
NEAREST_CAVEAT = "No reading of the question gives this: it is the nearest that the graph says."

# a sentence, with its index in the evidence
IndexedSentence = tuple[int, EvidenceSentence]


@dataclass(frozen=True)
class AnswerDraft:
    """The whole answer. `table` is the index of the evidence whose rows the values are, if any; `disputed` are those
    sentences of the ledger that say what other evidence gives instead; `options` are readings as good as the one that
    is answered, to be offered at the end; `confirm` is what was understood, to be confirmed where there are none;
    `doubt` is what is doubtful besides; `columns` and `rows` are an answer of several columns, as a table."""

    ledger: CitedSentences
    status: Status
    confidence: float | None = None
    values: tuple[Value, ...] = ()
    unit: str | None = None
    reason: str | None = None
    caveats: tuple[str, ...] = ()
    table: int | None = None
    disputed: tuple[tuple[str, tuple[int, ...]], ...] = ()
    options: tuple[Reading, ...] = ()
    confirm: str = ""
    doubt: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Value | None, ...], ...] = ()


def draft_answer(view: TurnView, schema: Schema) -> AnswerDraft:
    """The answer in the order of trust: rows, then sentences, then an empty result that is sure, then why not.

    Where an empty result is sure, sentences made from the graph's own triples know no more, but those of texts may.
    """
    understanding, evidence = view.understanding, view.evidence
    if is_greeting(understanding.standalone):
        return AnswerDraft(CitedSentences(((greeting(understanding.standalone, schema), ()),)), "answered")
    if view.rewrite.aside and view.conversation:
        return AnswerDraft(
            CitedSentences(((answer_meta_question(view.question, view.conversation, schema), ()),)), "answered"
        )
    read = best_text_answer(understanding.standalone, evidence)
    if asks_for_prose(view) and not (read is not None and read.is_sure and read.is_reason):
        told = _prose(understanding, evidence)
        if told is not None:
            return told
    answering = select_answer_rows(understanding, evidence)
    if answering is not None and is_question_for_texts(understanding, answering[1], evidence):
        answering = None
    if read is not None and read.probability > _bar(understanding, answering):
        return _from_text(read, view, schema)
    if answering is not None:
        # a text that has the words that the rows' reading leaves out knows more of what was asked
        left_out = _left_out(understanding, answering[1])
        told = _text(understanding, evidence, only_texts=True, words=left_out) if left_out else None
        if told is not None and read is not None and read.probability > DECLINED:
            return _from_text(read, view, schema)
        return _rows(*answering, view, schema)
    # what the graph's own facts say of the things named is no answer where a condition could not be read
    likeliest = max(understanding.readings, key=lambda reading: reading.score, default=None)
    unread = likeliest is not None and bool(likeliest.lost)
    told = _text(understanding, evidence, only_texts=unread or is_unanswerable(understanding, evidence))
    if told is not None:
        return told
    lacks = next((part.missing for part in view.found if part.missing), "")
    if lacks:
        text = f"This graph does not hold what answers this: {quote_line(lacks)}."
        return AnswerDraft(CitedSentences(((text, ()),)), "not_in_graph", reason=text)
    why = explain_absence(understanding, schema, evidence, dict(view.failures))
    cited = () if why.table is None else (why.table,)
    return AnswerDraft(CitedSentences(((why.text, cited),)), why.status, reason=why.reason, table=why.table)


def _bar(understanding: Understanding, answering: tuple[int, Rows] | None) -> float:
    """What the probability of an answer from a text must exceed to be given: that of the rows, if there are some."""
    return DECLINED if answering is None else max(DECLINED, row_probability(understanding, answering[1]))


def _from_text(text: DraftFromText, view: TurnView, schema: Schema) -> AnswerDraft:
    """The sentence that answers, with the fact that it rests on; one that is not sure is said to be the nearest."""
    caveats = () if text.is_sure else ("The texts may mean something else: this is the nearest that they say.",)
    basis = [(index, rows) for index in text.evidence[1:] if isinstance(rows := view.evidence[index], Rows)]
    said_rows = tuple((answer_phrase(rows, rows.plan, schema, view.question).text, (index,)) for index, rows in basis)
    return AnswerDraft(
        CitedSentences(((text.text, text.evidence[:1]), *said_rows)),
        "answered" if text.is_sure else "clarify",
        confidence=round(text.probability, 3),
        values=(text.answer.value,),
        unit=text.answer.unit or None,
        caveats=caveats,
    )


def rows_phrase(table: Table) -> Verbalisation:
    """Rows in plain words, for a query that has no plan: a list, or a table of several columns."""
    return verbalise_rows(table)


def answer_phrase(rows: Rows, plan: Plan | None, schema: Schema, question: str) -> Verbalisation:
    """Rows as the answer to a question; `plan` gave them, or a model's query where it is None."""
    result = verbalise_result(plan, rows.table, schema, question) if plan is not None else Verbalisation("")
    if result.text:
        return result
    return truth_phrase(rows) if rows.table.columns == ("yes",) else rows_phrase(rows.table)


def truth_phrase(rows: Rows) -> Verbalisation:
    """The yes or no of a query that has no plan, with what it is about."""
    yes = bool(rows.table.rows[0][0])
    about = f", as to {quote_line(rows.words)}" if rows.words else ""
    return Verbalisation(f"{'Yes' if yes else 'No'}{about}.", (yes,))


def asks_for_prose(view: TurnView) -> bool:
    """Whether sentences answer, as a model reads the question where one was asked, else as the rules do."""
    wants = next((part.wants for part in view.found if part.wants is not None), None)
    return view.understanding.expected == "prose" if wants is None else wants == "prose"


def _left_out(understanding: Understanding, used: Rows) -> tuple[str, ...]:
    """The words of the question that the reading behind these rows does not account for."""
    by_reading = used.reading is not None and not used.confirmed
    return understanding.readings[used.reading or 0].unused if by_reading else ()


def _rows(index: int, used: Rows, view: TurnView, schema: Schema) -> AnswerDraft:
    understanding, evidence = view.understanding, view.evidence
    result = answer_phrase(used, plan_of(understanding, used), schema, view.question)
    by_reading = used.reading is not None and not used.confirmed
    missing = tuple(word for word, _ in understanding.unknown) if by_reading else ()
    caveats: tuple[str, ...] = ()
    if missing:
        told = f"The answer leaves out {quoted_list(missing)}: nothing in this graph is called that."
        # a code that is nearly another is a slip, where a word may just be another word
        codes = [each for each in understanding.unknown if any(map(str.isdigit, each[0]))]
        caveats += (f"{told}{nearest_name_hint(codes)}",)
    lacks = next((part.missing for part in view.found if part.missing), "")
    if lacks and not by_reading:
        caveats += (f"This graph does not hold {quote_line(lacks)}.",)
    if used.table.truncated:
        caveats += (f"Only the first {len(used.table.rows)} rows were read.",)
    partial = bool(caveats)
    disputed = tuple(
        sentence
        for other in (
            find_disputes(used, understanding.standalone, understanding, evidence) if used.joined is None else ()
        )
        for sentence in _otherwise(evidence[other.index], other)
    )
    rests_on = tuple(
        (each.text, (i,))
        for i, each in indexed_sentences(evidence)
        if used.joined is not None and each.joined == replace(used.joined, basis=True)
    )
    sure = is_sure(understanding, used) and not _left_out(understanding, used)
    options = () if sure or used.joined is not None else other_readings(used, understanding, evidence, schema)
    if disputed:
        caveats += (" ".join(text for text, _ in disputed),)
    return AnswerDraft(
        CitedSentences(((_as_asked(result.text, understanding), (index,)), *rests_on, *disputed)),
        "partial" if partial else "answered" if sure else "clarify",
        confidence=round(row_probability(understanding, used), 3),
        values=result.values,
        unit=result.unit,
        reason=caveats[0] if partial else None,
        caveats=caveats,
        table=index,
        disputed=disputed,
        options=options,
        confirm="" if sure or partial or options else used.words,
        columns=result.columns,
        rows=result.rows,
    )


def _as_asked(text: str, understanding: Understanding) -> str:
    return match_question_spelling(text, understanding.standalone, understanding.mentions)


def _otherwise(other: Evidence, dispute: Dispute) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Who says otherwise and what to make of it, then what it says, with its evidence."""
    if isinstance(other, EvidenceSentence):
        who, what = f"the text {other.document}", other.text
    else:
        who = f"the question read as “{quote_line(other.words)}”" if other.words else "a query written by the model"
        what = rows_phrase(other.table).text
    which = f"the first is preferred, {dispute.why}" if dispute.why else "neither is surer than the other"
    return (f"But {who} says otherwise ({which}):", ()), (what, (dispute.index,))


def _prose(understanding: Understanding, evidence: Sequence[Evidence]) -> AnswerDraft | None:
    """The rows that a model gathered, else a comparison as a table, else the best sentences, those about one thing
    together: a profile's first, then those of texts; at most six, and 150 words."""
    said_rows = tuple(
        (rows_phrase(rows.table).text, (i,))
        for i, rows in unplanned_rows(evidence)
        if rows.query is not None and not is_empty(rows.table)
    )
    if said_rows:
        return AnswerDraft(CitedSentences(said_rows), "answered")
    compared = next((found for found in candidate_rows(evidence) if found[1].query is None), None)
    if compared is not None:
        index, rows = compared
        shown = verbalise_rows(rows.table, summarise_difference(rows.table, rows.title))
        text = single_property_sentence(rows.table) or shown.text
        words = CitedSentences(((_as_asked(text, understanding), (index,)),))
        return AnswerDraft(words, "answered", columns=shown.columns, rows=shown.rows)
    sentences = indexed_sentences(evidence)
    profiled = [found for found in sentences if found[1].branch in QUERYING]
    # what the turn before told is told again only where this one found nothing
    profiled = [found for found in profiled if found[1].round] or profiled
    # what the graph's passages tell of a thing that is described are the same facts once more
    told = [(i, s) for i, s in sentences if s.branch not in QUERYING and (s.document is not None or not profiled)]
    chosen = _within([*profiled, *_ranked(understanding, told, PROSE_WORDS)], PROSE_WORDS)[:MAX_DESCRIPTION_SENTENCES]
    return _cited(chosen) if chosen else None


def _text(
    understanding: Understanding, evidence: Sequence[Evidence], *, only_texts: bool, words: Sequence[str] = ()
) -> AnswerDraft | None:
    """The best sentences, if they hold most of the question's words, all that the graph does not know, and `words`."""
    names = [mention.label for mention in understanding.mentions if mention.kind == "entity" and mention.score >= NAME]
    told = [
        (i, each)
        for i, each in indexed_sentences(evidence)
        if each.document is not None or not (only_texts or _is_of_another(each, names))
    ]
    chosen = _within(_ranked(understanding, told, LOOKUP_WORDS), LOOKUP_WORDS)
    if not chosen or not is_covered_by(understanding.standalone, [each for _, each in chosen]):
        return None
    said = content_words(" ".join(f"{each.title} {each.text}" for _, each in chosen))
    if any(content_words(word) - said for word in (*words, *(unknown for unknown, _ in understanding.unknown))):
        # what names nothing in the graph may still be told of in a passage
        return None
    graph_only = all(each.document is None for _, each in chosen)
    if not graph_only:
        return _cited(chosen)
    if not has_wanted_number(understanding.standalone, [each for _, each in chosen]):
        return None
    # no reading asks for them, so that nobody knows whether they answer
    return replace(_cited(chosen), status="clarify", caveats=(NEAREST_CAVEAT,))


def _is_of_another(sentence: EvidenceSentence, names: Sequence[str]) -> bool:
    """Whether a sentence made from triples says nothing of the things that the question names."""
    said = fold(f"{sentence.title} {sentence.text}")
    return bool(names) and not any(fold(name.partition(" (")[0]) in said for name in names)


def _ranked(understanding: Understanding, told: Sequence[IndexedSentence], words: int) -> list[IndexedSentence]:
    """Those that answer the question best, the best first."""
    return [told[i] for i in rank_sentences(understanding.standalone, [each for _, each in told], words)]


def _within(ranked: Sequence[IndexedSentence], words: int) -> list[IndexedSentence]:
    """The first that fit in `words` together, no text twice; at least one."""
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


def _cited(chosen: Sequence[IndexedSentence]) -> AnswerDraft:
    first = {sentence.title: place for place, (_, sentence) in reversed(list(enumerate(chosen)))}
    grouped = sorted(chosen, key=lambda told: first[told[1].title])
    return AnswerDraft(CitedSentences(tuple((sentence.text, (index,)) for index, sentence in grouped)), "answered")
