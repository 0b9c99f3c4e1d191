"""Which evidence answers: the rows that are likeliest to be right, else sentences, else nothing."""

from collections.abc import Sequence

from agents.answering.disputes import is_same_result
from agents.answering.selection.refused_rows import (
    EXACT_SCORE,
    gives_opposite,
    is_refused,
    is_trivial,
    unstated_rows,
)
from agents.answering.selection.rows import candidate_rows, indexed_sentences, is_empty, row_probability, sole_reading
from agents.answering.selection.word_cover import is_covered_by
from nacre.plans.inspect_select import asked_select, predicates_of
from nacre.plans.missing_values import is_unknown_truth
from nacre.records.evidence import Evidence, Rows, Table
from nacre.records.plan import Plan
from nacre.records.turn import Understanding
from nacre.understanding.ranking.calibrate import shown_columns
from nacre.understanding.ranking.weights import load_weights

# rows that are less likely are right once in ten (measured out of fold): they are not given as an answer
DECLINED = 0.1
# the likeness to the question that a property must have to answer it if words are left out (given)
LEAST_LIKENESS = 0.12


def select_answer_rows(understanding: Understanding, evidence: Sequence[Evidence]) -> tuple[int, Rows] | None:
    """The rows to answer with, and their index: the likeliest, among equals those of the earlier reading.

    None if no rows have a value, none are likely enough, an empty result is sure, or the graph does not state
    what is asked.
    """
    rows = [(index, each) for index, each in candidate_rows(evidence) if not is_trivial(understanding, each)]
    rows = _without_displaced(understanding, rows)
    likeliest = max(rows, key=lambda found: (row_probability(understanding, found[1]), -found[0]), default=None)
    if likeliest is not None and (is_unknown_truth(likeliest[1].table) or gives_opposite(understanding, likeliest[1])):
        return None
    if likeliest is not None and is_refused(understanding, likeliest[1]):
        # less likely rows are no better, but other readings may give the same rows and leave no word out
        smallest = min(load_weights().refused, row_probability(understanding, likeliest[1]))
        rows = [each for each in rows if row_probability(understanding, each[1]) >= smallest]
    rows = [each for each in rows if not is_refused(understanding, each[1])]
    if unstated_rows(understanding, evidence) is not None:
        return None
    filled = [(index, each) for index, each in rows if not is_empty(each.table)]
    if any(each.reading == 0 and is_empty(each.table) for _, each in rows):
        # a question about somebody is not answered by a reading that leaves out who, or what
        filled = [(index, each) for index, each in filled if not _leaves_out_name(understanding, each)]
    best = max(filled, key=lambda found: (row_probability(understanding, found[1]), -found[0]), default=None)
    if best is None or row_probability(understanding, best[1]) < DECLINED:
        return None
    empty = max(
        (row_probability(understanding, each) for index, each in rows if (index, each) not in filled), default=0.0
    )
    if empty >= load_weights().threshold and empty > row_probability(understanding, best[1]):
        return None
    return best


def _without_displaced(understanding: Understanding, rows: Sequence[tuple[int, Rows]]) -> list[tuple[int, Rows]]:
    """The rows without those that leave words out and are not near to the question, as far as likeness was compared:
    rows of a property of the named thing that is not like the question, and, if a near property of the thing was looked
    up, other rows of readings that reach over links."""
    near = next(
        (each for _, each in rows if each.reading is not None and understanding.readings[each.reading].near), None
    )
    displaces_links = near is not None and not _names_property(understanding)

    def is_displaced(each: Rows) -> bool:
        reading = sole_reading(understanding, each)
        if reading is None or not reading.unused:
            return False
        if reading.own:
            return reading.likeness is not None and reading.likeness < LEAST_LIKENESS
        return near is not None and displaces_links and not is_same_result(each.table, near.table)

    return [found for found in rows if not is_displaced(found[1])]


def _names_property(understanding: Understanding) -> bool:
    """Whether a question names a property or class exactly."""
    return any(each.kind in ("predicate", "class") and each.score >= EXACT_SCORE for each in understanding.mentions)


def _leaves_out_name(understanding: Understanding, rows: Rows) -> bool:
    """Whether the reading of rows leaves out a name of the question, or a property that the first reading uses. Rows of
    a model's query never do."""
    reading = sole_reading(understanding, rows)
    if reading is None:
        return False
    first = understanding.readings[0]
    if (reading.lost and not first.lost) or _has_empty_column(rows.table):
        return True
    if _lacks_named_property(understanding, reading.plan, first.plan):
        return True
    names = {word for m in understanding.mentions if m.kind in ("entity", "value") for word in m.text.split()}
    return not (names | _values(first.plan)).isdisjoint(reading.unused)


def _values(plan: Plan) -> set[str]:
    """The words of the texts that properties must equal in a plan, as the question has them."""
    select = asked_select(plan.body)
    filters = select.filters if select is not None else ()
    return {word for each in filters if isinstance(each.right, str) and each.op == "=" for word in each.right.split()}


def _has_empty_column(table: Table) -> bool:
    """Whether a column that is shown has no value in any row."""
    return any(all(row[i] is None for row in table.rows) for i in shown_columns(table))


def _lacks_named_property(understanding: Understanding, plan: Plan, first: Plan) -> bool:
    """Whether a plan lacks a property or link that the question names exactly and the first plan uses."""
    own_select, first_select = asked_select(plan.body), asked_select(first.body)
    if own_select is None or first_select is None:
        return False
    own, used = predicates_of(own_select), predicates_of(first_select)
    spans: dict[tuple[int, int], set[str]] = {}
    for each in (*understanding.mentions, *understanding.candidates):
        spans.setdefault((each.start, each.end), set()).add(each.target)
    return any(
        meant & used and not meant & own
        for mention in understanding.mentions
        if mention.kind == "predicate" and mention.score >= EXACT_SCORE and (meant := spans[mention.start, mention.end])
    )


def is_enough(understanding: Understanding, evidence: Sequence[Evidence]) -> bool:
    """Whether no further round is needed."""
    if select_answer_rows(understanding, evidence) is not None:
        return True
    if understanding.expected == "prose" or not understanding.readings:
        return is_covered_by(understanding.standalone, [each for _, each in indexed_sentences(evidence)])
    return False
