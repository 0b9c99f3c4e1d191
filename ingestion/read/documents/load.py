"""Read documents one after the other: files -> their texts in blocks, or why they can't be read."""

import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ingestion.read.documents import json_data, markdown, pdf, plain, table, web, word
from ingestion.read.documents.text import DocumentText, UnreadableDocument
from nacre.errors import IngestionError
from nacre.stores.processes.killable_pool import KillablePool

if TYPE_CHECKING:
    from ingestion.read.documents.find import DocumentFile

log = logging.getLogger(__name__)

MOST_BYTES = 100_000_000
MOST_CHARACTERS = 20_000_000
SECONDS = 120.0
MOST_MEMORY = 2_000_000_000
# how many files are read ahead of the one whose turn it is
AHEAD = 4
# of a text in another encoding, so much is looked at to find out which
SAMPLE = 50_000

TEXTS: dict[str, Callable[[str], DocumentText]] = {
    **dict.fromkeys((".md", ".markdown", ".mdown", ".mkd"), markdown.read_markdown),
    **dict.fromkeys((".txt", ".text"), plain.read_plain),
    ".csv": table.read_table,
    ".tsv": lambda text: table.read_table(text, "\t"),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), json_data.read_json),
}
# parsers of formats that are made by machines are led astray more easily: they run in a process that can be ended
APART: dict[str, Callable[[bytes], DocumentText]] = {
    **dict.fromkeys((".html", ".htm", ".xhtml"), web.read_html),
    ".pdf": pdf.read_pdf,
    ".docx": word.read_docx,
}
FORMATS = frozenset(TEXTS) | frozenset(APART)
NOT_READ = frozenset(
    {".doc", ".odt", ".rtf", ".epub", ".ppt", ".pptx", ".xls", ".xlsx", ".ods", ".rst", ".adoc", ".tex"}
)


class LoadedDocument(NamedTuple):
    """A document that was read: its text, or None and `why` it can't be read."""

    document: "DocumentFile"
    text: DocumentText | None
    why: str = ""


def load_documents(
    documents: "Sequence[DocumentFile]", *, strict: bool = False, seconds: float = SECONDS
) -> Iterator[LoadedDocument]:
    """The documents in their order; a few are read ahead, each at most so long and with 2 GB of memory.

    Raises IngestionError, where `strict`, for the first that can't be read.
    """
    with closing(KillablePool(MOST_MEMORY)) as work:
        waiting: deque[tuple[DocumentFile, Callable[[], DocumentText]]] = deque()
        left = iter(documents)
        for document in left:
            waiting.append((document, _begun(document, work, seconds)))
            if len(waiting) >= AHEAD:
                yield _ended(*waiting.popleft(), strict, seconds)
        while waiting:
            yield _ended(*waiting.popleft(), strict, seconds)


def _begun(document: "DocumentFile", work: KillablePool, seconds: float) -> Callable[[], DocumentText]:
    """What gives the text when it is asked for; a format that is read in a process of its own is begun now."""
    suffix = document.path.suffix.lower()
    if suffix in APART and document.path.is_file() and document.path.stat().st_size <= MOST_BYTES:
        running: Future[DocumentText] = work.start(read_document, document.path, seconds=seconds)
        return running.result
    return lambda: read_document(document.path)


def _ended(
    document: "DocumentFile", result: Callable[[], DocumentText], strict: bool, seconds: float
) -> LoadedDocument:
    try:
        return LoadedDocument(document, result())
    except UnreadableDocument as error:
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
    return LoadedDocument(document, None, why)


def read_document(path: Path) -> DocumentText:
    """The text of a file in blocks, by the format that its name says. Raises Unreadable."""
    suffix = path.suffix.lower()
    if suffix in NOT_READ:
        raise UnreadableDocument(
            f"{suffix} is not read; convert it first, for example: pandoc {path.name} -o {path.stem}.md"
        )
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise UnreadableDocument(f"{size:,} bytes, more than {MOST_BYTES:,}")
    content = path.read_bytes()
    text = APART[suffix](content) if suffix in APART else TEXTS[suffix](decode_text(content))
    if len(text.text) > MOST_CHARACTERS:
        raise UnreadableDocument(f"{len(text.text):,} characters, more than {MOST_CHARACTERS:,}")
    if not text.blocks:
        raise UnreadableDocument("no text in it")
    return text


def decode_text(content: bytes) -> str:
    """The characters of a text file: UTF-8, or as its byte order mark says, or as its bytes suggest.

    >>> decode_text("\\ufeffcafé".encode()), decode_text("naïve".encode("utf-16"))
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
            raise UnreadableDocument("no text, or in an encoding that can't be told. Save it as UTF-8") from None
        try:
            text = content.decode(best.encoding)
        except UnicodeDecodeError:
            raise UnreadableDocument("its encoding can't be told. Save it as UTF-8") from None
    if "\0" in text[:SAMPLE]:
        raise UnreadableDocument("no text, but something binary")
    return text
