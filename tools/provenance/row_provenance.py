"""Trace rows to entities: a guarded query + Schema -> the query with a key column, or queries for what it counts."""

from collections.abc import Iterator
from typing import NamedTuple

from sqlglot import exp, parse_one

from nacre.records.schema import Relation, Schema

KEYS_SHOWN = 50
# the table with the names of all things
_NAMES = Relation("entity", "table", "id", ())


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
    columns = ((c, (c.value, c.low, c.high, c.text, c.link)) for c in relation.columns)
    predicates = tuple(column.predicate for column, names in columns if used & {n.lower() for n in names if n})
    if not any(column.table.lower() in owners for shown in query.selects for column in shown.find_all(exp.Column)):
        return UsedTable(predicates, "")
    key = _key(table, relation)
    ids = _first_keys(_without_groups(query), key) if _aggregates(query) else query.select(key)
    return UsedTable(predicates, ids.sql("sqlite"))


def _source_table(query: exp.Query, schema: Schema) -> tuple[exp.Table, Relation] | None:
    """The first table of a plain select that is a relation of the schema; `entity` only has the names."""
    for each in _source_tables(query, schema):
        if each is None or each[1].name != _NAMES.name:
            return each
    return None


def _source_tables(query: exp.Query, schema: Schema) -> Iterator[tuple[exp.Table, Relation] | None]:
    """The tables of a plain select; None for another source of rows."""
    if not isinstance(query, exp.Select):
        return
    # the argument is named from or from_, depending on the release
    clause = query.args.get("from_") or query.args.get("from")
    own = {cte.alias.lower() for cte in query.find_all(exp.CTE)}
    relations = {_NAMES.name: _NAMES, **{name.lower(): each for name, each in schema.relation_of.items()}}
    for table in (
        clause.this if isinstance(clause, exp.From) else None,
        *(j.this for j in query.args.get("joins") or ()),
    ):
        name = table.name.lower() if isinstance(table, exp.Table) else ""
        yield (table, relations[name]) if name in relations and name not in own else None


def _key(table: exp.Table, relation: Relation) -> exp.Column:
    owner = exp.to_identifier(table.alias_or_name, quoted=True)
    return exp.column(exp.to_identifier(relation.key, quoted=True), table=owner)


def _aggregates(query: exp.Select) -> bool:
    """Whether one row may aggregate several entities."""
    if query.args.get("distinct") or query.args.get("group"):
        return True
    return any(
        aggregate.find_ancestor(exp.Select) is query and aggregate.find_ancestor(exp.Window) is None
        for projection in query.expressions
        for aggregate in projection.find_all(exp.AggFunc)
    )
