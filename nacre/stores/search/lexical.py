"""Search by words: the words of a text -> passages that hold them (tantivy: BM25, stems, accents folded)."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from nacre.stores.search.file_integrity import seal_folder
from nacre.stores.search.index_folder import IndexFolder
from nacre.stores.sqlite.passages import PassageHit

TITLE_BOOST = 2.5
MOST_WORDS = 64
NAME = "the index of words"


class LexicalIndex:
    """A read-only handle on one index folder, which stays untouched: any number of processes may read it."""

    def __init__(self, folder: Path) -> None:
        self._index = IndexFolder(folder, NAME)
        self._schema: Any = self._index.schema
        self._searcher = self._index.searcher

    def search(self, text: str, limit: int) -> list[PassageHit]:
        """The best passages for the words of `text`, titles counting more; its punctuation means nothing.

        Raises ToolError `unavailable` where the index is damaged.
        """
        import tantivy

        words = query_words(text)
        if not words or limit < 1:
            return []
        clauses = []
        for word in words:
            title = tantivy.Query.boost_query(
                tantivy.Query.term_query(self._schema, "title", word, "freq"), TITLE_BOOST
            )
            body = tantivy.Query.term_query(self._schema, "text", word, "freq")
            clauses += [(tantivy.Occur.Should, title), (tantivy.Occur.Should, body)]
        with self._index.reading():
            found = self._searcher.search(tantivy.Query.boolean_query(clauses), limit=limit, count=False).hits
            ids = self._searcher.fast_field_values("id", [address for _, address in found])
        hits = [PassageHit(int(i), float(score)) for i, (score, _) in zip(ids, found, strict=True) if i is not None]
        return sorted(hits, key=lambda hit: (-hit.score, hit.id))

    def close(self) -> None:
        """Remove the private folder; the handle must not be used any more."""
        self._index.close()


def write_lexical_index(passages: Iterable[tuple[int, str, str]], folder: Path) -> int:
    """Index passages, given as (id, title, text), in a new folder; returns how many there are."""
    import tantivy

    folder.mkdir(parents=True)
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("title", stored=False, tokenizer_name="words", index_option="freq")
    builder.add_text_field("text", stored=False, tokenizer_name="words", index_option="freq")
    builder.add_integer_field("id", stored=False, indexed=False, fast=True)
    index = tantivy.Index(builder.build(), path=str(folder))
    index.register_tokenizer("words", _analyzer())
    writer = index.writer(heap_size=64_000_000, num_threads=1)
    count = 0
    for number, title, text in passages:
        document = tantivy.Document()
        document.add_integer("id", number)
        document.add_text("title", title)
        document.add_text("text", text)
        writer.add_document(document)
        count += 1
    writer.commit()
    writer.wait_merging_threads()
    seal_folder(folder)
    return count


def query_words(text: str) -> list[str]:
    """The stems of `text` that can tell passages apart: no stop words, unless there is nothing else; each once.

    >>> query_words("Which rivers run through Köln?")
    ['river', 'run', 'koln']
    """
    words = _analyzer().analyze(text)
    telling = [word for word in words if word not in _stop_words()]
    return list(dict.fromkeys(telling or words))[:MOST_WORDS]


@cache
def _analyzer() -> Any:
    import tantivy

    chain = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    for step in (
        tantivy.Filter.remove_long(60),
        tantivy.Filter.lowercase(),
        tantivy.Filter.ascii_fold(),
        tantivy.Filter.stemmer("english"),
    ):
        chain = chain.filter(step)
    return chain.build()


@cache
def _stop_words() -> frozenset[str]:
    words = """a about all also am an and any are as at be been being between but by can could did do does doing each
    for from get give had has have he her him his how i if in into is it its just list many may me more most much my
    name of on or our out please s she should show so some such t tell than that the their them then there these they
    this those through to too us was we were what when where which while who whom whose why will with would you your"""
    return frozenset(_analyzer().analyze(words))
