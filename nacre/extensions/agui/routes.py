"""The route /agui: the input of a run -> the question, its thread and options -> its events as server-sent events.

Events come in the order that the protocol prescribes:

    RUN_STARTED STATE_SNAPSHOT { STEP_STARTED ... STEP_FINISHED } TEXT_MESSAGE_* STATE_DELTA RUN_FINISHED | RUN_ERROR

A step is open at a time. Tool calls are the queries of a turn with what they gave.
"""

import json
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import aclosing
from typing import Annotated, Any, NamedTuple

from ag_ui.core import (
    BaseEvent,
    Interrupt,
    ResumeEntry,
    RunAgentInput,
    RunErrorEvent,
    RunFinishedEvent,
    RunFinishedInterruptOutcome,
    RunFinishedSuccessOutcome,
    RunStartedEvent,
    StateDeltaEvent,
    StateSnapshotEvent,
    StepFinishedEvent,
    StepStartedEvent,
    TextMessageContentEvent,
    TextMessageEndEvent,
    TextMessageStartEvent,
    TextPart,
    TokenUsage,
    ToolCallArgsEvent,
    ToolCallEndEvent,
    ToolCallResultEvent,
    ToolCallStartEvent,
    UserMessage,
)
from ag_ui.core.version import PROTOCOL_VERSION
from ag_ui.encoder import EventEncoder
from fastapi import APIRouter, FastAPI, Query
from sse_starlette import EventSourceResponse

from graph.context import Context, parse_context
from graph.state import Json
from nacre.errors import ConfigError
from nacre.records.answer import Answer
from nacre.records.threads import run_in_thread
from nacre.serving.errors import NotFound
from nacre.serving.http.dependencies import ERROR_RESPONSES, FewProblems, TurnContextDep
from nacre.serving.keys import Caller
from nacre.serving.openai import MAX_MESSAGES
from nacre.serving.runs import Run
from nacre.serving.transcript import agent_answer, awaits_choice, chosen_words, offered_options, option_schema
from nacre.serving.turn_service import TurnInput, TurnService

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
    body: Annotated[RunAgentInput, FewProblems],
    turns: TurnContextDep,
    graph: Annotated[str | None, Query(description="The graph; may be omitted if there is only one.")] = None,
) -> EventSourceResponse:
    """Ask the last message, in the conversation `threadId`, which the server stores.

    A question that can be meant in several ways ends with an interrupt; resume it with `{"option": N}`. If the client
    disconnects, its turn ends.
    """
    service, caller = turns.service, turns.caller
    service.check_capacity(caller)
    asked = await parse_run_request(body, graph, service, caller)
    if asked.question is None:
        name = await run_in_thread(service.resolve_graph, asked.graph, caller)
        return turns.event_stream(_without_turn(RunEvents(body, "", name)))
    turn = TurnInput(asked.question, asked.graph, asked.thread, asked.context, instead_of=asked.instead_of)
    run = await turns.begin_turn(turn, resumed=False)
    return turns.event_stream(_of_turn(run, RunEvents(body, run.id, run.graph)))


