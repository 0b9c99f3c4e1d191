"""Full-text search: a text -> passages that contain its words (tantivy: BM25, stems, accents folded)."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from nacre.stores.search.file_integrity import seal_folder
from nacre.stores.search.index_folder import IndexFolder
from nacre.stores.sqlite.passages import PassageHit

TITLE_BOOST = 2.5
MAX_WORDS = 64
# how error messages call this index
NAME = "the index of words"
# a file beside this one, since the language data lies in a higher layer
STOP_WORDS = Path(__file__).with_name("stop_words.txt")


class LexicalIndex:
    """A read-only handle on one index folder. Nothing is written to it, so any number of processes may read it."""

    def __init__(self, folder: Path) -> None:
        self._index = IndexFolder(folder, NAME)
        self._schema: Any = self._index.schema
        self._searcher = self._index.searcher

    def search(self, text: str, limit: int) -> list[PassageHit]:
        """The best passages for the words of `text`; words in titles count more, punctuation is ignored.

        Raises ToolError `unavailable` if the index is damaged.
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


def write_lexical_index(passages: Iterable[tuple[int, str, str]], folder: Path) -> int:
    """Index passages, given as (id, title, text), in a new folder; returns their number."""
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
    """The distinct stems of `text` without stop words; with stop words if there are no other words.

    >>> query_words("Which rivers run through Köln?")
    ['river', 'run', 'koln']
    """
    words = _analyzer().analyze(text)
    content = [word for word in words if word not in _stop_words()]
    return list(dict.fromkeys(content or words))[:MAX_WORDS]


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
    return frozenset(_analyzer().analyze(STOP_WORDS.read_text(encoding="utf-8")))
