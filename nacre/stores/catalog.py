"""The graphs in a data folder: a name -> its stores, opened, of one version."""

import difflib
import json
import logging
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

from nacre.records.endpoint import Endpoint
from nacre.records.errors import ConfigError, NoGraph, ToolError
from nacre.records.json_form import from_json
from nacre.records.schema import Schema
from nacre.stores import versions
from nacre.stores.documents import Documents
from nacre.stores.layers import Layer
from nacre.stores.lexical import Lexical
from nacre.stores.lexicon import Home, Lexicon
from nacre.stores.lexicon_file import spellings_of
from nacre.stores.manners import Manners
from nacre.stores.oxigraph_store import OxigraphStore
from nacre.stores.passages import Passages
from nacre.stores.tables import Tables
from nacre.stores.vector_sets import drop_collection, open_collection
from nacre.stores.vectors import Embedder, Vectors
from nacre.stores.versions import Manifest, Pointer
from nacre.stores.whole import Damaged, check_sizes, sizes_of

if TYPE_CHECKING:
    from nacre.stores.endpoint import EndpointSource

T = TypeVar("T")
# how long it is taken for granted that a server with vectors serves, or not
REACH_SECONDS = 5.0
log = logging.getLogger(__name__)


@dataclass
class Graph:
    """The stores of one version of a graph; those a version lacks are None, and `unavailable` says why, by branch.
    `vector_set` names its vectors, None where there are none, `layers` what was `extracted` from its texts. A
    graph that is attached to an `endpoint` has no tables.

    `close` gives back one `Library.open`; use it as a context manager for the length of a turn.
    """

    name: str
    version: str
    schema: Schema
    stored: Tables | None
    lexicon: Lexicon
    passages: Passages | None = None
    documents: Documents | None = None
    vectors: Vectors | None = None
    lexical: Lexical | None = None
    triples: OxigraphStore | None = None
    vector_set: str | None = None
    endpoint: Endpoint | None = None
    remote: "EndpointSource | None" = None
    extracted: Layer | None = None
    layers: str = ""
    unavailable: dict[str, str] = field(default_factory=dict)
    give_back: Callable[[], None] = field(default=lambda: None, repr=False)
    _told: dict[str, str] = field(default_factory=dict, repr=False)

    @property
    def tables(self) -> Tables:
        """Its tables; raises ToolError `unavailable` for a graph that is attached."""
        if self.stored is None:
            where = self.endpoint.url if self.endpoint else "elsewhere"
            raise ToolError("unavailable", f"Graph {self.name!r} lies behind {where} and has no tables here.")
        return self.stored

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
        manners: Callable[[str], Manners] = lambda url: Manners(),
    ) -> None:
        self.data = data
        self._embedder = embedder
        self._qdrant_url = qdrant_url
        self._qdrant_key = qdrant_key
        self._manners = manners
        self._held: dict[tuple[str, str, str | None, str], _Held] = {}
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
        if name is not None and versions.NAME.fullmatch(name) and (self.data / name / versions.CURRENT).is_file():
            return name
        known = self.names()
        if not known:
            wanted = name if name is not None and versions.NAME.fullmatch(name) else "NAME"
            named = f" named {name!r}" if name is not None else ""
            raise NoGraph(f"No graph{named}. Run: nacre ingest FILE.ttl --graph {wanted}", self.data)
        if name is None:
            if len(known) == 1:
                return known[0]
            raise NoGraph(f"Which graph? There are {', '.join(known)}. Add: --graph {known[0]}", self.data)
        versions.check_name(name)
        near = difflib.get_close_matches(name, known, 1, 0.5)
        hint = f"Did you mean {near[0]!r}?" if near else f"There are {', '.join(known[:8])}."
        raise NoGraph(f"No graph named {name!r}. {hint} Run: nacre ingest FILE.ttl --graph {name}", self.data)

    def current(self, name: str) -> str:
        """The version that a new turn should read."""
        return self._present(name).version

    def lacks(self, name: str) -> dict[str, str]:
        """What the current version of a graph was made without, or not yet has, and why, by branch."""
        present = self._present(name)
        return present.lacks(name) | versions.manifest(self.data / name, present.version).unavailable

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
            with versions.writing(home):
                (home / versions.CURRENT).unlink(missing_ok=True)
                versions.clean(home, self._drop)
                left = [folder for folder in (home / "versions").glob("*") if folder.is_dir()]
                left += [folder for folder in (home / "vectors").glob("*") if folder.is_dir()]
                left += [folder for folder in (home / "layers").glob("*") if folder.is_dir()]
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

    def _present(self, name: str) -> Pointer:
        found = versions.pointer(self.data / self.resolve(name))
        if found is None:
            raise NoGraph(f"No graph named {name!r}. Run: nacre ingest FILE.ttl --graph {name}", self.data)
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
        pinned = [versions.pin(folder) for folder in folders if folder.exists()]
        if not folders[0].exists() or None in pinned or versions.pointer(home) != present:
            _unpin(pinned)
            return None
        try:
            graph = self._stores(name, wanted, versions.manifest(home, wanted.version), folders[0])
        except BaseException:
            _unpin(pinned)
            raise
        remote = graph.vector_set if graph.vectors is None and "vector" not in graph.unavailable else None
        words = spellings_of(folders[0] / versions.LEXICON)
        mapped = [versions.TABLES, versions.LEXICON, *(f"{words.name}/{file.name}" for file in words.iterdir())]
        held = _Held(graph, pinned, 0, remote, folders[0], sizes_of(folders[0], mapped))
        self._held[_key(name, wanted)] = held
        graph.give_back = partial(self._give_back, held)
        return held

    def _stores(self, name: str, pointer: Pointer, manifest: Manifest, folder: Path) -> Graph:
        if manifest.endpoint:
            return self._attached(name, manifest, folder)
        again = f"Run: nacre index --graph {name}"
        try:
            layers = versions.layers_folder(self.data / name, pointer.layers) if pointer.layers else None
            # a completed graph has tables and names of its own, and the passages of its version
            home = layers if layers is not None and (layers / versions.TABLES).is_file() else folder
            tables = Tables(home / versions.TABLES)
            lexicon = Lexicon(home / versions.LEXICON, tables.schema, self._embedder)
            graph = Graph(name, manifest.version, tables.schema, tables, lexicon, vector_set=pointer.vectors)
            if layers is not None:
                graph.layers, graph.extracted = pointer.layers, Layer(layers / versions.EXTRACTED)
        except (OSError, ValueError, KeyError, sqlite3.Error, ToolError) as error:
            raise _damaged(name, error) from error
        graph.unavailable.update(pointer.lacks(name))
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
        elif (folder / versions.DOCUMENTS).is_file():
            present.add("documents")
            graph.documents = optional("documents", lambda: Documents(folder / versions.DOCUMENTS))
        graph.lexical = optional("lexical", lambda: Lexical(folder / versions.LEXICAL))
        if (folder / versions.TRIPLES).is_dir():
            present.add("sparql")
            graph.triples = optional("sparql", lambda: OxigraphStore(folder / versions.TRIPLES))
        graph.vectors = optional("vector", lambda: self._embedded(name, pointer.vectors))
        return graph

    def _attached(self, name: str, manifest: Manifest, folder: Path) -> Graph:
        """What is kept here of a graph behind an endpoint, and the way to it; nothing is asked yet."""
        from nacre.stores.endpoint import EndpointSource

        try:
            endpoint = from_json(Endpoint, json.loads((folder / versions.ENDPOINT).read_text(encoding="utf-8")))
            schema = from_json(Schema, json.loads((folder / versions.SCHEMA).read_text(encoding="utf-8")))
            lexicon = Lexicon(folder / versions.LEXICON, schema, self._embedder)
        except (OSError, ValueError, KeyError) as error:
            raise ConfigError(
                f"Graph {name!r} is damaged: {error}. Run: nacre attach {manifest.endpoint} --graph {name}"
            ) from error
        coded = {g.relation: g.count if g.relation in endpoint.unnamed else 0 for g in schema.groups}
        lexicon.homes = tuple(Home(g.relation, g.count, coded[g.relation]) for g in schema.groups)
        source = EndpointSource(endpoint.url, endpoint.graphs, self._manners(endpoint.url), endpoint.dialect)
        graph = Graph(name, manifest.version, schema, None, lexicon, endpoint=endpoint, remote=source)
        graph.unavailable.update(manifest.unavailable)
        return graph

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
                graph.vectors = self._vectors(graph.name, held.remote)
                graph.unavailable.pop("vector", None)
            except Exception as error:  # a client of a server raises kinds of its own
                log.warning("graph %s: vector is unavailable: %s", graph.name, error)
                graph.vectors = None
                graph.unavailable["vector"] = str(error)
            held.reach_at = time.monotonic() + REACH_SECONDS
        finally:
            held.reaching.release()

    def _embedded(self, name: str, vectors: str | None) -> Vectors | None:
        """The vectors in the data folder; those on a server are opened when they are needed."""
        if vectors is None or versions.vectors_manifest(self.data / name, vectors).collection is not None:
            return None
        return self._vectors(name, vectors)

    def _vectors(self, name: str, vectors: str) -> Vectors:
        if self._embedder is None:
            raise ConfigError("no embedder. Install the bundled one: pip install 'nacre[bundled]'")
        home = self.data / name
        made_by = versions.vectors_manifest(home, vectors).embedder
        if made_by != self._embedder.name:
            raise ConfigError(
                f"embedded with {made_by}, the embedder now is {self._embedder.name}. Run: nacre index --graph {name}"
            )
        return Vectors(open_collection(home, vectors, self._qdrant_url, self._qdrant_key), self._embedder)

    def _give_back(self, held: _Held) -> None:
        with self._lock:
            held.users = max(0, held.users - 1)

    def _let_go(self, name: str, present: Pointer) -> None:
        """Close the older versions that nobody uses, and remove those that no other process reads either."""
        here = _key(name, present)
        idle = [key for key, held in self._held.items() if key[0] == name and key != here and held.users == 0]
        for key in idle:
            self._shut(self._held.pop(key))
        if idle:
            with suppress(OSError, ConfigError), versions.writing(self.data / name):
                versions.clean(self.data / name, self._drop)

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
        drop_collection(self._qdrant_url, self._qdrant_key, collection)


def _check(held: _Held) -> None:
    """Raises ConfigError where a file of a graph that is open was cut short; what is gone stays readable."""
    try:
        check_sizes(held.folder, held.sizes, gone=True)
    except Damaged as error:
        raise _damaged(held.graph.name, error) from error


def _damaged(name: str, error: Exception) -> ConfigError:
    return ConfigError(f"Graph {name!r} is damaged: {error}. Run: nacre ingest FILE.ttl --graph {name}")


def _key(name: str, pointer: Pointer) -> tuple[str, str, str | None, str]:
    return name, pointer.version, pointer.vectors, pointer.layers


def _unpin(pinned: Sequence[int | None]) -> None:
    for each in pinned:
        if each is not None:
            os.close(each)
