"""A SPARQL endpoint that a graph is attached to, and what was found out about it: Endpoint."""

from dataclasses import dataclass, field
from typing import Literal

# how an endpoint finds words in literals; "" is CONTAINS, which every one has
TextSearch = Literal["", "virtuoso", "fuseki", "stardog", "blazegraph"]
Dialect = Literal["", "virtuoso"]


@dataclass(frozen=True, eq=False)
class Endpoint:
    """Where it is, which named graphs are asked (none: its default graph), and how it finds words.

    `names` are the predicates that name things, the best first; `spaces` the beginnings of IRIs whose ends are names;
    `unnamed` are the groups most of whose things have no name; `frequent` are words of names with the share of things
    that they name; `dialect` is whose SPARQL it speaks where that is not the standard's;
    `factors` are, by predicate, the units that its literals end with beside the usual one, and what brings them to it;
    `queries` and `seconds` are what
    attaching took.
    """

    url: str
    graphs: tuple[str, ...] = ()
    search: TextSearch = ""
    names: tuple[str, ...] = ()
    spaces: tuple[str, ...] = ()
    unnamed: tuple[str, ...] = ()
    frequent: dict[str, float] = field(default_factory=dict)
    dialect: Dialect = ""
    factors: dict[str, dict[str, float]] = field(default_factory=dict)
    queries: int = 0
    seconds: float = 0.0
