"""Order the rows of a statement and keep the wanted places: rows with a column `o` -> SELECT."""

from nacre.plans.sql.columns import column_names
from nacre.plans.sql.sql_text import SqlText
from nacre.records.plan import Order, Select


def order_rows(rows: SqlText, columns: str, select: Select, count: int) -> SqlText:
    """The rows in the order of their column `o`, only the wanted places, as `count` columns. Ties share a place."""
    assert select.order is not None
    direction = " DESC" if select.order.descending else ""
    if select.limit is None:
        text = f"SELECT {columns} FROM (\n{rows.text}\n)\nORDER BY o{direction}, {column_names(count)}"
        return SqlText(text, rows.params)
    first, last = select.offset, select.offset + select.limit
    text = (
        f"WITH every AS (\n{rows.text}\n)\nSELECT {columns} FROM (\n{_ranked(select.order, first, last)}\n)\n"
        f"WHERE place > {first} AND place <= {last}\nORDER BY place, {column_names(count)}"
    )
    return SqlText(text, rows.params)


def _ranked(order: Order, first: int, last: int) -> str:
    """The rows that may have a wanted place, with their place.

    A wanted row is at least as good as the row in the last place, so only such rows are ranked. There is a second best
    even if two share the first place: after the first place, different values are counted.
    """
    direction = " DESC" if order.descending else ""
    distinct, rank = ("DISTINCT ", "dense_rank") if first else ("", "rank")
    best = f"SELECT {distinct}o FROM every ORDER BY o{direction} LIMIT {last}"
    worst = f"SELECT min(o) FROM ({best})" if order.descending else f"SELECT max(o) FROM ({best})"
    within = f"o {'>=' if order.descending else '<='} ({worst})"
    return f"SELECT *, {rank}() OVER (ORDER BY o{direction}) AS place FROM every WHERE {within}"
