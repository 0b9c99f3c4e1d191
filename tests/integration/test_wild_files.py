"""Files as they are found in the wild: what is read of each, what is left out, and what is refused as a whole."""

from pathlib import Path
from typing import Any

import pytest

from ingestion.index.triples import export_triples
from ingestion.induce.layout import induce_layout
from ingestion.induce.write_tables import write_layout
from ingestion.pipeline import ingest
from ingestion.read.facts import Facts
from ingestion.read.parse import read_sources
from ingestion.read.sources import ReadOptions, find_sources
from ingestion.report import build_report, omission_lines, read_omissions
from nacre.errors import IngestionError
from nacre.stores.sqlite.tables import Tables
from tests.support.capsules import capsules
from tests.support.read_yaml import read_yaml

FOLDER = Path(__file__).parents[1] / "fixtures" / "wild"
EXPECTED: dict[str, dict[str, Any]] = read_yaml(FOLDER.with_suffix(".yaml"))
LOADED = [name for name, each in EXPECTED.items() if "triples" in each]
REFUSED = [name for name, each in EXPECTED.items() if "refused" in each]


def read_wild(*places: str, reading: ReadOptions = ReadOptions()) -> Facts:  # noqa: B008 (immutable)
    return read_sources(find_sources(places, reading))


def said(facts: Facts) -> list[str]:
    lines = []
    for capsule in capsules(facts):
        for fact in capsule.facts:
            value = fact.object.value
            if fact.object.kind == "literal":
                value = f'"{value}"' + (f"@{fact.object.language}" if fact.object.language else "")
            lines.append(" ".join(filter(None, (capsule.subject.value, fact.predicate, value, fact.graph))))
    return sorted(line.replace("http://example.org/wild/", ":") for line in lines)


def test_every_file_is_expected() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {*EXPECTED, "notes.txt"}


@pytest.mark.parametrize("name", LOADED)
def test_what_can_be_read_is_loaded_and_the_rest_is_named(name: str) -> None:
    facts = read_wild(str(FOLDER / name))
    assert said(facts) == sorted(EXPECTED[name]["triples"])
    left_out = EXPECTED[name].get("left_out", [])
    assert sorted({each.line for each in facts.omitted.listed}) == left_out
    assert facts.omitted.statements == len(left_out)
    for each in facts.omitted.listed:
        assert each.file == str(FOLDER / name)
        assert each.text
        assert each.reason


@pytest.mark.parametrize("name", [name for name in LOADED if EXPECTED[name].get("left_out")])
def test_strict_reading_refuses_what_is_left_out_otherwise(name: str) -> None:
    with pytest.raises(IngestionError, match=name):
        read_wild(str(FOLDER / name), reading=ReadOptions(strict=True))


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_of_which_nothing_can_be_read_is_refused(name: str) -> None:
    with pytest.raises(IngestionError) as error:
        read_wild(str(FOLDER / name))
    assert EXPECTED[name]["refused"] in str(error.value)
    assert str(error.value).startswith(str(FOLDER / name))


def test_in_a_folder_such_files_are_left_out_and_listed(tmp_path: Path) -> None:
    facts = read_wild(str(FOLDER))
    triples = {line for name in LOADED for line in EXPECTED[name]["triples"]}
    assert set(said(facts)) == triples
    whole = {Path(each.file).name: each.kind for each in facts.omitted.listed if each.kind != "statement"}
    assert set(whole) == {*REFUSED, "notes.txt"}
    assert whole["notes.txt"] == whole["plain.json"] == "not RDF"
    assert facts.omitted.files + facts.omitted.other_files == len(whole)

    write_layout(induce_layout(facts), tmp_path / "graph.sqlite")
    tables = Tables(tmp_path / "graph.sqlite")
    try:
        assert read_omissions(tables) == facts.omitted
        found = build_report(tables)
        assert found.shown + found.left_out == found.triples == facts.triples
        with (tmp_path / "out.nq").open("wb") as out:
            export_triples(tables, out)
    finally:
        tables.close()
    again = read_wild(str(tmp_path / "out.nq"))
    assert said(again) == said(facts)
    assert not again.omitted.listed


def test_a_given_context_is_used_and_its_base_is_not() -> None:
    reading = ReadOptions(contexts={"https://example.org/contexts/mine": FOLDER / "mine.json"})
    assert said(read_wild(str(FOLDER / "unknown_context.jsonld"), reading=reading)) == [':x :title "T"']


def test_relative_iris_resolve_against_a_given_base() -> None:
    facts = read_wild(str(FOLDER / "relative.ttl"), reading=ReadOptions(base="https://example.org/wild/doc"))
    assert said(facts) == ["https://example.org/wild/thing :p https://example.org/wild/doc#part"]


def test_many_omissions_are_counted_and_the_first_are_listed(tmp_path: Path) -> None:
    line = "<http://example.org/a> <http://example.org/p> "
    bad = "".join(f"{line}<no iri {n}> .\n" for n in range(1500))
    (tmp_path / "a.nt").write_text(f'{line}"kept" .\n{bad}')
    found = read_wild(str(tmp_path / "a.nt")).omitted
    assert found.statements == 1500
    assert len(found.listed) == 1000
    assert omission_lines(found, 2)[-1] == "  and 998 more"


def test_a_long_text_is_kept_once_and_cited_in_part(tmp_path: Path) -> None:
    text = " ".join(f"Sentence number {n} of the report says something about the harbour." for n in range(20_000))
    (tmp_path / "long.nt").write_text(
        '<http://example.org/d> <http://www.w3.org/2000/01/rdf-schema#label> "Report" .\n'
        f'<http://example.org/d> <http://example.org/body> "{text}" .\n'
    )
    made = ingest([str(tmp_path / "long.nt")], "long", data=tmp_path / "data", no_vectors=True)
    folder = tmp_path / "data" / "long" / "versions" / made.version
    assert (folder / "passages.sqlite").stat().st_size < 2.5 * len(text)

    from nacre.stores.sqlite.passages import Passages

    passages = Passages(folder / "passages.sqlite")
    try:
        parts = [s for p in passages.by_key("http://example.org/d") for s in p.sentences if s.end]
    finally:
        passages.close()
    assert len(parts) == 20_000
    assert all(s.triple is not None and s.triple[2] == text[s.start : s.end] for s in parts)
