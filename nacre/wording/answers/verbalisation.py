"""A result in words and as data."""

from dataclasses import dataclass

from nacre.records.answer import Value


@dataclass(frozen=True)
class Verbalisation:
    """`text` in plain English, the same data as `values`, and the unit that both use.

    Rows of more than one column are `columns` and `rows`, and `text` then ends with a Markdown table.
    """

    text: str
    values: tuple[Value, ...] = ()
    unit: str | None = None
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Value | None, ...], ...] = ()
