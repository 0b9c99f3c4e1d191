import asyncio
import threading
import time

import pytest

from nacre.records.threads import MAX_THREADS, is_cancelled, raise_if_cancelled, run_in_thread


def test_the_result_comes_back_from_another_thread() -> None:
    assert asyncio.run(run_in_thread(threading.get_ident)) != threading.get_ident()
    assert asyncio.run(run_in_thread(sorted, [2, 1], reverse=True)) == [2, 1]


def test_work_that_nobody_waits_for_ends() -> None:
    ended = threading.Event()

    def work() -> None:
        try:
            while True:
                raise_if_cancelled()
                time.sleep(0.001)
        finally:
            ended.set()

    async def left() -> None:
        running = [asyncio.create_task(run_in_thread(work)) for _ in range(MAX_THREADS)]
        await asyncio.sleep(0.05)
        for each in running:
            each.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        # the threads are free again
        assert await asyncio.wait_for(run_in_thread(is_cancelled), 5) is False

    asyncio.run(left())
    assert ended.wait(5)


def test_work_on_its_own_is_never_left() -> None:
    raise_if_cancelled()
    assert not is_cancelled()


def test_an_error_is_the_callers() -> None:
    with pytest.raises(ZeroDivisionError):
        asyncio.run(run_in_thread(divmod, 1, 0))
