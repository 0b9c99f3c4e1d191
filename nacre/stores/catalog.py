"""The graphs in a data folder: a name -> its stores, opened, of one version."""

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
from nacre.stores.graph import Graph as Graph
from nacre.stores.opener import GraphOpener, damaged_graph_error
from nacre.stores.search.file_integrity import DamagedIndex, check_sizes, file_sizes
from nacre.stores.search.vector_sets import drop_collection
from nacre.stores.search.vectors import Embedder
from nacre.stores.sparql.endpoint_limits import EndpointLimits
from nacre.stores.sqlite.lexicon_file import spellings_folder
from nacre.stores.versions import Pointer

# how long it is taken for granted that a server with vectors serves, or not
REACH_SECONDS = 5.0
# how long what is given up waits for those who still read from it
LAST_SECONDS = 1.0
log = logging.getLogger(__name__)


@dataclass
class _Held:
    """A graph that is open. `remote` are its vectors where they are on a server, which may come and go."""

    graph: Graph
    pinned: Sequence[int | None]
    users: int
    remote: str | None = None
    # the files that are read where they lie, and how large they are; one that is cut short would be fatal to read
    folder: Path = Path()
    sizes: dict[str, int] = field(default_factory=dict)
    reaching: threading.Lock = field(default_factory=threading.Lock)
    reach_at: float = 0.0


