"""Run SPARQL that a model wrote: text -> BranchResult of the guarded query, with labels for things."""

import re
import time
from dataclasses import replace
from typing import Any

from nacre.errors import ToolError
from nacre.extensions.foreign_queries.sparql_guard import (
    GuardedQuery,
    InspectQuery,
    guard_sparql,
    inspect_query,
    nearest_iri,
)
from nacre.plans.sparql_engine import LabelLookup, last_segment
from nacre.plans.sparql_vocabulary import Prefixes, Vocabulary, cell_value, write_out_subclasses
from nacre.records.evidence import BranchResult, Cell, Query, QueryError, Rows, Table
from nacre.records.schema import Schema
from nacre.stores.sparql.sparql_source import SparqlSource, SparqlTerm, seconds_left
from tools.sparql import BRANCH
from tools.sql import failed_query, summarize_rows

_UNKNOWN = re.compile(r"There is no (predicate|class) <([^<>]*)>")


def run_model_sparql(
    text: str,
    source: SparqlSource,
    schema: Schema,
    prefixes: Prefixes,
    labels: LabelLookup,
    *,
    round: int,
    limit: int = 1000,
    seconds: float = 5.0,
    inspect: InspectQuery = inspect_query,
    numbers: frozenset[float] | None = None,
    portable: Vocabulary | None = None,
    is_plain: bool = False,
) -> BranchResult:
    """The rows of a SELECT or ASK that a model wrote, guarded; IRIs in its cells are shown as labels and kept as keys.

    With the vocabulary `portable` of the data as it was read, the result has the query that gives the same there; if
    the source `is_plain`, which has the data as it was read, this one runs.

    Missing prefixes are declared. An unknown class or property is replaced by the nearest one and the query run once
    more; other errors are the message of `error`, for the model. All queries that were tried are in the result.
    `numbers` are as for `run_model_sql`.
    """

    clock = time.monotonic()

    def run(query: str, words: str = "") -> BranchResult:
        started = time.perf_counter()
        try:
            anywhere = write_out_subclasses(query, portable) if portable else ""
            text = anywhere if is_plain else query
            guarded = guard_sparql(text, schema, limit=limit, inspect=inspect, numbers=numbers)
            # parsing, and a query before the repaired one, count too
            table = _table(guarded, source, labels, limit, seconds_left(clock, seconds))
        except ToolError as error:
            took = time.perf_counter() - started
            return failed_query(error, query, words, round=round, seconds=took, by="model", branch=BRANCH)
        took = time.perf_counter() - started
        shown, is_cut = len(table.rows), table.truncated
        counts: dict[str, Any] = {"rows": shown, "truncated": is_cut, "seconds": took}
        executed = Query(BRANCH, round, guarded.text, words, **counts, by="model", portable=anywhere)
        keys = tuple(dict.fromkeys(key for row in table.keys for key in row))
        rows = Rows(BRANCH, round, table, text=summarize_rows(table), query=executed, keys=keys)
        return BranchResult(BRANCH, (rows,), (executed,), by="model")

    declared = prefixes.declare(text)
    first = run(declared)
    if first.error is None or first.error.kind != "unknown_name":
        return first
    repaired, replacement = _with_nearest_name(declared, first.error.message, schema, prefixes)
    if repaired is None:
        return first
    second = run(prefixes.declare(repaired), f"repaired (unknown_name): {replacement}")
    if second.error is not None:
        error = QueryError(second.error.kind, f"{first.error.message} {second.error.message}")
        return replace(second, error=error, queries=(*first.queries, *second.queries))
    return replace(second, queries=(*first.queries, *second.queries))


def _with_nearest_name(query: str, message: str, schema: Schema, prefixes: Prefixes) -> tuple[str | None, str]:
    """The query with the nearest known name instead of the unknown one, and what was replaced."""
    unknown = _UNKNOWN.search(message)
    if unknown is None:
        return None, ""
    kind, wrong = unknown.groups()
    best = nearest_iri(wrong, schema, kind)
    if best is None:
        return None, ""
    replacement = f"{prefixes.short(best)} instead of {prefixes.short(wrong)}"
    for spelt in (f"<{wrong}>", prefixes.short(wrong)):
        pattern = rf"{re.escape(spelt)}(?![\w-])"
        if re.search(pattern, query):
            return re.sub(pattern, lambda _: prefixes.short(best), query), replacement
    return None, ""


def _table(query: GuardedQuery, source: SparqlSource, labels: LabelLookup, limit: int, seconds: float) -> Table:
    if query.form == "CONSTRUCT":
        raise ToolError("refused", "Write a SELECT or an ASK.")
    if query.form == "ASK":
        return Table(("yes",), ((int(source.ask(query.text, seconds=seconds)),),), ((),), ("",))
    solutions = source.select(query.text, limit=limit, seconds=seconds)
    things = {term.value for row in solutions.rows for term in row if term is not None and term.kind == "iri"}
    named = labels(things) if things else {}

    def shown(term: SparqlTerm | None) -> Cell:
        if term is not None and term.kind == "iri":
            return named.get(term.value) or last_segment(term.value)
        return cell_value(term)

    keys = tuple(
        tuple(dict.fromkeys(t.value for t in row if t is not None and t.kind == "iri")) for row in solutions.rows
    )
    columns = tuple(name.replace("_", " ") for name in solutions.variables)
    rows = tuple(tuple(map(shown, row)) for row in solutions.rows)
    return Table(columns, rows, keys, ("",) * len(columns), truncated=solutions.truncated)
