"""Fuzzy word search: word -> indexed words of similar spelling (tantivy: Levenshtein automata)."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from nacre.stores.search.file_integrity import seal_folder
from nacre.stores.search.index_folder import IndexFolder

# an insertion, deletion, substitution or swap of neighbours is one edit
MAX_EDITS = 2
# maximum number of words for each edit distance
MAX_HITS = 1000


class Spellings:
    """A read-only handle on the words of one graph, safe to share between threads and processes."""

    def __init__(self, folder: Path) -> None:
        self._index = IndexFolder(folder, "the index of spellings")

    def near(self, word: str, edits: int = MAX_EDITS) -> set[str]:
        """The indexed words within an edit distance of `edits`, including the word itself if it is indexed."""
        import tantivy

        schema, searcher = self._index.schema, self._index.searcher
        found: set[str] = set()
        # one edit first, so that the limit does not drop the nearest words
        for distance in range(1, edits + 1):
            query = tantivy.Query.fuzzy_term_query(schema, "word", word, distance=distance)
            with self._index.reading():
                hits = searcher.search(query, limit=MAX_HITS, count=False).hits
                found |= {str(searcher.doc(address)["word"][0]) for _, address in hits}
        return found


def write_spellings(words: Iterable[str], folder: Path) -> None:
    """Index distinct words in a new folder."""
    import tantivy

    folder.mkdir(parents=True)
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("word", stored=True, tokenizer_name="raw", index_option="basic")
    index = tantivy.Index(builder.build(), path=str(folder))
    writer: Any = index.writer(heap_size=50_000_000, num_threads=1)
    for word in words:
        writer.add_document(tantivy.Document(word=word))
    writer.commit()
    writer.wait_merging_threads()
    seal_folder(folder)
