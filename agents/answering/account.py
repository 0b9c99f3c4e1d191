"""What the rules answer: question + evidence -> Account: sentences with their evidence, values, status."""

from collections.abc import Sequence
from dataclasses import dataclass

from agents.answering.absence import absence, closed, listed
from agents.answering.agreement import Dispute, disputes
from agents.answering.clarify import others
from agents.answering.trust import answering_table, chance, content_words, covers, gathered, is_empty, is_sure, plan_of
from agents.plain import quoted
from agents.turn_view import TurnView
from records.answer import Status, Value
from records.evidence import Evidence, Ledger, Table
from records.schema import Schema
from records.turn import Reading, Understanding
from semantics.comparison import difference
from semantics.courtesy import is_greeting
from semantics.description import SENTENCES
from semantics.greeting import greeting
from semantics.phrase import Phrase, phrase, rows_said
from semantics.sentences import best
from semantics.words import fold

PROSE_WORDS = 150
LOOKUP_WORDS = 35
NAME = 0.9


@dataclass(frozen=True)
class Account:
    """The whole answer. `table` is the index of the evidence whose rows the values are, if any; `disputed` are those
    sentences of the ledger that say what other evidence gives instead; `options` are readings as good as the one that
    is answered, to be offered at the end; `confirm` is what was understood, to be confirmed where there are none;
    `columns` and `rows` are an answer of several columns, as a table."""

    ledger: Ledger
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
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Value | None, ...], ...] = ()


def account(view: TurnView, schema: Schema) -> Account:
    """The answer in the order of trust: rows, then sentences, then an empty result that is sure, then why not.

    Where an empty result is sure, sentences made from the graph's own triples know no more, but those of texts may.
    """
    understanding, evidence = view.understanding, view.evidence
    if is_greeting(understanding.standalone):
        return Account(Ledger(((greeting(understanding.standalone, schema), ()),)), "answered")
    if asks_for_prose(view):
        told = _prose(understanding, evidence)
        if told is not None:
            return told
    table = answering_table(understanding, evidence)
    if table is not None:
        # a text that has the words that the rows' reading leaves out knows more of what was asked
        left_out = _left_out(understanding, evidence[table])
        told = _text(understanding, evidence, only_texts=True, words=left_out) if left_out else None
        return told or _rows(table, view, schema)
    told = _text(understanding, evidence, only_texts=closed(understanding, evidence))
    if told is not None:
        return told
    lacks = next((part.missing for part in view.found if part.missing), "")
    if lacks:
        text = f"This graph does not hold what answers this: {quoted(lacks)}."
        return Account(Ledger(((text, ()),)), "not_in_graph", reason=text)
    why = absence(understanding, schema, evidence, dict(view.failures))
    cited = () if why.table is None else (why.table,)
    return Account(Ledger(((why.text, cited),)), why.status, reason=why.reason, table=why.table)


def said(table: Table) -> Phrase:
    """Rows in plain words, for a query that has no plan: a list, or a table of several columns."""
    return rows_said(table)


def truth(evidence: Evidence) -> Phrase:
    """The yes or no of a query that has no plan, with what it is about."""
    assert evidence.table is not None
    yes = bool(evidence.table.rows[0][0])
    about = f", as to {quoted(evidence.words)}" if evidence.words else ""
    return Phrase(f"{'Yes' if yes else 'No'}{about}.", (yes,))


def asks_for_prose(view: TurnView) -> bool:
    """Whether sentences answer, as a model reads the question where one was asked, else as the rules do."""
    wants = next((part.wants for part in view.found if part.wants is not None), None)
    return view.understanding.expected == "prose" if wants is None else wants == "prose"


def _left_out(understanding: Understanding, used: Evidence) -> tuple[str, ...]:
    """The words of the question that the reading behind these rows does not account for."""
    by_reading = used.reading is not None and not used.confirmed
    return understanding.readings[used.reading or 0].unused if by_reading else ()


def _rows(table: int, view: TurnView, schema: Schema) -> Account:
    understanding, evidence = view.understanding, view.evidence
    used = evidence[table]
    assert used.table is not None
    result = Phrase("")
    plan = plan_of(understanding, used)
    if plan is not None:
        result = phrase(plan, used.table, schema, view.question)
    if not result.text:
        result = truth(used) if used.table.columns == ("yes",) else said(used.table)
    by_reading = used.reading is not None and not used.confirmed
    missing = tuple(word for word, _ in understanding.unknown) if by_reading else ()
    caveats: tuple[str, ...] = ()
    if missing:
        caveats += (f"The answer leaves out {listed(missing)}: nothing in this graph is called that.",)
    lacks = next((part.missing for part in view.found if part.missing), "")
    if lacks and not by_reading:
        caveats += (f"This graph does not hold {quoted(lacks)}.",)
    if used.table.truncated:
        caveats += (f"Only the first {len(used.table.rows)} rows were read.",)
    partial = bool(caveats)
    disputed = tuple(
        sentence
        for other in disputes(table, understanding.standalone, understanding, evidence)
        for sentence in _otherwise(evidence[other.index], other)
    )
    sure = is_sure(understanding, used) and not _left_out(understanding, used)
    options = () if sure else others(table, understanding, evidence, schema)
    if disputed:
        caveats += (" ".join(text for text, _ in disputed),)
    return Account(
        Ledger(((result.text, (table,)), *disputed)),
        "partial" if partial else "answered" if sure else "clarify",
        confidence=round(chance(understanding, used), 3),
        values=result.values,
        unit=result.unit,
        reason=caveats[0] if partial else None,
        caveats=caveats,
        table=table,
        disputed=disputed,
        options=options,
        confirm="" if sure or partial or options else used.words,
        columns=result.columns,
        rows=result.rows,
    )


