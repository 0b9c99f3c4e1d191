"""/api/graphs/{graph}/...: a picture of the schema, things and classes, names of IRIs, questions that go on."""

from functools import lru_cache
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from ingestion.checked_questions import find_follow_up_questions
from nacre.access.browse import class_view as browse_class
from nacre.access.browse.local_thing import local_thing as facts_of
from nacre.access.browse.overview import SchemaOverview, schema_overview
from nacre.access.labels import look_up_labels as named
from nacre.errors import ConfigError, ToolError
from nacre.records.browse import ClassView, Thing
from nacre.serving.http.auth import CallerDep
from nacre.serving.http.dependencies import ERROR_RESPONSES, GraphNameDep, TurnServiceDep
from nacre.serving.http.errors import NotFound
from nacre.stores.catalog import Library

LONGEST_IRI, MOST_NAMED, MOST_NEXT = 2000, 500, 3

router = APIRouter(prefix="/api/graphs", tags=["graphs"], responses=ERROR_RESPONSES)

IriQuery = Annotated[str, Query(min_length=1, max_length=LONGEST_IRI)]


class LabelRequest(BaseModel):
    """What is to be named: IRIs of things, classes and predicates."""

    iris: list[Annotated[str, Field(max_length=LONGEST_IRI)]] = Field(max_length=MOST_NAMED)


@router.get("/{graph}/overview", summary="See a graph at a glance")
def graph_overview(service: TurnServiceDep, caller: CallerDep, graph: GraphNameDep) -> SchemaOverview:
    """Its largest classes and the links between them."""
    return _overview(service.library, graph, service.library.current(graph))


@router.get("/{graph}/thing", summary="See a thing")
def thing_details(service: TurnServiceDep, caller: CallerDep, graph: GraphNameDep, iri: IriQuery) -> Thing:
    """Facts that start at it and that end at it, and passages that name it."""
    with service.library.open(graph) as opened:
        try:
            found = facts_of(opened, iri)
        except ToolError as error:
            raise ConfigError(str(error)) from error
    if found is None:
        raise NotFound("The graph knows no such thing.")
    return found


@router.get("/{graph}/class", summary="See a class")
def class_details(
    service: TurnServiceDep,
    caller: CallerDep,
    graph: GraphNameDep,
    iri: IriQuery,
    search: Annotated[str, Query(max_length=200)] = "",
    skip: Annotated[int, Query(ge=0, le=10**6)] = 0,
) -> ClassView:
    """What its members have, and 50 of them by name from `skip` on."""
    with service.library.open(graph) as opened:
        try:
            found = browse_class.class_view(opened, iri, search, skip)
        except ToolError as error:
            raise ConfigError(str(error)) from error
    if found is None:
        raise NotFound("The graph knows no such class.")
    return found


@router.post("/{graph}/labels", summary="Name IRIs")
def iri_labels(service: TurnServiceDep, caller: CallerDep, graph: GraphNameDep, given: LabelRequest) -> dict[str, str]:
    """What things, classes and predicates are called; what has no name is left out."""
    with service.library.open(graph) as opened:
        try:
            return named(opened, given.iris)
        except ToolError as error:
            raise ConfigError(str(error)) from error


@router.get("/{graph}/follow-ups", summary="Questions that go on")
def follow_up_questions(
    service: TurnServiceDep,
    caller: CallerDep,
    graph: GraphNameDep,
    thing: Annotated[list[str], Query(max_length=3)],
    asked: Annotated[str, Query(max_length=4000)] = "",
) -> list[str]:
    """Up to three questions about these things, or their kind, that this graph answers."""
    return _onward(service.library, graph, service.library.current(graph), tuple(thing), asked)


# a version never changes, so that what is worked out of it holds
@lru_cache(64)
def _overview(library: Library, name: str, version: str) -> SchemaOverview:
    with library.open(name, version) as graph:
        return schema_overview(graph)


@lru_cache(256)
def _onward(library: Library, name: str, version: str, things: tuple[str, ...], asked: str) -> list[str]:
    with library.open(name, version) as graph:
        return find_follow_up_questions(graph, things, asked, MOST_NEXT)
