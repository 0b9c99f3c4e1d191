"""RDF files that are made to take all memory or time: each is refused with its name and the limit, or read as usual."""

import gzip
import io
import time
from contextlib import suppress
from pathlib import Path

import pytest

from benchmarks.inputs.hostile_files import (
    LONG_ENTITY,
    NESTED_ENTITIES,
    RDF,
    SMALL,
    TRIX,
    description,
    entity_files,
    gzip_bomb,
    long_text,
)
from ingestion.read.parse import read_sources
from ingestion.read.sources import (
    FREE_BYTES,
    MAX_XML_DEPTH,
    EntityGuard,
    ReadOptions,
    check_entities,
    check_nesting,
    find_sources,
)
from nacre.errors import IngestionError
from nacre.extensions.documents.read_document import find_documents, read_document
from nacre.extensions.vocabularies import owl as lists
from tests.support.capsules import capsules


def refusal(folder: Path, name: str, content: bytes, reading: ReadOptions = ReadOptions()) -> str:  # noqa: B008
    """The message that refuses a file, which takes less than 10 s of work and is listed if there are other files."""
    (folder / name).write_bytes(content)
    start = time.process_time()
    with pytest.raises(IngestionError) as refused:
        read_sources(find_sources([str(folder / name)], reading))
    assert time.process_time() - start < 10
    (folder / "good.ttl").write_bytes(SMALL)
    facts = read_sources(find_sources([str(folder)], reading))
    assert len(facts.subject) == 1
    assert [Path(each.file).name for each in facts.omitted.listed] == [name]
    assert name in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize(("name", "content"), entity_files().items())
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_entities_that_expand_to_more_than_the_limit_are_refused(
    tmp_path: Path, name: str, content: str, encoding: str
) -> None:
    assert "XML entities expand to more than 100 MB; --max-expansion" in refusal(
        tmp_path, name, content.encode(encoding)
    )


def test_entities_in_a_declared_encoding_are_refused(tmp_path: Path) -> None:
    declared = '<?xml version="1.0" encoding="utf-7"?>'
    content = declared.encode() + f"<!DOCTYPE r [{NESTED_ENTITIES}]>{RDF}{description('&j;')}</rdf:RDF>".encode("utf-7")
    (tmp_path / "other.rdf").write_bytes(content)
    with pytest.raises(IngestionError, match=r"other\.rdf"):
        read_sources(find_sources([str(tmp_path / "other.rdf")], ReadOptions()))


def test_entities_for_namespaces_are_read(tmp_path: Path) -> None:
    entities = '<!ENTITY e "http://e.org/"><!ENTITY f "&e;f#">'
    (tmp_path / "a.owl").write_text(f"<!DOCTYPE r [{entities}]>{RDF}{description('&f;x')}</rdf:RDF>")
    facts = read_sources(find_sources([str(tmp_path / "a.owl")], ReadOptions()))
    assert [fact.object.value for each in capsules(facts) for fact in each.facts] == ["http://e.org/f#x"]


DEPTH = 50_000
# what looks like end tags and is none
NO_ENDS = [
    f"<!--{'</e:p>' * 3}-->",
    "<e:n e:t='/>'>x</e:n>",
    '<e:n e:t="</e:p></e:T>">x</e:n>',
    "<?a </e:p> ?>",
    '<!DOCTYPE a [<!ENTITY b "</e:p></e:T>">]>',
    "<e:n>/>/>/></e:n>",
    "<e:n e:t='<e:p>'/>",
    "<e:n><![CDATA[</e:p></e:T>]]></e:n>",
]


@pytest.mark.parametrize("name", ["nested.rdf", "nested.rdf.gz", "nested.xml"])
@pytest.mark.parametrize("inside", ["", *NO_ENDS])
def test_xml_nested_deeper_than_the_limit_is_refused(tmp_path: Path, name: str, inside: str) -> None:
    start = f"<e:T><e:p>{inside}"
    content = f"{RDF}{start * DEPTH}<e:T/>{'</e:p></e:T>' * DEPTH}</rdf:RDF>".encode()
    message = refusal(tmp_path, name, gzip.compress(content) if name.endswith("gz") else content)
    assert "the XML in it is nested deeper than 1,000 levels" in message


def test_trix_nested_deeper_than_the_limit_is_refused(tmp_path: Path) -> None:
    message = refusal(tmp_path, "nested.trix", (TRIX + "<triple>" * DEPTH * 2).encode())
    assert "the XML in it is nested deeper than 1,000 levels" in message


