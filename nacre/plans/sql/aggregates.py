"""Aggregates of a grouped query in SQL, each over distinct things: Aggregate + place -> expression over its rows."""

from collections.abc import Sequence

from nacre.records.plan import Aggregate, Attribute, Itself


def aggregate_expression(term: Aggregate, index: int, unique: bool, apart: bool = False) -> str:
    """An aggregate; where the rows are `unique`, each has a thing of its own.

    Where aggregates are `apart`, those of different things, each takes a thing's value once (`mark_first_rows`).
    """
    if isinstance(term.of, Itself):
        return "count(*)" if unique else f"count(DISTINCT k{index})"
    if term.function == "count":
        return f"count(DISTINCT x{index})"
    return f"{term.function}(x{index})" + (f" FILTER (WHERE n{index} = 1)" if apart else "")


def mark_first_rows(inner: str, terms: Sequence[Aggregate], keys: int) -> str:
    """The rows with a mark where a thing and its value stand for the first time in their group, for each term."""
    groups = [f"g{i}" for i in range(keys)]
    marks = [
        f"row_number() OVER (PARTITION BY {', '.join((*groups, f'k{i}', f'x{i}'))}) AS n{i}"
        for i, term in enumerate(terms)
        if isinstance(term.of, Attribute)
    ]
    return f"SELECT {', '.join(('*', *marks))} FROM (\n{inner}\n)"
