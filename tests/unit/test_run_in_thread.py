import asyncio
import threading
import time

import pytest

from agents.run_in_thread import AT_ONCE, off_loop
from nacre.records.cancellation import go_on, is_left


def test_the_result_comes_back_from_another_thread() -> None:
    assert asyncio.run(off_loop(threading.get_ident)) != threading.get_ident()
    assert asyncio.run(off_loop(sorted, [2, 1], reverse=True)) == [2, 1]


def test_work_that_nobody_waits_for_ends() -> None:
    ended = threading.Event()

    def work() -> None:
        try:
            while True:
                go_on()
                time.sleep(0.001)
        finally:
            ended.set()

    async def left() -> None:
        running = [asyncio.create_task(off_loop(work)) for _ in range(AT_ONCE)]
        await asyncio.sleep(0.05)
        for each in running:
            each.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        # the threads are free again
        assert await asyncio.wait_for(off_loop(is_left), 5) is False

    asyncio.run(left())
    assert ended.wait(5)


def test_work_on_its_own_is_never_left() -> None:
    go_on()
    assert not is_left()


def test_an_error_is_the_callers() -> None:
    with pytest.raises(ZeroDivisionError):
        asyncio.run(off_loop(divmod, 1, 0))
