"""The formulas of PolyRAG, section 3.2 and 3.3, against cases computed by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.extensions.pyramid.complete_schema import (
    Gaussian,
    cluster_within,
    completion_priorities,
    condense_relations,
    fit_gaussian,
    group_relations,
    k_medoids,
    relation_similarity,
)
from nacre.extensions.pyramid.search_triples import best_rivals
from nacre.records.evidence import ExtractedTriple, SourceSentence

CLAIM = SourceSentence("A b C.", "a.md", 0, 6)
ONE = ExtractedTriple("A", "a", "b", "", "C", "", "thing", 0.8, "verb", "rules", CLAIM)


def test_the_density_of_a_gaussian() -> None:
    # mean (1, 2), covariance diag(4, 9): log F at (3, 2) is -log(2 pi) - log(2 * 3) - (2^2 / 4) / 2
    gaussian = Gaussian(np.array([1.0, 2.0]), np.diag([2.0, 3.0]))
    expected = -math.log(2 * math.pi) - math.log(6) - 0.5
    assert gaussian.log_density(np.array([[3.0, 2.0]])) == pytest.approx([expected])


def test_a_covariance_is_shrunk_as_ledoit_and_wolf_derive() -> None:
    # four points; S = diag(1, 1/4), its mean variance 5/8, distance to the target 2 * (3/8)^2 = 9/32;
    # spread: sum |x|^4 / m^2 - |S|^2 / m = (4 * (5/4)^2) / 16 - (17/16) / 4 = 1/8; share = (1/8) / (9/32) = 4/9
    points = np.array([[1.0, 0.5], [-1.0, -0.5], [1.0, -0.5], [-1.0, 0.5]])
    found = fit_gaussian(points, floor=0.0)
    covariance = found.factor @ found.factor.T
    assert covariance == pytest.approx(np.diag([5 / 9 + 4 / 9 * 5 / 8, 5 / 36 + 4 / 9 * 5 / 8]))


def test_fewer_points_than_dimensions_have_a_density() -> None:
    points = np.eye(5)[:2]
    assert np.isfinite(fit_gaussian(points).log_density(np.eye(5))).all()


def test_the_priority_of_a_point_by_hand() -> None:
    # the lowest log density is 1: Pr = -F_O log F_K + F_K log F_O = -e^1 * 3 + e^3 * 1
    expected = math.log(1 + math.exp(3) * 1 - math.exp(1) * 3)
    assert completion_priorities(np.array([1.0]), np.array([3.0])) == pytest.approx([expected])
    assert completion_priorities(np.array([3.0]), np.array([1.0])) == pytest.approx([-expected])


@given(st.lists(st.tuples(st.floats(-900, 900), st.floats(-900, 900)), min_size=1, max_size=20))
def test_what_the_triples_hold_and_the_ontology_lacks_is_positive(densities: list[tuple[float, float]]) -> None:
    ontology, triples = np.array(densities).T
    found = completion_priorities(ontology, triples)
    assert np.isfinite(found).all()
    clear = np.abs(triples - ontology) > 1e-6
    assert (np.sign(found) == np.sign(triples - ontology))[clear].all()


def test_medoids_of_two_groups() -> None:
    points = np.array([0.0, 0.2, 0.1, 5.0, 5.2])
    distances = abs(points[:, None] - points)
    assert k_medoids(distances, 2) == ([2, 3], [0, 0, 0, 1, 1])
    assert len(cluster_within(distances, 0.15)[0]) == 3
    assert len(cluster_within(distances, 0.01)[0]) == 5


def test_relations_are_condensed_to_what_the_graph_calls_them_and_to_what_is_said_most() -> None:
    said = [
        *(replace(ONE, relation="works at", object=o) for o in ("X", "Y", "Z")),
        *(replace(ONE, relation="is with", object=o) for o in ("X", "Y")),
        *(replace(ONE, relation="employs", relation_key="http://g.example/at", object=o) for o in ("X", "Y")),
        replace(ONE, relation="likes", object="tea"),
    ]
    known = group_relations(said, lambda key: "person")
    assert known[0].phrase == "person works at"
    vectors = np.array([[0.0, 1.0] if each.name == "likes" else [1.0, 0.0] for each in known])
    alike = relation_similarity(known, vectors)
    assert condense_relations(known, alike) == {"works at": "employs", "is with": "employs"}
    assert condense_relations(known[:1], alike[:1, :1]) == {}


def test_relations_of_other_classes_are_not_alike() -> None:
    known = group_relations([ONE, replace(ONE, subject_key="z")], lambda key: key)
    assert relation_similarity(known, np.ones((2, 2)))[0, 1] == 0


def test_the_rival_of_a_relation_alone_is_none() -> None:
    assert best_rivals([0.4]) == [0.0]
