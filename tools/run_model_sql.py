"""Run a SELECT that a model wrote: text -> BranchResult of the guarded query, with the entities and units of rows."""

import time
from collections import ChainMap
from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp, parse_one

from nacre.errors import ToolError
from nacre.records.evidence import BranchResult, Query, QueryError, Rows, Table
from nacre.records.schema import Schema
from nacre.stores.sqlite.tables import Tables
from tools.guards.sql_guard import guard_sql, sql_text
from tools.guards.sql_origins import check_sql_values
from tools.provenance.entity_ids import EntityId, is_id, look_up_entities
from tools.provenance.row_provenance import add_key_column, contributing_queries
from tools.repair.repair_empty import repair_empty
from tools.repair.repair_query import Repair, repair_query
from tools.sql import BRANCH, failed_query, summarize_rows


def run_model_sql(
    text: str,
    tables: Tables,
    *,
    round: int,
    limit: int = 1000,
    seconds: float = 5.0,
    numbers: frozenset[float] | None = None,
) -> BranchResult:
    """The rows of a SELECT that a model wrote, guarded; ids in its cells are shown as labels.

    `numbers` are those of the question: the values that the rows show must rest on stored ones and these. None if
    the rows are not cited.

    A query that fails or finds nothing is repaired and run once more; what only the model can repair is the message of
    `error`. Rows and all queries that were tried are in the result.
    """
    first = _run(text, tables, round, limit, seconds, numbers)
    repaired = _find_repair(text, first, tables, seconds)
    if repaired is None:
        return first
    if repaired.sql is None:
        return _with_hint(first, repaired)
    words = f"repaired ({repaired.kind}): {repaired.hint}"
    second = _run(repaired.sql, tables, round, limit, seconds, numbers, words)
    if second.error is not None:
        return replace(_with_hint(first, repaired), queries=(*first.queries, *second.queries))
    return replace(second, queries=(*first.queries, *second.queries))


def _run(
    text: str,
    tables: Tables,
    round: int,
    limit: int,
    seconds: float,
    numbers: frozenset[float] | None,
    words: str = "",
) -> BranchResult:
    started = time.perf_counter()
    schema = tables.schema
    sql = text
    try:
        query = guard_sql(text, [*schema.relation_of, "entity"], limit=limit + 1)
        sql = sql_text(query)
        if numbers is not None:
            check_sql_values(query, schema, numbers)
        table = _table(query, tables, schema, limit, seconds)
    except ToolError as error:
        return failed_query(error, sql, words, round=round, seconds=time.perf_counter() - started, by="model")
    executed = Query(
        BRANCH,
        round,
        sql,
        words,
        rows=len(table.rows),
        truncated=table.truncated,
        seconds=time.perf_counter() - started,
        by="model",
    )
    keys = tuple(dict.fromkeys(key for row in table.keys for key in row))
    evidence = Rows(BRANCH, round, table, text=summarize_rows(table), query=executed, keys=keys)
    return BranchResult(BRANCH, (evidence,), (executed,), by="model")


def _find_repair(text: str, found: BranchResult, tables: Tables, seconds: float) -> Repair | None:
    if found.error is not None:
        repaired = repair_query(text, ToolError(found.error.kind, found.error.message), tables.schema)
        return replace(repaired, kind=repaired.kind or found.error.kind)
    if any(cell is not None for each in found.rows for row in each.table.rows for cell in row):
        return None
    query = parse_one(found.queries[0].text, read="sqlite")
    return repair_empty(query, tables, seconds) if isinstance(query, exp.Select) else None


def _with_hint(found: BranchResult, todo: Repair) -> BranchResult:
    """The failed or empty result with a hint for the model."""
    return replace(found, error=QueryError(todo.kind, todo.hint))


def _table(query: exp.Query, tables: Tables, schema: Schema, limit: int, seconds: float) -> Table:
    keyed = add_key_column(query, schema)
    result = tables.run(sql_text(keyed or query), limit=limit, seconds=seconds)
    columns, rows = result.columns, result.rows
    ids: list[tuple[EntityId, ...]] = []
    contributing: int | None = None
    if keyed is not None:
        ids = [(row[-1],) if is_id(row[-1]) else () for row in rows]
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    elif rows and (sources := contributing_queries(query, schema)):
        contributing = int(tables.run(sql_text(sources.how_many), seconds=seconds).rows[0][0] or 0)
        which = tables.run(sql_text(sources.which), seconds=seconds).rows
        # of grouped rows only the things of all groups together are known
        ids = [tuple(row[0] for row in which if is_id(row[0]))] * len(rows)
    names = look_up_entities({i for row in ids for i in row} | {c for row in rows for c in row if is_id(c)}, tables)
    return Table(
        columns,
        tuple(tuple(names[cell][1] if is_id(cell) and cell in names else cell for cell in row) for row in rows),
        keys=tuple(tuple(names[i][0] for i in row if i in names) for row in ids),
        units=_units(query, columns, schema),
        contributing=contributing,
        truncated=result.truncated,
    )


def _units(query: exp.Query, columns: tuple[str, ...], schema: Schema) -> tuple[str, ...]:
    """The unit of each output column that shows or aggregates exactly one column of the schema."""
    projections = query.selects
    if len(projections) != len(columns):
        return ("",) * len(columns)
    known = schema.cache.get(_schema_units, lambda: _schema_units(schema))
    # what a subquery or WITH calls its columns: "SELECT a.p FROM (SELECT AVG(price) p FROM ...) a"
    aliases: dict[str, set[str]] = {}
    units = ChainMap(known, aliases)
    for inner in query.find_all(exp.Alias):
        name = inner.alias.lower()
        if inner.parent is not query and name not in known:
            aliases.setdefault(name, set()).add(_unit(inner.this, units))
    return tuple(_unit(projection, units) for projection in projections)


def _schema_units(schema: Schema) -> dict[str, set[str]]:
    """The units of the columns with a name, in any table."""
    units: dict[str, set[str]] = {}
    for relation in schema.relations:
        for column in relation.columns:
            for name in filter(None, (column.value, column.low, column.high)):
                units.setdefault(name.lower(), set()).add(schema.predicate_of[column.predicate].unit)
    return units


def _unit(projection: exp.Expr, units: Mapping[str, set[str]]) -> str:
    shown = {column.name.lower() for column in projection.find_all(exp.Column)}
    if len(shown) != 1 or projection.find(exp.Count, exp.Predicate):
        return ""
    known = units.get(shown.pop(), set())
    return next(iter(known)) if len(known) == 1 else ""
