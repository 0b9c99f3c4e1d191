"""Run a SELECT that a model wrote: text -> BranchResult of the guarded query, with the entities and units of rows.

Then: rows traced to entities by a key column, and readable headings of the columns.
"""

import re
import time
from collections import ChainMap
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple, cast

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from nacre.errors import ToolError
from nacre.extensions.foreign_queries.sql_guard import (
    Repair,
    check_measures,
    divide_as_reals,
    guard_sql,
    named_relations,
    repair_empty,
    repair_query,
    row_sources,
    sql_text,
)
from nacre.extensions.foreign_queries.sql_origins import check_sql_values
from nacre.language.data import word_map
from nacre.language.tokens import heading_words, split_name
from nacre.language.word_forms import plural
from nacre.records.evidence import BranchResult, Query, QueryError, Rows, Table
from nacre.records.schema import Relation, Schema
from nacre.stores.sqlite.tables import Tables
from nacre.wording.plan_phrases import predicate_words
from tools.provenance import EntityId, is_id, look_up_entities
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
    best = _with_hint(first, repaired) if second.error is not None else second
    return replace(best, queries=(*first.queries, *second.queries))


def _run(
    text: str, tables: Tables, round: int, limit: int, seconds: float, numbers: frozenset[float] | None, words: str = ""
) -> BranchResult:
    started = time.perf_counter()
    schema = tables.schema
    sql = text
    try:
        query = guard_sql(text, [*schema.relation_of, "entity"], limit=limit + 1)
        sql = sql_text(query)
        if numbers is not None:
            query = cast(exp.Query, query.transform(divide_as_reals))
            sql = sql_text(query)
            check_measures(query, schema)
            check_sql_values(query, schema, numbers)
        table = _table(query, tables, schema, limit, seconds)
    except ToolError as error:
        return failed_query(error, sql, words, round=round, seconds=time.perf_counter() - started, by="model")
    return query_result(table, Query(BRANCH, round, sql, words, seconds=time.perf_counter() - started))


def query_result(table: Table, query: Query) -> BranchResult:
    """The rows of a query that a model wrote."""
    executed = replace(query, rows=len(table.rows), truncated=table.truncated, by="model")
    keys = tuple(dict.fromkeys(key for row in table.keys for key in row))
    rows = Rows(query.tool, query.round, table, text=summarize_rows(table), query=executed, keys=keys)
    return BranchResult(query.tool, (rows,), (executed,), by="model")


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
    """The unit of each output column that shows, aggregates, adds or subtracts columns of the schema with one unit."""
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
    inner = projection.unalias()
    if isinstance(inner, exp.Subquery) and inner.selects:
        return _unit(inner.selects[0], units)
    if isinstance(inner, exp.Paren | exp.Neg | exp.Abs | exp.Round | exp.Cast | exp.Avg | exp.Sum | exp.Min | exp.Max):
        return _unit(inner.this, units)
    if isinstance(inner, exp.Add | exp.Sub | exp.Mul | exp.Div):
        sides = [side for side in (inner.left, inner.right) if side.find(exp.Column)]
        found = {_unit(side, units) for side in sides}
        # a product or ratio of two columns has another unit
        is_same = len(found) == 1 and (len(sides) == 1 or isinstance(inner, exp.Add | exp.Sub))
        return found.pop() if is_same else ""
    shown = {column.name.lower() for column in projection.find_all(exp.Column)}
    if len(shown) != 1 or projection.find(exp.Count, exp.Predicate):
        return ""
    known = units.get(shown.pop(), set())
    return next(iter(known)) if len(known) == 1 else ""


KEYS_SHOWN = 50


class ContributingQueries(NamedTuple):
    """For a query whose rows aggregate: the query that counts the things behind them, and one for the first of them."""

    how_many: exp.Select
    which: exp.Select


class UsedTable(NamedTuple):
    """The predicates of the columns that a query uses of a table, and the query whose last column has the ids of the
    rows that it shows of it, "" if it shows none."""

    predicates: tuple[str, ...]
    shown_ids: str


def add_key_column(query: exp.Query, schema: Schema) -> exp.Select | None:
    """The query with the key of its FROM table as last column; None if rows are not single entities."""
    source = _source_table(query, schema)
    if source is None or not isinstance(query, exp.Select) or _aggregates(query):
        return None
    return query.select(_key(*source).as_("_key"), append=True, copy=True)


