"""Which evidence answers: the rows that are likeliest to be right, else sentences, else nothing."""

from collections.abc import Sequence

from records.evidence import Evidence, Table
from records.plan import Plan
from records.turn import Understanding
from semantics.english import function_words
from semantics.sentences import covers as share
from semantics.words import tokens

FULL = 0.85
DOUBTED = 0.6
READ = 0.8
# how often a reading that leaves no word out was right, and any other (measured, before readings were calibrated)
EXACT = 0.45
NOT_WEIGHED = 0.2
MOSTLY = 0.7
PARTLY = 0.48
STRAY = 0.08
# by more than this, a reading is so much less likely than the best one that its rows answer another question
UNLIKELY = 0.32
WHOLE_NAME = 0.75
ENOUGH_WORDS = 0.6


def is_empty(table: Table) -> bool:
    """No row, or nothing in any row (as of a maximum over nothing).

    >>> is_empty(Table(("max",), ((None,),))), is_empty(Table(("count",), ((0,),)))
    (True, False)
    """
    return all(cell is None for row in table.rows for cell in row)


def is_nil(table: Table) -> bool:
    """A single zero or "no": an answer that a wrong reading gives just as well."""
    return len(table.rows) == 1 and len(table.rows[0]) == 1 and table.rows[0][0] in (0, False)


def chance(understanding: Understanding, evidence: Evidence) -> float:
    """The probability that rows answer the question: as it was weighed when they were found, else their reading's."""
    if evidence.probability is not None:
        return evidence.probability
    if evidence.reading is None:
        return NOT_WEIGHED
    reading = understanding.readings[evidence.reading]
    if reading.probability is not None:
        return reading.probability
    return EXACT if reading.covered >= 1 and not understanding.unknown else NOT_WEIGHED


def covered(understanding: Understanding, evidence: Evidence) -> float:
    """The share of the question that the evidence's reading accounts for; for a query without a reading, 0.5."""
    return 0.5 if evidence.reading is None else understanding.readings[evidence.reading].covered


def plan_of(understanding: Understanding, evidence: Evidence) -> Plan | None:
    """The plan that gave the rows; None for a query that a model wrote."""
    return None if evidence.reading is None else understanding.readings[evidence.reading].plan


def is_sure(understanding: Understanding, evidence: Evidence) -> bool:
    """Whether rows of a reading can stand without a second opinion: it accounts for (almost) the whole question."""
    if evidence.table is None or is_empty(evidence.table) or evidence.reading is None:
        return False
    return evidence.confirmed or (covered(understanding, evidence) >= FULL and not understanding.unknown)


def is_in_doubt(understanding: Understanding, evidence: Sequence[Evidence]) -> bool:
    """Whether a query of a model may know better: no reading gave rows, or those that did leave much of it out."""
    if understanding.expected == "prose" and evidence:
        return False
    rows = [(e, e.table) for e in evidence if e.table is not None and is_answer(understanding, e)]
    return not any(
        is_sure(understanding, each) or (covered(understanding, each) >= DOUBTED and not is_nil(table))
        for each, table in rows
        if not is_empty(table)
    )


def guesses_a_name(understanding: Understanding) -> bool:
    """Whether the best reading takes words for a part of a thing's name: that it finds nothing may be its own fault."""
    return any(mention.kind == "entity" and mention.score < WHOLE_NAME for mention in understanding.mentions)


def is_answer(understanding: Understanding, evidence: Evidence) -> bool:
    """Whether the evidence's reading accounts for enough of the question. A yes or no needs more of it, where words are
    unknown: what is left out of a list shows, what is left out of a "yes" does not."""
    if evidence.reading is None or evidence.confirmed:
        return True
    doubtful = understanding.unknown and understanding.expected == "boolean"
    own, first = covered(understanding, evidence), understanding.readings[0]
    unlikely = first.score - understanding.readings[evidence.reading].score > UNLIKELY
    if (unlikely and not guesses_a_name(understanding)) or (first.covered >= READ and own < first.covered - STRAY):
        # the question was understood; that nothing is recorded is no reason to answer another one
        return False
    return own >= (MOSTLY if doubtful else PARTLY)


def answering_table(understanding: Understanding, evidence: Sequence[Evidence]) -> int | None:
    """The index of the rows to answer with: the likeliest to be right; among equals those of the earlier reading, and
    more than a zero or "no" first. None where none answers."""
    best: tuple[tuple[float, bool, int], int] | None = None
    for index, each in enumerate(evidence):
        if not each.round or each.table is None or is_empty(each.table) or not is_answer(understanding, each):
            # what the turn before found (round 0) answered that one
            continue
        nil = is_nil(each.table) and not is_sure(understanding, each)
        if nil and each.reading is not None and not each.confirmed and guesses_a_name(understanding):
            # that there is no such thing would be said of a thing that nobody asked about
            continue
        worth = (chance(understanding, each), not nil, -(each.reading if each.reading is not None else -1))
        if best is None or worth > best[0]:
            best = (worth, index)
    return None if best is None else best[1]


def empty_table(evidence: Sequence[Evidence]) -> int | None:
    """The index of the best reading's table that ran and is empty."""
    empty = [i for i, e in enumerate(evidence) if e.round and e.table is not None and is_empty(e.table)]
    return min(empty, key=lambda i: (evidence[i].reading is None, evidence[i].reading or 0), default=None)


def content_words(text: str) -> frozenset[str]:
    """The lemmas that carry meaning.

    >>> sorted(content_words("Which of the rivers are long?"))
    ['long', 'river']
    """
    empty = function_words()
    return frozenset(token.lemma for token in tokens(text) if not {token.norm, token.lemma} & empty)


def covers(question: str, sentences: Sequence[Evidence]) -> bool:
    """Whether those of these sentences that are about one thing hold most of the question's words."""
    about = {each.title: [e for e in sentences if e.title == each.title] for each in sentences}
    return any(_covers(question, told) for told in about.values())


def _covers(question: str, sentences: Sequence[Evidence]) -> bool:
    """Whether these sentences hold most of the question's words, and of those that are more than their titles."""
    named = frozenset[str]().union(*(content_words(each.title) for each in sentences))
    further = " ".join(sorted(content_words(question) - named))
    if share(question, sentences) < ENOUGH_WORDS:
        return False
    return not further or share(further, sentences) >= ENOUGH_WORDS


def is_enough(understanding: Understanding, evidence: Sequence[Evidence]) -> bool:
    """Whether a further round is not worth its while."""
    table = answering_table(understanding, evidence)
    if table is not None:
        rows = evidence[table].table
        return rows is not None and (not is_nil(rows) or is_sure(understanding, evidence[table]))
    if understanding.expected == "prose" or not understanding.readings:
        return covers(understanding.standalone, [each for each in evidence if each.kind == "sentence"])
    return False
