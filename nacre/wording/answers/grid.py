"""The columns of an answer as people see them: Plan + Table -> Grid; raw text and ends of ranges become one column."""

import re
from dataclasses import dataclass
from functools import cached_property

from nacre.language.format_values import (
    append_unit,
    display_name,
    format_value,
    has_lowercase_name,
    is_number_name,
    is_plain_number,
)
from nacre.language.tokens import split_name
from nacre.plans.statement import RAW_TEXT_SUFFIX
from nacre.records.answer import Value
from nacre.records.evidence import Cell, Table
from nacre.records.plan import Aggregate, Attribute, Itself, PlanTerm, Select
from nacre.records.schema import Schema
from nacre.wording.labels.value_kinds import is_amount
from nacre.wording.phrases.plan import column_heading

_LOW, _HIGH = " (low)", " (high)"
_WIDEST = 40
_BAR = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True)
class GridColumn:
    """One column: its heading, unit, what is said in each row ("" for nothing), and the data of each row; whether it
    holds single numbers, whether these are amounts, and no years or codes, and whether its things have names."""

    heading: str
    unit: str
    said: tuple[str, ...]
    data: tuple[tuple[Value, ...], ...]
    is_number: bool = False
    is_named: bool = True
    is_amount: bool = True


@dataclass(frozen=True)
class Grid:
    """All columns of an answer."""

    columns: tuple[GridColumn, ...]

    @cached_property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """What is said, row by row."""
        return tuple(zip(*(column.said for column in self.columns), strict=True))

    def values(self, first: int = 0) -> tuple[Value, ...]:
        """All distinct cells, row by row, from a column on."""
        rows = zip(*(column.data for column in self.columns[first:]), strict=True)
        return distinct_values(value for row in rows for cell in row for value in cell)

    def data(self) -> tuple[tuple[Value | None, ...], ...]:
        """One cell a column and row: the value itself, or what is said of a range."""
        return tuple(
            tuple(column.data[i][0] if len(column.data[i]) == 1 else column.said[i] or None for column in self.columns)
            for i in range(len(self.rows))
        )

    def headings(self) -> tuple[str, ...]:
        """Headings with units; a number where two are the same."""
        named = [f"{c.heading} ({c.unit})" if c.unit else c.heading for c in self.columns]
        return tuple(f"{n} {named[: i + 1].count(n)}" if named.index(n) != i else n for i, n in enumerate(named))

    def markdown(self, most: int) -> str:
        """The first rows as a Markdown table, numbers to the right."""
        heads = [_cell(head[:1].upper() + head[1:]) for head in self.headings()]
        rule = ["---:" if column.is_number else "---" for column in self.columns]
        units = [append_unit("", column.unit) for column in self.columns]
        rows = [[_cell(c.removesuffix(u)) for c, u in zip(row, units, strict=True)] for row in self.rows[:most]]
        return "\n".join(f"| {' | '.join(cells)} |" for cells in [heads, rule, *rows])


def align_markdown_table(markdown: str) -> str:
    """A Markdown table whose columns are as wide as their cells, so that it also reads as plain text.

    >>> print(align_markdown_table("| A | Number |\\n| --- | ---: |\\n| one or two | 3 |"))
    | A          | Number |
    | ---------- | -----: |
    | one or two |      3 |
    """
    lines = [[cell.strip() for cell in _BAR.split(line.strip())[1:-1]] for line in markdown.strip().split("\n")]
    rule = lines[1]
    widths = [min(_WIDEST, max(len(line[i]) for line in lines if i < len(line))) for i in range(len(rule))]
    lines[1] = ["-" * (w - 1) + ":" if r.endswith(":") else "-" * w for r, w in zip(rule, widths, strict=True)]
    right = [r.endswith(":") for r in rule]
    padded = [[c.rjust(w) if r else c.ljust(w) for c, w, r in zip(line, widths, right, strict=False)] for line in lines]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in padded)


def build_grid(table: Table, select: Select | None = None, schema: Schema | None = None) -> Grid:
    """The columns of a table; with the select that gave it they are called after what was asked for."""
    found: list[GridColumn] = []
    units = table.units or ("",) * len(table.columns)
    columns = [c for c in table.columns if not c.endswith((RAW_TEXT_SUFFIX, _HIGH))]
    terms = iter(_ordered(select, len(columns))) if select is not None else iter(())
    place = 0
    while place < len(table.columns):
        name, taken = table.columns[place], 1
        ends = name.endswith(_LOW) and table.columns[place + 1 : place + 2] == (f"{name.removesuffix(_LOW)}{_HIGH}",)
        taken += ends
        raw = (
            place + taken
            if table.columns[place + taken : place + taken + 1] == (_base(name) + RAW_TEXT_SUFFIX,)
            else None
        )
        term = next(terms, None)
        found.append(_column(table, range(place, place + taken), raw, units[place], term, select, schema))
        place += taken + (raw is not None)
    return Grid(tuple(found))


