"""Sentences of passages: text -> one line -> spans of its sentences; sentences about one thing -> passages.
Then indexes: passages.sqlite -> a full-text index, and vectors of passages that vector search helps to find."""

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cache
from hashlib import blake2b
from itertools import chain, groupby, islice
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple, TypeVar

from ingestion.read.tables import Progress
from nacre.errors import ConfigError
from nacre.language.data import word_list
from nacre.records.evidence import Passage, Sentence, shorten
from nacre.stores import versions
from nacre.stores.lexical import write_lexical_index
from nacre.stores.sqlite.passages import Passages
from nacre.stores.vectors import Collection, CollectionWriter, Embedder, EmbeddingCache, open_collection
from nacre.stores.versions import VectorsManifest

# characters of a title, which is part of each passage and of most sentences: a third of a passage (given)
MAX_TITLE = 300

_HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]"
)

_SPACE = re.compile(r"\s+")

_UNCLEAN = re.compile(_HIDDEN.pattern + r"|[\t\n\r\u0085\u2028\u2029]|  |^\s|\s$")

# each run of stops and of spaces is tried once, from its beginning
_BREAK = re.compile(
    r"""(?<![.!?…])([.!?…]++["'”’)\]]*+)\s++(?=["'“‘(\[]*+[^\W_a-z])"""
    r"""|(?<!\s)[^\S\n]*+\n[^\S\n]*+\n\s*+|(?<=[。！？])"""
)


def clean_text(text: str) -> str:
    """A text on one line, without control characters, direction marks and double spaces.

    >>> clean_text("a\\u202eb\\n\\x07 c")
    'ab c'
    """
    if text.isprintable() and "  " not in text and text[:1] != " " != text[-1:]:
        return text
    return _SPACE.sub(" ", _HIDDEN.sub("", text)).strip() if _UNCLEAN.search(text) else text


def sentence_ends(text: str) -> Iterator[int]:
    """Where sentences may end."""
    return (match.end() for match in _BREAK.finditer(text))


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """The spans of the sentences of a text; a blank line always ends a sentence."""
    spans, start = [], 0
    for match in _BREAK.finditer(text):
        if match.group(1) is not None and _abbreviation_pattern().search(
            text[max(0, match.start() - 12) : match.start() + 1]
        ):
            continue
        spans.append((start, match.start(0) + len(match.group(1) or "")))
        start = match.end()
    spans.append((start, len(text)))
    return [trimmed for span in spans if (trimmed := _trim(text, *span))]


@cache
def _abbreviation_pattern() -> re.Pattern[str]:
    """An abbreviation at the end of a text: initials, or a known one."""
    known = "|".join(sorted(word_list("ingestion", "abbreviations")))
    return re.compile(rf"(?:^|[\s(])(?:[A-Z]\.|(?:[A-Za-z]\.){{2,}}|(?:{known})\.)$")


def _trim(text: str, start: int, end: int) -> tuple[int, int] | None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if start < end else None


PASSAGE_LENGTH = 900  # characters of a passage, about the length of the embedder's input

# characters of a key that many passages may have: requests can name no longer IRI (given)
MAX_KEY = 2000


def pack_passages(key: str, title: str, sentences: Sequence[Sentence]) -> Iterator[Passage]:
    """Pack sentences into passages of about `PASSAGE_LENGTH` characters; ids are hashes of the content. The title is
    shortened, since each passage has it, and with a key of more than `MAX_KEY` characters only the first is made."""
    title = shorten(title, MAX_TITLE)
    if not sentences:
        return
    part: list[Sentence] = []
    size = number = 0
    for sentence in sentences:
        if part and size + len(sentence.text) > PASSAGE_LENGTH:
            yield _passage(key, title, number, part)
            if len(key) > MAX_KEY:
                return
            part, size, number = [], 0, number + 1
        part.append(sentence)
        size += len(sentence.text) + 1
    yield _passage(key, title, number, part)


def bounded_spans(text: str) -> Iterator[tuple[int, int]]:
    """The spans of a text's sentences; sentences longer than a passage are split between words."""
    for start, end in sentence_spans(text):
        while end - start > PASSAGE_LENGTH:
            space = text.rfind(" ", start, start + PASSAGE_LENGTH)
            cut = space if space > start else start + PASSAGE_LENGTH
            yield start, cut
            start = cut + (space == cut)
        if start < end:
            yield start, end


def _passage(key: str, title: str, number: int, sentences: Sequence[Sentence]) -> Passage:
    said = "\0".join([sentence[0] for sentence in sentences])
    return Passage(passage_id(key, number, title, said), key, title, tuple(sentences))


def passage_id(key: str, number: int, title: str, said: str) -> int:
    """The id of a part of the passages about a thing: a hash of its content, the sentences joined by null bytes."""
    content = f"{key}\0{number}\0{title}\0{said}"
    return int.from_bytes(blake2b(content.encode(errors="surrogatepass"), digest_size=8).digest(), "big") >> 1


log = logging.getLogger(__name__)

BATCH = 512  # number of passages that are read and written at once

EMBEDDING_BATCH = 128  # number of passages that are embedded at once, which a kill loses

# characters and spaces from which on a literal is prose, such as a comment (docs/research/quality-history.md)
PROSE_LENGTH = (80, 8)

# embedded passages of the texts of one thing: 30,000 characters, from their beginning
MAX_PROSE_PASSAGES = 32

# passages of short facts are embedded up to so many in a graph (docs/research/quality-history.md)
MAX_FACT_PASSAGES = 2000


Item = TypeVar("Item")


