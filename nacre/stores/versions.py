"""The layout of graphs on disk: NAME/versions/<id>/, NAME/vectors/<id>/, NAME/layers/<id>/ (triples extracted from
texts), and the file NAME/current, which names the ids to read. Publishing is one step: pointer -> NAME/current."""

import fcntl
import json
import logging
import os
import re
import shutil
import time
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from nacre.errors import ConfigError
from nacre.stores.addresses import public_address

log = logging.getLogger(__name__)

FORMAT = 4

GRAPH_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")

TABLES, LEXICON, PASSAGES, LEXICAL, SHARD = "graph.sqlite", "lexicon.sqlite", "passages.sqlite", "lexical", "shard"

DOCUMENTS = "documents.sqlite"
# the cells of spreadsheets as they were, and the reports of their sheets
SHEETS = "sheets"
OVERVIEW = "overview.json"

ENDPOINT, SCHEMA = "endpoint.json", "schema.json"

DATABASE, LAYOUT = "database.json", "layout.json"

# where the tables of a version are that lie on a server
SERVER = "tables.json"
EXTRACTED = "extracted.sqlite"
TRIPLES = "triples"

MANIFEST, LOCK, CURRENT, BUILDING, EMBEDDED = "manifest.json", "lock", "current", ".building", "embedded.sqlite"

# the lock of the only writer, which every folder of a graph has that was written
WRITER = ".lock"
LOCK_SECONDS = 2.0
UNDER_WAY = "the vectors are not complete yet, and the other branches answer. nacre index --graph {} completes them"


@dataclass(frozen=True)
class Manifest:
    """The manifest of a version. `inputs` is the hash of all inputs, `texts` counts documents. `unavailable` has the
    reasons for branches that were left out on purpose. `endpoint` is the address of an attached endpoint, `database`
    that of an attached database, `tables` that of the server with the tables (or ""). `base` is the base of relative
    IRIs ("": none was recorded, and each file's address was its own)."""

    version: str
    format: int = FORMAT
    inputs: str = ""
    passages: int = 0
    texts: int = 0
    unavailable: dict[str, str] = field(default_factory=dict)
    endpoint: str = ""
    database: str = ""
    tables: str = ""
    base: str = ""

    @property
    def attached(self) -> str:
        """What the graph is attached to; "" for an ingested graph."""
        # those of earlier releases have the login
        return self.endpoint or (public_address(self.database) if self.database else "")


@dataclass(frozen=True)
class VectorsManifest:
    """The manifest of a set of vectors: the version of its passages, the embedder, the number of vectors. `collection`
    is its name on a Qdrant server (None: in the folder)."""

    version: str
    embedder: str
    collection: str | None = None
    count: int = 0


@dataclass(frozen=True)
class Pointer:
    """What readers open: a version and its set of vectors. If `vectors` is None, they are not ready yet, or `without`
    has the reason for leaving them out. `earlier` is the set of the previous version, from which unchanged vectors are
    copied. `layers` is the id of the extracted triples, "" for none."""

    version: str
    vectors: str | None = None
    earlier: str | None = None
    without: str = ""
    layers: str = ""
    format: int = FORMAT

    def missing_branches(self, name: str) -> dict[str, str]:
        """Why the vectors are unavailable, by branch; empty if they are complete."""
        return {} if self.vectors is not None else {"vector": self.without or UNDER_WAY.format(name)}


def check_name(name: str) -> str:
    """The name, if it is valid for a graph; raises ConfigError otherwise.

    >>> check_name("my-graph")
    'my-graph'
    """
    if not GRAPH_NAME.fullmatch(name):
        # as the page writes it: "faehre-test" for "Fähre Test"
        letters = re.sub("([aou])\u0308", r"\1e", unicodedata.normalize("NFD", name.lower().replace("ß", "ss")))
        accepted = re.sub("[^a-z0-9]+", "-", re.sub("[\u0300-\u036f]", "", letters))[:64].strip("-") or "my-graph"
        allowed = "use up to 64 lower-case letters, digits and hyphens, such as"
        raise ConfigError(f"{name[:80]!r} can't name a graph: {allowed} {accepted}.")
    return name


def version_folder(home: Path, version: str) -> Path:
    """The folder of a version's stores."""
    return home / "versions" / version


def vectors_folder(home: Path, vectors: str) -> Path:
    """The folder of a set of vectors; of one on a server, the folder of its manifest."""
    return home / "vectors" / vectors


def layers_folder(home: Path, layers: str) -> Path:
    """The folder of the extracted layers of a version."""
    return home / "layers" / layers


def read_pointer(home: Path) -> Pointer | None:
    """What readers of the graph in `home` should open; None if there is no graph."""
    try:
        data = json.loads((home / CURRENT).read_text(encoding="utf-8"))
        return Pointer(**{key: value for key, value in data.items() if key in Pointer.__dataclass_fields__})
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, AttributeError, TypeError):
        raise ConfigError(
            f"Graph {home.name!r} is damaged: its file {CURRENT!r} can't be read. "
            f"Run: nacre ingest FILE.ttl --graph {home.name}"
        ) from None


def current_version(home: Path) -> str | None:
    """The version that readers of the graph in `home` should open; None if there is no graph."""
    found = read_pointer(home)
    return found.version if found is not None else None


