"""Events of a turn as LangGraph's clients read them; an error after the first words is one of them."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from nacre.extensions.langgraph_api.requests import question_message
from nacre.extensions.langgraph_api.runs import StreamPart, StreamParts, TurnMessages, is_after
from nacre.serving.errors import StorageUnavailable
from nacre.serving.runs import Run

MODES = ("values", "updates", "messages-tuple", "messages", "custom")


async def failing(error: BaseException) -> AsyncIterator[tuple[str, Any]]:
    yield "rewriter", {"standalone": "How deep is it?"}
    yield "token", "It "
    yield "token", "is "
    raise error


async def ended(error: BaseException) -> Run:
    run = Run("ann", "lakes", None, "t")
    run.notes = TurnMessages(question_message("How deep is it?", "q"), [])
    await run.start(failing(error))
    return run


def parts_of(run: Run) -> list[StreamPart]:
    maker = StreamParts(run, "an-assistant", MODES)
    return [part for n, event in enumerate(run.events, 1) for part in maker.parts(n, event)]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (RuntimeError("a secret path"), {"error": "TurnFailed", "message": "Internal error. See the server's log."}),
        (StorageUnavailable("The store is full."), {"error": "TurnFailed", "message": "The store is full."}),
        (asyncio.CancelledError(), {"error": "Cancelled", "message": "Stopped: the client has disconnected."}),
    ],
)
async def test_an_error_after_the_first_words_is_the_last_event_but_one(error, told) -> None:
    parts = parts_of(await ended(error))
    names = [part.event for part in parts]
    assert "".join(part.data["text"] for part in parts if part.event == "custom") == "It is "
    assert names[-2:] == ["error", "end"]
    assert names.count("error") == 1
    assert parts[-2].data == told
    assert parts[-1].data["status"] != "success"


async def test_a_client_that_reads_on_misses_nothing_and_gets_nothing_twice() -> None:
    run = await ended(RuntimeError())
    parts = parts_of(run)
    assert parts == parts_of(run)
    for n, part in enumerate(parts):
        assert [each for each in parts if is_after(each.id, part.id)] == parts[n + 1 :]
    assert all(is_after(part.id, last) for part in parts for last in ("-1", "nonsense", "9" * 5000, ""))
