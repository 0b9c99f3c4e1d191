"""When unused threads are deleted: by time that a server has observed, whatever the clock says."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from nacre.config.settings import Settings
from nacre.serving.keys import LOCAL_CALLER
from nacre.serving.threads import CATCH_UP, DAY, ObservedTime, delete_untouched_threads
from nacre.serving.turn_service import open_turn_service
from nacre.stores.state.conversations import Conversations
from nacre.stores.state.database import open_file

HOUR = 3600.0
KEPT = 30 * DAY


class Clocks:
    """The clock of a machine, and how long it has been running."""

    def __init__(self) -> None:
        self.shown, self.running = 1_800_000_000.0, 0.0

    def pass_time(self, seconds: float) -> None:
        self.shown += seconds
        self.running += seconds


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Clocks:
    made = Clocks()
    monkeypatch.setattr("nacre.stores.state.database.time.time", lambda: made.shown)
    return made


@pytest.fixture
def conversations(tmp_path: Path) -> Iterator[Conversations]:
    made = Conversations(open_file(tmp_path / "threads.sqlite"))
    yield made
    made.close()


@pytest.fixture
def start(clocks: Clocks, conversations: Conversations) -> Callable[[], ObservedTime]:
    """Starts a server, which looks at the clock once."""

    def started() -> ObservedTime:
        observed = ObservedTime(conversations, lambda: clocks.shown, lambda: clocks.running)
        observed.advance()
        return observed

    return started


def run_for(clocks: Clocks, seconds: float, *servers: ObservedTime) -> float:
    """The observed time after all servers looked at the clock each hour."""
    observed = 0.0
    for _ in range(int(seconds / HOUR)):
        clocks.pass_time(HOUR)
        observed = max(server.advance() for server in servers)
    return observed


def old(conversations: Conversations, observed: float) -> list[str]:
    return [thread for _, thread in conversations.untouched(observed - KEPT)]


def test_a_clock_that_is_ahead_makes_no_thread_old_at_once(clocks, conversations, start) -> None:
    server = start()
    for day in range(40):
        conversations.begin("local", f"day {day}", "g")
        run_for(clocks, DAY, server)
    before = old(conversations, server.advance())
    clocks.shown += 40 * DAY
    assert old(conversations, start().advance()) == before
    restarted = start()
    assert len(old(conversations, run_for(clocks, DAY, restarted))) <= len(before) + CATCH_UP


def test_a_turn_stored_while_the_clock_is_ahead_makes_no_other_thread_old(clocks, conversations, start) -> None:
    server = start()
    conversations.begin("local", "before", "g")
    run_for(clocks, DAY, server)
    clocks.shown += 40 * DAY
    server = start()
    conversations.begin("local", "ahead", "g")
    run_for(clocks, 2 * HOUR, server)
    assert old(conversations, start().advance()) == []


def test_a_clock_that_was_set_back_makes_new_threads_no_older(clocks, conversations, start) -> None:
    server = start()
    conversations.begin("local", "first", "g")
    run_for(clocks, DAY, server)
    clocks.shown, true = 0.0, clocks.shown
    server = start()
    conversations.begin("local", "in 1970", "g")
    run_for(clocks, DAY, server)
    clocks.shown = true + DAY
    assert old(conversations, run_for(clocks, DAY, start())) == []


def test_threads_are_old_after_their_days_and_later_after_a_stop(clocks, conversations, start) -> None:
    server = start()
    conversations.begin("local", "t", "g")
    assert old(conversations, run_for(clocks, KEPT - HOUR, server)) == []
    assert old(conversations, run_for(clocks, 2 * HOUR, server)) == ["t"]
    conversations.begin("local", "u", "g")
    # no server runs for 20 days; its 30 days end when 20 days were caught up in the other 20
    clocks.pass_time(20 * DAY)
    server = start()
    assert "u" not in old(conversations, run_for(clocks, 10 * DAY, server))
    assert "u" in old(conversations, run_for(clocks, 10 * DAY + 2 * HOUR, server))


def test_several_processes_do_not_make_the_time_faster(clocks, conversations, start) -> None:
    conversations.begin("local", "t", "g")
    began = start().advance()
    clocks.shown += 365 * DAY
    servers = [start() for _ in range(8)]
    assert run_for(clocks, 10 * DAY, *servers) <= began + CATCH_UP * 10 * DAY + HOUR


async def test_a_server_that_starts_with_a_wrong_clock_keeps_the_threads(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time
    async with open_turn_service(settings, lasting=True) as service:
        assert service.threads is not None
        mine = await service.threads.create(LOCAL_CALLER, service.library.names()[0], "mine")
        with monkeypatch.context() as ahead:
            ahead.setattr("time.time", lambda: now() + 40 * DAY)
            for _ in range(3):
                task = asyncio.create_task(delete_untouched_threads(service.threads, 30))
                await asyncio.sleep(0.3)
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
            assert await service.threads.find(LOCAL_CALLER, mine.thread) == mine
