"""A thing as its page shows it: Graph + IRI -> Thing with its facts in both directions, and passages that name it."""

import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from nacre.access.browse.remote_thing import remote_thing
from nacre.errors import ToolError
from nacre.records.browse import (
    LONGEST_VALUE,
    MOST_COUNTED,
    PAGE_LIMITS,
    BrowseLimits,
    FactEnd,
    PredicateFacts,
    Thing,
    ThingPassage,
)
from nacre.records.schema import Column, Relation, Schema
from nacre.stores.catalog import Graph
from nacre.stores.sqlite.identifiers import quote_if_needed
from nacre.stores.sqlite.tables import Cell, Tables
from nacre.stores.sqlite.triples import TYPE
from tools import lexical
from tools.provenance.entity_ids import EntityId, is_id, look_up_entities

MOST_PASSAGES = 6
# characters of a name that is searched in passages, which have about 900 (given)
LONGEST_SEARCHED = 900


def local_thing(graph: Graph, iri: str, bounds: BrowseLimits = PAGE_LIMITS) -> Thing | None:
    """All facts of a thing, within limits; None if the graph does not know it. Raises ToolError."""
    if graph.stored is None:
        return remote_thing(graph, iri, bounds)
    tables = _TimedTables(graph.stored, time.monotonic() + bounds.seconds)
    rows = tables.rows("SELECT id, label FROM entity WHERE iri = ?", (iri,))
    if not rows:
        return None
    key, label = rows[0][0], str(rows[0][1] or iri)[:LONGEST_VALUE]
    schema = graph.schema
    relation = _home_table(graph, tables, iri, key)
    classes = _classes(relation, schema)
    facts = [*_columns(tables, relation, key, schema), *_junctions(tables, key, classes, schema, bounds)]
    linking = list(_incoming(tables, key, classes, schema, bounds))
    ids = {_id(end.iri) for each in (*facts, *linking) for end in each.ends if end.iri}
    names = look_up_entities(ids, graph.stored)
    return Thing(
        iri,
        label,
        tuple(FactEnd(schema.class_of[c].label, c) for c in _most_specific(relation, schema)),
        tuple(_with_names(each, names) for each in facts),
        tuple(_with_names(each, names) for each in linking),
        tuple(_passages(graph, iri, label)) if bounds.passages else (),
        tables.complete,
    )


@dataclass
class _TimedTables:
    """The tables until the time is over; `complete` is then false."""

    tables: Tables
    deadline: float
    complete: bool = field(default=True)

    def rows(self, sql: str, params: Sequence[Cell] = (), limit: int = PAGE_LIMITS.values) -> list[tuple[Cell, ...]]:
        left = self.deadline - time.monotonic()
        if left <= 0:
            self.complete = False
            return []
        try:
            return self.tables.run(sql, params, limit=limit, seconds=left).rows
        except ToolError as error:
            if error.kind != "timeout":
                raise
            self.complete = False
            return []


def _fact_end(value: Cell, text: Cell, link: Cell) -> FactEnd | None:
    """The end of a fact in a row; the IRI of a thing is its id until `_with_names` replaces it."""
    if link is not None:
        return FactEnd("", str(link))
    literal = text if text is not None else value
    return None if literal is None else FactEnd(str(literal)[:LONGEST_VALUE])


def _id(text: str) -> EntityId:
    return int(text) if text.isdecimal() else text


def _with_names(facts: PredicateFacts, names: dict[EntityId, tuple[str, str]]) -> PredicateFacts:
    ends = [names.get(_id(end.iri)) if end.iri else None for end in facts.ends]
    named_ends = tuple(
        FactEnd(known[1], known[0]) if known else end for end, known in zip(facts.ends, ends, strict=True)
    )
    return PredicateFacts(facts.predicate, facts.label, facts.unit, named_ends, facts.more)


def _home_table(graph: Graph, tables: _TimedTables, iri: str, key: Cell) -> Relation | None:
    """The table that has the thing's row."""
    known = graph.lexicon.thing(iri)
    named = graph.schema.relation_of.get(known.relation) if known else None
    if named is not None:
        return named
    for relation in graph.schema.relations:
        query = f"SELECT 1 FROM {quote_if_needed(relation.name)} WHERE {quote_if_needed(relation.key)} = ?"
        if relation.kind == "table" and tables.rows(query, (key,), 1):
            return relation
    return None


def _classes(relation: Relation | None, schema: Schema) -> frozenset[str]:
    """All classes of the things in a table."""
    name = relation.name if relation else ""
    return frozenset(iri for iri, relations in schema.groups_of_class.items() if name in relations)


