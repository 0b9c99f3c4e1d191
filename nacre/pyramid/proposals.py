"""Propose classes and attributes that extracted triples have and the schema lacks: relations + schema -> Proposals.

PolyRAG, section 3.2: the phrases of both layers share one vector space. Each layer is a Gaussian. The regions that are
dense in triples and sparse in the ontology are clustered by k-medoids.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from nacre.language.tokens import fold
from nacre.pyramid.gaussian import completion_priorities, fit_gaussian
from nacre.pyramid.medoids import cluster_within
from nacre.pyramid.relations import MIN_SIMILARITY, ExtractedRelation, relation_similarity
from nacre.records.extracted import ExtractedTriple, Proposal
from nacre.records.schema import Schema

Array = NDArray[np.float64]
Embed = Callable[[Sequence[str]], Array]

# minimum number of things with a class or an attribute (given)
MIN_SUPPORT = 3
# bounds of time and memory: relations of a class, phrases of a layer, points of a Gaussian; the most frequent first
MAX_RELATIONS, MAX_PHRASES, MAX_POINTS = 120, 4000, 20_000
IS_A = "is a"


def ontology_phrases(schema: Schema) -> list[str]:
    """The labels of the classes, then the labels of class and attribute for all pairs in the schema."""
    facts = [p for p in schema.predicates if p.role in ("fact", "text", "identifier")]
    pairs = [f"{c.label} {p.label}" for c in schema.classes for p in facts if c.iri in p.domains]
    return [*(c.label for c in schema.classes), *pairs][:MAX_PHRASES]


def find_proposals(relations: Sequence[ExtractedRelation], schema: Schema, embed: Embed) -> list[Proposal]:
    """New classes, new attributes by falling priority, then new facts for properties of the schema.

    Empty if there are no triples.
    """
    known = [_facts_of_property(each) for each in relations if each.key]
    new = [each for each in relations if not each.key and each.name != IS_A]
    if not new:
        return [*_classes(relations), *known]
    phrases = list(dict.fromkeys(each.phrase for each in relations))[:MAX_PHRASES]
    vectors = dict(zip(phrases, embed(phrases), strict=True))
    ontology = fit_gaussian(embed(ontology_phrases(schema) or [""]))
    triples = fit_gaussian(
        _weighted_points([(vectors[each.phrase], len(each.triples)) for each in relations if each.phrase in vectors])
    )
    points = np.array([vectors[each.phrase] for each in new if each.phrase in vectors])
    priorities = completion_priorities(ontology.log_density(points), triples.log_density(points))
    region = [(r, v, float(p)) for r, v, p in zip(new, points, priorities, strict=False) if p > 0 and r.domain]
    attributes = [
        proposal
        for domain in dict.fromkeys(r.domain for r, _, _ in region)
        for proposal in _attributes(domain, [each for each in region if each[0].domain == domain][:MAX_RELATIONS])
    ]
    attributes.sort(key=lambda each: (-each.priority, each.domain, each.label))
    return [*_classes(relations), *attributes, *known]


def _weighted_points(counted: Sequence[tuple[Array, int]]) -> Array:
    """One point per triple, so that the density is that of the triples and not of their vocabulary.

    Large layers are reduced in proportion.
    """
    share = min(1.0, MAX_POINTS / sum(count for _, count in counted))
    return np.concatenate([np.tile(vector, (max(1, round(count * share)), 1)) for vector, count in counted])


def _attributes(domain: str, region: Sequence[tuple[ExtractedRelation, Array, float]]) -> list[Proposal]:
    """One proposal per cluster of the relations of a class, named after its medoid."""
    relations = [relation for relation, _, _ in region]
    similarity = relation_similarity(relations, np.array([vector for _, vector, _ in region]))
    medoids, owner = cluster_within(1 - similarity, 1 - MIN_SIMILARITY)
    proposals = []
    for position, medoid in enumerate(medoids):
        members = [relation for relation, own in zip(relations, owner, strict=True) if own == position]
        instances = tuple(triple for relation in members for triple in relation.triples)
        label = relations[medoid].name
        names = tuple(dict.fromkeys((label, *(relation.name for relation in members))))
        proposal = Proposal("attribute", domain, label, names, instances, round(region[medoid][2], 3))
        # an attribute with one value for all things distinguishes none of them
        differs = len({fold(each.object) for each in instances}) > 1
        proposals += [proposal] if proposal.support >= MIN_SUPPORT and differs else []
    return proposals


def _classes(relations: Sequence[ExtractedRelation]) -> list[Proposal]:
    """The classes that the texts state of things unknown to the graph."""
    by_class: dict[str, list[ExtractedTriple]] = {}
    for relation in relations:
        if relation.name == IS_A and not relation.domain:
            for triple in relation.triples:
                by_class.setdefault(fold(triple.object), []).append(triple)
    proposals = [
        Proposal("class", "", name, (IS_A,), tuple(instances), 0.0) for name, instances in sorted(by_class.items())
    ]
    return [each for each in proposals if each.support >= MIN_SUPPORT]


def _facts_of_property(relation: ExtractedRelation) -> Proposal:
    return Proposal("attribute", relation.domain, relation.name, (relation.name,), relation.triples, 0.0, relation.key)
