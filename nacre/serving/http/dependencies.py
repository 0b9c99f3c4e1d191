"""Dependencies of routes: request -> turn service, runs, metrics, threads, graph name; and the documented errors.

Routes that are plain functions take the slot of a look-up, held until its end. A look-up is told to stop when its
client disconnects or after NACRE_BRANCH_SECONDS; so is any coroutine whose client has disconnected.
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack
from typing import Annotated, Any, TypeVar

from fastapi import Depends, HTTPException, Request
from pydantic import BaseModel

from nacre.errors import ConfigError
from nacre.records.threads import CancelToken, WorkCancelled, cancel_token
from nacre.serving.errors import NotFound, StorageUnavailable
from nacre.serving.http.auth import CallerDep
from nacre.serving.runs import Runs
from nacre.serving.telemetry import Metrics
from nacre.serving.threads import Threads
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


async def hold_look_up_slot(request: Request, service: TurnServiceDep, caller: CallerDep) -> AsyncIterator[None]:
    """Hold a slot while a route runs. Work that was told to stop becomes an error of the request."""
    seconds = service.composition.settings.branch_seconds
    token = CancelToken()
    async with AsyncExitStack() as stack:
        await run_while_connected(request, stack.enter_async_context(service.look_up_slot(caller)))
        # the thread of the route runs with a copy of this context
        cancel_token.set(token)
        watching = asyncio.create_task(_cancel_in_time(request, token, seconds))
        stack.callback(watching.cancel)
        try:
            yield
        except WorkCancelled:
            raise ConfigError(f"This look-up was stopped after {seconds:g} seconds. Ask for less.") from None


async def _cancel_in_time(request: Request, token: CancelToken, seconds: float) -> None:
    """Tell the work to stop when the client has disconnected, at the latest after so many seconds."""
    try:
        await asyncio.wait_for(wait_for_disconnect(request), seconds)
    except TimeoutError:
        pass
    finally:
        token.over = True


T = TypeVar("T")

# no client receives it; nginx logs such requests with this status
CLIENT_LEFT = 499


async def wait_for_disconnect(request: Request) -> None:
    """Return when the client has disconnected. The body must have been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def run_while_connected(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """The result of the work; the work is cancelled if the client disconnects."""
    working, disconnecting = asyncio.ensure_future(work), asyncio.ensure_future(wait_for_disconnect(request))
    try:
        await asyncio.wait([working, disconnecting], return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise HTTPException(CLIENT_LEFT, "The client has disconnected.")
    finally:
        working.cancel()
        disconnecting.cancel()
        # asyncio logs an error of work that nobody waits for any more
        await asyncio.wait([working, disconnecting])


# released before the reply is sent, so that a slow reader holds no slot
LookUpSlotDep = Annotated[None, Depends(hold_look_up_slot, scope="function")]
