"""What a writer of queries may look at before it writes, and where values stand."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Occurrence:
    """A value as the graph spells it, and the column it stands in; `likeness` to what was looked for, 0..1."""

    table: str
    column: str
    value: str
    likeness: float = 1.0


@dataclass(frozen=True)
class LookUp:
    """What is to be seen: values like `text` (in a column, in a table, anywhere), rows of a table, its columns, or
    passages about `text`."""

    kind: Literal["values", "rows", "columns", "passages"]
    table: str = ""
    column: str = ""
    text: str = ""
