"""How graphs lie on disk: NAME/versions/<id>/, its vectors in NAME/vectors/<id>/, what was extracted from its texts in
NAME/layers/<id>/, and the file NAME/current that names the ones to read."""

import fcntl
import json
import logging
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from nacre.errors import ConfigError

log = logging.getLogger(__name__)

FORMAT = 4
GRAPH_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
TABLES, LEXICON, PASSAGES, LEXICAL, SHARD = "graph.sqlite", "lexicon.sqlite", "passages.sqlite", "lexical", "shard"
DOCUMENTS = "documents.sqlite"
ENDPOINT, SCHEMA = "endpoint.json", "schema.json"
EXTRACTED = "extracted.sqlite"
TRIPLES = "triples"
MANIFEST, LOCK, CURRENT, BUILDING, EMBEDDED = "manifest.json", "lock", "current", ".building", "embedded.sqlite"
LOCK_SECONDS = 2.0
UNDER_WAY = "the vectors are not complete yet, and the other branches answer. nacre index --graph {} completes them"


@dataclass(frozen=True)
class Manifest:
    """What a version is made of. `inputs` is the hash of all that went in; `texts` counts documents; `unavailable` says
    why a branch was left out on purpose; `endpoint` is the address of a graph that lies elsewhere."""

    version: str
    format: int = FORMAT
    inputs: str = ""
    passages: int = 0
    texts: int = 0
    unavailable: dict[str, str] = field(default_factory=dict)
    endpoint: str = ""


@dataclass(frozen=True)
class VectorsManifest:
    """What a set of vectors is made of: of which version's passages, by which embedder, how many. `collection` names it
    on a Qdrant server (None: in the folder)."""

    version: str
    embedder: str
    collection: str | None = None
    count: int = 0


@dataclass(frozen=True)
class Pointer:
    """What readers open: a version and its set of vectors. Where `vectors` is None, they are under way, or `without`
    says why there are none; `earlier` is the set of the version before, from which unchanged vectors are copied;
    `layers` are the triples that were extracted from its texts, and the tables completed by them, "" for none."""

    version: str
    vectors: str | None = None
    earlier: str | None = None
    without: str = ""
    layers: str = ""
    format: int = FORMAT

    def lacks(self, name: str) -> dict[str, str]:
        """Why the vectors can't be asked, by branch; empty where they are complete."""
        return {} if self.vectors is not None else {"vector": self.without or UNDER_WAY.format(name)}


def check_name(name: str) -> str:
    """The name, if a graph may have it.

    >>> check_name("my-graph")
    'my-graph'
    """
    if not GRAPH_NAME.fullmatch(name):
        raise ConfigError(
            f"{name[:80]!r} can't name a graph: use up to 64 lower-case letters, digits and hyphens, such as my-graph."
        )
    return name


def version_folder(home: Path, version: str) -> Path:
    """Where the stores of a version lie."""
    return home / "versions" / version


def vectors_folder(home: Path, vectors: str) -> Path:
    """Where a set of vectors lies; of one on a server, its manifest."""
    return home / "vectors" / vectors


def layers_folder(home: Path, layers: str) -> Path:
    """Where the extracted layers of a version lie."""
    return home / "layers" / layers


def read_pointer(home: Path) -> Pointer | None:
    """What readers of the graph in `home` should open; None where there is no graph."""
    try:
        data = json.loads((home / CURRENT).read_text(encoding="utf-8"))
        return Pointer(**{key: value for key, value in data.items() if key in Pointer.__dataclass_fields__})
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, AttributeError, TypeError):
        raise ConfigError(f"{home / CURRENT} is damaged. Run: nacre ingest FILE.ttl --graph {home.name}") from None


def current_version(home: Path) -> str | None:
    """The version that readers of the graph in `home` should open; None where there is no graph."""
    found = read_pointer(home)
    return found.version if found is not None else None


def remove_damaged_pointer(home: Path) -> None:
    """Remove a file `current_version` that can't be read, before it is written anew; the caller is the graph's only
    writer."""
    try:
        read_pointer(home)
    except ConfigError as error:
        log.warning("%s", error)
        (home / CURRENT).unlink(missing_ok=True)


