"""The graphs in a data folder: the folder of a version and the settings of servers -> Graph, the stores of it."""

import difflib
import json
import logging
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Protocol, TypeVar

from nacre.config.embedder import BUNDLED_EMBEDDER
from nacre.errors import ConfigError, GraphNotFound, ToolError
from nacre.extension import service
from nacre.records.json_form import from_json
from nacre.records.schema import Endpoint, Schema
from nacre.stores import versions
from nacre.stores.addresses import DatabaseLimits, EndpointLimits
from nacre.stores.lexical import DamagedIndex, LexicalIndex, check_sizes, file_sizes
from nacre.stores.sparql_source import OxigraphStore, SparqlSource
from nacre.stores.sqlite.lexicon import Lexicon, TableNameCounts, spellings_folder
from nacre.stores.sqlite.passages import Documents, Passages
from nacre.stores.sqlite.tables import Tables
from nacre.stores.sqlite.triples import ExtractedLayer
from nacre.stores.state.database import StateDatabase
from nacre.stores.state.verified_questions import FILE as VERIFIED_FILE
from nacre.stores.state.verified_questions import VerifiedQuestionStore
from nacre.stores.vectors import Embedder, Vectors, drop_collection, open_collection
from nacre.stores.versions import Manifest, Pointer

# how long the last known state of a vector server is assumed
REACH_SECONDS = 5.0

# how long closing waits for threads that still read
CLOSE_SECONDS = 1.0

log = logging.getLogger(__name__)


class RemoteGraph(Protocol):
    """The things of a graph that is attached to an endpoint, as its extension looks them up. Raises ToolError."""

    endpoint: Endpoint
    source: SparqlSource

    def about(self, text: str) -> Lexicon:
        """The graph's lexicon with the things that a text may name."""
        ...

    def labels(self, iris: Collection[str]) -> dict[str, str]:
        """The names of the things that have one."""
        ...

    def close(self) -> None:
        """Close its connections."""
        ...


@dataclass
class Graph:
    """The stores of one version of a graph.

    Missing stores are None, and `unavailable` has the reason by branch. `vector_set` is the id of its vectors (None
    without vectors), `layers` that of the triples `extracted` from its texts. A graph that is attached to an `endpoint`
    has no tables; those of one that is attached to a `database` (its address) are read there. `verified` are the
    verified questions of the data folder.

    Each `Library.open` needs one `close`; use the graph as a context manager for the length of a turn.
    """

    name: str
    version: str
    schema: Schema
    stored: Tables | None
    lexicon: Lexicon
    passages: Passages | None = None
    documents: Documents | None = None
    vectors: Vectors | None = None
    lexical: LexicalIndex | None = None
    triples: OxigraphStore | None = None
    vector_set: str | None = None
    endpoint: Endpoint | None = None
    remote: RemoteGraph | None = None
    extracted: ExtractedLayer | None = None
    database: str = ""
    layers: str = ""
    verified: VerifiedQuestionStore | None = None
    unavailable: dict[str, str] = field(default_factory=dict)
    release: Callable[[], None] = field(default=lambda: None, repr=False)
    _schema_texts: dict[str, str] = field(default_factory=dict, repr=False)

    @property
    def tables(self) -> Tables:
        """Its tables; raises ToolError `unavailable` for an attached graph."""
        if self.stored is None:
            where = self.endpoint.url if self.endpoint else "elsewhere"
            raise ToolError("unavailable", f"Graph {self.name!r} lies behind {where} and has no tables here.")
        return self.stored

    @property
    def attached(self) -> str:
        """The address that the graph is attached to, as people see it; "" for an ingested graph."""
        return self.database or (self.endpoint.url if self.endpoint is not None else "")

    def schema_text(self, describe: Callable[[Tables], str]) -> str:
        """The text of `describe` for all tables, computed once for each open version."""
        if "all" not in self._schema_texts:
            self._schema_texts["all"] = describe(self.tables)
        return self._schema_texts["all"]

    def close(self) -> None:
        self.release()

    def __enter__(self) -> "Graph":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


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
        """Load the bundled embedder now, so that the first question need not wait for it; from now on open vectors with
        their graph, so that those that can't be opened are known before they are searched."""
        self.opener = replace(self.opener, opens_vectors=True)
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
        """Open the stores of a version (None: the current one), kept until each caller used `close`. Resumed turns pass
        their vectors and layers. Raises ConfigError if the version is gone."""
        for _ in range(5):
            wanted = self._current_pointer(name)
            with self._lock:
                key = (name, version, vectors, layers) if version else _key(name, wanted)
                held = self._open_graphs.get(key)
                if version and held is None:
                    # with other vectors or layers
                    held = next((each for key, each in self._open_graphs.items() if key[:2] == (name, version)), None)
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
        """Remove a graph, or its remains, with what people verified: a later graph of this name must not bring it back.
        Files of an open version stay until the next ingest. Raises OSError."""
        home = self.data / versions.check_name(name)
        if not (home / versions.WRITER).is_file():
            self.resolve(name)
        try:
            self.verified.forget_graph(name)
        except sqlite3.Error as error:
            log.warning("the verified questions of %s can't be deleted: %s", name, error)
        with self._lock:
            for key in [key for key, held in self._open_graphs.items() if key[0] == name and held.users == 0]:
                self._close_stores(self._open_graphs.pop(key))
        with versions.writer_lock(home):
            (home / versions.CURRENT).unlink(missing_ok=True)
            versions.remove_unused_versions(home, self._servers.remove_parts)
            if not any(each.is_dir() for part in ("versions", "vectors", "layers") for each in (home / part).glob("*")):
                shutil.rmtree(home, ignore_errors=True)

    def close(self) -> None:
        """Close all graphs, for good. It waits briefly for abandoned work, which may read from a connection."""
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
        """Check now and then; concurrent callers use the last known state, and only wait if there is none yet."""
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


