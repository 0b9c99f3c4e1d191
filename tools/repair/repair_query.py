"""Repair a query of a model by its error: text + error -> a Repair, with a corrected query or a hint for the model.

Each kind of error has its own repair; unknown kinds are not repaired.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rapidfuzz import fuzz, process
from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from nacre.errors import ToolError
from nacre.records.schema import Relation, Schema
from tools.guards.sql_guard import sql_text

NEAR_SCORE = 80
LISTED = 25
_NO_TABLE = re.compile(r"no (?:such )?table:? '?([^'\s]+?)'?\.(?:\s|$)", re.IGNORECASE)
_NO_COLUMN = re.compile(r"^(?>.*?no such column: )(.+)\.$", re.IGNORECASE)
_AMBIGUOUS = re.compile(r"^(?>.*?ambiguous column name: )(.+)\.$", re.IGNORECASE)


@dataclass(frozen=True)
class Repair:
    """What was wrong, in `hint`; `sql` is the corrected query, None if only the model can correct it."""

    kind: str
    hint: str
    sql: str | None = None


def repair_query(text: str, error: ToolError, schema: Schema) -> Repair:
    """The repair for a query that failed."""
    repair_kind = _REPAIRS.get(error.kind)
    message = str(error)
    if repair_kind is None:
        return Repair(error.kind, f"{message} {_HINTS.get(error.kind, '')}".strip())
    try:
        query = parse_one(text, read="sqlite")
    except (SqlglotError, RecursionError):
        return Repair(error.kind, f"{message} {_HINTS.get(error.kind, '')}".strip())
    return repair_kind(query, message, schema)


def _unknown_name(query: exp.Expr, message: str, schema: Schema) -> Repair:
    if found := _NO_TABLE.search(message):
        return _unknown_table(query, found[1], message, schema)
    if found := _NO_COLUMN.search(message):
        return _unknown_column(query, found[1].replace('"', ""), message, schema)
    return Repair("unknown_name", message)


def _unknown_table(query: exp.Expr, name: str, message: str, schema: Schema) -> Repair:
    best = process.extractOne(name.lower(), [*schema.relation_of, "entity"], scorer=fuzz.ratio, score_cutoff=NEAR_SCORE)
    if best is None:
        tables = ", ".join(sorted(r.name for r in schema.relations if r.kind != "junction")[:LISTED])
        return Repair("unknown_name", f"{message} The tables are: {tables}.")
    for table in query.find_all(exp.Table):
        if table.name.lower() == name.lower():
            # columns may be qualified by the wrong name
            alias = table.alias or name
            table.set("this", exp.to_identifier(best[0], quoted=True))
            table.set("alias", exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))
    return Repair("unknown_name", f"The table {name} is called {best[0]}.", sql_text(query))


def _unknown_column(query: exp.Expr, name: str, message: str, schema: Schema) -> Repair:
    owner, _, column = name.rpartition(".")
    tables = query_relations(query, schema)
    columns_of = {a: _columns(r) for a, r in tables.items() if not owner or a == owner.lower()}
    if column.lower() in ("label", "name") and "entity" not in columns_of and columns_of:
        alias = next(iter(columns_of))
        label = parse_one(
            f'(SELECT "e_"."label" FROM entity AS "e_" WHERE "e_"."id" = "{alias}"."{tables[alias].key}")'
        )
        return _replace_column(query, name, lambda _: label.copy(), f"{name} is the label of a thing, kept in entity.")
    elsewhere = [a for a, r in tables.items() if column.lower() in map(str.lower, _columns(r))]
    if owner and elsewhere:
        right = exp.column(exp.to_identifier(column, quoted=True), table=exp.to_identifier(elsewhere[0], quoted=True))
        return _replace_column(query, name, lambda _: right.copy(), f"{column} is a column of {elsewhere[0]}.")
    near = {c: a for a, columns in columns_of.items() for c in columns}
    best = process.extractOne(column.lower(), list(near), scorer=fuzz.ratio, score_cutoff=NEAR_SCORE)
    if best:
        right = exp.column(exp.to_identifier(best[0], quoted=True), table=exp.to_identifier(near[best[0]], quoted=True))
        return _replace_column(query, name, lambda _: right.copy(), f"The column {name} is called {best[0]}.")
    listed = "; ".join(f"{a} has {', '.join(columns[:LISTED])}" for a, columns in columns_of.items())
    others = [r.name for r in schema.relations if column.lower() in map(str.lower, _columns(r))]
    elsewhere_hint = f" A column of that name is in {', '.join(others[:3])}: join it." if others else ""
    return Repair("unknown_name", f"{message} {listed}.{elsewhere_hint}")


def _ambiguous(query: exp.Expr, message: str, schema: Schema) -> Repair:
    match = _AMBIGUOUS.search(message)
    if match is None:
        return Repair("ambiguous", message)
    name = match[1]
    owner = next(
        (a for a, r in query_relations(query, schema).items() if name.lower() in map(str.lower, _columns(r))), None
    )
    if owner is None:
        return Repair("ambiguous", f"{message} Write its table before it.")
    right = exp.column(exp.to_identifier(name, quoted=True), table=exp.to_identifier(owner, quoted=True))
    return _replace_column(query, name, lambda _: right.copy(), f"{name} is taken from {owner}, which goes first.")


def _type(query: exp.Expr, message: str, schema: Schema) -> Repair:
    known = schema.predicate_of
    types = {
        f"{alias}.{column.value} is {known[column.predicate].datatype}"
        for alias, relation in query_relations(query, schema).items()
        for column in relation.columns
        if column.value and any(c.name.lower() == column.value.lower() for c in query.find_all(exp.Column))
    }
    return Repair("type", f"{message} {'; '.join(sorted(types))}".strip())


def _timeout(query: exp.Expr, message: str, schema: Schema) -> Repair:
    loose = [j.this.alias_or_name for j in query.find_all(exp.Join) if not j.args.get("on") and not j.args.get("using")]
    if loose:
        return Repair("timeout", f"{message} {', '.join(loose)} is joined without a condition: add ON with its key.")
    if any(True for _ in query.find_all(exp.With)):
        return Repair("timeout", f"{message} Leave WITH RECURSIVE out.")
    return Repair("timeout", f"{message} Join by keys, and compare single columns.")


def _too_large(query: exp.Expr, message: str, schema: Schema) -> Repair:
    return Repair("too_large", f"{message} Select fewer columns, count instead of listing, or add a condition.")


def _refused(query: exp.Expr, message: str, schema: Schema) -> Repair:
    return Repair("refused", f"{message} {_HINTS['refused']}")


def _replace_column(query: exp.Expr, name: str, right: Callable[[exp.Column], exp.Expr], hint: str) -> Repair:
    """The query with another expression for every column that is written as `name`."""
    wanted = name.lower()

    def swap(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column):
            return node
        written = f"{node.table}.{node.name}".lower() if node.table else node.name.lower()
        return right(node) if written == wanted else node

    return Repair("", hint, sql_text(query.transform(swap)))


def query_relations(query: exp.Expr, schema: Schema) -> dict[str, Relation]:
    """The relations of a query by their aliases, in order."""
    entity = Relation("entity", "table", "id", ())
    relations = {"entity": entity, **{name.lower(): relation for name, relation in schema.relation_of.items()}}
    return {
        table.alias_or_name.lower(): relations[table.name.lower()]
        for table in query.find_all(exp.Table)
        if table.name.lower() in relations
    }


def _columns(relation: Relation) -> list[str]:
    return list(dict.fromkeys(_names(relation)))


def _names(relation: Relation) -> Iterator[str]:
    yield relation.key
    if relation.name == "entity":
        yield from ("iri", "label")
    for column in relation.columns:
        yield from filter(None, (column.value, column.low, column.high, column.text, column.link))


_HINTS = {
    "refused": "Write one SELECT over the tables listed, without anything that writes or sets.",
    "syntax": "Write one SELECT that SQLite can parse, and nothing around it.",
}
_REPAIRS: dict[str, Callable[[exp.Expr, str, Schema], Repair]] = {
    "unknown_name": _unknown_name,
    "ambiguous": _ambiguous,
    "type": _type,
    "timeout": _timeout,
    "too_large": _too_large,
    "refused": _refused,
}