def read_manifest(home: Path, version: str) -> Manifest:
    """The manifest of one version; FileNotFoundError if it is gone."""
    data: dict[str, Any] = json.loads((version_folder(home, version) / MANIFEST).read_text(encoding="utf-8"))
    if data.get("format") != FORMAT:
        raise ConfigError(
            f"Graph {home.name!r} was written in format {data.get('format')}, this version of nacre reads {FORMAT}."
            f" Run: nacre ingest FILE.ttl --graph {home.name}"
        )
    return Manifest(**{key: value for key, value in data.items() if key in Manifest.__dataclass_fields__})


def read_vectors_manifest(home: Path, vectors: str) -> VectorsManifest:
    """The manifest of a set of vectors; FileNotFoundError if it is gone."""
    return VectorsManifest(**json.loads((vectors_folder(home, vectors) / MANIFEST).read_text(encoding="utf-8")))


def write_manifest(folder: Path, content: Manifest | VectorsManifest) -> None:
    """Write the manifest into the folder of a version or of a set of vectors."""
    (folder / MANIFEST).write_text(json.dumps(asdict(content), indent=1, sort_keys=True) + "\n", encoding="utf-8")


def pin_folder(folder: Path) -> int | None:
    """Keep a version or a set of vectors from removal while the returned file descriptor is open, at most as long as
    this process lives.

    None where the version is gone or being removed. Writes nothing: the folder may be read-only.
    """
    try:
        handle = os.open(folder / LOCK, os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        # the folder may have gone between opening the file and locking it
        if os.stat(folder / LOCK).st_ino == os.fstat(handle).st_ino:
            return handle
    except (BlockingIOError, FileNotFoundError, NotADirectoryError):
        pass
    os.close(handle)
    return None


@contextmanager
def writer_lock(home: Path, patience: float = LOCK_SECONDS) -> Iterator[None]:
    """Alone among writers of this graph; raises ConfigError if there is another one for `patience` seconds.

    A reader that removes the version it has just left holds a graph for a moment, and must not end an ingest.
    """
    with (home / ".lock").open("a") as lock:
        until = time.monotonic() + patience
        while not (taken := _takes(lock)) and time.monotonic() < until:
            time.sleep(0.02)
        if not taken or os.fstat(lock.fileno()).st_nlink == 0:  # the writer before has just removed the graph
            raise ConfigError(
                f"Graph {home.name!r} is being written by another nacre command. Wait until it ends and try again."
            )
        yield


def _takes(lock: IO[str]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def remove_unused_versions(home: Path, dropped: Callable[[str], None] = lambda collection: None) -> list[str]:
    """Remove what killed builds left, and the versions and vectors that nobody holds; the caller is the graph's only
    writer.

    `dropped` is called with the remote collection of each set of vectors that goes. Returns the names of what went.
    """
    present, gone = read_pointer(home), []
    keep = {present.version, present.vectors, present.earlier, present.layers} if present is not None else set()
    for folder in (each for part in ("versions", "vectors", "layers") for each in sorted((home / part).glob("*"))):
        if folder.name in keep or not folder.is_dir():
            continue
        with _alone(folder) as alone:
            if not alone:
                continue
            try:
                collection = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["collection"]
            except (OSError, ValueError, KeyError, TypeError):
                collection = None
            if collection is not None:
                try:
                    dropped(collection)
                except ConfigError as error:
                    log.warning("%s stays until its vectors can be removed: %s", folder, error)
                    continue
            # first out of the way: a half-removed version must not look like a whole one
            aside = folder.with_name(f".gone-{folder.name.strip('.')}{BUILDING}")
            if folder != aside:
                os.rename(folder, aside)
            shutil.rmtree(aside, ignore_errors=True)
            gone.append(folder.name)
    return gone


@contextmanager
def _alone(folder: Path) -> Iterator[bool]:
    try:
        handle = os.open(folder / LOCK, os.O_RDONLY)
    except FileNotFoundError:
        yield True
        return
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(handle)
