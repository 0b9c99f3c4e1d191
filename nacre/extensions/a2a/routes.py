"""The routes of A2A: /a2a (JSON-RPC, versions 1.0 and 0.3) and /.well-known/agent-card.json.

A message asks a question in a conversation; its task is a run that can be read and cancelled. The agent card says how
to reach the agent, with one skill per graph that the caller may read. Then the tasks: the events of a run -> a task
with its state and its answer as an artifact; id -> whose task it is, in which conversation, and the run of it."""

import asyncio
import json
import logging
import uuid
from collections import OrderedDict
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, NoReturn, cast

from a2a.helpers.proto_helpers import new_data_part, new_text_part
from a2a.server.context import ServerCallContext
from a2a.server.events import Event
from a2a.server.request_handlers import RequestHandler
from a2a.server.request_handlers.response_helpers import agent_card_to_dict
from a2a.server.routes import ServerCallContextBuilder, create_jsonrpc_routes
from a2a.types.a2a_pb2 import (
    TASK_STATE_CANCELED,
    TASK_STATE_COMPLETED,
    TASK_STATE_FAILED,
    TASK_STATE_INPUT_REQUIRED,
    TASK_STATE_WORKING,
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    Artifact,
    CancelTaskRequest,
    GetExtendedAgentCardRequest,
    GetTaskRequest,
    HTTPAuthSecurityScheme,
    ListTasksRequest,
    ListTasksResponse,
    Message,
    Part,
    Role,
    SecurityRequirement,
    SecurityScheme,
    SendMessageRequest,
    StringList,
    SubscribeToTaskRequest,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
)
from a2a.utils.constants import (
    AGENT_CARD_WELL_KNOWN_PATH,
    DEFAULT_LIST_TASKS_PAGE_SIZE,
    MAX_LIST_TASKS_PAGE_SIZE,
    PROTOCOL_VERSION_0_3,
    PROTOCOL_VERSION_1_0,
    TransportProtocol,
)
from a2a.utils.errors import (
    A2AError,
    ContentTypeNotSupportedError,
    InternalError,
    InvalidParamsError,
    PushNotificationNotSupportedError,
    TaskNotCancelableError,
    TaskNotFoundError,
    UnsupportedOperationError,
)
from fastapi import FastAPI
from google.protobuf.json_format import MessageToDict
from google.protobuf.timestamp_pb2 import Timestamp
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from nacre.errors import ConfigError, NacreError
from nacre.records.answer import Answer
from nacre.records.threads import run_in_thread
from nacre.serving.errors import ForbiddenOrigin, NotFound, Unauthenticated
from nacre.serving.http.auth import Authenticator, authenticate, bearer_token
from nacre.serving.http.dependencies import TurnContext, turn_context
from nacre.serving.http.middleware import A2A
from nacre.serving.keys import LOCAL_CALLER, Caller
from nacre.serving.runs import CLIENT_LEFT, Run, RunEvent
from nacre.serving.transcript import agent_answer, awaits_choice, chosen_words, offered_options, option_schema
from nacre.serving.turn_service import TurnInput, TurnService
from nacre.stores.catalog import Library

# the SDK logs a traceback for each invalid request; errors of our own are logged by `handler`
NOISY_LOGGERS = ("a2a.server.routes", "a2a.compat")


class CallContextBuilder(ServerCallContextBuilder):
    """The context of a call: who sent it and what its method needs."""

    def build(self, request: Request) -> ServerCallContext:
        """The context of an authenticated request."""
        return ServerCallContext(state={"headers": dict(request.headers), CONTEXT: turn_context(request)})


def add_a2a(app: FastAPI, *, alone: bool) -> None:
    """Add the routes, unless a platform's server has its own."""
    if not alone:
        return
    for name in NOISY_LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    app.state.a2a_tasks = TaskRegistry()
    grace = app.state.settings.stop_seconds + 5
    (route,) = create_jsonrpc_routes(
        TurnHandler(), A2A, CallContextBuilder(), enable_v0_3_compat=True, shutdown_grace_period=grace
    )

    async def call(request: Request) -> Response:
        """One call, once it is known who sent it. Even with a key, pages of other origins are refused."""
        authenticator: Authenticator = request.app.state.authenticator
        authenticator.check_origin(request)
        await authenticate(request, await bearer_token(request))
        response: Response = await route.endpoint(request)
        return response

    app.router.routes.append(Route(A2A, call, methods=["POST"], include_in_schema=False))
    app.router.routes.append(Route(AGENT_CARD_WELL_KNOWN_PATH, _card, methods=["GET"], include_in_schema=False))


