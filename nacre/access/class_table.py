"""A class as a table: Graph + TableRequest -> MemberTable; the values of a property, with counts -> Facet. Rows and
seconds are limited; the order is that of the indexes of large tables (`ingestion/induce/write_tables.py`)."""

import calendar
import json
import math
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nacre.errors import ToolError
from nacre.language.quantities import round_step
from nacre.language.translation import is_in_language, translated_plural
from nacre.language.word_forms import plural
from nacre.records.browse import (
    FACET_VALUES,
    LONGEST_CELL,
    CellKind,
    Facet,
    FacetBin,
    FacetValue,
    FactEnd,
    MemberTable,
    RowFilter,
    TableColumn,
    TableRequest,
    TableRow,
    facet_key,
)
from nacre.records.schema import Class, Column, Predicate, Relation, Schema
from nacre.stores.catalog import Graph
from nacre.stores.sqlite.tables import Cell, Tables, quote_if_needed
from nacre.understanding.glossing import label_languages
from tools.provenance import EntityId, is_id, look_up_entities

PAGE, USUAL_COLUMNS, MOST_VALUES = 100, 8, 5  # rows of a page, columns of a table that names none, and values of a cell
MOST_KEYS = 1000  # keys in one query
MOST_COUNTED = 1_000_000  # rows that are counted


def class_table(graph: Graph, request: TableRequest, size: int = PAGE) -> MemberTable | None:
    """At most `size` members; None for an unknown class. Raises ToolError: unknown property, timeout, no tables."""
    source = table_source(graph, request.iri)
    if source is None:
        return None
    columns = [source.column_of[iri] for iri in request.columns if iri in source.column_of]
    if not columns:
        fullest = sorted(source.column_of.values(), key=lambda c: -c.shown.members)[:USUAL_COLUMNS]
        columns = [column for column in source.column_of.values() if column in fullest]
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
        plural_label(own, graph),
        own.count,
        matching,
        at_least,
        tuple(column.shown for column in columns),
        tuple(column.shown for column in source.column_of.values() if column not in columns),
        tuple(
            TableRow(iri, label[:LONGEST_CELL], tuple(ends))
            for row, ends in zip(rows, values, strict=True)
            if is_id(row[0])
            # a view of a database may not have a row any more when it is asked for its name
            for iri, label in [members.get(row[0]) or (str(row[0]), str(row[0]).rpartition("/")[2])]
        ),
        request.skip,
    )


def plural_label(own: Class, graph: Graph) -> str:
    """The plural of the label of a class in the language of the labels; the label itself if none is known there."""
    languages = label_languages(graph.lexicon.of_schema)
    code = next((each for each, (is_main, _) in languages.items() if is_main or is_in_language(own.label, each)), "")
    return (translated_plural(own.label, code) or own.label) if code else plural(own.label)


@dataclass(frozen=True)
class SourceColumn:
    """A property with where its values are: in the relation of the class, or in a `junction`. `has_raw_text`: raw text
    stands where no number could be parsed. On a server a column has values of one type."""

    shown: TableColumn
    column: Column
    junction: Relation | None
    has_raw_text: bool = True

    @property
    def sorted_by(self) -> str:
        """The column by which values are in order: of dates in words the first possible day."""
        return self.column.low if self.shown.kind == "date" and self.column.low else self.column.value

    def expressions(self, alias: str) -> tuple[str, str]:
        """SQL for the value and for the id of the linked thing, each NULL if there is none."""
        column = self.column
        texts = (column.text,) if self.has_raw_text or not column.value else ()
        names = [f"{alias}.{quote_if_needed(name)}" for name in (column.value, *texts) if name]
        value = f"coalesce({', '.join(names)})" if len(names) > 1 else (names or ["NULL"])[0]
        return value, f"{alias}.{quote_if_needed(column.link)}" if column.link else "NULL"


