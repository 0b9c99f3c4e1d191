"""Make passages searchable: passages.sqlite -> an index of words and one of vectors."""

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from stores.lexical import write_lexical
from stores.passages import Passages
from stores.vectors import Collection, CollectionWriter, Embedder

BATCH = 512
Progress = Callable[[int, int], None]


def index_words(passages: Passages, folder: Path, progress: Progress) -> int:
    """Index the words of all passages in a new folder; returns how many passages there are."""

    def counted() -> Iterator[tuple[int, str, str]]:
        for done, passage in enumerate(passages.each()):
            if done % 4096 == 0:
                progress(done, passages.count)
            yield passage

    return write_lexical(counted(), folder)


def index_vectors(
    passages: Passages, writer: CollectionWriter, embedder: Embedder, earlier: Collection | None, progress: Progress
) -> int:
    """Write a vector for every passage; those that `earlier` holds (same embedder) are copied, the rest embedded.

    A passage's id is made of its text, so that the same id means the same vector. Returns how many were embedded.
    """
    embedded = done = 0
    waiting: list[int] = []
    ids = iter(passages.ids())
    while chunk := list(islice(ids, BATCH)):
        kept = earlier.fetch(chunk) if earlier is not None else {}
        if kept:
            writer.add(list(kept), list(kept.values()))
        waiting += [i for i in chunk if i not in kept]
        done += len(kept)
        while len(waiting) >= BATCH:
            embedded += _embed(passages, writer, embedder, waiting[:BATCH])
            del waiting[:BATCH]
        progress(done + embedded, passages.count)
    for start in range(0, len(waiting), BATCH // 4):
        embedded += _embed(passages, writer, embedder, waiting[start : start + BATCH // 4])
        progress(done + embedded, passages.count)
    return embedded


def _embed(passages: Passages, writer: CollectionWriter, embedder: Embedder, ids: list[int]) -> int:
    found = passages.get(ids)
    vectors = embedder.embed([f"{passage.title}\n{passage.text}" for passage in found])
    writer.add([passage.id for passage in found], vectors)
    return len(found)
