"""What the entries of a semantic layer derive, over small graphs."""

from pathlib import Path

import numpy as np
import pytest

import nacre.extensions.layer_patterns.derive
from ingestion.layer.apply import apply_layers
from ingestion.layer.entries import Entry, PropertyEntry
from ingestion.layer.layer_file import read_layer
from ingestion.layer.resolve import GraphTerms, resolve_layer, without_taken_names
from ingestion.read.facts import Facts
from ingestion.read.parse import parse_files
from ingestion.vocabulary import SUBCLASS
from nacre.extensions.layer_patterns.derive import contained_classes, derivation_order

GRAPH = """
@prefix ex: <http://example.org/v#> .
@prefix schema: <http://schema.org/> .
ex:a a ex:Barge, ex:Boat ; schema:weight "12 t" ; ex:moored ex:north .
ex:b a ex:Barge, ex:Boat ; schema:weight "9 t" ; ex:moored ex:south .
ex:c a ex:Punt, ex:Boat ; ex:moored ex:south .
ex:hut a ex:Ferry .
"""


def derive(folder: Path, layer: str, graph: str = GRAPH) -> set[tuple[str, str, str]]:
    """The triples that a layer adds, by local names."""
    (folder / "graph.ttl").write_text(graph)
    text = "prefixes: {ex: 'http://example.org/v#'}\n" + layer
    facts = parse_files([folder / "graph.ttl"])
    applied = apply_layers(facts, [read_layer(Path("layer.yaml"), text)], packs=False)
    assert not applied.problems
    return triples(applied.facts) - triples(facts)


def entries(layer: str) -> list[Entry]:
    """The entries of a layer, resolved against a graph that has what it names."""
    read = read_layer(Path("layer.yaml"), "prefixes: {ex: 'http://example.org/v#'}\n" + layer)
    names = ("Boat", "Lock", "name")
    known = [f"http://example.org/v#{name}" for name in names]
    return list(resolve_layer(read, GraphTerms(known, known, dict))[0].entries)


def triples(facts: Facts) -> set[tuple[str, str, str]]:
    rows = zip(facts.subject.tolist(), facts.predicate.tolist(), facts.object.tolist(), strict=True)
    return {(_local(facts, s), _local(facts, p), _local(facts, o)) for s, p, o in rows}


def _local(facts: Facts, term: int) -> str:
    return facts.texts[term].rsplit("#")[-1].rsplit(":")[-1]


def test_a_derived_class_comes_before_one_of_the_graph_with_its_name(tmp_path: Path) -> None:
    layer = """
classes:
  ferry: {where: "?this ex:moored ex:south"}
properties:
  berth: {of: ferry, path: ex:moored}
"""
    assert {t for t in derive(tmp_path, layer) if t[1] == "berth"} == {("b", "berth", "south"), ("c", "berth", "south")}


def test_patterns_match_both_schemes_of_a_namespace(tmp_path: Path) -> None:
    layer = """
properties:
  load: {where: "?this schema:weight ?w BIND(STRBEFORE(?w, ' ') AS ?value)"}
rules:
  - "CONSTRUCT { ?b layer:weighed ?w } WHERE { ?b schema:weight ?w }"
"""
    found = derive(tmp_path, layer)
    assert {("a", "load", "12"), ("b", "load", "9"), ("a", "weighed", "12 t"), ("b", "weighed", "9 t")} <= found


def test_packs_read_nothing_for_patterns_that_the_graph_cannot_match(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # the pack has a rule about named nodes behind a property that the graph lacks
    (tmp_path / "graph.ttl").write_text('<urn:a> a <http://schema.org/Product> ; <http://schema.org/name> "lamp" .')
    monkeypatch.setattr(nacre.extensions.layer_patterns.derive, "PatternStore", None)
    facts = parse_files([tmp_path / "graph.ttl"])
    assert apply_layers(facts, []).packs == ("schema-org",)


def test_rules_see_the_names_of_things(tmp_path: Path) -> None:
    layer = """
things:
  ex:north: [North Quay, Old Quay]
rules:
  - "CONSTRUCT { ?b layer:quay ?n } WHERE { ?b ex:moored/layer:name ?n }"
"""
    assert ("a", "quay", "North Quay") in derive(tmp_path, layer)


def test_a_derived_class_is_a_subclass_of_what_contains_it(tmp_path: Path) -> None:
    layer = """
classes:
  southern boat: {where: "?this ex:moored ex:south"}
"""
    name = SUBCLASS.rsplit("#")[-1]
    found = {t for t in derive(tmp_path, layer) if t[1] == name}
    assert found == {("southern_boat", name, "Boat"), ("Punt", name, "southern_boat")}


def test_pairs_that_follow_from_others_are_left_out() -> None:
    things = np.array([1, 2, 3, 1, 2, 1], dtype=np.int32)
    types = np.array([7, 7, 7, 8, 8, 9], dtype=np.int32)
    assert contained_classes(things, types, {8, 9}) == [(8, 7), (9, 8)]
    assert contained_classes(things, types, {9}) == [(9, 7), (9, 8)]
    assert contained_classes(things[:0], types[:0], {9}) == []


def test_a_name_of_the_own_layer_is_not_a_name_of_a_pack() -> None:
    pack = entries("""
properties:
  mass: {of: ex:Boat, path: ex:mass, also: [weight]}
  load: {of: ex:Boat, path: ex:load, also: [cargo]}
  draught: {of: ex:Boat, path: ex:deep, also: [depth]}
  freeboard: {of: ex:Boat, path: layer:draught}
  ex:name: {name: name, also: [called, title]}
""")
    own = entries("""
properties:
  cargo: {of: ex:Boat, path: ex:freight, also: [load]}
  depth: {of: ex:Lock, path: ex:depth, also: [mass]}
  title: {path: ex:title, also: [draught]}
""")
    found = {e.iri.rsplit(":")[-1]: e.also for e in without_taken_names(pack, own) if isinstance(e, PropertyEntry)}
    assert found == {
        "mass": ("weight",),
        "draught": ("depth",),
        "freeboard": (),
        "//example.org/v#name": ("called",),
    }


def test_an_entry_sees_what_later_entries_give(tmp_path: Path) -> None:
    layer = """
rules:
  - "CONSTRUCT { ?b layer:heavy ?t } WHERE { ?b layer:tonnes ?t FILTER(?t > 10) }"
classes:
  heavy boat: {where: "?this layer:heavy ?t"}
properties:
  heavy berth: {of: heavy boat, path: ex:moored}
  tonnes: {where: "?this schema:weight ?w BIND(xsd:integer(STRBEFORE(?w, ' ')) AS ?value)"}
"""
    assert ("a", "heavy_berth", "north") in derive(tmp_path, layer)


def test_entries_that_need_one_another_keep_their_order() -> None:
    found = entries("""
rules:
  - "CONSTRUCT { ?b layer:one ?t } WHERE { ?b layer:two ?t }"
  - "CONSTRUCT { ?b layer:two ?t } WHERE { ?b layer:one ?t }"
properties:
  three: {path: layer:two}
  five: {path: layer:four/layer:three}
  four: {path: "layer:five?/ex:name"}
""")
    assert derivation_order(found) == [0, 1, 2, 4, 3]
