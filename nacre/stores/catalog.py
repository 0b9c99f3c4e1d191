"""The graphs in a data folder: name -> the open stores of one version."""

import difflib
import logging
import os
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from nacre.config.embedder import BUNDLED_EMBEDDER
from nacre.errors import ConfigError, GraphNotFound
from nacre.stores import versions
from nacre.stores.addresses import DatabaseLimits, EndpointLimits
from nacre.stores.graph import Graph as Graph
from nacre.stores.graph import GraphOpener, Servers, damaged_graph_error
from nacre.stores.search.lexical import DamagedIndex, check_sizes, file_sizes
from nacre.stores.search.vectors import Embedder
from nacre.stores.sqlite.lexicon import spellings_folder
from nacre.stores.state.database import StateDatabase
from nacre.stores.state.verified_questions import FILE as VERIFIED_FILE
from nacre.stores.state.verified_questions import VerifiedQuestionStore
from nacre.stores.versions import Pointer

# how long the last known state of a vector server is assumed
REACH_SECONDS = 5.0

# how long closing waits for threads that still read
CLOSE_SECONDS = 1.0

log = logging.getLogger(__name__)


@dataclass
class _OpenGraph:
    """An open graph. `remote` is the id of its vectors if they are on a server, which may be down at times."""

    graph: Graph
    pinned: Sequence[int | None]
    users: int
    remote: str | None = None
    # files that are mapped into memory, and their sizes; reading a truncated one would crash the process
    folder: Path = Path()
    sizes: dict[str, int] = field(default_factory=dict)
    probing: threading.Lock = field(default_factory=threading.Lock)
    probe_at: float = 0.0


