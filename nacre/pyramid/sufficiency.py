"""Whether single triples answer a question: a group of triples that say one thing of one end -> a probability.

PolyRAG (section 4.2) asks a model for yes or no; here it is a logistic model over named features, fitted by
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


@dataclass(frozen=True)
class RetrievedTriple:
    """One triple as search sees it: its `other` end, as text and as a cell, its sentence, and how sure it is."""

    other: str
    key: str
    kind: ObjectKind
    confidence: float
    sentence: EvidenceSentence


@dataclass(frozen=True)
class TripleGroup:
    """The triples that say one relation of one end, the anchor, which is their subject or (not `forward`) object;
    `names` are relations that were condensed to it."""

    anchor: str
    relation: str
    forward: bool
    triples: tuple[RetrievedTriple, ...]
    names: tuple[str, ...] = ()

    @property
    def phrase(self) -> str:
        """What they all say, without the other end."""
        return f"{self.anchor} {self.relation}" if self.forward else f"{self.relation} {self.anchor}"


def sufficiency_features(
    left: str, group: TripleGroup, triple: float, relation: float, rival: float
) -> dict[str, float]:
    """Named features. `left` is the question without the anchor; `triple` is the cosine of `left` and of one of
    the triples without the anchor, `relation` that of `left` and the relation's names, `rival` the highest `relation`
    of another one."""
    names = " ".join((group.relation, *group.names))
    return {
        "bias": 1.0,
        "triple": triple,
        "relation": relation,
        "ahead": relation - rival,
        "named": word_coverage(left, [EvidenceSentence("", 1, names)]),
        "told": word_coverage(left, [EvidenceSentence("", 1, f"{names} {each.other}") for each in group.triples[:8]]),
    }


def sufficiency_probability(found: Mapping[str, float]) -> float:
    """The chance that the other ends are what was asked for."""
    weight = sufficiency_weights()
    return 1 / (
        1 + math.exp(-max(-30.0, min(30.0, sum(weight.get(name, 0.0) * value for name, value in found.items()))))
    )


def best_rivals(cosines: Sequence[float]) -> list[float]:
    """For each the highest of the others, 0 where it is alone.

    >>> best_rivals([0.2, 0.9, 0.5])
    [0.9, 0.5, 0.9]
    """
    order = sorted(cosines, reverse=True)
    return [(order[1] if len(order) > 1 else 0.0) if each == order[0] else order[0] for each in cosines]


@cache
def sufficiency_weights() -> Mapping[str, float]:
    """The weights of the file, read once."""
    found: dict[str, float] = json.loads(SUFFICIENCY_FILE.read_text(encoding="utf-8"))
    return found
