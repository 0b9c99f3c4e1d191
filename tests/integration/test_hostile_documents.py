"""Documents that are broken or made to harm: each is left out with its reason, or read within its bounds."""

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ingestion import documents as built
from ingestion.documents import DocumentText, UnreadableDocument
from nacre.extensions.documents import formats, plain_texts
from nacre.extensions.documents import passages as texts
from nacre.extensions.documents import read_document as load
from nacre.extensions.documents.passages import SeenTexts, text_passages
from nacre.extensions.documents.read_document import find_documents, load_documents

FIXTURES = Path(__file__).parents[1] / "fixtures/documents"
ENTITIES = b"""<?xml version="1.0"?><!DOCTYPE d [<!ENTITY a "aaaaaaaaaa">%s]><w:document
xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>&z;</w:t></w:r></w:p>
</w:body></w:document>"""


def read_html(text: str) -> DocumentText:
    return formats.read_html(text.encode())


def rewritten(part: str, content: bytes) -> bytes:
    """The Word file of the fixtures with another content of one of its parts."""
    made = io.BytesIO()
    with zipfile.ZipFile(FIXTURES / "bees.docx") as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, content if name == part else old.read(name))
    return made.getvalue()


def told(content: bytes) -> str:
    """What reading a Word file gives: its text, or why there is none."""
    try:
        return formats.read_docx(content).text
    except UnreadableDocument as error:
        return str(error)


def test_a_zip_that_unpacks_to_far_more_is_not_unpacked() -> None:
    bomb = rewritten("word/document.xml", b"<w>" + b" " * 60_000_000)
    assert len(bomb) < 200_000
    with pytest.raises(UnreadableDocument, match="unpack"):
        formats.read_docx(bomb)


def test_entities_that_multiply_are_not_expanded() -> None:
    names = "bcdefghijklmnopqrstuvwxyz"
    entities = "".join(
        f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in zip("a" + names, names, strict=False)
    )
    content = rewritten("word/document.xml", ENTITIES % entities.encode())
    assert len(told(content)) < 1000


def test_a_file_that_names_others_reads_none() -> None:
    outside = b'<!ENTITY z SYSTEM "file:///etc/passwd">'
    assert "root:" not in told(rewritten("word/document.xml", ENTITIES % outside))


@pytest.mark.parametrize("content", [b"", b"%PDF-1.7\n", b"no pdf at all", (FIXTURES / "press.pdf").read_bytes()[:700]])
def test_a_broken_pdf_is_told(content: bytes) -> None:
    with pytest.raises(UnreadableDocument):
        formats.read_pdf(content)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", (FIXTURES / "bees.docx").read_bytes()[:9000]])
def test_a_broken_word_file_is_told(content: bytes) -> None:
    with pytest.raises(UnreadableDocument, match="Word"):
        formats.read_docx(content)


def test_a_locked_pdf_is_told() -> None:
    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter(clone_from=PdfReader(FIXTURES / "press.pdf"))
    writer.encrypt("secret", algorithm="RC4-128")
    made = io.BytesIO()
    writer.write(made)
    with pytest.raises(UnreadableDocument, match="password"):
        formats.read_pdf(made.getvalue())


def test_a_pdf_of_pictures_has_no_text() -> None:
    from pypdf import PdfWriter

    writer = PdfWriter()
    writer.add_blank_page(200, 200)
    made = io.BytesIO()
    writer.write(made)
    with pytest.raises(UnreadableDocument, match="no text"):
        formats.read_pdf(made.getvalue())


@pytest.mark.parametrize(
    "text",
    [
        "# " * 150_000,
        "```a\n" * 30_000,
        "<!--" * 80_000,
        "[" * 60_000,
        "|" * 300_000,
        "\n \n" * 100_000,
        "~~~\n" * 70_000,
    ],
)
def test_marks_without_end_are_read_in_linear_time(text: str) -> None:
    # a parser that looks back would take hours
    read = plain_texts.read_markdown(f"{text}\n\nThe end.")
    told = [s.text for p in text_passages("a.md", read, SeenTexts()) for s in p.sentences]
    assert not told or told[-1].endswith("The end.")


def test_a_page_that_nests_without_end_is_read() -> None:
    read = formats.read_html(b"<div>" * 100_000 + b"<p>Deep.</p>" + b"<table><tr><td>" * 20_000)
    assert len(read.text) < 1000


def test_json_that_nests_without_end_is_told() -> None:
    with pytest.raises(UnreadableDocument, match="too deep"):
        formats.read_json("[" * 200_000 + "]" * 200_000)
    with pytest.raises(UnreadableDocument, match="no JSON"):
        formats.read_json('{"a": ')


def test_a_table_with_a_cell_of_a_megabyte_is_told() -> None:
    with pytest.raises(UnreadableDocument, match="no table"):
        formats.read_table(f'a,b\n"{"x" * 1_000_001}",1\n')


def test_a_file_that_takes_too_long_is_ended_and_the_others_are_read(tmp_path: Path) -> None:
    # three seconds of work, whatever else the machine does
    with zipfile.ZipFile(FIXTURES / "bees.docx") as small, zipfile.ZipFile(tmp_path / "a.docx", "w") as large:
        for name in small.namelist():
            said = small.read(name)
            if name == "word/document.xml":
                begin, end = said.index(b"<w:body>") + 8, said.index(b"</w:body>")
                said = said[:begin] + said[begin:end] * 3000 + said[end:]
            large.writestr(name, said)
    (tmp_path / "b.md").write_text("B is here.")
    slow, quick = load_documents(find_documents([str(tmp_path)]), seconds=0.2)
    assert slow.text is None
    assert slow.why == "not read within 0.2 seconds"
    assert quick.text is not None


