"""/api/graphs: list of graphs, schemas, ingest reports, document texts, example questions."""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from fastapi.responses import PlainTextResponse

from ingestion.checked_questions import find_example_questions
from ingestion.report import IngestReport, build_report
from nacre.errors import ConfigError, ToolError
from nacre.records.schema import Class, Predicate
from nacre.serving.errors import NotFound
from nacre.serving.http.auth import CallerDep
from nacre.serving.http.dependencies import ERROR_RESPONSES, GraphNameDep, TurnServiceDep
from nacre.serving.http.look_up import LookUpSlotDep
from nacre.stores.catalog import Library
from nacre.stores.compute_once import compute_once
from nacre.stores.opener import error_reason

EXAMPLE_COUNT = 6
MAX_DOCUMENT_NAME = 1000
# the format of version names; a version becomes part of a file path
VERSION_PATTERN = "^[0-9A-Za-z]{1,40}-[0-9A-Za-z]{1,40}$"
# the largest document, and the largest part of it in one reply
MAX_DOCUMENT_CHARACTERS = 20_000_000
MAX_RESPONSE_CHARACTERS = 100_000

router = APIRouter(prefix="/api/graphs", tags=["graphs"], responses=ERROR_RESPONSES)


@dataclass(frozen=True)
class GraphSummary:
    """One graph. `unavailable` has the reason for each branch that can't be used; `problem` says why the graph can't be
    opened; `vectors` names its set of vectors."""

    name: str
    version: str
    triples: int
    things: int
    classes: int
    unavailable: dict[str, str]
    problem: str = ""
    vectors: str | None = None


@dataclass(frozen=True)
class GraphSchema:
    """The schema of a graph in its own terms."""

    name: str
    version: str
    classes: tuple[Class, ...]
    predicates: tuple[Predicate, ...]


@router.get("", summary="List the graphs")
def list_graphs(service: TurnServiceDep, caller: CallerDep, slot: LookUpSlotDep) -> list[GraphSummary]:
    """All graphs that the caller may read."""
    return [graph_summary(service.library, name) for name in service.graph_names(caller)]


@router.get("/{graph}", summary="Get a graph's schema")
def graph_schema(service: TurnServiceDep, caller: CallerDep, slot: LookUpSlotDep, graph: GraphNameDep) -> GraphSchema:
    """Classes and predicates by IRI, with labels, counts and units."""
    with service.library.open(graph) as opened:
        return GraphSchema(graph, opened.version, opened.schema.classes, opened.schema.predicates)


@router.get("/{graph}/report", summary="Account for every triple")
def graph_report(service: TurnServiceDep, caller: CallerDep, slot: LookUpSlotDep, graph: GraphNameDep) -> IngestReport:
    """The column that holds the triples of each predicate, and the triples that no column shows."""
    return _report(service.library, graph, service.library.current(graph))


@router.get(
    "/{graph}/documents/{name:path}",
    summary="Read a part of a document",
    response_class=PlainTextResponse,
    responses={200: {"content": {"text/plain": {}}, "description": "The text from `start` to `end`."}},
)
def document_text(
    service: TurnServiceDep,
    caller: CallerDep,
    slot: LookUpSlotDep,
    graph: GraphNameDep,
    name: Annotated[str, Path(max_length=MAX_DOCUMENT_NAME)],
    start: Annotated[int, Query(ge=0, le=MAX_DOCUMENT_CHARACTERS)] = 0,
    end: Annotated[int | None, Query(ge=0, le=MAX_DOCUMENT_CHARACTERS)] = None,
    version: Annotated[str | None, Query(pattern=VERSION_PATTERN)] = None,
) -> PlainTextResponse:
    """The text that a citation's `place` refers to, as plain text of at most 100,000 characters.

    `X-Page` is the page of its start, if the document has pages. `version` is the `version` of the answer.
    """
    if end is not None and end < start:
        raise ConfigError(f"end {end} is before start {start}. Take both from a citation's place.")
    stop = min(start + MAX_RESPONSE_CHARACTERS, start + MAX_RESPONSE_CHARACTERS if end is None else end)
    with service.library.open(graph, version) as opened:
        text = opened.documents.text(name, start, stop) if opened.documents is not None else None
        if text is None or opened.documents is None:
            raise NotFound(f"No document named {name[:100]!r} in graph {graph!r}.")
        page = opened.documents.page(name, start)
    headers = {"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; sandbox"}
    return PlainTextResponse(text, headers=headers | ({"X-Page": str(page)} if page is not None else {}))


@router.get("/{graph}/examples", summary="Suggest questions")
def example_questions(
    service: TurnServiceDep, caller: CallerDep, slot: LookUpSlotDep, graph: GraphNameDep
) -> list[str]:
    """Questions of different kinds that this graph answers."""
    return examples_of(service.library, graph)


def examples_of(library: Library, name: str) -> list[str]:
    """The example questions of a graph's current version."""
    return _examples(library, name, library.current(name))


def graph_summary(library: Library, name: str) -> GraphSummary:
    """The summary of a graph; `problem` says why it can't be opened."""
    try:
        with library.open(name) as graph:
            size: dict[str, Any] = {
                "triples": graph.schema.triples,
                "things": graph.schema.entities,
                "classes": len(graph.schema.classes),
            }
            lacks = dict(graph.unavailable)
            return GraphSummary(name, graph.version, **size, unavailable=lacks, vectors=graph.vector_set)
    except (ConfigError, OSError) as error:
        return GraphSummary(name, "", 0, 0, 0, {}, error_reason(error))


# versions are immutable, so that results about one can be cached
@compute_once(64)
def _report(library: Library, name: str, version: str) -> IngestReport:
    with library.open(name, version) as graph:
        if graph.database is not None:
            raise ToolError("unavailable", f"Graph {name!r} is attached to {graph.attached}: its rows are there.")
        return build_report(graph.tables, graph.documents)


@compute_once(64)
def _examples(library: Library, name: str, version: str) -> list[str]:
    with library.open(name, version) as graph:
        return find_example_questions(graph, EXAMPLE_COUNT)