@pytest.mark.parametrize("inside", NO_ENDS)
@pytest.mark.parametrize("size", [1, 2, 7, 1000, 1 << 20])
def test_levels_of_xml_are_counted_in_blocks_of_any_size(inside: str, size: int) -> None:
    def blocks(depth: int) -> list[bytes]:
        start = f"<e:T a='1'><e:p>{inside}"
        content = f"<r>{start * depth}<b/>{'</e:p></e:T>' * depth}</r>".encode()
        return [content[start : start + size] for start in range(0, len(content), size)]

    check_nesting(blocks((MAX_XML_DEPTH - 2) // 2))
    with pytest.raises(IngestionError, match="nested deeper than"):
        check_nesting(blocks(MAX_XML_DEPTH // 2))


def test_markup_without_an_end_is_read_in_linear_time() -> None:
    for unit in (b"<a ", b'<a b="', b"<!--", b"<![CDATA[", b"<?", b"</", b"<!A ", b"<!A '", b"<a/>"):
        start = time.monotonic()
        with suppress(IngestionError):
            check_nesting([unit * (1_000_000 // len(unit))] * 5)
        assert time.monotonic() - start < 4, unit


def test_references_are_counted_across_blocks() -> None:
    head = LONG_ENTITY.encode()
    blocks = [b"&j", b";" + b"&j;" * 2000]
    with pytest.raises(IngestionError, match="entities"):
        check_entities(head, blocks, FREE_BYTES, FREE_BYTES)
    check_entities(head, [b"&j", b";" + b"&j;" * 500], FREE_BYTES, FREE_BYTES)


def test_entities_declared_after_the_checked_part_are_refused() -> None:
    guard = EntityGuard(io.BytesIO(b"<!ENTITY a 'x'>" + b" " * 10 + b"<!ENTITY b 'y'>"), 20)
    with pytest.raises(IngestionError, match="after the first megabyte"):
        list(iter(lambda: guard.read(4), b""))


@pytest.mark.parametrize("unit", [b"\n", b":a :b :c .\n", b" "])
@pytest.mark.parametrize("stated", [True, False])
def test_gzip_data_that_inflates_to_more_than_the_limit_is_refused(tmp_path: Path, unit: bytes, stated: bool) -> None:
    content = gzip_bomb(SMALL, unit, 16_000_000, stated=stated)
    message = refusal(tmp_path, "bomb.ttl.gz", content, ReadOptions(expansion=5))
    assert "inflates to more than 12 MB; --max-expansion" in message


def test_gzip_data_below_the_limit_is_read(tmp_path: Path) -> None:
    (tmp_path / "many.ttl.gz").write_bytes(gzip.compress(SMALL + b":a :b :c .\n" * 200_000))
    facts = read_sources(find_sources([str(tmp_path / "many.ttl.gz")], ReadOptions()))
    assert len(facts.subject) == 1


def test_a_text_longer_than_the_parser_reads_is_named(tmp_path: Path) -> None:
    message = refusal(tmp_path, "long.ttl", long_text(17))
    assert "a text in it is longer than 16 MB" in message


def test_deep_and_long_lists_are_read_in_linear_time() -> None:
    size = 200_000
    first = {node: node + size if node < size else 7 for node in range(size)}
    rest = {node: node + 1 for node in range(size - 1)}
    start = time.monotonic()
    assert len(lists._items(0, first, rest, [])) == size
    nested = {node: node + 1 for node in range(size)}
    assert lists._items(0, nested, {}, []) == [size]
    assert time.monotonic() - start < 5


def test_members_of_nested_lists_keep_their_order() -> None:
    first = {1: 100, 2: 11, 3: 103, 11: 101, 12: 102}
    rest = {1: 2, 2: 3, 11: 12}
    nodes: list[int] = []
    assert lists._items(1, first, rest, nodes) == [100, 101, 102, 103]
    assert nodes == [1, 2, 11, 12, 3]


def test_links_out_of_a_folder_of_texts_are_not_followed(tmp_path: Path) -> None:
    folder, outside = tmp_path / "texts", tmp_path / "private.md"
    (folder / ".git").mkdir(parents=True)
    outside.write_text("A secret.")
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "more.md").write_text("Another secret.")
    (folder / "own.md").write_text("A text.")
    (folder / "plain").write_text("A text without an extension.")
    (folder / ".git" / "config.txt").write_text("hidden")
    for name, target in (
        ("out.md", outside),
        ("folder", tmp_path / "private"),
        ("same.md", folder / "own.md"),
        ("plain.md", folder / "plain"),
        ("hidden.md", folder / ".git" / "config.txt"),
    ):
        (folder / name).symlink_to(target)
    inside = {folder / "own.md", folder / "plain.md"}
    assert {each.path for each in find_documents([str(folder)])} == inside
    assert {each.path for each in find_documents([str(folder / "*")])} == inside


def test_a_link_that_is_named_itself_is_read_by_its_own_name(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("A text without an extension.")
    (tmp_path / "plain.md").symlink_to(tmp_path / "plain")
    (document,) = find_documents([str(tmp_path / "plain.md")])
    assert read_document(document.path).text == "A text without an extension."


def test_links_out_of_a_folder_of_graphs_are_not_followed(tmp_path: Path) -> None:
    folder = tmp_path / "graphs"
    folder.mkdir()
    (tmp_path / "private.ttl").write_bytes(SMALL)
    (folder / "own.ttl").write_bytes(SMALL)
    (folder / "out.ttl").symlink_to(tmp_path / "private.ttl")
    (folder / "same.ttl").symlink_to(folder / "own.ttl")
    found = find_sources([str(folder)], ReadOptions()).files
    assert [Path(each.path).name for each in found] == ["own.ttl", "same.ttl"]