async def _card(request: Request) -> Response:
    """The card. Without a valid key it names no graph."""
    service: TurnService = request.app.state.turn_service
    try:
        caller = await authenticate(request, await bearer_token(request))
    except (Unauthenticated, ForbiddenOrigin):
        card = agent_card(_address(request), service, None)
    else:
        async with service.look_up_slot(caller):
            card = await run_in_thread(agent_card, _address(request), service, caller)
    return JSONResponse(
        agent_card_to_dict(card), headers={"Cache-Control": "no-store", "Vary": "Authorization, Origin"}
    )


def _address(request: Request) -> str:
    return str(request.base_url).rstrip("/") + A2A


log = logging.getLogger(__name__)

# what `A2AContext` holds of a request
CONTEXT = "nacre"

END_KINDS = ("answer", "error")


class TurnHandler(RequestHandler):
    """The methods of the protocol over the turns of a server."""

    async def on_message_send(self, params: SendMessageRequest, context: ServerCallContext) -> Task | Message:
        with _as_protocol_errors():
            parts = _parts(context)
            entry, run = await _start(params, parts)
            if not params.configuration.return_immediately:
                await run.wait()
            return task_of(entry, run.events)

    async def on_message_send_stream(
        self, params: SendMessageRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event]:
        with _as_protocol_errors():
            entry, run = await _start(params, _parts(context))
            async with aclosing(_updates(entry, run)) as updates:
                async for update in updates:
                    yield update

    async def on_subscribe_to_task(
        self, params: SubscribeToTaskRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event]:
        with _as_protocol_errors():
            parts = _parts(context)
            entry = _tasks(parts).find(parts.caller, params.id)
            if entry is None:
                raise TaskNotFoundError
            run = _running(entry, parts)
            if run is None or run.is_done:
                raise UnsupportedOperationError("The task has ended. Get it instead.")
            async with aclosing(_updates(entry, run)) as updates:
                async for update in updates:
                    yield update

    async def on_get_task(self, params: GetTaskRequest, context: ServerCallContext) -> Task | None:
        with _as_protocol_errors():
            return await _find_task(params.id, _parts(context))

    async def on_list_tasks(self, params: ListTasksRequest, context: ServerCallContext) -> ListTasksResponse:
        with _as_protocol_errors():
            parts = _parts(context)
            size = min(params.page_size or DEFAULT_LIST_TASKS_PAGE_SIZE, MAX_LIST_TASKS_PAGE_SIZE)
            token = params.page_token or "0"
            if not (token.isdecimal() and len(token) < 10) or size < 1:
                raise InvalidParamsError("The page token is not one of this server.")
            start = int(token)
            async with parts.service.look_up_slot(parts.caller):
                entries = _tasks(parts).listed(parts.caller, params.context_id)
                if not params.status:
                    return _page([await _found(each, parts) for each in entries[start : start + size]], start, size,
                                 len(entries))  # fmt: skip
                tasks = [await _found(each, parts) for each in entries]
                tasks = [task for task in tasks if task.status.state == params.status]
                return _page(tasks[start : start + size], start, size, len(tasks))

    async def on_cancel_task(self, params: CancelTaskRequest, context: ServerCallContext) -> Task | None:
        with _as_protocol_errors():
            parts = _parts(context)
            entry = _tasks(parts).find(parts.caller, params.id)
            run = _running(entry, parts) if entry else None
            if entry is None or run is None or run.is_done:
                if await _find_task(params.id, parts) is None:
                    return None
                raise TaskNotCancelableError("The task has ended.")
            run.stop(CANCELLED)
            await run.wait()
            return task_of(entry, run.events)

    async def on_get_extended_agent_card(
        self, params: GetExtendedAgentCardRequest, context: ServerCallContext
    ) -> AgentCard:
        with _as_protocol_errors():
            parts = _parts(context)
            async with parts.service.look_up_slot(parts.caller):
                return await run_in_thread(agent_card, _address(parts.request), parts.service, parts.caller)

    async def on_create_task_push_notification_config(self, params: Any, context: ServerCallContext) -> NoReturn:
        # a server that calls addresses of its clients could be sent anywhere
        raise PushNotificationNotSupportedError

    on_get_task_push_notification_config = on_create_task_push_notification_config
    on_list_task_push_notification_configs = on_create_task_push_notification_config
    on_delete_task_push_notification_config = on_create_task_push_notification_config


