"""Find RDF sources: files, folders and globs -> RDF files with their base IRIs, and other files."""

import glob
import logging
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from ingestion.read.expansion import DEFAULT_EXPANSION
from ingestion.read.formats import LINES, format_from_name, rdf_endings
from ingestion.read.omissions import Omission
from nacre.errors import IngestionError

log = logging.getLogger(__name__)

NOT_RDF = frozenset({".md", ".markdown", ".pdf", ".doc", ".docx", ".odt", ".csv", ".tsv", ".xlsx", ".sqlite", ".zip"})
STANDARD_INPUT = "standard input"
_PLAIN = re.compile(r"[\w.-]+", re.ASCII)


@dataclass(frozen=True)
class ReadOptions:
    """Options of reading. `strict`: refuse anything that can't be read. `base`: base IRI instead of the file's address.
    `contexts`: local copies of JSON-LD contexts, by address. `fetch`: download other contexts. `expansion`: how many
    times its size a file may expand to."""

    strict: bool = False
    base: str = ""
    contexts: Mapping[str, Path] = field(default_factory=dict)
    fetch: bool = False
    expansion: int = DEFAULT_EXPANSION


class Source(NamedTuple):
    """A file, the format by its name ("" if unknown), its name in messages, its base IRI, and whether the user named it
    explicitly instead of a folder or a glob."""

    path: str
    format: str
    name: str
    base: str
    named: bool = True


@dataclass(frozen=True)
class Sources:
    """The files to read, in order, and the files in the same folders that are not RDF."""

    files: tuple[Source, ...]
    left: tuple[Omission, ...] = ()
    reading: ReadOptions = ReadOptions()


def find_sources(places: Sequence[str], reading: ReadOptions, stdin_copy: Path | None = None) -> Sources:
    """The RDF files of the given places. Folders are searched recursively in alphabetical order, without hidden files.

    `stdin_copy` is a copy of standard input, for "-". Raises IngestionError for missing files and other formats.
    """
    if not places:
        raise IngestionError("No source given. Run: nacre ingest FILE.ttl --graph NAME")
    files: list[Source] = []
    left: list[Omission] = []
    for place in places:
        if place == "-" and stdin_copy is not None:
            files.append(Source(str(stdin_copy), "", STANDARD_INPUT, reading.base or "file:///dev/stdin"))
            continue
        pattern = glob.has_magic(place) and not Path(place).exists()
        matches = sorted(glob.glob(place, recursive=True)) if pattern else [place]
        if not matches:
            raise IngestionError(f"{place}: no file matches. Check the pattern and run nacre ingest again.")
        for path in map(Path, matches):
            if path.is_dir():
                inside = list(_files_in(path, reading))
                rdf = [file for file in inside if file.format]
                if not rdf and not pattern:
                    raise IngestionError(f"{path}: no RDF file in this folder (one of {rdf_endings()}).")
                files += rdf
                left += [_not_rdf(Path(file.path)) for file in inside if not file.format]
            elif path.suffix.lower() in NOT_RDF:
                if not pattern:
                    raise IngestionError(
                        f"{path}: {path.suffix} is no RDF. Give a .ttl or .nt file; documents go to --texts."
                    )
                left.append(_not_rdf(path))
            elif not path.is_file():
                raise IngestionError(f"{path}: no such file. Check the path and run nacre ingest again.")
            else:
                files.append(_source(path, reading, named=not pattern))
    if not files:
        raise IngestionError(f"{', '.join(places)}: no RDF file among these (one of {rdf_endings()}).")
    return Sources(tuple(files), tuple(left), reading)


def base_address(source: Source) -> str:
    """The part of a file's address that its triples may depend on: "" for formats without relative IRIs."""
    return "" if source.format in LINES else source.base


def _files_in(folder: Path, reading: ReadOptions) -> Iterator[Source]:
    root = folder.resolve()
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        # computed once for each folder, which may have tens of thousands of files
        start, base = os.path.join(here, "").removeprefix("./"), _base(here).rstrip("/")
        for name in sorted(files):
            if not name.startswith("."):
                path = start + name
                if os.path.islink(path) and not Path(path).resolve().is_relative_to(root):
                    log.warning("%s is a link out of the folder and is not read", path)
                    continue
                written = name if _PLAIN.fullmatch(name) else quote(name)
                yield Source(path, format_from_name(name), path, reading.base or f"{base}/{written}", named=False)


def _source(path: Path, reading: ReadOptions, named: bool) -> Source:
    return Source(str(path), format_from_name(path.name), str(path), reading.base or _base(path), named)


def _base(path: str | Path) -> str:
    return f"file://{quote(os.path.abspath(path))}"


def _not_rdf(path: Path) -> Omission:
    return Omission("not RDF", str(path), reason=f"{path.suffix or 'a file without extension'} is no RDF")
