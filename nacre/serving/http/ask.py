"""/api/ask, /api/runs: a question -> a turn as events or its record; queries, choices; /api/threads: conversations."""

import json
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Path, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from sse_starlette import ServerSentEvent

from agents.model_calls import ModelCall
from agents.model_priors import model_worth
from graph.branches import all_branches
from graph.context import Context
from nacre.access.open_graph import look_up_labels
from nacre.access.queries import QueryResult, WrittenQuery, query_sparql, query_sql, write_query
from nacre.errors import ConfigError, ToolError
from nacre.records.answer import Answer
from nacre.records.threads import run_in_thread
from nacre.serving import transcript
from nacre.serving.errors import NotFound
from nacre.serving.http.auth import CallerDep
from nacre.serving.http.dependencies import (
    ERROR_RESPONSES,
    FewProblems,
    GraphNameDep,
    LookUpSlotDep,
    RunsDep,
    ThreadsDep,
    TurnContext,
    TurnContextDep,
    TurnServiceDep,
    encode_events,
    run_while_connected,
)
from nacre.serving.keys import Caller, report_deed
from nacre.serving.runs import Run
from nacre.serving.threads import MAX_THREAD_NAME, Threads
from nacre.serving.turn_service import TurnInput, TurnService
from nacre.stores.catalog import Graph
from nacre.stores.state.conversations import Conversation, Turn
from tools.sandbox import LONGEST

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
    body: Annotated[AskRequest, FewProblems],
    turns: TurnContextDep,
    accept: Annotated[str, Header()] = "*/*",
    last_event_id: Annotated[str | None, Header()] = None,
) -> Response:
    """A turn as it happens: `rewriter`, `understand`, `route`, `query`, `evidence`, `token`, `answer`; or `error`;
    then always `done`. The joined tokens equal the record's `answer`. Send `Last-Event-ID` to get the missed events.
    """
    if last_event_id:
        return await _resume_run(turns, last_event_id)
    turns.service.check_capacity(turns.caller)
    context = Context(**body.model_dump(include=set(Context.model_fields)))
    turn = TurnInput(body.question, body.graph, body.thread, context, turns.caller, instead_of=body.instead_of)
    turn = replace(turn, graph=await turns.service.check_question(turn), is_checked=True)
    if body.instead_of is not None and body.thread and turns.service.threads is not None:
        await turns.service.threads.get(turns.caller, body.thread)
    run = await turns.begin_turn(turn)
    if "json" not in accept or "event-stream" in accept:
        return _event_stream(turns, run)
    await run.wait()
    if run.result.kind == "answer":
        return Response(run.result.data, media_type="application/json")
    problem = json.loads(run.result.data)
    return JSONResponse({"detail": problem["message"]}, status_code=problem["status"])


@router.get("/runs/{run}", summary="Resume a turn", response_model=None, responses=STREAM_RESPONSES)
async def follow_run(
    run: str, turns: TurnContextDep, last_event_id: Annotated[str | None, Header()] = None
) -> Response:
    """The events after the one in `Last-Event-ID`; without it all events."""
    return await _resume_run(turns, last_event_id or run)


@router.delete("/runs/{run}", summary="Stop a turn", status_code=204)
async def stop_run(run: str, runs: RunsDep, caller: CallerDep) -> None:
    """Cancel the turn; its listeners get an error event."""
    (await runs.find(caller, run)).stop("Stopped.")


async def _resume_run(turns: TurnContext, last: str) -> Response:
    """Continue after the event `last`, RUN.NUMBER. If this process does not know the run, its stored record is sent."""
    id, _, number = last.partition(".")
    try:
        run = await turns.runs.find(turns.caller, id)
    except NotFound:
        if (record := await turns.service.stored_answer(id, turns.caller)) is None:
            raise
        return _event_stream(turns, Run.finished(turns.caller.owner, record["graph"], [("answer", record)]))
    # what is no number counts as 0
    return _event_stream(turns, run, int(number) if number.isdecimal() and len(number) <= MAX_EVENT_DIGITS else 0)


MAX_EVENT_DIGITS = 15  # digits of the number of an event (set by hand)


