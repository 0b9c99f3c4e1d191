"""Add what things are ordered by to a select, and take it out of the rows: Select -> Select, Table -> Table."""

from dataclasses import replace

from nacre.language.format_values import is_plain_number
from nacre.plans.statement import RAW_TEXT_SUFFIX
from nacre.records.evidence import Cell, Table
from nacre.records.plan import Aggregate, Attribute, Combine, Select


def add_order_column(body: Select | Combine) -> Select | Combine:
    """The select with its order as a further answer; the same select if it has that answer or cannot have it."""
    if isinstance(body, Combine) or body.order is None or body.limit is None:
        return body
    by = body.order.by
    grouped = bool(body.group or body.by) or any(isinstance(a, Aggregate) for a in body.answers)
    # follow-ups remember the answer by its keys, so no other thing may come in
    own = {a.variable for a in body.answers if not isinstance(a, Aggregate)}
    fits = isinstance(by, Aggregate) if grouped else isinstance(by, Attribute) and by.variable in own
    return replace(body, answers=(*body.answers, by)) if fits and by not in body.answers else body


def split_order_column(table: Table, shown: int) -> Table:
    """The first `shown` columns, with the column after them as `measured`; a range keeps its raw text.

    >>> found = split_order_column(Table(("name", "height"), (("A", 3),), units=("", "m")), 1)
    >>> found.rows, found.measured, found.measured_unit
    ((('A',),), (3,), 'm')
    """
    further = len(table.columns) - shown
    raw = further > 1 and table.columns[-1].endswith(RAW_TEXT_SUFFIX)
    measured = tuple(
        _cell(row[shown], row[-1] if raw else None, table.units[shown], further == 1 + raw) for row in table.rows
    )
    return replace(
        table,
        columns=table.columns[:shown],
        rows=tuple(row[:shown] for row in table.rows),
        units=table.units[:shown],
        measured=measured if further == 1 or raw else (),
        measured_name=table.columns[shown],
        measured_unit=table.units[shown],
    )


def _cell(value: Cell, raw: Cell, unit: str, single: bool) -> Cell:
    """The value, or its raw text if that says more than the number."""
    plain = raw is None or is_plain_number(str(raw), unit)
    return value if plain and single else raw
