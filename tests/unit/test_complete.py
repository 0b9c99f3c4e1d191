"""Work that a cancellation does not interrupt, however often it comes."""

import asyncio

import pytest

from nacre.serving.threads import complete


async def cancelled_often(done: asyncio.Event, error: Exception | None = None) -> None:
    """Do work that waits three times, while its task is cancelled before each wait."""

    async def work() -> None:
        for _ in range(3):
            task.cancel()
            await asyncio.sleep(0)
        if error is not None:
            raise error
        done.set()

    async def begin() -> None:
        await complete(work())

    task = asyncio.create_task(begin())
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_the_work_is_done_and_the_cancellation_raised_afterwards():
    done = asyncio.Event()
    await cancelled_often(done)
    assert done.is_set()


async def test_what_fails_after_a_cancellation_is_logged(caplog):
    await cancelled_often(asyncio.Event(), ValueError("no space"))
    assert "no space" in caplog.text


async def test_without_a_cancellation_the_result_or_the_error_is_given():
    async def work(value: int) -> int:
        return 6 // value

    assert await complete(work(2)) == 3
    with pytest.raises(ZeroDivisionError):
        await complete(work(0))
