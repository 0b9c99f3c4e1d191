"""The shown schema: readable names, every class queryable, meaning and units, and what annotations change."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from ingestion.induce.write_tables import write_tables
from ingestion.layer.apply import suggest_annotations
from ingestion.layer.layer_file import load_layer_files
from ingestion.read.parse import parse_files
from ingestion.report import build_report, report_text
from nacre.errors import IngestionError
from nacre.records.schema import Schema
from nacre.stores.sqlite.schema_sql import schema_sql
from nacre.stores.sqlite.tables import Tables

V = "http://example.org/vocab#"
DATA = "\n".join(
    [
        f"@prefix : <{V}> .\n@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .",
        ":weight rdfs:comment 'How heavy it is, packed.' ; rdfs:label 'weight'@en .",
        *(
            f"<http://shop.example.org/data/edition/{n}> a :Item, :Book ; :name 'Edition {n}' ; :weight '{n}00 g' ;"
            f" :identifier 'edition-{n}' ; :of <http://shop.example.org/data/work-{n % 5}> ;"
            f" :colour '{'red' if n % 3 else 'blue'}' ;"
            f" :blurb 'This is the long description of edition {n}, which nobody reads to its very end.' ."
            for n in range(1, 31)
        ),
        *(f"<http://shop.example.org/data/work-{n}> a :Item, :Book, :Work ; :name 'Work {n}' ." for n in range(5)),
        *(f"<http://shop.example.org/data/tool/{n}> a :Item ; :name 'Tool {n}' ." for n in range(6)),
    ]
)


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tables]:
    folder = tmp_path_factory.mktemp("schema")
    (folder / "g.ttl").write_text(DATA)
    write_tables(parse_files([folder / "g.ttl"]), folder / "graph.sqlite")
    opened = Tables(folder / "graph.sqlite")
    yield opened
    opened.close()


def test_groups_are_told_apart_in_words_and_classes(tables: Tables) -> None:
    found = {g.relation: (g.count, g.classes, g.without, g.words) for g in tables.schema.groups}
    assert found == {
        "book_edition": (30, (f"{V}Book", f"{V}Item"), (f"{V}Work",), ("edition",)),
        "item_tool": (6, (f"{V}Item",), (f"{V}Book",), ("tool",)),
        "work": (5, (f"{V}Book", f"{V}Item", f"{V}Work"), (), ()),
    }


def test_every_class_has_a_relation(tables: Tables) -> None:
    found = {c.label: (c.relation, c.count) for c in tables.schema.classes}
    assert found == {"item": ("item", 41), "book": ("book", 35), "work": ("work", 5)}
    for relation, count in found.values():
        assert tables.run(f"SELECT count(*) FROM {relation}").rows == [(count,)]


def test_predicates_are_described(tables: Tables) -> None:
    found = {p.label: p for p in tables.schema.predicates}
    weight = found["weight"]
    assert (weight.unit, weight.datatype, weight.minimum, weight.maximum) == ("g", "integer", 100, 3000)
    assert weight.comment == "How heavy it is, packed."
    assert found["colour"].values == ("red", "blue")
    assert {name: p.role for name, p in found.items()} == {
        "weight": "fact",
        "name": "name",
        "identifier": "identifier",
        "of": "fact",
        "colour": "fact",
        "blurb": "text",
    }
    assert found["of"].domains == {f"{V}Book": 30, f"{V}Item": 30}
    assert found["of"].ranges == {f"{V}Book": 5, f"{V}Item": 5, f"{V}Work": 5}


def test_schema_as_text(tables: Tables) -> None:
    text = schema_sql(tables)
    assert "weight INTEGER -- How heavy it is, packed; in g; from 100 to 3000" in text
    assert "of_id INTEGER REFERENCES work(id)" in text, "the table that all of its targets lie in"
    assert "one of: red, blue" in text
    assert "view book: all rows and columns of book_edition, work" in text
    assert "weight_text" not in text
    assert "identifier TEXT, -- unique" in text
    assert "_nacre" not in text
    assert len(schema_sql(tables, {"work"})) < len(text)


def test_report_in_words(tables: Tables) -> None:
    text = report_text(build_report(tables))
    assert "30  book_edition.weight" in text
    assert "not shown: schema statement" in text


def noted(tmp_path: Path, text: str) -> Schema:
    (tmp_path / "g.ttl").write_text(DATA)
    (tmp_path / "notes.yaml").write_text(text)
    layers = load_layer_files((), tmp_path / "notes.yaml", packs=False)
    return write_tables(parse_files([tmp_path / "g.ttl"]), tmp_path / "noted.sqlite", layers)


def test_annotations_change_what_is_shown(tmp_path: Path) -> None:
    shown = noted(
        tmp_path,
        "classes:\n  Work: {exclude: true}\n  Item: {rename: article}\n"
        "predicates:\n  colour: {drop: true}\n  weight: {unit: kg, comment: Packed}\n",
    )
    assert {c.label for c in shown.classes} == {"article", "book"}
    assert "colour" not in {p.label for p in shown.predicates}
    weight = next(p for p in shown.predicates if p.label == "weight")
    assert (weight.unit, weight.comment) == ("kg", "Packed")
    assert all(c.predicate != f"{V}colour" for r in shown.relations for c in r.columns)
    assert "work" not in shown.relation_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("classes: [", "not YAML"),
        ("sheets: {}", "unknown key 'sheets'"),
        ("classes: {Nothing: {rename: x}}", "this graph has no class"),
        ("classes: {Item: {color: x}}", "'Item' has 'color'"),
        ("predicates: {weight: {drop: maybe}}", "true or false, not 'maybe'"),
    ],
)
def test_bad_annotations(tmp_path: Path, text: str, expected: str) -> None:
    with pytest.raises(IngestionError, match=expected):
        noted(tmp_path, text)


def test_starter_of_annotations_changes_nothing(tables: Tables, tmp_path: Path) -> None:
    starter = suggest_annotations(tables.schema)
    assert noted(tmp_path, starter) == tables.schema
    opened = "\n".join(line.replace("  # ", "  ", 1) for line in starter.splitlines()[1:])
    assert set(yaml.safe_load(opened)["classes"]) == {c.iri for c in tables.schema.classes}