def _parts(context: ServerCallContext) -> TurnContext:
    parts: TurnContext = context.state[CONTEXT]
    return parts


@dataclass(frozen=True)
class TaskEntry:
    """One task. A task that asked which reading was meant is continued by another run."""

    id: str
    owner: str
    graph: str
    context: str
    run: str


class TaskRegistry:
    """The latest tasks of a process."""

    def __init__(self) -> None:
        self._entries: OrderedDict[str, TaskEntry] = OrderedDict()

    def put(self, entry: TaskEntry) -> None:
        """Remember a task as the latest one."""
        self._entries[entry.id] = entry
        self._entries.move_to_end(entry.id)
        while len(self._entries) > MAX_TASKS:
            self._entries.popitem(last=False)

    def find(self, caller: Caller, id: str) -> TaskEntry | None:
        """A task of the caller about a graph that the caller may read, or None."""
        entry = self._entries.get(id)
        return entry if entry and entry.owner == caller.owner and caller.may_read(entry.graph) else None

    def listed(self, caller: Caller, context: str = "") -> list[TaskEntry]:
        """The caller's tasks, the latest first; only those of a conversation if it is named."""
        entries = (self.find(caller, id) for id in reversed(self._entries))
        return [entry for entry in entries if entry and context in ("", entry.context)]


def _tasks(parts: TurnContext) -> TaskRegistry:
    tasks: TaskRegistry = parts.request.app.state.a2a_tasks
    return tasks


async def _start(params: SendMessageRequest, parts: TurnContext) -> tuple[TaskEntry, Run]:
    """Start the turn of a message. Raises NacreError or A2AError if it can't be asked."""
    message = params.message
    parts.service.check_capacity(parts.caller)
    if params.configuration.HasField("task_push_notification_config"):
        raise PushNotificationNotSupportedError
    question, task, context, graph = _text(message), message.task_id, message.context_id, _graph(params)
    if task:
        record = await _open_question(task, parts)
        if context and context != record["thread"]:
            raise InvalidParamsError("The task belongs to another context.")
        context, graph = str(record["thread"]), record["graph"]
        question = _choice(record, message, question)
    context = context or uuid.uuid4().hex
    run = await parts.begin_turn(TurnInput(question, graph, context))
    entry = TaskEntry(task or run.id, run.owner, run.graph, context, run.id)
    _tasks(parts).put(entry)
    return entry, run


def _text(message: Message) -> str:
    """The text of a message; a reply that has only data is read by `_choice`."""
    for part in message.parts:
        if part.WhichOneof("content") not in ("text", "data"):
            raise ContentTypeNotSupportedError("Messages are text here; files are not read.")
    return "\n".join(part.text for part in message.parts if part.text)


def _graph(params: SendMessageRequest) -> str | None:
    """The graph that a message or its request names in the metadata."""
    for metadata in (params.message.metadata, params.metadata):
        if (name := MessageToDict(metadata).get("graph")) is not None:
            if not isinstance(name, str):
                raise InvalidParamsError("graph is the name of a graph, as text.")
            return name
    return None


async def _open_question(task: str, parts: TurnContext) -> Answer:
    """The answer of a task that waits for a reply; raises A2AError."""
    entry = _tasks(parts).find(parts.caller, task)
    record = await parts.service.stored_answer(entry.run if entry else task, parts.caller)
    if record is None:
        raise TaskNotFoundError
    if not await awaits_choice(record, parts.service, parts.caller):
        raise UnsupportedOperationError("The task has ended. Send the message without a task, in the same context.")
    return record


def _choice(record: Answer, message: Message, text: str) -> str:
    """The words of the chosen option; other text is a question of its own in the conversation."""
    options = offered_options(record)
    data = [MessageToDict(part.data) for part in message.parts if part.WhichOneof("content") == "data"]
    if not data and text.strip() not in {str(option["n"]) for option in options}:
        return text
    reply = data[0] if data else text.strip()
    if isinstance(reply, dict) and isinstance(number := reply.get("option"), float) and number.is_integer():
        # all numbers of protobuf's JSON are floats
        reply = {"option": int(number)}
    return chosen_words(options, reply)