@dataclass(frozen=True)
class TableSource:
    """The relation that has the members of a class, and its properties by IRI. `name` is SQL for the name of a member
    if the relation has it itself, else "". The columns of a database are typed: each has values of one type."""

    own: Class
    relation: Relation
    column_of: dict[str, SourceColumn]
    name: str
    is_typed: bool = False

    @property
    def key(self) -> str:
        """SQL for the id of a row."""
        return f"r.{quote_if_needed(self.relation.key)}"

    @property
    def rows(self) -> str:
        """SQL for the relation, as `r`."""
        return f"{quote_if_needed(self.relation.name)} r"

    def find(self, predicate: str) -> SourceColumn:
        """The column of a property. Raises ToolError if the class has none."""
        if predicate not in self.column_of:
            raise ToolError("unknown_name", f"The class {self.own.label!r} has no property {predicate[:200]!r}.")
        return self.column_of[predicate]


@dataclass(frozen=True)
class RowConditions:
    """Conditions with their values; `sql` is empty without any."""

    sql: str
    values: tuple[Cell, ...]

    def and_also(self, condition: str) -> str:
        """The SQL with one more condition."""
        return f"{self.sql} AND {condition}" if self.sql else f" WHERE {condition}"


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
    raw: dict[tuple[Any, str], list[tuple[Cell, Cell]]] = defaultdict(list)
    for row in rows:
        for n, column in enumerate(single):
            raw[row[0], column.shown.predicate].append((row[1 + 2 * n], row[2 + 2 * n]))
    for column in columns:
        if column.junction is None:
            continue
        value, link = column.expressions("j")
        own, name = quote_if_needed(column.junction.key), quote_if_needed(column.junction.name)
        query = f"SELECT {value}, {link} FROM {name} j WHERE j.{own} = ?"
        for row in rows:
            cells = graph.tables.run(query, (row[0],), limit=MOST_VALUES, seconds=SECONDS).rows
            raw[row[0], column.shown.predicate] += [(cell[0], cell[1]) for cell in cells]
    ids = {link for cells in raw.values() for _, link in cells if is_id(link)}
    names = look_up_entities(ids, graph.tables)
    return [
        [
            tuple(end for cell in raw[row[0], column.shown.predicate] if (end := _end(cell, names)) is not None)
            for column in columns
        ]
        for row in rows
    ]


def _end(cell: tuple[Cell, Cell], names: dict[EntityId, tuple[str, str]]) -> FactEnd | None:
    value, link = cell
    if is_id(link) and link in names:
        iri, label = names[link]
        return FactEnd(label[:LONGEST_CELL], iri)
    return None if value is None else FactEnd(str(value)[:LONGEST_CELL])


# members of larger classes that are counted, or ten times as many, until ENOUGH pass: shares are known to about 3 %
SAMPLED, ENOUGH = 40_000, 1_000

IDS = 2**63  # ids are hashes of so many values, so that a range of ids is a random sample


def class_facet(graph: Graph, request: TableRequest, predicate: str) -> Facet | None:
    """The most frequent values of a property among the members of a request, without its filters of the same property
    (None: unknown class); of large classes as counted by the ingest or, if filtered, estimated. Raises ToolError."""
    source, tables = table_source(graph, request.iri), graph.tables
    if source is None:
        return None
    column = source.find(predicate)
    others = tuple(each for each in request.filters if each.predicate != predicate)
    where = row_conditions(source, replace(request, filters=others))
    counted = property_values(source, column, where.sql)
    facet = _facet(tables, source, column, counted, where)
    if facet.low is None or not tables.is_local:
        return facet
    return replace(facet, bins=tuple(_bins(tables, source, counted, where, facet)))


