"""Run one turn: question -> events as they happen, the answer record last."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver

from agents.answering.answer_record import query_record
from graph.branches import all_branches
from graph.builder import App
from graph.context import OWNER, Context, parse_context
from graph.nodes import checked_question
from graph.state import WHOLE_SENTENCES, Input, Json, stream_tokens
from nacre.errors import ConfigError
from nacre.records.evidence import BranchResult, Rows
from nacre.records.json_form import from_json
from nacre.records.turn import Understanding
from nacre.understanding.dialogue.references import adds_words

Event = tuple[str, Any]


@dataclass(frozen=True)
class TurnStart:
    """Where a turn of a thread begins: after the checkpoint of this id (None: the latest), with a message of this id
    ("": a new one). `after` are the ids of the records before it (None: those of the thread)."""

    checkpoint: str | None = None
    message: str = ""
    after: tuple[str, ...] | None = None


# concurrent runs of one thread would lose each other's messages
_locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()


async def stream_turn(
    app: App,
    question: str,
    *,
    graph: str | None = None,
    thread: str | None = None,
    owner: str = "local",
    context: Context | Mapping[str, Any] | None = None,
    id: str = "",
    start: TurnStart | None = None,
    is_visitor: bool = False,
) -> AsyncIterator[Event]:
    """Ask one question; without a thread nothing is stored; a visitor uses nothing private of the owner. The message of
    the answer has the id of the run. Raises ConfigError for bad input, before anything is yielded.
    Yields ("rewriter", {standalone, depends, language, own}), ("understand", {mentions, readings, expected, unknown}),
    ("route", {round, branches}), ("query", a query record without its number), ("evidence", {branch, round, kind,
    title, text, score}), ("token", text) and last ("answer", Answer); the joined tokens equal its `answer`."""
    turn = Input(question=checked_question(question))
    if start is not None and start.message:
        turn = Input(messages=[HumanMessage(turn["question"], id=start.message)])
    if graph:
        turn["graph"] = graph
    options = parse_context(context)
    config = RunnableConfig(configurable={"ask_id": id, OWNER: "" if is_visitor else owner, WHOLE_SENTENCES: True})
    async with AsyncExitStack() as stack:
        if thread is None or app.checkpointer is None:
            running, durability = app.copy({"checkpointer": None}), None
        else:
            key = f"{owner}:{thread}"
            config["configurable"]["thread_id"] = key
            if start is not None and start.checkpoint:
                config["configurable"]["checkpoint_id"] = start.checkpoint
            await stack.enter_async_context(_locks.setdefault(key, asyncio.Lock()))
            # `aget_state` would also compute the next tasks
            assert isinstance(app.checkpointer, BaseCheckpointSaver)
            checkpoint = await app.checkpointer.aget_tuple(config)
            about, named = checkpoint and checkpoint.checkpoint["channel_values"].get("about"), graph or options.graph
            if about and named and about != named:
                raise ConfigError(f"This thread is about the graph {about!r}. Start a new thread to ask {named!r}.")
            running, durability = app, "exit"
        events = running.astream(
            turn,
            config,
            context=options,
            stream_mode=["updates", "custom"],
            durability=durability,  # type: ignore[arg-type]
        )
        try:
            async for mode, chunk in events:
                for event in _events(str(mode), chunk):
                    yield event
        finally:
            await events.aclose()  # type: ignore[attr-defined]


async def store_unanswered(
    app: App, question: str, *, graph: str, thread: str, owner: str, run: str, message: str = ""
) -> None:
    """Make a question whose turn was stopped the last message of its thread; `message` is its id, "" for a new one."""
    config = RunnableConfig(configurable={"thread_id": f"{owner}:{thread}", "checkpoint_ns": ""})
    id = message or f"{run or uuid.uuid4().hex}-question"
    unanswered = {"message": id, "run": run, "graph": graph}
    added = {"messages": [HumanMessage(question, id=id)], "unanswered": unanswered}
    await app.aupdate_state(config, added, as_node="fuser")


async def stream_stateless_turn(
    app: App,
    question: str,
    before: Sequence[Json],
    *,
    graph: str,
    owner: str = "local",
    context: Context | None = None,
    id: str = "",
) -> AsyncIterator[Event]:
    """As `stream_turn` in a thread whose earlier turns were `before`; nothing is kept here. After the answer comes
    ("earlier", the turns to pass with the next question)."""
    thread = uuid.uuid4().hex
    config = RunnableConfig(configurable={"thread_id": f"{owner}:{thread}"})
    running = app.copy({"checkpointer": InMemorySaver()})
    if before:
        remembered = {"earlier": list(before), "turn": len(before), "about": graph}
        await running.aupdate_state(config, remembered, as_node="fuser")
    events = stream_turn(running, question, graph=graph, thread=thread, owner=owner, context=context, id=id)
    try:
        async for kind, payload in events:
            # the thread ends with this turn
            yield kind, {**payload, "thread": None} if kind == "answer" else payload
    finally:
        await events.aclose()  # type: ignore[attr-defined]
    yield "earlier", (await running.aget_state(config)).values["earlier"]


def _events(mode: str, chunk: Any) -> list[Event]:
    if mode == "custom":
        return [("token", token) for token in stream_tokens(chunk["text"])] if chunk.get("type") == "token" else []
    return [event for node, update in chunk.items() if update for event in _node_events(node, update)]


def _node_events(node: str, update: Mapping[str, Any]) -> list[Event]:
    if node == "rewriter":
        rewrite = update["rewrite"]
        # a wording without new words tells people nothing
        depends = rewrite["depends"] and adds_words(update["asked"], rewrite["standalone"])
        shown = {key: rewrite[key] for key in ("standalone", "depends", "language", "own")}
        return [("rewriter", {**shown, "depends": depends})]
    if node == "understand":
        return [("understand", _understanding_event(from_json(Understanding, update["understanding"])))]
    if node == "tool_selector":
        return [("route", {"round": update["round"], "branches": update["route"]})]
    if node in all_branches():
        return [event for part in update["found"] for event in _branch_events(from_json(BranchResult, part))]
    return [("answer", update["answer"])] if node == "fuser" else []


def _understanding_event(understanding: Understanding) -> dict[str, Any]:
    return {
        "mentions": [
            {"text": m.text, "start": m.start, "end": m.end, "kind": m.kind, "target": m.target, "label": m.label}
            for m in understanding.mentions
        ],
        "readings": [{"words": r.words, "score": r.score, "covered": r.covered} for r in understanding.readings],
        "expected": understanding.expected,
        "unknown": [{"word": word, "nearest": nearest} for word, nearest in understanding.unknown],
    }


def _branch_events(found: BranchResult) -> list[Event]:
    queries = [{k: v for k, v in query_record(query, 0).items() if k != "i"} for query in found.queries]
    evidence = [
        {"branch": e.branch, "round": e.round, "kind": e.kind, "title": e.title, "text": e.text}
        # the probability of rows; what orders sentences within a branch
        | {"score": e.probability if isinstance(e, Rows) else round(e.score, 4)}
        for e in found.evidence
    ]
    return [*(("query", query) for query in queries), *(("evidence", each) for each in evidence)]