class Library:
    """All graphs of a data folder, safe to share between threads. It only writes to remove graphs and unused
    versions. `shared` opens the database of verified questions, if several servers share one."""

    def __init__(
        self,
        data: Path,
        embedder: Embedder | None,
        qdrant_url: str | None = None,
        qdrant_key: str | None = None,
        endpoint_limits: Callable[[str], EndpointLimits] = lambda url: EndpointLimits(),
        database_limits: DatabaseLimits = DatabaseLimits(),  # noqa: B008 (immutable)
        shared: Callable[[], StateDatabase] | None = None,
    ) -> None:
        self.data = data
        self.opener = GraphOpener(data, embedder, qdrant_url, qdrant_key, endpoint_limits, database_limits)
        self.verified = VerifiedQuestionStore(data / VERIFIED_FILE, shared)
        self._servers = Servers(qdrant_url, qdrant_key, database_limits)
        self._open_graphs: dict[tuple[str, str, str | None, str], _OpenGraph] = {}
        self._lock = threading.RLock()
        self._released = threading.Condition(self._lock)

    def warm(self) -> None:
        """Load the bundled embedder now, so that the first question need not wait for it."""
        embedder = self.opener.embedder
        if embedder is not None and embedder.name == BUNDLED_EMBEDDER:
            embedder.embed(["words"])

    def names(self) -> list[str]:
        """The names of the graphs, sorted."""
        try:
            folders = [folder for folder in self.data.iterdir() if versions.GRAPH_NAME.fullmatch(folder.name)]
        except (FileNotFoundError, NotADirectoryError):
            return []
        return sorted(folder.name for folder in folders if (folder / versions.CURRENT).is_file())

    def sizes(self) -> dict[str, int]:
        """The bytes of the tables of each graph that has a file of them."""
        found: dict[str, int] = {}
        for name in self.names():
            with suppress(ConfigError, OSError):
                folder = versions.version_folder(self.data / name, self.current(name))
                found[name] = (folder / versions.TABLES).stat().st_size
        return found

    def resolve(self, name: str | None) -> str:
        """The name of an existing graph; None means the only one. Raises ConfigError with the next command."""
        if name is not None and versions.GRAPH_NAME.fullmatch(name) and (self.data / name / versions.CURRENT).is_file():
            return name
        known = self.names()
        if not known:
            wanted = name if name is not None and versions.GRAPH_NAME.fullmatch(name) else "NAME"
            named = f" named {name!r}" if name is not None else ""
            raise GraphNotFound(f"No graph{named}. Run: nacre ingest FILE.ttl --graph {wanted}", self.data)
        if name is None:
            if len(known) == 1:
                return known[0]
            there = ", ".join(known[:8]) + (" and more" if len(known) > 8 else "")
            raise GraphNotFound(f"Which graph? There are {there}. Name one.", self.data, f"--graph {known[0]}")
        versions.check_name(name)
        near = difflib.get_close_matches(name, known, 1, 0.5)
        hint = f"Did you mean {near[0]!r}?" if near else f"There are {', '.join(known[:8])}."
        raise GraphNotFound(f"No graph named {name!r}. {hint} Run: nacre ingest FILE.ttl --graph {name}", self.data)

    def current(self, name: str) -> str:
        """The version that a new turn should open."""
        return self._current_pointer(name).version

    def has_sparql(self) -> bool:
        """Whether a graph can be queried in SPARQL, here or at an endpoint. Damaged graphs are passed over."""
        for name in self.names():
            try:
                version = self.current(name)
                manifest = versions.read_manifest(self.data / name, version)
            except ConfigError as error:
                log.info("graph %s is passed over: %s", name, error)
                continue
            if manifest.endpoint or (versions.version_folder(self.data / name, version) / versions.TRIPLES).is_dir():
                return True
        return False

    def missing_branches(self, name: str) -> dict[str, str]:
        """Why branches of the current version are missing or not ready yet, by branch."""
        present = self._current_pointer(name)
        return present.missing_branches(name) | versions.read_manifest(self.data / name, present.version).unavailable

    def open(self, name: str, version: str | None = None, vectors: str | None = None, layers: str = "") -> Graph:
        """Open the stores of a version (None: the current one). All callers share them; close each with `close`.

        No process removes an open version or its vectors. A turn that is resumed passes the vectors and the layers it
        started with. Raises ConfigError if the version no longer exists.
        """
        for _ in range(5):
            wanted = self._current_pointer(name)
            with self._lock:
                held = (
                    self._find_open(name, version, vectors, layers)
                    if version
                    else self._open_graphs.get(_key(name, wanted))
                )
                held = held or self._open_version(name, wanted, version)
                if held is not None:
                    try:
                        check_sizes(held.folder, held.sizes, gone=True)
                    except DamagedIndex as error:
                        raise damaged_graph_error(name, error) from error
                    held.users += 1
                    if version is None:
                        self._close_older(name, wanted)
            if held is not None:
                if version is None or not held.probe_at:
                    self._probe_server(held)
                return held.graph
            if version is not None:
                break
        gone = version or wanted.version
        raise ConfigError(f"Version {gone} of graph {name!r} is gone. Ask again to use the present one.")

    def remove(self, name: str) -> None:
        """Remove a graph, or what an interrupted removal or ingest left of it. Files of a version that is open stay
        until the next ingest of that name. Raises OSError."""
        home = self.data / versions.check_name(name)
        if not (home / versions.WRITER).is_file():
            self.resolve(name)
        with self._lock:
            for key in [key for key, held in self._open_graphs.items() if key[0] == name and held.users == 0]:
                self._close_stores(self._open_graphs.pop(key))
        with versions.writer_lock(home):
            (home / versions.CURRENT).unlink(missing_ok=True)
            versions.remove_unused_versions(home, self._servers.remove_parts)
            parts = [folder for part in ("versions", "vectors", "layers") for folder in (home / part).glob("*")]
            if not any(folder.is_dir() for folder in parts):
                shutil.rmtree(home, ignore_errors=True)

    def close(self) -> None:
        """Close all graphs; do not use them afterwards. It waits briefly for abandoned work, since no connection should
        be closed while another thread reads from it."""
        with self._lock:
            self._released.wait_for(lambda: not any(held.users for held in self._open_graphs.values()), CLOSE_SECONDS)
            for held in self._open_graphs.values():
                self._close_stores(held)
            self._open_graphs.clear()
        self.verified.close()

    def _current_pointer(self, name: str) -> Pointer:
        found = versions.read_pointer(self.data / self.resolve(name))
        if found is None:
            raise GraphNotFound(f"No graph named {name!r}. Run: nacre ingest FILE.ttl --graph {name}", self.data)
        return found

    def _find_open(self, name: str, version: str, vectors: str | None, layers: str) -> _OpenGraph | None:
        """The open graph of a version with these vectors and layers, else with any."""
        exact = self._open_graphs.get((name, version, vectors, layers))
        return exact or next((held for key, held in self._open_graphs.items() if key[:2] == (name, version)), None)

    def _open_version(self, name: str, present: Pointer, version: str | None) -> _OpenGraph | None:
        """Open the current version, or another one without its vectors; None if it no longer exists."""
        wanted = present if version in (None, present.version) else Pointer(version or "", without="an earlier version")
        home = self.data / name
        folders = [versions.version_folder(home, wanted.version)]
        folders += [versions.vectors_folder(home, wanted.vectors)] if wanted.vectors is not None else []
        folders += [versions.layers_folder(home, wanted.layers)] if wanted.layers else []
        # without its vectors a version has one branch less, but it still exists
        pinned = [versions.pin_folder(folder) for folder in folders if folder.exists()]
        if not folders[0].exists() or None in pinned or versions.read_pointer(home) != present:
            _unpin(pinned)
            return None
        try:
            graph = self.opener.open_stores(name, wanted, versions.read_manifest(home, wanted.version), folders[0])
        except BaseException:
            _unpin(pinned)
            raise
        graph.verified = self.verified
        remote = graph.vector_set if graph.vectors is None and "vector" not in graph.unavailable else None
        words = spellings_folder(folders[0] / versions.LEXICON)
        mapped = [versions.TABLES, versions.LEXICON, *(f"{words.name}/{file.name}" for file in words.iterdir())]
        held = _OpenGraph(graph, pinned, 0, remote, folders[0], file_sizes(folders[0], mapped))
        self._open_graphs[_key(name, wanted)] = held
        graph.release = partial(self._release, held)
        return held

    def _probe_server(self, held: _OpenGraph) -> None:
        """Check now and then whether the server with a graph's vectors answers. Concurrent callers use the last known
        state, and only wait if there is none yet."""
        if held.remote is None or not held.probing.acquire(blocking=not held.probe_at):
            return
        try:
            graph = held.graph
            if time.monotonic() < held.probe_at and not (graph.vectors and graph.vectors.failed):
                return
            try:
                graph.vectors = self.opener.open_vectors(graph.name, held.remote)
                graph.unavailable.pop("vector", None)
            except Exception as error:  # the client raises its own kinds of errors
                log.warning("graph %s: vector is unavailable: %s", graph.name, error)
                graph.vectors = None
                graph.unavailable["vector"] = str(error)
            held.probe_at = time.monotonic() + REACH_SECONDS
        finally:
            held.probing.release()

    def _release(self, held: _OpenGraph) -> None:
        with self._lock:
            held.users = max(0, held.users - 1)
            self._released.notify_all()

    def _close_older(self, name: str, present: Pointer) -> None:
        """Close older versions that nobody uses, and remove those that no other process has open either."""
        here = _key(name, present)
        idle = [key for key, held in self._open_graphs.items() if key[0] == name and key != here and held.users == 0]
        for key in idle:
            self._close_stores(self._open_graphs.pop(key))
        if idle:
            with suppress(OSError, ConfigError), versions.writer_lock(self.data / name, seconds=0):
                versions.remove_unused_versions(self.data / name, self._servers.remove_parts)

    def _close_stores(self, held: _OpenGraph) -> None:
        graph = held.graph
        stores = (
            graph.vectors,
            graph.triples,
            graph.passages,
            graph.documents,
            graph.lexicon,
            graph.stored,
            graph.remote,
            graph.extracted,
        )
        for store in stores:
            if store is not None:
                store.close()
        _unpin(held.pinned)


def _key(name: str, pointer: Pointer) -> tuple[str, str, str | None, str]:
    return name, pointer.version, pointer.vectors, pointer.layers


def _unpin(pinned: Sequence[int | None]) -> None:
    for each in pinned:
        if each is not None:
            os.close(each)
