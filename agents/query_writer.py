"""Find the rows that answer: TurnView + Database -> BranchResult, by readings of the rules or queries of a model."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import reduce
from typing import Literal

from langchain_core.language_models import BaseChatModel

from agents.answering.calibrate_rows import calibrate_rows
from agents.answering.merge_candidates import (
    is_undecided,
    merge_candidates,
    merge_choice,
    merge_rewording,
    merge_second_query,
    non_empty_rows,
    rival_rows,
)
from agents.answering.selection.rows import row_probability
from agents.answering.selection.select_answer import DECLINED
from agents.database import Database
from agents.models.limits import Limits
from agents.models.priors import Priors
from agents.query_writing.rewording import reword_question
from agents.query_writing.second_opinion import choose_candidate
from agents.query_writing.verified_rows import verified_rows
from agents.query_writing.write_queries import write_queries
from agents.result import Result
from agents.turn_view import TurnView
from nacre.records.evidence import BranchResult, Evidence, QueryError, Rows
from nacre.records.schema import Schema
from nacre.records.turn import Understanding
from nacre.understanding.ranking.weights import load_weights

MODEL_VISITS = 1

Lead = Literal["auto", "model", "rules"]
QueryWriter = Callable[[TurnView, Database], Awaitable[Result[BranchResult]]]


async def by_rules(view: TurnView, database: Database) -> Result[BranchResult]:
    """The rows of the best readings, each with its probability, the likeliest first."""
    readings, branch = view.understanding.readings[: database.most], database.language
    if may_run_readings(view.of(branch)) and (verified := await verified_rows(view, database)) is not None:
        return Result(verified)
    if not readings or not may_run_readings(view.of(branch)):
        why = "it can't be read as a query" if not readings else "no other way to read it"
        return Result(BranchResult(branch, error=QueryError("empty", f"The question gives no query: {why}.")))
    results = await database.read(readings, view.rewrite.gloss)
    if view.rewrite.chosen is not None and view.rewrite.chosen.plan == readings[0].plan:
        # the user chose this reading
        return Result(reduce(_joined_with, map(_with_certainty, results)))
    merged = reduce(_joined_with, calibrate_rows(view.understanding, results))
    order = sorted(merged.evidence, key=lambda each: -_probability(view.understanding, each))
    return Result(replace(merged, evidence=tuple(order)))


def _with_certainty(found: BranchResult) -> BranchResult:
    sure = (replace(each, probability=1.0) if isinstance(each, Rows) else each for each in found.evidence)
    return replace(found, evidence=tuple(sure))


def _probability(understanding: Understanding, evidence: Evidence) -> float:
    """The probability that rows answer the question; sentences come after them."""
    return row_probability(understanding, evidence) if isinstance(evidence, Rows) else 0.0


def may_run_readings(earlier: Sequence[BranchResult]) -> bool:
    """Whether readings are to be run: in the first round, and again if the store failed."""
    return all(found.error is not None and found.error.kind == "unavailable" for found in earlier)


def by_model(
    model: BaseChatModel, rules: QueryWriter, limits: Limits, priors: Priors, lead: Lead = "auto"
) -> QueryWriter:
    """The rows of the model's queries and of the rules' readings, each with its probability.

    A reading answers without a model call only if it is at least as likely to be right as the model. With the lead
    `rules` it does whenever it gave rows, with `model` never.
    """

    async def query_writer(view: TurnView, database: Database) -> Result[BranchResult]:
        drafted = await rules(view, database)
        asks_nothing = view.rewrite.aside or bool(view.understanding.orientation)
        is_chosen = view.rewrite.chosen is not None or any(each.verified for each in drafted.value.rows)
        if len(view.of(database.language)) >= MODEL_VISITS or is_chosen or asks_nothing:
            # a person chose or confirmed what is asked, or the question asks nothing of the data
            return drafted
        result = drafted.value
        if priors.size == "small" and lead == "auto" and view.understanding.expected == "prose":
            # a small model does not report that rows are for a description, and the rules word one
            return Result(result)
        rows = non_empty_rows(result.rows)
        if priors.size != "small" and lead == "auto":
            # a reading that leaves words out can't replace a larger model
            rows = [each for each in rows if not view.understanding.readings[each.reading or 0].unused]
        best = max((row_probability(view.understanding, each) for each in rows), default=0.0)
        # no probability was measured of descriptions, follow-ups that the rules doubt, and graphs of other shapes
        is_followed = bool(view.conversation) and not view.rewrite.sure
        is_doubtful = priors.size == "large" and (is_followed or not has_measured_shape(database.schema))
        is_measured = (view.understanding.expected != "prose" and not is_doubtful) or lead == "rules"
        if lead != "model" and is_measured and best >= (_probability_bar(priors) if lead == "auto" else 0.01):
            return Result(result)
        bounds = limits.until(view.deadline, view.version)
        reworded = Result(result)
        if priors.faithful is not None and lead == "auto" and best >= DECLINED and not view.rewrite.depends:
            reworded = await _with_rewording(model, view, database, result, bounds, priors)
            sure = max(row_probability(view.understanding, each) for each in non_empty_rows(reworded.value.rows))
            if reworded.by != "rules" and (reworded.by != "model" or sure >= _probability_bar(priors)):
                return reworded
        # the query is written without the rewording, so that their agreement means something
        writing = await write_queries(model, view, database, result, bounds, priors)
        result = merge_candidates(view, reworded.value, writing, priors)
        usage = reworded.usage + writing.usage
        if not writing.failed and is_undecided(view.understanding, result):
            decided = await _with_second_opinion(model, view, database, result, bounds, priors)
            result, usage = decided.value, usage + decided.usage
        return Result(result, f"rules after model: {writing.failed}" if writing.failed else "model", usage)

    return query_writer


def has_measured_shape(schema: Schema) -> bool:
    """Whether each thing has one class and no class has subclasses, as in the databases that the probabilities of
    readings were learned on."""
    return not any(each.parents for each in schema.shown_classes) and all(len(g.classes) <= 1 for g in schema.groups)


async def _with_rewording(
    model: BaseChatModel, view: TurnView, database: Database, result: BranchResult, limits: Limits, priors: Priors
) -> Result[BranchResult]:
    """The result merged with what the rules find for the model's rewording of the question; by "rules" if that is
    nothing."""
    rewording = await reword_question(model, view, database, limits)
    result = replace(result, queries=(*result.queries, *rewording.queries))
    if rewording.failed:
        return Result(result, f"rules after model: {rewording.failed}", rewording.usage)
    if rewording.rows is None:
        return Result(result, usage=rewording.usage)
    return Result(merge_rewording(view.understanding, result, rewording.rows, priors), "model", rewording.usage)


async def _with_second_opinion(
    model: BaseChatModel, view: TurnView, database: Database, result: BranchResult, limits: Limits, priors: Priors
) -> Result[BranchResult]:
    """The result after a second opinion on two candidates with different rows: a model sees both and chooses. A small
    model writes another query instead, without suggestions."""
    if priors.size == "small":
        alone = replace(view, understanding=Understanding(view.standalone))
        second = await write_queries(model, alone, database, None, replace(limits, exchanges=1), priors)
        return Result(merge_second_query(result, second, priors), "model", second.usage)
    own, reading = rival_rows(view.understanding, result)
    chosen = await choose_candidate(model, result.standalone or view.standalone, own, reading, limits)
    if chosen.value is None:
        return Result(result, chosen.by, chosen.usage)
    return Result(merge_choice(result, chosen.value, priors), "model", chosen.usage)


def _probability_bar(priors: Priors) -> float:
    """Minimum probability for a reading to answer without a model call: that of the model, and at least the threshold
    of sure rows. Beside a larger model it is the highest calibrated level, since agreement would raise a lower one."""
    learned = load_weights()
    highest = max((threshold for _, threshold, *_ in learned.levels), default=learned.threshold)
    return max(priors.before, learned.threshold if priors.size == "small" else highest)


def _joined_with(first: BranchResult, other: BranchResult) -> BranchResult:
    evidence = first.evidence + other.evidence
    return replace(
        first, evidence=evidence, queries=first.queries + other.queries, error=None if evidence else first.error
    )
