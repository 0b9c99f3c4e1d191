"""Work in processes of its own: what no limit within a process stops, such as one long call of an engine, is killed."""

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
    """A few processes of at most `memory` bytes each, started when the first work comes and then kept; work that takes
    longer than it may is ended with its process, and the next gets a new one."""

    def __init__(self, memory: int, processes: int = PROCESSES) -> None:
        self._memory, self._processes = memory, processes
        self._lock = threading.Lock()
        self._pool: ProcessPool | None = None

    def start(
        self, work: Callable[..., Any], *args: object, seconds: float | None = None, **given: object
    ) -> "Future[Any]":
        """Begin some work, which must be picklable; the result comes, or TimeoutError after so many seconds of it. A
        future that is cancelled ends its process. To start a process blocks for longer than an event loop may."""
        return self._ready().schedule(work, args=args, kwargs=given, timeout=seconds)

    def close(self) -> None:
        """End all processes, whatever they do."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.stop()  # type: ignore[no-untyped-call]
            pool.join()

    def _ready(self) -> "ProcessPool":
        with self._lock:
            if self._pool is None:
                from pebble import ProcessPool

                # the one way to start that takes nothing of this process along: no threads, no open files, no secrets
                from nacre.stores.processes.spawn_context import ScriptlessSpawnContext

                self._pool = ProcessPool(
                    self._processes,
                    initializer=_bounded,
                    initargs=(self._memory, os.getpid()),
                    context=ScriptlessSpawnContext(),
                )
            return self._pool


@contextmanager
def pool_errors(seconds: float) -> Iterator[None]:
    """How work ends that did not come to its own end, as a ToolError: `timeout`, or `too_large` where it broke off."""
    try:
        yield
    except TimeoutError:
        raise ToolError("timeout", f"The query was stopped after {seconds:g} seconds.") from None
    except (MemoryError, RuntimeError, OSError) as error:
        # pebble's ProcessExpired is a RuntimeError: the process died of the query, most likely for want of memory
        raise ToolError("too_large", f"The query broke off ({error}). Ask for less.") from None


def _bounded(memory: int, parent: int) -> None:
    exit_with_parent(parent)
    deny_network()
    # who stops a command stops its processes in turn; on their own they would end in a traceback
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
