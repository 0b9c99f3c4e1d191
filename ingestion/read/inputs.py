"""All inputs of an ingest: RDF files, documents and layers -> readable sources, and one hash of them all."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path

import nacre.language.data
from ingestion.documents.text_formats import DocumentFile
from ingestion.layer.layer_file import LayerFiles
from ingestion.read.sources import TABLE, ReadOptions, Sources, base_address, find_sources, metadata_names
from nacre.errors import IngestionError
from nacre.extension import extensions
from nacre.stores.versions import FORMAT

BLOCK = 1 << 16

# what an ingest asks of extensions for what it stores
TAKING_PART = ("rules", "derive_layer", "contexts", "fact_passages", "overview")


@contextmanager
def rdf_files(places: Sequence[str], reading: ReadOptions = ReadOptions()) -> Iterator[Sources]:  # noqa: B008 (immutable)
    """The RDF files of the given places. Standard input is copied to a file, since it is read twice."""
    with ExitStack() as stack:
        stdin_copy = None
        if "-" in places:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="nacre-stdin-"))
            stdin_copy = Path(folder) / "stdin"
            with stdin_copy.open("wb") as copy:
                shutil.copyfileobj(sys.stdin.buffer, copy)
        yield find_sources(places, reading, stdin_copy) if places else Sources((), (), reading)


def fingerprint(
    sources: Sources,
    documents: Sequence[DocumentFile],
    layers: LayerFiles = LayerFiles(),  # noqa: B008 (immutable)
) -> str:
    """A hash of the content of all files, in order, and of the code that ingests them. Files of formats without
    relative IRIs may be renamed without changing it."""
    reading = sources.reading
    options = f"{reading.strict} {reading.fetch} {reading.expansion}{'' if layers.packs else ' no packs'}"
    options += "" if layers.spellings else " spellings"
    total = blake2b(f"format {FORMAT} {_code_hash()} {options}\n".encode(), digest_size=16)
    parts = [("rdf", f.format + base_address(f), f.path) for f in sources.files]
    tables = (f.path for f in sources.files if f.format == TABLE)
    parts += [("metadata", "", name) for path in tables for name in metadata_names(path) if os.path.isfile(name)]
    parts += [("context", url, str(path)) for url, path in sorted(reading.contexts.items())]
    parts += [("text", document.name, str(document.path)) for document in documents]
    for kind, name, path in parts:
        content = blake2b(digest_size=16)
        try:
            # unbuffered: for small files the buffer would cost more than reading
            with open(path, "rb", buffering=0) as file:
                while block := file.read(BLOCK):
                    content.update(block)
        except OSError as error:
            raise IngestionError(f"{path}: can't be read ({error.strerror}).") from None
        total.update(f"{kind}\0{name}\0{content.hexdigest()}\n".encode())
    for layer in layers.files:
        total.update(f"layer\0{layer.name}\0{layer.text}\n".encode())
    for left in sources.left:
        total.update(f"left\0{left.file}\n".encode())
    return total.hexdigest()


def _code_hash() -> str:
    """A hash of the code and the words of ingestion, with those of extensions that take part: another release, or other
    extensions, may produce other stores from the same input."""
    content = blake2b(digest_size=16)
    words = Path(nacre.language.data.__file__).with_name("en") / "ingestion.yaml"
    folders, files = {Path(__file__).parent.parent}, {words}
    for each in extensions():
        taking_part = (each.services.get(name, "") for name in TAKING_PART)
        for place in (*each.tables.values(), *each.documents.values(), *taking_part):
            spec = find_spec(place.partition(":")[0]) if place else None
            if spec is not None and spec.origin is not None:
                # its package, or a module that stands alone
                path = Path(spec.origin)
                (folders.add(path.parent) if spec.parent else files.add(path))
    code = {path for folder in folders for path in folder.rglob("*") if path.suffix in (".py", ".yaml")}
    for path in sorted(files | code):
        content.update(path.read_bytes())
    return content.hexdigest()
