"""Tasks of A2A: the events of a run -> a task with its state and its answer as an artifact.

The tasks of a process: id -> whose task it is, in which conversation, and the run that works on it.
"""

import json
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from a2a.helpers.proto_helpers import new_data_part, new_text_part
from a2a.types.a2a_pb2 import (
    TASK_STATE_CANCELED,
    TASK_STATE_COMPLETED,
    TASK_STATE_FAILED,
    TASK_STATE_INPUT_REQUIRED,
    TASK_STATE_WORKING,
    Artifact,
    Message,
    Part,
    Role,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
)
from google.protobuf.timestamp_pb2 import Timestamp

from nacre.records.answer import Answer
from nacre.serving.agent_answer import agent_answer, offered_options, option_schema
from nacre.serving.keys import Caller
from nacre.serving.runs import CLIENT_LEFT, RunEvent

# why a run stopped whose task was cancelled
CANCELLED = "The task was cancelled."

FAILED = "failed"


@dataclass(frozen=True)
class TaskEntry:
    """One task. A task that asked which reading was meant is continued by another run."""

    id: str
    owner: str
    graph: str
    context: str
    run: str


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


def text_event(entry: TaskEntry, text: str, *, append: bool) -> TaskArtifactUpdateEvent:
    """Some tokens of the answer."""
    return TaskArtifactUpdateEvent(
        task_id=entry.id, context_id=entry.context, artifact=_artifact(entry, [new_text_part(text)]), append=append
    )


def last_events(entry: TaskEntry, event: RunEvent) -> list[TaskArtifactUpdateEvent | TaskStatusUpdateEvent]:
    """The events for an answer or an error: the data of the answer, and the state of the task."""
    payload: Any = json.loads(event.data)
    if event.kind == "error":
        return [_update(entry, _error_status(entry, payload["message"]))]
    record = cast(Answer, payload)
    data = TaskArtifactUpdateEvent(
        task_id=entry.id,
        context_id=entry.context,
        artifact=_artifact(entry, [_data_part(record)]),
        append=True,
        last_chunk=True,
    )
    return [data, _update(entry, _answer_status(entry, record))]


def _task(entry: TaskEntry, status: TaskStatus, *artifacts: Artifact) -> Task:
    return Task(id=entry.id, context_id=entry.context, status=status, artifacts=artifacts)


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
        message_id=f"{entry.run}-status",
        task_id=entry.id,
        context_id=entry.context,
        role=Role.ROLE_AGENT,
        parts=parts,
    )
    return TaskStatus(state=state, message=message, timestamp=now)


def _artifact(entry: TaskEntry, parts: Sequence[Part]) -> Artifact:
    return Artifact(artifact_id=f"{entry.run}-answer", name="answer", parts=parts)


def _data_part(record: Answer) -> Part:
    return new_data_part(agent_answer(record).model_dump(mode="json", exclude={"answer"}))


# tasks whose conversation and run are remembered; later the store of conversations knows them by the id of a run
MAX_TASKS = 1000


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
