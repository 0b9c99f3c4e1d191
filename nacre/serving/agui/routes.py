"""The route /agui: the input of a run -> its events as server-sent events."""

import json
from collections.abc import AsyncIterator, Iterable
from contextlib import aclosing
from typing import Annotated, Any

from ag_ui.core import BaseEvent, RunAgentInput
from ag_ui.encoder import EventEncoder
from fastapi import APIRouter, Query, Request
from sse_starlette import EventSourceResponse

from agents.run_in_thread import run_in_thread
from nacre.serving.agui.run_events import RunEvents
from nacre.serving.agui.run_request import parse_run_request
from nacre.serving.http.auth import CallerDep
from nacre.serving.http.dependencies import ERROR_RESPONSES, MetricsDep, RunsDep, TurnServiceDep
from nacre.serving.runs import Run
from nacre.serving.tracing import trace_turn

STREAM_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Server-sent events of AG-UI.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}

router = APIRouter(tags=["agui"], responses=ERROR_RESPONSES)


@router.post(
    "/agui",
    summary="Run the graph as an AG-UI agent",
    response_model=None,
    response_class=EventSourceResponse,
    responses=STREAM_RESPONSES,
)
async def run_agent(
    body: RunAgentInput,
    request: Request,
    service: TurnServiceDep,
    runs: RunsDep,
    metrics: MetricsDep,
    caller: CallerDep,
    graph: Annotated[str | None, Query(description="The graph; may be omitted if there is only one.")] = None,
) -> EventSourceResponse:
    """Ask the last message, in the conversation `threadId`, which the server stores.

    A question that can be meant in several ways ends with an interrupt; resume it with `{"option": N}`. If the client
    disconnects, its turn ends.
    """
    service.check_capacity()
    asked = await parse_run_request(body, graph, service, caller)
    if asked.question is None:
        name = await run_in_thread(service.resolve_graph, asked.graph, caller)
        return _event_stream(_without_turn(RunEvents(body, "", name)), request)
    name = await service.check_question(asked.question, asked.graph, asked.thread, caller, asked.context)
    run = runs.create(caller.owner, name, resumed=False)
    events = service.events(
        asked.question, name, asked.thread, asked.context, run.id, caller, asked.instead_of, is_checked=True
    )
    runs.start(run, trace_turn(metrics.count_events(events), request.headers))
    return _event_stream(_of_turn(run, RunEvents(body, run.id, name)), request)


async def _without_turn(events: RunEvents) -> AsyncIterator[bytes]:
    yield _encode([*events.opening(), events.closing()])


async def _of_turn(run: Run, events: RunEvents) -> AsyncIterator[bytes]:
    """The events of a turn; those that are available at once are sent together."""
    yield _encode([*events.opening(), *events.first_step()])
    async with aclosing(run.batches()) as batches:
        async for batch in batches:
            translated = (events.events(each.kind, json.loads(each.data)) for _, each in batch)
            if encoded := _encode(event for some in translated for event in some):
                yield encoded


def _encode(events: Iterable[BaseEvent]) -> bytes:
    encoder = EventEncoder()
    return "".join(encoder.encode(event) for event in events).encode()


def _event_stream(events: AsyncIterator[bytes], request: Request) -> EventSourceResponse:
    state = request.app.state
    return EventSourceResponse(
        events, sep="\n", shutdown_event=state.stopping, shutdown_grace_period=state.settings.stop_seconds + 5
    )
