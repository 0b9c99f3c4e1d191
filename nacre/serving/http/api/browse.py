"""/api/graphs/{graph}/...: an overview of the schema, things and classes, labels of IRIs, follow-up questions."""

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Literal, TypeVar

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from ingestion.checked_questions import find_follow_up_questions
from nacre.access.browse.class_view import class_view
from nacre.access.browse.local_thing import local_thing
from nacre.access.browse.overview import MOST_CLASSES, MOST_SEARCHED, SchemaOverview, overview_words, schema_overview
from nacre.access.labels import look_up_labels
from nacre.errors import ConfigError, ToolError
from nacre.records.browse import BrowseLimits, ClassView, Thing
from nacre.serving.errors import NotFound
from nacre.serving.http.auth import CallerDep
from nacre.serving.http.dependencies import ERROR_RESPONSES, GraphNameDep, TurnServiceDep
from nacre.serving.http.look_up import LookUpSlotDep
from nacre.stores.catalog import Library
from nacre.stores.compute_once import compute_once
from nacre.stores.graph import Graph

MAX_IRI, MAX_LABELS, MAX_FOLLOW_UPS = 2000, 500, 3

router = APIRouter(prefix="/api/graphs", tags=["graphs"], responses=ERROR_RESPONSES)

IriQuery = Annotated[str, Query(min_length=1, max_length=MAX_IRI)]
Found = TypeVar("Found")


class LabelRequest(BaseModel):
    """IRIs of things, classes and predicates."""

    iris: list[Annotated[str, Field(max_length=MAX_IRI)]] = Field(max_length=MAX_LABELS)


@router.get("/{graph}/overview", summary="Get an overview of a graph")
def graph_overview(
    service: TurnServiceDep,
    caller: CallerDep,
    slot: LookUpSlotDep,
    graph: GraphNameDep,
    classes: Annotated[int, Query(ge=1, le=MOST_SEARCHED)] = MOST_CLASSES,
    language: Literal["en", "de", "fr"] = "en",
) -> SchemaOverview:
    """The graph in words, and its largest classes (at most 400) with the links between them."""
    version = service.library.current(graph)
    found = _overview(service.library, graph, version, classes)
    return replace(found, words=_overview_words(service.library, graph, version, language))


@router.get("/{graph}/thing", summary="Get a thing")
def thing_details(
    service: TurnServiceDep,
    caller: CallerDep,
    slot: LookUpSlotDep,
    graph: GraphNameDep,
    iri: IriQuery,
    whole: Annotated[str, Query(max_length=MAX_IRI)] = "",
) -> Thing:
    """Its facts in both directions, and passages that mention it. Of each predicate, 30 values and 12 things that link
    by it; of the predicate `whole`, up to 1,000."""
    bounds = BrowseLimits(whole=whole, passages=not whole)
    return read_graph(service.library, graph, "thing", lambda opened: local_thing(opened, iri, bounds))


@router.get("/{graph}/class", summary="Get a class")
def class_details(
    service: TurnServiceDep,
    caller: CallerDep,
    slot: LookUpSlotDep,
    graph: GraphNameDep,
    iri: IriQuery,
    search: Annotated[str, Query(max_length=200)] = "",
    skip: Annotated[int, Query(ge=0, le=10**6)] = 0,
) -> ClassView:
    """The properties of its members, and 50 members by name from `skip` on."""
    return read_graph(service.library, graph, "class", lambda opened: class_view(opened, iri, search, skip))


@router.post("/{graph}/labels", summary="Look up labels")
def iri_labels(
    service: TurnServiceDep, caller: CallerDep, slot: LookUpSlotDep, graph: GraphNameDep, body: LabelRequest
) -> dict[str, str]:
    """Labels of things, classes and predicates; IRIs without a label are omitted."""
    with service.library.open(graph) as opened:
        try:
            return look_up_labels(opened, body.iris)
        except ToolError as error:
            raise ConfigError(str(error)) from error


@router.get("/{graph}/follow-ups", summary="Suggest follow-up questions")
def follow_up_questions(
    service: TurnServiceDep,
    caller: CallerDep,
    slot: LookUpSlotDep,
    graph: GraphNameDep,
    thing: Annotated[list[str], Query(max_length=3)],
    asked: Annotated[str, Query(max_length=4000)] = "",
    answered: Annotated[str, Query(max_length=4000)] = "",
) -> list[str]:
    """Up to three questions about these things or their class that this graph answers, and whose answers are not in
    what was `asked` and `answered`."""
    return _follow_ups(service.library, graph, service.library.current(graph), tuple(thing), asked, answered)


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
        return find_follow_up_questions(graph, things, asked, answered, MAX_FOLLOW_UPS)


def read_graph(library: Library, name: str, sought: str, read: Callable[[Graph], Found | None]) -> Found:
    """What `read` finds in the graph of this name.

    Raises ConfigError where its store refuses, and NotFound if there is no `sought` ("thing", "class") with the IRI.
    """
    with library.open(name) as opened:
        try:
            found = read(opened)
        except ToolError as error:
            raise ConfigError(str(error)) from error
    if found is None:
        raise NotFound(f"The graph has no {sought} with this IRI.")
    return found
