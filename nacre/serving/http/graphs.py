"""/api/graphs: list of graphs, schemas, ingest reports, document texts, example questions. /api/graphs/{graph}/...:
schema, things, classes and their tables (also as files), labels, follow-up questions."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, TypeVar

from fastapi import APIRouter, Depends, Path, Query
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from pydantic import BaseModel, Field

from ingestion.report import IngestReport, build_report
from nacre.access.class_table import class_facet, class_table
from nacre.access.open_graph import look_up_labels
from nacre.access.things import (
    MOST_CLASSES,
    MOST_SEARCHED,
    SchemaOverview,
    class_view,
    local_thing,
    overview_words,
    schema_overview,
)
from nacre.errors import ConfigError, ToolError
from nacre.extension import services
from nacre.records.browse import BrowseLimits, ClassView, Comparison, Facet, MemberTable, RowFilter, TableRequest, Thing
from nacre.records.schema import Class, Predicate
from nacre.records.threads import compute_once
from nacre.serving.errors import NotFound
from nacre.serving.http.auth import CallerDep
from nacre.serving.http.dependencies import ERROR_RESPONSES, GraphLookUp, GraphLookUpDep, LookUpSlotDep, TurnServiceDep
from nacre.serving.keys import report_deed
from nacre.serving.transcript import csv_text
from nacre.stores.catalog import Graph, Library, error_reason
from nacre.stores.versions import version_folder

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
    opened; `vectors` names its set of vectors; `texts` counts its documents."""

    name: str
    version: str
    triples: int
    things: int
    classes: int
    unavailable: dict[str, str]
    problem: str = ""
    vectors: str | None = None
    texts: int = 0


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
def graph_schema(look_up: GraphLookUpDep) -> GraphSchema:
    """Classes and predicates by IRI, with labels, counts and units."""
    with look_up.open() as opened:
        return GraphSchema(look_up.graph, opened.version, opened.schema.classes, opened.schema.predicates)


@router.get("/{graph}/report", summary="Account for every triple")
def graph_report(look_up: GraphLookUpDep) -> IngestReport:
    """The column that holds the triples of each predicate, and the triples that no column shows."""
    return _report(look_up.library, look_up.graph, look_up.library.current(look_up.graph))


@router.get(
    "/{graph}/documents/{name:path}",
    summary="Read a part of a document",
    response_class=PlainTextResponse,
    responses={200: {"content": {"text/plain": {}}, "description": "The text from `start` to `end`."}},
)
def document_text(
    look_up: GraphLookUpDep,
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
    with look_up.open(version) as opened:
        text = opened.documents.text(name, start, stop) if opened.documents is not None else None
        if text is None or opened.documents is None:
            raise NotFound(f"No document named {name[:100]!r} in graph {look_up.graph!r}.")
        page = opened.documents.page(name, start)
    headers = {"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; sandbox"}
    return PlainTextResponse(text, headers=headers | ({"X-Page": str(page)} if page is not None else {}))


@router.get("/{graph}/examples", summary="Suggest questions")
def example_questions(look_up: GraphLookUpDep) -> list[str]:
    """Questions of different kinds that this graph answers."""
    return examples_of(look_up.library, look_up.graph)


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
                "texts": graph.documents.count if graph.documents is not None else 0,
            }
            lacks = dict(graph.unavailable)
            return GraphSummary(name, graph.version, **size, unavailable=lacks, vectors=graph.vector_set)
    except (ConfigError, OSError) as error:
        return GraphSummary(name, "", 0, 0, 0, {}, error_reason(error))


# versions are immutable, so that results about one can be cached
@compute_once(64)
def _report(library: Library, name: str, version: str) -> IngestReport:
    with library.open(name, version) as graph:
        if graph.database:
            raise ToolError("unavailable", f"Graph {name!r} is attached to {graph.attached}: its rows are there.")
        return build_report(graph.tables, graph.documents, version_folder(library.data / name, version))


@compute_once(64)
def _examples(library: Library, name: str, version: str) -> list[str]:
    with library.open(name, version) as graph:
        return [each for find in services("examples") for each in find(graph, EXAMPLE_COUNT)]


