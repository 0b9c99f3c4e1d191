"""Counts, extremes and values of large tables: the schema of a sample -> the schema of all rows."""

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from nacre.errors import ToolError
from nacre.records.schema import Predicate, Relation, Schema
from nacre.stores.databases.attached_tables import AttachedTables
from nacre.stores.sqlite.identifiers import quote_identifier
from nacre.stores.sqlite.tables import Cell

log = logging.getLogger(__name__)

SECONDS = 60.0


def with_statistics(
    schema: Schema, tables: AttachedTables, rows: Mapping[str, int], partial: Collection[str]
) -> Schema:
    """The schema with the numbers of all rows; `rows` by relation, `partial` are the relations not sampled whole."""
    counted = {c.iri: rows.get(c.relation, c.count) for c in schema.classes}
    predicates = {p.iri: p for p in schema.predicates}
    for relation in schema.relations:
        if relation.name in partial:
            predicates |= _counted(relation, predicates, tables, rows[relation.name])
    found = tuple(predicates[p.iri] for p in schema.predicates)
    return replace(
        schema,
        classes=tuple(replace(c, count=counted[c.iri]) for c in schema.classes),
        groups=tuple(replace(g, count=rows.get(g.relation, g.count)) for g in schema.groups),
        predicates=found,
        triples=sum(p.triples for p in found) + sum(counted.values()),
        entities=sum(counted.values()),
    )


def _counted(
    relation: Relation, predicates: Mapping[str, Predicate], tables: AttachedTables, rows: int
) -> dict[str, Predicate]:
    columns = [(c, quote_identifier(c.value or c.link)) for c in relation.columns]
    shown = [f"count({name}), count(DISTINCT {name})" for _, name in columns]
    shown += [f"min({name}), max({name})" for _, name in columns]
    query = f"SELECT {', '.join(shown)} FROM {quote_identifier(relation.name)}"
    try:
        cells: Sequence[Cell] = tables.run(query, limit=1, seconds=SECONDS).rows[0]
    except ToolError as error:
        log.warning("%s: counts are estimated (%s)", relation.name, error)
        return {c.predicate: _scaled(predicates[c.predicate], rows) for c, _ in columns}
    found = {}
    for number, (column, _) in enumerate(columns):
        predicate = predicates[column.predicate]
        count, distinct = int(cells[2 * number] or 0), int(cells[2 * number + 1] or 0)
        low, high = cells[2 * len(columns) + 2 * number], cells[2 * len(columns) + 2 * number + 1]
        changes: dict[str, Any] = {"triples": count, "subjects": count, "objects": distinct}
        changes["domains"] = dict.fromkeys(predicate.domains, count)
        changes["ranges"] = dict.fromkeys(predicate.ranges, distinct)
        if isinstance(low, int | float) and isinstance(high, int | float) and predicate.minimum is not None:
            changes |= {"minimum": float(low), "maximum": float(high)}
        if predicate.values and distinct > len(predicate.values):
            changes |= {"values": (), "samples": predicate.samples or predicate.values[:8]}
        found[column.predicate] = replace(predicate, **changes)
    return found


def _scaled(predicate: Predicate, rows: int) -> Predicate:
    return replace(predicate, triples=rows, subjects=rows, domains=dict.fromkeys(predicate.domains, rows))
