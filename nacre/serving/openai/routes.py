"""OpenAI's API at /v1: a graph is a model; a chat completion or response is a turn."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from typing import Annotated, Any, NoReturn

from fastapi import APIRouter, Header, Request, Response
from fastapi.responses import JSONResponse
from sse_starlette import EventSourceResponse, ServerSentEvent

from nacre.errors import ConfigError
from nacre.records.answer import Answer
from nacre.serving.conversations.stateless_turns import StatelessTurnCache
from nacre.serving.errors import ModelNotFound, NotFound
from nacre.serving.http.auth import CallerDep
from nacre.serving.http.dependencies import OPENAI_ERROR_RESPONSES, MetricsDep, RunsDep, TurnServiceDep
from nacre.serving.http.disconnect import wait_for_disconnect
from nacre.serving.http.error_formats import error_response, openai_error
from nacre.serving.http.look_up import LookUpSlotDep
from nacre.serving.http.metrics import Metrics
from nacre.serving.keys import Caller
from nacre.serving.openai.chat_completion import ChatCompletion, plain_record
from nacre.serving.openai.chat_request import ChatQuestion, ChatRequest, parse_chat_request, reply_to_client
from nacre.serving.openai.responses import ModelResponse, ResponseRequest, to_chat_request
from nacre.serving.runs import Run, Runs
from nacre.serving.tracing import trace_turn
from nacre.serving.turn_service import TurnService

MODEL_OWNER = "nacre"
STREAM_END = "[DONE]"

ThreadHeader = Annotated[
    str | None,
    Header(alias="X-Nacre-Thread", description="Thread that stores the conversation; without it nothing is stored."),
]

router = APIRouter(prefix="/v1", tags=["openai"], responses=OPENAI_ERROR_RESPONSES)


@router.get("/models", summary="List the graphs as models")
def list_models(service: TurnServiceDep, caller: CallerDep, slot: LookUpSlotDep) -> dict[str, Any]:
    """All graphs that the caller may read."""
    return {"object": "list", "data": [_model(name) for name in service.graph_names(caller)]}


@router.get("/models/{model}", summary="Get a graph as a model")
def get_model(model: str, service: TurnServiceDep, caller: CallerDep, slot: LookUpSlotDep) -> dict[str, Any]:
    """One graph."""
    return _model(_graph_name(model, service, caller))


@router.post("/chat/completions", summary="Ask a question as a chat completion", response_model=None)
async def create_chat_completion(
    chat: ChatRequest,
    request: Request,
    service: TurnServiceDep,
    runs: RunsDep,
    metrics: MetricsDep,
    caller: CallerDep,
    thread: ThreadHeader = None,
) -> Response:
    """Ask the last message of the graph that `model` names; the messages before it are the conversation.

    The content is the answer, followed by its citations as footnotes. `nacre` in the reply has the values as data.
    """
    run, name = await _start_run(chat, request, service, runs, metrics, caller, thread)
    completion = ChatCompletion(run.id, name)
    if not chat.stream:
        return await _reply(run, completion.body, request)
    with_usage = bool(chat.stream_options and chat.stream_options.include_usage)
    return _event_stream(_chunks(run, completion, with_usage), request)


@router.post("/responses", summary="Ask a question as a response", response_model=None)
async def create_response(
    body: ResponseRequest,
    request: Request,
    service: TurnServiceDep,
    runs: RunsDep,
    metrics: MetricsDep,
    caller: CallerDep,
    thread: ThreadHeader = None,
) -> Response:
    """The same in OpenAI's Responses API. Nothing is stored: send the whole conversation as `input`."""
    run, name = await _start_run(to_chat_request(body), request, service, runs, metrics, caller, thread)
    response = ModelResponse(run.id, name)
    if not body.stream:
        return await _reply(run, response.body, request)
    return _event_stream(_events(run, response), request)


@router.api_route("/{path:path}", methods=["GET", "POST", "DELETE"], response_model=None, include_in_schema=False)
async def unsupported_route(path: str, caller: CallerDep) -> NoReturn:
    """The other routes of OpenAI's API: embeddings, files, stored responses."""
    raise NotFound(f"This server has no /v1/{path[:60]}. Use /v1/chat/completions or /v1/responses.")


