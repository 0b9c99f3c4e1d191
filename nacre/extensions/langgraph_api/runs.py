"""Runs of LangGraph's API: start a turn, stream it, wait for it, join it later, cancel it.

Request -> a run of the turn service, which every interface can follow and cancel. Events of a turn become the parts of
a stream in the modes that a client asked for. An id is the number of the event and of the part in it, so that a client
that reads on after an id misses no part."""

import json
import uuid
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, cast

from fastapi import APIRouter, Depends, Header, Path, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import TypeAdapter, ValidationError
from sse_starlette import ServerSentEvent

from graph.context import parse_context
from graph.state import message_metadata
from nacre.errors import ConfigError
from nacre.extensions.langgraph_api.requests import (
    ANSWER_NODE,
    MAX_ID,
    GraphRunRequest,
    MessageJson,
    RunsToCancel,
    answer_message,
    assistant_id,
    clarification,
    graph_of_assistant,
    input_text,
    is_human,
    question_message,
    token_chunk,
)
from nacre.extensions.langgraph_api.thread_states import (
    FIRST_NODE,
    check_modes,
    latest_snapshot,
    read_asked_turn,
    refuse_unsupported,
)
from nacre.records.answer import Answer
from nacre.records.threads import run_in_thread
from nacre.serving.errors import Conflict, NotFound, TooManyRequests
from nacre.serving.http.ask import ThreadPath
from nacre.serving.http.dependencies import (
    ERROR_RESPONSES,
    Events,
    FewProblems,
    LookUpSlotDep,
    ThreadsDep,
    TurnContext,
    TurnContextDep,
    encode_events,
    run_while_connected,
)
from nacre.serving.keys import Caller
from nacre.serving.runs import Run, RunEvent
from nacre.serving.threads import Threads, validate_thread_name
from nacre.serving.turn_service import TurnInput

MAX_BATCH = 32

# modes of a run that is joined without naming any
JOINED_MODES = ("values", "updates", "messages-tuple", "custom")

STATUS = {"cancelled": "interrupted"}

_listed = TypeAdapter(list[str])

router = APIRouter(tags=["langgraph"], responses=ERROR_RESPONSES)


RunBody = Annotated[GraphRunRequest, FewProblems]

RunPath = Annotated[str, Path(min_length=1, max_length=MAX_ID)]

LastEventHeader = Annotated[str, Header(alias="Last-Event-ID", max_length=MAX_ID)]


@dataclass(frozen=True)
class RunContext(TurnContext):
    """What the routes of runs work with, for one request."""

    threads: Threads


def _run_context(turns: TurnContextDep, threads: ThreadsDep) -> RunContext:
    return RunContext(**vars(turns), threads=threads)


RunContextDep = Annotated[RunContext, Depends(_run_context)]


@router.post("/runs/stream", response_model=None)
async def stream_stateless_run(body: RunBody, context: RunContextDep) -> Response:
    """Ask without a thread, and stream the turn."""
    return await _started_stream(context, body, None)


@router.post("/threads/{thread}/runs/stream", response_model=None)
async def stream_run(thread: ThreadPath, body: RunBody, context: RunContextDep) -> Response:
    """Ask in a thread, and stream the turn."""
    return await _started_stream(context, body, thread)


@router.post("/runs/wait", response_model=None)
async def wait_for_stateless_run(body: RunBody, context: RunContextDep) -> Response:
    """Ask without a thread, and return the state at the end."""
    return await _ended(context, body, None)


@router.post("/threads/{thread}/runs/wait", response_model=None)
async def wait_for_run(thread: ThreadPath, body: RunBody, context: RunContextDep) -> Response:
    """Ask in a thread, and return the state at the end."""
    return await _ended(context, body, thread)


@router.post("/runs", response_model=None)
async def create_stateless_run(body: RunBody, context: RunContextDep) -> Response:
    """Ask without a thread, in the background."""
    run = await start_run(context, body, None, background=True)
    return JSONResponse(run_record(run), headers=_headers(run))


@router.post("/threads/{thread}/runs", response_model=None)
async def create_run(thread: ThreadPath, body: RunBody, context: RunContextDep) -> Response:
    """Ask in a thread, in the background."""
    run = await start_run(context, body, thread, background=True)
    return JSONResponse(run_record(run), headers=_headers(run))