class Library:
    """All graphs of a data folder. Safe to share between threads; reads only, except `remove` and tidying up."""

    def __init__(
        self,
        data: Path,
        embedder: Embedder | None,
        qdrant_url: str | None = None,
        qdrant_key: str | None = None,
        manners: Callable[[str], EndpointLimits] = lambda url: EndpointLimits(),
    ) -> None:
        self.data = data
        self.opener = GraphOpener(data, embedder, qdrant_url, qdrant_key, manners)
        self._held: dict[tuple[str, str, str | None, str], _Held] = {}
        self._lock = threading.RLock()
        self._given_back = threading.Condition(self._lock)

    def warm(self) -> None:
        """Load the embedder that comes with Nacre now, for which the first question would wait."""
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

    def resolve(self, name: str | None) -> str:
        """The name of a graph that exists; None stands for the only one. Raises ConfigError with the next command."""
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
            raise GraphNotFound(f"Which graph? There are {', '.join(known)}. Add: --graph {known[0]}", self.data)
        versions.check_name(name)
        near = difflib.get_close_matches(name, known, 1, 0.5)
        hint = f"Did you mean {near[0]!r}?" if near else f"There are {', '.join(known[:8])}."
        raise GraphNotFound(f"No graph named {name!r}. {hint} Run: nacre ingest FILE.ttl --graph {name}", self.data)

    def current(self, name: str) -> str:
        """The version that a new turn should read."""
        return self._present(name).version

    def lacks(self, name: str) -> dict[str, str]:
        """What the current version of a graph was made without, or not yet has, and why, by branch."""
        present = self._present(name)
        return present.lacks(name) | versions.read_manifest(self.data / name, present.version).unavailable

    def open(self, name: str, version: str | None = None, vectors: str | None = None, layers: str = "") -> Graph:
        """The stores of a version (None: the current one), shared by all who open it; give each back with `close`.

        An open version is not removed, by any process, nor are its vectors. A turn that goes on names the set of
        vectors and the layers it began with. Raises ConfigError if a version that was asked for is gone.
        """
        for _ in range(5):
            wanted = self._present(name)
            with self._lock:
                held = self._found(name, version, vectors, layers) if version else self._held.get(_key(name, wanted))
                held = held or self._hold(name, wanted, version)
                if held is not None:
                    _check(held)
                    held.users += 1
                    if version is None:
                        self._let_go(name, wanted)
            if held is not None:
                if version is None or not held.reach_at:
                    self._reach(held)
                return held.graph
            if version is not None:
                break
        gone = version or wanted.version
        raise ConfigError(f"Version {gone} of graph {name!r} is gone. Ask again to use the present one.")

    def remove(self, name: str) -> None:
        """Remove a graph; the files of a version that somebody reads stay until the next ingest of that name."""
        home = self.data / self.resolve(name)
        with self._lock:
            for key in [key for key, held in self._held.items() if key[0] == name and held.users == 0]:
                self._shut(self._held.pop(key))
        try:
            with versions.writer_lock(home):
                (home / versions.CURRENT).unlink(missing_ok=True)
                versions.remove_unused_versions(home, self._drop)
                left = [folder for folder in (home / "versions").glob("*") if folder.is_dir()]
                left += [folder for folder in (home / "vectors").glob("*") if folder.is_dir()]
                left += [folder for folder in (home / "layers").glob("*") if folder.is_dir()]
            if not left:
                shutil.rmtree(home, ignore_errors=True)
        except OSError as error:
            raise ConfigError(f"Can't remove {home}: {error.strerror}. Check who may write there.") from error

    def close(self) -> None:
        """Give up everything; graphs that were opened here must not be used any more. Work that nobody waits for has a
        moment to end, as no connection should be closed while another thread reads from it."""
        with self._lock:
            self._given_back.wait_for(lambda: not any(held.users for held in self._held.values()), LAST_SECONDS)
            for held in self._held.values():
                self._shut(held)
            self._held.clear()

    def _present(self, name: str) -> Pointer:
        found = versions.read_pointer(self.data / self.resolve(name))
        if found is None:
            raise GraphNotFound(f"No graph named {name!r}. Run: nacre ingest FILE.ttl --graph {name}", self.data)
        return found

    def _found(self, name: str, version: str, vectors: str | None, layers: str) -> _Held | None:
        """What is open of a version: with these vectors and layers, else with any."""
        exact = self._held.get((name, version, vectors, layers))
        return exact or next((held for key, held in self._held.items() if key[:2] == (name, version)), None)

    def _hold(self, name: str, present: Pointer, version: str | None) -> _Held | None:
        """Open the version that is present, or another one without its vectors; None where it is gone."""
        wanted = present if version in (None, present.version) else Pointer(version or "", without="an earlier version")
        home = self.data / name
        folders = [versions.version_folder(home, wanted.version)]
        folders += [versions.vectors_folder(home, wanted.vectors)] if wanted.vectors is not None else []
        folders += [versions.layers_folder(home, wanted.layers)] if wanted.layers else []
        # vectors that somebody has removed are one branch less, not a version that is gone
        pinned = [versions.pin_folder(folder) for folder in folders if folder.exists()]
        if not folders[0].exists() or None in pinned or versions.read_pointer(home) != present:
            _unpin(pinned)
            return None
        try:
            graph = self.opener.stores(name, wanted, versions.read_manifest(home, wanted.version), folders[0])
        except BaseException:
            _unpin(pinned)
            raise
        remote = graph.vector_set if graph.vectors is None and "vector" not in graph.unavailable else None
        words = spellings_folder(folders[0] / versions.LEXICON)
        mapped = [versions.TABLES, versions.LEXICON, *(f"{words.name}/{file.name}" for file in words.iterdir())]
        held = _Held(graph, pinned, 0, remote, folders[0], file_sizes(folders[0], mapped))
        self._held[_key(name, wanted)] = held
        graph.give_back = partial(self._give_back, held)
        return held

    def _reach(self, held: _Held) -> None:
        """See whether the server with the vectors of a graph serves, now and then. Who comes meanwhile takes what was
        seen before, and waits only where that is nothing yet."""
        if held.remote is None or not held.reaching.acquire(blocking=not held.reach_at):
            return
        try:
            graph = held.graph
            if time.monotonic() < held.reach_at and not (graph.vectors and graph.vectors.failed):
                return
            try:
                graph.vectors = self.opener.vectors(graph.name, held.remote)
                graph.unavailable.pop("vector", None)
            except Exception as error:  # a client of a server raises kinds of its own
                log.warning("graph %s: vector is unavailable: %s", graph.name, error)
                graph.vectors = None
                graph.unavailable["vector"] = str(error)
            held.reach_at = time.monotonic() + REACH_SECONDS
        finally:
            held.reaching.release()

    def _give_back(self, held: _Held) -> None:
        with self._lock:
            held.users = max(0, held.users - 1)
            self._given_back.notify_all()

    def _let_go(self, name: str, present: Pointer) -> None:
        """Close the older versions that nobody uses, and remove those that no other process reads either."""
        here = _key(name, present)
        idle = [key for key, held in self._held.items() if key[0] == name and key != here and held.users == 0]
        for key in idle:
            self._shut(self._held.pop(key))
        if idle:
            with suppress(OSError, ConfigError), versions.writer_lock(self.data / name, patience=0):
                versions.remove_unused_versions(self.data / name, self._drop)

    def _shut(self, held: _Held) -> None:
        graph = held.graph
        stores = (
            graph.vectors,
            graph.triples,
            graph.lexical,
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

    def _drop(self, collection: str) -> None:
        drop_collection(self.opener.qdrant_url, self.opener.qdrant_key, collection)


def _check(held: _Held) -> None:
    """Raises ConfigError where a file of a graph that is open was cut short; what is gone stays readable."""
    try:
        check_sizes(held.folder, held.sizes, gone=True)
    except DamagedIndex as error:
        raise damaged_graph_error(held.graph.name, error) from error


def _key(name: str, pointer: Pointer) -> tuple[str, str, str | None, str]:
    return name, pointer.version, pointer.vectors, pointer.layers


def _unpin(pinned: Sequence[int | None]) -> None:
    for each in pinned:
        if each is not None:
            os.close(each)
