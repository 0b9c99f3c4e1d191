"""The rows and sentences of a turn that may answer, and how likely rows are: Understanding + evidence -> rows."""

from collections.abc import Sequence

from nacre.records.evidence import Evidence, EvidenceSentence, Rows, Table
from nacre.records.plan import Plan
from nacre.records.turn import Reading, Understanding
from nacre.understanding.ranking.weights import load_weights

# subtracted from the threshold of sure rows for a confidence just below it
UNSURE = 0.01


def is_empty(table: Table) -> bool:
    """No row, or no value in any row (as of a maximum over nothing).

    >>> is_empty(Table(("max",), ((None,),))), is_empty(Table(("count",), ((0,),)))
    (True, False)
    """
    return all(cell is None for row in table.rows for cell in row)


def is_nil(table: Table) -> bool:
    """A single zero or "no": an answer that a wrong reading gives as easily."""
    return len(table.rows) == 1 and len(table.rows[0]) == 1 and table.rows[0][0] in (0, False)


def row_probability(understanding: Understanding, rows: Rows) -> float:
    """The probability that rows answer the question: as calibrated after they were found, else that of their
    reading."""
    if rows.probability is not None:
        return rows.probability
    if rows.reading is None:
        return 0.0
    return understanding.readings[rows.reading].probability or 0.0


def is_sure(understanding: Understanding, rows: Rows) -> bool:
    """Whether rows are likely enough to be given as the answer."""
    return row_probability(understanding, rows) >= load_weights().threshold


def candidate_rows(evidence: Sequence[Evidence]) -> list[tuple[int, Rows]]:
    """The rows of this turn that may answer, with their indexes."""
    return [
        (i, each) for i, each in enumerate(evidence) if isinstance(each, Rows) and each.round and not is_basis(each)
    ]


def is_basis(evidence: Evidence) -> bool:
    """Whether evidence only says which thing the question describes."""
    return evidence.joined is not None and evidence.joined.basis


def indexed_sentences(evidence: Sequence[Evidence]) -> list[tuple[int, EvidenceSentence]]:
    """All sentences, with their indexes."""
    return [(i, each) for i, each in enumerate(evidence) if isinstance(each, EvidenceSentence)]


def unplanned_rows(evidence: Sequence[Evidence]) -> list[tuple[int, Rows]]:
    """The rows of this turn that no reading gave, with their indexes: those of a model's queries, and comparisons."""
    return [(i, each) for i, each in candidate_rows(evidence) if each.reading is None and each.joined is None]


def plan_of(understanding: Understanding, evidence: Evidence) -> Plan | None:
    """The plan that gave the rows; None for a query that a model wrote, and for a sentence."""
    if isinstance(evidence, EvidenceSentence) or evidence.reading is None:
        return None if isinstance(evidence, EvidenceSentence) else evidence.plan
    return understanding.readings[evidence.reading].plan


def sole_reading(understanding: Understanding, rows: Rows) -> Reading | None:
    """The reading that rows rest on alone; None for rows of a model's query, and for rows that were also found in
    another way."""
    return None if rows.reading is None or rows.confirmed else understanding.readings[rows.reading]


def empty_table(understanding: Understanding, evidence: Sequence[Evidence]) -> tuple[int, Rows] | None:
    """The likeliest empty rows, and their index."""
    empty = [(i, each) for i, each in candidate_rows(evidence) if is_empty(each.table)]
    return max(empty, key=lambda found: (row_probability(understanding, found[1]), -found[0]), default=None)
