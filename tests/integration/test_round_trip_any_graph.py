"""Graphs made by hypothesis and graphs of odd sizes come back from the SQLite file as they were."""

import io
import tempfile
import time
from itertools import permutations
from pathlib import Path

import pyoxigraph as ox
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingestion.index.triples import export_triples
from ingestion.induce import layout
from ingestion.induce.write_tables import write_tables
from ingestion.read.parse import parse_files
from ingestion.report import build_report, version_facts
from nacre.errors import ConfigError
from nacre.stores.sqlite.tables import Tables
from tests.support.capsules import capsules

XSD = "http://www.w3.org/2001/XMLSchema#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
TYPE = ox.NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
E = "http://example.org/"
T = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"

things = st.sampled_from([ox.NamedNode(E + n) for n in ("a", "b", "c", "d/e", "F")] + [ox.BlankNode(n) for n in "xy"])
classes = st.sampled_from([ox.NamedNode(E + n) for n in ("K", "k", "Order", "Sub")])
datatypes = ["integer", "decimal", "double", "boolean", "date", "dateTime", "gYear", "string", "own", "duration"]
lexical = st.one_of(
    st.sampled_from(
        [
            "1",
            "01",
            "-0",
            "1.50",
            "1e3",
            "NaN",
            "INF",
            "true",
            "0",
            "2024-05-01",
            "1999",
            "5 kg",
            "5000 g",
            "3 - 4 m",
            "",
            " ",
            "x",
        ]
    ),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
)
literals = st.one_of(
    st.builds(ox.Literal, lexical),
    st.builds(lambda v, d: ox.Literal(v, datatype=ox.NamedNode(XSD + d)), lexical, st.sampled_from(datatypes)),
    st.builds(lambda v, g: ox.Literal(v, language=g), lexical, st.sampled_from(["en", "de", "en-GB"])),
)
predicates = st.sampled_from(
    [ox.NamedNode(E + n) for n in ("p", "P", "q", "name", "select", "id")]
    + [ox.NamedNode(RDFS + n) for n in ("label", "subClassOf")]
)
graphs = st.sampled_from([ox.DefaultGraph(), ox.DefaultGraph(), ox.NamedNode(E + "g1"), ox.NamedNode(E + "g2")])
facts = st.one_of(
    st.builds(ox.Quad, things, predicates, st.one_of(literals, things)),
    st.builds(ox.Quad, things, st.just(TYPE), classes),
    st.builds(ox.Quad, classes, st.sampled_from([ox.NamedNode(RDFS + n) for n in ("subClassOf", "label")]), classes),
)
quads = st.one_of(facts, st.builds(lambda q, g: ox.Quad(q.subject, q.predicate, q.object, g), facts, graphs))


def came_back(data: bytes, folder: Path) -> tuple[ox.Dataset, ox.Dataset, Tables]:
    source = folder / "g.nq"
    source.write_bytes(data)
    write_tables(parse_files([source]), folder / "graph.sqlite")
    tables = Tables(folder / "graph.sqlite")
    assert list(capsules(version_facts(folder))) == list(capsules(parse_files([source])))
    out = io.BytesIO()
    export_triples(tables, out)
    original = ox.Dataset(ox.parse(data, ox.RdfFormat.N_QUADS))
    return original, ox.Dataset(ox.parse(out.getvalue(), ox.RdfFormat.N_QUADS)), tables


def check_counts(tables: Tables) -> None:
    """Domains count the subjects of each class; a group is what is in all of its classes and none of the others."""
    schema = tables.schema
    members = {c.iri: {r[0] for r in tables.run(f'SELECT id FROM "{c.relation}"').rows} for c in schema.classes}
    for group in schema.groups:
        rows = {r[0] for r in tables.run(f'SELECT id FROM "{group.relation}"').rows}
        if group.classes:
            assert rows == set.intersection(*(members[c] for c in group.classes)).difference(
                *(members[c] for c in group.without)
            )
        else:
            assert not any(rows & found for found in members.values())
    for shown in schema.classes:
        for column in schema.relation_of[shown.relation].columns:
            names = [n for n in (column.value, column.text, column.link) if n]
            there = " OR ".join(f'"{n}" IS NOT NULL' for n in names)
            ((count,),) = tables.run(f'SELECT count(*) FROM "{shown.relation}" WHERE {there}').rows
            assert count == schema.predicate_of[column.predicate].domains.get(shown.iri, 0)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.lists(quads, min_size=1, max_size=30))
def test_any_graph_comes_back(made: list[ox.Quad]) -> None:
    check_round_trip(made)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.lists(quads, min_size=1, max_size=30))
def test_any_graph_comes_back_from_tables_that_its_predicates_share(made: list[ox.Quad]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "MAX_JUNCTION_TABLES", 0)
        patch.setattr(layout, "MAX_COLUMNS", 1)
        check_round_trip(made)


