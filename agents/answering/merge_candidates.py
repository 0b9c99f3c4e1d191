"""Merge the rows of readings with those of a model: BranchResult + QueryAttempts -> BranchResult with probabilities."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from agents.answering.disputes import has_same_columns, is_same_result
from agents.answering.selection.rows import is_empty, row_probability
from agents.models.priors import Outcome, Priors, after_agreement, after_dispute
from agents.query_writing.doubts import FORMS, is_of_kind
from agents.query_writing.write_queries import QueryAttempts
from agents.turn_view import TurnView
from nacre.language.detect_language import ENGLISH
from nacre.records.evidence import BranchResult, Rows
from nacre.records.turn import Understanding

# a reading at least this likely with other rows disputes a query (given)
LIKELY = 0.3
# candidates whose probabilities differ by less are equally sure (given)
MARGIN = 0.15


def merge_candidates(view: TurnView, drafted: BranchResult, writing: QueryAttempts, priors: Priors) -> BranchResult:
    """The rows of the rules and of the model, each with its probability; all queries that were tried."""
    own = [each for part in writing.ran for each in part.rows]
    queries = (*drafted.queries, *writing.tried)
    error = next((part.error for part in reversed(writing.ran) if part.error), None) or drafted.error
    if not own:
        return replace(drafted, queries=queries, error=None if drafted.evidence else error, missing=writing.missing,
                       wants=writing.wants, outcome="empty" if writing.tried else "",
                       standalone=writing.standalone)  # fmt: skip
    outcome = _outcome(view.understanding, drafted, own, writing)
    agreeing = [each for each in drafted.rows if outcome == "agreed" and _are_same(each, own[0])]
    others = agreeing or (non_empty_rows(drafted.rows) if outcome == "disputed" else [])
    reading = max((row_probability(view.understanding, each) for each in others), default=None)
    sure = priors.after(outcome, reading)
    own = [replace(each, probability=sure) for each in own]
    alike = [each for each in agreeing if _have_single_column(each, own[0])]
    if alike:
        # rows of a plan can be worded and traced better than those of a bare query
        words, meaning = own[0].words, own[0].meaning
        own = [replace(each, probability=sure, confirmed=True, meaning=meaning) for each in alike]
        if view.language != ENGLISH:
            # a model that words them needs its own words, not the plan in English
            own = [replace(each, words=words or each.words) for each in own]
    rest = [each for each in drafted.evidence if each not in agreeing]
    if outcome == "disputed":
        rest = [
            _disputed_by_query(each, view.understanding, priors) if isinstance(each, Rows) else each for each in rest
        ]
    return BranchResult(
        drafted.branch,
        (*own, *rest),
        queries,
        by="model",
        wants=writing.wants,
        missing=writing.missing,
        outcome=outcome,
        standalone=writing.standalone,
    )


def merge_rewording(understanding: Understanding, drafted: BranchResult, rows: Rows, priors: Priors) -> BranchResult:
    """The rows for the question and those for a model's rewording of it, with probabilities, the likeliest first.

    If the likeliest rows of the question are the same, they confirm each other, else they dispute each other. Rows with
    as many columns as the rewording asks for come first. One parser reads both, so two wrong readings agree as easily
    as two right ones.
    """
    own = (priors.faithful or 0.0) * (rows.probability or 0.0)
    drafts = sorted(non_empty_rows(drafted.rows), key=lambda each: -row_probability(understanding, each))
    agreeing = [each for each in drafts if has_same_columns(each.table, rows.table)]
    confirmed_rows = [replace(each, confirmed=True) for each in agreeing] or [rows]
    others = [each for each in drafts if each not in agreeing]
    rival = row_probability(understanding, drafts[0]) if drafts else 0.0
    if drafts and _are_same(drafts[0], rows):
        probability = max(rival, min(after_agreement(own, rival), understanding.most))
    else:
        probability = after_dispute(max([own, *(row_probability(understanding, each) for each in agreeing)]), rival)
        others = [
            replace(each, probability=after_dispute(row_probability(understanding, each), own)) for each in others
        ]
    confirmed_rows = [replace(each, probability=probability) for each in confirmed_rows]
    ranked = sorted([*confirmed_rows, *others], key=lambda each: -row_probability(understanding, each))
    rest = [each for each in drafted.evidence if each not in drafts]
    return replace(drafted, evidence=(*ranked, *rest), error=None)


def _disputed_by_query(rows: Rows, understanding: Understanding, priors: Priors) -> Rows:
    return replace(rows, probability=priors.against(row_probability(understanding, rows)))


def _outcome(
    understanding: Understanding, drafted: BranchResult, own: Sequence[Rows], writing: QueryAttempts
) -> Outcome:
    if is_empty(own[0].table):
        return "empty"
    if writing.wants == "prose":
        return "alone"
    if any(_are_same(each, own[0]) for each in drafted.rows):
        return "agreed"
    if writing.doubted:
        return "doubted"
    likely = [
        each
        for each in non_empty_rows(drafted.rows)
        if row_probability(understanding, each) >= LIKELY
        and (writing.wants not in FORMS or is_of_kind(writing.wants, each.table))
    ]
    return "disputed" if likely else "alone"


def is_undecided(understanding: Understanding, found: BranchResult) -> bool:
    """Whether rows of the model and of a reading differ, and neither is clearly likelier."""
    if found.wants == "prose" or not all(_candidates(found)):
        return False
    own, reading = (row_probability(understanding, each) for each in rival_rows(understanding, found))
    return abs(own - reading) < MARGIN


def rival_rows(understanding: Understanding, found: BranchResult) -> tuple[Rows, Rows]:
    """The likeliest rows of the model and of a reading."""
    own, readings = _candidates(found)

    def likely(rows: Rows) -> float:
        return row_probability(understanding, rows)

    return max(own, key=likely), max(readings, key=likely)


def _candidates(found: BranchResult) -> tuple[list[Rows], list[Rows]]:
    """The rows of the model and those of readings."""
    rows = non_empty_rows(found.rows)
    return [each for each in rows if each.reading is None], [each for each in rows if each.reading is not None]


def merge_choice(found: BranchResult, chosen: Rows, priors: Priors) -> BranchResult:
    """The rows that a model chose after it saw both candidates count as agreed, the others as disputed by them."""
    evidence = tuple(
        each
        if not isinstance(each, Rows) or is_empty(each.table)
        else replace(each, probability=priors.after("agreed"), confirmed=True)
        if _are_same(each, chosen)
        else replace(each, probability=after_dispute(each.probability or 0.0, priors.after("agreed")))
        for each in found.evidence
    )
    return replace(found, evidence=evidence)


def merge_second_query(found: BranchResult, second: QueryAttempts, priors: Priors) -> BranchResult:
    """The rows that a second, independent query gives as well count as agreed."""
    rows = next((each for part in second.ran for each in non_empty_rows(part.rows)), None)
    queries = (*found.queries, *second.tried)
    if rows is None:
        return replace(found, queries=queries)
    return replace(
        found,
        queries=queries,
        evidence=tuple(
            replace(each, probability=priors.after("agreed"), confirmed=True)
            if isinstance(each, Rows) and _are_same(each, rows)
            else each
            for each in found.evidence
        ),
    )


def _are_same(one: Rows, other: Rows) -> bool:
    return len(non_empty_rows([one, other])) == 2 and is_same_result(one.table, other.table)


def _have_single_column(one: Rows, other: Rows) -> bool:
    """Whether both have a single column, so that neither shows more than was asked for."""
    return len(one.table.columns) == len(other.table.columns) == 1


def non_empty_rows(rows: Iterable[Rows]) -> list[Rows]:
    """The rows that are not empty."""
    return [each for each in rows if not is_empty(each.table)]
