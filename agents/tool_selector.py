"""Choose the branches of a round: TurnView -> Choice. If it has no branch, retrieval ends."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from agents.turn_view import Result, TurnView

# the knowledge pyramid from its top (PolyRAG, section 4): ontology, triples, texts
LAYERS = (("sql", "sparql"), ("triples",), ("vector", "lexical"))


@dataclass(frozen=True)
class Choice:
    """The branches of the next round, and the text to search passages for; "" for the question itself."""

    branches: tuple[str, ...]
    search: str = ""


Selector = Callable[[TurnView], Awaitable[Result[Choice]]]


async def by_rules(view: TurnView) -> Result[Choice]:
    """At first all enabled branches, then the wanted ones; in a waterfall only the highest layer of them."""
    places = view.enabled if view.round == 1 else view.wanted
    if view.strategy == "waterfall":
        # branches of extensions come last, with the texts
        last = (*LAYERS[-1], *(place for place in places if not any(place in layer for layer in LAYERS)))
        layers = (tuple(place for place in layer if place in places) for layer in (*LAYERS[:-1], last))
        places = next((layer for layer in layers if layer), ())
    return Result(Choice(places))
