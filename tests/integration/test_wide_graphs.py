"""Graphs with very many classes or predicates: the work grows with the graph, and nothing is lost.

The work is counted: steps of SQLite's virtual machine, tables, or processor time of four times the input.
"""

import io
import sqlite3
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

from ingestion.index.triples import export_triples
from ingestion.induce import layout
from ingestion.induce.quantities import add_name_units
from ingestion.induce.write_tables import write_tables
from ingestion.read.parse import parse_files
from ingestion.report import build_report, report_text
from nacre.language import labels as split_labels
from nacre.records.schema import Class, Group, Predicate, Schema
from nacre.stores.sqlite.tables import Tables
from nacre.wording import nouns as class_nouns

FINDS_EXAMPLES = True

E = "http://example.org/"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
# four times the input may take this much more, which allows for sorting
RATIO = 5.0


def with_classes(count: int) -> str:
    return "".join(f'<{E}t{n}> <{TYPE}> <{E}Kind{n}> .\n<{E}t{n}> <{E}size> "{n}" .\n' for n in range(count))


def with_predicates(count: int) -> str:
    links = (f'"{n} mm"' if n % 3 else f"<{E}t{7 * n % count}>" for n in range(count))
    return "".join(f"<{E}t{n}> <{TYPE}> <{E}Thing> .\n<{E}t{n}> <{E}p{n}> {end} .\n" for n, end in enumerate(links))


def ingested(lines: str, folder: Path) -> Tables:
    folder.mkdir(exist_ok=True)
    (folder / "graph.nt").write_text(lines)
    write_tables(parse_files([folder / "graph.nt"]), folder / "graph.sqlite")
    return Tables(folder / "graph.sqlite")


@pytest.fixture
def few_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "MAX_JUNCTION_TABLES", 20)
    monkeypatch.setattr(layout, "MAX_COLUMNS", 20)


@pytest.mark.parametrize("lines", [with_classes, with_predicates])
@pytest.mark.usefixtures("few_tables")
def test_the_steps_of_sqlite_grow_with_the_number_of_classes_and_predicates(
    lines: Callable[[int], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    class Counted(sqlite3.Connection):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self.set_progress_handler(count, 10)

    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Counted))
    taken = []
    for number in (400, 1600):
        steps = 0
        ingested(lines(number), tmp_path / str(number)).close()
        taken.append(steps)
    assert taken[1] <= RATIO * taken[0]


@pytest.mark.usefixtures("few_tables")
def test_the_rarest_predicates_share_tables_and_nothing_is_lost(tmp_path: Path) -> None:
    lines = with_predicates(600)
    tables = ingested(lines, tmp_path)
    read = tables.trusted().execute
    # two shared tables: of numbers with their text, and of links; the others are those that every graph has
    assert read("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name LIKE 'rare%'").fetchone() == (2,)
    assert read("SELECT count(*) FROM sqlite_master WHERE type IN ('table', 'index')").fetchone()[0] < 150
    out = io.BytesIO()
    export_triples(tables, out)
    assert set(out.getvalue().decode().splitlines()) == set(lines.splitlines())
    for number in (4, 500):
        junction = tables.schema.relation_of[tables.schema.junctions[f"{E}p{number}"]]
        (column,) = junction.columns
        query = f"SELECT e.iri, j.{column.value} FROM {junction.name} j JOIN entity e ON e.id = j.{junction.key}"
        assert tables.run(query).rows == [(f"{E}t{number}", number)]
    found = build_report(tables)
    assert found.shown == found.triples == 1200
    assert f"{found.sharing} rare predicates share 2 tables" in report_text(found)
    assert found.sharing + 20 == len(tables.schema.junctions)
    tables.close()


def test_a_graph_without_very_many_predicates_shares_no_tables(tmp_path: Path) -> None:
    tables = ingested(with_predicates(30), tmp_path)
    assert "share" not in report_text(build_report(tables))
    tables.close()


def test_a_query_reuses_the_connection_of_the_query_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = ingested(with_classes(3), tmp_path)
    opened = []
    connect = tables._connect

    def counted() -> sqlite3.Connection:
        opened.append(1)
        return connect()

    monkeypatch.setattr(tables, "_connect", counted)
    for _ in range(5):
        assert tables.run("SELECT count(*) FROM entity").rows == [(3,)]
    assert len(opened) == 1
    tables.close()


def test_the_nouns_of_classes_take_time_in_proportion_to_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0

    def label_words(*arguments: Any) -> str:
        nonlocal calls
        calls += 1
        return split_labels.label_words(*arguments)

    monkeypatch.setattr(class_nouns, "label_words", label_words)
    taken = []
    for number in (100, 400):
        calls = 0
        names = [f"lamp kind {n}" for n in range(number)]
        classes = tuple(Class(f"{E}{n}", name, 1, f"kind_{n}") for n, name in enumerate(names))
        groups = tuple(Group("rows", name, (f"{E}{n}",), 1) for n, name in enumerate(names))
        schema = Schema(classes, groups, (), (), {}, number, number)
        assert len(class_nouns.class_nouns(schema)) == number
        taken.append(calls)
    assert taken[1] <= RATIO * taken[0]


def test_units_in_names_take_time_in_proportion_to_the_number_of_predicates() -> None:
    def seconds(number: int) -> float:
        predicates = [Predicate(f"{E}p{n}", f"property {n}", 1, 1, 1, True, False, True, {}, {}) for n in range(number)]
        start = time.process_time()
        assert len(add_name_units(predicates, ())) == number
        return time.process_time() - start

    # searching all labels for each label would take 16 times as long
    assert min(seconds(16_000) for _ in range(2)) <= 2 * RATIO * min(seconds(4_000) for _ in range(3))


def test_the_triples_of_a_graph_with_many_classes_come_back(tmp_path: Path) -> None:
    lines = with_classes(700)
    tables = ingested(lines, tmp_path)
    out = io.BytesIO()
    export_triples(tables, out)
    assert ox.Dataset(ox.parse(out.getvalue(), ox.RdfFormat.N_TRIPLES)) == ox.Dataset(
        ox.parse(lines.encode(), ox.RdfFormat.N_TRIPLES)
    )
    relation = tables.schema.class_of[f"{E}Kind650"].relation
    assert tables.run(f"SELECT size FROM {relation}").rows == [(650,)]
    tables.close()
