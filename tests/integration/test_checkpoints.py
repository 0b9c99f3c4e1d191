"""What checkpoints keep of a thread, what streams as messages, and how a turn goes on from any checkpoint."""

import asyncio
import json
import time
from typing import Any

import pytest
from langchain_core.messages import messages_to_dict
from langgraph.checkpoint.base.id import uuid6
from langgraph.checkpoint.memory import InMemorySaver

from graph.builder import App, compose
from graph.stream import stream_turn
from nacre.config.settings import Settings
from nacre.records.answer import Answer
from nacre.serving.keys import LOCAL_CALLER
from nacre.serving.turn_service import open_turn_service
from nacre.stores.state.conversations import Conversations, ConversationStoreError


@pytest.fixture
def app(settings: Settings) -> App:
    return compose(settings).build(InMemorySaver())


async def ask(app: App, question: str, **options: Any) -> Answer:
    events = [event async for event in stream_turn(app, question, **options)]
    answer: Answer = events[-1][1]
    return answer


async def test_a_thread_keeps_what_a_person_can_read(app: App) -> None:
    for question in ("How many dishes are there?", "What does the pilaf contain?"):
        await ask(app, question, thread="t")
    state = (await app.aget_state({"configurable": {"thread_id": "local:t"}})).values
    assert len(state) <= 12
    assert len(json.dumps({**state, "messages": messages_to_dict(state["messages"])})) < 10_000
    assert state["asked"] == "What does the pilaf contain?"
    assert state["readings"]
    beside = state["messages"][-1].additional_kwargs
    assert (beside["status"], beside["citations"][0]["n"]) == ("answered", 1)


async def test_a_thread_that_an_older_version_kept_goes_on(app: App) -> None:
    """An older version kept what a run passes on: a later turn neither sees nor keeps it."""
    await ask(app, "How many dishes are there?", thread="t")
    saver, config = app.checkpointer, {"configurable": {"thread_id": "local:t", "checkpoint_ns": ""}}
    assert isinstance(saver, InMemorySaver)
    kept = await saver.aget_tuple(config)  # type: ignore[arg-type]
    assert kept is not None
    stale = {"found": [{"branch": "gone"}], "by": {"rewriter": "nobody"}, "usage": {"calls": 9}, "version": "gone"}
    checkpoint = {**kept.checkpoint, "id": str(uuid6())}
    checkpoint["channel_values"] = {**checkpoint["channel_values"], **stale}  # type: ignore[dict-item]
    versions = checkpoint["channel_versions"]
    checkpoint["channel_versions"] = {**versions, **dict.fromkeys(stale, versions["turn"])}  # type: ignore[dict-item, index]
    await saver.aput(config, checkpoint, kept.metadata, checkpoint["channel_versions"])  # type: ignore[arg-type]
    second = await ask(app, "How many ingredients are there?", thread="t")
    assert (second["turn"], second["values"], second["llm_calls"]) == (2, [3], 0)
    assert set((await app.aget_state(config)).values) & set(stale) == set()  # type: ignore[arg-type]


@pytest.mark.parametrize("node", ["understand", "tool_selector", "sql", "check", "fuser"])
async def test_a_turn_goes_on_from_any_checkpoint(app: App, node: str) -> None:
    """A chat client asks for another answer, and Studio forks: from a checkpoint in the middle of a turn."""
    config = {"configurable": {"thread_id": "t"}}
    first = await app.ainvoke({"question": "What does the pilaf contain?"}, config)  # type: ignore[call-overload]
    before = [each async for each in app.aget_state_history(config) if node in each.next]  # type: ignore[arg-type]
    again = await app.ainvoke(None, before[0].config)
    assert again["answer"]["answer"] == first["answer"]["answer"]
    assert again["answer"]["turn"] == 1
    assert [message.type for message in again["messages"]] == ["human", "ai"]


async def test_messages_stream_the_tokens_of_the_answer_and_end_with_its_citations(app: App) -> None:
    chunks, whole = [], None
    asked: Any = {"question": "What does the pilaf contain?"}
    config = {"configurable": {"thread_id": "t"}}
    async for message, about in app.astream(asked, config, stream_mode="messages"):  # type: ignore[call-overload]
        if message.type == "human":
            continue
        assert about["langgraph_node"] == "fuser"
        chunks.append(message)
        whole = message if whole is None else whole + message
    kept = (await app.aget_state(config)).values["messages"][-1]  # type: ignore[arg-type]
    assert len(chunks) > 5
    assert whole is not None
    assert (whole.content, whole.id) == (kept.content, kept.id)
    assert whole.additional_kwargs == kept.additional_kwargs
    assert [cited["n"] for cited in kept.additional_kwargs["citations"]] == [1]


@pytest.mark.parametrize("kept", [True, False])
async def test_a_client_that_leaves_while_its_turn_is_kept_leaves_one_truth(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    """What people see of a thread and what the loop remembers of it stay in step, kept or not."""
    thread, begun = f"left {kept}", asyncio.Event()
    loop = asyncio.get_running_loop()
    keep = Conversations.keep

    def slowly(seen: Conversations, *given: Any) -> None:
        loop.call_soon_threadsafe(begun.set)
        time.sleep(0.2)
        if not kept:
            raise ConversationStoreError("disk full")
        keep(seen, *given)

    async with open_turn_service(settings, lasting=True) as service:
        await service.answer("How many dishes are there?", thread=thread)
        with monkeypatch.context() as patched:
            patched.setattr(Conversations, "keep", slowly)
            leaving = asyncio.ensure_future(service.answer("How many ingredients are there?", thread=thread))
            await begun.wait()
            leaving.cancel()
            await asyncio.wait([leaving])
        assert leaving.cancelled()
        assert service.threads is not None
        before = len(await service.threads.turns(LOCAL_CALLER, thread))
        assert before == (2 if kept else 1)
        after = await service.answer("What does the pilaf contain?", thread=thread)
        assert after["turn"] == before + 1
        assert [each.record["turn"] for each in await service.threads.turns(LOCAL_CALLER, thread)] == [
            *range(1, before + 2)
        ]


async def test_turns_keep_their_order_when_the_clock_is_set_back(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three turns while the clock is an hour ahead, a restart at the true time, four more turns."""
    questions = ["What does the pilaf contain?", "How many ingredients are there?", "Which dishes are there?"]
    with monkeypatch.context() as ahead:
        now = time.time_ns
        ahead.setattr("langgraph.checkpoint.base.id.time.time_ns", lambda: now() + 3600 * 10**9)
        async with open_turn_service(settings, lasting=True) as service:
            for question in questions:
                await service.answer(question, thread="clock")
    monkeypatch.setattr("langgraph.checkpoint.base.id._last_v6_timestamp", None)
    async with open_turn_service(settings, lasting=True) as service:
        later = [await service.answer(question, thread="clock") for question in [*questions, "How many of them?"]]
        assert [record["turn"] for record in later] == [4, 5, 6, 7]
        assert later[-1]["values"] == [len(later[-2]["values"])]
        assert service.threads is not None
        turns = await service.threads.turns(LOCAL_CALLER, "clock")
        assert [turn.record["turn"] for turn in turns] == [1, 2, 3, 4, 5, 6, 7]


async def test_a_thread_without_turns_is_deleted_from_a_fresh_data_folder(settings: Settings) -> None:
    async with open_turn_service(settings, lasting=True) as service:
        assert service.threads is not None
        made = await service.threads.create(LOCAL_CALLER, "kitchen", "empty")
        await service.threads.delete(LOCAL_CALLER, made.thread)
        assert await service.threads.find(LOCAL_CALLER, made.thread) is None
