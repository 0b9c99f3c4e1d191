"""/api/ask and /api/runs: a question -> a turn as server-sent events or its record; resuming and stopping it."""

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Annotated, Any

from fastapi import APIRouter, Header, Request, Response
from fastapi.responses import JSONResponse
from pydantic import Field
from sse_starlette import EventSourceResponse, ServerSentEvent

from agents.run_in_thread import run_in_thread
from graph.context import Context
from nacre.records.answer import Answer
from nacre.serving.errors import NotFound
from nacre.serving.http.auth import CallerDep
from nacre.serving.http.dependencies import ERROR_RESPONSES, MetricsDep, RunsDep, TurnServiceDep
from nacre.serving.keys import Caller
from nacre.serving.runs import Run
from nacre.serving.tracing import trace_turn
from nacre.serving.turn_service import TurnService

STREAM_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Server-sent events; only the record if JSON is accepted and event streams are not.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
        "model": Answer,
    }
}

router = APIRouter(prefix="/api", tags=["ask"], responses=ERROR_RESPONSES)


class AskRequest(Context):
    """A question and the options of its turn."""

    question: str = Field(description="The question.", min_length=1)
    thread: str | None = Field(None, description="The conversation it belongs to; without one nothing is stored.")
    instead_of: int | None = Field(None, ge=1, le=2**31, description="A turn to remove first, with all later ones.")


@router.post("/ask", summary="Ask", response_model=None, responses=STREAM_RESPONSES)
async def ask(
    body: AskRequest,
    request: Request,
    service: TurnServiceDep,
    runs: RunsDep,
    metrics: MetricsDep,
    caller: CallerDep,
    accept: Annotated[str, Header()] = "*/*",
    last_event_id: Annotated[str | None, Header()] = None,
) -> Response:
    """A turn as it happens: `rewriter`, `understand`, `route`, `query`, `evidence`, `token`, `answer`; or `error`;
    then always `done`. The joined tokens equal the record's `answer`. Send `Last-Event-ID` to get the missed events.
    """
    if last_event_id:
        return await resume_run(last_event_id, request, service, runs, caller)
    service.check_capacity()
    context = Context(**body.model_dump(include=set(Context.model_fields)))
    name = await service.check_question(body.question, body.graph, body.thread, caller, context)
    if body.instead_of is not None and body.thread and service.threads is not None:
        await service.threads.get(caller, body.thread)
    run = runs.create(caller.owner, name, thread=body.thread)
    events = service.events(body.question, name, body.thread, context, run.id, caller, body.instead_of, is_checked=True)
    runs.start(run, trace_turn(metrics.count_events(events), request.headers))
    if "json" in accept and "event-stream" not in accept:
        return await _record(run)
    return _event_stream(run, request)


@router.get("/runs/{run}", summary="Resume a turn", response_model=None, responses=STREAM_RESPONSES)
async def follow_run(
    run: str,
    request: Request,
    service: TurnServiceDep,
    runs: RunsDep,
    caller: CallerDep,
    last_event_id: Annotated[str | None, Header()] = None,
) -> Response:
    """The events after the one in `Last-Event-ID`; without it all events."""
    return await resume_run(last_event_id or run, request, service, runs, caller)


@router.delete("/runs/{run}", summary="Stop a turn", status_code=204)
async def stop_run(run: str, runs: RunsDep, caller: CallerDep) -> None:
    """Cancel the turn; its listeners get an error event."""
    (await runs.find(caller, run)).stop("Stopped.")


async def resume_run(last: str, request: Request, service: TurnService, runs: RunsDep, caller: Caller) -> Response:
    """Continue after the event `last`, RUN.NUMBER. If this process does not know the run, its stored record is sent."""
    id, _, number = last.partition(".")
    try:
        return _event_stream(await runs.find(caller, id), request, _event_number(number))
    except NotFound:
        record = await run_in_thread(service.threads.conversations.run, caller.owner, id) if service.threads else None
        if record is None or not caller.may_read(record["graph"]):
            raise
        return _event_stream(Run.finished(caller.owner, record["graph"], [("answer", record)]), request)


# digits of the number of an event (given)
MAX_EVENT_DIGITS = 15


def _event_number(text: str) -> int:
    """The number of an event; 0 for what is none. No run has a number of more digits."""
    return int(text) if text.isdecimal() and len(text) <= MAX_EVENT_DIGITS else 0


def _event_stream(run: Run, request: Request, after: int = 0) -> EventSourceResponse:
    state = request.app.state
    return EventSourceResponse(
        _encoded_events(run, after),
        sep="\n",
        headers={"X-Run-ID": run.id},
        shutdown_event=state.stopping,
        shutdown_grace_period=state.settings.stop_seconds + 5,
    )


async def _encoded_events(run: Run, after: int) -> AsyncIterator[bytes]:
    """Send available events together, since each send passes through every layer of the server."""
    async with aclosing(run.batches(after)) as batches:
        async for batch in batches:
            events = (ServerSentEvent(t.data, event=t.kind, id=f"{run.id}.{n}", sep="\n") for n, t in batch)
            yield b"".join(event.encode() for event in events)


async def _record(run: Run) -> Response:
    listening = run.listen()
    try:
        events = [event async for _, event in listening]
    finally:
        await listening.aclose()  # type: ignore[attr-defined]
    # the event before `done` is the answer or the error
    last = events[-2]
    if last.kind == "answer":
        return Response(last.data, media_type="application/json")
    problem = json.loads(last.data)
    return JSONResponse({"detail": problem["message"]}, status_code=problem["status"])