def check_round_trip(made: list[ox.Quad]) -> None:
    data = ox.serialize(made, format=ox.RdfFormat.N_QUADS)
    with tempfile.TemporaryDirectory() as folder:
        original, returned, tables = came_back(data, Path(folder))  # type: ignore[arg-type]
        found = build_report(tables)
        for predicate in tables.schema.predicates:
            places = [r for r in tables.schema.relations if any(c.predicate == predicate.iri for c in r.columns)]
            assert bool(places), predicate.iri
            assert (predicate.iri in tables.schema.junctions) == (places[0].kind == "junction")
        for group in tables.schema.groups:
            assert len(tables.run(f'SELECT id FROM "{group.relation}"').rows) == group.count
        for shown in tables.schema.classes:
            assert len(tables.run(f'SELECT id FROM "{shown.relation}"').rows) == shown.count
        check_counts(tables)
        tables.close()
    assert found.shown + found.left_out == found.triples == len(original)
    original.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
    returned.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
    assert returned == original


def test_more_predicates_than_columns(tmp_path: Path) -> None:
    lines = [f'<{E}s{n % 3}> <{E}p{n}> "{n} mm" .' for n in range(2500)] + [
        f"<{E}s{n}> <{T}> <{E}Wide> ." for n in range(3)
    ]
    original, returned, tables = came_back("\n".join(lines).encode(), tmp_path)
    assert returned == original
    assert tables.run("SELECT count(*) FROM wide").rows == [(3,)]
    in_columns = {c.predicate for r in tables.schema.relations if r.kind == "table" for c in r.columns}
    assert len(in_columns) + len(tables.schema.junctions) == 2500
    tables.close()


def test_long_literals(tmp_path: Path) -> None:
    text = "word " * 500_000
    original, returned, tables = came_back(f'<{E}a> <{E}p> "{text}" .\n<{E}b> <{E}p> "short" .'.encode(), tmp_path)
    assert returned == original
    assert all(
        len(sample) < 100 for sample in (*tables.schema.predicates[0].samples, *tables.schema.predicates[0].values)
    )
    tables.close()


def test_complete_graph_of_blank_nodes(tmp_path: Path) -> None:
    start = time.process_time()
    lines = [f"_:n{a} <{E}p> _:n{b} ." for a, b in permutations(range(12), 2)]
    original, returned, tables = came_back("\n".join(lines).encode(), tmp_path)
    edges = {(str(q.subject), str(q.object)) for q in returned}
    assert len(original) == len(returned) == len(edges) == 132
    assert len({s for s, _ in edges}) == 12
    assert time.process_time() - start < 2
    tables.close()


def test_rare_type_sets_join_a_table_and_stay_queryable(tmp_path: Path) -> None:
    lines = [f'<{E}s{n}> <{E}size> "{n}" .\n<{E}s{n}> <{T}> <{E}Box> .' for n in range(600)]
    lines += [f"<{E}s{n}> <{T}> <{E}Red> ." for n in (1, 2)] + [f"<{E}s3> <{T}> <{E}Blue> ."]
    lines += [f'<{E}r> <{T}> <{E}Red> .\n<{E}r> <{E}size> "7" .']
    original, returned, tables = came_back("\n".join(lines).encode(), tmp_path)
    assert returned == original
    assert len([r for r in tables.schema.relations if r.kind == "table"]) <= 1
    assert tables.run("SELECT sum(size) FROM red").rows == [(10,)]
    assert tables.run("SELECT size FROM blue").rows == [(3,)]
    assert tables.run("SELECT count(*) FROM box").rows == [(600,)]
    counts = {c.label: c.count for c in tables.schema.classes}
    assert counts == {"box": 600, "red": 3, "blue": 1}
    group = tables.schema.groups[0]
    assert (group.count, group.without) == (597, (f"{E}Blue", f"{E}Red"))
    assert tables.run(f"SELECT count(*) FROM {group.relation}").rows == [(597,)]
    tables.close()


def test_n_triples_can_not_hold_named_graphs(tmp_path: Path) -> None:
    _, _, tables = came_back(f"<{E}a> <{E}p> <{E}b> <{E}g> .\n".encode(), tmp_path)
    with pytest.raises(ConfigError, match="--format nq"):
        export_triples(tables, io.BytesIO(), "nt")
    tables.close()


def test_same_dump_in_any_order(tmp_path: Path) -> None:
    lines = [f'<{E}s{n % 7}> <{E}p{n % 3}> "{n} kg" .' for n in range(50)] + [
        f"<{E}s{n}> <{E}l> <{E}s{n % 2}> ." for n in range(7)
    ]
    for name, order in (("a", lines), ("b", lines[::-1])):
        (tmp_path / f"{name}.nt").write_text("\n".join(order) + "\n")
        write_tables(parse_files([tmp_path / f"{name}.nt"]), tmp_path / name)
    one, two = Tables(tmp_path / "a"), Tables(tmp_path / "b")
    assert list(one.trusted().iterdump()) == list(two.trusted().iterdump())
    one.close()
    two.close()
