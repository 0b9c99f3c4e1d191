"""Rate limits of keys over two servers that share a database."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from nacre.extensions.fleet.shared_state import LOT_SECONDS, LOT_SHARE, SharedRateLimiter
from nacre.serving.errors import TooManyRequests
from nacre.stores.state.database import StateDatabase, open_database

PER_MINUTE, AT_ONCE = 6000, 600


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(StateDatabase, "now", lambda self: made.now + 5e8)
    return made


@pytest.fixture
def databases(tmp_path: Path) -> Iterator[tuple[StateDatabase, StateDatabase]]:
    opened = open_database(f"sqlite:///{tmp_path}/state.sqlite"), open_database(f"sqlite:///{tmp_path}/state.sqlite")
    yield opened
    for each in opened:
        each.close()


def passed(limiters: tuple[SharedRateLimiter, ...], client: str, most: int) -> int:
    """How many requests of a client are taken until each server refuses it."""
    count, asked = 0, list(limiters)
    for number in range(most):
        if not asked:
            return count
        limiter = asked[number % len(asked)]
        try:
            limiter.take(client)
            count += 1
        except TooManyRequests:
            asked.remove(limiter)
    raise AssertionError(f"{most} requests were not refused")


def test_a_key_has_one_limit_over_both(databases: tuple[StateDatabase, StateDatabase], clock: Clock) -> None:
    servers = tuple(SharedRateLimiter(PER_MINUTE, each, clock) for each in databases)
    assert passed(servers, "owner ann", 5000) == AT_ONCE
    # another key has its own
    assert passed(servers, "owner bo", 5000) == AT_ONCE
    clock.now += 1
    assert passed(servers, "owner ann", 5000) == PER_MINUTE / 60
    # what a server took and did not use is lost, so that a limit is exceeded by this share at most
    clock.now += 60
    servers[0].take("owner ann")
    clock.now += LOT_SECONDS
    assert passed(servers, "owner ann", 5000) == AT_ONCE
    assert LOT_SHARE * AT_ONCE == 30


def test_a_small_limit_is_exact(databases: tuple[StateDatabase, StateDatabase], clock: Clock) -> None:
    servers = tuple(SharedRateLimiter(60, each, clock) for each in databases)
    assert passed(servers, "owner ann", 50) == 6
    with pytest.raises(TooManyRequests) as refused:
        servers[0].take("owner ann")
    assert refused.value.retry_after == pytest.approx(1.0, abs=0.01)
    clock.now += 1.001
    assert passed(servers, "owner ann", 50) == 1


def test_most_requests_need_no_statement(databases: tuple[StateDatabase, StateDatabase], clock: Clock) -> None:
    server = SharedRateLimiter(PER_MINUTE, databases[0], clock)
    seen: list[str] = []

    def note(connection: object, cursor: object, statement: str, *more: Any) -> None:
        seen.append(statement)

    sa.event.listen(sa.Engine, "before_cursor_execute", note)
    try:
        for _ in range(60):
            server.take("owner ann")
        assert sum("request_rate" in each for each in seen) == 2
        assert passed((server,), "owner ann", 5000) == AT_ONCE - 60
        seen.clear()
        for _ in range(100):
            with pytest.raises(TooManyRequests):
                server.take("owner ann")
        assert seen == []
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", note)


def test_guesses_are_counted_here_and_stored_nowhere(
    databases: tuple[StateDatabase, StateDatabase], clock: Clock
) -> None:
    servers = tuple(SharedRateLimiter(60, each, clock) for each in databases)
    assert passed(servers, "address 192.0.2.1", 50) == 12
    assert databases[0].read("SELECT count(*) FROM request_rate") == [(0,)]
    unlimited = SharedRateLimiter(0, databases[0], clock)
    for _ in range(100):
        unlimited.take("owner ann")
    assert databases[0].read("SELECT count(*) FROM request_rate") == [(0,)]


def test_without_the_database_the_limit_holds_for_each_server(
    databases: tuple[StateDatabase, StateDatabase], clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    servers = tuple(SharedRateLimiter(60, each, clock) for each in databases)
    with databases[0].writing() as run:
        run("DROP TABLE request_rate")
    assert passed(servers, "owner ann", 50) == 12
    assert sum("each server alone" in each.message for each in caplog.records) == 2
