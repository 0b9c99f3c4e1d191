"""Link numbers that are things of their own: Links to a kind of quantity or to an amount -> Links to the number.

A graph may store "porosity 12 %" as a measurement whose quantity is porosity and whose value is 12, and a price as a
thing with an amount and a currency. A question for the porosity or the price of something asks for the number.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from nacre.language.base import language
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.question.types import Link, Ref

# How such links were found: `Link.match`.
QUANTITY, AMOUNT = "quantity", "amount"


def link_quantity_nodes(links: Sequence[Link], graph: SchemaGraph) -> Iterator[Link]:
    """Links to the numbers of mentioned quantities and amounts.

    For a thing or value that is a kind of quantity, `refs` are the number, and what holds the kind. For things that
    are only a number with a unit, the one ref is the number.
    """
    # "which measurements are of porosity" asks for the measurements.
    mentioned = {x.refs[0].node for x in links if x.kind == "class" and x.exact}
    for link in links:
        ref = link.refs[0]
        if link.kind == "entity":
            measured = _numbers_of_quantity(ref.node, graph)
            found = [(number, Ref(ref.node, via=via)) for number, via in measured if number.node not in mentioned]
        elif link.kind == "value" and ref.predicate and _names_quantity(graph.words[ref.predicate]):
            found = [(number, ref) for number in _value_refs(ref.node, graph) if number.node not in mentioned]
        else:
            amount = amount_property(ref.node, graph) if not ref.predicate else ""
            if amount:
                yield link._replace(kind="property", refs=(Ref(ref.node, amount, via=ref.via),), match=AMOUNT)
            continue
        for number, holder in found:
            yield link._replace(kind="property", refs=(number, holder), match=QUANTITY)


@lru_cache(maxsize=4096)
def amount_property(node: int, graph: SchemaGraph) -> str:
    """The number of things without names that have one number and at most one further value, such as a unit. Empty for
    other things."""
    literals = graph.literals[node]
    numbers = [p for p in literals if graph.is_numeric(p) and not graph.is_date(p)]
    others = [p for p in literals if p not in numbers]
    is_amount = len(numbers) == 1 and len(others) <= 1 and all(graph.about(p).values for p in others)
    return numbers[0] if is_amount and not graph.nodes[node].named else ""


def _numbers_of_quantity(node: int, graph: SchemaGraph) -> Iterator[tuple[Ref, str]]:
    """The numbers of measurements that link to things of a node as their quantity, with the predicate of the link."""
    for step in graph.steps[node]:
        if not step.forward and _names_quantity((*graph.words[step.predicate], *graph.nodes[node].words)):
            yield from ((number, step.predicate) for number in _value_refs(step.target, graph))


def _value_refs(node: int, graph: SchemaGraph) -> list[Ref]:
    """The number of a measurement: the only one, or the one called a value."""
    numbers = [p for p in graph.literals[node] if graph.is_numeric(p) and not graph.is_date(p)]
    numbers = [p for p in numbers if graph.about(p).role != "identifier"]
    values = [p for p in numbers if language().words["kept_value"] & set(graph.words[p])]
    single = values if len(values) == 1 else numbers
    return [Ref(node, single[0])] if len(single) == 1 else []


def _names_quantity(words: Sequence[str]) -> bool:
    return not language().words["kept_quantity"].isdisjoint(words)
