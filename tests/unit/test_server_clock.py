"""The clock of a server: asked now and then, and the monotonic clock between."""

import pytest

from nacre.stores.state.database import CLOCK_SECONDS, ServerClock


def test_the_server_is_asked_again_after_a_while() -> None:
    here, server, asked = 100.0, 5000.0, 0

    def ask() -> float:
        nonlocal asked
        asked += 1
        return server

    clock = ServerClock(ask, lambda: here)
    assert [clock.now(), clock.now()] == [5000.0, 5000.0]
    here += 3
    assert clock.now() == 5003.0
    assert asked == 1
    here, server = here + CLOCK_SECONDS, 9000.0
    assert clock.now() == 9000.0
    assert asked == 2


def test_a_server_that_does_not_answer_gives_no_time() -> None:
    def fail() -> float:
        raise OSError

    clock = ServerClock(fail, lambda: 0.0)
    with pytest.raises(OSError, match=r"^$"):
        clock.now()