def _event_stream(turns: TurnContext, run: Run, after: int = 0) -> Response:
    async def events() -> AsyncIterator[bytes]:
        async with aclosing(run.batches(after)) as batches:
            async for batch in batches:
                yield encode_events(
                    ServerSentEvent(t.data, event=t.kind, id=f"{run.id}.{n}", sep="\n") for n, t in batch
                )

    return turns.event_stream(events(), {"X-Run-ID": run.id})


class QueryRequest(BaseModel):
    """A query with its values in the text."""

    language: Literal["sql", "sparql"]
    text: str = Field(min_length=1, max_length=LONGEST)


@dataclass(frozen=True)
class QueryResponse:
    """The rows of a query; `text` is the query that ran, `keys` has the IRIs behind each row."""

    text: str
    columns: tuple[str, ...]
    units: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    keys: tuple[tuple[str, ...], ...]
    truncated: bool
    seconds: float = 0.0


@dataclass(frozen=True)
class TurnChoices:
    """The options of a turn and their defaults. `model` is the name of the chat model, or "". `may_write`: whether this
    caller may add and delete graphs; `attach_hosts`: those whose addresses it may attach; `may_share`: whether it may
    share answers; `may_teach`: whether it may give other names; `person`: the name of a person who logged in, who may
    log out if `may_log_out`; `sharing`: whether answers can be shared here, if that is switched on; `previewed`: the
    endings of files whose first rows can be shown before they are read; `attaches`: whether the page can attach;
    `is_visitor`: whether another site shows the page, whose visitors confirm nothing."""

    reasoners: tuple[str, ...]
    model: str
    branches: tuple[str, ...]
    by_default: tuple[str, ...]
    max_rounds: int
    top_k: int
    strategy: str
    may_write: bool = False
    attach_hosts: tuple[str, ...] = ()
    may_share: bool = False
    may_teach: bool = False
    person: str = ""
    may_log_out: bool = False
    sharing: bool = False
    previewed: tuple[str, ...] = ()
    attaches: bool = False
    is_visitor: bool = False
    model_worth: str = ""


@router.get("/choices", summary="List the options of a turn")
async def turn_choices(request: Request, service: TurnServiceDep, caller: CallerDep) -> TurnChoices:
    """Reasoners, branches and default settings."""
    sharing, uploads = (getattr(request.app.state, name, None) for name in ("sharing", "uploads"))
    settings, teams = service.composition.settings, service.composition.resources.agents
    return TurnChoices(
        tuple(teams),
        (settings.model or "") if "model" in teams else "",
        tuple(all_branches()),
        tuple(name for name, branch in all_branches().items() if branch.by_default),
        settings.max_rounds,
        settings.top_k,
        settings.strategy,
        "write" in caller.may and settings.max_upload > 0 and uploads is not None,
        uploads.hosts if "write" in caller.may and uploads is not None else (),
        service.threads is not None and sharing is not None and sharing.may_share(caller),
        "write" in caller.may and getattr(request.app.state, "teaches", False),
        caller.name,
        getattr(request.state, "has_session", False),
        service.threads is not None and sharing is not None and not caller.visitor,
        tuple(getattr(request.app.state, "previewed", ())),
        getattr(request.app.state, "attaches", False),
        bool(caller.visitor),
        await run_in_thread(model_worth, settings) if "model" in teams else "",
    )


@router.post("/graphs/{graph}/query", summary="Run a query")
async def query(
    request: Request, service: TurnServiceDep, caller: CallerDep, graph: GraphNameDep, body: QueryRequest
) -> QueryResponse:
    """Run a SELECT in SQL over the graph's tables, or a SELECT, ASK or CONSTRUCT in SPARQL if it has triples.

    Queries are read-only, checked like those of a model, and limited in rows and time.
    """
    try:
        return await run_while_connected(request, _run_query(service, caller, graph, body))
    except ToolError as error:
        raise ConfigError(str(error)) from error


@router.get("/graphs/{graph}/query", summary="Write the query of a question")
async def written_query(
    request: Request,
    service: TurnServiceDep,
    caller: CallerDep,
    graph: GraphNameDep,
    question: Annotated[str, Query(description="The question.", min_length=1)],
) -> WrittenQuery:
    """The query of a question in SQL and SPARQL, which is not run. The rules write it, even if a model is configured.

    `GET /api/text2sparql` returns the query that answers best after running several.
    """
    await service.check_question(TurnInput(question, graph, caller=caller))
    return await run_while_connected(request, _write_query(service, caller, graph, question))