@router.post("/runs/batch", response_model=None)
async def create_runs(
    bodies: Annotated[list[GraphRunRequest], FewProblems], context: RunContextDep
) -> list[dict[str, Any]]:
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
    slot: LookUpSlotDep,
    limit: Annotated[int, Query(ge=1, le=1000)] = 10,
    offset: Annotated[int, Query(ge=0, le=2**31)] = 0,
    status: Annotated[str | None, Query(max_length=MAX_ID)] = None,
) -> list[dict[str, Any]]:
    """The runs of a thread, the latest first."""
    running = [run_record(run) for run in await context.runs.running(context.caller, thread)]
    turns = await context.threads.turns(context.caller, thread)
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


STOPPED = "Stopped."

REPLACED = "Stopped: another question was asked in this thread."

# part of the turns that a server runs at once which one caller may have running or waiting without a client
BACKGROUND_SHARE = 4


async def start_run(context: RunContext, body: GraphRunRequest, thread: str | None, *, background: bool = False) -> Run:
    """Start a turn in a thread, or without one; raises NacreError if it can't be asked. A run continues after its
    client disconnects if it was started in the `background`, or if the request asks for that."""
    service, caller = context.service, context.caller
    service.check_capacity(caller)
    refuse_unsupported(body)
    graph = await run_in_thread(graph_of_assistant, body.assistant_id, service, caller)
    if thread is not None:
        thread = await _existing_thread(context, body, thread, graph)
    lasting = background or body.on_disconnect == "continue"
    limit = max(1, service.composition.settings.max_turns // BACKGROUND_SHARE)
    if lasting and sum(run.is_lasting for run in await context.runs.running(caller)) >= limit:
        raise TooManyRequests(f"{limit} runs of this key are running or waiting. Try again when one has ended.", 5)
    asked = await read_asked_turn(body, context.threads, caller, thread)
    options = parse_context({"graph": graph, **(body.context or {})})
    requested = (body.input.graph if body.input else None) or graph
    turn = TurnInput(asked.question, requested or options.graph, thread, options, caller)
    name = await service.check_question(turn)
    if thread is not None:
        await _make_way(context, body, thread)
    id = uuid.uuid4().hex
    message_id = asked.message_id or f"{id}-question"
    notes = TurnMessages(question_message(asked.question.strip(), message_id), asked.messages_before())
    # in a request without a thread, the questions of the messages before this one
    earlier = [input_text(each) for each in asked.earlier if is_human(each)] or None
    start = asked.start(message_id)

    async def note_messages_before(events: Events) -> Events:
        """The same events; once the turn has begun, the messages before it are noted."""
        async with aclosing(events):
            async for event in events:
                if notes.before is None:
                    latest = await latest_snapshot(context.threads, caller, thread) if thread else None
                    notes.before = list(latest.messages) if latest else []
                yield event

    run = await context.begin_turn(
        replace(turn, graph=name, id=id, is_checked=True, earlier=earlier, start=start),
        resumed=body.stream_resumable,
        lasting=lasting,
        # without a thread the run still has a place under which it can be joined
        place=str(uuid.uuid4()),
        watch=note_messages_before,
    )
    run.notes = notes
    return run


async def find_run(context: RunContext, thread: str, id: str) -> Run:
    """A run of the caller in a thread: one that is running or ended a while ago, or the stored turn of an earlier one.
    Raises NotFound."""
    try:
        run = await context.runs.find(context.caller, id)
    except NotFound:
        record = await context.service.stored_answer(id, context.caller)
        if record is None and (stopped := await stopped_run(context, thread)) is not None and stopped.id == id:
            return stopped
        if record is None or record["thread"] != thread:
            raise
        return stored_run(context.caller, record)
    if run.thread != thread:
        raise NotFound("This thread has no such run.")
    return run


def stored_run(caller: Caller, record: Answer) -> Run:
    """The run of a stored turn."""
    run = Run.finished(caller.owner, record["graph"], [("answer", record)])
    run.id, run.thread = record["id"], record["thread"] or ""
    return run


async def stopped_run(context: RunContext, thread: str) -> Run | None:
    """The run that was stopped before it answered the last message of a thread, if it was."""
    conversation = await context.threads.find(context.caller, thread)
    latest = await latest_snapshot(context.threads, context.caller, thread) if conversation else None
    if latest is None or not latest.run:
        return None
    graph = str(latest.fields["about"])
    if not context.caller.may_read(graph):
        return None
    run = Run.finished(context.caller.owner, graph, [("error", {"message": STOPPED, "status": 499})])
    run.id, run.thread, run.is_cancelled = latest.run, thread, True
    run.created = datetime.fromisoformat(latest.created).timestamp() if latest.created else run.created
    return run


@dataclass(frozen=True)
class StreamPart:
    """One part: its id, the name of its event and its data."""

    id: str
    event: str
    data: Any


async def follow(
    run: Run, context: RunContext, assistant: str, modes: Sequence[str], last: str = ""
) -> AsyncIterator[list[StreamPart]]:
    """The parts of a run after the one of the id `last`, those that are available together in one list."""
    maker = StreamParts(run, assistant, modes)
    if not last or is_after("0.0", last):
        yield [maker.first()]
    async with aclosing(run.batches()) as batches:
        async for batch in batches:
            if run.notes is None and any(event.kind == "answer" for _, event in batch):
                await _note_messages(run, context)
            made = [part for number, event in batch for part in maker.parts(number, event)]
            if parts := [part for part in made if not last or is_after(part.id, last)]:
                yield parts


async def final_values(run: Run, context: RunContext) -> dict[str, Any]:
    """The state after a run that has ended; `__error__` if it failed."""
    payload = json.loads(run.result.data)
    if run.result.kind != "answer":
        return {"__error__": error_data(payload, run)}
    if run.notes is None:
        await _note_messages(run, context)
    return turn_messages(run, payload).values(payload, run.id)


async def _existing_thread(context: RunContext, body: GraphRunRequest, thread: str, graph: str | None) -> str:
    """The name of the thread, which is created if the request allows it; raises NotFound."""
    name = validate_thread_name(thread)
    if name and await context.threads.find(context.caller, name) is not None:
        return name
    if not name or body.if_not_exists != "create":
        raise NotFound("This thread does not exist. Create it first, or send if_not_exists='create'.")
    return (await context.threads.create(context.caller, graph or "", thread=name)).thread


async def _make_way(context: RunContext, body: GraphRunRequest, thread: str) -> None:
    """Deal with the turns that are running in the thread; without a strategy the new one waits for them."""
    running = await context.runs.running(context.caller, thread)
    if running and body.multitask_strategy == "reject":
        raise Conflict("A question is being answered in this thread. Wait for its end, or cancel it.")
    if body.multitask_strategy in ("interrupt", "rollback"):
        for run in running:
            run.stop(REPLACED)
            await run.wait()
            if body.multitask_strategy == "rollback":
                await context.threads.remove_unanswered(context.caller, thread, run.id)


@dataclass
class TurnMessages:
    """The messages of a run: the question, and those before it, which are known once the turn has begun."""

    question: MessageJson
    before: list[MessageJson] | None = None

    def values(self, record: Answer | None, run: str) -> dict[str, Any]:
        """The state: with the question, and with the answer and its record if there is one."""
        messages = [*(self.before or []), self.question]
        if record is None:
            return {"messages": messages}
        answer = answer_message(record, run)
        fields = {
            "about": record["graph"],
            "turn": record["turn"],
            "asked": record["question"],
            "standalone": record["standalone"],
            "visited": record["visited"],
        }
        values = {"messages": [*messages, answer], **fields, "answer": record}
        asked_back = clarification(answer)
        return {**values, "__interrupt__": asked_back} if asked_back else values


async def _note_messages(run: Run, context: RunContext) -> None:
    """Note the messages of a run that another interface started, or that an earlier process ran: those of its thread up
    to its question."""
    record = cast(Answer, json.loads(run.events[-2 if run.is_done else -1].data))
    messages = turn_messages(run, record)
    latest = await latest_snapshot(context.threads, context.caller, run.thread) if run.thread else None
    stored = list(latest.messages) if latest else []
    place = next((n for n, each in enumerate(stored) if each["id"] == run.id), 0)
    run.notes = TurnMessages(stored[place - 1], stored[: place - 1]) if place else messages


# tokens between two of the growing messages of the mode `messages`
TOKENS_BETWEEN = 8

# events of a turn -> the node that they are the result of; evidence names its branch
NODES = {"rewriter": FIRST_NODE, "understand": "understand", "route": "tool_selector"}


class StreamParts:
    """Makes parts of the events of one run, which come in order."""

    def __init__(self, run: Run, assistant: str, modes: Sequence[str]) -> None:
        self._run, self._modes = run, modes
        self._metadata = {
            "langgraph_node": ANSWER_NODE,
            "run_id": run.id,
            "thread_id": run.thread,
            "assistant_id": assistant,
            "graph_id": run.graph,
        }
        self._text, self._tokens = "", 0
        self._has_begun = False

    def first(self) -> StreamPart:
        """The part that names the run."""
        return StreamPart("0.0", "metadata", {"run_id": self._run.id, "attempt": 1})

    def parts(self, number: int, event: RunEvent) -> list[StreamPart]:
        payload = json.loads(event.data)
        made = list(self._begin()) if not self._has_begun and event.kind not in ("error", "done") else []
        made += self._made(event.kind, payload)
        return [StreamPart(f"{number}.{n}", name, data) for n, (name, data) in enumerate(made, 1)]

    def _begin(self) -> Iterator[tuple[str, Any]]:
        self._has_begun = True
        if "values" in self._modes and isinstance(self._run.notes, TurnMessages):
            yield "values", self._run.notes.values(None, self._run.id)

    def _made(self, kind: str, payload: Any) -> Iterator[tuple[str, Any]]:
        if kind == "token":
            yield from self._token(payload)
        elif kind == "answer":
            yield from self._answer(payload)
        elif kind == "error":
            yield "error", error_data(payload, self._run)
        elif kind == "done":
            yield "end", {"run_id": self._run.id, "status": self._run.status}
        elif "updates" in self._modes:
            yield "updates", _update(kind, payload)

    def _token(self, token: str) -> Iterator[tuple[str, Any]]:
        if "custom" in self._modes:
            yield "custom", {"type": "token", "text": token}
        if "messages-tuple" in self._modes:
            yield "messages", [token_chunk(token, self._run.id), self._metadata]
        if "messages" in self._modes:
            if not self._text:
                yield "messages/metadata", {self._run.id: {"metadata": self._metadata}}
            self._text += token
            if self._tokens % TOKENS_BETWEEN == 0:
                yield "messages/partial", [token_chunk(self._text, self._run.id) | {"type": "ai"}]
            self._tokens += 1

    def _answer(self, record: Answer) -> Iterator[tuple[str, Any]]:
        answer = answer_message(record, self._run.id)
        if "messages-tuple" in self._modes:
            last = token_chunk("", self._run.id, additional_kwargs=message_metadata(record), chunk_position="last")
            yield "messages", [last, self._metadata]
        if "messages" in self._modes:
            yield "messages/complete", [answer]
        if "updates" in self._modes:
            yield "updates", {ANSWER_NODE: {"messages": [answer], "answer": record}}
            if asked_back := clarification(answer):
                yield "updates", {"__interrupt__": asked_back}
        if "values" in self._modes:
            yield "values", turn_messages(self._run, record).values(record, self._run.id)


def error_data(problem: Mapping[str, Any], run: Run) -> dict[str, str]:
    """An error as clients show it."""
    kind = "Cancelled" if run.is_cancelled else "TurnFailed"
    return {"error": kind, "message": str(problem["message"])}


def turn_messages(run: Run, record: Answer) -> TurnMessages:
    """The messages of a run; made of its record if another interface started it."""
    if isinstance(run.notes, TurnMessages):
        return run.notes
    return TurnMessages(question_message(record["question"], f"{run.id}-question"))


def is_after(id: str, last: str) -> bool:
    """Whether a part comes after the one of the id `last`. Everything comes after an id that none has."""
    return _place(id) > _place(last)


def _place(id: str) -> tuple[int, int]:
    number, _, part = id.partition(".")
    parts = (number, part)
    if not all(each.isdecimal() and len(each) <= 15 for each in parts):
        return -1, -1
    return int(number), int(part)


def _update(kind: str, payload: Mapping[str, Any]) -> dict[str, Any]:
    """The result of a node that is not the last."""
    if kind == "query":
        return {payload["tool"]: {"queries": [payload]}}
    if kind == "evidence":
        return {payload["branch"]: {"evidence": [payload]}}
    return {NODES.get(kind, kind): payload}
