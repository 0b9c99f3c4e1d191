"""Open the stores of one version: its folder + how servers are reached -> Graph."""

import json
import logging
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
from nacre.stores.sqlite.tables import Tables
from nacre.stores.versions import Manifest, Pointer

T = TypeVar("T")
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class GraphOpener:
    """What graphs of a data folder are opened with; `manners` says how an endpoint is asked."""

    data: Path
    embedder: Embedder | None
    qdrant_url: str | None
    qdrant_key: str | None
    manners: Callable[[str], EndpointLimits]

    def stores(self, name: str, pointer: Pointer, manifest: Manifest, folder: Path) -> Graph:
        """The stores of a version; raises ConfigError where they can't be read, and notes by branch what can't be
        asked."""
        if manifest.endpoint:
            return self._attached(name, manifest, folder)
        again = f"Run: nacre index --graph {name}"
        try:
            layers = versions.layers_folder(self.data / name, pointer.layers) if pointer.layers else None
            # a completed graph has tables and names of its own, and the passages of its version
            home = layers if layers is not None and (layers / versions.TABLES).is_file() else folder
            tables = Tables(home / versions.TABLES)
            lexicon = Lexicon(home / versions.LEXICON, tables.schema, self.embedder)
            graph = Graph(name, manifest.version, tables.schema, tables, lexicon, vector_set=pointer.vectors)
            if layers is not None:
                graph.layers, graph.extracted = pointer.layers, ExtractedLayer(layers / versions.EXTRACTED)
        except (OSError, ValueError, KeyError, sqlite3.Error, ToolError) as error:
            raise damaged_graph_error(name, error) from error
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
        graph.lexical = optional("lexical", lambda: LexicalIndex(folder / versions.LEXICAL))
        if (folder / versions.TRIPLES).is_dir():
            present.add("sparql")
            graph.triples = optional("sparql", lambda: OxigraphStore(folder / versions.TRIPLES))
        graph.vectors = optional("vector", lambda: self._embedded(name, pointer.vectors))
        return graph

    def _attached(self, name: str, manifest: Manifest, folder: Path) -> Graph:
        """What is kept here of a graph behind an endpoint, and the way to it; nothing is asked yet."""
        from nacre.stores.sparql.endpoint import EndpointSource

        try:
            endpoint = from_json(Endpoint, json.loads((folder / versions.ENDPOINT).read_text(encoding="utf-8")))
            schema = from_json(Schema, json.loads((folder / versions.SCHEMA).read_text(encoding="utf-8")))
            lexicon = Lexicon(folder / versions.LEXICON, schema, self.embedder)
        except (OSError, ValueError, KeyError) as error:
            raise ConfigError(
                f"Graph {name!r} is damaged: {error}. Run: nacre attach {manifest.endpoint} --graph {name}"
            ) from error
        coded = {g.relation: g.count if g.relation in endpoint.unnamed else 0 for g in schema.groups}
        lexicon.homes = tuple(TableNameCounts(g.relation, g.count, coded[g.relation]) for g in schema.groups)
        source = EndpointSource(endpoint.url, endpoint.graphs, self.manners(endpoint.url), endpoint.dialect)
        graph = Graph(name, manifest.version, schema, None, lexicon, endpoint=endpoint, remote=source)
        graph.unavailable.update(manifest.unavailable)
        return graph

    def _embedded(self, name: str, vectors: str | None) -> Vectors | None:
        """The vectors in the data folder; those on a server are opened when they are needed."""
        if vectors is None or versions.read_vectors_manifest(self.data / name, vectors).collection is not None:
            return None
        return self.vectors(name, vectors)

    def vectors(self, name: str, vectors: str) -> Vectors:
        """A set of vectors; raises ConfigError where nothing here embeds as it was embedded."""
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
    """What is said of a graph whose files can't be read."""
    return ConfigError(f"Graph {name!r} is damaged: {error}. Run: nacre ingest FILE.ttl --graph {name}")