def _page(tasks: Sequence[Task], start: int, size: int, total: int) -> ListTasksResponse:
    following = str(start + size) if start + size < total else ""
    return ListTasksResponse(tasks=tasks, next_page_token=following, page_size=size, total_size=total)


async def _found(entry: TaskEntry, parts: TurnContext) -> Task:
    """A task that is listed; one whose conversation was deleted has ended without an answer."""
    return await _find_task(entry.id, parts) or task_of_problem(entry, "The conversation was deleted.")


async def _find_task(id: str, parts: TurnContext) -> Task | None:
    """A task of the caller, running or ended."""
    entry = _tasks(parts).find(parts.caller, id)
    if entry and (run := _running(entry, parts)):
        return task_of(entry, run.events)
    record = await parts.service.stored_answer(entry.run if entry else id, parts.caller)
    if record is None:
        return None
    entry = entry or TaskEntry(id, parts.caller.owner, record["graph"], str(record["thread"]), id)
    return task_of_record(entry, record)


def _running(entry: TaskEntry, parts: TurnContext) -> Run | None:
    """The run of a task while it is in memory."""
    try:
        return parts.runs.get(parts.caller, entry.run)
    except NotFound:
        return None


async def _updates(entry: TaskEntry, run: Run) -> AsyncGenerator[Event]:
    """The task, the tokens that are available at once together, and the end."""
    yield task_of(entry, ())
    has_text = False
    async with aclosing(run.batches()) as batches:
        async for batch in batches:
            text = "".join(json.loads(event.data) for _, event in batch if event.kind == "token")
            if text:
                yield _piece(entry, new_text_part(text), append=has_text)
                has_text = True
            for _, event in batch:
                if event.kind in END_KINDS:
                    for each in last_events(entry, event):
                        yield each


@contextmanager
def _as_protocol_errors() -> Iterator[None]:
    """Errors of the block as those of the protocol. Internal errors are logged and not shown to clients."""
    try:
        yield
    except (A2AError, asyncio.CancelledError, GeneratorExit):
        raise
    except ConfigError as error:
        raise InvalidParamsError(str(error)) from error
    except NacreError as error:
        raise InternalError(str(error)) from error
    except Exception as error:
        log.exception("a method of A2A failed")
        raise InternalError("Internal error. See the server's log.") from error


TEXT, DATA = "text/plain", "application/json"

SCHEME = "key"

# classes that describe a graph, the largest first (given)
MAX_CLASSES = 8

TAGS = ("knowledge graph", "question answering", "citations")

DESCRIPTION = (
    "Answers questions in plain language about knowledge graphs, with citations, the values as data and a probability. "
    "Name the graph in the metadata of the message, as graph; it may be omitted if there is only one."
)

PUBLIC_SKILL = AgentSkill(
    id="ask",
    name="Answer questions about knowledge graphs",
    description="Fetch this card with your key, or the extended card, to see the graphs that you may ask.",
    tags=TAGS,
)


def agent_card(address: str, service: TurnService, caller: Caller | None) -> AgentCard:
    """The card for a caller; without a caller it names no graph. `address` is that of the route /a2a. It opens each
    graph, so it must not run on the event loop."""
    card = AgentCard(
        name="Nacre",
        description=DESCRIPTION,
        version=version("nacre"),
        supported_interfaces=[
            AgentInterface(url=address, protocol_binding=TransportProtocol.JSONRPC, protocol_version=each)
            for each in (PROTOCOL_VERSION_1_0, PROTOCOL_VERSION_0_3)
        ],
        capabilities=AgentCapabilities(streaming=True, push_notifications=False, extended_agent_card=True),
        default_input_modes=[TEXT],
        default_output_modes=[TEXT, DATA],
        skills=[PUBLIC_SKILL]
        if caller is None
        else [
            AgentSkill(
                id=each, name=f"Questions about {each}", description=_description(service.library, each), tags=TAGS
            )
            for each in service.graph_names(caller)
        ],
    )
    if caller is None or caller.owner != LOCAL_CALLER.owner:
        bearer = HTTPAuthSecurityScheme(scheme="bearer", description="A key created by nacre keys add.")
        card.security_schemes[SCHEME].CopyFrom(SecurityScheme(http_auth_security_scheme=bearer))
        card.security_requirements.append(SecurityRequirement(schemes={SCHEME: StringList()}))
    return card


