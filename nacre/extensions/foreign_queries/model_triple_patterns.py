"""The triples that a model's query asks for, in the form of a question's: SQL or SPARQL -> QuestionTriples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from nacre.errors import ToolError
from nacre.extensions.foreign_queries.model_sparql import algebra_nodes, node_patterns, parse_sparql
from nacre.plans.triple_patterns import IS_A, QuestionTriples, known_relations
from nacre.records.schema import Column, Relation, Schema
from nacre.stores.sqlite.triples import TYPE

if TYPE_CHECKING:
    from sqlglot import exp

NOT_FORMED = QuestionTriples((), False, frozenset(), False)
MAX_TRIPLES = 30
NAME = "name"

Triple = tuple[str, str, str]

# the alias of a table in a query, and the name of a column
Place = tuple[str, str]


def query_triple_patterns(
    branch: str, text: str, schema: Schema, label: Callable[[str], str], truth: bool
) -> QuestionTriples:
    """What a query in the language of a branch asks for."""
    return (
        sparql_triple_patterns(text, schema, label) if branch == "sparql" else sql_triple_patterns(text, schema, truth)
    )


def sparql_triple_patterns(text: str, schema: Schema, label: Callable[[str], str]) -> QuestionTriples:
    """The triple patterns of a query, with the labels of the schema for IRIs, else what `label` returns."""
    from rdflib.term import BNode, Literal, URIRef, Variable

    try:
        query = parse_sparql(text)
    except ToolError:
        return NOT_FORMED

    def wording(term: Any, known: Mapping[str, Any]) -> str:
        if isinstance(term, Variable | BNode):
            return f"?{term}"
        if isinstance(term, Literal):
            return str(term)
        return known[str(term)].label if str(term) in known else label(str(term))

    found, things = [], dict[str, None]()
    for subject, predicate, object_ in (triple for part in algebra_nodes(query) for triple in node_patterns(part)):
        is_type = str(predicate) == TYPE
        relation = IS_A if is_type else wording(predicate, schema.predicate_of)
        things.update((str(end), None) for end in (subject, "" if is_type else object_) if isinstance(end, URIRef))
        found.append((wording(subject, {}), relation, wording(object_, schema.class_of if is_type else {})))
    triples, truth = tuple(dict.fromkeys(found))[:MAX_TRIPLES], query.name == "AskQuery"
    return QuestionTriples(triples, truth, known_relations(schema), True, tuple(things)[:MAX_TRIPLES])


def sql_triple_patterns(text: str, schema: Schema, truth: bool) -> QuestionTriples:
    """The facts that the columns of a SELECT state of the rows of its tables; ids that it compares are one variable."""
    from sqlglot import exp, parse_one
    from sqlglot.errors import SqlglotError

    try:
        query = parse_one(text, read="sqlite")
    except SqlglotError:
        return NOT_FORMED
    tables = _QueryTables(query, schema)
    same, constants = _equalities(query, tables)
    found: dict[Triple, None] = dict.fromkeys(_class_triples(tables, same, schema))
    for column in query.find_all(exp.Column):
        found.update(dict.fromkeys(_column_triples(tables.place(column), tables, same, constants, schema)))
    return QuestionTriples(tuple(found)[:MAX_TRIPLES], truth, known_relations(schema) | {NAME}, True)


class _QueryTables:
    """The tables of a query by their aliases, and those of them that are relations of the schema."""

    def __init__(self, query: exp.Expr, schema: Schema) -> None:
        from sqlglot import exp

        relations = {name.lower(): relation for name, relation in schema.relation_of.items()}
        self.names = {t.alias_or_name.lower(): t.name.lower() for t in query.find_all(exp.Table)}
        self.relations = {alias: relations[name] for alias, name in self.names.items() if name in relations}

    def place(self, column: exp.Column) -> Place:
        """The alias and the name of a column; without an alias that of the first table that has it."""
        name, alias = column.name.lower(), column.table.lower()
        owners = (a for a, r in self.relations.items() if _column(r, name) or r.key.lower() == name)
        return alias or next(owners, ""), name

    def rank(self, place: Place) -> int:
        """How well a place names its thing: the key of the thing's row best, then its entity."""
        relation = self.relations.get(place[0])
        is_row = relation is not None and relation.kind != "junction" and relation.key.lower() == place[1]
        return 2 * is_row + (self.names.get(place[0]) == "entity")

    def variable(self, place: Place, same: Mapping[Place, Place]) -> str:
        """The variable for the thing whose id stands at a place."""
        alias, name = _representative(place, same)
        is_own = alias in self.names and (alias not in self.relations or self.relations[alias].key.lower() == name)
        return f"?{alias}" if is_own else f"?{name.removesuffix('_id')}"


def _equalities(query: exp.Expr, tables: _QueryTables) -> tuple[dict[Place, Place], dict[Place, str]]:
    """Which place stands for which, by the columns that are compared, and the constants that columns equal."""
    from sqlglot import exp

    same: dict[Place, Place] = {}
    constants: dict[Place, str] = {}
    for equal in query.find_all(exp.EQ):
        left, right = equal.this, equal.expression
        if isinstance(left, exp.Column) and isinstance(right, exp.Column):
            ends = (_representative(tables.place(left), same), _representative(tables.place(right), same))
            low, high = sorted(ends, key=tables.rank)
            if low != high:
                same[low] = high
        elif isinstance(left, exp.Column) and isinstance(right, exp.Literal):
            constants[tables.place(left)] = right.this
    return same, constants


def _representative(place: Place, same: Mapping[Place, Place]) -> Place:
    while place in same:
        place = same[place]
    return place


def _class_triples(tables: _QueryTables, same: Mapping[Place, Place], schema: Schema) -> Iterator[Triple]:
    """The classes of the rows of each table."""
    labels = {r.name: c.label for c in schema.classes for r in (schema.relation_of.get(c.relation),) if r}
    labels |= {group.relation: group.label for group in schema.groups}
    for alias, relation in tables.relations.items():
        if relation.kind != "junction":
            label = labels.get(relation.name, relation.name)
            yield tables.variable((alias, relation.key.lower()), same), IS_A, label


def _column_triples(
    place: Place, tables: _QueryTables, same: Mapping[Place, Place], constants: Mapping[Place, str], schema: Schema
) -> Iterator[Triple]:
    """The name or the fact that a column states of the thing of its row."""
    alias, name = place
    if tables.names.get(alias) == "entity" and name == "label" and place in constants:
        yield tables.variable((alias, "id"), same), NAME, constants[place]
    relation = tables.relations.get(alias)
    column = _column(relation, name) if relation else None
    if relation is None or column is None:
        return
    label = schema.predicate_of[column.predicate].label
    end = tables.variable(place, same) if column.link.lower() == name else f"?{label.replace(' ', '_')}"
    yield tables.variable((alias, relation.key.lower()), same), label, constants.get(place, end)


def _column(relation: Relation, name: str) -> Column | None:
    """The column of the schema that has this name in the table, or has it for one of its parts."""
    return next((column for column in relation.columns if name in map(str.lower, column.names)), None)
