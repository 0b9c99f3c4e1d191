"""The columns of an answer as a reader sees them: Plan + Table -> Grid. Ends of a range become one column."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from nacre.language.data import word_list
from nacre.language.tokens import heading_words
from nacre.language.values import (
    append_unit,
    display_name,
    drop_midnight,
    format_value,
    has_cents,
    has_lowercase_name,
    is_number_name,
    is_plain_number,
    without_unit,
)
from nacre.plans.sql_joins import RAW_TEXT_SUFFIX
from nacre.records.answer import Value
from nacre.records.evidence import Cell, Table
from nacre.records.plan import MEANS, Aggregate, Attribute, Itself, PlanTerm, Select
from nacre.records.schema import Schema
from nacre.wording.labels import FIRST_RECENT_YEAR, FIRST_YEAR, LAST_YEAR
from nacre.wording.nouns import is_amount
from nacre.wording.plan_phrases import column_heading

_LOW, _HIGH = " (low)", " (high)"
_MAX_WIDTH = 40
_CELL_BORDER = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True)
class GridColumn:
    """One column: its heading, its unit, and for each row the text and the data."""

    heading: str
    unit: str
    texts: tuple[str, ...]  # "" for nothing
    data: tuple[tuple[Value, ...], ...]
    is_number: bool = False  # it has single numbers
    is_named: bool = True  # its things have names
    is_amount: bool = True  # its numbers are no years or codes
    keys: tuple[tuple[str, ...], ...] = ()  # the IRIs of its things


@dataclass(frozen=True)
class Grid:
    """All columns of an answer."""

    columns: tuple[GridColumn, ...]

    @cached_property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """The texts, row by row."""
        return tuple(zip(*(column.texts for column in self.columns), strict=True))

    def values(self, first: int = 0) -> tuple[Value, ...]:
        """All distinct cells, row by row, from a column on."""
        rows = zip(*(column.data for column in self.columns[first:]), strict=True)
        return distinct_values(value for row in rows for cell in row for value in cell)

    def data(self) -> tuple[tuple[Value | None, ...], ...]:
        """A cell for each column and row: the value itself, or the text of a range."""
        return tuple(
            tuple(column.data[i][0] if len(column.data[i]) == 1 else column.texts[i] or None for column in self.columns)
            for i in range(len(self.rows))
        )

    def headings(self) -> tuple[str, ...]:
        """Headings with units; equal ones with a number."""
        named = [f"{c.heading} ({c.unit})" if c.unit else c.heading for c in self.columns]
        return tuple(f"{n} {named[: i + 1].count(n)}" if named.index(n) != i else n for i, n in enumerate(named))

    def markdown(self, most: int) -> str:
        """The first rows as a Markdown table, numbers to the right."""
        heads = [_markdown_cell(head[:1].upper() + head[1:]) for head in self.headings()]
        rule = ["---:" if column.is_number else "---" for column in self.columns]
        rows = [
            [_markdown_cell(without_unit(c, of.unit)) for c, of in zip(row, self.columns, strict=True)]
            for row in self.rows[:most]
        ]
        return "\n".join(f"| {' | '.join(cells)} |" for cells in [heads, rule, *rows])


def align_markdown_table(markdown: str) -> str:
    """A Markdown table whose columns are as wide as their cells, so that it also reads as plain text.

    >>> print(align_markdown_table("| A | Number |\\n| --- | ---: |\\n| one or two | 3 |"))
    | A          | Number |
    | ---------- | -----: |
    | one or two |      3 |
    """
    lines = [[cell.strip() for cell in _CELL_BORDER.split(line.strip())[1:-1]] for line in markdown.strip().split("\n")]
    rule = lines[1]
    widths = [min(_MAX_WIDTH, max(len(line[i]) for line in lines if i < len(line))) for i in range(len(rule))]
    lines[1] = ["-" * (w - 1) + ":" if r.endswith(":") else "-" * w for r, w in zip(rule, widths, strict=True)]
    right = [r.endswith(":") for r in rule]
    padded = [[c.rjust(w) if r else c.ljust(w) for c, w, r in zip(line, widths, right, strict=False)] for line in lines]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in padded)


def build_grid(table: Table, select: Select | None = None, schema: Schema | None = None) -> Grid:
    """The columns of a table; with the select behind it, their headings say what was asked for."""
    columns = table.columns
    shown = [name for name in columns if not name.endswith((RAW_TEXT_SUFFIX, _HIGH))]
    terms = iter(_ordered_terms(select, len(shown))) if select is not None else iter(())
    units = table.units or ("",) * len(columns)
    found: list[GridColumn] = []
    place = 0
    while place < len(columns):
        name, after = columns[place], place + 1
        if name.endswith(_LOW) and columns[after : after + 1] == (f"{name.removesuffix(_LOW)}{_HIGH}",):
            after += 1
        raw = after if columns[after : after + 1] == (_base_name(name) + RAW_TEXT_SUFFIX,) else None
        kind = _column_kind(next(terms, None), select, schema)
        found.append(_grid_column(table, range(place, after), raw, units[place], kind))
        place = after if raw is None else after + 1
    return Grid(tuple(found))


def distinct_values(values: Iterable[Value]) -> tuple[Value, ...]:
    """Values in their order, each once; 1 and True are different."""
    found: dict[tuple[bool, Value], Value] = {}
    for value in values:
        found.setdefault((isinstance(value, bool), value), value)
    return tuple(found.values())


def drop_zero_fraction(value: int | float) -> int | float:
    """A number without a fraction of zero."""
    return int(value) if float(value).is_integer() else float(value)


@dataclass(frozen=True)
class _ColumnKind:
    """How the values of a column are written; `heading` is "" if the name of the column is its heading."""

    heading: str = ""
    is_amount: bool = True
    is_mean: bool = False
    is_boolean: bool = False
    is_thing: bool = False


def _ordered_terms(select: Select, columns: int) -> list[PlanTerm]:
    """The terms in the order of the columns: shown groups first, computed numbers last."""
    numbers = [answer for answer in select.answers if isinstance(answer, Aggregate)]
    if len(select.answers) == columns or not (select.group or numbers):
        return list(select.answers)
    shown: list[PlanTerm] = [answer for answer in select.answers if not isinstance(answer, Aggregate)]
    groups: list[PlanTerm] = [Itself(variable) for variable in select.group if Itself(variable) not in shown]
    return [*groups, *shown, *numbers]


def _column_kind(term: PlanTerm | None, select: Select | None, schema: Schema | None) -> _ColumnKind:
    if term is None or select is None or schema is None:
        return _ColumnKind(is_thing=isinstance(term, Itself))
    of = term.of if isinstance(term, Aggregate) and term.function != "count" else term
    is_amount_value = not isinstance(of, Attribute) or (is_amount(of.predicate, schema) and of.part != "year")
    predicate = schema.predicate_of.get(term.predicate) if isinstance(term, Attribute) else None
    return _ColumnKind(
        column_heading(term, select, schema),
        is_amount_value,
        is_mean=isinstance(term, Aggregate) and term.function in MEANS,
        is_boolean=predicate is not None and predicate.datatype == "boolean",
        is_thing=isinstance(term, Itself),
    )


def _grid_column(table: Table, places: range, raw: int | None, unit: str, kind: _ColumnKind) -> GridColumn:
    name = _base_name(table.columns[places[0]])
    heading = kind.heading or heading_words(name) or name
    texts, data = [], []
    if not kind.heading and _gives_years(heading, [row[place] for row in table.rows for place in places]):
        kind = replace(kind, is_amount=False)
    small = has_lowercase_name(row[places[0]] for row in table.rows)
    all_keys = table.keys or ((),) * len(table.rows)
    for row, keys in zip(table.rows, all_keys, strict=False):
        cells = [row[i] for i in places if row[i] is not None]
        text = None if raw is None or row[raw] is None else str(row[raw])
        data.append(_cell_data(cells, text, is_boolean=kind.is_boolean))
        names = [display_name(cell.strip(), keys, small=small) if isinstance(cell, str) else cell for cell in cells]
        texts.append(_cell_text(names, text, unit, kind))
    numbers = [cell for cells in data for cell in cells if isinstance(cell, int | float)]
    return GridColumn(
        heading,
        unit if numbers else "",
        tuple(texts),
        tuple(data),
        is_number=bool(numbers) and len(places) == 1,
        is_named=not kind.is_thing or not all(map(is_number_name, texts, all_keys)),
        is_amount=kind.is_amount,
        keys=table.keys if kind.is_thing else (),
    )


def _gives_years(heading: str, cells: list[Cell]) -> bool:
    """Whether a column that is called after years or events has numbers that are years."""
    numbers = [cell for cell in cells if isinstance(cell, int)]
    words = set(heading.lower().split())
    if not numbers or words.isdisjoint(word_list("wording", "year_headings")):
        return False
    first = FIRST_YEAR if "year" in words else FIRST_RECENT_YEAR
    return all(first <= number <= LAST_YEAR for number in numbers)


def _cell_data(cells: list[Cell], text: str | None, *, is_boolean: bool) -> tuple[Value, ...]:
    if not cells:
        return (text,) if text else ()
    found = [cell for cell in cells if cell is not None]
    if is_boolean:
        return distinct_values(map(bool, found))
    # a number without a fraction of zero, a day without its time
    return distinct_values(
        drop_midnight(cell) if isinstance(cell, str) else cell if isinstance(cell, bool) else drop_zero_fraction(cell)
        for cell in found
    )


def _cell_text(cells: list[Cell], text: str | None, unit: str, kind: _ColumnKind) -> str:
    """The values of a cell, both ends of a range joined by "to"; the raw text if it says more than a number."""
    if text is not None and not is_plain_number(text, unit):
        return " ".join(text.split())
    if kind.is_boolean:
        return " to ".join("yes" if cell else "no" for cell in cells)
    values = [
        format_value(cell, "", counted=kind.is_amount, rounded=kind.is_mean and not has_cents(unit))
        for cell in dict.fromkeys(cells)
        if cell is not None
    ]
    joined = " to ".join(values)
    return append_unit(joined, unit) if joined and not all(isinstance(cell, str) for cell in cells) else joined


def _base_name(column: str) -> str:
    return column.removesuffix(RAW_TEXT_SUFFIX).removesuffix(_LOW).removesuffix(_HIGH)


def _markdown_cell(text: str) -> str:
    return " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|")


@dataclass(frozen=True)
class Verbalisation:
    """`text` in plain English, the same data as `values`, and the unit that both use."""

    text: str
    values: tuple[Value, ...] = ()
    unit: str | None = None
    columns: tuple[str, ...] = ()  # of more than one column, of which `text` ends with a Markdown table
    rows: tuple[tuple[Value | None, ...], ...] = ()
