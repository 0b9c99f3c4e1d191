"""Dependencies of routes: request -> turn service, runs, metrics, threads, graph name; and the documented errors. A
look-up holds its slot to its end, and is told to stop when its client disconnects or after NACRE_BRANCH_SECONDS."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import Annotated, Any, NamedTuple, TypeVar

from fastapi import Depends, HTTPException, Request
from pydantic import BaseModel, ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from sse_starlette import EventSourceResponse, ServerSentEvent

from nacre.errors import ConfigError
from nacre.records.threads import CancelToken, WorkCancelled, cancel_token
from nacre.serving.errors import NotFound, StorageUnavailable
from nacre.serving.http.auth import CallerDep
from nacre.serving.keys import Caller
from nacre.serving.runs import Run, Runs
from nacre.serving.telemetry import Metrics, trace_turn
from nacre.serving.threads import Threads
from nacre.serving.turn_service import TurnInput, TurnService
from nacre.stores.catalog import Graph, Library

# problems of a request that a reply names (given)
MAX_PROBLEMS = 20


def _name_few_problems(value: Any, validate: ValidatorFunctionWrapHandler) -> Any:
    try:
        return validate(value)
    except ValidationError as error:
        # describing each takes longer than finding all
        if (count := error.error_count()) <= MAX_PROBLEMS:
            raise
        raise ValueError(f"the body has {count} problems; see /api/docs") from None


# of bodies with lists of any length
FewProblems = WrapValidator(_name_few_problems)


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


def _of_app(name: str) -> Any:
    """The dependency of a route on an attribute of the app's state."""

    async def value(request: Request) -> Any:
        return getattr(request.app.state, name)

    return Depends(value)


TurnServiceDep = Annotated[TurnService, _of_app("turn_service")]

RunsDep = Annotated[Runs, _of_app("runs")]

MetricsDep = Annotated[Metrics, _of_app("metrics")]


async def _threads(service: TurnServiceDep) -> Threads:
    if service.threads is None:
        raise StorageUnavailable("This server stores no conversations.")
    return service.threads


async def _graph(request: Request, service: TurnServiceDep, graph: str) -> str:
    if graph not in await asyncio.to_thread(service.graph_names, request.state.caller):
        raise NotFound(f"No graph named {graph!r}. List them at /api/graphs.")
    return graph


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

CLIENT_LEFT = 499  # no client receives it; nginx logs such requests with this status


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


Events = AsyncGenerator[tuple[str, Any]]


@dataclass(frozen=True)
class TurnContext:
    """What the routes that ask questions work with, for one request."""

    request: Request
    service: TurnService
    runs: Runs
    metrics: Metrics
    caller: Caller

    async def begin_turn(
        self,
        turn: TurnInput,
        *,
        resumed: bool = True,
        lasting: bool = False,
        place: str | None = None,
        watch: Callable[[Events], Events] = lambda events: events,
    ) -> Run:
        """Start a turn as a run, in its thread or at a `place`; `watch` follows its events. Raises NacreError."""
        turn = replace(turn, caller=self.caller)
        graph = turn.graph if turn.is_checked and turn.graph else await self.service.check_question(turn)
        thread = turn.thread or place
        owner = self.caller.owner
        run = self.runs.create(owner, graph, resumed=resumed, lasting=lasting, thread=thread, id=turn.id)
        events = watch(self.service.events(replace(turn, graph=graph, id=run.id, is_checked=True)))
        self.runs.start(run, self.measured(events))
        return run

    def measured(self, events: Events) -> Events:
        """The same events of a turn, counted and traced."""
        return trace_turn(self.metrics.count_events(events), self.request.headers)

    def event_stream(
        self, events: AsyncIterator[bytes | ServerSentEvent], headers: dict[str, str] | None = None
    ) -> EventSourceResponse:
        """A reply with server-sent events. It goes on for a while when the server stops, so that turns can end."""
        state = self.request.app.state
        grace = state.settings.stop_seconds + 5
        return EventSourceResponse(
            events, sep="\n", headers=headers, shutdown_event=state.stopping, shutdown_grace_period=grace
        )

    async def wait_for_end(self, run: Run) -> None:
        """Wait for the end of a run. If the client disconnects, the run is stopped unless it is lasting."""
        disconnecting = asyncio.create_task(wait_for_disconnect(self.request))
        ending = asyncio.create_task(run.wait())
        try:
            await asyncio.wait([disconnecting, ending], return_when=asyncio.FIRST_COMPLETED)
            if not ending.done() and not run.is_lasting:
                run.stop()
            await ending
        finally:
            disconnecting.cancel()
            await asyncio.wait([disconnecting])


def turn_context(request: Request) -> TurnContext:
    """The context of a request that was authenticated."""
    state = request.app.state
    return TurnContext(request, state.turn_service, state.runs, state.metrics, request.state.caller)


async def _turn_context(request: Request, caller: CallerDep) -> TurnContext:
    return turn_context(request)


TurnContextDep = Annotated[TurnContext, Depends(_turn_context)]


def encode_events(events: Iterable[ServerSentEvent]) -> bytes:
    """Events that are sent together, since each send passes through every layer of the server."""
    return b"".join(event.encode() for event in events)


# released before the reply is sent, so that a slow reader holds no slot
LookUpSlotDep = Annotated[None, Depends(hold_look_up_slot, scope="function")]


class GraphLookUp(NamedTuple):
    """A look-up in one graph, in its slot, by a caller who may read it."""

    library: Library
    caller: Caller
    graph: str

    def open(self, version: str | None = None) -> Graph:
        """The open graph; release it with `close`. Raises ConfigError."""
        return self.library.open(self.graph, version)


async def _graph_look_up(
    service: TurnServiceDep, caller: CallerDep, slot: LookUpSlotDep, graph: GraphNameDep
) -> GraphLookUp:
    return GraphLookUp(service.library, caller, graph)


GraphLookUpDep = Annotated[GraphLookUp, Depends(_graph_look_up)]
