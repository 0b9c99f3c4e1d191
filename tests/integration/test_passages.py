"""Passages written to a file and read back."""

from pathlib import Path
from threading import Thread

from nacre.records.evidence import Passage, Sentence
from nacre.stores.sqlite.passages import Passages, write_passages

TRIPLE = ("http://x.org/a", "http://x.org/p", "1")
A1 = Passage(2**62 + 1, "http://x.org/a", "Aa", (Sentence("One.", TRIPLE), Sentence("Two.", TRIPLE)))
A2 = Passage(5, "http://x.org/a", "Aa", (Sentence("Three.", TRIPLE),))
DOC = Passage(9, "a.md", "A file", (Sentence("Four.", None, "a.md", 3, 8),))


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    assert write_passages([A1, A2, DOC, DOC], tmp_path / "p.sqlite") == 3
    passages = Passages(tmp_path / "p.sqlite")
    assert passages.count == 3
    assert passages.get([9, 404, A1.id]) == [DOC, A1]
    assert passages.by_key("http://x.org/a") == [A1, A2]
    assert passages.by_key("nothing") == []
    assert list(passages.each()) == [(p.id, p.title, p.text) for p in (A1, A2, DOC)]
    assert sorted(passages.written()) == [5, 9, A1.id]
    passages.close()


def test_many_ids_and_many_threads(tmp_path: Path) -> None:
    many = [Passage(n, f"k{n % 7}", "T", (Sentence(f"S{n}.", TRIPLE),)) for n in range(1, 2001)]
    write_passages(many, tmp_path / "p.sqlite")
    passages = Passages(tmp_path / "p.sqlite")
    found: list[int] = []
    threads = [Thread(target=lambda: found.append(len(passages.get(range(1, 2001))))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [2000] * 4
    passages.close()
