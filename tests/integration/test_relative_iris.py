"""Relative IRIs: no folder of this machine in them, one base for each document, and the same ones after each ingest."""

import gzip
import io
import json
import logging
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from ingestion.index.triples import export_triples
from ingestion.pipeline import ingest
from ingestion.read.parse import read_sources
from ingestion.read.sources import FILE_ADDRESS, ReadOptions, find_sources
from nacre.extensions.documents.read_document import find_documents
from nacre.stores import versions
from nacre.stores.sqlite.tables import Tables

CARD = "<#me> <http://e.org/knows> <foo> ."


@pytest.fixture
def cards(tmp_path: Path) -> Path:
    """Two files of the same name, and a link between two files of a folder."""
    folder = tmp_path / "home of kim"
    for name in ("one", "two"):
        (folder / name).mkdir(parents=True)
        (folder / name / "card.ttl").write_text(CARD)
    (folder / "two" / "other.ttl").write_text("<card.ttl#me> <http://e.org/sees> <other.ttl#it> .")
    return folder


def triples(data: Path, name: str) -> set[str]:
    """The exported triples of a graph, without their predicates."""
    home, out = data / name, io.BytesIO()
    with closing(
        Tables(versions.version_folder(home, versions.current_version(home) or "") / versions.TABLES)
    ) as found:
        export_triples(found, out)
    return {" ".join(line.split()[::2][:2]) for line in out.getvalue().decode().splitlines()}


def of(data: Path, name: str, *places: Path, base: str = "") -> set[str]:
    ingest([str(place) for place in places], name, data=data, reading=ReadOptions(base=base), no_vectors=True)
    return triples(data, name)


def manifest(data: Path, name: str) -> Path:
    home = data / name
    return versions.version_folder(home, versions.current_version(home) or "") / versions.MANIFEST


def test_files_of_the_same_name_in_two_folders_stay_apart(cards: Path, tmp_path: Path) -> None:
    both = {f"<nacre-file:///cards/{each}/card.ttl#me> <nacre-file:///cards/{each}/foo>" for each in ("one", "two")}
    link = {"<nacre-file:///cards/two/card.ttl#me> <nacre-file:///cards/two/other.ttl#it>"}
    assert of(tmp_path / "data", "cards", cards) == both | link
    assert of(tmp_path / "data", "cards", cards / "one" / "card.ttl", cards / "two" / "card.ttl") == both
    # a link between two files of a folder leads to the same thing, however the files are given
    assert of(tmp_path / "data", "cards", cards / "one", cards / "two") == both | link
    assert of(tmp_path / "data", "cards", *sorted(cards.rglob("*.ttl"))) == both | link
    assert of(tmp_path / "data", "cards", cards / "*" / "*.ttl") == both | link


