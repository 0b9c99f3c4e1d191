"""Whose words and links a reading rests on: the graph's own, or those that a semantic layer gives."""

from pathlib import Path

import pytest

from ingestion.layer.layer_file import LayerFile, LayerFiles
from ingestion.pipeline import ingest
from nacre.records.plan import Plan
from nacre.records.threads import start_deadline
from nacre.stores.catalog import Library
from nacre.understanding.linking.link_mentions import link_mentions, linker_of, prepare_question
from nacre.understanding.parse_question import parse_question
from nacre.understanding.ranking.features import vocabulary_features
from nacre.wording.plan_phrases import verbalise_plan

GRAPH = """
@prefix : <http://e.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Boat a rdfs:Class ; rdfs:label "boat" . :Harbour a rdfs:Class ; rdfs:label "harbour" .
:berth rdfs:label "berth" . :depth rdfs:label "depth" . :length rdfs:label "length" . :mass rdfs:label "mass" .
:a a :Boat ; rdfs:label "Petrel" ; :berth :h ; :length 9 ; :mass 4 . :b a :Boat ; rdfs:label "Skua" ; :berth :h .
:h a :Harbour ; rdfs:label "Ness" ; :depth 6 .
"""
LAYER = """
prefixes: {e: "http://e.org/"}
properties:
  e:mass: {also: [burden]}
  water: {of: e:Boat, path: e:berth/e:depth, also: [draught]}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    folder: Path = tmp_path_factory.mktemp("boats")
    (folder / "boats.ttl").write_text(GRAPH)
    layers = LayerFiles((LayerFile("boats.yaml", LAYER),))
    ingest([str(folder / "boats.ttl")], "boats", data=folder / "data", layers=layers)
    return Library(folder / "data", None)


@pytest.mark.parametrize(
    ("question", "words", "expected"),
    [
        ("length of Petrel", "the length of Petrel", {"own property": 1, "links unsaid": 0, "layer words": 0}),
        ("burden of Petrel", "the mass of Petrel", {"own property": 1, "layer words": 1, "layer derived": 0}),
        ("draught of Petrel", "the water of Petrel", {"own property": 1, "layer words": 1, "layer derived": 1}),
        ("depth of Petrel", "the depths of the berth of Petrel", {"links unsaid": 1}),
    ],
)
def test_features(library: Library, question: str, words: str, expected: dict[str, float]) -> None:
    opened = library.open("boats")
    linker = linker_of(opened.lexicon)
    asked = prepare_question(question, linker)
    candidates = parse_question(asked, link_mentions(asked, linker.index), linker, start_deadline(5.0))
    found = {
        verbalise_plan(Plan(c.body), opened.schema): vocabulary_features(c, asked, linker.index.graph)
        for c in candidates
    }
    assert words in found, sorted(found)
    assert expected.items() <= found[words].items()
    assert found[words]["layer share"] > 0
