"""What a process for queries of others may do: no Internet, and no life without the process that started it."""

import asyncio
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError

import pytest

from nacre.errors import ToolError
from nacre.records.threads import FairSlots, note_unfinished
from nacre.stores.killable_pool import KillablePool, WorkerDied, pool_errors

WITHOUT_NETWORK = """
import socket, threading
from nacre.stores.killable_pool import deny_network
print(deny_network())
socket.socketpair()[0].close()
def attempt(family):
    try:
        socket.socket(family).close()
        print("open")
    except PermissionError:
        print("denied")
attempt(socket.AF_INET)
thread = threading.Thread(target=attempt, args=(socket.AF_INET6,))
thread.start()
thread.join()
"""
PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", '''
import time
from nacre.stores.killable_pool import exit_with_parent
exit_with_parent()
print("ready", flush=True)
while True: time.sleep(10)
'''])
print(child.pid, flush=True)
child.wait()
"""


def connect(port: int) -> str:
    import socket

    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except PermissionError:
        return "denied"
    return "open"


@pytest.mark.skipif(sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"), reason="needs seccomp")
def test_a_process_without_network_opens_no_internet_socket() -> None:
    ran = subprocess.run([sys.executable, "-c", WITHOUT_NETWORK], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["True", "denied", "denied"], ran.stderr


@pytest.mark.skipif(sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"), reason="needs seccomp")
def test_query_processes_have_no_network() -> None:
    pool = KillablePool(2_000_000_000, processes=1)
    try:
        assert pool.start(connect, 9, seconds=60).result() == "denied"
    finally:
        pool.close()


def test_a_child_ends_with_a_parent_that_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child, ready = int(parent.stdout.readline()), parent.stdout.readline()
        assert ready == "ready\n"
        parent.kill()
    give_up = time.monotonic() + 20
    while _runs(child) and time.monotonic() < give_up:
        time.sleep(0.1)
    left = _runs(child)
    if left:
        os.kill(child, signal.SIGKILL)
    assert not left


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # a child that nobody waits for stays in the table as a zombie
    with open(f"/proc/{pid}/stat") as stat:
        return stat.read().rpartition(")")[2].split()[0] != "Z"


def test_a_query_process_that_takes_too_long_is_ended() -> None:
    pool = KillablePool(2_000_000_000, processes=1)
    try:
        running = pool.start(time.sleep, 60, seconds=1)
        with pytest.raises(ToolError, match="stopped after 1 seconds"), pool_errors(1):
            running.result()
    finally:
        pool.close()


def pid_of(pool: KillablePool) -> int:
    pid: int = pool.start(os.getpid, seconds=60).result()
    return pid


@pytest.fixture
def pool() -> Iterator[KillablePool]:
    running = KillablePool(2_000_000_000)
    yield running
    running.close()


def test_processes_that_were_killed_without_work_are_replaced(pool: KillablePool) -> None:
    pids: set[int] = set()
    while len(pids) < 2:
        pids.add(pid_of(pool))
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    # each work runs, also the first one after the kill
    assert not {pid_of(pool) for _ in range(8)} & pids


def test_a_process_that_is_killed_at_work_fails_this_work_alone(pool: KillablePool) -> None:
    for _ in range(3):
        running = pool.start(os.abort, seconds=60)
        with pytest.raises(ToolError, match="The query broke off"), pool_errors(60):
            running.result()
        assert pool.start(abs, -1, seconds=60).result() == 1


def test_cancelled_work_ends_and_is_settled_when_its_process_is_replaced(pool: KillablePool) -> None:
    killed, waiting = [pool.start(time.sleep, 600) for _ in range(2)], pool.start(time.sleep, 600)
    time.sleep(3)
    assert waiting.cancel()
    assert waiting.settled.done()
    begun = time.monotonic()
    for each in killed:
        assert each.cancel()
        assert not each.settled.done()
    for each in killed:
        each.settled.result(60)
    # both processes are free again
    assert [each.result(10) for each in [pool.start(abs, -2), pool.start(abs, -3)]] == [2, 3]
    assert time.monotonic() - begun < 60


async def test_slow_work_of_one_caller_leaves_a_process_for_others(pool: KillablePool) -> None:
    slots = FairSlots(8)

    async def work(owner: str, function: Callable[..., object], *given: object) -> object:
        async with slots.hold(owner):
            running = pool.start(function, *given)
            try:
                return await asyncio.wrap_future(running)
            finally:
                note_unfinished(running.settled)

    slow = [asyncio.create_task(work("ann", time.sleep, 600)) for _ in range(6)]
    await asyncio.sleep(0)
    async with asyncio.timeout(60):
        assert await asyncio.gather(*(work(owner, abs, -1) for owner in ("bo", "cy", "bo"))) == [1, 1, 1]
    assert not any(each.done() for each in slow)
    for each in slow:
        each.cancel()
    await asyncio.wait(slow)


def test_what_work_raises_reaches_its_caller(pool: KillablePool) -> None:
    with pytest.raises(ZeroDivisionError):
        pool.start(divmod, 1, 0).result(60)
    with pytest.raises(RuntimeError, match="can't be sent"):
        pool.start(iter_of, 3).result(60)
    with pytest.raises(MemoryError):
        pool.start(bytearray, 10**11).result(60)
    assert pool.start(abs, -1).result(60) == 1


def iter_of(count: int) -> Iterator[int]:
    return (each for each in range(count))


def test_closing_ends_all_work_and_all_processes(pool: KillablePool) -> None:
    pid = pid_of(pool)
    works = [pool.start(time.sleep, 600) for _ in range(4)]
    begun = time.monotonic()
    pool.close()
    for work in works:
        with pytest.raises((WorkerDied, CancelledError)):
            work.result(10)
    assert time.monotonic() - begun < 15
    assert not _runs(pid)
