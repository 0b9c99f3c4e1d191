"""A query as it runs, and what each of its columns shows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from nacre.language.base import word_map
from nacre.records.evidence import Cell
from nacre.records.plan import Aggregate, Itself
from nacre.records.schema import Schema

# the end of the name of a column with the raw text of a parsed number
RAW_TEXT_SUFFIX = " (text)"


@dataclass(frozen=True)
class OutputColumn:
    """What a column of a statement shows. A column with the role "key" is an IRI that is not shown."""

    name: str
    role: Literal["key", "label", "value", "low", "high", "text", "number"]
    variable: str
    unit: str = ""


@dataclass(frozen=True)
class Statement:
    """SQL with bound parameters, and what each of its columns shows."""

    text: str
    params: tuple[Cell, ...]
    outputs: tuple[OutputColumn, ...]


# a statement -> its rows and whether there are more; None if it failed
RunStatement = Callable[[Statement], tuple[list[tuple[Cell, ...]], bool] | None]


def aggregate_output(term: Aggregate, schema: Schema) -> OutputColumn:
    """What a column with a computed number shows."""
    if isinstance(term.of, Itself):
        return OutputColumn("count", "number", term.of.variable)
    predicate = schema.predicate_of[term.of.predicate]
    unit = "" if term.function == "count" else predicate.unit
    adjective = word_map("wording", "aggregate_adjectives").get(term.function, "number of")
    return OutputColumn(f"{adjective} {predicate.label}", "number", term.of.variable, unit)