@router.get("/runs/{run}/calls", summary="List the model calls of a run")
async def model_calls(run: str, runs: RunsDep, caller: CallerDep) -> list[ModelCall]:
    """The prompts and replies of each model call, while the run is in memory."""
    return runs.calls(caller, run)


async def _write_query(service: TurnService, caller: Caller, graph: str, question: str) -> WrittenQuery:
    async with service.turn_slot(caller), AsyncExitStack() as stack:
        return await write_query(question, stack.enter_context(await run_in_thread(service.library.open, graph)))


async def _run_query(service: TurnService, caller: Caller, graph: str, body: QueryRequest) -> QueryResponse:
    settings, sandbox = service.composition.settings, service.composition.resources.sandbox
    async with service.query_slot(caller), AsyncExitStack() as stack:
        started = time.perf_counter()
        opened = stack.enter_context(await run_in_thread(service.library.open, graph))
        if body.language == "sql":
            result = await query_sql(opened, body.text, settings, sandbox, settings.row_limit)
        else:
            result = await query_sparql(opened, body.text, settings, sandbox, settings.row_limit)
            result = await run_in_thread(_with_labels, opened, result)
    report_deed(caller, "queried", body.text, graph=graph, version=opened.version)
    took = round(time.perf_counter() - started, 4)
    return QueryResponse(result.query, result.columns, result.units, result.rows, result.keys, result.truncated, took)


def _with_labels(graph: Graph, result: QueryResult) -> QueryResult:
    iris = {iri for row in result.keys for iri in row} if graph.stored is not None else set()
    labels_by_iri = look_up_labels(graph, iris)
    rows = tuple(
        tuple(labels_by_iri.get(cell, cell) if isinstance(cell, str) else cell for cell in row) for row in result.rows
    )
    return replace(result, rows=rows)


MAX_LISTED = 200

MAX_TITLE = 200

MAX_FEEDBACK = 4000

thread_router = APIRouter(prefix="/api/threads", tags=["threads"], responses=ERROR_RESPONSES)

ThreadPath = Annotated[str, Path(min_length=1, max_length=MAX_THREAD_NAME)]

TurnPath = Annotated[int, Path(ge=1, le=2**31)]


class NewThread(BaseModel):
    """A new thread; the graph may be omitted if there is only one."""

    graph: str | None = None
    title: str = Field("", max_length=MAX_TITLE)


class ThreadTitle(BaseModel):
    """The new title."""

    title: str = Field(min_length=1, max_length=MAX_TITLE)


class ForkPoint(BaseModel):
    """The last turn that the new thread shares with the old one."""

    turn: int = Field(ge=1, le=2**31)


class AnswerFeedback(BaseModel):
    """A user's rating of an answer: 1 good, -1 bad, 0 none."""

    thumb: Literal[-1, 0, 1]
    comment: str = Field("", max_length=MAX_FEEDBACK)


class ThreadTranscript(BaseModel):
    """A thread with its finished turns. `unanswered` is the question of a turn that was stopped after them."""

    thread: Conversation
    turns: list[Turn]
    unanswered: str | None = None


@thread_router.get("", summary="List or search threads")
async def list_threads(
    threads: ThreadsDep,
    caller: CallerDep,
    search: Annotated[str, Query(max_length=200)] = "",
    limit: Annotated[int, Query(ge=1, le=MAX_LISTED)] = 50,
    skip: Annotated[int, Query(ge=0, le=2**31)] = 0,
) -> list[Conversation]:
    """The latest first; `search` covers titles, questions and answers."""
    return await threads.listed(caller, search, limit, skip)


@thread_router.post("", summary="Create a thread", status_code=201)
async def begin_thread(
    body: NewThread, service: TurnServiceDep, threads: ThreadsDep, caller: CallerDep
) -> Conversation:
    """A thread without turns. Without a title, the first question becomes its title."""
    graph = await run_in_thread(service.resolve_graph, body.graph, caller)
    return await threads.create(caller, graph, body.title)


@thread_router.get("/{thread}", summary="Read a thread")
async def read_thread(
    thread: ThreadPath, threads: ThreadsDep, caller: CallerDep, slot: LookUpSlotDep
) -> ThreadTranscript:
    """The thread and its finished turns, each with its record: the last ones, if all have more than 32 MB."""
    return await _transcript(thread, threads, caller)


