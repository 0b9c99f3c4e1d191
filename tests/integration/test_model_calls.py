import asyncio
import math
import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessageChunk, HumanMessage
from langchain_core.outputs import ChatGenerationChunk, Generation
from pydantic import BaseModel

from agents.model_calls import Limits, ModelFailed, UsageCounter, is_repeating, stream_reply, structured_reply
from agents.model_priors import ModelReplies
from agents.turn_view import Usage
from tests.support.scripted_model import Cut, ScriptedModel

ASKED = [HumanMessage("What simmers?")]


class Dish(BaseModel):
    name: str


async def said(model: ScriptedModel, limits: Limits) -> str:
    return "".join([piece async for piece in stream_reply(model, ASKED, UsageCounter(), limits=limits)])


async def test_no_call_is_begun_after_the_end_of_the_turn(scripted: ScriptedModel) -> None:
    over = Limits().until(time.monotonic() - 1, "v1")
    with pytest.raises(ModelFailed, match="time of this turn") as failed:
        await structured_reply(scripted, ASKED, Dish, limits=over)
    with pytest.raises(ModelFailed, match="time of this turn"):
        await said(scripted, over)
    assert (failed.value.usage, scripted.asked) == (Usage(), [])


def test_a_call_gets_what_is_left_of_the_turn() -> None:
    assert Limits(seconds=60).seconds_left() == 60
    assert 0 < Limits(seconds=60).until(time.monotonic() + 5, "v1").seconds_left() <= 5


class HeldModel(ScriptedModel):
    """A model that says a word each time it is let, and never ends by itself."""

    gate: Any = None

    async def _astream(self, *_: Any, **__: Any) -> AsyncIterator[ChatGenerationChunk]:
        while True:
            await self.gate.wait()
            self.gate.clear()
            yield ChatGenerationChunk(message=AIMessageChunk(content="Dal. "))


@pytest.mark.parametrize("steps", range(6))
async def test_a_reply_that_is_cancelled_as_a_chunk_comes_ends(steps: int) -> None:
    model = HeldModel(gate=asyncio.Event())
    reading = asyncio.create_task(said(model, Limits()))
    await asyncio.sleep(0.1)
    model.gate.set()
    for _ in range(steps):
        await asyncio.sleep(0)
    reading.cancel()
    await asyncio.wait([reading], timeout=10)
    was_cancelled = reading.cancelled()
    reading.cancel()
    assert was_cancelled


@pytest.mark.parametrize("text", ["It is blue. " * 20, "no no " * 40, "\n" * 100, "ha" * 200])
async def test_endless_repetition_is_ended(scripted: ScriptedModel, text: str) -> None:
    assert is_repeating(text)
    scripted.replies = [text]
    with pytest.raises(ModelFailed, match="repeated itself"):
        await said(scripted, Limits())


@pytest.mark.parametrize(
    "text", ["", "Red, red, red, red.", "1000000000", "a [1]. b [1]. c [1]. d [1].", "| --- | --- |"]
)
def test_ordinary_text_does_not_repeat_itself(text: str) -> None:
    assert not is_repeating(text)


@pytest.mark.parametrize("replies", [["no record"] * 3, [{"name": "stew"}] * 3])
async def test_a_reply_that_is_refused_twice_is_not_asked_for_again(
    scripted: ScriptedModel, replies: list[Any]
) -> None:
    async def refuse(dish: Dish) -> str | None:
        return "it is no dish"

    scripted.replies = replies
    with pytest.raises(ModelFailed):
        await structured_reply(scripted, [HumanMessage("?")], Dish, limits=Limits(retries=2), refuse=refuse)
    assert len(scripted.asked) == 2


async def test_answers_are_kept_for_the_same_prompt_and_version(scripted: ScriptedModel, tmp_path: Path) -> None:
    kept = Limits(cache=ModelReplies(tmp_path / "replies.sqlite"))
    first = kept.until(math.inf, "v1")
    scripted.replies = ["Dal simmers.", {"name": "dal"}, "Dal still does.", {"name": "daal"}]
    assert [await said(scripted, first) for _ in range(2)] == ["Dal simmers."] * 2
    dishes = [await structured_reply(scripted, ASKED, Dish, limits=first) for _ in range(2)]
    assert [(dish.name, usage.calls) for dish, usage in dishes] == [("dal", 1), ("dal", 0)]
    later = kept.until(math.inf, "v2")
    assert await said(scripted, later) == "Dal still does."
    assert (await structured_reply(scripted, ASKED, Dish, limits=later))[0].name == "daal"
    assert b"simmers?" not in (tmp_path / "replies.sqlite").read_bytes()


@pytest.mark.parametrize("reply", [Cut("Dal sim", ConnectionError("cut")), "", "ha" * 200])
async def test_what_was_not_whole_is_not_kept(scripted: ScriptedModel, tmp_path: Path, reply: Any) -> None:
    limits = Limits(cache=ModelReplies(tmp_path / "replies.sqlite"))
    scripted.replies = [reply, "Dal simmers."]
    try:
        await said(scripted, limits)
    except ModelFailed:
        assert reply
    assert await said(scripted, limits) == "Dal simmers."


@pytest.mark.parametrize("broken", ["damaged", "in no folder", "locked"])
async def test_a_store_of_answers_that_is_broken_keeps_nothing(
    scripted: ScriptedModel, tmp_path: Path, broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.model_priors.BUSY_SECONDS", 0.1)
    file = tmp_path / "replies.sqlite"
    if broken == "damaged":
        file.write_text("this is no database, whatever its name says" * 50)
    elif broken == "in no folder":
        (tmp_path / "file").touch()
        file = tmp_path / "file" / "replies.sqlite"
    scripted.replies = ["Dal simmers.", "Dal simmers on."]
    with closing(sqlite3.connect(tmp_path / "replies.sqlite", isolation_level=None)) as other:
        if broken == "locked":
            ModelReplies(file).clear()
            other.execute("BEGIN EXCLUSIVE")
        told = [await said(scripted, Limits(cache=ModelReplies(file))) for _ in range(2)]
    assert told == ["Dal simmers.", "Dal simmers on."]


def test_the_oldest_answers_go_first(tmp_path: Path) -> None:
    replies = ModelReplies(tmp_path / "deep" / "replies.sqlite", most=2)
    for name in "abc":
        replies.update(name, "model", [Generation(text=name.upper())])
    found = [replies.lookup(name, "model") for name in "abc"]
    assert [each and each[0].text for each in found] == [None, "B", "C"]
    replies.clear()
    assert replies.lookup("c", "model") is None
