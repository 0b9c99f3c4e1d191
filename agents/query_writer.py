"""Find the rows that answer: TurnView + Database -> BranchResult, by a verified question or readings of the rules."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import reduce
from math import floor
from typing import Literal

from agents.answering.select_answer import calibrate_rows, is_empty, row_probability
from agents.turn_view import Database, Result, TurnView
from nacre.records.evidence import BranchResult, QueryError, Rows
from nacre.records.plan import AGGREGATES, Aggregate, Select, aggregated_value
from nacre.records.schema import Schema
from nacre.records.turn import MAX_PROBABILITY, Reading
from nacre.understanding.understand import MAX_GUESS_PROBABILITY

MODEL_VISITS = 1

# "alone" is for measuring a model: it leads and is shown no reading
Lead = Literal["auto", "model", "rules", "alone"]

QueryWriter = Callable[[TurnView, Database], Awaitable[Result[BranchResult]]]


async def by_rules(view: TurnView, database: Database) -> Result[BranchResult]:
    """The rows of the best readings, each with its probability, the likeliest first."""
    readings, branch = view.understanding.readings[: database.most], database.language
    if may_run_readings(view.of(branch)) and (verified := await verified_rows(view, database)) is not None:
        return Result(verified)
    if not readings or not may_run_readings(view.of(branch)):
        why = "it can't be read as a query" if not readings else "no other way to read it"
        return Result(BranchResult(branch, error=QueryError("empty", f"The question gives no query: {why}.")))
    ran = results = await database.read(readings, view.names)
    if view.rewrite.display == "shares":
        results = [_with_shares(*each, database.schema) for each in zip(ran, readings, strict=True)]
    if view.rewrite.chosen is not None and view.rewrite.chosen.plan == readings[0].plan:
        # the user chose this reading, or it changes the plan of an answer that may not have been sure
        scope = view.rewrite.scope
        certainty = scope.confidence if scope is not None else 1.0
        return Result(reduce(_joined_with, (_with_certainty(each, certainty) for each in results)))
    merged = reduce(_joined_with, calibrate_rows(view.understanding, results))
    if view.rewrite.display == "shares" and results[0] == ran[0]:
        # the best rows have no shares, which are asked for
        merged = _with_certainty(merged, MAX_GUESS_PROBABILITY)
    # sentences come after rows
    order = sorted(
        merged.evidence, key=lambda each: -row_probability(view.understanding, each) if isinstance(each, Rows) else 0.0
    )
    return Result(replace(merged, evidence=tuple(order)))


def _with_certainty(found: BranchResult, certainty: float) -> BranchResult:
    sure = (replace(each, probability=certainty) if isinstance(each, Rows) else each for each in found.evidence)
    return replace(found, evidence=tuple(sure))


def _with_shares(found: BranchResult, reading: Reading, schema: Schema) -> BranchResult:
    """Counts or totals of groups with the percentage of each in their sum as the last column; the rounded ones sum to
    100. Rows of other plans, and of groups that may have things in common, stay as they are."""
    body = reading.plan.body
    if not isinstance(body, Select) or body.limit or not (body.by or body.edges):
        return found
    numbers = [each for each in body.answers if isinstance(each, Aggregate)]
    is_sum = [AGGREGATES[each.function].kind in ("count", "total") for each in numbers] == [True]
    owners = {edge.subject for edge in body.edges} | {each.variable for each in body.by}
    parts = {*(edge.predicate for edge in body.edges), *(each.predicate for each in body.by)}
    is_split = all(schema.predicate_of[iri].functional for iri in parts)
    if not is_sum or not is_split or owners != {aggregated_value(numbers[0]).variable}:
        return found

    def shared(rows: Rows) -> Rows:
        table = rows.table
        at = body.answers.index(numbers[0]) if len(body.answers) == len(table.columns) else -1
        values = [float(row[at] or 0) for row in table.rows]
        if table.truncated or len(values) < 2 or min(values) < 0 or not sum(values):
            return rows
        tenths = [1000 * value / sum(values) for value in values]
        # the largest remainders are rounded up
        order = sorted(range(len(tenths)), key=lambda i: floor(tenths[i]) - tenths[i])
        up = set(order[: round(1000 - sum(map(floor, tenths)))])
        cells = tuple((*row, (floor(tenths[i]) + (i in up)) / 10) for i, row in enumerate(table.rows))
        units = (*(table.units or ("",) * len(table.columns)), "%")
        return replace(rows, table=replace(table, columns=(*table.columns, "share"), rows=cells, units=units))

    return replace(found, evidence=tuple(shared(e) if isinstance(e, Rows) else e for e in found.evidence))


def may_run_readings(earlier: Sequence[BranchResult]) -> bool:
    """Whether readings are to be run: in the first round, and again if the store failed."""
    return all(found.error is not None and found.error.kind == "unavailable" for found in earlier)


def _joined_with(first: BranchResult, other: BranchResult) -> BranchResult:
    evidence = first.evidence + other.evidence
    return replace(
        first, evidence=evidence, queries=first.queries + other.queries, error=None if evidence else first.error
    )


async def verified_rows(view: TurnView, database: Database) -> BranchResult | None:
    """The rows of the verified question that the question is, or of its query with another name; None without rows:
    then it is answered as any other. A query that a person wrote runs behind the guard, as those of models do."""
    match = view.understanding.verified
    if match is None or (match.tool and match.tool != database.language):
        return None
    if match.tool:
        found = await database.query(match.text, None, view.names)
    else:
        [found, *_] = await database.read(view.understanding.readings[:1], view.names)
    if found.error is not None or not found.rows or all(is_empty(each.table) for each in found.rows):
        return None
    chance = MAX_PROBABILITY if match.is_like else 1.0
    certain = tuple(replace(e, probability=chance, verified=match.id) if e in found.rows else e for e in found.evidence)
    return replace(found, evidence=certain)