def test_another_folder_or_another_file_beside_it_changes_no_iri(cards: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    of(data, "cards", cards)
    shutil.move(cards, tmp_path / "elsewhere")
    made = ingest([str(tmp_path / "elsewhere")], "cards", data=data, no_vectors=True)
    assert made.unchanged
    (tmp_path / "last.ttl").write_text("<> <http://e.org/is> <> .")
    before = triples(data, "cards")
    assert of(data, "cards", tmp_path / "elsewhere", tmp_path / "last.ttl") == before | {
        "<nacre-file:///cards/last.ttl> <nacre-file:///cards/last.ttl>"
    }


def test_a_graph_of_an_earlier_release_keeps_the_addresses_of_its_files(cards: Path, tmp_path: Path) -> None:
    data, file = tmp_path / "data", cards / "one" / "card.ttl"
    earlier = of(data, "cards", file, base=FILE_ADDRESS)
    assert earlier == {f"<{file.as_uri()}#me> <{file.with_name('foo').as_uri()}>"}
    written = json.loads(manifest(data, "cards").read_text())
    del written["base"]
    manifest(data, "cards").write_text(json.dumps(written))
    assert of(data, "cards", file) == earlier
    assert of(data, "cards", file, base="nacre-file:///cards/") == {
        "<nacre-file:///cards/card.ttl#me> <nacre-file:///cards/foo>"
    }
    # a base that was given is kept too
    given = of(data, "cards", file, base="https://e.org/cards/")
    assert given == of(data, "cards", file) == {"<https://e.org/cards/#me> <https://e.org/cards/foo>"}


def test_names_are_percent_encoded_and_compressed_files_keep_theirs(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "a b é#1%.ttl.gz", "wt") as file:
        file.write(CARD)
    name = "a%20b%20%C3%A9%231%25.ttl.gz"
    assert of(tmp_path / "data", "cards", tmp_path / "a b é#1%.ttl.gz") == {
        f"<nacre-file:///cards/{name}#me> <nacre-file:///cards/foo>"
    }


def test_xml_bases_and_contexts_beside_a_file_resolve_against_its_base(tmp_path: Path) -> None:
    rdf = "xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:e='http://e.org/'"
    about = "<rdf:Description rdf:about='#me'><e:knows rdf:resource='../foo'/></rdf:Description>"
    folder = tmp_path / "in"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "own.rdf").write_text(f"<rdf:RDF {rdf} xml:base='http://e.org/a/b'>{about}</rdf:RDF>")
    (folder / "sub" / "none.rdf").write_text(f"<rdf:RDF {rdf}>{about}</rdf:RDF>")
    (folder / "sub" / "card.jsonld").write_text('{"@context": "../terms.json", "@id": "#me", "knows": "foo"}')
    (tmp_path / "terms.json").write_text('{"@context": {"knows": {"@id": "http://e.org/knows", "@type": "@id"}}}')
    reading = ReadOptions(contexts={"nacre-file:///cards/terms.json": tmp_path / "terms.json"})
    ingest([str(folder)], "cards", data=tmp_path / "data", reading=reading, no_vectors=True)
    assert triples(tmp_path / "data", "cards") == {
        "<http://e.org/a/b#me> <http://e.org/foo>",
        "<nacre-file:///cards/sub/none.rdf#me> <nacre-file:///cards/foo>",
        "<nacre-file:///cards/sub/card.jsonld#me> <nacre-file:///cards/sub/foo>",
    }


def test_one_base_that_merges_things_of_several_files_names_them(cards: Path, caplog: pytest.LogCaptureFixture) -> None:
    files = [str(path) for path in sorted(cards.rglob("card.ttl"))]
    shared = cards / "absolute.ttl"
    shared.write_text(
        "@prefix : <https://e.org/x/> . :a :p <b> . <http://e.org/> :p :q . @base <http://f.org/> . <#me> :p :a ."
    )
    (cards / "absolute.rdf").write_text(
        "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:e='https://e.org/x/'>"
        "<rdf:Description rdf:about='https://e.org/x/a' e:p='1'/></rdf:RDF>"
    )
    reading = ReadOptions(base="https://e.org/x/")
    with caplog.at_level(logging.WARNING):
        # subjects that several files write in full are meant to be one
        read_sources(find_sources([files[0], str(shared), str(cards / "absolute.rdf")], reading))
        assert caplog.text == ""
        read_sources(find_sources([*files, str(shared)], reading))
    [record] = caplog.records
    assert f"<https://e.org/x/#me> (1 in all), in {', '.join(files)}." in record.getMessage()


def test_documents_of_the_same_name_are_cited_without_folders_of_this_machine(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name / "notes").mkdir(parents=True)
        (tmp_path / name / "notes" / "a.md").write_text("A note.")
    one, two = (tmp_path / name / "notes" for name in ("one", "two"))
    for places in ((one, two), (one / "a.md", two / "a.md")):
        found = [each.name for each in find_documents([str(place) for place in places])]
        assert found == ["one/notes/a.md", "two/notes/a.md"]
