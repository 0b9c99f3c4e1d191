"""Group extracted triples by relation, and merge relations with one meaning: triples -> ExtractedRelations."""

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
    """A relation of the things of one class.

    `domain` is the label of the class, or "" if the graph knows none of the subjects. `key` is the property of the
    graph with the same meaning, or "". `triples` are its statements.
    """

    domain: str
    name: str
    key: str
    triples: tuple[ExtractedTriple, ...]

    @property
    def phrase(self) -> str:
        """Class and relation in words, like the phrases of the ontology (PolyRAG, section 3.2)."""
        return f"{self.domain} {self.name}".strip()

    @property
    def objects(self) -> frozenset[str]:
        """The folded objects."""
        return frozenset(fold(each.object) for each in self.triples)

    @property
    def subjects(self) -> frozenset[str]:
        """The folded subjects."""
        return frozenset(fold(each.subject) for each in self.triples)


def group_relations(triples: Sequence[ExtractedTriple], class_of: Callable[[str], str]) -> list[ExtractedRelation]:
    """The relations of triples by the class of their subjects, those with most triples first.

    `class_of` returns the label of a thing's class, or "".
    """
    by_name: dict[tuple[str, str], list[ExtractedTriple]] = {}
    for each in triples:
        domain = class_of(each.subject_key) if each.subject_key else ""
        by_name.setdefault((domain, fold(each.relation)), []).append(each)
    relations = [
        ExtractedRelation(domain, name, members[0].relation_key, tuple(members))
        for (domain, name), members in by_name.items()
    ]
    return sorted(relations, key=lambda each: (-len(each.triples), each.domain, each.name))


def relation_similarity(known: Sequence[ExtractedRelation], vectors: Array) -> Array:
    """The similarity of relations in meaning, (m, m) in 0..1; relations of two domains have 0.

    It is the mean of the cosine of their phrases' vectors (m, n) and of the overlap of their objects (the
    distributional hypothesis of Lin and Pantel 2001).
    """
    cosine = np.clip(vectors @ vectors.T, 0, 1)
    objects = [each.objects for each in known]
    overlap = np.array([[_overlap(a, b) for b in objects] for a in objects])
    same = np.array([[a.domain == b.domain for b in known] for a in known])
    result: Array = np.where(same, (cosine + overlap) / 2, 0.0)
    np.fill_diagonal(result, 1.0)
    return result


def condense_relations(
    known: Sequence[ExtractedRelation], similarity: Array, threshold: float = MIN_SIMILARITY
) -> Mapping[str, str]:
    """The relations that are condensed to another one: a property of the graph, else the most frequent relation.

    Both must be at least as similar as `threshold` (PolyRAG, section 3.3: anchors are the attributes of classes). A
    relation of several domains is condensed only if it has the same anchor in all of them.
    """
    into: dict[str, set[str]] = {}
    anchors: list[int] = []
    # relations with a property of the graph first, then the most frequent
    order = sorted(range(len(known)), key=lambda i: (not known[i].key, i))
    for i in order:
        near = max(anchors, key=lambda a: (similarity[i, a], -a), default=None)
        joins = near is not None and similarity[i, near] >= threshold and not known[i].key
        if joins and near is not None:
            into.setdefault(known[i].name, set()).add(known[near].name)
        else:
            anchors.append(i)
            into.setdefault(known[i].name, set()).add(known[i].name)
    return {name: next(iter(targets)) for name, targets in into.items() if len(targets) == 1 and targets != {name}}


def _overlap(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / min(len(a), len(b)) if a and b else 0.0
