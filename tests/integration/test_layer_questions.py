"""Questions in the words of a semantic layer, through whole turns by rules."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from graph.builder import App, compose
from graph.stream import stream_turn
from ingestion.induce.layout import induce_layout
from ingestion.layer.apply import apply_layers
from ingestion.layer.layer_file import load_layer_files
from ingestion.pipeline import ingest
from ingestion.read.parse import parse_files
from nacre.config.settings import Settings

FOLDER = Path(__file__).parent / "layers"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> App:
    data = tmp_path_factory.mktemp("layers")
    layers = load_layer_files([FOLDER / "anchors.yaml"])
    ingest([str(FOLDER / "anchors.ttl")], "anchors", data=data, layers=layers, no_vectors=True)
    return compose(Settings(data=data, embedder="none", _env_file=None)).build(InMemorySaver())


def values(app: App, question: str) -> list[Any]:
    async def ask() -> Any:
        events = [e async for e in stream_turn(app, question, graph="anchors", thread=question)]
        return events[-1][1]

    found: list[Any] = asyncio.run(ask())["values"]
    return found


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How heavy is Old Tom?", [310]),
        ("Which anchor is the heaviest?", ["Old Tom"]),
        ("What is the weight of the lightest anchor?", [40]),
        ("Which anchors were forged by Ada Brand?", ["Old Tom", "Little Ben"]),
        ("Which anchors were forged at Selby?", ["Little Ben"]),
        ("Where was Old Tom forged at?", ["Hull"]),
        ("What is the average mass of the anchors?", [140]),
    ],
)
def test_values(question: str, expected: list[Any], app: App) -> None:
    assert sorted(map(str, values(app, question))) == sorted(map(str, expected))


def test_the_languages_of_a_layer_come_first(tmp_path: Path) -> None:
    (tmp_path / "g.ttl").write_text(
        "@prefix : <http://e/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        ':a a :Bell ; rdfs:label "large bell"@en, "campana grande"@it . :b a :Bell ; rdfs:label "small bell"@en .\n'
    )
    (tmp_path / "l.yaml").write_text("languages: [it]\n")
    applied = apply_layers(parse_files([tmp_path / "g.ttl"]), load_layer_files([tmp_path / "l.yaml"]).layers())
    assert sorted(induce_layout(applied.facts, applied.layer).labels) == ["campana grande", "small bell"]
