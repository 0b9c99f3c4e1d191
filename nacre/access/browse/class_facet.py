"""The values of a property in a class, with counts: Graph + TableRequest -> Facet."""

from dataclasses import dataclass, replace

from nacre.access.browse.class_table import LONGEST_CELL, MOST_COUNTED
from nacre.access.browse.table_source import SECONDS, SourceColumn, TableSource, row_conditions, table_source
from nacre.records.browse import Facet, FacetValue, TableRequest
from nacre.stores.graph import Graph
from nacre.stores.sqlite.identifiers import quote_if_needed
from nacre.stores.sqlite.tables import Cell
from tools.provenance.entity_ids import EntityId, is_id, look_up_entities

FACET_VALUES = 30
# The values of larger classes are first counted in about so many rows: to group all rows means to sort them. A value
# among the most frequent ones is among the candidates of this sample, all of whose members are then counted.
SAMPLED, CANDIDATES = 20_000, 100
# so few values are counted without sorting
FEW = 12


def class_facet(graph: Graph, request: TableRequest, predicate: str) -> Facet | None:
    """The most frequent values of a property among the members of a request, without its filters of the same property;
    None if the class is unknown. Raises ToolError."""
    source = table_source(graph, request.iri)
    if source is None:
        return None
    column = source.find(predicate)
    others = tuple(each for each in request.filters if each.predicate != predicate)
    where = row_conditions(source, replace(request, filters=others))
    counted = _counted(source, column, where.sql)
    run = graph.tables.run
    chosen, candidates = "", tuple[Cell, ...]()
    # a sample is taken by ids, which are numbers in ingested graphs alone; databases group all rows themselves
    is_sampled = source.own.count > 2 * SAMPLED and not source.is_typed
    if is_sampled and counted.is_one and not column.column.link:
        [(size,)] = run(f"SELECT count(*) FROM ({counted.inner('')})", where.values, limit=1, seconds=SECONDS).rows
        if int(size or 0) > 2 * SAMPLED:
            sample = f"abs({source.key}) % {int(size or 0) // SAMPLED} = 0"
            rows = run(counted.query(sample, CANDIDATES), where.values, limit=CANDIDATES, seconds=SECONDS).rows
            candidates = tuple(row[0] for row in rows)
            chosen = f"{counted.value} IN ({', '.join('?' * len(rows))})"
    if 1 < len(candidates) <= FEW:
        sums = ", ".join("sum(v IS ?)" for _ in candidates)
        query = f"SELECT {sums} FROM ({counted.inner('')})"
        [row] = run(query, (*candidates, *where.values), limit=1, seconds=SECONDS).rows
        found: list[tuple[Cell, ...]] = [(value, None, n) for value, n in zip(candidates, row, strict=True)]
        found.sort(key=lambda each: (-int(each[2] or 0), str(each[0])))
    else:
        query = counted.query(chosen, FACET_VALUES)
        found = run(query, (*where.values, *candidates), limit=FACET_VALUES, seconds=SECONDS).rows
    names = look_up_entities({row[1] for row in found if is_id(row[1])}, graph.tables)
    low = high = None
    if column.shown.kind in ("number", "date"):
        kind = "IN ('integer', 'real')" if column.shown.kind == "number" else "= 'text'"
        # the columns of a database have one type each
        of_type = f" WHERE typeof(v) {kind}" if graph.tables.is_local else ""
        bounds = f"SELECT min(v), max(v) FROM ({counted.inner('')}){of_type}"
        [(low, high)] = run(bounds, where.values, limit=1, seconds=SECONDS).rows
    values = tuple(_facet_value(row, names) for row in found)
    more = bool(chosen) or len(found) == FACET_VALUES
    return Facet(predicate, values, more, low, high, complete=source.own.count <= MOST_COUNTED)


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


def _facet_value(row: tuple[Cell, ...], names: dict[EntityId, tuple[str, str]]) -> FacetValue:
    value, link, count = row
    iri, label = names.get(link, ("", "")) if is_id(link) else ("", "")
    return FacetValue((label or ("" if value is None else str(value)))[:LONGEST_CELL], iri, int(count or 0))