def _most_specific(relation: Relation | None, schema: Schema) -> list[str]:
    own = next((g.classes for g in schema.groups if relation and g.relation == relation.name), ())
    return sorted((c for c in own if c in schema.class_of), key=lambda c: schema.class_of[c].count)


def _may_apply(kinds: dict[str, int], classes: Collection[str]) -> bool:
    return not classes or "" in kinds or any(c in kinds for c in classes)


def _columns(tables: _TimedTables, relation: Relation | None, key: Cell, schema: Schema) -> Iterator[PredicateFacts]:
    """The facts in the thing's own row."""
    if relation is None:
        return
    cells = {n: c for c in relation.columns for n in (c.value, c.low, c.high, c.text, c.link) if n}
    names = list(cells)
    if not names:
        return
    columns = ", ".join(map(quote_if_needed, names))
    own_row = f"{quote_if_needed(relation.name)} WHERE {quote_if_needed(relation.key)} = ?"
    query = f"SELECT {columns} FROM {own_row}"
    row = dict(zip(names, next(iter(tables.rows(query, (key,), 1)), ()), strict=False))
    for column in relation.columns:
        predicate = schema.predicate_of[column.predicate]
        raw = row.get(column.text)
        end = _fact_end(row.get(column.value), raw, row.get(column.link))
        if end is not None:
            unit = predicate.unit if raw is None and not end.iri else ""
            yield PredicateFacts(predicate.iri, predicate.label, unit, (end,))


def _junctions(
    tables: _TimedTables, key: Cell, classes: Collection[str], schema: Schema, bounds: BrowseLimits
) -> Iterator[PredicateFacts]:
    """The facts in junction tables."""
    for iri, name in schema.junctions.items():
        predicate, relation = schema.predicate_of.get(iri), schema.relation_of.get(name)
        if predicate is None or relation is None or iri == TYPE or not _may_apply(predicate.domains, classes):
            continue
        column = relation.columns[0]
        rows = tables.rows(
            f"{_cells(column, relation)} WHERE {quote_if_needed(relation.key)} = ?", (key,), MOST_COUNTED
        )
        most = bounds.most(iri, bounds.values)
        ends = [end for row in rows[:most] if (end := _fact_end(*row)) is not None]
        if ends:
            raw = any(row[1] is not None for row in rows)
            yield PredicateFacts(
                iri, predicate.label, "" if raw else predicate.unit, tuple(ends), len(rows) - len(ends)
            )


def _cells(column: Column, relation: Relation) -> str:
    names = (quote_if_needed(name) if name else "NULL" for name in (column.value, column.text, column.link))
    return f"SELECT {', '.join(names)} FROM {quote_if_needed(relation.name)}"


def _incoming(
    tables: _TimedTables, key: Cell, classes: Collection[str], schema: Schema, bounds: BrowseLimits
) -> Iterator[PredicateFacts]:
    """The things that link to this one, by predicate."""
    found: dict[str, list[EntityId]] = {}
    for relation in schema.relations:
        for column in relation.columns if relation.kind != "view" else ():
            predicate = schema.predicate_of[column.predicate]
            if column.link and predicate.iri != TYPE and _may_apply(predicate.ranges, classes):
                own, link = quote_if_needed(relation.key), quote_if_needed(column.link)
                query = f"SELECT {own} FROM {quote_if_needed(relation.name)} WHERE {link} = ?"
                rows = tables.rows(query, (key,), MOST_COUNTED)
                found.setdefault(predicate.iri, []).extend(row[0] for row in rows if is_id(row[0]))
    for iri, ids in found.items():
        shown = sorted(set(ids), key=str)[: bounds.most(iri, bounds.linking)]
        if shown:
            ends = tuple(FactEnd("", str(i)) for i in shown)
            yield PredicateFacts(iri, schema.predicate_of[iri].label, "", ends, len(set(ids)) - len(shown))


def _passages(graph: Graph, iri: str, label: str) -> Iterator[ThingPassage]:
    """Passages of texts that contain the thing's name; without any the passage of its own facts."""
    if graph.passages is None:
        return
    found: list[ThingPassage] = []
    # no sentence of a passage contains a longer name
    if graph.lexical is not None and len(label) <= LONGEST_SEARCHED:
        hits = lexical.search(graph.lexical, graph.passages, label, label, round=1, limit=MOST_PASSAGES).evidence
        found = [
            ThingPassage(e.title, e.text, e.document, e.start, e.end)
            for e in hits
            if e.kind == "sentence" and e.document and label.casefold() in e.text.casefold()
        ]
    own = (ThingPassage(p.title, p.text[:LONGEST_VALUE]) for p in graph.passages.by_key(iri, 1))
    yield from found[:MOST_PASSAGES] or own