def contributing_queries(query: exp.Query, schema: Schema) -> ContributingQueries | None:
    """Count and first keys from the same FROM and WHERE; None for set operations and other kinds of FROM."""
    source = _source_table(query, schema)
    if source is None or not isinstance(query, exp.Select):
        return None
    key, base = _key(*source), _without_groups(query)
    count = base.copy().select(exp.Count(this=exp.Distinct(expressions=[key.copy()])), append=False, copy=False)
    return ContributingQueries(count, _first_keys(base, key))


def _without_groups(query: exp.Select) -> exp.Select:
    base = query.copy()
    for part in ("group", "having", "order", "limit", "offset", "distinct", "windows"):
        base.set(part, None)
    return base


def _first_keys(base: exp.Select, key: exp.Column) -> exp.Select:
    return base.select(key, append=False).distinct().order_by(key.copy()).limit(KEYS_SHOWN)


def used_tables(text: str, schema: Schema) -> list[UsedTable]:
    """The tables that a query reads itself; the first is that of its keys."""
    query = parse_one(text, read="sqlite")
    if not isinstance(query, exp.Select) or (first := _source_table(query, schema)) is None:
        return []
    others = (each for each in _source_tables(query, schema) if each is not None and each[0] is not first[0])
    return [_used_table(query, *each) for each in (first, *others)]


def _used_table(query: exp.Select, table: exp.Table, relation: Relation) -> UsedTable:
    owners = ("", table.alias_or_name.lower())
    used = {column.name.lower() for column in query.find_all(exp.Column) if column.table.lower() in owners}
    predicates = tuple(c.predicate for c in relation.columns if used.intersection(map(str.lower, c.names)))
    if not any(column.table.lower() in owners for shown in query.selects for column in shown.find_all(exp.Column)):
        return UsedTable(predicates, "")
    key = _key(table, relation)
    ids = _first_keys(_without_groups(query), key) if _aggregates(query) else query.select(key)
    return UsedTable(predicates, ids.sql("sqlite"))


def _source_table(query: exp.Query, schema: Schema) -> tuple[exp.Table, Relation] | None:
    """The first table of a plain select that is a relation of the schema; `entity` only has the names."""
    for each in _source_tables(query, schema):
        if each is None or each[1].name != "entity":
            return each
    return None


def _source_tables(query: exp.Query, schema: Schema) -> Iterator[tuple[exp.Table, Relation] | None]:
    """The tables of a plain select; None for another source of rows."""
    if not isinstance(query, exp.Select):
        return
    own = {cte.alias.lower() for cte in query.find_all(exp.CTE)}
    relations = named_relations(schema)
    for table in row_sources(query):
        name = table.name.lower()
        is_known = isinstance(table, exp.Table) and name in relations and name not in own
        yield (cast(exp.Table, table), relations[name]) if is_known else None


def _key(table: exp.Table, relation: Relation) -> exp.Column:
    return exp.column(relation.key, table=table.alias_or_name, quoted=True)


def _aggregates(query: exp.Select) -> bool:
    """Whether one row may aggregate several entities."""
    if query.args.get("distinct") or query.args.get("group"):
        return True
    return any(
        aggregate.find_ancestor(exp.Select) is query and aggregate.find_ancestor(exp.Window) is None
        for projection in query.expressions
        for aggregate in projection.find_all(exp.AggFunc)
    )


_LOW, _HIGH = " (low)", " (high)"
_AGGREGATES: Mapping[type[exp.Expr], str] = {exp.Avg: "avg", exp.Sum: "sum", exp.Min: "min", exp.Max: "max"}


class _ColumnMeaning(NamedTuple):
    """What a column shows: the words of its property, which end of a range it is, and whether it has the names of
    things."""

    words: str
    end: str = ""
    is_name: bool = False


def name_columns(found: BranchResult, schema: Schema) -> BranchResult:
    """The rows with headings in words: an alias of the query, the property of a column, or what is computed. Both ends
    of a range that stand side by side are one property."""
    return replace(
        found,
        evidence=tuple(_with_headings(each, schema) if isinstance(each, Rows) else each for each in found.evidence),
    )