def _facet(
    tables: Tables, source: TableSource, column: SourceColumn, counted: "ValueQuery", where: RowConditions
) -> Facet:
    predicate = column.shown.predicate
    stored = tables.find_meta(facet_key(source.own.iri, predicate)) if not source.is_typed else None
    known = json.loads(stored) if stored is not None else None
    if known is not None and not where.sql:
        values = _facet_values(tables, known["values"])
        return Facet(predicate, values, known["more"], known["low"], known["high"])
    sample = _sample(tables, source, counted, where)
    if sample is not None:
        rows, scale = sample
        stated = (known["low"], known["high"]) if known is not None else None
        low, high = stated or _range(tables, column, counted, where.values)
        sampled = _facet_values(tables, rows[:FACET_VALUES])
        values = tuple(replace(each, count=_rounded(each.count * scale)) for each in sampled)
        return Facet(predicate, values, True, low, high, estimated=True)
    rows = tables.run(counted.query("", FACET_VALUES), where.values, limit=FACET_VALUES, seconds=SECONDS).rows
    low, high = _range(tables, column, counted, where.values)
    return Facet(
        predicate, _facet_values(tables, rows), len(rows) == FACET_VALUES, low, high, source.own.count <= MOST_COUNTED
    )


def _sample(
    tables: Tables, source: TableSource, counted: "ValueQuery", where: RowConditions
) -> tuple[list[tuple[Cell, ...]], float] | None:
    """The most frequent values and the factor to all counts; None: count all (keys of databases are no hashes)."""
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


def _range(tables: Tables, column: SourceColumn, counted: "ValueQuery", values: Sequence[Cell]) -> tuple[Cell, Cell]:
    """The lowest and highest number or date; None for other columns."""
    if column.shown.kind not in ("number", "date") or column.sorted_by != column.column.value:
        return None, None
    kind = "IN ('integer', 'real')" if column.shown.kind == "number" else "= 'text'"
    # the columns of a database have one type each
    of_type = f" WHERE typeof(v) {kind}" if tables.is_local else ""
    bounds = f"SELECT min(v), max(v) FROM ({counted.inner('')}){of_type}"
    [(low, high)] = tables.run(bounds, values, limit=1, seconds=SECONDS).rows
    return low, high


BINS = 12  # parts of a range, at most


def _bins(
    tables: Tables, source: TableSource, counted: "ValueQuery", where: RowConditions, facet: Facet
) -> Iterator[FacetBin]:
    """Parts of a round width, of dates some months or years, with numbers of values; of large classes, of a sample."""
    share = source.own.count // SAMPLED if not source.is_typed and source.own.count >= 2 * SAMPLED else 1
    chosen = f"{source.key} BETWEEN 0 AND {IDS // share}" if share > 1 else ""
    is_date = isinstance(facet.low, str)
    ends = (facet.low, facet.high)
    if ends[0] == ends[1] or (is_date and not all(str(end)[:4].isdigit() for end in ends)):
        return
    low, high = (12.0 * int(str(end)[:4]) + int(str(end)[5:7] or 1) - 1 if is_date else float(end or 0) for end in ends)
    is_whole = is_date or all(isinstance(end, int) for end in ends)
    unit, parts_of_year = 12 if is_date else 1, (1.0, 3.0, 6.0) if is_date and len(str(facet.low)) > 4 else ()
    rounded = unit * round_step(max((high - low) / unit / BINS, 1.0 if is_whole else sys.float_info.min))
    width = next((months for months in parts_of_year if high - low < months * BINS), rounded)
    start = math.floor(low / width)
    # dates are counted in months
    in_months = "12 * CAST(substr(v, 1, 4) AS INTEGER) + max(CAST(substr(v, 6, 2) AS INTEGER), 1) - 1"
    value, kind = (in_months, "= 'text'") if is_date else ("v", "IN ('integer', 'real')")
    part = f"CAST(({value}) / {width!r} - {start} AS INTEGER)"
    query = f"SELECT {part}, count(*) FROM ({counted.inner(chosen)}) WHERE typeof(v) {kind} GROUP BY 1"
    rows = tables.run(query, where.values, limit=10 * BINS, seconds=SECONDS).rows
    counts = {int(part or 0): int(count or 0) * share for part, count in rows}
    for n in range(math.floor(high / width) - start + 1):
        first, last = ((start + n + i) * width for i in (0, 1))
        if is_date:
            (year, month), (end, final) = divmod(int(first), 12), divmod(int(last) - 1, 12)
            day = calendar.monthrange(max(end, 1), final + 1)[1]
            yield FacetBin(f"{year:04}-{month + 1:02}-01", f"{end:04}-{final + 1:02}-{day}", counts.get(n, 0))
        elif is_whole:
            yield FacetBin(int(first), int(last) - 1, counts.get(n, 0))
        else:
            yield FacetBin(float(f"{first:.9g}"), float(f"{last:.9g}"), counts.get(n, 0))


