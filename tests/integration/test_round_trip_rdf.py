"""Every fixture loads, answers its queries, is accounted for, and comes back from the SQLite file as the same graph."""

import gzip
import io
import json
import os
from pathlib import Path

import pyoxigraph as ox
import pytest

from ingestion.index.triples import export_triples
from ingestion.induce.write_tables import write_tables
from ingestion.read.parse import parse_files
from ingestion.read.sources import FORMATS
from ingestion.report import build_report
from nacre.stores.sqlite.tables import Tables

FIXTURES = Path(__file__).parents[1] / "fixtures" / "rdf"
CASES = sorted(p for p in FIXTURES.iterdir() if p.suffix != ".json")
SHARED = Path(os.environ.get("NACRE_TEST_GRAPHS", "../shared/data"))
LARGER = [
    Path(__file__).parents[2] / "examples/bmw/kg.ttl",
    *(SHARED / name / "kg.nt" for name in ("geoquery", "wc2014")),
]


def load(source: Path, folder: Path, name: str = "graph.sqlite") -> Tables:
    write_tables(parse_files([source]), folder / name)
    return Tables(folder / name)


def exported(tables: Tables) -> bytes:
    out = io.BytesIO()
    export_triples(tables, out)
    return out.getvalue()


def graph_of(data: bytes, form: ox.RdfFormat) -> ox.Dataset:
    graph = ox.Dataset(ox.parse(data, form, base_iri="http://example.org/"))
    graph.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
    return graph


def read_by_oxigraph(source: Path) -> ox.Dataset:
    raw = source.read_bytes()
    suffix = source.suffix
    if suffix == ".gz":
        raw, suffix = gzip.decompress(raw), source.suffixes[-2]
    return graph_of(raw, getattr(ox.RdfFormat, FORMATS[suffix]))


@pytest.mark.parametrize("source", CASES, ids=lambda p: p.name.replace(".", "-"))
def test_fixture_answers_and_comes_back(source: Path, tmp_path: Path) -> None:
    tables = load(source, tmp_path)
    queries = json.loads((FIXTURES / f"{source.name.partition('.')[0]}.json").read_text())
    for sql, expected in queries.items():
        assert [list(row) for row in tables.run(sql).rows] == expected, sql
    found = build_report(tables)
    assert found.shown + found.left_out == found.triples == sum(a.triples for a in found.predicates)
    if source.suffix != ".trix":
        original = read_by_oxigraph(source)
        assert graph_of(exported(tables), ox.RdfFormat.N_QUADS) == original
        assert found.triples == len(original)
    for relation in tables.schema.relations:
        tables.run(f'SELECT * FROM "{relation.name}"')
    tables.close()


@pytest.mark.parametrize("source", LARGER, ids=lambda p: p.parent.name)
def test_larger_graphs_come_back(source: Path, tmp_path: Path) -> None:
    if not source.is_file():
        pytest.skip(f"{source} is not here")
    tables = load(source, tmp_path)
    assert graph_of(exported(tables), ox.RdfFormat.N_QUADS) == read_by_oxigraph(source)
    found = build_report(tables)
    assert found.shown + found.left_out == found.triples
    tables.close()


@pytest.mark.parametrize("source", CASES, ids=lambda p: p.name.replace(".", "-"))
def test_same_input_same_file(source: Path, tmp_path: Path) -> None:
    first, second = load(source, tmp_path, "a"), load(source, tmp_path, "b")
    assert list(first.trusted().iterdump()) == list(second.trusted().iterdump())
    first.close()
    second.close()