def _description(library: Library, name: str) -> str:
    """What a graph holds, by its largest classes."""
    try:
        with library.open(name) as graph:
            classes = sorted(graph.schema.shown_classes, key=lambda each: -each.count)[:MAX_CLASSES]
    except (ConfigError, OSError):
        return "This graph can't be opened now."
    held = ", ".join(f"{each.label} ({each.count:,})" for each in classes) or "no classes"
    return f"The graph {name!r} holds {held}."


# why a run stopped whose task was cancelled
CANCELLED = "The task was cancelled."

FAILED = "failed"


def task_of(entry: TaskEntry, events: Sequence[RunEvent]) -> Task:
    """The task after these events of its run."""
    last = next((event for event in reversed(events) if event.kind in ("answer", "error")), None)
    if last is None:
        return _task(entry, _status(entry, TASK_STATE_WORKING))
    payload = json.loads(last.data)
    return task_of_record(entry, payload) if last.kind == "answer" else task_of_problem(entry, payload["message"])


def task_of_record(entry: TaskEntry, record: Answer) -> Task:
    """The task whose last run gave this answer."""
    parts = [new_text_part(record["answer"]), _data_part(record)]
    return _task(entry, _answer_status(entry, record), _artifact(entry, parts))


def task_of_problem(entry: TaskEntry, message: str) -> Task:
    """The task whose last run ended without an answer."""
    return _task(entry, _error_status(entry, message))


def last_events(entry: TaskEntry, event: RunEvent) -> list[TaskArtifactUpdateEvent | TaskStatusUpdateEvent]:
    """The events for an answer or an error: the data of the answer, and the state of the task."""
    payload: Any = json.loads(event.data)
    if event.kind == "error":
        return [_update(entry, _error_status(entry, payload["message"]))]
    record = cast(Answer, payload)
    data = _piece(entry, _data_part(record), append=True, last_chunk=True)
    return [data, _update(entry, _answer_status(entry, record))]


def _task(entry: TaskEntry, status: TaskStatus, *artifacts: Artifact) -> Task:
    return Task(id=entry.id, context_id=entry.context, status=status, artifacts=artifacts)


def _piece(entry: TaskEntry, part: Part, **place: bool) -> TaskArtifactUpdateEvent:
    return TaskArtifactUpdateEvent(
        task_id=entry.id, context_id=entry.context, artifact=_artifact(entry, [part]), **place
    )


def _update(entry: TaskEntry, status: TaskStatus) -> TaskStatusUpdateEvent:
    return TaskStatusUpdateEvent(task_id=entry.id, context_id=entry.context, status=status)


def _answer_status(entry: TaskEntry, record: Answer) -> TaskStatus:
    """A question that can be meant in several ways needs a reply; the options are in the message."""
    if options := offered_options(record):
        words = "\n".join(f"{option['n']}: {option['words']}" for option in options)
        schema = new_data_part({"options": list(options), "reply": option_schema(options)})
        return _status(entry, TASK_STATE_INPUT_REQUIRED, new_text_part(f"Which did you mean?\n{words}"), schema)
    if record["status"] == FAILED:
        return _status(entry, TASK_STATE_FAILED, new_text_part(record["reason"] or record["answer"]))
    return _status(entry, TASK_STATE_COMPLETED)


def _error_status(entry: TaskEntry, message: str) -> TaskStatus:
    state = TASK_STATE_CANCELED if message in (CANCELLED, CLIENT_LEFT) else TASK_STATE_FAILED
    return _status(entry, state, new_text_part(message))


def _status(entry: TaskEntry, state: TaskState, *parts: Part) -> TaskStatus:
    now = Timestamp()
    now.GetCurrentTime()
    if not parts:
        return TaskStatus(state=state, timestamp=now)
    message = Message(
        message_id=f"{entry.run}-status", task_id=entry.id, context_id=entry.context, role=Role.ROLE_AGENT, parts=parts
    )
    return TaskStatus(state=state, message=message, timestamp=now)


def _artifact(entry: TaskEntry, parts: Sequence[Part]) -> Artifact:
    return Artifact(artifact_id=f"{entry.run}-answer", name="answer", parts=parts)


def _data_part(record: Answer) -> Part:
    return new_data_part(agent_answer(record).model_dump(mode="json", exclude={"answer"}))


# tasks whose conversation and run are remembered; later the store of conversations knows them by the id of a run
MAX_TASKS = 1000