def remove_damaged_pointer(home: Path) -> None:
    """Remove the file `current` if it can't be read, before it is written again. Only for the graph's only writer."""
    try:
        read_pointer(home)
    except ConfigError as error:
        log.warning("%s", error)
        (home / CURRENT).unlink(missing_ok=True)


def read_manifest(home: Path, version: str) -> Manifest:
    """The manifest of one version; raises FileNotFoundError if it no longer exists."""
    try:
        data = json.loads((version_folder(home, version) / MANIFEST).read_text(encoding="utf-8"))
        if not isinstance(data, dict):
            raise ValueError("it is no object")
    except ValueError as error:
        raise ConfigError(
            f"Graph {home.name!r} is damaged: its file {MANIFEST!r} can't be read. "
            f"Run: nacre ingest FILE.ttl --graph {home.name}"
        ) from error
    if data.get("format") != FORMAT:
        raise ConfigError(
            f"Graph {home.name!r} was written in format {data.get('format')}, this version of nacre reads {FORMAT}."
            f" Run: nacre ingest FILE.ttl --graph {home.name}"
        )
    return Manifest(**{key: value for key, value in data.items() if key in Manifest.__dataclass_fields__})


def read_vectors_manifest(home: Path, vectors: str) -> VectorsManifest:
    """The manifest of a set of vectors; raises FileNotFoundError if it no longer exists."""
    return VectorsManifest(**json.loads((vectors_folder(home, vectors) / MANIFEST).read_text(encoding="utf-8")))


def write_manifest(folder: Path, content: Manifest | VectorsManifest) -> None:
    """Write the manifest into the folder of a version or of a set of vectors."""
    (folder / MANIFEST).write_text(json.dumps(asdict(content), indent=1, sort_keys=True) + "\n", encoding="utf-8")


def pin_folder(folder: Path) -> int | None:
    """Protect a version or a set of vectors from removal until the returned file descriptor is closed or the process
    ends. Returns None if the version is gone or being removed. It writes nothing, so the folder may be read-only."""
    try:
        handle = os.open(folder / LOCK, os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        # the folder may have been removed between opening the file and locking it
        if os.stat(folder / LOCK).st_ino == os.fstat(handle).st_ino:
            return handle
    except (BlockingIOError, FileNotFoundError, NotADirectoryError):
        pass
    os.close(handle)
    return None


@contextmanager
def writer_lock(home: Path, seconds: float = LOCK_SECONDS) -> Iterator[None]:
    """Hold the lock of the only writer of a graph; raises ConfigError if another writer keeps it for `seconds` seconds.

    The wait is needed because a reader holds it for a moment while it removes unused versions.
    """
    with (home / WRITER).open("a") as lock:
        until = time.monotonic() + seconds
        while not (locked := try_lock(lock.fileno())) and time.monotonic() < until:
            time.sleep(0.02)
        if not locked or os.fstat(lock.fileno()).st_nlink == 0:  # the writer before has just removed the graph
            raise ConfigError(
                f"Graph {home.name!r} is being written by another nacre command. Wait until it ends and try again."
            )
        yield


def try_lock(handle: int) -> bool:
    """Whether the lock of an open file, or folder, could be taken, for as long as its descriptor is open."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def remove_unused_versions(home: Path, remove_parts: Callable[[Path], None] = lambda folder: None) -> list[str]:
    """Remove remains of killed builds, and what nobody has open; returns the names. Only for the graph's only writer.
    `remove_parts` removes what is on servers; if it raises ConfigError, the folder stays."""
    present, gone = read_pointer(home), []
    keep = {present.version, present.vectors, present.earlier, present.layers} if present is not None else set()
    for folder in (each for part in ("versions", "vectors", "layers") for each in sorted((home / part).glob("*"))):
        if folder.name in keep or not folder.is_dir():
            continue
        with _unused(folder) as unused:
            if not unused:
                continue
            try:
                remove_parts(folder)
            except ConfigError as error:
                log.warning("%s stays until its parts on servers can be removed: %s", folder.name, error)
                continue
            # rename it first: a partly removed version must not look like a complete one
            aside = folder.with_name(f".gone-{folder.name.strip('.')}{BUILDING}")
            if folder != aside:
                os.rename(folder, aside)
            shutil.rmtree(aside, ignore_errors=True)
            gone.append(folder.name)
    return gone


@contextmanager
def _unused(folder: Path) -> Iterator[bool]:
    try:
        handle = os.open(folder / LOCK, os.O_RDONLY)
    except FileNotFoundError:
        yield True
        return
    try:
        yield try_lock(handle)
    finally:
        os.close(handle)


def switch_version(home: Path, pointer: Pointer) -> None:
    """Switch the readers. The caller is the graph's only writer. Raises OSError."""
    aside = home / f".{CURRENT}"
    aside.write_text(json.dumps(asdict(pointer)) + "\n", encoding="utf-8")
    _flush(aside)
    os.replace(aside, home / CURRENT)
    _flush(home)


def flush_and_rename(folder: Path, place: Path) -> None:
    """Write all files of a folder to disk, then give it its place."""
    for here, _, files in os.walk(folder):
        for file in files:
            _flush(Path(here) / file)
        _flush(Path(here))
    os.rename(folder, place)
    _flush(place.parent)


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