def _rounded(count: float) -> int:
    """A count with two significant digits.

    >>> _rounded(82_410.0), _rounded(7.2)
    (82000, 7)
    """
    return int(round(count, min(0, 2 - len(str(int(count))))))


@dataclass(frozen=True)
class ValueQuery:
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


def property_values(source: TableSource, column: SourceColumn, where: str) -> ValueQuery:
    """The values of a property in the rows that pass `where`."""
    tables, alias = source.rows, "r"
    if column.junction is not None:
        own = quote_if_needed(column.junction.key)
        tables, alias = f"{tables} JOIN {quote_if_needed(column.junction.name)} j ON j.{own} = {source.key}", "j"
    value, link = column.expressions(alias)
    return ValueQuery(value, link, tables, where)


def _facet_values(tables: Tables, rows: Sequence[Sequence[Cell]]) -> tuple[FacetValue, ...]:
    """Values from rows of value, link and count."""
    names, found = look_up_entities({row[1] for row in rows if is_id(row[1])}, tables), []
    for value, link, count in rows:
        iri, label = names.get(link, ("", "")) if is_id(link) else ("", "")
        text = (label or ("" if value is None else str(value)))[:LONGEST_CELL]
        found.append(FacetValue(text, iri, int(count or 0)))
    return tuple(found)


# larger classes with names elsewhere are in the order of ids: to look all names up takes too long (measured)
MOST_NAMED_IN_ORDER = 100_000


def page_keys(
    tables: Tables, source: TableSource, request: TableRequest, where: RowConditions, size: int
) -> list[Cell]:
    """The keys of at most `size` members from `request.skip` on, which pass `where`. Raises ToolError."""
    column = _sort_column(source, request)
    by_link = column is not None and column.column.link
    value = source.name if column is None else "" if by_link else f"r.{quote_if_needed(column.sorted_by)}"
    if tables.is_local and column is not None and by_link and not column.column.value:
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
    """The ORDER BY; members without a value come last. Raises ToolError for what can't be sorted by."""
    way = "DESC" if request.descending else "ASC"
    column = _sort_column(source, request)
    if column is not None:
        value, link = column.expressions("r")
        name = f"(SELECT t.label FROM entity t WHERE t.id = {link})"
        value = value if column.sorted_by == column.column.value else f"r.{quote_if_needed(column.sorted_by)}"
        expression = f"coalesce({value}, {name})" if column.column.link else value
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
    """The targets of the page by name, each looked up once, then the rows of each; those without a link last."""
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


SECONDS = 4.0  # of one query: several times what 450,000 members take (measured)

TEMPORAL = ("date", "datetime", "time")


