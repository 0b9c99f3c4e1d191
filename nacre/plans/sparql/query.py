"""A SPARQL query as it runs, and what each of its columns shows."""

from collections.abc import Sequence
from dataclasses import dataclass

from nacre.plans.statement import OutputColumn
from nacre.records.evidence import Cell


@dataclass(frozen=True)
class SparqlQuery:
    """A SELECT. `names[i]` is the variable that `outputs[i]` shows; a label has the variable of its IRI.

    `ordered`: the query sorts its rows. `last_first`: its rows are to be sorted by what they show, in reverse.
    """

    text: str
    outputs: tuple[OutputColumn, ...]
    names: tuple[str, ...]
    ordered: bool = False
    last_first: bool = False
    params: tuple[Cell, ...] = ()


def first_value_index(outputs: Sequence[OutputColumn]) -> int:
    """The index of the first output that shows a value."""
    return next((i for i, output in enumerate(outputs) if output.role in ("value", "low", "number")), 0)


def distinct_names(names: Sequence[str]) -> str:
    """The variables of a projection, each once."""
    return " ".join(dict.fromkeys(names))