def _with_headings(rows: Rows, schema: Schema) -> Rows:
    if rows.query is None:
        return rows
    try:
        query = parse_one(rows.query.text, read="sqlite")
    except SqlglotError:
        return rows
    selects = query.selects if isinstance(query, exp.Query) else []
    if len(selects) != len(rows.table.columns):
        return rows
    columns = schema.cache.get(_schema_columns, lambda: _schema_columns(schema))
    inner = [each for select in query.find_all(exp.Select) for each in select.selects if _is_ours(each.alias)]
    columns = {**columns, **{each.alias: columns[n] for each in inner if (n := each.unalias().name.lower()) in columns}}
    tables = _table_nouns(query, schema)
    shown = [_column_meaning(projection, columns, tables) for projection in selects]
    table = replace(rows.table, columns=tuple(_heading(shown, i) for i in range(len(shown))))
    return replace(rows, table=table, text=summarize_rows(table))


def _schema_columns(schema: Schema) -> dict[str, _ColumnMeaning]:
    """What each column name shows that means the same in all tables."""
    found: dict[str, set[_ColumnMeaning]] = {}
    for relation in schema.relations:
        for column in relation.columns:
            if column.predicate not in schema.predicate_of:
                continue
            words = predicate_words(column.predicate, schema)
            is_name = schema.predicate_of[column.predicate].role == "name"
            parts = ((column.value, ""), (column.low, _LOW), (column.high, _HIGH), (column.link, ""))
            for name, end in parts:
                if name:
                    found.setdefault(name.lower(), set()).add(_ColumnMeaning(words, end, is_name))
    return {name: next(iter(shown)) for name, shown in found.items() if len(shown) == 1}


def _table_nouns(query: exp.Expr, schema: Schema) -> dict[str, str]:
    """The nouns of the tables that a query reads, by name and alias."""
    labels = {each.relation: each.label for each in schema.classes}
    labels |= {each.relation: each.label for each in schema.groups}
    return {
        name.lower(): split_name(labels[table.name])
        for table in query.find_all(exp.Table)
        if table.name in labels
        for name in (table.alias_or_name, table.name)
    }


def _is_ours(alias: str) -> bool:
    """Whether a query of a plan, which a person edited, has this alias: it says nothing."""
    return re.fullmatch(r"[ckx][0-9]+", alias) is not None


def _column_meaning(
    projection: exp.Expr, columns: Mapping[str, _ColumnMeaning], tables: Mapping[str, str]
) -> _ColumnMeaning:
    alias, inner = "" if _is_ours(projection.alias) else projection.alias, projection.unalias()
    if isinstance(inner, exp.Column) and (own := columns.get(inner.name.lower())) is not None:
        if own.is_name and not alias:
            return _ColumnMeaning(tables.get(inner.table.lower(), "") or "name")
        # the ends of a range are one property, whatever they are called
        return own if own.end or not alias else _ColumnMeaning(heading_words(alias))
    if alias:
        return _ColumnMeaning(heading_words(alias))
    if isinstance(inner, exp.Column):
        return _ColumnMeaning(tables.get(inner.table.lower(), "") or "name" if inner.name.lower() == "label" else "")
    if isinstance(inner, exp.Count):
        nouns = [tables.get(each.table.lower(), "") for each in inner.find_all(exp.Column)]
        noun = next(filter(None, nouns), "") or (next(iter(tables.values())) if len(tables) == 1 else "")
        return _ColumnMeaning(f"number of {plural(noun)}" if noun else "number")
    function = _AGGREGATES.get(type(inner), "")
    used = {columns[each.name.lower()] for each in inner.find_all(exp.Column) if each.name.lower() in columns}
    if function and len(used) == 1:
        return _ColumnMeaning(f"{word_map('wording', 'aggregate_adjectives')[function]} {used.pop().words}")
    return _ColumnMeaning("")


def _heading(shown: list[_ColumnMeaning], i: int) -> str:
    """The heading of a column; the ends of a range are marked where both stand side by side."""
    own = shown[i]
    beside = shown[i + 1 : i + 2] if own.end == _LOW else shown[i - 1 : i] if own.end == _HIGH and i else []
    is_pair = any(each.words == own.words and {each.end, own.end} == {_LOW, _HIGH} for each in beside)
    return own.words + (own.end if is_pair else "") if own.words else "value"