def table_source(graph: Graph, iri: str) -> TableSource | None:
    """None if the class is unknown. Raises ToolError for an attached graph, which has no tables."""
    schema = graph.schema
    own = schema.class_of.get(iri)
    relation = schema.relation_of.get(own.relation) if own is not None else None
    if own is None or (relation is None and graph.stored is not None):
        return None
    # raises what to tell for an attached graph
    _ = graph.tables
    assert relation is not None
    in_row = {column.predicate: column for column in relation.columns}
    found: dict[str, SourceColumn] = {}
    for p in sorted(schema.predicates_of([iri]), key=lambda p: (p.position, -p.domains[iri], p.label)):
        junction = schema.relation_of.get(schema.junctions.get(p.iri, ""))
        column = in_row.get(p.iri) or (junction.columns[0] if junction is not None else None)
        if column is None or p.hidden or p.role in ("type", "schema") or _is_name(p, own, schema):
            continue
        shown = TableColumn(p.iri, p.label, p.unit, _kind(p), p.iri not in in_row, p.domains[iri])
        has_raw_text = graph.tables.is_local or shown.kind != "number"
        found[p.iri] = SourceColumn(shown, column, None if p.iri in in_row else junction, has_raw_text)
    names = [in_row[p.iri] for p in schema.predicates_of([iri]) if p.role == "name" and p.iri in in_row]
    # an entity's label costs a look-up in a large table for each row
    is_own = len(names) == 1 and _is_name(schema.predicate_of[names[0].predicate], own, schema)
    name = f"r.{quote_if_needed(names[0].value)}" if is_own and names[0].value else ""
    return TableSource(own, relation, found, name, bool(graph.database))


def _is_name(p: Predicate, own: Class, schema: Schema) -> bool:
    """Whether a property has the names that the first column shows anyway."""
    return p.role == "name" and p.domains[own.iri] >= own.count


def _kind(p: Predicate) -> CellKind:
    if p.has_links and not p.has_literals:
        return "thing"
    if p.datatype in ("integer", "real", "year"):
        return "number"
    return "boolean" if p.datatype == "boolean" else "date" if p.datatype in TEMPORAL else "text"


def row_conditions(source: TableSource, request: TableRequest) -> RowConditions:
    """Search and filters over the relation `r`. Raises ToolError: unknown property, or a value that is no number."""
    parts: list[str] = []
    values: list[Cell] = []
    if request.search:
        test = "LIKE ? ESCAPE '\\'"
        labelled = f"{source.key} IN (SELECT id FROM entity WHERE label {test})"
        parts.append(f"{source.name} {test}" if source.name else labelled)
        values.append("%" + request.search.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%")
    for each in request.filters:
        sql, own = _condition(source, each)
        parts.append(sql)
        values += own
    return RowConditions(f" WHERE {' AND '.join(parts)}" if parts else "", tuple(values))


def _condition(source: TableSource, each: RowFilter) -> tuple[str, list[Cell]]:
    column = source.find(each.predicate)
    junction = column.junction
    value, link = column.expressions("r" if junction is None else "j")
    values: list[Cell] = []
    if each.comparison == "none":
        test = f"{value} IS NULL AND {link} IS NULL" if junction is None else "1"
    elif each.comparison == "=" and column.column.link and ":" in each.value:
        test, values = f"{link} = (SELECT id FROM entity WHERE iri = ?)", [each.value]
    else:
        test, values = f"{value} {each.comparison} ?", [_typed(each.value, column.shown.kind)]
        if column.shown.kind == "number" and not source.is_typed and column.has_raw_text:
            test = f"typeof({value}) IN ('integer', 'real') AND {test}"
    if junction is None:
        return f"({test})", values
    inside = f"SELECT j.{quote_if_needed(junction.key)} FROM {quote_if_needed(junction.name)} j WHERE {test}"
    return f"{source.key} {'NOT ' if each.comparison == 'none' else ''}IN ({inside})", values


def _typed(text: str, kind: CellKind) -> Cell:
    """The value to compare with. Raises ToolError if a number is expected and there is none."""
    if kind != "number":
        return text
    try:
        return int(text) if text.lstrip("-").isdecimal() and len(text) < 19 else float(text)
    except ValueError:
        raise ToolError("type", f"{text[:100]!r} is not a number.") from None
