"""Run work in separate processes that can be killed, such as engine calls that can't be interrupted."""

import os
import resource
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from nacre.errors import ToolError
from nacre.stores.processes.no_network import deny_network
from nacre.stores.processes.parent_watch import exit_with_parent

if TYPE_CHECKING:
    from pebble import ProcessPool

PROCESSES = 2


class KillablePool:
    """A pool of processes of at most `memory` bytes each, started with the first work. Work that exceeds its time is
    killed with its process, and a new process replaces it."""

    def __init__(self, memory: int, processes: int = PROCESSES) -> None:
        self._memory, self._processes = memory, processes
        self._lock = threading.Lock()
        self._pool: ProcessPool | None = None

    def start(
        self, work: Callable[..., Any], *args: object, seconds: float | None = None, **given: object
    ) -> "Future[Any]":
        """Start picklable work. Its future has the result, or TimeoutError after `seconds` of work. Cancelling the
        future kills the process. Starting a process blocks for too long to be called on an event loop."""
        return self._started_pool().schedule(work, args=args, kwargs=given, timeout=seconds)

    def close(self) -> None:
        """Kill all processes, whatever they are doing."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.stop()  # type: ignore[no-untyped-call]
            pool.join()

    def _started_pool(self) -> "ProcessPool":
        with self._lock:
            if self._pool is None:
                from pebble import ProcessPool

                # spawn is the only start method that inherits nothing: no threads, open files or secrets
                from nacre.stores.processes.spawn_context import ScriptlessSpawnContext

                self._pool = ProcessPool(
                    self._processes,
                    initializer=_limit_process,
                    initargs=(self._memory, os.getpid()),
                    context=ScriptlessSpawnContext(),
                )
            return self._pool


@contextmanager
def pool_errors(seconds: float) -> Iterator[None]:
    """Turn the errors of unfinished work into a ToolError: `timeout`, or `too_large` if its process died."""
    try:
        yield
    except TimeoutError:
        raise ToolError("timeout", f"The query was stopped after {seconds:g} seconds.") from None
    except (MemoryError, RuntimeError, OSError) as error:
        # pebble's ProcessExpired is a RuntimeError: the process died, most likely because it ran out of memory
        raise ToolError("too_large", f"The query broke off ({error}). Ask for less.") from None


def _limit_process(memory: int, parent: int) -> None:
    exit_with_parent(parent)
    deny_network()
    # the parent stops its processes when it is interrupted; on their own they would print a traceback
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
