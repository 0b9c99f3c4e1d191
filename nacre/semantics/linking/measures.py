"""The properties that an adjective measures: concepts + node -> references, nearest first."""

from functools import lru_cache

from nacre.semantics.english import synonyms
from nacre.semantics.linking.graph import SchemaGraph
from nacre.semantics.types import Ref
from nacre.semantics.words import lemma

# a place further down the adjective's list, a word that says the concept otherwise, a property of a neighbour
PLACE, OTHERWISE, AWAY, EXTRA = 0.08, 0.2, 0.4, 0.07
MOST = 4
_AFFIX = 4


@lru_cache(maxsize=8192)
def measured(graph: SchemaGraph, node: int, concepts: tuple[str, ...]) -> tuple[tuple[Ref, bool, float], ...]:
    """Numbers and dates of a node, or of nodes one step away, that measure a concept: (reference, reversed, cost)."""
    found: list[tuple[float, Ref, bool]] = []
    near = {node: 0.0}
    for step in graph.steps[node]:
        near[step.target] = min(near.get(step.target, 9.0), AWAY * step.cost + (0.0 if step.forward else AWAY))
    for there, away in near.items():
        for predicate in graph.literals[there]:
            if not (graph.is_numeric(predicate) or graph.is_date(predicate)):
                continue
            if graph.about(predicate).role == "identifier":
                # a number that tells things apart measures nothing
                continue
            words = graph.words[predicate]
            best: tuple[float, bool] | None = None
            for place, concept in enumerate(concepts):
                reverse = concept.startswith("-")
                wanted = tuple(lemma(w) for w in concept.lstrip("-").split())
                fits = [_fit(w, words) for w in wanted]
                if all(f is not None for f in fits):
                    cost = PLACE * place + sum(f or 0.0 for f in fits) + EXTRA * (len(words) - len(wanted)) + away
                    best = min(best or (cost, reverse), (cost, reverse))
            if best is not None:
                found.append((best[0], Ref(there, predicate), best[1]))
    return tuple((ref, reverse, cost) for cost, ref, reverse in sorted(found)[:MOST])


def _fit(word: str, words: tuple[str, ...]) -> float | None:
    if word in words:
        return 0.0
    same = synonyms(word)
    if any(w in same or (len(word) >= _AFFIX and (w.startswith(word) or w.endswith(word))) for w in words):
        return OTHERWISE
    return None