# files of a version that say where its tables are, and the extensions that open them: `open`(folder, DatabaseLimits) ->
# Tables. `named`(folder, graph) are the addresses in the file; it raises ConfigError if they are not for this graph.
STORES = {versions.DATABASE: "databases", versions.SERVER: "server_tables"}


T = TypeVar("T")


@dataclass(frozen=True)
class GraphOpener:
    """What it takes to open the graphs of a data folder; `endpoint_limits` maps an address to its limits."""

    data: Path
    embedder: Embedder | None
    qdrant_url: str | None
    qdrant_key: str | None
    endpoint_limits: Callable[[str], EndpointLimits]
    database_limits: DatabaseLimits
    opens_vectors: bool = False

    def open_stores(self, name: str, pointer: Pointer, manifest: Manifest, folder: Path) -> Graph:
        """Open the stores of a version; records what is unavailable. Raises ConfigError for unreadable tables."""
        if manifest.database:
            return self._open_database(name, manifest, folder)
        if manifest.endpoint:
            return self._open_attached(name, manifest, folder)
        hint = f"Run: nacre index --graph {name}"
        try:
            layers = versions.layers_folder(self.data / name, pointer.layers) if pointer.layers else None
            tables = open_tables(folder, self.database_limits)
            lexicon = Lexicon(folder / versions.LEXICON, tables.schema, self.embedder)
            graph = Graph(name, manifest.version, tables.schema, tables, lexicon, vector_set=pointer.vectors)
            if layers is not None:
                graph.layers, graph.extracted = pointer.layers, ExtractedLayer(layers / versions.EXTRACTED)
        except ConfigError as error:
            # files do not know the name of their graph
            raise ConfigError(f"Graph {name!r}: {error}") from error
        except (OSError, ValueError, KeyError, sqlite3.Error, ToolError) as error:
            raise damaged_graph_error(name, error) from error
        graph.unavailable.update(pointer.missing_branches(name))
        graph.unavailable.update(manifest.unavailable)
        present = {"passages", "vector", "lexical"} - graph.unavailable.keys()
        if "--tables-only" in graph.unavailable.get("lexical", ""):
            present.discard("passages")

        def open_optional(branch: str, open_store: Callable[[], T]) -> T | None:
            if branch not in present:
                return None
            try:
                return open_store()
            except ConfigError as error:
                reason = str(error)
            except Exception as error:  # the stores' engines each raise their own kinds
                # an engine may name the folder in its own words
                reason = f"can't be opened ({error_reason(error).replace(str(self.data), 'NACRE_DATA')}). {hint}"
            log.warning("graph %s: %s is unavailable: %s", name, branch, reason)
            for each in ("vector", "lexical") if branch == "passages" else (branch,):
                graph.unavailable.setdefault(each, reason)
            return None

        graph.passages = open_optional("passages", lambda: Passages(folder / versions.PASSAGES))
        if graph.passages is None:
            present.clear()
        elif (folder / versions.DOCUMENTS).is_file():
            present.add("documents")
            graph.documents = open_optional("documents", lambda: Documents(folder / versions.DOCUMENTS))
        graph.lexical = open_optional("lexical", lambda: LexicalIndex(folder / versions.LEXICAL))
        if (folder / versions.TRIPLES).is_dir():
            present.add("sparql")
            graph.triples = open_optional("sparql", lambda: OxigraphStore(folder / versions.TRIPLES))
        graph.vectors = open_optional("vector", lambda: self._local_vectors(name, pointer.vectors))
        return graph

    def _open_attached(self, name: str, manifest: Manifest, folder: Path) -> Graph:
        """Open a graph that is attached to an endpoint: its schema, its lexicon and a client. Nothing is sent yet."""
        try:
            endpoint = from_json(Endpoint, json.loads((folder / versions.ENDPOINT).read_text(encoding="utf-8")))
            schema = from_json(Schema, json.loads((folder / versions.SCHEMA).read_text(encoding="utf-8")))
            lexicon = Lexicon(folder / versions.LEXICON, schema, self.embedder)
        except (OSError, ValueError, KeyError) as error:
            raise damaged_graph_error(name, error, f"nacre attach {manifest.endpoint}") from error
        coded = {g.relation: g.count if g.relation in endpoint.unnamed else 0 for g in schema.groups}
        lexicon.table_counts = tuple(TableNameCounts(g.relation, g.count, coded[g.relation]) for g in schema.groups)
        remote = service("endpoints", "open", "The graph")(lexicon, endpoint, self.endpoint_limits(endpoint.url))
        graph = Graph(name, manifest.version, schema, None, lexicon, endpoint=endpoint, remote=remote)
        graph.unavailable.update(manifest.unavailable)
        return graph

    def _open_database(self, name: str, manifest: Manifest, folder: Path) -> Graph:
        """Open a graph that is attached to a database: its schema and its lexicon. Nothing is connected yet."""
        try:
            tables = open_tables(folder, self.database_limits)
            lexicon = Lexicon(folder / versions.LEXICON, tables.schema, self.embedder)
        except (OSError, ValueError, KeyError) as error:
            raise damaged_graph_error(name, error, "nacre attach URL") from error
        graph = Graph(name, manifest.version, tables.schema, tables, lexicon, database=manifest.attached)
        graph.unavailable.update(manifest.unavailable)
        return graph

    def _local_vectors(self, name: str, vectors: str | None) -> Vectors | None:
        """Open vectors in the data folder; vectors on a server are opened on demand."""
        if vectors is None or versions.read_vectors_manifest(self.data / name, vectors).collection is not None:
            return None
        return self.open_vectors(name, vectors)

    def open_vectors(self, name: str, vectors: str) -> Vectors:
        """Open a set of vectors; raises ConfigError if its embedder is not available here."""
        if self.embedder is None:
            raise ConfigError("no embedder. Install the bundled one: pip install 'nacre[bundled]'")
        home = self.data / name
        made_by = versions.read_vectors_manifest(home, vectors).embedder
        if made_by != self.embedder.name:
            raise ConfigError(
                f"embedded with {made_by}, the embedder now is {self.embedder.name}. Run: nacre index --graph {name}"
            )
        server = self.qdrant_url, self.qdrant_key
        return Vectors(open_collection(home, vectors, *server, at_once=self.opens_vectors), self.embedder)


