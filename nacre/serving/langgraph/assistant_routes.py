"""Assistants of LangGraph's API: one for each graph that the caller may read; the drawn graph and the schemas."""

from typing import Any

from fastapi import APIRouter

from nacre.serving.http.auth import CallerDep
from nacre.serving.http.dependencies import ERROR_RESPONSES, TurnServiceDep
from nacre.serving.http.look_up import LookUpSlotDep
from nacre.serving.keys import Caller
from nacre.serving.langgraph.assistant_records import assistant_record, graph_of_assistant
from nacre.serving.langgraph.requests import AssistantSearch
from nacre.serving.turn_service import TurnService

router = APIRouter(prefix="/assistants", tags=["langgraph"], responses=ERROR_RESPONSES)


@router.post("/search", response_model=None)
def search_assistants(
    body: AssistantSearch, service: TurnServiceDep, caller: CallerDep, slot: LookUpSlotDep
) -> list[dict[str, Any]]:
    """The graphs that the caller may read, as assistants."""
    return _found(body, service, caller)[body.offset : body.offset + body.limit]


@router.post("/count", response_model=None)
def count_assistants(body: AssistantSearch, service: TurnServiceDep, caller: CallerDep, slot: LookUpSlotDep) -> int:
    """How many there are."""
    return len(_found(body, service, caller))


@router.get("/{assistant}", response_model=None)
def get_assistant(assistant: str, service: TurnServiceDep, caller: CallerDep, slot: LookUpSlotDep) -> dict[str, Any]:
    """One assistant, by its id or the name of its graph."""
    return assistant_record(_graph(assistant, service, caller))


@router.get("/{assistant}/graph", response_model=None)
def get_graph(assistant: str, service: TurnServiceDep, caller: CallerDep, slot: LookUpSlotDep) -> dict[str, Any]:
    """The nodes and edges of a turn."""
    _graph(assistant, service, caller)
    return dict(service.app.get_graph().to_json())


@router.get("/{assistant}/schemas", response_model=None)
def get_schemas(assistant: str, service: TurnServiceDep, caller: CallerDep, slot: LookUpSlotDep) -> dict[str, Any]:
    """The JSON schemas of input, output, state and context."""
    app = service.app
    return {
        "graph_id": _graph(assistant, service, caller),
        "input_schema": app.get_input_jsonschema(),
        "output_schema": app.get_output_jsonschema(),
        "state_schema": app.get_output_jsonschema(),
        "config_schema": {},
        "context_schema": app.get_context_jsonschema(),
    }


@router.get("/{assistant}/subgraphs", response_model=None)
def get_subgraphs(assistant: str, service: TurnServiceDep, caller: CallerDep, slot: LookUpSlotDep) -> dict[str, Any]:
    """There are none."""
    _graph(assistant, service, caller)
    return {}


def _found(body: AssistantSearch, service: TurnService, caller: Caller) -> list[dict[str, Any]]:
    listed = [assistant_record(name) for name in service.graph_names(caller)]
    wanted = body.metadata or {}
    return [
        each
        for each in listed
        if body.graph_id in (None, each["graph_id"])
        and body.name in (None, each["name"])
        and all(each["metadata"].get(key) == value for key, value in wanted.items())
    ]


def _graph(assistant: str, service: TurnService, caller: Caller) -> str:
    """The graph of an assistant; for the assistant of any graph the only one."""
    return graph_of_assistant(assistant, service, caller) or service.resolve_graph(None, caller)
