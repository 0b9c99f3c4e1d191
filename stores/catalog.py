"""The graphs in a data folder: a name -> its stores, opened, of one version."""

import difflib
import logging
import os
import shutil
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from records.errors import ConfigError
from records.schema import Schema
from stores import versions
from stores.lexical import Lexical
from stores.lexicon import Lexicon
from stores.passages import Passages
from stores.tables import Tables
from stores.vectors import Collection, Embedder, Vectors
from stores.versions import Manifest

T = TypeVar("T")
# how long it is taken for granted that a server with vectors serves, or not
REACH_SECONDS = 5.0
log = logging.getLogger(__name__)


@dataclass
class Graph:
    """The stores of one version of a graph; those a version lacks are None, and `unavailable` says why, by branch.

    `close` gives back one `Library.open`; use it as a context manager for the length of a turn.
    """

    name: str
    version: str
    schema: Schema
    tables: Tables
    lexicon: Lexicon
    passages: Passages | None = None
    vectors: Vectors | None = None
    lexical: Lexical | None = None
    unavailable: dict[str, str] = field(default_factory=dict)
    give_back: Callable[[], None] = field(default=lambda: None, repr=False)
    _told: dict[str, str] = field(default_factory=dict, repr=False)

    def described(self, describe: Callable[[Tables], str]) -> str:
        """All tables in words by `describe`, worded once for each opened version."""
        if "all" not in self._told:
            self._told["all"] = describe(self.tables)
        return self._told["all"]

    def close(self) -> None:
        self.give_back()

    def __enter__(self) -> "Graph":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


@dataclass
class _Held:
    """A graph that is open. `remote` is its manifest where its vectors are on a server, which may come and go."""

    graph: Graph
    pinned: int
    users: int
    remote: Manifest | None = None
    reaching: threading.Lock = field(default_factory=threading.Lock)
    reach_at: float = 0.0


