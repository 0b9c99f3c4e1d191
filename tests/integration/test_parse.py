"""RDF that can't be read: one line with the file, the place and the next step. Formats are told by content."""

import gzip
import io
from collections import defaultdict
from itertools import count
from pathlib import Path

import pytest

from ingestion.read.parse import parse_files, read_sources
from ingestion.read.sources import rdf_files
from ingestion.read.statements import Numbers, parse_statements
from nacre.errors import IngestionError
from tests.support.capsules import capsules

LINE = "<http://example.org/a> <http://example.org/p> "


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("empty.ttl", b"", "the file is empty"),
        ("blank.ttl", b"  \n", "the file is empty"),
        ("comment.ttl", b"# nothing here\n", "no triples"),
        ("cut.nt", (LINE + '"x" .\n' + LINE).encode(), "line 2"),
        ("cut.ttl", b'@prefix : <http://example.org/> .\n:a :p "x" ;\n :q :b', "line 3"),
        ("picture.ttl", b"\x89PNG\r\n\x1a\n\x00\x00", "line 1"),
        ("page.nt", b"<html><body>Hello</body></html>", "<html><body>"),
        ("data.json", b'{"@id": "http://e.org/a"', "line 1"),
        ("data.rdf", b"<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><a", "line 1"),
        ("broken.nt.gz", gzip.compress((LINE + '"x" .\n').encode() * 500)[:-20], "gzip"),
        ("notreally.nt.gz", b"\x1f\x8bxx", "gzip"),
        ("star.ttl", (f"\n{LINE}<<( {LINE} _:b )>> .").encode(), "blank nodes in RDF 1.2 triple terms"),
        ("latin.nt", LINE.encode() + b'"\xe9" .\n', "line 1"),
        ("odd.trix", b"<TriX>", "not readable as RDF"),
    ],
)
def test_unreadable_files_say_what_and_where(tmp_path: Path, name: str, content: bytes, expected: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(IngestionError) as error:
        parse_files([path])
    message = str(error.value)
    assert expected in message
    assert message.startswith(str(path))
    assert "\n" not in message


def test_missing_sources(tmp_path: Path) -> None:
    with pytest.raises(IngestionError, match="no such file"):
        parse_files([tmp_path / "none.ttl"])
    with pytest.raises(IngestionError, match="no RDF file in this folder"):
        parse_files([tmp_path])
    with pytest.raises(IngestionError, match="No source given"):
        parse_files([])


@pytest.mark.parametrize(
    "content",
    [
        LINE + '"x" .\n',
        LINE + '"x" <http://example.org/g> .\n',
        "@prefix : <http://example.org/> . :a :p 'x' .",
        "PREFIX : <http://example.org/>\n:a :p 'x' .",
        '{"@id": "http://example.org/a", "http://example.org/p": "x"}',
        "<?xml version='1.0'?><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' "
        "xmlns:e='http://example.org/'><rdf:Description rdf:about='http://example.org/a'><e:p>x</e:p>"
        "</rdf:Description></rdf:RDF>",
    ],
)
def test_standard_input_is_recognised_by_its_content(content: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO(content.encode())

    monkeypatch.setattr("sys.stdin", Stdin)
    with rdf_files(["-"]) as sources:
        (capsule,) = capsules(read_sources(sources))
    assert capsule.subject.value == "http://example.org/a"
    assert [(fact.predicate, fact.object.value) for fact in capsule.facts] == [("http://example.org/p", "x")]


def test_folder_and_blank_nodes_of_two_files(tmp_path: Path) -> None:
    (tmp_path / "a.nt").write_text('_:x <http://example.org/p> "1" .\n')
    (tmp_path / "b.nt").write_text('_:x <http://example.org/p> "2" .\n<http://e.org/a> <http://e.org/q> _:x .\n')
    (tmp_path / "notes.txt").write_text("no RDF")
    facts = parse_files([tmp_path])
    assert facts.triples == 3
    assert len(list(capsules(facts))) == 3


@pytest.mark.parametrize(
    "rows",
    [
        ['<e:a> <e:p> "x . <e:b> \\" y" .', "_:b <e:p> <e:a> .", '<e:a> <e:p> "caf\\u00e9"@fr .', "<e:a> <e:p> _:b ."],
        ['<e:a> <e:p> "1"^^<e:int> .', '<e:a> <e:p> "café"@fr .', "<e:a> <e:p> <<( <e:a> <e:p> _:b )>> ."],
        ["<e:a> <e:p> <e:b> .", "# a comment .", "", "<e:b> <e:p> <e:c> ."],
        ["<e:a> <e:p> <e:b> . # said", "<e:b> <e:p> <e:c> ."],
        ["<e:a> <e:p> <e:b> . <e:b> <e:p> <e:c> .", "<e:c> <e:p> <e:d> ."],
        ["<e:a>  <e:p>\t<e:b>.", "<e:b> <e:p> <e:c> .\r"],
        ['"a" <e:p> <e:b> .', "<e:b> _:p <e:c> .", "<e:b> <e:p> <e:c> ."],
        ["<e:a> <e:p> <e:b> .", "<e:a> <e:p q> <e:b> .", '<e:a> <e:p> "x\\y" .', "<e:a> <e:p> ."],
        ["<e:a> <e:p> <e:b> .", "<e:b> <e:p> <e:c"],
    ],
)
@pytest.mark.parametrize("end", ["\n", ""])
def test_lines_of_a_file_are_parsed_as_any_content(tmp_path: Path, rows: list[str], end: str) -> None:
    path = tmp_path / "lines.nt"
    path.write_bytes(("\n".join(rows) + end).encode())
    numbers: list[Numbers] = [defaultdict(count(1).__next__), defaultdict(count(1).__next__)]
    of_lines = parse_statements(str(path), "N_TRIPLES", "", numbers[0])
    assert of_lines == parse_statements(path.read_bytes(), "N_TRIPLES", "", numbers[1])
    assert list(numbers[0].items()) == list(numbers[1].items())