def distinct_values(values: "object") -> tuple[Value, ...]:
    """Values in their order, each once; 1 and True are two.

    >>> distinct_values([3, 3.0, "3", True])
    (3, '3', True)
    """
    found: dict[tuple[bool, Value], Value] = {}
    for value in values:  # type: ignore[attr-defined]
        found.setdefault((isinstance(value, bool), value), value)
    return tuple(found.values())


def drop_zero_fraction(value: int | float) -> int | float:
    """A number without a fraction of zero.

    >>> drop_zero_fraction(3.0), drop_zero_fraction(3.5)
    (3, 3.5)
    """
    return int(value) if float(value).is_integer() else float(value)


def _ordered(select: Select, columns: int) -> list[PlanTerm]:
    """The terms in the order of the columns: what is grouped by first, where it is shown, computed numbers last."""
    if len(select.answers) == columns or not (select.group or any(isinstance(a, Aggregate) for a in select.answers)):
        return list(select.answers)
    shown: list[PlanTerm] = [a for a in select.answers if not isinstance(a, Aggregate)]
    for variable in reversed(select.group):
        if Itself(variable) not in shown:
            shown.insert(0, Itself(variable))
    return [*shown, *(a for a in select.answers if isinstance(a, Aggregate))]


def _column(
    table: Table,
    places: range,
    raw: int | None,
    unit: str,
    term: PlanTerm | None,
    select: Select | None,
    schema: Schema | None,
) -> GridColumn:
    name, datatype = _base(table.columns[places[0]]), ""
    # what has spaces is words, such as the name of a thing that is compared, and no identifier
    label = name if " " in name else split_name(name) or name
    if term is not None and select is not None and schema is not None:
        label = column_heading(term, select, schema)
        if isinstance(term, Attribute) and term.predicate in schema.predicate_of:
            datatype = schema.predicate_of[term.predicate].datatype
    of = term.of if isinstance(term, Aggregate) and term.function != "count" else term
    counted = not (isinstance(of, Attribute) and schema is not None) or is_amount(of.predicate, schema)
    counted = counted and not (isinstance(of, Attribute) and of.part == "year")
    rounded = isinstance(term, Aggregate) and term.function == "avg"
    said, data = [], []
    small = has_lowercase_name(row[places[0]] for row in table.rows)
    truth = datatype == "boolean"
    for row, keys in zip(table.rows, table.keys or ((),) * len(table.rows), strict=False):
        cells = [row[i] for i in places if row[i] is not None]
        text = None if raw is None or row[raw] is None else str(row[raw])
        data.append(_data(cells, text, truth))
        names = [display_name(cell.strip(), keys, small=small) if isinstance(cell, str) else cell for cell in cells]
        said.append(_said(names, text, unit, counted, rounded, truth))
    numbers = [cell for cells in data for cell in cells if isinstance(cell, int | float)]
    keyed = zip(said, table.keys or ((),) * len(said), strict=False)
    named = not isinstance(term, Itself) or not all(is_number_name(name, keys) for name, keys in keyed)
    numeric = bool(numbers) and len(places) == 1
    return GridColumn(label, unit if numbers else "", tuple(said), tuple(data), numeric, named, counted)


def _data(cells: list[Cell], text: str | None, truth: bool) -> tuple[Value, ...]:
    if not cells:
        return (text,) if text else ()
    found = [
        drop_zero_fraction(c) if isinstance(c, int | float) and not isinstance(c, bool) else c
        for c in cells
        if c is not None
    ]
    return distinct_values(bool(c) for c in found) if truth else distinct_values(found)


def _said(cells: list[Cell], text: str | None, unit: str, counted: bool, rounded: bool, truth: bool) -> str:
    if text is not None and not is_plain_number(text, unit):
        return " ".join(text.split())
    if truth:
        return " to ".join("yes" if cell else "no" for cell in cells)
    parts = [format_value(c, "", counted=counted, rounded=rounded) for c in dict.fromkeys(cells) if c is not None]
    said = " to ".join(parts)
    return append_unit(said, unit) if said and not all(isinstance(c, str) for c in cells) else said


def _base(column: str) -> str:
    return column.removesuffix(RAW_TEXT_SUFFIX).removesuffix(_LOW).removesuffix(_HIGH)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|")
