"""Files, folders and patterns given as texts -> documents, each with the name it is cited by."""

import glob
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ingestion.read.documents.load import FORMATS, NOT_READ
from nacre.errors import IngestionError

log = logging.getLogger(__name__)


class DocumentFile(NamedTuple):
    """A file and the name it is cited by."""

    path: Path
    name: str


def find_documents(places: Sequence[str]) -> list[DocumentFile]:
    """The documents that files, folders (searched deeply) and globs stand for, sorted by name.

    A document is named by its path from the folder that was given on, that folder included. Raises IngestionError for
    what is not there, for a folder without any, and for a file of another format that is named itself; in a folder,
    documents of formats that can't be read are kept, to be listed, and other files are passed over.
    """
    found: dict[Path, str] = {}
    for place in places:
        for path in _expand(place):
            if path.is_dir():
                inside = [p for p in sorted(path.rglob("*")) if p.is_file() and not _hidden(p.relative_to(path))]
                documents = [p for p in inside if _is_document(p)]
                if not any(p.suffix.lower() in FORMATS for p in documents):
                    raise IngestionError(f"{place}: no document in this folder ({', '.join(sorted(FORMATS))}).")
                root = path.resolve()
                found.update(
                    {p.resolve(): f"{root.name}/{p.relative_to(path).as_posix()}".lstrip("/") for p in documents}
                )
            elif path.suffix.lower() in FORMATS:
                found.setdefault(path.resolve(), path.name)
            elif not glob.has_magic(place):
                raise IngestionError(
                    f"{path}: can't read {path.suffix or 'a file without extension'} as a document, only"
                    f" {', '.join(sorted(FORMATS))}."
                    f" Convert it first, for example: pandoc {path.name} -o {path.stem}.md"
                )
    names = list(found.values())
    documents_found = [
        DocumentFile(path, name if names.count(name) == 1 else path.as_posix()) for path, name in found.items()
    ]
    return sorted(documents_found, key=lambda document: document.name)


def _expand(place: str) -> list[Path]:
    if Path(place).exists():
        return [Path(place)]
    if glob.has_magic(place):
        if matches := sorted(glob.glob(place, recursive=True)):
            return [Path(match) for match in matches]
        raise IngestionError(f"{place}: no file matches. Check the pattern given to --texts.")
    raise IngestionError(f"{place}: no such file or folder. Check the path given to --texts.")


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _is_document(path: Path) -> bool:
    if path.suffix.lower() in FORMATS or path.suffix.lower() in NOT_READ:
        return True
    log.info("%s is no document, passed over", path)
    return False
