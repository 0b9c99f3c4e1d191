"""Rows of the readings beside rows of a model, each with its chance: BranchResult + QueryAttempts -> BranchResult."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from agents.answering.disputes import is_same_result
from agents.answering.select_answer import is_empty, row_probability
from agents.models.priors import Outcome, Priors, after_agreement, after_dispute
from agents.query_writing.write_queries import QueryAttempts
from agents.turn_view import TurnView
from nacre.language.detect_language import ENGLISH
from nacre.records.evidence import BranchResult, Rows
from nacre.records.turn import Understanding

# a reading this likely, whose rows are others, disputes a query (given)
LIKELY = 0.3
# candidates nearer than this are as sure as each other (given)
MARGIN = 0.15


def merge_candidates(view: TurnView, drafted: BranchResult, writing: QueryAttempts, priors: Priors) -> BranchResult:
    """The rules' rows and the model's, each with its chance; all queries that were tried."""
    own = [each for part in writing.ran for each in part.rows]
    queries = (*drafted.queries, *writing.tried)
    error = next((part.error for part in reversed(writing.ran) if part.error), None) or drafted.error
    if not own:
        return replace(drafted, queries=queries, error=None if drafted.evidence else error, missing=writing.missing,
                       wants=writing.wants, outcome="empty" if writing.tried else "")  # fmt: skip
    outcome = _outcome(view.understanding, drafted, own, writing)
    agreeing = [each for each in drafted.rows if outcome == "agreed" and _agree(each, own[0])]
    beside = agreeing or (non_empty_rows(drafted.rows) if outcome == "disputed" else [])
    reading = max((row_probability(view.understanding, each) for each in beside), default=None)
    sure = priors.after(outcome, reading)
    own = [replace(each, probability=sure) for each in own]
    alike = [each for each in agreeing if _alike(each, own[0])]
    if alike:
        # rows of a plan are worded and traced better than those of a bare query
        words = own[0].words
        own = [replace(each, probability=sure, confirmed=True) for each in alike]
        if view.language != ENGLISH:
            # a model that words them reads what its own query gives, not the plan in English
            own = [replace(each, words=words or each.words) for each in own]
    rest = [each for each in drafted.evidence if each not in agreeing]
    if outcome == "disputed":
        rest = [_against(each, view.understanding, priors) if isinstance(each, Rows) else each for each in rest]
    return BranchResult(drafted.branch, (*own, *rest), queries, by="model", wants=writing.wants, missing=writing.missing,
                 outcome=outcome)  # fmt: skip


def merge_rewording(understanding: Understanding, drafted: BranchResult, rows: Rows, priors: Priors) -> BranchResult:
    """The rules' rows beside those that they read in a model's words, each with its chance, the likeliest first.

    Where the likeliest rows of the question itself say the same, both count for it; else they speak against each
    other. What shows as much as the rewording asks for goes first. One parser read both, so that two that are wrong
    give the same as easily as two that are right.
    """
    own = (priors.faithful or 0.0) * (rows.probability or 0.0)
    drafts = sorted(non_empty_rows(drafted.rows), key=lambda each: -row_probability(understanding, each))
    agreeing = [each for each in drafts if _is_same(each, rows)]
    said = [replace(each, confirmed=True) for each in agreeing] or [rows]
    others = [each for each in drafts if each not in agreeing]
    rival = row_probability(understanding, drafts[0]) if drafts else 0.0
    if drafts and _agree(drafts[0], rows):
        sure = max(rival, min(after_agreement(own, rival), understanding.most))
    else:
        sure = after_dispute(max([own, *(row_probability(understanding, each) for each in agreeing)]), rival)
        others = [
            replace(each, probability=after_dispute(row_probability(understanding, each), own)) for each in others
        ]
    said = [replace(each, probability=sure) for each in said]
    ranked = sorted([*said, *others], key=lambda each: -row_probability(understanding, each))
    rest = [each for each in drafted.evidence if each not in drafts]
    return replace(drafted, evidence=(*ranked, *rest), error=None)


def _is_same(one: Rows, other: Rows) -> bool:
    """Whether rows are the same answer, neither with more than the other."""
    return len(one.table.columns) == len(other.table.columns) and _agree(one, other)


def _against(rows: Rows, understanding: Understanding, priors: Priors) -> Rows:
    return replace(rows, probability=priors.against(row_probability(understanding, rows)))


def _outcome(
    understanding: Understanding, drafted: BranchResult, own: Sequence[Rows], writing: QueryAttempts
) -> Outcome:
    if is_empty(own[0].table):
        return "empty"
    if writing.wants == "prose":
        return "alone"
    if any(_agree(each, own[0]) for each in drafted.rows):
        return "agreed"
    if writing.doubted:
        return "doubted"
    likely = [each for each in non_empty_rows(drafted.rows) if row_probability(understanding, each) >= LIKELY]
    return "disputed" if likely else "alone"


def is_undecided(understanding: Understanding, found: BranchResult) -> bool:
    """Whether rows of the model and of a reading differ, and neither is surer."""
    if found.wants == "prose":
        return False
    rows = non_empty_rows(found.rows)
    own = [row_probability(understanding, each) for each in rows if each.reading is None]
    theirs = [row_probability(understanding, each) for each in rows if each.reading is not None]
    return bool(own and theirs) and abs(max(own) - max(theirs)) < MARGIN


def merge_second_query(found: BranchResult, second: QueryAttempts, priors: Priors) -> BranchResult:
    """What a second, independent query agrees with counts as agreed."""
    rows = next((each for part in second.ran for each in non_empty_rows(part.rows)), None)
    queries = (*found.queries, *second.tried)
    if rows is None:
        return replace(found, queries=queries)
    return replace(
        found,
        queries=queries,
        evidence=tuple(
            replace(each, probability=priors.after("agreed"), confirmed=True)
            if isinstance(each, Rows) and _agree(each, rows)
            else each
            for each in found.evidence
        ),
    )


def _agree(one: Rows, other: Rows) -> bool:
    return len(non_empty_rows([one, other])) == 2 and is_same_result(one.table, other.table)


def _alike(one: Rows, other: Rows) -> bool:
    """Whether both show a single column, so that neither shows more than was asked for."""
    return len(one.table.columns) == len(other.table.columns) == 1


def non_empty_rows(rows: Iterable[Rows]) -> list[Rows]:
    """Those with something in them."""
    return [each for each in rows if not is_empty(each.table)]
