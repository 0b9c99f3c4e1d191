"""Classes and attributes that extracted triples hold and the schema lacks: relations + schema -> Proposals.

PolyRAG, section 3.2: phrases of both layers in one space, a Gaussian each, k-medoids over the dense uncovered region.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from nacre.language.tokens import fold
from nacre.pyramid.gaussian import completion_priorities, fit_gaussian
from nacre.pyramid.medoids import cluster_within
from nacre.pyramid.relations import MIN_SIMILARITY, ExtractedRelation, relation_similarity
from nacre.records.extracted import ExtractedTriple
from nacre.records.proposal import Proposal
from nacre.records.schema import Schema

Array = NDArray[np.float64]
Embed = Callable[[Sequence[str]], Array]

# of so many things at least must something be said to be worth a class or an attribute (given)
MIN_SUPPORT = 3
# relations of one class and phrases of a layer that are looked at, the most frequent first (bounds of time and memory)
MOST_RELATIONS, MOST_PHRASES, MOST_POINTS = 120, 4000, 20_000
IS_A = "is a"


def ontology_phrases(schema: Schema) -> list[str]:
    """The pairs of class and attribute in words, and the classes alone."""
    facts = [p for p in schema.predicates if p.role in ("fact", "text", "identifier")]
    pairs = [f"{c.label} {p.label}" for c in schema.classes for p in facts if c.iri in p.domains]
    return [*(c.label for c in schema.classes), *pairs][:MOST_PHRASES]


def find_proposals(known: Sequence[ExtractedRelation], schema: Schema, embed: Embed) -> list[Proposal]:
    """What is dense among the triples and lacking in the schema, the highest priority first, then facts that only fill
    properties which are there. Empty where there are no triples."""
    filled = [_filling(each) for each in known if each.key]
    told = [each for each in known if not each.key and each.name != IS_A]
    if not told:
        return [*_classes(known), *filled]
    phrases = list(dict.fromkeys(each.phrase for each in known))[:MOST_PHRASES]
    vectors = dict(zip(phrases, embed(phrases), strict=True))
    ontology = ontology_phrases(schema) or [""]
    said = _weighted([(vectors[each.phrase], len(each.triples)) for each in known if each.phrase in vectors])
    at = np.array([vectors[each.phrase] for each in told if each.phrase in vectors])
    rated = completion_priorities(fit_gaussian(embed(ontology)).log_density(at), fit_gaussian(said).log_density(at))
    region = [(r, v, float(p)) for r, v, p in zip(told, at, rated, strict=False) if p > 0 and r.domain]
    found: list[Proposal] = []
    for domain in dict.fromkeys(r.domain for r, _, _ in region):
        found += _attributes(domain, [each for each in region if each[0].domain == domain][:MOST_RELATIONS])
    found.sort(key=lambda each: (-each.priority, each.domain, each.label))
    return [*_classes(known), *found, *filled]


def _weighted(said: Sequence[tuple[Array, int]]) -> Array:
    """A point for each triple, so that the density is that of the layer and not of its vocabulary; of a large layer in
    proportion."""
    share = min(1.0, MOST_POINTS / sum(count for _, count in said))
    return np.concatenate([np.tile(vector, (max(1, round(count * share)), 1)) for vector, count in said])


def _attributes(domain: str, region: Sequence[tuple[ExtractedRelation, Array, float]]) -> list[Proposal]:
    """The clusters of one class's relations, a proposal each, named by its medoid."""
    said = [relation for relation, _, _ in region]
    alike = relation_similarity(said, np.array([vector for _, vector, _ in region]))
    medoids, owner = cluster_within(1 - alike, 1 - MIN_SIMILARITY)
    made = []
    for place, medoid in enumerate(medoids):
        members = [relation for relation, own in zip(said, owner, strict=True) if own == place]
        instances = tuple(triple for relation in members for triple in relation.triples)
        names = tuple(dict.fromkeys((said[medoid].name, *(relation.name for relation in members))))
        one = Proposal("attribute", domain, said[medoid].name, names, instances, round(region[medoid][2], 3))
        # what is the same of all tells nothing apart
        differs = len({fold(each.object) for each in instances}) > 1
        made += [one] if one.support >= MIN_SUPPORT and differs else []
    return made


def _classes(known: Sequence[ExtractedRelation]) -> list[Proposal]:
    """What several things that the graph does not know are said to be."""
    of: dict[str, list[ExtractedTriple]] = {}
    for relation in known:
        if relation.name == IS_A and not relation.domain:
            for triple in relation.triples:
                of.setdefault(fold(triple.object), []).append(triple)
    made = [Proposal("class", "", name, (IS_A,), tuple(said), 0.0) for name, said in sorted(of.items())]
    return [each for each in made if each.support >= MIN_SUPPORT]


def _filling(relation: ExtractedRelation) -> Proposal:
    return Proposal("attribute", relation.domain, relation.name, (relation.name,), relation.triples, 0.0, relation.key)
