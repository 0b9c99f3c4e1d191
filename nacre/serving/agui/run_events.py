"""Events of AG-UI: the events of a turn -> those of the protocol, in the order that it prescribes.

    RUN_STARTED STATE_SNAPSHOT { STEP_STARTED ... STEP_FINISHED } TEXT_MESSAGE_* STATE_DELTA RUN_FINISHED | RUN_ERROR

A step is open at a time. Tool calls are the queries of a turn with what they gave.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ag_ui.core import (
    BaseEvent,
    Interrupt,
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
    TokenUsage,
    ToolCallArgsEvent,
    ToolCallEndEvent,
    ToolCallResultEvent,
    ToolCallStartEvent,
)
from ag_ui.core.version import PROTOCOL_VERSION

from graph.state import Json
from nacre.records.answer import Answer
from nacre.serving.agent_answer import agent_answer, offered_options, option_schema

# the key of the shared state that is ours; what else a front end keeps there stays
STATE_KEY = "nacre"
# rows of the table in the state, which clients send back with every run (given)
MAX_STATE_ROWS = 200
RETRIEVAL, WRITING = "retrieval", "fuser"
CLARIFICATION = "nacre:clarification"


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
