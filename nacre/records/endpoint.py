"""A SPARQL endpoint that a graph is attached to, and what attaching found out about it."""

from dataclasses import dataclass, field
from typing import Literal

# the text search that an endpoint supports; "" is CONTAINS, which every endpoint has
TextSearch = Literal["", "virtuoso", "fuseki", "stardog", "blazegraph"]
Dialect = Literal["", "virtuoso"]


@dataclass(frozen=True, eq=False)
class Endpoint:
    """The address, the named graphs that are queried (none: the default graph), and the text search it supports.

    `names` are the predicates that name things, best first. `spaces` are namespaces whose local names are names.
    `unnamed` are groups of which most members have no name. `frequent` maps words of names to the share of things that
    they name. `dialect` is the SPARQL dialect if it is not the standard's. `factors` maps a predicate to the other
    units of its literals and the factors that convert them to its usual unit. `queries` and `seconds` are what
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
