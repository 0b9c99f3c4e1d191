"""Runs of LangGraph's API: start a turn, stream it, wait for it, join it later, cancel it."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Path, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import TypeAdapter, ValidationError
from sse_starlette import ServerSentEvent

from nacre.errors import ConfigError
from nacre.extensions.langgraph_api.requests import MAX_ID, GraphRunRequest, RunsToCancel, assistant_id
from nacre.extensions.langgraph_api.running import (
    STOPPED,
    RunContext,
    RunContextDep,
    final_values,
    find_run,
    follow,
    start_run,
    stopped_run,
    stored_run,
)
from nacre.extensions.langgraph_api.thread_states import check_modes
from nacre.records.threads import run_in_thread
from nacre.serving.http.dependencies import ERROR_RESPONSES, encode_events, run_while_connected
from nacre.serving.http.threads import ThreadPath
from nacre.serving.runs import Run

MAX_BATCH = 32

# modes of a run that is joined without naming any
JOINED_MODES = ("values", "updates", "messages-tuple", "custom")

STATUS = {"cancelled": "interrupted"}

_listed = TypeAdapter(list[str])

router = APIRouter(tags=["langgraph"], responses=ERROR_RESPONSES)


RunPath = Annotated[str, Path(min_length=1, max_length=MAX_ID)]

LastEventHeader = Annotated[str, Header(alias="Last-Event-ID", max_length=MAX_ID)]


@router.post("/runs/stream", response_model=None)
async def stream_stateless_run(body: GraphRunRequest, context: RunContextDep) -> Response:
    """Ask without a thread, and stream the turn."""
    return await _started_stream(context, body, None)


@router.post("/threads/{thread}/runs/stream", response_model=None)
async def stream_run(thread: ThreadPath, body: GraphRunRequest, context: RunContextDep) -> Response:
    """Ask in a thread, and stream the turn."""
    return await _started_stream(context, body, thread)


@router.post("/runs/wait", response_model=None)
async def wait_for_stateless_run(body: GraphRunRequest, context: RunContextDep) -> Response:
    """Ask without a thread, and return the state at the end."""
    return await _ended(context, body, None)


@router.post("/threads/{thread}/runs/wait", response_model=None)
async def wait_for_run(thread: ThreadPath, body: GraphRunRequest, context: RunContextDep) -> Response:
    """Ask in a thread, and return the state at the end."""
    return await _ended(context, body, thread)


@router.post("/runs", response_model=None)
async def create_stateless_run(body: GraphRunRequest, context: RunContextDep) -> Response:
    """Ask without a thread, in the background."""
    run = await start_run(context, body, None, background=True)
    return JSONResponse(run_record(run), headers=_headers(run))


@router.post("/threads/{thread}/runs", response_model=None)
async def create_run(thread: ThreadPath, body: GraphRunRequest, context: RunContextDep) -> Response:
    """Ask in a thread, in the background."""
    run = await start_run(context, body, thread, background=True)
    return JSONResponse(run_record(run), headers=_headers(run))


@router.post("/runs/batch", response_model=None)
async def create_runs(bodies: list[GraphRunRequest], context: RunContextDep) -> list[dict[str, Any]]:
    """Ask several questions without a thread, in the background."""
    if len(bodies) > MAX_BATCH:
        raise ConfigError(f"A batch has at most {MAX_BATCH} runs; this one has {len(bodies)}.")
    return [run_record(await start_run(context, body, None, background=True)) for body in bodies]


@router.post("/runs/cancel", status_code=204)
async def cancel_runs(body: RunsToCancel, context: RunContextDep) -> None:
    """Cancel the caller's runs that the request names, or those with a status."""
    for run in await context.runs.running(context.caller, body.thread_id):
        named = run.id in body.run_ids if body.run_ids is not None else body.status in ("all", run.status)
        if named and context.caller.may_read(run.graph):
            run.stop(STOPPED)


@router.get("/threads/{thread}/runs", response_model=None)
async def list_runs(
    thread: ThreadPath,
    context: RunContextDep,
    limit: Annotated[int, Query(ge=1, le=1000)] = 10,
    offset: Annotated[int, Query(ge=0, le=2**31)] = 0,
    status: Annotated[str | None, Query(max_length=MAX_ID)] = None,
) -> list[dict[str, Any]]:
    """The runs of a thread, the latest first."""
    await context.threads.get(context.caller, thread)
    running = [run_record(run) for run in await context.runs.running(context.caller, thread)]
    turns = await run_in_thread(context.threads.conversations.turns, context.caller.owner, thread)
    ended = [run_record(stored_run(context.caller, turn.record), turn.at) for turn in turns if turn.record["id"]]
    stopped = await stopped_run(context, thread)
    if stopped is not None and not running:
        ended.append(run_record(stopped))
    listed = [each for each in [*running, *reversed(ended)] if status in (None, each["status"])]
    return listed[offset : offset + limit]


