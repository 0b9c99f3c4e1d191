"""Read documents in order, a few ahead: files -> their texts in blocks, or why they can't be read."""

import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing
from typing import NamedTuple

from ingestion.read.documents.find import DocumentFile
from ingestion.read.documents.read_document import ISOLATED_READERS, LARGE, MAX_BYTES, TEXT_READERS, read_document
from ingestion.read.documents.text import DocumentText, UnreadableDocument
from nacre.errors import IngestionError
from nacre.stores.processes.killable_pool import KillablePool

log = logging.getLogger(__name__)

SECONDS = 120.0
MAX_MEMORY = 2_000_000_000
# how many files are read ahead
AHEAD = 4


class LoadedDocument(NamedTuple):
    """A document that was read: its text, or None and `why` it can't be read."""

    document: DocumentFile
    text: DocumentText | None
    why: str = ""


def load_documents(
    documents: Sequence[DocumentFile], *, strict: bool = False, seconds: float = SECONDS
) -> Iterator[LoadedDocument]:
    """The documents in order, read ahead within limits of time and memory (2 GB) each.

    If `strict`, raises IngestionError for the first document that can't be read.
    """
    with closing(KillablePool(MAX_MEMORY)) as pool:
        waiting: deque[tuple[DocumentFile, Callable[[], DocumentText]]] = deque()
        left = iter(documents)
        for document in left:
            waiting.append((document, _start_reading(document, pool, seconds)))
            if len(waiting) >= AHEAD:
                yield _loaded(*waiting.popleft(), strict, seconds)
        while waiting:
            yield _loaded(*waiting.popleft(), strict, seconds)


def _start_reading(document: DocumentFile, pool: KillablePool, seconds: float) -> Callable[[], DocumentText]:
    """A function that returns the text. Reading in a separate process starts now."""
    suffix = document.path.suffix.lower()
    size = document.path.stat().st_size if document.path.is_file() else MAX_BYTES + 1
    if (suffix in ISOLATED_READERS or (suffix in TEXT_READERS and size > LARGE)) and size <= MAX_BYTES:
        running: Future[DocumentText] = pool.start(read_document, document.path, seconds=seconds)
        return running.result
    return lambda: read_document(document.path)


def _loaded(document: DocumentFile, result: Callable[[], DocumentText], strict: bool, seconds: float) -> LoadedDocument:
    try:
        return LoadedDocument(document, result())
    except UnreadableDocument as error:
        why = str(error)
    except TimeoutError:
        why = f"not read within {seconds:g} seconds"
    except OSError as error:
        why = f"can't be opened ({error.strerror or error})"
    except (MemoryError, RuntimeError) as error:
        # WorkerDied is a RuntimeError: the process died, most likely because it ran out of memory
        why = f"reading it was aborted ({error or type(error).__name__})"
    if strict:
        raise IngestionError(f"{document.path}: {why}. Leave out --strict to ingest the others.")
    log.warning("%s: %s", document.path, why)
    return LoadedDocument(document, None, why)
