"""Find RDF sources: files, folders and globs -> RDF files with their base IRIs, and other files."""

import glob
import logging
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
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
# begins the bases of documents, which have their names within the ingest, and no folder of this machine
LOCAL = "nacre-file:///"
# begins the bases in graphs of earlier releases: the addresses of the files
FILE_ADDRESS = "file://"


@dataclass(frozen=True)
class ReadOptions:
    """Options of reading. `strict`: refuse anything that can't be read. `base`: base IRI of all files; one such as
    `nacre-file:///GRAPH/` ("": without a graph) is followed by the name of each file. `contexts`: local copies of
    JSON-LD contexts, by address. `fetch`: download other contexts. `expansion`: how many times its size a file may
    expand to."""

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
    roots: dict[str, str] = {}
    for place in places:
        if place == "-" and stdin_copy is not None:
            files.append(Source(str(stdin_copy), "", STANDARD_INPUT, STANDARD_INPUT))
            continue
        pattern = glob.has_magic(place) and not Path(place).exists()
        matches = sorted(glob.glob(place, recursive=True)) if pattern else [place]
        if not matches:
            raise IngestionError(f"{place}: no file matches. Check the pattern and run nacre ingest again.")
        for path in map(Path, matches):
            root = os.path.abspath(path_before_pattern(place) if pattern else path if path.is_dir() else path.parent)
            if path.is_dir():
                inside = list(_files_in(path))
                rdf = [file for file in inside if file.format]
                if not rdf and not pattern:
                    raise IngestionError(f"{path}: no RDF file in this folder (one of {rdf_endings()}).")
                files += rdf
                roots |= {file.base: root for file in rdf if file.base not in roots}
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
                address = os.path.abspath(path)
                roots.setdefault(address, root)
                files.append(Source(str(path), format_from_name(path.name), str(path), address, named=not pattern))
    if not files:
        raise IngestionError(f"{', '.join(places)}: no RDF file among these (one of {rdf_endings()}).")
    names = names_within(roots)
    based = (file._replace(base=_base(reading.base or LOCAL, file.base, names)) for file in files)
    return Sources(tuple(based), tuple(left), reading)


def names_within(roots: Mapping[str, str]) -> dict[str, str]:
    """Names of files, by their absolute paths: the paths below the `roots` that they were given by. Where two would be
    the same, the paths begin as many folders above those roots as tell them apart.

    >>> names_within({"/home/kim/one/a.ttl": "/home/kim/one", "/home/kim/two/b/c.ttl": "/home/kim/two"}).values()
    dict_values(['a.ttl', 'b/c.ttl'])
    >>> names_within({"/home/kim/one/a.ttl": "/home/kim/one", "/home/kim/two/a.ttl": "/home/kim/two"}).values()
    dict_values(['one/a.ttl', 'two/a.ttl'])
    """
    starts = {root: root for root in roots.values()}
    while True:
        names = {path: path[len(starts[root]) :].lstrip("/") for path, root in roots.items()}
        counts = Counter(names.values())
        if len(counts) == len(names):
            return names
        # for all files of a root, so that links between them keep their targets
        for root in {root for path, root in roots.items() if counts[names[path]] > 1}:
            starts[root] = os.path.dirname(starts[root])


def path_before_pattern(pattern: str) -> Path:
    """The folder before the first wildcard of a pattern."""
    return Path(*takewhile(lambda part: not glob.has_magic(part), Path(pattern).parts))


def base_address(source: Source) -> str:
    """The part of a file's address that its triples may depend on: "" for formats without relative IRIs."""
    return "" if source.format in LINES else source.base


def _files_in(folder: Path) -> Iterator[Source]:
    """The files of a folder, with their absolute paths in the place of their bases."""
    root = folder.resolve()
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        # computed once for each folder, which may have tens of thousands of files
        start, above = os.path.join(here, "").removeprefix("./"), os.path.join(os.path.abspath(here), "")
        for name in sorted(files):
            if not name.startswith("."):
                path = start + name
                if os.path.islink(path) and not Path(path).resolve().is_relative_to(root):
                    log.warning("%s is a link out of the folder and is not read", path)
                    continue
                yield Source(path, format_from_name(name), path, above + name, named=False)


def _base(base: str, path: str, names: Mapping[str, str]) -> str:
    if base == FILE_ADDRESS:
        return base + quote(os.fsencode("/dev/stdin" if path == STANDARD_INPUT else path))
    return base + quote(os.fsencode(names.get(path, "-"))) if base.startswith(LOCAL) and base.endswith("/") else base


def _not_rdf(path: Path) -> Omission:
    return Omission("not RDF", str(path), reason=f"{path.suffix or 'a file without extension'} is no RDF")