MAX_IRI, MAX_LABELS, MAX_FOLLOW_UPS = 2000, 500, 3

IriQuery = Annotated[str, Query(min_length=1, max_length=MAX_IRI)]

Found = TypeVar("Found")


class LabelRequest(BaseModel):
    """IRIs of things, classes and predicates."""

    iris: list[Annotated[str, Field(max_length=MAX_IRI)]] = Field(max_length=MAX_LABELS)


@router.get("/{graph}/overview", summary="Get an overview of a graph")
def graph_overview(
    look_up: GraphLookUpDep,
    classes: Annotated[int, Query(ge=1, le=MOST_SEARCHED)] = MOST_CLASSES,
    language: Literal["en", "de", "fr"] = "en",
) -> SchemaOverview:
    """The graph in words, and its largest classes (at most 400) with the links between them."""
    library, graph, version = look_up.library, look_up.graph, look_up.library.current(look_up.graph)
    found = _overview(library, graph, version, classes)
    return replace(found, words=_overview_words(library, graph, version, language))


@router.get("/{graph}/thing", summary="Get a thing")
def thing_details(
    look_up: GraphLookUpDep, iri: IriQuery, whole: Annotated[str, Query(max_length=MAX_IRI)] = ""
) -> Thing:
    """Its facts in both directions, and passages that mention it. Of each predicate, 30 values and 12 things that link
    by it; of the predicate `whole`, up to 1,000."""
    bounds = BrowseLimits(whole=whole, passages=not whole)
    return read_graph(look_up, "thing", lambda opened: local_thing(opened, iri, bounds))


@router.get("/{graph}/class", summary="Get a class")
def class_details(
    look_up: GraphLookUpDep,
    iri: IriQuery,
    search: Annotated[str, Query(max_length=200)] = "",
    skip: Annotated[int, Query(ge=0, le=10**6)] = 0,
) -> ClassView:
    """The properties of its members, and 50 members by name from `skip` on."""
    return read_graph(look_up, "class", lambda opened: class_view(opened, iri, search, skip))


@router.post("/{graph}/labels", summary="Look up labels")
def iri_labels(look_up: GraphLookUpDep, body: LabelRequest) -> dict[str, str]:
    """Labels of things, classes and predicates; IRIs without a label are omitted."""
    return read_graph(look_up, "thing", lambda opened: look_up_labels(opened, body.iris))


@router.get("/{graph}/follow-ups", summary="Suggest follow-up questions")
def follow_up_questions(
    look_up: GraphLookUpDep,
    thing: Annotated[list[str], Query(max_length=3)],
    asked: Annotated[str, Query(max_length=4000)] = "",
    answered: Annotated[str, Query(max_length=4000)] = "",
) -> list[str]:
    """Up to three questions about these things or their class that this graph answers, and whose answers are not in
    what was `asked` and `answered`."""
    version = look_up.library.current(look_up.graph)
    return _follow_ups(look_up.library, look_up.graph, version, tuple(thing), asked, answered)


# versions are immutable, so that results about one can be cached
@compute_once(64)
def _overview(library: Library, name: str, version: str, most: int) -> SchemaOverview:
    with library.open(name, version) as graph:
        return schema_overview(graph, most)


@compute_once(64)
def _overview_words(library: Library, name: str, version: str, language: str) -> tuple[str, ...]:
    with library.open(name, version) as graph:
        return overview_words(graph, language)


@compute_once(256)
def _follow_ups(
    library: Library, name: str, version: str, things: tuple[str, ...], asked: str, answered: str
) -> list[str]:
    with library.open(name, version) as graph:
        about = graph, things, asked, answered, MAX_FOLLOW_UPS
        return [each for find in services("follow_ups") for each in find(*about)]


def read_graph(look_up: GraphLookUp, sought: str, read: Callable[[Graph], Found | None]) -> Found:
    """What `read` finds in a graph. Raises ConfigError, or NotFound if there is no `sought` ("thing", "class")."""
    with look_up.open() as opened:
        try:
            found = read(opened)
        except ToolError as error:
            raise ConfigError(str(error)) from error
    if found is None:
        raise NotFound(f"The graph has no {sought} with this IRI.")
    return found