def test_ten_megabytes_of_text_are_read(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("The seal sleeps on the rock. It wakes at noon.\n\n" * 210_000)
    (loaded,) = load_documents(find_documents([str(tmp_path / "long.txt")]))
    assert loaded.text is not None
    # what repeats itself is told once
    (passage,) = text_passages("long.txt", loaded.text, SeenTexts())
    assert [s.text for s in passage.sentences] == ["The seal sleeps on the rock.", "It wakes at noon."]


LONG_NAME = "n" * 5000
REPEATING = {
    "a key above small members": (formats.read_json, json.dumps({LONG_NAME: {f"k{n}": 1 for n in range(500)}})),
    "a key of long lists": (formats.read_json, json.dumps({LONG_NAME: [1] * 500})),
    "a key of a list with headings": (formats.read_json, json.dumps({LONG_NAME: [{"a": [{"b": 1}]}] * 500})),
    "a column of Markdown": (plain_texts.read_markdown, f"|{LONG_NAME}|\n|---|\n" + "|x|\n" * 500),
    "a column of CSV": (formats.read_table, f"{LONG_NAME},b\n" + "x,y\n" * 500),
    "a column of HTML": (read_html, f"<table><tr><th>{LONG_NAME}</th></tr>{'<tr><td>x</td></tr>' * 500}</table>"),
}


@pytest.mark.parametrize("what", REPEATING)
def test_a_long_name_is_short_in_each_row(what: str) -> None:
    read, text = REPEATING[what]
    found = read(text)
    assert found.blocks
    # the text itself, and 300 characters of the name with each of 500 rows
    assert len(found.text) + sum(len(block.words) for block in found.blocks) < 10 * len(text) + 500 * 320


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (built.read_plain, "a\n\n" * 101),
        (plain_texts.read_markdown, "# a\n" * 101),
        (formats.read_table, "a,b\n" + "1,2\n" * 101),
        (formats.read_json, "[" + ",".join(["{}", '{"a": 1}'] * 101) + "]"),
        (read_html, "<p>a</p>" * 101),
    ],
)
def test_a_document_of_too_many_blocks_is_left_out(
    read: Callable[[str], DocumentText], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(read(text).blocks) >= 101
    monkeypatch.setattr(built, "MAX_BLOCKS", 100)
    with pytest.raises(UnreadableDocument, match="more than 100 paragraphs and rows"):
        read(text)


def test_rows_that_repeat_their_columns_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "a name of a column,b\n" + "1,2\n" * 100
    assert len(formats.read_table(text).blocks) == 100
    monkeypatch.setattr(built, "MAX_ROW_CHARACTERS", 1000)
    for read, rows in ((formats.read_table, text), (plain_texts.read_markdown, "|column|\n|---|\n" + "|x|\n" * 200)):
        with pytest.raises(UnreadableDocument, match="rows with the names of their columns"):
            read(rows)


def test_an_object_is_measured_before_its_row_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(built, "MAX_CHARACTERS", 10_000)
    members = {f"k{n}": 1 for n in range(100)}
    formats.read_json(json.dumps(members))
    with pytest.raises(UnreadableDocument, match="more than 10,000 characters"):
        formats.read_json(json.dumps({"n" * 200: members}))


def test_a_large_file_of_any_format_is_read_within_the_memory_of_a_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load, "LARGE", 1000)
    monkeypatch.setattr(load, "MAX_MEMORY", 600_000_000)
    (tmp_path / "a.json").write_text("[" + "{}," * 8_000_000 + "{}]")
    (tmp_path / "b.md").write_text("The mill stands at the river. " * 100)
    found = {each.document.name: each for each in load_documents(find_documents([str(tmp_path / "*")]))}
    assert found["a.json"].text is None
    assert "aborted" in found["a.json"].why
    assert found["b.md"].text is not None


def test_a_document_of_too_many_sentences_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "MAX_SENTENCES", 100)
    assert texts.has_too_many_sentences(built.read_plain("Aa. " * 102))
    assert texts.has_too_many_sentences(formats.read_table("Aa. Bb. Cc. D,e\n" + "1,2\n" * 40))
    assert not texts.has_too_many_sentences(built.read_plain("Aa. " * 50))


def test_long_headings_are_short_in_the_title_of_each_section() -> None:
    text = plain_texts.read_markdown(f"# {'h' * 5000}\n\n## {'i' * 5000}\n\na\n\n" + "### b\n\nc\n\n" * 100)
    sections = list(texts._sections(text, "h" * 5000))
    assert len(sections) == 101
    assert max(len(section.title) for section in sections) < 1000


@pytest.mark.parametrize("between", [" ", "/", '="x"', " = '>' ", "< "])
def test_a_tag_of_too_many_attributes_has_none(between: str) -> None:
    # the parser compares each attribute with all others
    many = between.join(f"a{number}" for number in range(formats.MAX_ATTRIBUTES + 1))
    assert "Hives" in read_html(f"<body><p {many} hidden>Hives are wooden.</p></body>").text
    few = f'src="{"data: " * 5000}"'
    script = f"<script>if (a<b && c) {{ {'x = 1; ' * 1000} }}</script>"
    read = read_html(f"<body>{script}<p {few}>Hives are wooden.</p><p hidden {few}>Bees</p></body>").text
    assert read.strip() == "Hives are wooden."
