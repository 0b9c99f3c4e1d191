"""Slots are shared fairly: no caller holds all of them, and who waits is served in turn by caller."""

import asyncio
import gc
import threading
from concurrent.futures import Future

import pytest

from nacre.records.threads import FairSemaphore, FairSlots, WorkCancelled, note_unfinished, run_in_thread


async def work(slots: FairSlots, owner: str, name: str, log: list[str], end: asyncio.Event) -> None:
    async with slots.hold(owner):
        log.append(name)
        await end.wait()


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_one_caller_leaves_a_slot_for_another() -> None:
    slots, log, end = FairSlots(2), list[str](), asyncio.Event()
    tasks = [asyncio.create_task(work(slots, "ann", f"ann{n}", log, end)) for n in range(16)]
    await settle()
    assert log == ["ann0"]
    tasks.append(asyncio.create_task(work(slots, "bo", "bo0", log, end)))
    await settle()
    assert log == ["ann0", "bo0"]
    end.set()
    await asyncio.gather(*tasks)
    assert log[2:] == [f"ann{n}" for n in range(1, 16)]


async def test_callers_take_turns() -> None:
    slots, log, end = FairSlots(1), list[str](), asyncio.Event()
    tasks = [
        asyncio.create_task(work(slots, owner, f"{owner}{n}", log, end)) for owner in ("ann", "bo") for n in (0, 1)
    ]
    await settle()
    end.set()
    await asyncio.gather(*tasks)
    assert log == ["ann0", "bo0", "ann1", "bo1"]


async def test_a_caller_alone_may_hold_all_if_it_is_let() -> None:
    slots = FairSlots(2)
    async with slots.hold("local", share=2), asyncio.timeout(1), slots.hold("local", share=2):
        pass


@pytest.mark.parametrize("granted", [True, False])
async def test_who_leaves_gives_the_slot_to_the_next(granted: bool) -> None:
    slots, log, end = FairSlots(1), list[str](), asyncio.Event()
    first = asyncio.create_task(work(slots, "ann", "ann", log, end))
    await settle()
    second = asyncio.create_task(work(slots, "bo", "bo", log, end))
    third = asyncio.create_task(work(slots, "cy", "cy", log, end))
    await settle()
    (first if granted else second).cancel()
    await settle()
    assert log == (["ann", "bo"] if granted else ["ann"])
    end.set()
    await asyncio.gather(first, second, third, return_exceptions=True)
    assert log == (["ann", "bo", "cy"] if granted else ["ann", "cy"])
    async with asyncio.timeout(1), slots.hold("dan"):
        pass


async def test_a_slot_is_not_given_to_who_was_cancelled_at_the_same_moment() -> None:
    slots, log, end = FairSlots(1), list[str](), asyncio.Event()
    first = asyncio.create_task(work(slots, "ann", "ann", log, end))
    await settle()
    second = asyncio.create_task(work(slots, "bo", "bo", log, end))
    third = asyncio.create_task(work(slots, "bo", "bo2", log, end))
    await settle()
    second.cancel()
    first.cancel()
    await settle()
    assert log == ["ann", "bo2"]
    third.cancel()
    await asyncio.gather(first, second, third, return_exceptions=True)
    async with asyncio.timeout(1), slots.hold("dan"):
        pass


async def test_connections_are_shared_fairly_between_the_owners_of_work() -> None:
    connections, slots, over, held = FairSemaphore(4), FairSlots(8), threading.Event(), list[str]()

    def query(owner: str, *, is_slow: bool) -> bool:
        if not connections.acquire(timeout=0.1 if is_slow and held.count(owner) == 3 else 20):
            return False
        held.append(owner)
        if is_slow:
            over.wait(20)
        connections.release()
        return True

    async def ask(owner: str, *, is_slow: bool) -> bool:
        async with slots.hold(owner):
            return await run_in_thread(query, owner, is_slow=is_slow)

    slow = [asyncio.create_task(ask("ann", is_slow=True)) for _ in range(3)]
    while held.count("ann") < 3:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    assert not await ask("ann", is_slow=True)
    assert await ask("bo", is_slow=False)
    over.set()
    assert await asyncio.gather(*slow) == [True] * 3
    assert await ask("ann", is_slow=False)


async def test_the_error_of_work_that_nobody_awaits_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    slots, unfinished = FairSlots(1), Future[None]()
    async with slots.hold("ann"):
        note_unfinished(unfinished)
    unfinished.set_exception(WorkCancelled())
    async with asyncio.timeout(5), slots.hold("bo"):
        gc.collect()
    await asyncio.sleep(0)
    assert "never retrieved" not in caplog.text
