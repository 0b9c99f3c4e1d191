"""Full-text search: a text -> passages that contain its words (tantivy: BM25, stems, accents folded). An index is only
read, and its files are checked first: a process that maps a truncated file into memory crashes."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from nacre.errors import ToolError
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
        """The best passages for the words (titles count more). Raises ToolError `unavailable` for a damaged index."""
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
    writer = index.writer(heap_size=32_000_000, num_threads=1)  # as fast as with twice the memory (measured)
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


class IndexFolder:
    """A read-only handle on one index folder. Nothing is written to it, so any number of processes may read it."""

    def __init__(self, folder: Path, name: str) -> None:
        """Open the index; raises DamagedIndex if its files changed. Error messages call it `name`."""
        import tantivy

        self._folder, self._name, self._sizes = folder, name, verify_seal(folder)
        # tantivy writes a lock file into a folder it opens: it gets private links, removed once all is open
        with tempfile.TemporaryDirectory(prefix="nacre-index-", ignore_cleanup_errors=True) as private:
            for file in folder.iterdir():
                if file.suffix != ".lock":
                    os.symlink(file.absolute(), os.path.join(private, file.name))
            with engine_panics(name):
                index = tantivy.Index.open(private)
                self.schema: Any = index.schema
                self.searcher: Any = index.searcher()
        # the engine may have locked the folder again while it was removed
        shutil.rmtree(private, ignore_errors=True)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Check the files before reading: raises ToolError `unavailable` if a file was truncated since it was opened,
        because reading it would crash the process, or if the engine panics."""
        try:
            check_sizes(self._folder, self._sizes)
        except DamagedIndex as error:
            raise ToolError("unavailable", f"{self._name} is {error}") from None
        with engine_panics(self._name):
            yield


SEAL = "files.json"
# reading this much takes about 0.1 s; of larger indexes only the sizes are checked
MAX_HASHED_BYTES = 64_000_000


class DamagedIndex(ValueError):
    """The files of an index have changed since they were written."""


def seal_folder(folder: Path) -> None:
    """Record the size and the hash of each file of a finished index."""
    files = [file for file in folder.iterdir() if file.suffix != ".lock"]
    (folder / SEAL).write_text(json.dumps({file.name: [file.stat().st_size, _hash(file)] for file in sorted(files)}))


def verify_seal(folder: Path) -> dict[str, int]:
    """Check the files of an index against the recorded sizes and hashes; returns the sizes, or {} without a record.
    Raises DamagedIndex for a file that is missing, of another size or (in small indexes) of other content."""
    try:
        sealed = json.loads((folder / SEAL).read_text())
        recorded: dict[str, tuple[int, str]] = {name: (size, seen) for name, (size, seen) in sealed.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise DamagedIndex(f"damaged: {SEAL} can't be read") from error
    sizes = {name: size for name, (size, _) in recorded.items()}
    check_sizes(folder, sizes)
    if sum(sizes.values()) <= MAX_HASHED_BYTES:
        for name, (_, hashed) in recorded.items():
            if _hash_now(folder / name) != hashed:
                raise DamagedIndex(f"damaged: {name} is not as it was written")
    return sizes


def file_sizes(folder: Path, names: Iterable[str]) -> dict[str, int]:
    """The current sizes of files in a folder, for `check_sizes`; missing files are left out."""
    return {name: (folder / name).stat().st_size for name in names if (folder / name).is_file()}


def check_sizes(folder: Path, sizes: Mapping[str, int], gone: bool = False) -> None:
    """Raise DamagedIndex for a file of another size, or a missing one unless `gone` (open files stay readable). It runs
    several times a turn on some twenty files, so it creates no Path objects."""
    home = os.fspath(folder)
    for name, size in sizes.items():
        try:
            size_now = os.stat(os.path.join(home, name)).st_size
        except OSError as error:
            if gone and isinstance(error, FileNotFoundError):
                continue
            raise DamagedIndex(f"damaged: {name} can't be read ({error.strerror})") from error
        if size_now != size:
            raise DamagedIndex(f"damaged: {name} has {size_now} bytes, not {size}")


@contextmanager
def engine_panics(what: str) -> Iterator[None]:
    """Turn a panic of a Rust engine into a ToolError: it is no `Exception` and would end more than the branch."""
    try:
        yield
    except BaseException as error:
        # the binding creates the class at run time and does not export it
        if type(error).__name__ != "PanicException":
            raise
        raise ToolError("unavailable", f"{what} is damaged") from error


def _hash_now(file: Path) -> str:
    try:
        status = file.stat()
    except OSError as error:
        raise DamagedIndex(f"damaged: {file.name} can't be read ({error.strerror})") from error
    return _hash_of(file, status.st_size, status.st_mtime_ns)


@lru_cache(1024)
def _hash_of(file: Path, size: int, changed: int) -> str:
    """The hash of a file, cached by its size and time of modification."""
    return _hash(file)


def _hash(file: Path) -> str:
    with file.open("rb") as content:
        hashed = blake2b(digest_size=16)
        while piece := content.read(1 << 20):
            hashed.update(piece)
    return hashed.hexdigest()