MAX_FILTERS, MAX_FILTER, MAX_COLUMNS = 10, 4000, 20

MAX_EXPORTED = 10_000

COMPARISONS: dict[str, Comparison] = {"=": "=", ">=": ">=", "<=": "<=", "none": "none"}


async def _request(
    iri: IriQuery,
    search: Annotated[str, Query(max_length=200)] = "",
    filter: Annotated[list[Annotated[str, Query(max_length=MAX_FILTER)]], Query(max_length=MAX_FILTERS)] = [],  # noqa: B006
    sort: Annotated[str, Query(max_length=MAX_IRI)] = "",
    descending: bool = False,
    skip: Annotated[int, Query(ge=0, le=10**6)] = 0,
    column: Annotated[list[Annotated[str, Query(max_length=MAX_IRI)]], Query(max_length=MAX_COLUMNS)] = [],  # noqa: B006
) -> TableRequest:
    """`filter` is `PROPERTY = VALUE`, `PROPERTY >= VALUE`, `PROPERTY <= VALUE` or `PROPERTY none`."""
    return TableRequest(iri, search, tuple(map(_parse_filter, filter)), sort, descending, skip, tuple(column))


def _parse_filter(text: str) -> RowFilter:
    predicate, _, rest = text.partition(" ")
    comparison, _, value = rest.partition(" ")
    if not predicate or comparison not in COMPARISONS or "\0" in text:
        raise ConfigError(
            f"The filter {text[:200]!r} can't be read. Write: PROPERTY = VALUE; with >=, <= or none for the sign."
        )
    return RowFilter(predicate, COMPARISONS[comparison], value)


TableRequestDep = Annotated[TableRequest, Depends(_request)]


@router.get("/{graph}/class/table", summary="Get a class as a table")
def class_rows(look_up: GraphLookUpDep, request: TableRequestDep) -> MemberTable:
    """100 members from `skip` on, with the values of their properties: those that pass all filters, sorted.

    `filter` is `PROPERTY = VALUE`, `PROPERTY >= VALUE`, `PROPERTY <= VALUE` or `PROPERTY none`, with the IRI of the
    property; several are combined with "and". Up to a million members are counted.
    """
    return read_graph(look_up, "class", lambda opened: class_table(opened, request))


@router.get("/{graph}/class/facet", summary="Count the values of a property")
def class_values(
    look_up: GraphLookUpDep, request: TableRequestDep, property: Annotated[str, Query(min_length=1, max_length=MAX_IRI)]
) -> Facet:
    """The 30 most frequent values among the members that pass the other filters, and the lowest and highest number."""
    return read_graph(look_up, "class", lambda opened: class_facet(opened, request, property))


@router.get(
    "/{graph}/class/file",
    summary="Get a class as a CSV or JSON file",
    response_class=PlainTextResponse,
    responses={200: {"content": {"text/csv": {}, "application/json": {}}, "description": "The rows."}},
)
def class_file(look_up: GraphLookUpDep, request: TableRequestDep, format: Literal["csv", "json"] = "csv") -> Response:
    """Up to 10,000 rows from `skip` on, with the IRI of each member. Several values of a cell are separated by "; "."""
    table = read_graph(look_up, "class", lambda opened: class_table(opened, request, MAX_EXPORTED))
    report_deed(look_up.caller, "exported a class", graph=look_up.graph, rows=len(table.rows))
    heads = ["iri", "name", *(f"{c.label} [{c.unit}]" if c.unit else c.label for c in table.columns)]
    headers = {"Content-Disposition": f'attachment; filename="table.{format}"'}
    if format == "json":
        return JSONResponse({"columns": heads, "rows": list(_rows(table))}, headers=headers)
    return PlainTextResponse(csv_text([heads, *_rows(table)]), media_type="text/csv", headers=headers)


def _rows(table: MemberTable) -> Iterator[list[str]]:
    own = [{"1": "yes", "true": "yes", "0": "no", "false": "no"} if c.kind == "boolean" else {} for c in table.columns]
    for row in table.rows:
        cells = zip(own, row.cells, strict=True)
        yield [row.iri, row.label, *("; ".join(word.get(end.text, end.text) for end in cell) for word, cell in cells)]
