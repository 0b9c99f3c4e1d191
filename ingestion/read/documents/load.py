"""Read documents one after the other: files -> their texts in blocks, or why they can't be read."""

import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ingestion.read.documents import json_data, markdown, pdf, plain, table, web, word
from ingestion.read.documents.text import Text, Unreadable
from nacre.errors import IngestionError
from nacre.stores.processes.killable_pool import Killable

if TYPE_CHECKING:
    from ingestion.read.documents.find import Document

log = logging.getLogger(__name__)

MOST_BYTES = 100_000_000
MOST_CHARACTERS = 20_000_000
SECONDS = 120.0
MOST_MEMORY = 2_000_000_000
# how many files are read ahead of the one whose turn it is
AHEAD = 4
# of a text in another encoding, so much is looked at to find out which
SAMPLE = 50_000

TEXTS: dict[str, Callable[[str], Text]] = {
    **dict.fromkeys((".md", ".markdown", ".mdown", ".mkd"), markdown.read),
    **dict.fromkeys((".txt", ".text"), plain.read),
    ".csv": table.read,
    ".tsv": lambda text: table.read(text, "\t"),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), json_data.read),
}
# parsers of formats that are made by machines are led astray more easily: they run in a process that can be ended
APART: dict[str, Callable[[bytes], Text]] = {
    **dict.fromkeys((".html", ".htm", ".xhtml"), web.read),
    ".pdf": pdf.read,
    ".docx": word.read,
}
FORMATS = frozenset(TEXTS) | frozenset(APART)
NOT_READ = frozenset(
    {".doc", ".odt", ".rtf", ".epub", ".ppt", ".pptx", ".xls", ".xlsx", ".ods", ".rst", ".adoc", ".tex"}
)


class Loaded(NamedTuple):
    """A document that was read: its text, or None and `why` it can't be read."""

    document: "Document"
    text: Text | None
    why: str = ""


def load(documents: "Sequence[Document]", *, strict: bool = False, seconds: float = SECONDS) -> Iterator[Loaded]:
    """The documents in their order; a few are read ahead, each at most so long and with 2 GB of memory.

    Raises IngestionError, where `strict`, for the first that can't be read.
    """
    with closing(Killable(MOST_MEMORY)) as work:
        waiting: deque[tuple[Document, Callable[[], Text]]] = deque()
        left = iter(documents)
        for document in left:
            waiting.append((document, _begun(document, work, seconds)))
            if len(waiting) >= AHEAD:
                yield _ended(*waiting.popleft(), strict, seconds)
        while waiting:
            yield _ended(*waiting.popleft(), strict, seconds)


def _begun(document: "Document", work: Killable, seconds: float) -> Callable[[], Text]:
    """What gives the text when it is asked for; a format that is read in a process of its own is begun now."""
    suffix = document.path.suffix.lower()
    if suffix in APART and document.path.is_file() and document.path.stat().st_size <= MOST_BYTES:
        running: Future[Text] = work.start(read, document.path, seconds=seconds)
        return running.result
    return lambda: read(document.path)


def _ended(document: "Document", result: Callable[[], Text], strict: bool, seconds: float) -> Loaded:
    try:
        return Loaded(document, result())
    except Unreadable as error:
        why = str(error)
    except TimeoutError:
        why = f"not read within {seconds:g} seconds"
    except OSError as error:
        why = f"can't be opened ({error.strerror or error})"
    except (MemoryError, RuntimeError) as error:
        # pebble's ProcessExpired is a RuntimeError: the process died of the file, most likely for want of memory
        why = f"reading it broke off ({error or type(error).__name__})"
    if strict:
        raise IngestionError(f"{document.path}: {why}. Leave out --strict to ingest the others.")
    log.warning("%s: %s", document.path, why)
    return Loaded(document, None, why)


def read(path: Path) -> Text:
    """The text of a file in blocks, by the format that its name says. Raises Unreadable."""
    suffix = path.suffix.lower()
    if suffix in NOT_READ:
        raise Unreadable(f"{suffix} is not read; convert it first, for example: pandoc {path.name} -o {path.stem}.md")
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise Unreadable(f"{size:,} bytes, more than {MOST_BYTES:,}")
    content = path.read_bytes()
    text = APART[suffix](content) if suffix in APART else TEXTS[suffix](decoded(content))
    if len(text.text) > MOST_CHARACTERS:
        raise Unreadable(f"{len(text.text):,} characters, more than {MOST_CHARACTERS:,}")
    if not text.blocks:
        raise Unreadable("no text in it")
    return text


def decoded(content: bytes) -> str:
    """The characters of a text file: UTF-8, or as its byte order mark says, or as its bytes suggest.

    >>> decoded("\\ufeffcafé".encode()), decoded("naïve".encode("utf-16"))
    ('café', 'naïve')
    """
    try:
        if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return content.decode("utf-16")
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        from charset_normalizer import from_bytes

        best = from_bytes(content[:SAMPLE]).best()
        if best is None:
            raise Unreadable("no text, or in an encoding that can't be told. Save it as UTF-8") from None
        try:
            text = content.decode(best.encoding)
        except UnicodeDecodeError:
            raise Unreadable("its encoding can't be told. Save it as UTF-8") from None
    if "\0" in text[:SAMPLE]:
        raise Unreadable("no text, but something binary")
    return text
