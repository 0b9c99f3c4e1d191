"""A value that a layer derives is cited with the triples it was derived from; the export has what was read."""

import asyncio
import io
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from graph.builder import compose
from graph.stream import stream_turn
from ingestion.index.triples import export_triples
from ingestion.layer.layer_file import load_layer_files
from ingestion.pipeline import load_graph
from nacre.config.settings import Settings
from nacre.stores import versions
from nacre.stores.catalog import Servers
from nacre.stores.sqlite.tables import Tables

TTL = """
@prefix ex: <http://ex.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex:b1 a ex:Bell ; rdfs:label "Big Tom" ; ex:measure ex:m1 ; ex:date "1680-1690" .
ex:b2 a ex:Bell ; rdfs:label "Little Tom" ; ex:measure ex:m2 ; ex:date "1700-1710" .
ex:m1 a ex:Measure ; ex:value 350 . ex:m2 a ex:Measure ; ex:value 50 .
"""
LAYER = """
prefixes: {ex: "http://ex.org/"}
properties:
  weight: {of: ex:Bell, path: "ex:measure/ex:value", also: [heavy], unit: kg}
  near weight: {of: ex:Bell, where: "?this ex:measure ?m . ?m ex:value ?value"}
  start year: {of: ex:Bell, where: "?this ex:date ?d . BIND(xsd:integer(SUBSTR(?d, 1, 4)) AS ?value)"}
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "g.ttl").write_text(TTL)
    (tmp_path / "l.yaml").write_text(LAYER)
    load_graph(
        [str(tmp_path / "g.ttl")],
        "bells",
        data=tmp_path / "data",
        layers=load_layer_files([tmp_path / "l.yaml"]),
        without="not needed",
        server=Servers(),
    )
    return tmp_path / "data"


def answer(data: Path, question: str) -> Any:
    app = compose(Settings(data=data, embedder="none", _env_file=None)).build(InMemorySaver())

    async def ask() -> Any:
        return [e async for e in stream_turn(app, question, graph="bells", thread=question)][-1][1]

    return asyncio.run(ask())


def test_a_path_is_cited_with_the_triples_along_it(data: Path) -> None:
    found = answer(data, "How heavy is Big Tom?")
    assert found["values"] == [350]
    triples = {tuple(triple) for citation in found["citations"] for triple in citation["triples"]}
    assert ("http://ex.org/b1", "http://ex.org/measure", "http://ex.org/m1") in triples
    assert ("http://ex.org/m1", "http://ex.org/value", "350") in triples
    assert not any(triple[1].startswith("urn:nacre:layer:") for triple in triples)


def test_a_pattern_is_cited_with_the_triples_it_reads(data: Path) -> None:
    found = answer(data, "What is the start year of Big Tom?")
    assert found["values"] == [1680]
    triples = {tuple(triple) for citation in found["citations"] for triple in citation["triples"]}
    assert ("http://ex.org/b1", "http://ex.org/date", "1680-1690") in triples


def test_a_pattern_that_looks_like_a_path_is_cited_too(data: Path) -> None:
    found = answer(data, "What is the near weight of Big Tom?")
    assert found["values"] == [350]
    triples = {tuple(triple) for citation in found["citations"] for triple in citation["triples"]}
    assert ("http://ex.org/m1", "http://ex.org/value", "350") in triples
    assert not any(triple[1].startswith("urn:nacre:layer:") for triple in triples)


def test_derived_triples_are_not_exported(data: Path) -> None:
    home = data / "bells"
    version = versions.current_version(home)
    assert version is not None
    out = io.BytesIO()
    export_triples(Tables(versions.version_folder(home, version) / versions.TABLES), out)
    assert len(out.getvalue().splitlines()) == 12
    assert b"urn:nacre:layer" not in out.getvalue()
