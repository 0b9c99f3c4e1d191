"""Dependencies of routes: request -> turn service, runs, metrics, threads, graph name; and the documented errors."""

import asyncio
from typing import Annotated, Any

from fastapi import Depends, Request
from pydantic import BaseModel

from nacre.serving.conversations.threads import Threads
from nacre.serving.errors import NotFound, StorageUnavailable
from nacre.serving.http.metrics import Metrics
from nacre.serving.runs import Runs
from nacre.serving.turn_service import TurnService


class ErrorBody(BaseModel):
    """Why a request was refused and how to correct it."""

    detail: str | list[Any]


ERROR_RESPONSES: dict[int | str, dict[str, Any]] = {
    code: {"model": ErrorBody, "description": words}
    for code, words in {
        400: "The body can't be read.",
        401: "The key is missing or not valid.",
        403: "The request came from a page of another origin, or the key has no right to do this.",
        404: "Not found, or not readable with this key.",
        409: "The thread is about another graph.",
        413: "The request is too large.",
        422: "The request is not valid; the reply says why.",
        429: "Too many requests; Retry-After says when to try again.",
        503: "The conversations can't be read or written now.",
    }.items()
}


class OpenAIErrorDetail(BaseModel):
    """What an error of OpenAI's API says."""

    message: str
    type: str
    param: str | None
    code: str | None


class OpenAIErrorBody(BaseModel):
    """The body of an error of OpenAI's API."""

    error: OpenAIErrorDetail


OPENAI_ERROR_RESPONSES: dict[int | str, dict[str, Any]] = {
    code: {**response, "model": OpenAIErrorBody}
    for code, response in ERROR_RESPONSES.items()
    # OpenAI's API has no status 422
    if code != 422
}


async def _service(request: Request) -> TurnService:
    value: TurnService = request.app.state.turn_service
    return value


async def _runs(request: Request) -> Runs:
    value: Runs = request.app.state.runs
    return value


async def _metrics(request: Request) -> Metrics:
    value: Metrics = request.app.state.metrics
    return value


async def _threads(request: Request) -> Threads:
    threads = (await _service(request)).threads
    if threads is None:
        raise StorageUnavailable("This server stores no conversations.")
    return threads


async def _graph(request: Request, graph: str) -> str:
    service = await _service(request)
    if graph not in await asyncio.to_thread(service.graph_names, request.state.caller):
        raise NotFound(f"No graph named {graph!r}. List them at /api/graphs.")
    return graph


TurnServiceDep = Annotated[TurnService, Depends(_service)]
RunsDep = Annotated[Runs, Depends(_runs)]
MetricsDep = Annotated[Metrics, Depends(_metrics)]
ThreadsDep = Annotated[Threads, Depends(_threads)]
GraphNameDep = Annotated[str, Depends(_graph)]