def _otherwise(other: Evidence, dispute: Dispute) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Who says otherwise and what to make of it, then what it says, with its evidence."""
    who = f"the text {other.document}"
    if other.table is not None:
        who = f"the question read as “{quoted(other.words)}”" if other.words else "a query written by the model"
    which = f"the first is preferred, {dispute.why}" if dispute.why else "neither is surer than the other"
    what = other.text if other.table is None else said(other.table).text
    return (f"But {who} says otherwise ({which}):", ()), (what, (dispute.index,))


def _prose(understanding: Understanding, evidence: Sequence[Evidence]) -> Account | None:
    """The rows that a model gathered, else a comparison as a table, else the best sentences, those about one thing
    together: a profile's first, then those of texts; at most six, and 150 words."""
    said_rows = tuple(
        (said(table).text, (i,))
        for i in gathered(evidence)
        if (table := evidence[i].table) and not is_empty(table) and evidence[i].query
    )
    if said_rows:
        return Account(Ledger(said_rows), "answered")
    compared = next(
        (i for i, each in enumerate(evidence) if each.round and each.table is not None and each.query is None), None
    )
    if compared is not None and (table := evidence[compared].table) is not None:
        shown = rows_said(table, difference(table))
        words = Ledger(((shown.text, (compared,)),))
        return Account(words, "answered", columns=shown.columns, rows=shown.rows)
    profiled = [i for i, each in enumerate(evidence) if each.kind == "sentence" and each.branch == "sql"]
    # what the turn before told is told again only where this one found nothing
    profiled = [i for i in profiled if evidence[i].round] or profiled
    # what the graph's passages tell of a thing that is described are the same facts once more
    told = [
        i
        for i, each in enumerate(evidence)
        if each.kind == "sentence" and each.branch != "sql" and (each.document is not None or not profiled)
    ]
    ranked = [told[i] for i in best(understanding.standalone, [evidence[i] for i in told], PROSE_WORDS)]
    chosen = _within(profiled + ranked, evidence, PROSE_WORDS)[:SENTENCES]
    return _cited(chosen, evidence) if chosen else None


def _text(
    understanding: Understanding, evidence: Sequence[Evidence], *, only_texts: bool, words: Sequence[str] = ()
) -> Account | None:
    """The best sentences, if they hold most of the question's words, all that the graph does not know, and `words`."""
    names = [mention.label for mention in understanding.mentions if mention.kind == "entity" and mention.score >= NAME]
    told = [
        i
        for i, each in enumerate(evidence)
        if each.kind == "sentence" and (each.document is not None or not (only_texts or _is_of_another(each, names)))
    ]
    sentences = [evidence[i] for i in told]
    ranked = [told[i] for i in best(understanding.standalone, sentences, LOOKUP_WORDS)]
    chosen = _within(ranked, evidence, LOOKUP_WORDS)
    if not chosen or not covers(understanding.standalone, [evidence[i] for i in chosen]):
        return None
    said = content_words(" ".join(f"{evidence[i].title} {evidence[i].text}" for i in chosen))
    if any(content_words(word) - said for word in (*words, *(unknown for unknown, _ in understanding.unknown))):
        # what names nothing in the graph may still be told of in a passage
        return None
    return _cited(chosen, evidence)


def _is_of_another(sentence: Evidence, names: Sequence[str]) -> bool:
    """Whether a sentence made from triples says nothing of the things that the question names."""
    said = fold(f"{sentence.title} {sentence.text}")
    return bool(names) and not any(fold(name.partition(" (")[0]) in said for name in names)


def _within(ranked: Sequence[int], evidence: Sequence[Evidence], words: int) -> list[int]:
    """The first that fit in `words` together, no text twice; at least one."""
    chosen: list[int] = []
    texts: set[str] = set()
    for index in ranked:
        text = evidence[index].text
        length = len(text.split())
        if text in texts or (chosen and length > words):
            continue
        chosen.append(index)
        texts.add(text)
        words -= length
    return chosen


def _cited(chosen: Sequence[int], evidence: Sequence[Evidence]) -> Account:
    first = {evidence[index].title: place for place, index in reversed(list(enumerate(chosen)))}
    grouped = sorted(chosen, key=lambda index: first[evidence[index].title])
    return Account(Ledger(tuple((evidence[index].text, (index,)) for index in grouped)), "answered")