class Library:
    """All graphs of a data folder. Safe to share between threads; reads only, except `remove` and tidying up."""

    def __init__(
        self, data: Path, embedder: Embedder | None, qdrant_url: str | None = None, qdrant_key: str | None = None
    ) -> None:
        self.data = data
        self._embedder = embedder
        self._qdrant_url = qdrant_url
        self._qdrant_key = qdrant_key
        self._held: dict[tuple[str, str], _Held] = {}
        self._lock = threading.RLock()

    def names(self) -> list[str]:
        """The names of the graphs, sorted."""
        try:
            folders = [folder for folder in self.data.iterdir() if versions.NAME.fullmatch(folder.name)]
        except (FileNotFoundError, NotADirectoryError):
            return []
        return sorted(folder.name for folder in folders if (folder / versions.CURRENT).is_file())

    def resolve(self, name: str | None) -> str:
        """The name of a graph that exists; None stands for the only one. Raises ConfigError with the next command."""
        known = self.names()
        if name is not None and name in known:
            return name
        place = f"{self.data}/"
        if not known:
            wanted = name if name is not None and versions.NAME.fullmatch(name) else "NAME"
            named = f" named {name!r}" if name is not None else ""
            raise ConfigError(f"No graph{named} in {place}. Run: nacre ingest FILE.ttl --graph {wanted}")
        if name is None:
            if len(known) == 1:
                return known[0]
            raise ConfigError(f"Which graph? There are {', '.join(known)} in {place}. Add: --graph {known[0]}")
        versions.check_name(name)
        near = difflib.get_close_matches(name, known, 1, 0.5)
        hint = f"Did you mean {near[0]!r}?" if near else f"There are {', '.join(known[:8])}."
        raise ConfigError(f"No graph named {name!r} in {place}. {hint} Run: nacre ingest FILE.ttl --graph {name}")

    def current(self, name: str) -> str:
        """The version that a new turn should read."""
        version = versions.current(self.data / self.resolve(name))
        if version is None:
            raise ConfigError(f"No graph named {name!r} in {self.data}/. Run: nacre ingest FILE.ttl --graph {name}")
        return version

    def manifest(self, name: str) -> Manifest:
        """What the current version of a graph is made of."""
        return versions.manifest(self.data / name, self.current(name))

    def open(self, name: str, version: str | None = None) -> Graph:
        """The stores of a version (None: the current one), shared by all who open it; give each back with `close`.

        An open version is not removed, by any process. Raises ConfigError if a version that was asked for is gone.
        """
        for _ in range(5):
            wanted = version or self.current(name)
            with self._lock:
                held = self._held.get((name, wanted)) or self._hold(name, wanted)
                if held is not None:
                    held.users += 1
                    if version is None:
                        self._let_go(name, wanted)
            if held is not None:
                if version is None or not held.reach_at:
                    self._reach(held)
                return held.graph
            if version is not None:
                break
        raise ConfigError(f"Version {wanted} of graph {name!r} is gone. Ask again to use the present one.")

    def remove(self, name: str) -> None:
        """Remove a graph; the files of a version that somebody reads stay until the next ingest of that name."""
        home = self.data / self.resolve(name)
        with self._lock:
            for key in [key for key, held in self._held.items() if key[0] == name and held.users == 0]:
                self._shut(self._held.pop(key))
        try:
            with versions.writing(home):
                (home / versions.CURRENT).unlink(missing_ok=True)
                versions.clean(home, self._drop)
                left = [folder for folder in (home / "versions").glob("*") if folder.is_dir()]
            if not left:
                shutil.rmtree(home, ignore_errors=True)
        except OSError as error:
            raise ConfigError(f"Can't remove {home}: {error.strerror}. Check who may write there.") from error

    def close(self) -> None:
        """Give up everything; graphs that were opened here must not be used any more."""
        with self._lock:
            for held in self._held.values():
                self._shut(held)
            self._held.clear()

    def _hold(self, name: str, version: str) -> _Held | None:
        folder = versions.version_folder(self.data / name, version)
        pinned = versions.pin(folder)
        if pinned is None:
            return None
        try:
            manifest = versions.manifest(self.data / name, version)
            graph = self._stores(name, manifest, folder)
        except BaseException:
            os.close(pinned)
            raise
        remote = manifest if manifest.collection is not None and "vector" not in graph.unavailable else None
        held = self._held[name, version] = _Held(graph, pinned, 0, remote)
        graph.give_back = partial(self._give_back, held)
        return held

    def _stores(self, name: str, manifest: Manifest, folder: Path) -> Graph:
        again = f"Run: nacre index --graph {name}"
        try:
            tables = Tables(folder / versions.TABLES)
            lexicon = Lexicon(folder / versions.LEXICON, tables.schema, self._embedder)
            graph = Graph(name, manifest.version, tables.schema, tables, lexicon)
        except (OSError, ValueError, KeyError) as error:
            raise ConfigError(
                f"Graph {name!r} is damaged: {error}. Run: nacre ingest FILE.ttl --graph {name}"
            ) from error
        graph.unavailable.update(manifest.unavailable)
        present = {"passages", "vector", "lexical"} - graph.unavailable.keys()
        if "--tables-only" in graph.unavailable.get("lexical", ""):
            present.discard("passages")

        def optional(branch: str, opened: Callable[[], T]) -> T | None:
            if branch not in present:
                return None
            try:
                return opened()
            except ConfigError as error:
                reason = str(error)
            except Exception as error:  # the stores' engines each raise their own kinds
                reason = f"can't be opened ({error}). {again}"
            log.warning("graph %s: %s is unavailable: %s", name, branch, reason)
            for each in ("vector", "lexical") if branch == "passages" else (branch,):
                graph.unavailable.setdefault(each, reason)
            return None

        graph.passages = optional("passages", lambda: Passages(folder / versions.PASSAGES))
        if graph.passages is None:
            present.clear()
        graph.lexical = optional("lexical", lambda: Lexical(folder / versions.LEXICAL))
        if manifest.collection is None:
            graph.vectors = optional("vector", lambda: self._vectors(name, manifest, folder))
        return graph

    def _reach(self, held: _Held) -> None:
        """See whether the server with the vectors of a graph serves, now and then. Who comes meanwhile takes what was
        seen before, and waits only where that is nothing yet."""
        if held.remote is None or not held.reaching.acquire(blocking=not held.reach_at):
            return
        try:
            graph, manifest = held.graph, held.remote
            if time.monotonic() < held.reach_at and not (graph.vectors and graph.vectors.failed):
                return
            try:
                graph.vectors = self._vectors(graph.name, manifest, self.data / graph.name)
                graph.unavailable.pop("vector", None)
            except Exception as error:  # a client of a server raises kinds of its own
                log.warning("graph %s: vector is unavailable: %s", graph.name, error)
                graph.vectors = None
                graph.unavailable["vector"] = str(error)
            held.reach_at = time.monotonic() + REACH_SECONDS
        finally:
            held.reaching.release()

    def _vectors(self, name: str, manifest: Manifest, folder: Path) -> Vectors:
        if self._embedder is None:
            raise ConfigError("no embedder. Install the bundled one: pip install 'nacre[bundled]'")
        if manifest.embedder != self._embedder.name:
            raise ConfigError(
                f"embedded with {manifest.embedder}, the embedder now is {self._embedder.name}."
                f" Run: nacre index --graph {name}"
            )
        return Vectors(open_collection(folder, manifest, self._qdrant_url, self._qdrant_key), self._embedder)

    def _give_back(self, held: _Held) -> None:
        with self._lock:
            held.users = max(0, held.users - 1)

    def _let_go(self, name: str, present: str) -> None:
        """Close the older versions that nobody uses, and remove those that no other process reads either."""
        idle = [k for k, held in self._held.items() if k[0] == name and k[1] != present and held.users == 0]
        for key in idle:
            self._shut(self._held.pop(key))
        if idle:
            with suppress(OSError, ConfigError), versions.writing(self.data / name):
                versions.clean(self.data / name, self._drop)

    def _shut(self, held: _Held) -> None:
        graph = held.graph
        for store in (graph.vectors, graph.lexical, graph.passages, graph.lexicon, graph.tables):
            if store is not None:
                store.close()
        os.close(held.pinned)

    def _drop(self, collection: str) -> None:
        drop_collection(self._qdrant_url, self._qdrant_key, collection)


def open_collection(
    folder: Path, manifest: Manifest, url: str | None, key: str | None, *, patient: bool = False
) -> Collection:
    """Where the vectors of a version lie, opened to read; `patient` with a slow server."""
    if manifest.collection is None:
        from stores.vectors_edge import EdgeCollection

        return EdgeCollection(folder / versions.VECTORS)
    if url is None:
        raise ConfigError(f"the vectors are on a Qdrant server ({manifest.collection}). Set NACRE_QDRANT_URL")
    from stores.vectors_server import ServerCollection

    return ServerCollection(url, key, manifest.collection, patient=patient)


def drop_collection(url: str | None, key: str | None, collection: str) -> None:
    """Remove vectors from the Qdrant server, if one is set."""
    if url is None:
        log.warning(
            "the Qdrant collection %s is no longer needed; NACRE_QDRANT_URL is not set, so it stays", collection
        )
        return
    from stores.vectors_server import drop

    drop(url, key, collection)
