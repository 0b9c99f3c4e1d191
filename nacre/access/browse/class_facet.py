"""The values of a property in a class, with counts: Graph + TableRequest -> Facet."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from nacre.access.browse.class_table import MOST_COUNTED
from nacre.access.browse.table_source import (
    SECONDS,
    RowConditions,
    SourceColumn,
    TableSource,
    row_conditions,
    table_source,
)
from nacre.records.browse import FACET_VALUES, LONGEST_CELL, Facet, FacetValue, TableRequest, facet_key
from nacre.stores.graph import Graph
from nacre.stores.sqlite.identifiers import quote_if_needed
from nacre.stores.sqlite.tables import Cell, Tables
from tools.provenance.entity_ids import EntityId, is_id, look_up_entities

# the values of larger classes are counted in about so many members, or ten times as many, until so many of these pass
# the filters: a share of them is then known to about 3 %
SAMPLED, ENOUGH = 40_000, 1_000
# ids are hashes of so many values, so that a range of ids is a random sample
IDS = 2**63


def class_facet(graph: Graph, request: TableRequest, predicate: str) -> Facet | None:
    """The most frequent values of a property among the members of a request, without its filters of the same property;
    None if the class is unknown. Raises ToolError.

    The values of a whole large class are those that the ingest counted; among filtered members of one they are
    estimated, unless few members pass.
    """
    source = table_source(graph, request.iri)
    if source is None:
        return None
    column = source.find(predicate)
    tables = graph.tables
    others = tuple(each for each in request.filters if each.predicate != predicate)
    where = row_conditions(source, replace(request, filters=others))
    stored = tables.find_meta(facet_key(request.iri, predicate)) if not source.is_typed else None
    known = json.loads(stored) if stored is not None else None
    if known is not None and not where.sql:
        values = _facet_values(tables, known["values"])
        return Facet(predicate, values, known["more"], known["low"], known["high"])
    counted = _counted(source, column, where.sql)
    is_complete = source.own.count <= MOST_COUNTED
    sample = _sample(tables, source, counted, where)
    if sample is not None:
        rows, scale = sample
        low, high = (
            (known["low"], known["high"]) if known is not None else _range(tables, column, counted, where.values)
        )
        values = tuple(
            replace(each, count=_rounded(each.count * scale)) for each in _facet_values(tables, rows[:FACET_VALUES])
        )
        return Facet(predicate, values, True, low, high, estimated=True)
    rows = tables.run(counted.query("", FACET_VALUES), where.values, limit=FACET_VALUES, seconds=SECONDS).rows
    low, high = _range(tables, column, counted, where.values)
    return Facet(predicate, _facet_values(tables, rows), len(rows) == FACET_VALUES, low, high, is_complete)


def _sample(
    tables: Tables, source: TableSource, counted: "_Counted", where: RowConditions
) -> tuple[list[tuple[Cell, ...]], float] | None:
    """The most frequent values in a sample of the members, and the factor from their counts to those of all members;
    None if all are to be counted. The keys of a database are no hashes, so it counts all."""
    members = SAMPLED
    while not source.is_typed and 2 * members <= source.own.count:
        chosen = f"{source.key} BETWEEN 0 AND {IDS // source.own.count * members}"
        size = f"SELECT count(*) FROM ({counted.inner(chosen)})"
        [(passing,)] = tables.run(size, where.values, limit=1, seconds=SECONDS).rows
        if int(passing or 0) >= ENOUGH:
            rows = tables.run(counted.query(chosen, FACET_VALUES), where.values, limit=FACET_VALUES, seconds=SECONDS)
            return rows.rows, source.own.count / members
        members *= 10
    return None


def _range(tables: Tables, column: SourceColumn, counted: "_Counted", values: Sequence[Cell]) -> tuple[Cell, Cell]:
    """The lowest and highest number or date; None for other columns."""
    if column.shown.kind not in ("number", "date"):
        return None, None
    kind = "IN ('integer', 'real')" if column.shown.kind == "number" else "= 'text'"
    # the columns of a database have one type each
    of_type = f" WHERE typeof(v) {kind}" if tables.is_local else ""
    bounds = f"SELECT min(v), max(v) FROM ({counted.inner('')}){of_type}"
    [(low, high)] = tables.run(bounds, values, limit=1, seconds=SECONDS).rows
    return low, high


def _rounded(count: float) -> int:
    """A count with two significant digits.

    >>> _rounded(82_410.0), _rounded(7.2)
    (82000, 7)
    """
    return int(round(count, min(0, 2 - len(str(int(count))))))


@dataclass(frozen=True)
class _Counted:
    """SQL for the values of a property: `value` and `link` of the rows of `tables` that pass `where`."""

    value: str
    link: str
    tables: str
    where: str

    @property
    def is_one(self) -> bool:
        """Whether the property has only literals or only links."""
        return "NULL" in (self.value, self.link)

    def inner(self, condition: str) -> str:
        """The values and links of at most MOST_COUNTED rows."""
        joined = " AND ".join(each for each in (self.where.removeprefix(" WHERE "), condition) if each)
        where = f" WHERE {joined}" if joined else ""
        return f"SELECT {self.value} AS v, {self.link} AS l FROM {self.tables}{where} LIMIT {MOST_COUNTED + 1}"

    def query(self, condition: str, most: int = 1) -> str:
        """The most frequent values: value, link, count."""
        by = "v, l" if not self.is_one else "l" if self.value == "NULL" else "v"
        present = f"FROM ({self.inner(condition)}) WHERE v IS NOT NULL OR l IS NOT NULL"
        return f"SELECT v, l, count(*) {present} GROUP BY {by} ORDER BY 3 DESC, {by} LIMIT {most}"


def _counted(source: TableSource, column: SourceColumn, where: str) -> _Counted:
    tables, alias = source.rows, "r"
    if column.junction is not None:
        own = quote_if_needed(column.junction.key)
        tables, alias = f"{tables} JOIN {quote_if_needed(column.junction.name)} j ON j.{own} = {source.key}", "j"
    value, link = column.expressions(alias)
    return _Counted(value, link, tables, where)


def _facet_values(tables: Tables, rows: Sequence[Sequence[Cell]]) -> tuple[FacetValue, ...]:
    """Values from rows of value, link and count."""
    names = look_up_entities({row[1] for row in rows if is_id(row[1])}, tables)
    return tuple(_facet_value(row, names) for row in rows)


def _facet_value(row: Sequence[Cell], names: dict[EntityId, tuple[str, str]]) -> FacetValue:
    value, link, count = row
    iri, label = names.get(link, ("", "")) if is_id(link) else ("", "")
    return FacetValue((label or ("" if value is None else str(value)))[:LONGEST_CELL], iri, int(count or 0))
