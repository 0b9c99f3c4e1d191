"""A piece of SQL with its bound parameters."""

from collections.abc import Iterable
from dataclasses import dataclass

from nacre.records.evidence import Cell


@dataclass(frozen=True)
class SqlText:
    """SQL text and the parameters of its question marks, in their order."""

    text: str
    params: tuple[Cell, ...] = ()


def join_sql(separator: str, parts: Iterable[SqlText]) -> SqlText:
    """The parts one after the other, with their parameters in the same order.

    >>> join_sql(" AND ", [SqlText("a = ?", (1,)), SqlText("b"), SqlText("c = ?", (2,))])
    SqlText(text='a = ? AND b AND c = ?', params=(1, 2))
    """
    listed = tuple(parts)
    return SqlText(separator.join(part.text for part in listed), tuple(p for part in listed for p in part.params))
