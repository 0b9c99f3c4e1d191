"""An open graph: the stores of one version."""

from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING

from nacre.errors import ToolError
from nacre.records.endpoint import Endpoint
from nacre.records.schema import Schema
from nacre.stores.databases.address import public_address
from nacre.stores.databases.attached import AttachedDatabase
from nacre.stores.search.lexical import LexicalIndex
from nacre.stores.search.vectors import Vectors
from nacre.stores.sparql.oxigraph_store import OxigraphStore
from nacre.stores.sqlite.documents import Documents
from nacre.stores.sqlite.extracted_triples import ExtractedLayer
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.stores.sqlite.passages import Passages
from nacre.stores.sqlite.tables import Tables
from nacre.stores.verified.store import VerifiedQuestionStore

if TYPE_CHECKING:
    from nacre.stores.sparql.endpoint import EndpointSource


@dataclass
class Graph:
    """The stores of one version of a graph.

    Missing stores are None, and `unavailable` has the reason by branch. `vector_set` is the id of its vectors (None
    without vectors), `layers` that of the triples `extracted` from its texts. A graph that is attached to an `endpoint`
    has no tables; the tables of one that is attached to a `database` are read there. `verified` are the verified
    questions of the data folder.

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
    remote: "EndpointSource | None" = None
    extracted: ExtractedLayer | None = None
    database: AttachedDatabase | None = None
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
        if self.database is not None:
            return public_address(self.database.url)
        return self.endpoint.url if self.endpoint is not None else ""

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
