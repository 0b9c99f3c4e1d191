"""Numbers that are kept as things of their own: Links to a kind of quantity, or to an amount -> Links to the number.

A graph may keep "porosity 12 %" as a measurement, whose quantity is porosity and whose value is 12, and a price as a
thing with an amount and a currency. Asked for the porosity or the price of something, people mean the number.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from nacre.language.base import language
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.question.types import Link, Ref

# how such links were found
QUANTITY, AMOUNT = "quantity", "amount"


def link_quantity_nodes(links: Sequence[Link], graph: SchemaGraph) -> Iterator[Link]:
    """For each thing or value that is a kind of quantity the numbers kept of it: `refs` are the number, and what holds
    the kind; for each mention of things that are no more than a number, the number."""
    # "which measurements are of porosity" asks for the measurements
    named = {x.refs[0].node for x in links if x.kind == "class" and x.exact}
    for link in links:
        ref = link.refs[0]
        if link.kind == "entity":
            measuring = _measuring(ref.node, graph)
            found = [(held, Ref(ref.node, via=via)) for held, via in measuring if held.node not in named]
        elif link.kind == "value" and ref.predicate and _is_kind(graph.words[ref.predicate]):
            found = [(held, ref) for held in _numbers(ref.node, graph) if held.node not in named]
        else:
            number = amount_property(ref.node, graph) if not ref.predicate else ""
            if number:
                yield link._replace(kind="property", refs=(Ref(ref.node, number, via=ref.via),), match=AMOUNT)
            continue
        for held, of in found:
            yield link._replace(kind="property", refs=(held, of), match=QUANTITY)


@lru_cache(maxsize=4096)
def amount_property(node: int, graph: SchemaGraph) -> str:
    """The number of things that have no name and are no more than it, but for a unit or the like; "" for others."""
    literals = graph.literals[node]
    numbers = [p for p in literals if graph.is_numeric(p) and not graph.is_date(p)]
    beside = [p for p in literals if p not in numbers]
    plain = len(numbers) == 1 and len(beside) <= 1 and all(graph.about(p).values for p in beside)
    return numbers[0] if plain and not graph.nodes[node].named else ""


def _measuring(node: int, graph: SchemaGraph) -> Iterator[tuple[Ref, str]]:
    """The numbers of what is tied to things of a node as to kinds of quantities, and by which link."""
    for step in graph.steps[node]:
        if not step.forward and _is_kind((*graph.words[step.predicate], *graph.nodes[node].words)):
            yield from ((held, step.predicate) for held in _numbers(step.target, graph))


def _numbers(node: int, graph: SchemaGraph) -> list[Ref]:
    """The number that things of a node keep: the only one, or the one that is called a value."""
    numbers = [p for p in graph.literals[node] if graph.is_numeric(p) and not graph.is_date(p)]
    numbers = [p for p in numbers if graph.about(p).role != "identifier"]
    called = [p for p in numbers if language().words["kept_value"] & set(graph.words[p])]
    kept = called if len(called) == 1 else numbers
    return [Ref(node, kept[0])] if len(kept) == 1 else []


def _is_kind(words: Sequence[str]) -> bool:
    return not language().words["kept_quantity"].isdisjoint(words)
