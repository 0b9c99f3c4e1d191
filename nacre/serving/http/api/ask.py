"""/api/ask and /api/runs: a question -> a turn as server-sent events, or its record; coming back to it; stopping it."""

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
from nacre.serving.http.auth import CallerDep
from nacre.serving.http.dependencies import ERROR_RESPONSES, MetricsDep, RunsDep, TurnServiceDep
from nacre.serving.http.errors import NotFound
from nacre.serving.keys import Caller
from nacre.serving.runs import Run
from nacre.serving.tracing import trace_turn
from nacre.serving.turn_service import TurnService

STREAM_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Server-sent events; the record alone where JSON is accepted and no event stream.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
        "model": Answer,
    }
}

router = APIRouter(prefix="/api", tags=["ask"], responses=ERROR_RESPONSES)


class AskRequest(Context):
    """A question, and the choices for its turn."""

    question: str = Field(description="What is asked.", min_length=1)
    thread: str | None = Field(None, description="The conversation it belongs to; without one nothing is kept.")
    instead_of: int | None = Field(None, ge=1, le=2**31, description="A turn to forget first, with all after it.")


@router.post("/ask", summary="Ask", response_model=None, responses=STREAM_RESPONSES)
async def ask(
    asked: AskRequest,
    request: Request,
    service: TurnServiceDep,
    runs: RunsDep,
    metrics: MetricsDep,
    caller: CallerDep,
    accept: Annotated[str, Header()] = "*/*",
    last_event_id: Annotated[str | None, Header()] = None,
) -> Response:
    """A turn as it happens: `rewriter`, `understand`, `route`, `query`, `evidence`, `token`, `answer`; or `error`;
    then always `done`. The joined tokens equal the record's `answer`. Send `Last-Event-ID` to hear what was missed.
    """
    if last_event_id:
        return await resume_run(last_event_id, request, service, runs, caller)
    service.check_capacity()
    context = Context(**asked.model_dump(include=set(Context.model_fields)))
    name = await service.check_question(asked.question, asked.graph, asked.thread, caller, context)
    if asked.instead_of is not None and asked.thread and service.threads is not None:
        await service.threads.get(caller, asked.thread)
    run = runs.create(caller.owner)
    events = service.events(asked.question, name, asked.thread, context, run.id, caller, asked.instead_of)
    runs.start(run, trace_turn(metrics.count_events(events), request.headers))
    if "json" in accept and "event-stream" not in accept:
        return await _record(run)
    return _streamed(run, request)


@router.get("/runs/{run}", summary="Come back to a turn", response_model=None, responses=STREAM_RESPONSES)
async def follow_run(
    run: str,
    request: Request,
    service: TurnServiceDep,
    runs: RunsDep,
    caller: CallerDep,
    last_event_id: Annotated[str | None, Header()] = None,
) -> Response:
    """The events after the one that `Last-Event-ID` names; all of them without it."""
    return await resume_run(last_event_id or run, request, service, runs, caller)


@router.delete("/runs/{run}", summary="Stop a turn", status_code=204)
async def stop_run(run: str, runs: RunsDep, caller: CallerDep) -> None:
    """What is not done is cancelled; its listeners are told."""
    runs.get(caller.owner, run).stop("Stopped.")


async def resume_run(last: str, request: Request, service: TurnService, runs: RunsDep, caller: Caller) -> Response:
    """Go on after the event `last`, RUN.NUMBER; where the run is known no more, or to another process, its record."""
    id, _, number = last.partition(".")
    try:
        return _streamed(runs.get(caller.owner, id), request, int(number) if number.isdecimal() else 0)
    except NotFound:
        record = await run_in_thread(service.threads.conversations.run, caller.owner, id) if service.threads else None
        if record is None or not caller.may_read(record["graph"]):
            raise
        return _streamed(Run.finished(caller.owner, [("answer", record)]), request)


def _streamed(run: Run, request: Request, after: int = 0) -> EventSourceResponse:
    state = request.app.state
    return EventSourceResponse(
        _lines(run, after),
        sep="\n",
        headers={"X-Run-ID": run.id},
        shutdown_event=state.stopping,
        shutdown_grace_period=state.settings.stop_seconds + 5,
    )


async def _lines(run: Run, after: int) -> AsyncIterator[bytes]:
    """Events that are there together are sent together: each send passes through every layer of the server."""
    async with aclosing(run.batches(after)) as batches:
        async for batch in batches:
            events = (ServerSentEvent(t.data, event=t.kind, id=f"{run.id}.{n}", sep="\n") for n, t in batch)
            yield b"".join(event.encode() for event in events)


async def _record(run: Run) -> Response:
    listening = run.listen()
    try:
        told = [told async for _, told in listening]
    finally:
        await listening.aclose()  # type: ignore[attr-defined]
    # before `done` there is the answer, or what went wrong
    last = told[-2]
    if last.kind == "answer":
        return Response(last.data, media_type="application/json")
    problem = json.loads(last.data)
    return JSONResponse({"detail": problem["message"]}, status_code=problem["status"])
