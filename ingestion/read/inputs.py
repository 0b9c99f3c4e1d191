"""What an ingest is given: sources and texts as typed -> files, and one hash of all that is in them."""

import glob
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from hashlib import blake2b
from pathlib import Path

from ingestion.read.parse import find_files
from ingestion.verbalise.texts import Document
from records.errors import IngestionError
from stores.versions import FORMAT

_KEPT = re.compile(r"\S*/nacre-stdin-\w+/standard input")
NOT_RDF = frozenset({".md", ".markdown", ".pdf", ".doc", ".docx", ".odt", ".csv", ".tsv", ".xlsx", ".sqlite", ".zip"})


@contextmanager
def rdf_files(sources: Sequence[str]) -> Iterator[list[Path]]:
    """The RDF files that the sources stand for; standard input is first kept in a file, since it is read twice."""
    paths: list[Path] = []
    with ExitStack() as stack:
        for source in sources:
            if source == "-":
                folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="nacre-stdin-"))
                kept = Path(folder) / "standard input"
                with kept.open("wb") as copy:
                    shutil.copyfileobj(sys.stdin.buffer, copy)
                paths.append(kept)
            elif glob.has_magic(source) and not Path(source).exists():
                matches = sorted(glob.glob(source, recursive=True))
                if not matches:
                    raise IngestionError(f"{source}: no file matches. Check the pattern and run nacre ingest again.")
                paths += [Path(match) for match in matches]
            else:
                paths.append(Path(source))
        files = list(find_files(paths))
        for file in files:
            if not file.is_file():
                raise IngestionError(f"{file}: no such file. Check the path and run nacre ingest again.")
            if file.suffix.lower() in NOT_RDF:
                raise IngestionError(
                    f"{file}: {file.suffix} is no RDF. Give a .ttl or .nt file; documents go to --texts."
                )
        try:
            yield files
        except IngestionError as error:
            raise IngestionError(_KEPT.sub("standard input", str(error))) from error.__cause__


def fingerprint(files: Sequence[Path], documents: Sequence[Document], annotations: Path | None) -> str:
    """A hash of what the files hold, in their order, and of what will be made of it; RDF files may be renamed."""
    total = blake2b(f"format {FORMAT} {_makers()}\n".encode(), digest_size=16)
    parts = [("rdf", "".join(file.suffixes[-2:]).lower(), file) for file in files]
    parts += [("text", document.name, document.path) for document in documents]
    parts += [("annotations", "", annotations)] if annotations is not None else []
    for kind, name, path in parts:
        content = blake2b(digest_size=16)
        try:
            with path.open("rb") as file:
                while block := file.read(1 << 20):
                    content.update(block)
        except OSError as error:
            raise IngestionError(f"{path}: can't be read ({error.strerror}).") from None
        total.update(f"{kind}\0{name}\0{content.hexdigest()}\n".encode())
    return total.hexdigest()


def _makers() -> str:
    """A hash of the stages themselves: another release may make something else of the same input."""
    content = blake2b(digest_size=16)
    for path in sorted(Path(__file__).parent.glob("*.py")):
        content.update(path.read_bytes())
    return content.hexdigest()
