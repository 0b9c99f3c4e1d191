"""A query as it is run, and what each of its columns is."""

from dataclasses import dataclass
from typing import Literal

from nacre.records.evidence import Cell


@dataclass(frozen=True)
class OutputColumn:
    """One column of a statement: what it shows. `role` "key" is an IRI that is not shown."""

    name: str
    role: Literal["key", "label", "value", "low", "high", "text", "number"]
    variable: str
    unit: str = ""


@dataclass(frozen=True)
class Statement:
    """SQL with bound parameters, and what each of its columns is."""

    text: str
    params: tuple[Cell, ...]
    outputs: tuple[OutputColumn, ...]