@router.get("/threads/{thread}/runs/{id}", response_model=None)
async def get_run(thread: ThreadPath, id: RunPath, context: RunContextDep) -> dict[str, Any]:
    """One run."""
    return run_record(await find_run(context, thread, id))


@router.get("/threads/{thread}/runs/{id}/join", response_model=None)
async def join_run(thread: ThreadPath, id: RunPath, request: Request, context: RunContextDep) -> dict[str, Any]:
    """Wait for the end of a run; the state then."""
    run = await find_run(context, thread, id)
    await run_while_connected(request, run.wait())
    return await final_values(run, context)


@router.get("/threads/{thread}/runs/{id}/stream", response_model=None)
async def join_stream(
    thread: ThreadPath,
    id: RunPath,
    context: RunContextDep,
    stream_mode: Annotated[list[Annotated[str, Query(max_length=500)]] | None, Query(max_length=20)] = None,
    last_event_id: LastEventHeader = "",
) -> Response:
    """Stream a run from its beginning, or after the part whose id the client saw last."""
    run = await find_run(context, thread, id)
    return _stream(context, run, _joined_modes(stream_mode or []) or JOINED_MODES, last_event_id)


@router.post("/threads/{thread}/runs/{id}/cancel", response_model=None)
async def cancel_run(
    thread: ThreadPath,
    id: RunPath,
    context: RunContextDep,
    wait: bool = False,
    action: Literal["interrupt", "rollback"] = "interrupt",
) -> Response:
    """Cancel a run. Its question stays the last message of the thread, unless the run is rolled back."""
    run = await find_run(context, thread, id)
    run.stop(STOPPED)
    if wait or action == "rollback":
        await run.wait()
    if action == "rollback":
        await context.threads.remove_unanswered(context.caller, thread, id)
    return Response(status_code=204 if wait else 202)


def run_record(run: Run, ended: float | None = None) -> dict[str, Any]:
    """A run as JSON."""
    created = datetime.fromtimestamp(ended or run.created, UTC).isoformat()
    return {
        "run_id": run.id,
        "thread_id": run.thread,
        "assistant_id": assistant_id(run.graph),
        "created_at": created,
        "updated_at": created,
        "status": STATUS.get(run.status, run.status),
        "metadata": {"graph_id": run.graph},
        "multitask_strategy": "enqueue",
        "kwargs": {},
    }


def _joined_modes(named: Sequence[str]) -> list[str]:
    """The modes in parameters: one in each, or several as a JSON list, as clients in JavaScript send them."""
    try:
        modes = [mode for each in named for mode in (_listed.validate_json(each) if each.startswith("[") else [each])]
    except ValidationError as error:
        raise ConfigError("stream_mode is not a JSON list of modes.") from error
    check_modes(modes)
    return modes


def _headers(run: Run) -> dict[str, str]:
    """Where the run is found, relative to the address that clients are given."""
    place = f"/threads/{run.thread}/runs/{run.id}"
    return {"Content-Location": place, "Location": f"{place}/stream", "X-Run-ID": run.id}


async def _started_stream(context: RunContext, body: GraphRunRequest, thread: str | None) -> Response:
    run = await start_run(context, body, thread)
    return _stream(context, run, body.stream_mode)


def _stream(context: RunContext, run: Run, modes: Sequence[str], last: str = "") -> Response:
    async def events() -> AsyncIterator[bytes]:
        followed = follow(run, context, assistant_id(run.graph), modes, last)
        async with aclosing(followed) as listed:  # type: ignore[type-var]
            async for parts in listed:
                yield encode_events(
                    ServerSentEvent(json.dumps(p.data, ensure_ascii=False), event=p.event, id=p.id, sep="\n")
                    for p in parts
                )

    return context.event_stream(events(), _headers(run))


async def _ended(context: RunContext, body: GraphRunRequest, thread: str | None) -> Response:
    """The final state. A run that its client may not leave is cancelled if the client disconnects."""
    run = await start_run(context, body, thread)
    await context.wait_for_end(run)
    headers = {**_headers(run), "Location": f"/threads/{run.thread}/runs/{run.id}/join"}
    return JSONResponse(await final_values(run, context), headers=headers)
