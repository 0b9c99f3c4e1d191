"""What a query writer may look up before it writes a query, and the occurrences of values."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Occurrence:
    """A value as the graph spells it, and the column that holds it; `likeness` to the searched text, 0..1."""

    table: str
    column: str
    value: str
    likeness: float = 1.0


@dataclass(frozen=True)
class LookUp:
    """A request to see values like `text` (in a column, a table or anywhere), the rows or columns of a table, or
    passages about `text`."""

    kind: Literal["values", "rows", "columns", "passages"]
    table: str = ""
    column: str = ""
    text: str = ""
