"""The triples that a query of a model asks for, as those of a question: SQL or SPARQL text + Schema -> QuestionTriples."""

from collections.abc import Callable, Mapping
from typing import Any

from nacre.errors import ToolError
from nacre.plans.triple_patterns import IS_A, QuestionTriples, known_relations
from nacre.records.schema import Column, Relation, Schema
from nacre.stores.sqlite.triples import TYPE
from tools.guards.sparql_guard import algebra_nodes, node_patterns, parse_sparql

NOT_FORMED = QuestionTriples((), False, frozenset(), False)
MOST = 30
NAME = "name"

Triple = tuple[str, str, str]


def sparql_triple_patterns(text: str, schema: Schema, label: Callable[[str], str]) -> QuestionTriples:
    """The patterns of a query; IRIs by the labels of the schema, else by what `label` says of them."""
    from rdflib.term import BNode, Literal, URIRef, Variable

    try:
        query = parse_sparql(text)
    except ToolError:
        return NOT_FORMED

    def said(term: Any, known: Mapping[str, Any]) -> str:
        if isinstance(term, Variable | BNode):
            return f"?{term}"
        if isinstance(term, Literal):
            return str(term)
        return known[str(term)].label if str(term) in known else label(str(term))

    found, things = [], dict[str, None]()
    for subject, predicate, object_ in (triple for part in algebra_nodes(query) for triple in node_patterns(part)):
        typed = str(predicate) == TYPE
        relation = IS_A if typed else said(predicate, schema.predicate_of)
        things.update((str(end), None) for end in (subject, "" if typed else object_) if isinstance(end, URIRef))
        found.append((said(subject, {}), relation, said(object_, schema.class_of if typed else {})))
    triples, truth = tuple(dict.fromkeys(found))[:MOST], query.name == "AskQuery"
    return QuestionTriples(triples, truth, known_relations(schema), True, tuple(things)[:MOST])


def sql_triple_patterns(text: str, schema: Schema, truth: bool) -> QuestionTriples:
    """What the columns of a SELECT say of the rows of its tables; ids that are compared are one thing."""
    from sqlglot import exp, parse_one
    from sqlglot.errors import SqlglotError

    try:
        query = parse_one(text, read="sqlite")
    except SqlglotError:
        return NOT_FORMED
    relations = {name.lower(): relation for name, relation in schema.relation_of.items()}
    tables = {t.alias_or_name.lower(): t.name.lower() for t in query.find_all(exp.Table)}
    known = {alias: relations[name] for alias, name in tables.items() if name in relations}
    same: dict[tuple[str, str], tuple[str, str]] = {}

    def place(column: exp.Column) -> tuple[str, str]:
        """The alias and the column; of one without an alias the first table that has it."""
        name, alias = column.name.lower(), column.table.lower()
        return alias or next((a for a, r in known.items() if _column(r, name) or r.key.lower() == name), ""), name

    def thing(at: tuple[str, str]) -> tuple[str, str]:
        while at in same:
            at = same[at]
        return at

    def rank(at: tuple[str, str]) -> int:
        """A thing is called by the table that has its row, else by its entity."""
        relation = known.get(at[0])
        row = relation is not None and relation.kind != "junction" and relation.key.lower() == at[1]
        return 2 * row + (tables.get(at[0]) == "entity")

    values: dict[tuple[str, str], str] = {}
    for equal in query.find_all(exp.EQ):
        left, right = equal.this, equal.expression
        if isinstance(left, exp.Column) and isinstance(right, exp.Column):
            low, high = sorted((thing(place(left)), thing(place(right))), key=rank)
            if low != high:
                same[low] = high
        elif isinstance(left, exp.Column) and isinstance(right, exp.Literal):
            values[place(left)] = right.this

    def called(at: tuple[str, str]) -> str:
        alias, name = thing(at)
        own = alias in tables and (alias not in known or known[alias].key.lower() == name)
        return f"?{alias}" if own else f"?{name.removesuffix('_id')}"

    found: dict[Triple, None] = {}
    labels = {r.name: c.label for c in schema.classes for r in (schema.relation_of.get(c.relation),) if r}
    labels |= {group.relation: group.label for group in schema.groups}
    for alias, relation in known.items():
        if relation.kind != "junction":
            found[called((alias, relation.key.lower())), IS_A, labels.get(relation.name, relation.name)] = None
    for column in query.find_all(exp.Column):
        alias, name = place(column)
        if tables.get(alias) == "entity" and name == "label" and (alias, name) in values:
            found[called((alias, "id")), NAME, values[alias, name]] = None
        holder = known.get(alias)
        had = _column(holder, name) if holder else None
        if holder is None or had is None:
            continue
        relation_said = schema.predicate_of[had.predicate].label
        end = called((alias, name)) if had.link.lower() == name else f"?{relation_said.replace(' ', '_')}"
        found[called((alias, holder.key.lower())), relation_said, values.get((alias, name), end)] = None
    return QuestionTriples(tuple(found)[:MOST], truth, known_relations(schema) | {NAME}, True)


def _column(relation: Relation, name: str) -> Column | None:
    """The column that has a name among its parts."""
    parts = ((c, (c.value, c.low, c.high, c.text, c.link)) for c in relation.columns)
    return next((column for column, names in parts if name in {each.lower() for each in names}), None)
