"""Trace rows to entities: a guarded query + Schema -> the same with key columns, or the queries of what it counts."""

from typing import NamedTuple

from sqlglot import exp

from records.schema import Relation, Schema

KEYS_SHOWN = 50


class Contributing(NamedTuple):
    """For a query whose rows stand for many: how many things are behind them, and the first of them."""

    how_many: exp.Select
    which: exp.Select


def with_keys(query: exp.Query, schema: Schema) -> exp.Select | None:
    """The query with the key of its FROM table as one more, last column; None where rows are not single entities."""
    source = _source(query, schema)
    if source is None or not isinstance(query, exp.Select) or _gathers(query):
        return None
    return query.select(_key(*source).as_("_key"), append=True, copy=True)


def contributing(query: exp.Query, schema: Schema) -> Contributing | None:
    """Count and first keys from the same FROM and WHERE; None for set operations and a FROM of another kind."""
    source = _source(query, schema)
    if source is None or not isinstance(query, exp.Select):
        return None
    base = query.copy()
    for part in ("group", "having", "order", "limit", "offset", "distinct", "windows"):
        base.set(part, None)
    key = _key(*source)
    count = base.copy().select(exp.Count(this=exp.Distinct(expressions=[key.copy()])), append=False, copy=False)
    keys = base.select(key, append=False, copy=False).distinct().order_by(key.copy()).limit(KEYS_SHOWN)
    return Contributing(count, keys)


def _source(query: exp.Query, schema: Schema) -> tuple[exp.Table, Relation] | None:
    """The FROM table of a plain select, where it is a relation of the schema."""
    if not isinstance(query, exp.Select):
        return None
    # the argument is named from or from_, by release
    clause = query.args.get("from_") or query.args.get("from")
    table = clause.this if isinstance(clause, exp.From) else None
    if not isinstance(table, exp.Table) or table.name.lower() in {cte.alias.lower() for cte in query.find_all(exp.CTE)}:
        return None
    relation = {name.lower(): relation for name, relation in schema.relation_of.items()}.get(table.name.lower())
    return (table, relation) if relation is not None else None


def _key(table: exp.Table, relation: Relation) -> exp.Column:
    owner = exp.to_identifier(table.alias_or_name, quoted=True)
    return exp.column(exp.to_identifier(relation.key, quoted=True), table=owner)


def _gathers(query: exp.Select) -> bool:
    """Whether one row may stand for several entities."""
    if query.args.get("distinct") or query.args.get("group"):
        return True
    return any(
        aggregate.find_ancestor(exp.Select) is query and aggregate.find_ancestor(exp.Window) is None
        for projection in query.expressions
        for aggregate in projection.find_all(exp.AggFunc)
    )