class VectorTarget(NamedTuple):
    """The destination of vectors: the graph's folder, the folder of the new set, and the server, if any."""

    home: Path
    folder: Path
    manifest: VectorsManifest
    qdrant_url: str | None
    qdrant_key: str | None


class VectorCounts(NamedTuple):
    """The number of vectors in a set, and of those computed for it."""

    total: int
    embedded: int


def index_words(passages: Passages, folder: Path, progress: Progress) -> int:
    """Build the full-text index of all passages in a new folder; returns their number."""
    return write_lexical_index(reported(passages.each(), lambda done: progress(done, passages.count)), folder)


def reported(items: Iterable[Item], progress: Callable[[int], None]) -> Iterator[Item]:
    """The same items; reports from time to time how many were taken."""
    for done, item in enumerate(items):
        if done % 4096 == 0:
            progress(done)
        yield item


def index_vectors(passages: Passages, place: VectorTarget, embedder: Embedder, progress: Progress) -> VectorCounts:
    """Write a vector for every passage that search by meaning helps; those of the version before (same embedder), or of
    a killed run, are copied by id. Raises ConfigError for an embedder or a server that does not work."""
    with (
        _earlier(place, embedder) as earlier,
        closing(EmbeddingCache(place.folder.with_name(versions.EMBEDDED), embedder.name)) as kept,
    ):
        ids = ids_to_embed(passages)
        known = kept.ids()
        if earlier is not None:
            known.update(i for chunk in _chunks(ids, BATCH) for i in earlier.fetch(chunk))
        missing = [i for i in ids if i not in known]
        done = len(ids) - len(missing)
        progress(done, len(ids))
        for chunk in _chunks(missing, EMBEDDING_BATCH):
            found = passages.get(chunk)
            with _working(embedder):
                vectors = embedder.embed([f"{passage.title}\n{passage.text}" for passage in found])
            kept.add([passage.id for passage in found], vectors)
            done += len(chunk)
            progress(done, len(ids))
        _write(ids, _writer(place, embedder), kept, earlier)
    return VectorCounts(len(ids), len(missing))


def ids_to_embed(passages: Passages) -> list[int]:
    """The ids of what search by meaning helps: documents, the texts of things from their beginning, and cards where
    there are at most `MAX_FACT_PASSAGES`; sorted."""
    prose: list[int] = []
    cards: list[int] = []
    each = chain.from_iterable(map(passages.get, _chunks(passages.written(), BATCH)))
    for _, parts in groupby(each, key=attrgetter("key")):
        texts = 0
        for passage in parts:
            if not is_prose(passage):
                cards.append(passage.id)
                continue
            texts += passage.sentences[0].document is None
            if texts <= MAX_PROSE_PASSAGES:
                prose.append(passage.id)
    return sorted(prose + cards if len(cards) <= MAX_FACT_PASSAGES else prose)


def is_prose(passage: Passage) -> bool:
    """Whether a passage is part of a document or of a thing's long text; other passages have short facts.

    >>> from nacre.records.evidence import Sentence
    >>> is_prose(Passage(1, "d.md", "Oaks", (Sentence("Tall.", None, "d.md", 0, 5),)))
    True
    >>> is_prose(Passage(2, "http://ex/oak", "Oak", (Sentence("Oak is a tree.", ("http://ex/oak", "a", "b")),)))
    False
    """
    length, spaces = PROSE_LENGTH
    return any(
        s.document is not None
        or (s.triple is not None and len(s.triple[2]) >= length and s.triple[2].count(" ") >= spaces)
        for s in passage.sentences
    )


def _write(ids: list[int], writer: CollectionWriter, kept: EmbeddingCache, earlier: Collection | None) -> None:
    try:
        for chunk in _chunks(ids, BATCH):
            found = kept.fetch(chunk)
            if earlier is not None and len(found) < len(chunk):
                found |= earlier.fetch([i for i in chunk if i not in found])
            writer.add(list(found), list(found.values()))
        writer.finish()
    except BaseException:
        writer.abandon()
        raise


@contextmanager
def _working(embedder: Embedder) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # onnxruntime, fastembed and what they load from each raise their own kinds
        raise ConfigError(
            f"The embedder {embedder.name} can't be used: {error}. Set NACRE_EMBEDDER=none to go without vectors."
        ) from error


def _writer(place: VectorTarget, embedder: Embedder) -> CollectionWriter:
    with _working(embedder):
        size = embedder.size
    if place.manifest.collection is not None and place.qdrant_url is not None:
        from nacre.stores.vectors import ServerWriter

        return ServerWriter(place.qdrant_url, place.qdrant_key, place.manifest.collection, size)
    from nacre.stores.vectors import EdgeWriter

    return EdgeWriter(place.folder / versions.SHARD, size)


@contextmanager
def _earlier(place: VectorTarget, embedder: Embedder) -> Iterator[Collection | None]:
    """The vectors of the previous version, if the same embedder made them and they are readable."""
    collection = None
    try:
        pointer = versions.read_pointer(place.home)
        vectors = (pointer.vectors or pointer.earlier) if pointer is not None else None
        if vectors is not None and versions.read_vectors_manifest(place.home, vectors).embedder == embedder.name:
            collection = open_collection(place.home, vectors, place.qdrant_url, place.qdrant_key, patient=True)
    except Exception as error:  # any error of the old vectors: they are computed again
        log.warning("the earlier vectors can't be read, all passages are embedded: %s", error)
    try:
        yield collection
    finally:
        if collection is not None:
            collection.close()


def _chunks(ids: list[int], size: int) -> Iterator[list[int]]:
    each = iter(ids)
    while chunk := list(islice(each, size)):
        yield chunk