def damaged_graph_error(name: str, error: Exception, command: str = "nacre ingest FILE.ttl") -> ConfigError:
    """The error for a graph whose files can't be read; the command makes it anew."""
    return ConfigError(f"Graph {name!r} is damaged: {error_reason(error)}. Run: {command} --graph {name}")


def error_reason(error: Exception) -> str:
    """What went wrong, without folders: clients of a server see it.

    >>> error_reason(FileNotFoundError(2, "No such file or directory", "/srv/data/cars/graph.sqlite"))
    'graph.sqlite: No such file or directory'
    """
    if isinstance(error, OSError) and error.filename:
        return f"{Path(os.fsdecode(error.filename)).name}: {error.strerror}"
    return str(error)


def open_tables(folder: Path, limits: DatabaseLimits = DatabaseLimits()) -> Tables:  # noqa: B008 (immutable)
    """The tables of a version; nothing is sent to a server yet. Raises ConfigError if there are none."""
    for file, extension in STORES.items():
        if (folder / file).is_file():
            tables: Tables = service(extension, "open", "The graph")(folder, limits)
            return tables
    return Tables(folder / versions.TABLES)


@dataclass(frozen=True)
class Servers:
    """The address and key of the Qdrant server, without which vectors are stored in the data folder; passwords of
    databases with tables."""

    url: str | None = None
    key: str | None = None
    databases: DatabaseLimits = field(default_factory=DatabaseLimits)

    def remove_parts(self, folder: Path) -> None:
        """Remove its parts on servers. Raises ConfigError if that is not possible now; the folder must then stay."""
        collection = collection_of(folder)
        if collection is not None:
            drop_collection(self.url, self.key, collection)
        if (folder / versions.SERVER).is_file():
            service(STORES[versions.SERVER], "remove")(folder, self.databases)


def collection_of(folder: Path) -> str | None:
    """The collection on the Qdrant server that a set of vectors has; None without one."""
    try:
        found = json.loads((folder / versions.MANIFEST).read_text(encoding="utf-8"))["collection"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return str(found) if found is not None else None
