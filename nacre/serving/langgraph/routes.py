"""LangGraph's API at /langgraph: the routes of assistants, threads and runs, and what clients ask first."""

from importlib.metadata import version
from typing import Any, NoReturn

from fastapi import APIRouter

from nacre.serving.errors import NotFound
from nacre.serving.http.auth import CallerDep
from nacre.serving.http.error_formats import LANGGRAPH
from nacre.serving.langgraph import assistant_routes, run_routes, thread_routes

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


for module in (assistant_routes, run_routes, thread_routes):
    router.include_router(module.router)


@router.api_route(
    "/{path:path}", methods=["GET", "POST", "PUT", "PATCH", "DELETE"], response_model=None, include_in_schema=False
)
async def unsupported_route(path: str, caller: CallerDep) -> NoReturn:
    """What this server leaves out: schedules, the store, assistants of one's own."""
    raise NotFound(
        f"This server has no /langgraph/{path[:60]}. It has assistants, threads and runs; see docs/clients.md."
    )
