"""The properties that an adjective measures: concepts + node -> references, nearest first."""

from collections.abc import Iterator
from functools import lru_cache

from nacre.language.thesaurus import is_person, synonyms
from nacre.language.tokens import lemma
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.schema.quantity_nodes import amount_property
from nacre.understanding.question.types import Ref

# a place further down the adjective's list, a word that says the concept otherwise, a property of a neighbour
PLACE_COST, SYNONYM_COST, NEIGHBOUR_COST, EXTRA_WORD_COST = 0.08, 0.2, 0.4, 0.07
# the most that a property of the node itself costs
MAX_OWN_COST = 0.4
MAX_PROPERTIES = 4
_AFFIX = 4


@lru_cache(maxsize=8192)
def measured_properties(
    graph: SchemaGraph, node: int, concepts: tuple[str, ...]
) -> tuple[tuple[Ref, bool, float], ...]:
    """Numbers and dates of a node, or of nodes one step away, that measure a concept: (reference, reversed, cost)."""
    found: list[tuple[float, float, Ref, bool]] = []
    near = {node: 0.0}
    for step in graph.steps[node]:
        near[step.target] = min(
            near.get(step.target, 9.0), NEIGHBOUR_COST * step.cost + (0.0 if step.forward else NEIGHBOUR_COST)
        )
    for there, away in near.items():
        for predicate in graph.literals[there]:
            if not (graph.is_numeric(predicate) or graph.is_date(predicate)):
                continue
            if graph.about(predicate).role == "identifier":
                # a number that tells things apart measures nothing
                continue
            best = _nearest(graph.words[predicate], concepts)
            if best is not None:
                # whatever measures things themselves comes before what measures their neighbours
                whole = best[0] + away
                cost = min(whole, MAX_OWN_COST) if there == node else max(whole, MAX_OWN_COST)
                found.append((cost, whole, Ref(there, predicate), best[1]))
    found += _values(graph, node, concepts)
    if not any(ref.node == node for _, _, ref, _ in found):
        found += _only_date(graph, node, concepts)
    return tuple((ref, reverse, cost) for cost, _, ref, reverse in sorted(found)[:MAX_PROPERTIES])


def _values(graph: SchemaGraph, node: int, concepts: tuple[str, ...]) -> Iterator[tuple[float, float, Ref, bool]]:
    """The number that a link which measures a concept leads to, where that is no more: the amount of a price."""
    for step in graph.steps[node]:
        held = amount_property(step.target, graph) if step.forward else ""
        best = _nearest(graph.words[step.predicate], concepts) if held else None
        if best is not None:
            yield best[0], best[0], Ref(step.target, held, via=step.predicate), best[1]


def is_reversed_measure(graph: SchemaGraph, predicate: str, concepts: tuple[str, ...]) -> bool:
    """Whether a property measures a concept the other way round: who is old was born early."""
    best = _nearest(graph.words[predicate], concepts)
    return best is not None and best[1]


# properties of one name are those of many kinds of things
@lru_cache(maxsize=8192)
def _nearest(words: tuple[str, ...], concepts: tuple[str, ...]) -> tuple[float, bool] | None:
    """What the concept that the words of a name say best costs, and whether it is reversed, or None."""
    best: tuple[float, bool] | None = None
    for place, (wanted, reverse) in enumerate(_wanted(concepts)):
        fits = [_fit(w, words) for w in wanted]
        if all(f is not None for f in fits):
            cost = PLACE_COST * place + sum(f or 0.0 for f in fits) + EXTRA_WORD_COST * (len(words) - len(wanted))
            best = min(best or (cost, reverse), (cost, reverse))
    return best


@lru_cache(maxsize=1024)
def _wanted(concepts: tuple[str, ...]) -> tuple[tuple[tuple[str, ...], bool], ...]:
    """The lemmas of each concept, and whether it is reversed."""
    return tuple((tuple(map(lemma, c.lstrip("-").split())), c.startswith("-")) for c in concepts)


def _only_date(graph: SchemaGraph, node: int, concepts: tuple[str, ...]) -> list[tuple[float, float, Ref, bool]]:
    """The one date of a node, whatever it is called: a thing is as old as what is known of when it came about."""
    if concepts[:1] == ("age",) and is_person(graph.nodes[node].label):
        # nobody is as young as the day on which he joined
        return []
    place = next((i for i, c in enumerate(concepts) if c.lstrip("-") == "date"), None)
    dates = [p for p in graph.literals[node] if graph.is_date(p)]
    if place is None or len(dates) != 1:
        return []
    cost = min(PLACE_COST * place + SYNONYM_COST, MAX_OWN_COST)
    return [(cost, cost, Ref(node, dates[0]), concepts[place].startswith("-"))]


def _fit(word: str, words: tuple[str, ...]) -> float | None:
    if word in words:
        return 0.0
    same = synonyms(word)
    if any(w in same or (len(word) >= _AFFIX and (w.startswith(word) or w.endswith(word))) for w in words):
        return SYNONYM_COST
    return None
