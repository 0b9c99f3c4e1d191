"""Open the stores of one version: its folder and the settings of servers -> Graph."""

import json
import logging
import os
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from nacre.errors import ConfigError, ToolError
from nacre.records.endpoint import Endpoint
from nacre.records.json_form import from_json
from nacre.records.schema import Schema
from nacre.stores import versions
from nacre.stores.databases.address import DatabaseLimits
from nacre.stores.databases.attached import AttachedDatabase
from nacre.stores.graph import Graph
from nacre.stores.search.lexical import LexicalIndex
from nacre.stores.search.vector_sets import open_collection
from nacre.stores.search.vectors import Embedder, Vectors
from nacre.stores.sparql.endpoint_limits import EndpointLimits
from nacre.stores.sparql.oxigraph_store import OxigraphStore
from nacre.stores.sqlite.documents import Documents
from nacre.stores.sqlite.extracted_triples import ExtractedLayer
from nacre.stores.sqlite.lexicon import Lexicon, TableNameCounts
from nacre.stores.sqlite.passages import Passages
from nacre.stores.sqlite.tables import read_overview
from nacre.stores.tables_of_version import open_tables
from nacre.stores.versions import Manifest, Pointer

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
        from nacre.stores.sparql.endpoint import EndpointSource

        try:
            endpoint = from_json(Endpoint, json.loads((folder / versions.ENDPOINT).read_text(encoding="utf-8")))
            schema = from_json(Schema, json.loads((folder / versions.SCHEMA).read_text(encoding="utf-8")))
            lexicon = Lexicon(folder / versions.LEXICON, schema, self.embedder)
        except (OSError, ValueError, KeyError) as error:
            reason = error_reason(error)
            raise ConfigError(
                f"Graph {name!r} is damaged: {reason}. Run: nacre attach {manifest.endpoint} --graph {name}"
            ) from error
        coded = {g.relation: g.count if g.relation in endpoint.unnamed else 0 for g in schema.groups}
        lexicon.table_counts = tuple(TableNameCounts(g.relation, g.count, coded[g.relation]) for g in schema.groups)
        source = EndpointSource(endpoint.url, endpoint.graphs, self.endpoint_limits(endpoint.url), endpoint.dialect)
        graph = Graph(name, manifest.version, schema, None, lexicon, endpoint=endpoint, remote=source)
        graph.unavailable.update(manifest.unavailable)
        return graph

    def _open_database(self, name: str, manifest: Manifest, folder: Path) -> Graph:
        """Open a graph that is attached to a database: its schema and its lexicon. Nothing is connected yet."""
        from nacre.stores.databases.attached_tables import AttachedTables
        from nacre.stores.kept_databases import located

        try:
            database = from_json(AttachedDatabase, json.loads((folder / versions.DATABASE).read_text(encoding="utf-8")))
            schema = from_json(Schema, json.loads((folder / versions.SCHEMA).read_text(encoding="utf-8")))
            layout = (folder / versions.LAYOUT).read_text(encoding="utf-8")
            lexicon = Lexicon(folder / versions.LEXICON, schema, self.embedder)
        except (OSError, ValueError, KeyError) as error:
            reason = error_reason(error)
            again = f"Run: nacre attach URL --graph {name}"
            raise ConfigError(f"Graph {name!r} is damaged: {reason}. {again}") from error
        overview = read_overview(folder / versions.OVERVIEW)
        tables = AttachedTables(located(database, folder), schema, layout, self.database_limits, overview)
        graph = Graph(name, manifest.version, schema, tables, lexicon, database=database)
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


def damaged_graph_error(name: str, error: Exception) -> ConfigError:
    """The error for a graph whose files can't be read."""
    return ConfigError(f"Graph {name!r} is damaged: {error_reason(error)}. Run: nacre ingest FILE.ttl --graph {name}")


def error_reason(error: Exception) -> str:
    """What went wrong, without folders: clients of a server see it.

    >>> error_reason(FileNotFoundError(2, "No such file or directory", "/srv/data/cars/graph.sqlite"))
    'graph.sqlite: No such file or directory'
    """
    if isinstance(error, OSError) and error.filename:
        return f"{Path(os.fsdecode(error.filename)).name}: {error.strerror}"
    return str(error)
