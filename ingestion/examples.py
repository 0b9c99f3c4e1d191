"""Questions that a graph answers, made from plans and checked by asking them: Graph -> questions."""

from collections.abc import Iterator

from records.schema import Group, Predicate, Schema
from records.turn import Rewrite
from semantics.run_plan import run_plan
from semantics.to_words import predicate_words
from semantics.understand import understand
from stores.catalog import Graph


def examples(graph: Graph, wanted: int = 3) -> list[str]:
    """Up to `wanted` questions of different kinds; each was understood, ran, and gave rows."""
    found: list[str] = []
    kinds: set[str] = set()
    for kind, question in _drafts(graph.schema, graph):
        if len(found) == wanted:
            break
        if kind in kinds or not _answers(graph, question):
            continue
        kinds.add(kind)
        found.append(question)
    return found


def _drafts(schema: Schema, graph: Graph) -> Iterator[tuple[str, str]]:
    groups = sorted((g for g in schema.groups if g.classes), key=lambda g: -g.count)
    for group in groups:
        for predicate in _numeric(schema, group):
            label = _one_member(graph, group, predicate)
            if label:
                yield "lookup", f"What is the {predicate_words(predicate.iri, schema)} of {label}?"
    for group in groups:
        for predicate in _numeric(schema, group):
            yield "most", f"Which {group.label} has the highest {predicate_words(predicate.iri, schema)}?"
    for group in groups:
        for predicate in _numeric(schema, group):
            yield "average", f"What is the average {predicate_words(predicate.iri, schema)} of the {group.label}?"
    for group in groups:
        yield "count", f"How many {group.label} are there?"
        yield "list", f"List the {group.label}."


def _numeric(schema: Schema, group: Group) -> list[Predicate]:
    columns = {c.predicate for c in schema.relation_of[group.relation].columns if c.value}
    return [p for p in schema.predicates if p.iri in columns and p.minimum is not None and p.role == "fact"]


def _one_member(graph: Graph, group: Group, predicate: Predicate) -> str | None:
    relation = graph.schema.relation_of[group.relation]
    column = next(c for c in relation.columns if c.predicate == predicate.iri)
    sql = (
        f'SELECT e.label FROM "{relation.name}" r JOIN entity e ON e.id = r."{relation.key}" '
        f'WHERE r."{column.value}" IS NOT NULL ORDER BY length(e.label), e.label'
    )
    rows = graph.tables.run(sql, limit=1).rows
    return str(rows[0][0]) if rows and rows[0][0] else None


def _answers(graph: Graph, question: str) -> bool:
    understood = understand(Rewrite(question), graph.schema, graph.lexicon)
    if not understood.readings or understood.readings[0].covered < 0.99:
        return False
    table, _, _ = run_plan(understood.readings[0].plan, graph.tables, round=1)
    return table is not None and bool(table.rows) and table.rows[0][-1] is not None
