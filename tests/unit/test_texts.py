"""Documents to passages: titles, places, refusals."""

from pathlib import Path

import pytest

from ingestion.verbalise.texts import find_documents, text_passages
from nacre.records.errors import IngestionError
from nacre.records.facts import Passage


def read(*places: Path) -> list[Passage]:
    return list(text_passages(find_documents([str(place) for place in places])))


def test_a_markdown_file_becomes_sentences_that_know_their_place(tmp_path: Path) -> None:
    text = (
        "\ufeff# Olive trees\r\n\r\nThey grow **slowly**. See [the guide](http://x.org/a_b).\r\n\r\n"
        "## Water\r\n\r\n- Little of it.\r\n- Never\n  ice.\r\n"
    )
    (tmp_path / "olive.md").write_text(text, encoding="utf-8", newline="")
    first, second = read(tmp_path / "olive.md")
    assert (first.key, first.title) == ("olive.md", "Olive trees")
    assert [s.text for s in first.sentences] == ["They grow slowly.", "See the guide."]
    assert second.title == "Olive trees: Water"
    assert [s.text for s in second.sentences] == ["Little of it.", "Never ice."]
    decoded = text[1:]
    for passage in (first, second):
        for sentence in passage.sentences:
            raw = decoded[sentence.start : sentence.end]
            assert sentence.text.split()[0] in raw
            assert raw == raw.strip()
            assert sentence.document == "olive.md"


def test_plain_text_is_titled_by_its_file(tmp_path: Path) -> None:
    (tmp_path / "my-notes.txt").write_text("# not a heading\n\nOne. Two!", encoding="utf-8")
    (passage,) = read(tmp_path / "my-notes.txt")
    assert passage.title == "my notes"
    assert [s.text for s in passage.sentences] == ["# not a heading", "One.", "Two!"]


def test_a_folder_is_read_whole_and_in_order(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    (folder / "deep").mkdir(parents=True)
    (folder / "b.md").write_text("B is here.")
    (folder / "deep" / "a.txt").write_text("A is here.")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    (folder / ".hidden.md").write_text("No.")
    assert [p.key for p in read(folder)] == ["docs/b.md", "docs/deep/a.txt"]
    assert [p.key for p in read(Path(str(folder / "*.md")))] == ["b.md"]


def test_front_matter_tables_and_comments(tmp_path: Path) -> None:
    (tmp_path / "t.md").write_text(
        "---\nauthor: me\n---\n# T\n\n<!-- hidden -->\n| a | b |\n|---|---|\n| 1 | 2 |\n\n`code` stays.\n"
    )
    (passage,) = read(tmp_path / "t.md")
    assert [s.text for s in passage.sentences] == ["a; b", "1; 2", "code stays."]


def test_files_of_the_same_name_are_told_apart(tmp_path: Path) -> None:
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.md").write_text(f"This is {name}.")
    keys = [p.key for p in read(tmp_path / "x" / "a.md", tmp_path / "y" / "a.md")]
    assert len(set(keys)) == 2


@pytest.mark.parametrize("name", ["a.pdf", "a.docx", "a.html", "a", "a.png"])
def test_other_formats_are_refused_by_name(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"x")
    with pytest.raises(IngestionError, match=rf"{name}: can't read"):
        read(tmp_path / name)


def test_what_is_not_there_or_not_text_is_named(tmp_path: Path) -> None:
    with pytest.raises(IngestionError, match=r"gone\.md: no such file"):
        read(tmp_path / "gone.md")
    with pytest.raises(IngestionError, match="no file matches"):
        read(tmp_path / "*.md")
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9")
    with pytest.raises(IngestionError, match="not UTF-8 text"):
        read(tmp_path / "latin.txt")
    (tmp_path / "empty").mkdir()
    with pytest.raises(IngestionError, match="no Markdown"):
        read(tmp_path / "empty")
