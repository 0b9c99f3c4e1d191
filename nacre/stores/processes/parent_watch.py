"""End a process when the process that started it is gone: -> a thread that looks once a second.

A parent that is killed cannot stop its children. Linux could signal them (PR_SET_PDEATHSIG), but does so already when
the thread that started them ends; asking for the parent's id works on every POSIX system.
"""

import os
import runpy
import signal
import sys
import threading
import time

SECONDS_BETWEEN_LOOKS = 1.0


def child_command(seconds: int, module: str, *arguments: str) -> list[str]:
    """The command of a module of Python that ends with this process, or by SIGALRM after so many seconds."""
    return [sys.executable, "-m", __name__, str(os.getpid()), str(seconds), module, *arguments]


def exit_with_parent(parent: int | None = None) -> None:
    """End this process at once, without any cleaning up, when its `parent` (by default the present one) is gone."""
    watched = os.getppid() if parent is None else parent
    threading.Thread(target=_watch, args=(watched,), name="parent-watch", daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(SECONDS_BETWEEN_LOOKS)
    os._exit(1)


if __name__ == "__main__":
    starter, limit, name, *sys.argv[1:] = sys.argv[1:]
    signal.alarm(int(limit))
    exit_with_parent(int(starter))
    runpy.run_module(name, run_name="__main__", alter_sys=True)
