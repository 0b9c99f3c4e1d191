"""Trace rows to entities: a guarded query + Schema -> the query with a key column, or queries for what it counts."""

from typing import NamedTuple

from sqlglot import exp, parse_one

from nacre.records.schema import Relation, Schema

KEYS_SHOWN = 50


class ContributingQueries(NamedTuple):
    """For a query whose rows aggregate: the query that counts the things behind them, and one for the first of them."""

    how_many: exp.Select
    which: exp.Select


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
    base = query.copy()
    for part in ("group", "having", "order", "limit", "offset", "distinct", "windows"):
        base.set(part, None)
    key = _key(*source)
    count = base.copy().select(exp.Count(this=exp.Distinct(expressions=[key.copy()])), append=False, copy=False)
    keys = base.select(key, append=False, copy=False).distinct().order_by(key.copy()).limit(KEYS_SHOWN)
    return ContributingQueries(count, keys)


def used_predicates(text: str, schema: Schema) -> list[str]:
    """The predicates of the columns that a query uses of the table of its keys."""
    query = parse_one(text, read="sqlite")
    source = _source_table(query, schema) if isinstance(query, exp.Query) else None
    if source is None:
        return []
    table, relation = source
    used = {c.name.lower() for c in query.find_all(exp.Column) if c.table.lower() in ("", table.alias_or_name.lower())}
    columns = ((c, (c.value, c.low, c.high, c.text, c.link)) for c in relation.columns)
    return [column.predicate for column, names in columns if used & {name.lower() for name in names if name}]


def _source_table(query: exp.Query, schema: Schema) -> tuple[exp.Table, Relation] | None:
    """The first table of a plain select that is a relation of the schema; `entity` only has the names."""
    if not isinstance(query, exp.Select):
        return None
    # the argument is named from or from_, depending on the release
    clause = query.args.get("from_") or query.args.get("from")
    own = {cte.alias.lower() for cte in query.find_all(exp.CTE)}
    relations = {name.lower(): relation for name, relation in schema.relation_of.items()}
    for table in (
        clause.this if isinstance(clause, exp.From) else None,
        *(j.this for j in query.args.get("joins") or ()),
    ):
        name = table.name.lower() if isinstance(table, exp.Table) else ""
        if name in own or (name not in relations and name != "entity"):
            return None
        if name in relations:
            return table, relations[name]
    return None


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
