"""Find documents: files, folders and globs -> document files, each with the name it is cited by."""

import glob
import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ingestion.read.documents.read_document import READABLE_FORMATS, UNREADABLE_FORMATS
from ingestion.read.sources import names_within, path_before_pattern
from nacre.errors import IngestionError

log = logging.getLogger(__name__)


class DocumentFile(NamedTuple):
    """A file and the name it is cited by. `source` is where its text comes from if that is not the file."""

    path: Path
    name: str
    source: str = ""


def find_documents(places: Sequence[str], loaded: Sequence[DocumentFile] = ()) -> list[DocumentFile]:
    """The documents in files, folders (searched recursively) and globs, and those that a loader returned, by name.

    A document is named by its path relative to the parent of the given folder. Raises IngestionError for missing
    places, for folders without documents, and for explicitly named files of another format. In folders, documents of
    formats that can't be read are returned too, so that they are reported; other files are ignored.
    """
    # with the path that it is named by, and the root of that
    found: dict[Path, tuple[str, str]] = {}
    for place in places:
        for path in _expand(place):
            pattern = glob.has_magic(place) and not Path(place).exists()
            if pattern and _leads_out(path, path_before_pattern(place).resolve()):
                continue
            if path.is_dir():
                found |= _documents_in(path, place)
            elif path.suffix.lower() in READABLE_FORMATS:
                found.setdefault(_readable_path(path), (os.path.abspath(path), os.path.abspath(path.parent)))
            elif not glob.has_magic(place):
                raise IngestionError(
                    f"{path}: can't read {path.suffix or 'a file without extension'} as a document, only"
                    f" {', '.join(sorted(READABLE_FORMATS))}."
                    f" Convert it first, for example: pandoc {path.name} -o {path.stem}.md"
                )
    names = names_within(dict(found.values()))
    documents = [DocumentFile(path, names[written]) for path, (written, _) in found.items()]
    taken = {document.name for document in documents}
    renamed = [each._replace(name=f"{each.name} (loaded)") if each.name in taken else each for each in loaded]
    return sorted([*documents, *renamed], key=lambda document: document.name)


def _documents_in(folder: Path, place: str) -> dict[Path, tuple[str, str]]:
    """The documents in a folder, by path, with the paths that they are named by."""
    inside = folder.resolve()
    files = [p for p in sorted(folder.rglob("*")) if p.is_file() and not _is_hidden(p.relative_to(folder))]
    documents = [p for p in files if _is_document(p) and not _leads_out(p, inside)]
    if not any(p.suffix.lower() in READABLE_FORMATS for p in documents):
        raise IngestionError(f"{place}: no document in this folder ({', '.join(sorted(READABLE_FORMATS))}).")
    return {_readable_path(p): (str(inside / p.relative_to(folder)), str(inside.parent)) for p in documents}


def _readable_path(path: Path) -> Path:
    """The file that a path leads to, or the path itself if only its own name says the format."""
    target = path.resolve()
    return target if _is_document(target) else path.absolute()


def _expand(place: str) -> list[Path]:
    if Path(place).exists():
        return [Path(place)]
    if glob.has_magic(place):
        if matches := sorted(glob.glob(place, recursive=True)):
            return [Path(match) for match in matches]
        raise IngestionError(f"{place}: no file matches. Check the pattern given to --texts.")
    raise IngestionError(f"{place}: no such file or folder. Check the path given to --texts.")


def _leads_out(path: Path, folder: Path) -> bool:
    """Whether a path leads by a link out of its folder, or to a hidden file in it: such a file was not given."""
    target = path.resolve()
    if target.is_relative_to(folder) and (not _is_hidden(target.relative_to(folder)) or not path.is_symlink()):
        return False
    log.warning("%s is a link out of the folder and is not read", path)
    return True


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _is_document(path: Path) -> bool:
    if path.suffix.lower() in READABLE_FORMATS or path.suffix.lower() in UNREADABLE_FORMATS:
        return True
    log.info("%s is not a document and is ignored", path)
    return False
