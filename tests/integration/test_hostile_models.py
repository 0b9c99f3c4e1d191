"""What a hostile server of a model may send: each reply ends as a failed call, soon, and holds nobody else up."""

import asyncio
import gzip
import json
import time
import zlib
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from agents.model_calls import Limits, ModelFailed, UsageCounter, stream_reply, structured_reply
from benchmarks.inputs.hostile_replies import EVENTS, HOSTILE_REPLIES, JSON, LINES, chunk, whole_reply
from nacre.config.bounded_replies import MAX_ITEMS, ReplyTooLarge, StreamedReply, WholeReply
from tests.integration.test_model_servers import Dish, model_of
from tests.support.model_servers import Server, raw_server

MESSAGES = [HumanMessage("What simmers?")]
LIMITS = Limits(seconds=20, retries=0, busy_retries=0)
# the most work between two turns of the event loop, seconds of processor time (given: 50 ms are promised, and the
# machine of a test is slow); time on a clock would count what other processes do
STALL = 1.0


async def ask(server: Server, kind: str, is_streamed: bool) -> str:
    """The reply to a call as agents make it; raises ModelFailed."""
    model = model_of(server, f"{kind}:small")
    if is_streamed:
        return "".join([text async for text in stream_reply(model, MESSAGES, UsageCounter(), limits=LIMITS)])
    return (await structured_reply(model, MESSAGES, Dish, limits=LIMITS))[0].name


async def longest_stall(work: Any) -> tuple[float, Any]:
    """How much processor time work took at most between two turns of the event loop, and its result or error."""
    running, longest = asyncio.ensure_future(work), 0.0
    while not running.done():
        start = time.thread_time()
        await asyncio.sleep(0.005)
        longest = max(longest, time.thread_time() - start)
    return longest, running.exception() or running.result()


@pytest.mark.parametrize("name", HOSTILE_REPLIES)
async def test_items_of_a_reply_are_counted_before_a_client_makes_objects_of_them(name: str) -> None:
    case = HOSTILE_REPLIES[name]()
    kind = "ollama" if case.media == LINES else "openai"
    with raw_server(case.body, case.media, headers=dict(case.headers)) as server:
        stall, result = await longest_stall(ask(server, kind, case.media != JSON))
    assert isinstance(result, ModelFailed)
    assert stall < STALL


async def test_others_have_their_turn_between_the_events_of_a_stream() -> None:
    with raw_server(b"data: {}\n\n" * 12_000, EVENTS) as server:
        stall, _ = await longest_stall(ask(server, "openai", True))
    assert stall < STALL


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_a_reply_may_be_compressed(encoding: str) -> None:
    body = whole_reply(json.dumps({"name": "dal", "hot": True}))
    packed = gzip.compress(body) if encoding == "gzip" else zlib.compress(body)
    with raw_server(packed, JSON, headers={"content-encoding": encoding}) as server:
        assert await ask(server, "openai", False) == "dal"


async def test_a_long_prose_with_many_marks_is_a_good_reply() -> None:
    text = json.dumps({"name": 'dal, [hot], {here}; \\ " ' * 20_000, "hot": True})
    with raw_server(whole_reply(text), JSON) as server:
        assert (await ask(server, "openai", False)).startswith("dal, [hot]")


@pytest.mark.parametrize("size", [1, 2, 3, 7, 10_000])
def test_items_are_counted_alike_however_a_reply_is_cut(size: int) -> None:
    body = json.dumps({"a\\": ['"{[,', "\\", '\\"', ""] * 30, "b": [{}] * 100}).encode()
    # per four strings: three commas and four quotes; the rest: two keys, two lists, three objects' brackets
    wanted = 30 * 4 + 30 * 4 - 1 + 2 + 2 + 1 + 1 + 100 + 99
    counter = WholeReply()
    for start in range(0, len(body), size):
        counter.count(body[start : start + size])
    assert counter._items == wanted


@pytest.mark.parametrize("size", [1, 2, 3, 10_000])
@pytest.mark.parametrize("end", ["\n\n", "\r\n\r\n", "\r\r"])
def test_events_are_counted_each_by_itself_however_a_stream_is_cut(size: int, end: str) -> None:
    event = chunk("Dal, [hot].") + end.encode()
    counter = StreamedReply(is_line=False)
    body = event * MAX_ITEMS
    for start in range(0, min(len(body), 2000 * size), size):
        counter.count(body[start : start + size])
    with pytest.raises(ReplyTooLarge):
        counter.count(b"data: {},\n" * MAX_ITEMS)


@pytest.mark.parametrize("status", [302, 307, 308])
@pytest.mark.parametrize("kind", ["openai", "ollama"])
async def test_a_redirect_to_another_host_is_not_followed(kind: str, status: int) -> None:
    with raw_server(b"{}", JSON) as other, raw_server(b"", JSON, status, {"location": f"{other.url}/secret"}) as server:
        with pytest.raises(ModelFailed):
            await ask(server, kind, False)
        with pytest.raises(Exception, match=r"redirect|[Cc]onnection"):
            model_of(server, f"{kind}:small").invoke(MESSAGES)
    assert other.paths == []


async def test_redirects_within_a_host_end() -> None:
    with raw_server(b"", JSON, 307, {"location": "/v1/again"}) as server:
        with pytest.raises(ModelFailed):
            await ask(server, "openai", False)
        assert 2 <= len(server.paths) <= 5