class RunEvents:
    """The events of one run."""

    def __init__(self, input: RunAgentInput, id: str, graph: str) -> None:
        self._thread, self._run = input.thread_id, input.run_id
        self._state = input.state if isinstance(input.state, dict) else {}
        self._id, self._graph = id, graph
        self._step = ""
        self._calls = 0
        self._is_writing = False

    def opening(self) -> Iterator[BaseEvent]:
        """The events before the turn begins."""
        yield RunStartedEvent(thread_id=self._thread, run_id=self._run, protocol_version=PROTOCOL_VERSION)
        ours: Json = {"graph": self._graph, "status": None, "values": [], "table": None, "citations": [], "options": []}
        yield StateSnapshotEvent(snapshot={**self._state, STATE_KEY: ours})

    def first_step(self) -> Iterator[BaseEvent]:
        """The event before the first one of the turn."""
        yield from self._enter("rewriter")

    def closing(self) -> BaseEvent:
        """The end of a run without a turn."""
        return self._finished(RunFinishedSuccessOutcome())

    def events(self, kind: str, payload: Any) -> Iterator[BaseEvent]:
        """The events for one event of the turn; see `graph.stream.stream_turn`."""
        if kind == "rewriter":
            yield from self._passed("rewriter", "understand")
            yield self._delta({"standalone": payload["standalone"]})
        elif kind == "understand":
            yield from self._passed("understand", "tool_selector")
            yield self._delta({"readings": [reading["words"] for reading in payload["readings"]]})
        elif kind == "route":
            yield from self._passed("tool_selector", RETRIEVAL if payload["branches"] else WRITING)
        elif kind == "query":
            yield from self._tool_call(payload)
        elif kind == "token":
            yield from self._text(payload)
        elif kind == "answer":
            yield from self._answer(payload)
        elif kind == "error":
            yield from self._end_text()
            yield RunErrorEvent(message=payload["message"], code=str(payload["status"]))

    def _passed(self, step: str, following: str) -> Iterator[BaseEvent]:
        """A step has ended, and another one begins."""
        yield from self._enter(step)
        yield from self._enter(following)

    def _enter(self, step: str) -> Iterator[BaseEvent]:
        """End the open step and begin another one, or none for ""."""
        if step == self._step:
            return
        if self._step:
            yield StepFinishedEvent(step_name=self._step)
        self._step = step
        if step:
            yield StepStartedEvent(step_name=step)

    def _tool_call(self, query: Mapping[str, Any]) -> Iterator[BaseEvent]:
        self._calls += 1
        id = f"{self._id}-query-{self._calls}"
        arguments = {"query": query["text"], "parameters": query["params"]}
        result = {name: query[name] for name in ("words", "rows", "truncated", "error", "seconds")}
        yield ToolCallStartEvent(tool_call_id=id, tool_call_name=query["tool"])
        yield ToolCallArgsEvent(tool_call_id=id, delta=_json(arguments))
        yield ToolCallEndEvent(tool_call_id=id)
        yield ToolCallResultEvent(message_id=f"{id}-result", tool_call_id=id, content=_json(result), role="tool")

    def _text(self, token: str) -> Iterator[BaseEvent]:
        if not self._is_writing:
            yield from self._enter(WRITING)
            self._is_writing = True
            yield TextMessageStartEvent(message_id=self._message, role="assistant")
        if token:
            yield TextMessageContentEvent(message_id=self._message, delta=token)

    def _end_text(self) -> Iterator[BaseEvent]:
        if self._is_writing:
            self._is_writing = False
            yield TextMessageEndEvent(message_id=self._message)

    def _answer(self, record: Answer) -> Iterator[BaseEvent]:
        yield from self._end_text()
        state = agent_answer(record).model_dump(mode="json", exclude={"answer"})
        if state["table"]:
            state["table_rows"] = len(state["table"]["rows"])
            state["table"]["rows"] = state["table"]["rows"][:MAX_STATE_ROWS]
        yield self._delta({**state, "run": record["id"], "turn": record["turn"]})
        yield from self._enter("")
        yield self._finished(_outcome(record), record)

    def _finished(
        self, outcome: RunFinishedInterruptOutcome | RunFinishedSuccessOutcome, record: Answer | None = None
    ) -> RunFinishedEvent:
        usage = record and [
            TokenUsage(
                input_tokens=record["input_tokens"],
                output_tokens=record["output_tokens"],
                total_tokens=record["input_tokens"] + record["output_tokens"],
                cached_input_tokens=record["cached_tokens"],
            )
        ]
        return RunFinishedEvent(thread_id=self._thread, run_id=self._run, outcome=outcome, usage=usage)

    def _delta(self, fields: Mapping[str, Any]) -> StateDeltaEvent:
        return StateDeltaEvent(
            delta=[{"op": "add", "path": f"/{STATE_KEY}/{name}", "value": value} for name, value in fields.items()]
        )

    @property
    def _message(self) -> str:
        return f"{self._id}-answer"


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


INSTEAD_OF = "instead_of"


