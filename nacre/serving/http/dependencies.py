"""What routes reach: request -> the open data folder, its runs, its counters; and what they say of refusals."""

from typing import Annotated, Any

from fastapi import Depends, Request
from pydantic import BaseModel

from nacre.serving.http.errors import NotFound, StorageUnavailable
from nacre.serving.http.metrics import Metrics
from nacre.serving.runs import Runs
from nacre.serving.threads import Threads
from nacre.serving.turn_service import TurnService


class ErrorBody(BaseModel):
    """Why a request was refused, and what to do."""

    detail: str | list[Any]


ERROR_RESPONSES: dict[int | str, dict[str, Any]] = {
    code: {"model": ErrorBody, "description": words}
    for code, words in {
        400: "The body can't be read.",
        401: "No key, or one that opens nothing.",
        403: "A page of another origin.",
        404: "Not there, or not for this key.",
        409: "The thread is about another graph.",
        413: "The request is too large.",
        422: "It can't be used as it is; the reply says why.",
        429: "Too much at once; Retry-After says when to come back.",
        503: "The conversations can't be read or written now.",
    }.items()
}


def _service(request: Request) -> TurnService:
    found: TurnService = request.app.state.turn_service
    return found


def _runs(request: Request) -> Runs:
    found: Runs = request.app.state.runs
    return found


def _metrics(request: Request) -> Metrics:
    found: Metrics = request.app.state.metrics
    return found


def _threads(request: Request) -> Threads:
    threads = _service(request).threads
    if threads is None:
        raise StorageUnavailable("No conversations are kept here.")
    return threads


def _graph(request: Request, graph: str) -> str:
    if graph not in _service(request).graph_names(request.state.caller):
        raise NotFound(f"No graph named {graph!r}. List them at /api/graphs.")
    return graph


TurnServiceDep = Annotated[TurnService, Depends(_service)]
RunsDep = Annotated[Runs, Depends(_runs)]
MetricsDep = Annotated[Metrics, Depends(_metrics)]
ThreadsDep = Annotated[Threads, Depends(_threads)]
GraphNameDep = Annotated[str, Depends(_graph)]
