"""Threads as LangGraph's clients see them: conversation + snapshots -> JSON."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from agents.run_in_thread import run_in_thread
from nacre.serving.conversations.threads import Threads
from nacre.serving.errors import NotFound
from nacre.serving.keys import Caller
from nacre.serving.langgraph.assistant_records import assistant_id
from nacre.serving.langgraph.requests import CheckpointReference
from nacre.serving.langgraph.snapshots import FIRST_NODE, Snapshot, read_snapshots
from nacre.stores.conversations.conversations import Conversation

# checkpoints that one request reads, and the states that it returns, in bytes (given)
MAX_READ = 32_000_000
MAX_RETURNED = 8_000_000


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


def requested_checkpoint(reference: CheckpointReference | None, id: str | None) -> str | None:
    """The id of the checkpoint that a request names, if any."""
    return (reference.checkpoint_id if reference else None) or id


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
    # a node that waits: for a reply, or to be run
    waiting = [each for each in snapshot.next if each == FIRST_NODE]
    return {
        "values": snapshot.values,
        "next": snapshot.next if snapshot.id else [],
        "tasks": [_task(snapshot.id, node, interrupts) for node in waiting],
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


def _task(id: str, node: str, interrupts: list[dict[str, Any]]) -> dict[str, Any]:
    empty = dict.fromkeys(("error", "checkpoint", "state", "result"))
    return {"id": f"{id}:{node}", "name": node, "interrupts": interrupts, **empty}


def _checkpoint(thread: str, id: str | None) -> dict[str, Any]:
    return {"thread_id": thread, "checkpoint_ns": "", "checkpoint_id": id, "checkpoint_map": None}


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()
