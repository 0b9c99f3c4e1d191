"""All that an ingest is made of: sources and texts as typed -> files, and one hash of what is in them."""

import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from hashlib import blake2b
from pathlib import Path

from ingestion.read.documents.find import DocumentFile
from ingestion.read.sources import ReadOptions, Sources, base_address, find_sources
from nacre.errors import IngestionError
from nacre.stores.versions import FORMAT

BLOCK = 1 << 16


@contextmanager
def rdf_files(places: Sequence[str], reading: ReadOptions = ReadOptions()) -> Iterator[Sources]:  # noqa: B008 (immutable)
    """The RDF files that the places stand for; standard input is first kept in a file, since it is read twice."""
    with ExitStack() as stack:
        kept = None
        if "-" in places:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="nacre-stdin-"))
            kept = Path(folder) / "stdin"
            with kept.open("wb") as copy:
                shutil.copyfileobj(sys.stdin.buffer, copy)
        yield find_sources(places, reading, kept) if places else Sources((), (), reading)


def fingerprint(sources: Sources, documents: Sequence[DocumentFile], annotations: Path | None) -> str:
    """A hash of what the files hold, in their order, and of what will be made of it; a file of a format that knows no
    relative IRIs may be renamed."""
    reading = sources.reading
    total = blake2b(f"format {FORMAT} {_makers()} {reading.strict} {reading.fetch}\n".encode(), digest_size=16)
    parts = [("rdf", f.format + base_address(f), f.path) for f in sources.files]
    parts += [("context", url, str(path)) for url, path in sorted(reading.contexts.items())]
    parts += [("text", document.name, str(document.path)) for document in documents]
    parts += [("annotations", "", str(annotations))] if annotations is not None else []
    for kind, name, path in parts:
        content = blake2b(digest_size=16)
        try:
            # without a buffer, since small files would cost more than what is in them
            with open(path, "rb", buffering=0) as file:
                while block := file.read(BLOCK):
                    content.update(block)
        except OSError as error:
            raise IngestionError(f"{path}: can't be read ({error.strerror}).") from None
        total.update(f"{kind}\0{name}\0{content.hexdigest()}\n".encode())
    for left in sources.left:
        total.update(f"left\0{left.file}\n".encode())
    return total.hexdigest()


def _makers() -> str:
    """A hash of the stages themselves: another release may make something else of the same input."""
    content = blake2b(digest_size=16)
    for path in sorted(Path(__file__).parent.parent.rglob("*.py")):
        content.update(path.read_bytes())
    return content.hexdigest()
