"""A chat model in this process: over a binding that answers from a queue, and over a real one where there is a file."""

import asyncio
import os
import time
from pathlib import Path

import httpx
import pytest
from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import BaseModel, Field

from agents.model_calls import Limits, ModelFailed, UsageCounter, stream_reply, structured_reply
from nacre.config import bounded_replies as reply_body
from nacre.config.models import chat_model
from nacre.config.settings import Settings
from nacre.errors import ConfigError
from nacre.extensions.local_model.local_engine import (
    MIN_PREFIX_LENGTH,
    EngineOptions,
    LocalEngine,
    is_installed,
    llama_server,
)
from nacre.extensions.local_model.local_model import engine_chat_model, local_model
from tests.support.local_binding import Binding, binding
from tests.support.model_servers import Reply

HEAD = SystemMessage("Rules and tables. " * (MIN_PREFIX_LENGTH // 18 + 1))
ASKED = [HEAD, HumanMessage("What simmers?")]
LIMITS = Limits(busy_retries=0)
REAL = os.environ.get("GGUF_FILE", "")


class Dish(BaseModel):
    name: str = Field(min_length=2, max_length=60)


def opened(folder: Path, made: Binding):
    file = folder / "small.gguf"
    file.write_bytes(b"GGUF and more")
    # the same file in another process has the same time
    os.utime(file, (1, 1))
    engine = LocalEngine(EngineOptions(file, 1024, 1, folder / "states"), made.start)
    return engine_chat_model(engine, Settings(_env_file=None))


def written_when_idle(engine: LocalEngine) -> int:
    """How many tokens the last answer had when it ended."""
    transport = httpx.HTTPTransport(uds=engine.uds)
    with httpx.Client(transport=transport, base_url=engine.url, headers=engine.headers, timeout=300) as client:
        while (slot := client.get("/slots").json()[0])["is_processing"]:
            time.sleep(0.05)
    return slot["next_token"][0]["n_decoded"]  # type: ignore[no-any-return]


async def text_of(model, meter=None) -> str:
    return "".join([piece async for piece in stream_reply(model, ASKED, meter or UsageCounter(), limits=LIMITS)])


async def test_records_and_streams_as_any_agent_asks_for_them(tmp_path):
    with binding(Reply('{"name": "dal"}'), Reply("Dal simmers here.")) as made:
        model = opened(tmp_path, made)
        dish, usage = await structured_reply(model, ASKED, Dish, limits=LIMITS)
        meter = UsageCounter()
        assert await text_of(model, meter) == "Dal simmers here."
    assert dish.name == "dal"
    assert made.asked[0]["response_format"]["type"] == "json_schema"
    for spent in (usage, meter.usage):
        assert (spent.calls, spent.input, spent.cached, spent.output, spent.price) == (1, 120, 100, 8, 0.0)


async def test_an_endless_reply_is_ended_by_its_size(tmp_path, monkeypatch):
    monkeypatch.setattr(reply_body, "MAX_REPLY_BYTES", 10_000)
    monkeypatch.setattr(reply_body, "MAX_WHOLE_BYTES", 10_000)
    with binding(*[Reply("Dal simmers. " * 10_000)] * 3) as made:
        model = opened(tmp_path, made)
        with pytest.raises(ModelFailed):
            await text_of(model)
        with pytest.raises(ModelFailed):
            await structured_reply(model, ASKED, Dish, limits=LIMITS)
        with pytest.raises(reply_body.ReplyTooLarge):
            model.invoke(ASKED)


async def test_a_malformed_record_is_asked_for_again(tmp_path):
    with binding(Reply('{"name": '), Reply('{"name": "dal"}')) as made:
        dish, _ = await structured_reply(opened(tmp_path, made), ASKED, Dish, limits=LIMITS)
    assert dish.name == "dal"


async def test_all_turns_share_one_worker(tmp_path):
    with binding(*[Reply("Dal.")] * 6) as made:
        model = opened(tmp_path, made)
        assert await asyncio.gather(*[text_of(model) for _ in range(5)]) == ["Dal."] * 5
        # another thread has an event loop of its own
        assert await asyncio.to_thread(lambda: asyncio.run(text_of(model))) == "Dal."
    assert (made.loads, made.most) == (1, 1)


def test_it_also_answers_without_an_event_loop(tmp_path):
    with binding(Reply("Yes.")) as made:
        assert opened(tmp_path, made).invoke(ASKED).content == "Yes."
    assert made.slots == ["save"]


async def test_what_a_head_holds_is_read_once_for_all_processes(tmp_path):
    with binding(*[Reply("Dal.")] * 3) as made:
        first = opened(tmp_path, made)
        await text_of(first)
        await text_of(first)
        assert made.slots == ["save"]
        await text_of(opened(tmp_path, made))
    assert made.slots == ["save", "restore"]


async def test_a_state_that_cannot_be_restored_is_made_anew(tmp_path):
    with binding(*[Reply("Dal.")] * 2) as made:
        await text_of(opened(tmp_path, made))
        made.broken.add("restore")
        assert await text_of(opened(tmp_path, made)) == "Dal."
    assert made.slots == ["save", "restore", "save"]


async def test_a_head_that_is_read_at_once_is_not_kept(tmp_path):
    with binding(Reply("Dal.")) as made:
        await opened(tmp_path, made).ainvoke([SystemMessage("Be brief."), HumanMessage("What simmers?")])
    assert made.slots == []


async def test_a_stream_that_is_closed_or_cancelled_lets_the_next_one_in(tmp_path):
    with binding(*[Reply("Dal simmers and simmers. " * 50)] * 2, Reply("Yes.")) as made:
        model = opened(tmp_path, made)
        stream = model.astream(ASKED)
        await anext(stream)
        waiting = asyncio.create_task(text_of(model))
        await asyncio.sleep(0.05)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await stream.aclose()
        made.replies[:] = [Reply("Yes.")]
        assert await text_of(model) == "Yes."


async def test_a_file_that_cannot_be_loaded_fails_the_call_and_no_more(tmp_path):
    def start(load: EngineOptions, home: str, key: str):
        raise RuntimeError("Failed to init server")

    engine = LocalEngine(EngineOptions(tmp_path / "small.gguf", 1024, 1, tmp_path / "states"), start)
    model = engine_chat_model(engine, Settings(_env_file=None))
    for _ in range(2):
        with pytest.raises(ModelFailed):
            await structured_reply(model, ASKED, Dish, limits=LIMITS)


def test_what_is_missing_is_named(tmp_path, monkeypatch):
    settings = Settings(model="local", data=tmp_path, forbid_models=False, _env_file=None)
    with pytest.raises(ConfigError, match="nacre model get"):
        chat_model(settings)
    file = tmp_path / "small.gguf"
    file.write_bytes(b"GGUF")
    monkeypatch.setattr("nacre.extensions.local_model.local_engine.BINDING", "no_such_binding")
    with pytest.raises(ImportError, match=r"pip install 'nacre\[local\]'"):
        local_model(settings, f"local:{file}")


@pytest.mark.skipif(not (REAL and is_installed()), reason="needs GGUF_FILE=FILE.gguf and the extra local")
async def test_a_real_model_answers_by_schema_streams_stops_and_remembers(tmp_path):
    limits = Limits(seconds=300, busy_retries=0)
    load = EngineOptions(Path(REAL), 2048, None, tmp_path / "states")
    settings = Settings(model_seconds=300, model_tokens=200, _env_file=None)
    asked = [HEAD, HumanMessage("Name one dish. Answer as JSON.")]
    first = LocalEngine(load, llama_server)
    model = engine_chat_model(first, settings)
    dish, usage = await structured_reply(model, asked, Dish, limits=limits)
    assert dish.name
    assert usage.cached < usage.input / 2
    stream = model.astream([HumanMessage("Count from one to five hundred, in words.")])
    await anext(stream)
    await stream.aclose()  # type: ignore[attr-defined]
    assert await asyncio.to_thread(written_when_idle, first) < settings.model_tokens
    said = [piece async for piece in stream_reply(model, [HumanMessage("Say yes.")], UsageCounter(), limits=limits)]
    assert len(said) > 1
    first.stop()
    second = LocalEngine(load, llama_server)
    _, usage = await structured_reply(engine_chat_model(second, settings), asked, Dish, limits=limits)
    assert usage.cached > usage.input / 2
    second.stop()


@pytest.mark.skipif(not (REAL and is_installed()), reason="needs GGUF_FILE=FILE.gguf and the extra local")
def test_a_real_model_answers_without_socket_files(tmp_path, monkeypatch):
    monkeypatch.delattr("socket.AF_UNIX")
    engine = LocalEngine(EngineOptions(Path(REAL), 1024, None, tmp_path / "states"), llama_server)
    engine.ready()
    assert engine.url.startswith("http://127.0.0.1:")
    assert httpx.post(f"{engine.url}/v1/chat/completions", json={"messages": []}, timeout=60).status_code == 401
    model = engine_chat_model(engine, Settings(model_seconds=300, model_tokens=5, _env_file=None))
    assert model.invoke("Say yes.").content
    engine.stop()
