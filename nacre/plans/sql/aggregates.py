"""Aggregates of a grouped query in SQL, each over distinct things: Aggregate + index -> expression over its rows."""

from collections.abc import Sequence

from nacre.plans.sql.sql_text import SqlText
from nacre.records.plan import Aggregate, Attribute, Itself


def aggregate_expression(term: Aggregate, index: int, *, is_unique: bool, several: bool) -> str:
    """The SQL of an aggregate over the columns k (thing) and x (value) with its index.

    The rows are unique if each has a thing of its own. With aggregates over `several` variables, a thing's value
    counts only in the row that `mark_first_rows` marks.
    """
    if isinstance(term.of, Itself):
        return "count(*)" if is_unique else f"count(DISTINCT k{index})"
    if term.function == "count":
        return f"count(DISTINCT x{index})"
    return f"{term.function}(x{index})" + (f" FILTER (WHERE n{index} = 1)" if several else "")


def mark_first_rows(rows: SqlText, terms: Sequence[Aggregate], keys: int) -> SqlText:
    """The rows with a column n for each term: 1 where a thing and its value come first in their group."""
    groups = [f"g{i}" for i in range(keys)]
    marks = [
        f"row_number() OVER (PARTITION BY {', '.join((*groups, f'k{i}', f'x{i}'))}) AS n{i}"
        for i, term in enumerate(terms)
        if isinstance(term.of, Attribute)
    ]
    return SqlText(f"SELECT {', '.join(('*', *marks))} FROM (\n{rows.text}\n)", rows.params)
