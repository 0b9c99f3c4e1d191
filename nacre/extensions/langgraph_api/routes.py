"""LangGraph's API at /langgraph: the routes of assistants, threads and runs, and what clients ask first.

Each graph that the caller may read is one assistant; the drawn graph and the schemas.
"""

from importlib.metadata import version
from typing import Any, NoReturn

from fastapi import APIRouter, FastAPI

from nacre.extensions.langgraph_api.requests import AssistantSearch, assistant_record, graph_of_assistant
from nacre.extensions.langgraph_api.run_routes import router as run_router
from nacre.extensions.langgraph_api.thread_routes import router as thread_router
from nacre.serving.errors import NotFound
from nacre.serving.http.auth import CallerDep
from nacre.serving.http.dependencies import ERROR_RESPONSES, LookUpSlotDep, TurnServiceDep
from nacre.serving.http.errors import LANGGRAPH
from nacre.serving.keys import Caller
from nacre.serving.turn_service import TurnService

assistant_router = APIRouter(prefix="/assistants", tags=["langgraph"], responses=ERROR_RESPONSES)


@assistant_router.post("/search", response_model=None)
def search_assistants(
    body: AssistantSearch, service: TurnServiceDep, caller: CallerDep, slot: LookUpSlotDep
) -> list[dict[str, Any]]:
    """The graphs that the caller may read, as assistants."""
    return _found(body, service, caller)[body.offset : body.offset + body.limit]


@assistant_router.post("/count", response_model=None)
def count_assistants(body: AssistantSearch, service: TurnServiceDep, caller: CallerDep, slot: LookUpSlotDep) -> int:
    """How many there are."""
    return len(_found(body, service, caller))


@assistant_router.get("/{assistant}", response_model=None)
def get_assistant(assistant: str, service: TurnServiceDep, caller: CallerDep, slot: LookUpSlotDep) -> dict[str, Any]:
    """One assistant, by its id or the name of its graph."""
    return assistant_record(_graph(assistant, service, caller))


@assistant_router.get("/{assistant}/graph", response_model=None)
def get_graph(assistant: str, service: TurnServiceDep, caller: CallerDep, slot: LookUpSlotDep) -> dict[str, Any]:
    """The nodes and edges of a turn."""
    _graph(assistant, service, caller)
    return dict(service.app.get_graph().to_json())


@assistant_router.get("/{assistant}/schemas", response_model=None)
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


@assistant_router.get("/{assistant}/subgraphs", response_model=None)
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


router = APIRouter(prefix=LANGGRAPH, tags=["langgraph"])


@router.get("/ok", response_model=None)
async def get_ok(caller: CallerDep) -> dict[str, bool]:
    """The server answers, and the key is valid."""
    return {"ok": True}


@router.get("/info", response_model=None)
async def get_info(caller: CallerDep) -> dict[str, Any]:
    """The server, its version and what it offers of LangGraph's API."""
    offered = {"assistants": True, "crons": False, "langsmith": False, "store": False}
    return {
        "name": "nacre",
        "version": version("nacre"),
        "langgraph_py_version": version("langgraph"),
        "flags": offered,
    }


for routes in (assistant_router, run_router, thread_router):
    router.include_router(routes)


@router.api_route(
    "/{path:path}", methods=["GET", "POST", "PUT", "PATCH", "DELETE"], response_model=None, include_in_schema=False
)
async def unsupported_route(path: str, caller: CallerDep) -> NoReturn:
    """What this server leaves out: schedules, the store, assistants of one's own."""
    raise NotFound(
        f"This server has no /langgraph/{path[:60]}. It has assistants, threads and runs; see docs/clients.md."
    )


def add_langgraph_api(app: FastAPI, *, alone: bool) -> None:
    """Add the routes, unless a platform's server has its own."""
    if alone:
        app.include_router(router)
