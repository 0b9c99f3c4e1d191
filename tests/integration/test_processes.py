"""What a process for queries of others may do: no Internet, and no life without the process that started it."""

import os
import platform
import signal
import subprocess
import sys
import time

import pytest

from nacre.errors import ToolError
from nacre.stores.processes.killable_pool import KillablePool, pool_errors

WITHOUT_NETWORK = """
import socket, threading
from nacre.stores.processes.no_network import deny_network
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
from nacre.stores.processes.parent_watch import exit_with_parent
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