class RunRequest(NamedTuple):
    """What a run asks. The question is None if the run only gives up an interrupt."""

    question: str | None
    graph: str | None
    thread: str
    context: Context
    instead_of: int | None


async def parse_run_request(
    input: RunAgentInput, graph: str | None, service: TurnService, caller: Caller
) -> RunRequest:
    """The question of a run: the chosen option of the interrupt that it resumes, or its last message.

    `graph` is that of the address; `forwardedProps` may have the options of a turn, `graph` and `instead_of` among
    them. Raises NacreError if nothing can be asked.
    """
    options = _turn_options(input.forwarded_props)
    instead_of = options.pop(INSTEAD_OF, None)
    if instead_of is not None and not (type(instead_of) is int and 0 < instead_of < 2**31):
        raise ConfigError(f"{INSTEAD_OF} is the number of a turn.")
    context = parse_context({"graph": graph, **options})
    if len(input.messages) > MAX_MESSAGES:
        raise ConfigError(f"There are {len(input.messages)} messages; at most {MAX_MESSAGES} are allowed.")
    if input.resume:
        if len(input.resume) != 1:
            raise ConfigError("A run ends with one interrupt. Resume that one alone.")
        (entry,) = input.resume
        record = await _interrupted_answer(entry, input.thread_id, service, caller)
        given_up = entry.status == "cancelled"
        question = _last_question(input) if given_up else chosen_words(offered_options(record), entry.payload)
        return RunRequest(question, record["graph"], input.thread_id, context, instead_of)
    question = _last_question(input)
    if question is None:
        raise ConfigError("The last message must be a user message: it is the question.")
    return RunRequest(question, context.graph, input.thread_id, context, instead_of)


def _turn_options(forwarded: Any) -> dict[str, Any]:
    if forwarded is None:
        return {}
    if not isinstance(forwarded, Mapping):
        raise ConfigError("forwardedProps is an object with the options of a turn. Leave it out to use the defaults.")
    # front ends forward properties of their own too
    return {name: forwarded[name] for name in (*Context.model_fields, INSTEAD_OF) if name in forwarded}


def _last_question(input: RunAgentInput) -> str | None:
    """The text of the last message if a user wrote it. Earlier messages are not read: the thread remembers them."""
    last = input.messages[-1] if input.messages else None
    if not isinstance(last, UserMessage):
        return None
    if isinstance(last.content, str):
        return last.content
    for part in last.content:
        if not isinstance(part, TextPart):
            raise ConfigError(f"A message has content of type {part.type[:40]!r}; only text is supported.")
    return "\n".join(part.text for part in last.content if isinstance(part, TextPart))


async def _interrupted_answer(entry: ResumeEntry, thread: str, service: TurnService, caller: Caller) -> Answer:
    """The answer that ended with an interrupt, if it is the last one of its thread; raises NotFound."""
    unknown = NotFound("This interrupt is no longer open: the conversation has gone on or is not stored. Ask again.")
    record = await service.stored_answer(entry.interrupt_id, caller)
    if record is None or record["thread"] != thread or not await awaits_choice(record, service, caller):
        raise unknown
    return record


# the key of the shared state that is ours; what else a front end keeps there stays
STATE_KEY = "nacre"

# rows of the table in the state, which clients send back with every run (given)
MAX_STATE_ROWS = 200

RETRIEVAL, WRITING = "retrieval", "fuser"

CLARIFICATION = "nacre:clarification"


def _outcome(record: Answer) -> RunFinishedInterruptOutcome | RunFinishedSuccessOutcome:
    """An interrupt if the answer asks which reading was meant."""
    options = offered_options(record)
    if not options:
        return RunFinishedSuccessOutcome()
    interrupt = Interrupt(
        id=record["id"], reason=CLARIFICATION, message="Which did you mean?", response_schema=option_schema(options)
    )
    return RunFinishedInterruptOutcome(interrupts=[interrupt])


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def add_agui(app: FastAPI, *, alone: bool) -> None:
    """Add the route, to a server of its own or a part of one."""
    app.include_router(router)
