"""Relations of extracted triples, and which of them say the same: triples -> Relations, their distances, groups."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nacre.language.tokens import fold
from nacre.records.extracted import ExtractedTriple

Array = NDArray[np.float64]

# Minimum similarity at which two relations count as the same. In the synthetic faculty
# (nacre/evaluation/synthetic/faculty.py) relations with one meaning reach at least 0.60, all others at most 0.49.
MIN_SIMILARITY = 0.6


@dataclass(frozen=True)
class ExtractedRelation:
    """What things of one class are said to be or do. `domain` is the class's label, or "" where the graph knows none of
    the subjects; `key` the property of the graph that it says, "" for none; `triples` its statements."""

    domain: str
    name: str
    key: str
    triples: tuple[ExtractedTriple, ...]

    @property
    def phrase(self) -> str:
        """Subject and relation in words, as classes and attributes are worded too (PolyRAG, section 3.2)."""
        return f"{self.domain} {self.name}".strip()

    @property
    def objects(self) -> frozenset[str]:
        """Its objects, folded."""
        return frozenset(fold(each.object) for each in self.triples)

    @property
    def subjects(self) -> frozenset[str]:
        """Its subjects, folded."""
        return frozenset(fold(each.subject) for each in self.triples)


def group_relations(triples: Sequence[ExtractedTriple], class_of: Callable[[str], str]) -> list[ExtractedRelation]:
    """The relations of triples by the class of their subjects, those of most triples first; `class_of` gives the label
    of a thing's class, "" for none."""
    found: dict[tuple[str, str], list[ExtractedTriple]] = {}
    for each in triples:
        domain = class_of(each.subject_key) if each.subject_key else ""
        found.setdefault((domain, fold(each.relation)), []).append(each)
    made = [
        ExtractedRelation(domain, name, said[0].relation_key, tuple(said)) for (domain, name), said in found.items()
    ]
    return sorted(made, key=lambda each: (-len(each.triples), each.domain, each.name))


def relation_similarity(known: Sequence[ExtractedRelation], vectors: Array) -> Array:
    """How much relations say the same, (m, m) in 0..1: the mean of the cosine of their phrases' vectors (m, n) and of
    the overlap of their objects (the distributional hypothesis of Lin and Pantel 2001). Those of other domains: 0.
    """
    cosine = np.clip(vectors @ vectors.T, 0, 1)
    objects = [each.objects for each in known]
    overlap = np.array([[_overlap(a, b) for b in objects] for a in objects])
    same = np.array([[a.domain == b.domain for b in known] for a in known])
    result: Array = np.where(same, (cosine + overlap) / 2, 0.0)
    np.fill_diagonal(result, 1.0)
    return result


def condense_relations(
    known: Sequence[ExtractedRelation], alike: Array, threshold: float = MIN_SIMILARITY
) -> Mapping[str, str]:
    """Which relations read as another one: each joins the property of the graph, else the most frequent relation, that
    it is at least `threshold` like (PolyRAG, section 3.3: anchors are the attributes of classes).

    A relation that is the same in two domains is condensed only where both agree.
    """
    into: dict[str, set[str]] = {}
    anchors: list[int] = []
    # what the graph has a property for stands first, then what is said most
    order = sorted(range(len(known)), key=lambda i: (not known[i].key, i))
    for i in order:
        near = max(anchors, key=lambda a: (alike[i, a], -a), default=None)
        joins = near is not None and alike[i, near] >= threshold and not known[i].key
        if joins and near is not None:
            into.setdefault(known[i].name, set()).add(known[near].name)
        else:
            anchors.append(i)
            into.setdefault(known[i].name, set()).add(known[i].name)
    return {name: next(iter(targets)) for name, targets in into.items() if len(targets) == 1 and targets != {name}}


def _overlap(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / min(len(a), len(b)) if a and b else 0.0
