"""An open graph: the folder of a version and the settings of servers -> Graph, the stores of that version.

Tables are in the folder or on a server. Servers keep parts of graphs: vectors on Qdrant, tables on PostgreSQL. What
nobody uses is removed there.
"""

import json
import logging
import os
import sqlite3
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Protocol, TypeVar

from nacre.errors import ConfigError, ToolError
from nacre.extension import service
from nacre.records.json_form import from_json
from nacre.records.schema import Endpoint, Schema
from nacre.stores import versions
from nacre.stores.addresses import DatabaseLimits, EndpointLimits
from nacre.stores.search.lexical import LexicalIndex
from nacre.stores.search.vectors import Embedder, Vectors, drop_collection, open_collection
from nacre.stores.sparql_source import OxigraphStore, SparqlSource
from nacre.stores.sqlite.lexicon import Lexicon, TableNameCounts
from nacre.stores.sqlite.passages import Documents, Passages
from nacre.stores.sqlite.tables import Tables
from nacre.stores.sqlite.triples import ExtractedLayer
from nacre.stores.state.verified_questions import VerifiedQuestionStore
from nacre.stores.versions import Manifest, Pointer

# files of a version that say where its tables are, and the extensions that open them: `open`(folder, DatabaseLimits) ->
# Tables. `named`(folder, graph) are the addresses in the file; it raises ConfigError if they are not for this graph.
STORES = {versions.DATABASE: "databases", versions.SERVER: "server_tables"}


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


T = TypeVar("T")

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class GraphOpener:
    """What it takes to open the graphs of a data folder; `endpoint_limits` maps an address to its limits."""

    data: Path
    embedder: Embedder | None
    qdrant_url: str | None
    qdrant_key: str | None
    endpoint_limits: Callable[[str], EndpointLimits]
    database_limits: DatabaseLimits

    def open_stores(self, name: str, pointer: Pointer, manifest: Manifest, folder: Path) -> Graph:
        """Open the stores of a version; raises ConfigError if its tables can't be read, and records by branch what is
        unavailable."""
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
        return Vectors(open_collection(home, vectors, self.qdrant_url, self.qdrant_key), self.embedder)


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
        """Remove what a version or a set of vectors has on servers. Raises ConfigError if that is not possible now; the
        folder must then stay, since it names what is left."""
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
