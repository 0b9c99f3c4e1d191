"""A page of a class as a table: Graph + TableRequest -> MemberTable. Every query has limits of rows and seconds."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from nacre.access.browse.row_order import page_keys, row_order
from nacre.access.browse.table_source import (
    SECONDS,
    RowConditions,
    SourceColumn,
    TableSource,
    row_conditions,
    table_source,
)
from nacre.errors import ToolError
from nacre.language.forms.nouns import plural
from nacre.records.browse import LONGEST_CELL, FactEnd, MemberTable, TableRequest, TableRow
from nacre.records.schema import Relation
from nacre.stores.graph import Graph
from nacre.stores.sqlite.identifiers import quote_if_needed
from nacre.stores.sqlite.tables import Cell
from tools.provenance.entity_ids import EntityId, is_id, look_up_entities

# rows of a page, columns of a table that names none, and values of a cell
PAGE, USUAL_COLUMNS, MOST_VALUES = 100, 8, 5
# keys in one query
MOST_KEYS = 1000
# rows that are counted
MOST_COUNTED = 1_000_000


def class_table(graph: Graph, request: TableRequest, size: int = PAGE) -> MemberTable | None:
    """A page of at most `size` members; None if the class is unknown. Raises ToolError: unknown property, time out,
    no tables here."""
    source = table_source(graph, request.iri)
    if source is None:
        return None
    columns = [source.column_of[iri] for iri in request.columns if iri in source.column_of]
    if not columns:
        columns = sorted(source.column_of.values(), key=lambda c: -c.shown.members)[:USUAL_COLUMNS]
    where = row_conditions(source, request)
    own = source.own
    single = [column for column in columns if column.junction is None]
    rows = _page_rows(graph, source, request, where, single, size)
    values = _cell_values(graph, columns, single, rows)
    members = look_up_entities([row[0] for row in rows if is_id(row[0])], graph.tables)
    is_last = len(rows) < size and (rows or not request.skip)
    matching, at_least = (request.skip + len(rows), False) if is_last else _count(graph, source, where)
    return MemberTable(
        own.iri,
        own.label,
        plural(own.label),
        own.count,
        matching,
        at_least,
        tuple(column.shown for column in columns),
        tuple(column.shown for column in source.column_of.values() if column not in columns),
        tuple(
            TableRow(iri, label[:LONGEST_CELL], tuple(ends))
            for row, ends in zip(rows, values, strict=True)
            if is_id(row[0])
            for iri, label in [members[row[0]]]
        ),
        request.skip,
    )


def _page_rows(
    graph: Graph,
    source: TableSource,
    request: TableRequest,
    where: RowConditions,
    single: Sequence[SourceColumn],
    size: int,
) -> list[tuple[Cell, ...]]:
    """The key of each member on the page, with the value and the link in each column."""
    tables = graph.tables
    cells = "".join(f", {expression}" for column in single for expression in column.expressions("r"))
    select = f"SELECT {source.key}{cells} FROM {source.rows}"
    if not tables.is_local:
        query = f"{select}{where.sql} {row_order(source, request)} LIMIT {size} OFFSET {request.skip}"
        return tables.run(query, where.values, limit=size, seconds=SECONDS).rows
    keys = page_keys(tables, source, request, where, size)
    found: dict[Cell, tuple[Cell, ...]] = {}
    for start in range(0, len(keys), MOST_KEYS):
        part = keys[start : start + MOST_KEYS]
        query = f"{select} WHERE {source.key} IN ({', '.join('?' * len(part))})"
        found |= {row[0]: row for row in tables.run(query, part, limit=len(part), seconds=SECONDS).rows}
    return [found[key] for key in keys]


def _count(graph: Graph, source: TableSource, where: RowConditions) -> tuple[int | None, bool]:
    """The number of members that pass, and whether there are more than were counted; None if time ran out."""
    if not where.sql:
        return source.own.count, False
    inner = f"SELECT 1 FROM {source.rows}{where.sql} LIMIT {MOST_COUNTED + 1}"
    try:
        [(number,)] = graph.tables.run(f"SELECT count(*) FROM ({inner})", where.values, limit=1, seconds=SECONDS).rows
    except ToolError as error:
        if error.kind != "timeout":
            raise
        return None, False
    return min(int(number or 0), MOST_COUNTED), int(number or 0) > MOST_COUNTED


def _cell_values(
    graph: Graph, columns: Sequence[SourceColumn], single: Sequence[SourceColumn], rows: Sequence[tuple[Cell, ...]]
) -> list[list[tuple[FactEnd, ...]]]:
    """The ends of the facts in each row, by column."""
    raw: dict[tuple[Any, str], list[tuple[Cell, Cell]]] = defaultdict(list)
    for row in rows:
        for n, column in enumerate(single):
            raw[row[0], column.shown.predicate].append((row[1 + 2 * n], row[2 + 2 * n]))
    for column in columns:
        if column.junction is not None:
            for key, *cell in _junction_rows(graph, column, column.junction, [row[0] for row in rows]):
                raw[key, column.shown.predicate].append((cell[0], cell[1]))
    ids = {link for cells in raw.values() for _, link in cells if is_id(link)}
    names = look_up_entities(ids, graph.tables)
    return [
        [
            tuple(end for cell in raw[row[0], column.shown.predicate] if (end := _end(cell, names)) is not None)
            for column in columns
        ]
        for row in rows
    ]


def _junction_rows(
    graph: Graph, column: SourceColumn, junction: Relation, keys: Iterable[Cell]
) -> list[tuple[Cell, ...]]:
    """Key, value and link of at most MOST_VALUES facts of each row."""
    value, link = column.expressions("j")
    own, name = quote_if_needed(junction.key), quote_if_needed(junction.name)
    found: list[tuple[Cell, ...]] = []
    for key in keys:
        query = f"SELECT j.{own}, {value}, {link} FROM {name} j WHERE j.{own} = ?"
        found += graph.tables.run(query, (key,), limit=MOST_VALUES, seconds=SECONDS).rows
    return found


def _end(cell: tuple[Cell, Cell], names: dict[EntityId, tuple[str, str]]) -> FactEnd | None:
    value, link = cell
    if is_id(link) and link in names:
        iri, label = names[link]
        return FactEnd(label[:LONGEST_CELL], iri)
    return None if value is None else FactEnd(str(value)[:LONGEST_CELL])
