"""Threads as LangGraph's clients see them: stored checkpoints -> a tree of snapshots, the latest first -> JSON.

A turn stores one checkpoint, after its answer; a turn that was stopped stores one after its question. Clients also
refer to the state in which only the question is there (to have it answered again), and to the one before the first
question. Those are derived, with ids made from their content. A request to run a turn gives its question, and where in
the thread it begins.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from langchain_core.messages import BaseMessage

from graph.stream import TurnStart
from nacre.errors import ConfigError
from nacre.extensions.langgraph_api.requests import (
    MAX_ID,
    STREAM_MODES,
    GraphRunRequest,
    InputMessage,
    MessageJson,
    RunInput,
    answer_ids,
    assistant_id,
    clarification,
    input_message,
    input_text,
    is_human,
)
from nacre.records.threads import run_in_thread
from nacre.serving.errors import NotFound
from nacre.serving.keys import Caller
from nacre.serving.threads import Threads, unanswered_question
from nacre.stores.state.checkpoints import StoredCheckpoint
from nacre.stores.state.conversations import Conversation

# checkpoints that one request reads, and the states that it returns, in bytes (given)
MAX_READ = 32_000_000

MAX_RETURNED = 8_000_000


@dataclass(frozen=True)
class Snapshot:
    """The state of a thread at a checkpoint. `base` is the stored checkpoint that a turn from here starts after, ROOT
    if it starts anew. `question` is the message that is not answered yet, `run` the run that
    was stopped before it answered it."""

    id: str
    parent: str | None
    base: str
    messages: Sequence[MessageJson] = ()
    fields: dict[str, Any] = field(default_factory=dict)
    created: str | None = None
    question: MessageJson | None = None
    step: int = -1
    run: str | None = None

    @property
    def values(self) -> dict[str, Any]:
        """The state as clients see it."""
        return {"messages": list(self.messages), **self.fields} if self.messages else {}

    @property
    def next(self) -> list[str]:
        """The nodes that would run next."""
        if self.id == ROOT:
            return ["__start__"]
        return [FIRST_NODE] if self.question is not None or self.interrupts else []

    @property
    def interrupts(self) -> list[dict[str, Any]]:
        """What the last turn asks back."""
        if self.question is not None or not self.messages:
            return []
        return clarification(self.messages[-1])


async def all_snapshots(threads: Threads, caller: Caller, thread: str, limit: int | None = None) -> list[Snapshot]:
    """The snapshots of a thread, the latest first; older ones are left out if there are more than MAX_READ bytes."""
    stored = await threads.saver.stored(f"{caller.owner}:{thread}", MAX_READ)
    return await run_in_thread(read_snapshots, stored, threads.saver.serde.loads_typed, limit)


async def latest_snapshot(threads: Threads, caller: Caller, thread: str) -> Snapshot | None:
    """The state of a thread after its last turn; None if there is none."""
    # an unfinished turn of a process that was killed may be the last
    for most_bytes in (0, MAX_READ):
        stored = await threads.saver.stored(f"{caller.owner}:{thread}", most_bytes)
        found = await run_in_thread(read_snapshots, stored, threads.saver.serde.loads_typed)
        if found:
            return found[0]
    return None


async def snapshot_at(threads: Threads, caller: Caller, thread: str, id: str) -> Snapshot:
    """The state at a checkpoint; raises NotFound."""
    for snapshot in await all_snapshots(threads, caller, thread):
        if snapshot.id == id:
            return snapshot
    raise NotFound("This thread has no such checkpoint. List them with the history of the thread.")


def thread_record(
    conversation: Conversation, metadata: dict[str, Any], snapshot: Snapshot | None, *, busy: bool
) -> dict[str, Any]:
    """A thread as JSON."""
    graph, interrupts = conversation.graph, snapshot.interrupts if snapshot else []
    about = {"graph_id": graph, "assistant_id": assistant_id(graph)} if graph else {}
    titled = {"title": conversation.title} if conversation.title else {}
    return {
        "thread_id": conversation.thread,
        "created_at": _time(conversation.created),
        "updated_at": _time(conversation.updated),
        "state_updated_at": _time(conversation.updated),
        "metadata": {**titled, **metadata, **about},
        "status": "busy" if busy else "interrupted" if interrupts else "idle",
        "config": {},
        "values": snapshot.values if snapshot else None,
        "interrupts": {each["id"]: [each] for each in interrupts},
        "error": None,
    }


def state_record(thread: str, snapshot: Snapshot | None) -> dict[str, Any]:
    """A state as JSON; that of a thread without turns if there is none."""
    if snapshot is None:
        snapshot = Snapshot("", None, "")
    interrupts = snapshot.interrupts
    task = {"id": f"{snapshot.id}:{FIRST_NODE}", "name": FIRST_NODE, "interrupts": interrupts}
    return {
        "values": snapshot.values,
        "next": snapshot.next if snapshot.id else [],
        # a node that waits: for a reply, or to be run
        "tasks": [{**task, **NOT_RUN} for each in snapshot.next if each == FIRST_NODE],
        "interrupts": interrupts,
        "checkpoint": _checkpoint(thread, snapshot.id or None),
        "parent_checkpoint": _checkpoint(thread, snapshot.parent) if snapshot.parent else None,
        "metadata": {"source": "loop" if snapshot.step > 0 else "input", "step": snapshot.step, "thread_id": thread},
        "created_at": snapshot.created,
        "checkpoint_id": snapshot.id or None,
        "parent_checkpoint_id": snapshot.parent,
    }


def history_records(thread: str, snapshots: Sequence[Snapshot]) -> list[dict[str, Any]]:
    """The states as JSON, until they have more than MAX_RETURNED bytes. The last one is then without a parent, so that
    clients that draw a tree find its root."""
    records: list[dict[str, Any]] = []
    size = 0
    for snapshot in snapshots:
        record = state_record(thread, snapshot)
        size += len(json.dumps(record))
        if records and size > MAX_RETURNED:
            records[-1] |= {"parent_checkpoint": None, "parent_checkpoint_id": None}
            break
        records.append(record)
    return records


def _checkpoint(thread: str, id: str | None) -> dict[str, Any]:
    return {"thread_id": thread, "checkpoint_ns": "", "checkpoint_id": id, "checkpoint_map": None}


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


# the state of every thread before its first question; no stored checkpoint has this id
ROOT = "1ef00000-0000-6000-8000-000000000000"

FIRST_NODE = "rewriter"

# what a task has when its node has run
NOT_RUN = dict.fromkeys(("error", "checkpoint", "state", "result"))

# fields of the graph's state that clients see
SHOWN_FIELDS = ("about", "turn", "asked", "standalone", "readings", "visited", "spent")

Load = Callable[[tuple[str, bytes]], Any]


@dataclass(frozen=True)
class _TurnEnd:
    """A stored checkpoint after an answer, or after a question whose turn was stopped: the latter has its `run`."""

    id: str
    parent: str | None
    created: str
    messages: Sequence[BaseMessage]
    fields: dict[str, Any]
    run: str | None = None

    @property
    def question(self) -> int:
        """The place of the question among the messages; negative if there is none."""
        return len(self.messages) - (2 if self.run is None else 1)


def read_snapshots(stored: Sequence[StoredCheckpoint], load: Load, limit: int | None = None) -> list[Snapshot]:
    """The snapshots of the stored checkpoints, which are in order of writing, the latest first."""
    ends = {end.id: end for end in _turn_ends(stored, load)}
    # shared by all answers to one question: it stands where the first of them stands
    questions: dict[str, Snapshot] = {}
    ordered: list[Snapshot | str] = []
    for end in ends.values():
        question = _question_snapshot(end, ends)
        if question is not None and question.id in questions:
            ordered.remove(question.id)
        if end.run is None:
            parent, shown = question.id if question is not None else None, [m.model_dump() for m in end.messages]
            step = 2 * end.fields.get("turn", 1)
            ordered.append(Snapshot(end.id, parent, end.id, shown, end.fields, end.created, None, step))
        if question is not None:
            questions.setdefault(question.id, question)
            ordered.append(question.id)
        if limit is not None and len(ordered) >= 2 * limit:
            break
    found = [questions[each] if isinstance(each, str) else each for each in ordered]
    if any(each.parent == ROOT for each in found):
        found.append(Snapshot(ROOT, None, ROOT))
    return found


def _turn_ends(stored: Iterable[StoredCheckpoint], load: Load) -> list[_TurnEnd]:
    """The turns that were finished or stopped, the latest first. A copy of a checkpoint, which a failed turn leaves,
    counts as the original, and a checkpoint in the middle of a turn is left out."""
    ids: dict[tuple[str, str], str] = {}
    canonical: dict[str, str] = {}
    ends: dict[str, _TurnEnd] = {}
    for row in reversed(list(stored)):
        checkpoint = load((row.type, row.content))
        state = checkpoint["channel_values"]
        messages = state.get("messages", [])
        unanswered = state["unanswered"] if unanswered_question(state) is not None else None
        if not messages or (messages[-1].type != "ai" and unanswered is None):
            continue
        id = ids.setdefault((checkpoint["ts"], str(messages[-1].id)), row.id)
        canonical[row.id] = id
        parent = canonical.get(row.parent or "", row.parent)
        fields = {name: state[name] for name in SHOWN_FIELDS if name in state}
        if unanswered is not None:
            fields["about"] = unanswered["graph"]
        run = unanswered["run"] if unanswered is not None else None
        # at the end again, if it was copied
        earlier = ends.pop(id, None)
        ends[id] = earlier or _TurnEnd(id, parent, checkpoint["ts"], messages, fields, run)
    return list(reversed(ends.values()))


def _question_snapshot(end: _TurnEnd, ends: Mapping[str, _TurnEnd]) -> Snapshot | None:
    """The state before the answer; None if it is unknown where the turn began."""
    parent = ends.get(end.parent or "")
    before, asked = end.messages[: max(end.question, 0)], end.messages[max(end.question, 0)]
    if end.question < 0 or asked.type != "human" or (before and parent is None):
        return None
    # a question whose turn was stopped stays the same one when it is asked again
    stopped = _question_snapshot(parent, ends) if parent is not None and parent.run is not None else None
    if stopped is not None and stopped.question is not None and stopped.question["id"] == asked.id:
        return replace(stopped, run=end.run or stopped.run)
    base = parent.id if parent is not None else ROOT
    question = asked.model_dump()
    id = str(uuid5(NAMESPACE_URL, f"nacre:questions:{base}:{question['id']}"))
    shown = [*(each.model_dump() for each in before), question]
    fields = {"about": end.fields["about"]} if "about" in end.fields else {}
    turn = end.fields.get("turn", 0) + (0 if end.run is None else 1) or 1
    above = stopped.id if stopped is not None else base
    return Snapshot(id, above, base, shown, fields, end.created, question, 2 * turn - 1, end.run)


# keys of a reply to a clarification, as chat pages send it
REPLY_KEYS = ("n", "args", "words", "answer", "text", "response")


@dataclass(frozen=True)
class AskedTurn:
    """What is asked. `earlier` are the messages before it in a request without a thread; `base` is the state that the
    turn starts from if the request names a checkpoint. Without a `message_id` the question gets a new one."""

    question: str
    message_id: str = ""
    earlier: tuple[InputMessage, ...] = ()
    base: Snapshot | None = None

    def start(self, message_id: str) -> TurnStart:
        """Where the turn begins, with this id for its message."""
        if self.base is None:
            return TurnStart(None, message_id)
        return TurnStart(self.base.base, message_id, answer_ids(self.base.messages))

    def messages_before(self) -> list[MessageJson] | None:
        """The messages before the question; None for those of the latest state."""
        if self.base is None:
            return [input_message(each) for each in self.earlier] or None
        return [each for each in self.base.messages if each is not self.base.messages[-1] or not self.base.question]


def refuse_unsupported(body: GraphRunRequest) -> None:
    """Raise ConfigError for what only a platform for any graph can do."""
    unsupported = {
        "interrupt_before": body.interrupt_before,
        "interrupt_after": body.interrupt_after,
        "webhook": body.webhook,
        "after_seconds": body.after_seconds,
        "command.update": body.command and body.command.update,
        "command.goto": body.command and body.command.goto,
    }
    if used := [name for name, value in unsupported.items() if value]:
        raise ConfigError(f"This server has no {used[0]}. Leave it out.")
    check_modes(body.stream_mode)


def check_modes(modes: Sequence[str]) -> None:
    """Raise ConfigError for a stream mode that this server does not have."""
    if unknown := [mode for mode in modes if mode not in STREAM_MODES]:
        raise ConfigError(
            f"This server has no stream mode {unknown[0][:MAX_ID]!r}. Choose some of: {', '.join(STREAM_MODES)}."
        )


async def read_asked_turn(body: GraphRunRequest, threads: Threads, caller: Caller, thread: str | None) -> AskedTurn:
    """The turn that a request asks for. Raises ConfigError, and NotFound for an unknown checkpoint."""
    checkpoint, base = body.named_checkpoint, None
    if checkpoint and thread:
        base = (
            Snapshot(ROOT, None, ROOT) if checkpoint == ROOT else await snapshot_at(threads, caller, thread, checkpoint)
        )
    reply = body.command.resume if body.command else None
    if reply is None and body.input is not None and body.input != RunInput():
        question, message_id, earlier = _question(body.input)
        if base is not None and any(each["id"] == message_id for each in base.messages):
            # a message of the same id would replace the one that is there
            message_id = ""
        return AskedTurn(question, message_id, () if thread else earlier, base)
    state = base if base or not thread else await latest_snapshot(threads, caller, thread)
    if reply is not None:
        # the number or the words of an option of what the thread asks back are its next question
        if state is None or not state.interrupts:
            raise ConfigError("This thread asks nothing back. Send your question as input.")
        return AskedTurn(_reply_text(reply, [each["id"] for each in state.interrupts]), "", (), base)
    if state is None or state.question is None:
        raise ConfigError(
            "There is nothing to run. Send an input, or a checkpoint at which the question is not answered yet."
        )
    # the question of the checkpoint is answered again
    return AskedTurn(str(state.question["content"]), str(state.question["id"]), (), state)


def _question(input: RunInput) -> tuple[str, str, tuple[InputMessage, ...]]:
    """The question, the id of its message, and the messages before it."""
    if input.question is not None:
        return input.question, "", ()
    messages = [input.messages] if isinstance(input.messages, InputMessage) else input.messages or []
    if not messages or not is_human(messages[-1]):
        raise ConfigError("There is no question. Send {'question': ...} or messages of which the last is human.")
    return input_text(messages[-1]), messages[-1].id or "", tuple(messages[:-1])


def _reply_text(reply: Any, interrupts: Sequence[str]) -> str:
    """A reply as text: a number, words, or an object that has one of them, by the id of the interrupt or in a list."""
    while True:
        if isinstance(reply, list) and len(reply) == 1:
            reply = reply[0]
        elif isinstance(reply, dict):
            keys = [key for key in (*interrupts, *REPLY_KEYS) if key in reply]
            if not keys:
                break
            reply = reply[keys[0]]
        elif isinstance(reply, str) or (isinstance(reply, int) and not isinstance(reply, bool)):
            return str(reply)
        else:
            break
    raise ConfigError("The reply can't be read. Send the number or the words of an option as resume.")
