"""Ontologies and thesauri, asked through whole turns by rules; the pairs in fixtures/vocabularies are extended without
Python. What they mean is shown, and what they say comes back."""

import asyncio
import io
import tempfile
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langgraph.checkpoint.memory import InMemorySaver

from graph.builder import App, compose
from graph.stream import stream_turn
from ingestion.index.triples import export_triples
from ingestion.induce.write_tables import write_tables
from ingestion.pipeline import ingest
from ingestion.read.parse import parse_files
from ingestion.report import build_report
from nacre.config.settings import Settings
from nacre.stores.sqlite.tables import Tables
from tests.support.read_yaml import read_yaml

FOLDER = Path(__file__).parents[1] / "fixtures" / "vocabularies"
SOURCES = sorted(FOLDER.glob("*.ttl"))
# what is not yet understood is kept and said to be so; a mark that is no longer true fails
OPEN = pytest.mark.xfail(reason="not yet understood", strict=True)
CASES = [
    pytest.param(path.stem, case, id=f"{path.stem}: {case['ask']}", marks=OPEN if case.get("open") else ())
    for path in SOURCES
    for case in read_yaml(path.with_suffix(".yaml"))
]
OF_FIFTEEN = 12


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> App:
    data = tmp_path_factory.mktemp("vocabularies")
    for path in SOURCES:
        ingest([str(path)], path.stem.replace("_", "-"), data=data, no_vectors=True)
    return compose(Settings(data=data, embedder="none", _env_file=None)).build(InMemorySaver())


@pytest.mark.parametrize(("name", "case"), CASES)
def test_values(name: str, case: dict[str, Any], app: App) -> None:
    async def ask() -> Any:
        events = [e async for e in stream_turn(app, case["ask"], graph=name.replace("_", "-"), thread=case["ask"])]
        return events[-1][1]

    values = asyncio.run(ask())["values"]
    assert sorted(str(v).lower() for v in values) == sorted(str(v).lower() for v in case["values"])


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.stem)
def test_at_least_twelve_of_fifteen_are_right(path: Path) -> None:
    cases = read_yaml(path.with_suffix(".yaml"))
    assert len(cases) == 15
    assert sum(not case.get("open") for case in cases) >= OF_FIFTEEN


def _comes_back(source: Path, folder: Path) -> None:
    write_tables(parse_files([source]), folder / "graph.sqlite")
    tables = Tables(folder / "graph.sqlite")
    out = io.BytesIO()
    export_triples(tables, out)
    form = ox.RdfFormat.from_extension(source.suffix[1:])
    assert form is not None
    graphs = [
        ox.Dataset(ox.parse(data, of))
        for data, of in ((source.read_bytes(), form), (out.getvalue(), ox.RdfFormat.N_QUADS))
    ]
    for graph in graphs:
        graph.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
    assert graphs[0] == graphs[1]
    found = build_report(tables)
    assert found.shown + found.left_out == found.triples
    tables.close()


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.stem)
def test_comes_back_as_it_was(path: Path, tmp_path: Path) -> None:
    _comes_back(path, tmp_path)


_E = "http://example.org/"
_OWL, _RDF = "http://www.w3.org/2002/07/owl#", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_RDFS, _SKOS, _SCHEMA = (
    "http://www.w3.org/2000/01/rdf-schema#",
    "http://www.w3.org/2004/02/skos/core#",
    "https://schema.org/",
)
_terms = st.sampled_from([ox.NamedNode(_E + n) for n in ("a", "b", "c", "d", "p")] + [ox.BlankNode(n) for n in "xyz"])
_classes = st.sampled_from(
    [
        ox.NamedNode(iri)
        for iri in (_E + "a", _OWL + "Class", _OWL + "Restriction", _OWL + "ObjectProperty", _SKOS + "Concept")
    ]
    + [ox.NamedNode(_RDF + "Bag"), ox.NamedNode(_OWL + "SymmetricProperty")]
)
_meaningful = st.sampled_from(
    [
        ox.NamedNode(_OWL + n)
        for n in "sameAs equivalentClass inverseOf onProperty someValuesFrom hasValue unionOf".split()
    ]
    + [ox.NamedNode(_RDFS + n) for n in ("subClassOf", "label")]
    + [
        ox.NamedNode(_SKOS + n)
        for n in "broader narrower member memberList inScheme related prefLabel altLabel".split()
    ]
    + [ox.NamedNode(_RDF + n) for n in ("first", "rest", "_1", "value")]
    + [ox.NamedNode(_SCHEMA + n) for n in ("value", "unitCode", "name")]
    + [ox.NamedNode(_E + n) for n in ("p", "q")]
)
_objects = st.one_of(_terms, st.sampled_from([ox.Literal("1"), ox.Literal("KGM"), ox.Literal("tools", language="en")]))
_graphs = st.sampled_from([ox.DefaultGraph(), ox.DefaultGraph(), ox.NamedNode(_E + "g")])
_quads = st.lists(
    st.one_of(
        st.builds(ox.Quad, _terms, _meaningful, _objects, _graphs),
        st.builds(ox.Quad, _terms, st.just(ox.NamedNode(_RDF + "type")), _classes, _graphs),
    ),
    min_size=1,
    max_size=25,
)


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(_quads)
def test_any_use_of_the_vocabularies_comes_back(quads: list[ox.Quad]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "graph.nq"
        source.write_bytes(ox.serialize(quads, format=ox.RdfFormat.N_QUADS) or b"")
        _comes_back(source, Path(folder))
