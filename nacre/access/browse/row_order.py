"""The members on a page, in order: TableSource + TableRequest -> their keys.

Only what decides the order is read for all rows. An ingest indexes the names, numbers and dates of large tables
(`ingestion/induce/indexes.py`); the order below is that of these indexes, so that pages far behind cost little too.
"""

from collections.abc import Iterator

from nacre.access.browse.table_source import SECONDS, RowConditions, SourceColumn, TableSource
from nacre.errors import ToolError
from nacre.records.browse import TableRequest
from nacre.stores.sqlite.identifiers import quote_if_needed
from nacre.stores.sqlite.tables import Cell, Tables

# larger classes whose names are not in their table are in the order of ids: to look all names up takes longer than a
# reader waits (measured)
MOST_NAMED_IN_ORDER = 100_000


def page_keys(
    tables: Tables, source: TableSource, request: TableRequest, where: RowConditions, size: int
) -> list[Cell]:
    """The keys of at most `size` members from `request.skip` on, which pass `where`. Raises ToolError."""
    column = _sort_column(source, request)
    if column is None:
        value = source.name
    elif column.column.link:
        value = ""
    else:
        value = f"r.{quote_if_needed(column.column.value)}"
    if tables.is_local and column is not None and column.column.link and not column.column.value:
        return list(_by_target(tables, source, column, request, where, size))
    if not value or not tables.is_local:
        query = f"SELECT {source.key} FROM {source.rows}{where.sql} {row_order(source, request)}"
        return _keys(tables, query, where.values, size, request.skip)
    if request.filters or (request.search and column is not None):
        # no index: rows that pass may be so rare that looking up each row in its order takes longer than to read all
        value = f"+{value}"
    elif request.descending:
        return _downwards(tables, source, value, where, request.skip, size)
    order = f"ORDER BY {value} IS NULL, {value} {'DESC' if request.descending else 'ASC'}, {source.key}"
    query = f"SELECT {source.key}, {value} IS NULL, {value} FROM {source.rows}{where.sql} {order}"
    return _keys(tables, query, where.values, size, request.skip)


def row_order(source: TableSource, request: TableRequest) -> str:
    """The ORDER BY of a request in one query: members without a value come last. Raises ToolError for a property that
    can't be sorted by."""
    way = "DESC" if request.descending else "ASC"
    column = _sort_column(source, request)
    if column is not None:
        expression = _shown_value(source, column)
        return f"ORDER BY {expression} IS NULL, {expression} {way}, {source.key}"
    if source.name:
        return f"ORDER BY {source.name} {way}, {source.key}"
    if source.own.count <= MOST_NAMED_IN_ORDER:
        return f"ORDER BY (SELECT e.label FROM entity e WHERE e.id = {source.key}) {way}, {source.key}"
    return f"ORDER BY {source.key} {way}"


def _sort_column(source: TableSource, request: TableRequest) -> SourceColumn | None:
    """The column to sort by; None for the name. Raises ToolError for a property that can't be sorted by."""
    if not request.sort:
        return None
    column = source.find(request.sort)
    if column.junction is not None:
        raise ToolError("unknown_name", f"{column.shown.label!r} may have several values, so it is not sorted by.")
    return column


def _shown_value(source: TableSource, column: SourceColumn) -> str:
    """SQL for a value, or the name of a linked thing."""
    value, link = column.expressions("r")
    return f"coalesce({value}, (SELECT t.label FROM entity t WHERE t.id = {link}))" if column.column.link else value


def _keys(tables: Tables, query: str, values: tuple[Cell, ...], size: int, skip: int) -> list[Cell]:
    rows = tables.run(f"{query} LIMIT {size} OFFSET {skip}", values, limit=size, seconds=SECONDS).rows
    return [row[0] for row in rows]


def _downwards(
    tables: Tables, source: TableSource, value: str, where: RowConditions, skip: int, size: int
) -> list[Cell]:
    """The rows with a value from the greatest on, then the others: each part in the order of the index."""
    some, none = where.and_also(f"({value} IS NULL) = 0"), where.and_also(f"({value} IS NULL) = 1")
    query = f"SELECT {source.key}, {value} FROM {source.rows}{some} ORDER BY {value} DESC, {source.key} DESC"
    found = _keys(tables, query, where.values, size, skip)
    if len(found) == size:
        return found
    valued = skip + len(found)
    if not found:
        counted = f"SELECT count(*) FROM {source.rows}{some}"
        [(number,)] = tables.run(counted, where.values, limit=1, seconds=SECONDS).rows
        valued = int(number or 0)
    rest = f"SELECT {source.key} FROM {source.rows}{none} ORDER BY {source.key}"
    return found + _keys(tables, rest, where.values, size - len(found), max(0, skip - valued))


def _by_target(
    tables: Tables, source: TableSource, column: SourceColumn, request: TableRequest, where: RowConditions, size: int
) -> Iterator[Cell]:
    """By the names of the linked things: the targets of the page first, then the rows of each.

    A name is looked up once for each target instead of once for each row. Rows without a link come last.
    """
    link, end = column.expressions("r")[1], request.skip + size
    way = "DESC" if request.descending else "ASC"
    each = f"SELECT {link} AS l, count(*) AS n FROM {source.rows}{where.sql} GROUP BY {link}"
    named = f"SELECT l, (SELECT t.label FROM entity t WHERE t.id = l) AS label, n FROM ({each})"
    order = f"ORDER BY label IS NULL, label {way}, l"
    numbered = f"SELECT l, n, sum(n) OVER ({order} ROWS UNBOUNDED PRECEDING) - n AS first FROM ({named})"
    page = f"SELECT l, n, first FROM ({numbered}) WHERE first < {end} AND first + n > {request.skip} ORDER BY first"
    for target, count, first in tables.run(page, where.values, limit=size, seconds=SECONDS).rows:
        start = max(0, request.skip - int(first or 0))
        most = min(int(count or 0), end - int(first or 0)) - start
        rows = f"SELECT {source.key} FROM {source.rows}{where.and_also(f'{link} IS ?')} ORDER BY {source.key}"
        yield from _keys(tables, rows, (*where.values, target), most, start)