async def _transcript(thread: str, threads: Threads, caller: Caller) -> ThreadTranscript:
    conversation = await threads.get(caller, thread)
    turns = await threads.turns(caller, conversation.thread)
    unanswered = await threads.unanswered(caller, conversation.thread)
    return ThreadTranscript(thread=conversation, turns=turns, unanswered=str(unanswered.text) if unanswered else None)


@thread_router.patch("/{thread}", summary="Rename a thread")
async def rename_thread(thread: ThreadPath, body: ThreadTitle, threads: ThreadsDep, caller: CallerDep) -> Conversation:
    """Change the title."""
    return await threads.rename(caller, thread, body.title)


@thread_router.delete("/{thread}", summary="Delete a thread", status_code=204)
async def delete_thread(thread: ThreadPath, threads: ThreadsDep, caller: CallerDep) -> None:
    """Delete the thread and its checkpoints."""
    await threads.delete(caller, thread)


@thread_router.delete("", summary="Delete a thread whose name no path can contain", status_code=204)
async def delete_named_thread(
    name: Annotated[str, Query(min_length=1, max_length=MAX_THREAD_NAME)], threads: ThreadsDep, caller: CallerDep
) -> None:
    """Delete a thread with a slash or a control character in its name; new threads have none."""
    await threads.delete(caller, name)


@thread_router.post("/{thread}/fork", summary="Fork a thread at a turn", status_code=201)
async def fork_thread(thread: ThreadPath, body: ForkPoint, threads: ThreadsDep, caller: CallerDep) -> Conversation:
    """A new thread that shares the turns up to this one. To edit a question in place, ask with `instead_of`."""
    return await threads.fork(caller, thread, body.turn)


@thread_router.put("/{thread}/turns/{turn}/feedback", summary="Rate an answer", status_code=204)
async def rate_answer(
    thread: ThreadPath, turn: TurnPath, body: AnswerFeedback, threads: ThreadsDep, caller: CallerDep
) -> None:
    """Store a thumb and a comment with the turn."""
    stored_turn = await threads.turn(caller, thread, turn)
    key = caller.owner, thread, stored_turn.record["turn"]
    await run_in_thread(threads.conversations.say, *key, body.thumb, body.comment)


@thread_router.get(
    "/{thread}/turns/{turn}/rows.csv",
    summary="Export the rows of an answer",
    response_class=Response,
    responses={200: {"content": {"text/csv": {"schema": {"type": "string"}}}}},
)
async def export_rows(
    thread: ThreadPath,
    turn: TurnPath,
    threads: ThreadsDep,
    caller: CallerDep,
    citation: Annotated[int, Query(ge=1)] = 1,
) -> Response:
    """The rows behind citation [n] as CSV."""
    record = (await threads.turn(caller, thread, turn)).record
    cited = next((each for each in record["citations"] if each["n"] == citation and each["rows"]), None)
    if cited is None:
        raise NotFound(f"The answer has no rows at [{citation}].")
    report_deed(caller, "exported an answer", graph=record["graph"], thread=thread, turn=turn)
    return _file(transcript.rows_csv(cited), "text/csv", f"turn-{turn}.csv")


@thread_router.get(
    "/{thread}/export",
    summary="Export a conversation",
    response_class=Response,
    responses={200: {"content": {"text/markdown": {}, "application/json": {}}}},
)
async def export_thread(
    thread: ThreadPath,
    threads: ThreadsDep,
    caller: CallerDep,
    slot: LookUpSlotDep,
    format: Literal["markdown", "json"] = "markdown",
) -> Response:
    """The conversation as Markdown or JSON, with the turns that reading the thread gives."""
    content = await _transcript(thread, threads, caller)
    report_deed(caller, "exported a thread", graph=content.thread.graph, thread=thread)
    if format == "json":
        return _file(content.model_dump_json(indent=1), "application/json", "conversation.json")
    return _file(transcript.conversation_markdown(content.thread, content.turns), "text/markdown", "conversation.md")


def _file(text: str, kind: str, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text.encode(errors="replace"), media_type=f"{kind}; charset=utf-8", headers=headers)
