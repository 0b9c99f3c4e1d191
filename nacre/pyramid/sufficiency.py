"""Estimate whether single triples answer a question: a group of triples -> the probability that they suffice.

PolyRAG (section 4.2) asks a model for yes or no. Here it is a logistic model over named features, fitted by
`python -m nacre.evaluation.learning.sufficiency`.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from nacre.language.rank_sentences import word_coverage
from nacre.records.evidence import EvidenceSentence
from nacre.records.extracted import ObjectKind

SUFFICIENCY_FILE = Path(__file__).with_name("sufficiency.json")
# triples of a group whose words count for the features
_MAX_TRIPLES = 8
# bound of the score, against overflow
_MAX_SCORE = 30.0


@dataclass(frozen=True)
class RetrievedTriple:
    """A triple of a search result: its `other` end as text and as a cell, its confidence and its sentence."""

    other: str
    key: str
    kind: ObjectKind
    confidence: float
    sentence: EvidenceSentence


@dataclass(frozen=True)
class TripleGroup:
    """The triples with one relation and one end, the anchor: their subject, or their object if not `forward`.

    `names` are the relations that were condensed to this one.
    """

    anchor: str
    relation: str
    forward: bool
    triples: tuple[RetrievedTriple, ...]
    names: tuple[str, ...] = ()

    @property
    def phrase(self) -> str:
        """The anchor and the relation in the order of the triples."""
        return f"{self.anchor} {self.relation}" if self.forward else f"{self.relation} {self.anchor}"


def sufficiency_features(
    left: str, group: TripleGroup, triple: float, relation: float, rival: float
) -> dict[str, float]:
    """The named features of a group.

    `left` is the question without the anchor. `triple` is the cosine of `left` and the nearest triple without the
    anchor, `relation` the cosine of `left` and the names of the relation, `rival` the highest `relation` of another
    group.
    """
    names = " ".join((group.relation, *group.names))
    ends = [each.other for each in group.triples[:_MAX_TRIPLES]]
    return {
        "bias": 1.0,
        "triple": triple,
        "relation": relation,
        "ahead": relation - rival,
        "named": word_coverage(left, [EvidenceSentence("", 1, names)]),
        "told": word_coverage(left, [EvidenceSentence("", 1, f"{names} {end}") for end in ends]),
    }


def sufficiency_probability(features: Mapping[str, float]) -> float:
    """The probability that the other ends are the answer."""
    weights = sufficiency_weights()
    score = sum(weights.get(name, 0.0) * value for name, value in features.items())
    return 1 / (1 + math.exp(-max(-_MAX_SCORE, min(_MAX_SCORE, score))))


def best_rivals(cosines: Sequence[float]) -> list[float]:
    """For each value the highest of the other values; 0 if there are no others.

    >>> best_rivals([0.2, 0.9, 0.5])
    [0.9, 0.5, 0.9]
    """
    order = sorted(cosines, reverse=True)
    return [(order[1] if len(order) > 1 else 0.0) if each == order[0] else order[0] for each in cosines]


@cache
def sufficiency_weights() -> Mapping[str, float]:
    """The weights of the file, read once."""
    weights: dict[str, float] = json.loads(SUFFICIENCY_FILE.read_text(encoding="utf-8"))
    return weights