async def _start_run(
    chat: ChatRequest,
    request: Request,
    service: TurnService,
    runs: Runs,
    metrics: Metrics,
    caller: Caller,
    thread: str | None,
) -> tuple[Run, str]:
    """Start a turn: its run and the name of its graph. Raises NacreError if the question can't be asked."""
    service.check_capacity()
    name = _graph_name(chat.model, service, caller)
    question = parse_chat_request(chat)
    if (reply := reply_to_client(question.question)) is not None:
        return Run.finished(caller.owner, name, [("token", reply), ("answer", plain_record(name, reply))]), name
    await service.check_question(question.question, name, thread, caller)
    run = runs.create(caller.owner, name, resumed=False, thread=thread)
    events = _turn_events(question, name, thread, run.id, service, caller, _stateless_turns(request))
    runs.start(run, trace_turn(metrics.count_events(events), request.headers))
    return run, name


async def _turn_events(
    question: ChatQuestion,
    graph: str,
    thread: str | None,
    id: str,
    service: TurnService,
    caller: Caller,
    turns: StatelessTurnCache,
) -> AsyncIterator[tuple[str, Any]]:
    """The events of the turn, in the named thread or after the earlier questions of the request."""
    before = None if thread else await turns.earlier_turns(service, graph, caller, question.before)
    events = service.events(question.question, graph, thread, id=id, caller=caller, before=before)
    try:
        async for kind, payload in events:
            if kind == "earlier":
                turns.store(service, graph, caller, [*question.before, question.question], payload)
            else:
                yield kind, payload
    finally:
        await events.aclose()  # type: ignore[attr-defined]


async def _chunks(run: Run, completion: ChatCompletion, with_usage: bool) -> AsyncIterator[ServerSentEvent]:
    events = run.listen()
    try:
        yield _event(completion.first_chunk())
        async for _, event in events:
            if event.kind == "token":
                yield _event(completion.token_chunk(json.loads(event.data)))
            elif event.kind == "answer":
                for chunk in completion.last_chunks(json.loads(event.data), with_usage=with_usage):
                    yield _event(chunk)
            elif event.kind == "error":
                problem = json.loads(event.data)
                yield _event(openai_error(problem["status"], problem["message"]))
        yield ServerSentEvent(STREAM_END, sep="\n")
    finally:
        await events.aclose()  # type: ignore[attr-defined]


async def _events(run: Run, response: ModelResponse) -> AsyncIterator[ServerSentEvent]:
    events = run.listen()
    try:
        for opening in response.first_events():
            yield _event(opening, opening["type"])
        async for _, event in events:
            if event.kind == "token":
                yield _event(response.token_event(json.loads(event.data)), "response.output_text.delta")
            elif event.kind == "answer":
                for closing in response.last_events(json.loads(event.data)):
                    yield _event(closing, closing["type"])
            elif event.kind == "error":
                yield _event(response.error_event(json.loads(event.data)["message"]), "error")
    finally:
        await events.aclose()  # type: ignore[attr-defined]


def _event_stream(events: AsyncIterator[ServerSentEvent], request: Request) -> EventSourceResponse:
    state = request.app.state
    return EventSourceResponse(
        events, sep="\n", shutdown_event=state.stopping, shutdown_grace_period=state.settings.stop_seconds + 5
    )


async def _reply(run: Run, format_reply: Callable[[Answer], dict[str, Any]], request: Request) -> Response:
    """The complete reply; the turn is stopped if the client disconnects."""
    disconnecting = asyncio.create_task(wait_for_disconnect(request))
    ending = asyncio.create_task(run.wait())
    try:
        await asyncio.wait([disconnecting, ending], return_when=asyncio.FIRST_COMPLETED)
        if not ending.done():
            run.stop()
            await ending
    finally:
        disconnecting.cancel()
        with suppress(asyncio.CancelledError):
            await disconnecting
    # the event before `done` is the answer or the error
    last = run.events[-2]
    payload = json.loads(last.data)
    if last.kind == "answer":
        return JSONResponse(format_reply(payload))
    return error_response(request.url.path, payload["status"], payload["message"])


def _event(payload: Mapping[str, Any], kind: str | None = None) -> ServerSentEvent:
    return ServerSentEvent(json.dumps(payload, ensure_ascii=False), event=kind, sep="\n")


def _graph_name(model: str, service: TurnService, caller: Caller) -> str:
    try:
        return service.resolve_graph(model, caller)
    except ConfigError as error:
        names = ", ".join(service.graph_names(caller)[:8]) or "none"
        raise ModelNotFound(
            f"The model {model[:100]!r} does not exist. A model is a graph; there are: {names}."
        ) from error


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": MODEL_OWNER}


def _stateless_turns(request: Request) -> StatelessTurnCache:
    turns: StatelessTurnCache = request.app.state.stateless_turns
    return turns
