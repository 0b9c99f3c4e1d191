"""Search by words in a real tantivy index."""

import hashlib
import re
import tempfile
from pathlib import Path

import pytest

from nacre.errors import ToolError
from nacre.stores.lexical import DamagedIndex, LexicalIndex, query_words, write_lexical_index

PASSAGES = [
    (2**62 + 1, "Oak", "A tree with lobed leaves, found near the maple."),
    (2, "Maple", "A tree that grows in the cold."),
    (3, "Café Müller", "Runners are running there, in vain."),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    assert write_lexical_index(PASSAGES, tmp_path / "index") == 3
    return tmp_path / "index"


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Which one is a maple?", 2),
        ("a lobed leave", 2**62 + 1),
        ("muller cafe", 3),
        ("Where does he run?", 3),
        ('title:"Oak" AND (text:* OR -leaves', 2**62 + 1),
    ],
)
def test_words_find_their_passage(folder: Path, question: str, first: int) -> None:
    lexical = LexicalIndex(folder)
    hits = lexical.search(question, 2)
    assert hits[0].id == first
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@pytest.mark.parametrize("question", ["", "   ", "😀", '"', "AND OR NOT", "x" * 20_000, "the of and"])
def test_odd_questions_find_nothing_or_something_but_never_fail(folder: Path, question: str) -> None:
    lexical = LexicalIndex(folder)
    assert len(lexical.search(question, 5)) <= 3
    assert lexical.search("maple", 0) == []


def test_a_long_question_is_cut(folder: Path) -> None:
    assert len(query_words(" ".join(f"word{n}" for n in range(5000)))) == 64


def test_two_readers_at_once_leave_the_folder_as_it_was(folder: Path) -> None:
    def state() -> dict[str, str]:
        return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.iterdir()}

    before = state()
    one, two = LexicalIndex(folder), LexicalIndex(folder)
    assert one.search("oak", 1) == two.search("oak", 1)
    assert state() == before


def test_an_open_index_leaves_no_files_for_a_process_that_is_killed(folder, tmp_path, monkeypatch):
    (tmp_path / "private").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "private"))
    lexical = LexicalIndex(folder)
    assert list((tmp_path / "private").iterdir()) == []
    assert lexical.search("oak", 1)


def test_an_empty_index_finds_nothing(tmp_path: Path) -> None:
    write_lexical_index([], tmp_path / "index")
    lexical = LexicalIndex(tmp_path / "index")
    assert lexical.search("oak", 3) == []


def test_a_file_that_was_cut_short_is_told_and_not_read(tmp_path):
    write_lexical_index(PASSAGES, tmp_path / "index")
    largest = max((tmp_path / "index").iterdir(), key=lambda file: file.stat().st_size)
    opened = LexicalIndex(tmp_path / "index")
    assert opened.search("rivers", 3) is not None
    content = largest.read_bytes()
    largest.write_bytes(content[:10])
    with pytest.raises(ToolError, match="10 bytes"):
        opened.search("rivers", 3)
    with pytest.raises(DamagedIndex, match=largest.name):
        LexicalIndex(tmp_path / "index")


def test_a_file_of_another_content_is_told(tmp_path):
    write_lexical_index(PASSAGES, tmp_path / "index")
    for file in sorted((tmp_path / "index").iterdir()):
        content = file.read_bytes()
        if file.name == "files.json" or not content:
            continue
        file.write_bytes(bytes(255 - byte for byte in content))
        with pytest.raises(DamagedIndex, match=re.escape(file.name)):
            LexicalIndex(tmp_path / "index")
        file.write_bytes(content)
    LexicalIndex(tmp_path / "index")
