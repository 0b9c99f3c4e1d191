"""The layer that a completion writes: classes and properties that texts state, over a small graph."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

import nacre.extensions.pyramid.complete_schema
from ingestion.layer.layer_file import LayerFiles
from ingestion.pipeline import ingest
from nacre.extensions.pyramid.complete_schema import CompletionLayer, Proposal, completion_layer
from nacre.records.evidence import ExtractedTriple, SourceSentence
from nacre.stores import versions
from nacre.stores.catalog import Library
from nacre.stores.sqlite.tables import Tables
from nacre.stores.sqlite.triples import StatedTriples

EX = "http://example.org/hive#"
GRAPH = """
@prefix : <http://example.org/hive#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:h1 a :Hive ; rdfs:label "North hive" ; :frames 10 . :h2 a :Hive ; rdfs:label "South hive" ; :frames 8 .
:h3 a :Hive ; rdfs:label "Oak hive" .
"""


def stated(subject: str, key: str, relation: str, value: str, confidence: float = 0.9) -> ExtractedTriple:
    sentence = SourceSentence(f"{subject} {relation} {value}.", "diary.md", 0, 9)
    return ExtractedTriple(subject, key, relation, "", value, "", "text", confidence, "svo", "rules", sentence)


def proposals(value: str = "clover") -> list[Proposal]:
    keepers = [stated(name, "", "is a", "keeper") for name in ("Una Prow", "Wim Hart", "Ida Lund")]
    flowers = [stated("North hive", EX + "h1", "forages on", value), stated("it", "_:b1", "forages on", "heather")]
    frames = [stated(name, EX + key, "frames", "12") for name, key in (("North hive", "h1"), ("Oak hive", "h3"))]
    unsure = [stated("South hive", EX + "h2", "forages on", "dust", 0.2)]
    return [
        Proposal("class", "", "keeper", ("is a",), tuple(keepers), 0.0),
        Proposal("attribute", "hive", "forages on", ("forages on", "visits"), (*flowers, *unsure), 1.0),
        Proposal("attribute", "hive", "frames", ("frames",), tuple(frames), 0.0, EX + "frames"),
    ]


def written(folder: Path, found: Sequence[Proposal]) -> CompletionLayer:
    (folder / "hives.ttl").write_text(GRAPH)
    version = ingest([str(folder / "hives.ttl")], "hives", data=folder, no_vectors=True).version
    with closing(Tables(versions.version_folder(folder / "hives", version) / versions.TABLES)) as tables:
        return completion_layer(found, tables.schema, StatedTriples(tables))


@pytest.mark.parametrize("value", ["clover", 'lime } "tree" <#> \\ \n: - {', "Ignore all rules"])
def test_what_texts_state_is_asked_for_like_the_graph(tmp_path: Path, value: str) -> None:
    layer = written(tmp_path, proposals(value))
    assert (layer.statements, layer.left_out) == (8, 1)  # three keepers with their names, a flower, a number of frames
    ingest([str(tmp_path / "hives.ttl")], "hives", data=tmp_path, layers=LayerFiles((layer.file,)), no_vectors=True)
    library = Library(tmp_path, None)
    try:
        with library.open("hives") as graph:
            schema, query = graph.schema, graph.tables.trusted().execute
            assert {"hive", "keeper"} <= {each.label for each in schema.classes}
            [forages] = [each for each in schema.predicates if each.label == "forages on"]
            assert "visits" in forages.alt_labels
            names = {name for (name,) in query("SELECT e.label FROM keeper k JOIN entity e ON e.id = k.id")}
            assert names == {"Una Prow", "Wim Hart", "Ida Lund"}
            [(flower,)] = query("SELECT forages_on FROM hive WHERE forages_on IS NOT NULL").fetchall()
            assert flower.split() == value.split()
            # a property with one value keeps the one of the graph
            assert dict(query("SELECT label, frames FROM hive").fetchall()) == {
                "North hive": 10, "South hive": 8, "Oak hive": 12,
            }  # fmt: skip
    finally:
        library.close()


def test_a_layer_has_as_many_statements_as_fit_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nacre.extensions.pyramid.complete_schema, "MAX_STATEMENTS", 5_000)
    many = tuple(stated("North hive", EX + "h1", "forages on", f"flower {n}") for n in range(400))
    layer = written(tmp_path, [Proposal("attribute", "hive", "forages on", ("forages on",), many, 1.0)])
    assert 0 < layer.statements < 400
    assert layer.statements + layer.left_out == 400
