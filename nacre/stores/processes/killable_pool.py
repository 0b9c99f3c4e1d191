"""Run work in separate processes that can be killed, such as engine calls that can't be interrupted."""

import logging
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import Any

from nacre.errors import ToolError
from nacre.records.cancellation import WorkCancelled, is_cancelled, note_unfinished
from nacre.stores.processes.worker_process import Work, WorkerDied, WorkerGone, WorkerProcess

log = logging.getLogger(__name__)

PROCESSES = 2
# how often a thread that waits for a process looks whether its own caller still waits (given)
CHECK_SECONDS = 0.1
# processes that are tried for work if they end before they take it (given)
ATTEMPTS = 3
# how long closing waits for the threads of a pool
CLOSE_SECONDS = 5.0


class RunningWork(Future[Any]):
    """The future of work in a process. `settled` is done when the process, or the one that replaces it, is free."""

    def __init__(self, work: Work) -> None:
        super().__init__()
        self.work = work
        self.settled: Future[None] = Future()
        self._worker: WorkerProcess | None = None
        self._is_abandoned = False
        self._lock = threading.Lock()

    def cancel(self) -> bool:
        """Do not start the work, or kill its process."""
        with self._lock:
            self._is_abandoned = True
            if self._worker is not None:
                self._worker.kill()
                return True
        if super().cancel():
            self.settle()
            return True
        return False

    def run(self, worker: WorkerProcess) -> Any:
        """The result of the work in this process."""
        with self._lock:
            if self._is_abandoned:
                raise CancelledError
            self._worker = worker
        try:
            return worker.run(self.work)
        finally:
            with self._lock:
                self._worker = None

    def settle(self) -> None:
        with self._lock:
            if not self.settled.done():
                self.settled.set_result(None)


class KillablePool:
    """A pool of processes of at most `memory` bytes each, started with the first work. Work that exceeds its time is
    killed with its process. A process that ended, for whatever reason, is replaced.

    `prepare` is picklable and runs first in each process.
    """

    def __init__(self, memory: int, processes: int = PROCESSES, prepare: Callable[[], object] | None = None) -> None:
        self._memory, self._processes, self._prepare = memory, processes, prepare
        self._lock = threading.Lock()
        self._running: _Dispatchers | None = None

    def start(
        self, work: Callable[..., Any], *args: object, seconds: float | None = None, **given: object
    ) -> RunningWork:
        """Start picklable work. Its future has the result, TimeoutError after `seconds` of work, or WorkerDied.
        Cancelling the future kills the process."""
        running = RunningWork(Work(work, args, given, seconds))
        with self._lock:
            self._dispatchers().queue.put(running)
        return running

    def warm(self) -> None:
        """Start the processes now; it does not wait for them."""
        with self._lock:
            self._dispatchers()

    def close(self) -> None:
        """Kill all processes, whatever they are doing."""
        with self._lock:
            running, self._running = self._running, None
        if running is not None:
            running.close()

    def _dispatchers(self) -> "_Dispatchers":
        if self._running is None:
            self._running = _Dispatchers(lambda: WorkerProcess(self._memory, self._prepare), self._processes)
        return self._running


class _Dispatchers:
    """Threads that give work to processes, one each."""

    def __init__(self, new_worker: Callable[[], WorkerProcess], count: int) -> None:
        self.queue: SimpleQueue[RunningWork | None] = SimpleQueue()
        self._new_worker = new_worker
        self._lock = threading.Lock()
        self._workers: set[WorkerProcess] = set()
        self._is_closed = False
        self._threads = [threading.Thread(target=self._dispatch, name="nacre-pool", daemon=True) for _ in range(count)]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            for worker in self._workers:
                worker.kill()
        with suppress(Empty):
            while True:
                if (waiting := self.queue.get_nowait()) is not None:
                    waiting.cancel()
        for _ in self._threads:
            self.queue.put(None)
        for thread in self._threads:
            thread.join(CLOSE_SECONDS)

    def _dispatch(self) -> None:
        worker = self._started_worker()
        while (running := self.queue.get()) is not None:
            if not running.set_running_or_notify_cancel():
                continue
            worker, result, failure = self._run(running, worker)
            # who waits learns the result at once, but the process is not free before it is replaced
            if worker is not None and worker.is_idle():
                running.settle()
            if failure is None:
                running.set_result(result)
            else:
                running.set_exception(failure)
            del running.work
            worker = self._usable(worker)
            running.settle()
        if worker is not None:
            self._discard(worker)

    def _run(
        self, running: RunningWork, worker: WorkerProcess | None
    ) -> tuple[WorkerProcess | None, Any, BaseException | None]:
        """The process that did the work, and its result or exception."""
        for _ in range(ATTEMPTS):
            # the system may have killed a process that had no work
            worker = self._usable(worker)
            if worker is None:
                break
            try:
                return worker, running.run(worker), None
            except WorkerGone:
                continue
            except BaseException as error:
                return worker, None, error
        return worker, None, WorkerDied("no process could be started")

    def _usable(self, worker: WorkerProcess | None) -> WorkerProcess | None:
        """The process, or a new one if it has ended; None if none can be started."""
        if worker is not None and worker.is_idle():
            return worker
        if worker is not None:
            self._discard(worker)
        return self._started_worker()

    def _started_worker(self) -> WorkerProcess | None:
        with self._lock:
            if self._is_closed:
                return None
        try:
            worker = self._new_worker()
        except OSError as error:
            log.warning("no process can be started: %s", error)
            return None
        with self._lock:
            self._workers.add(worker)
            if self._is_closed:
                worker.kill()
        if worker.wait_until_ready():
            return worker
        if not self._is_closed:
            log.warning("a process ended while it started")
        self._discard(worker)
        return None

    def _discard(self, worker: WorkerProcess) -> None:
        with self._lock:
            self._workers.discard(worker)
            worker.close()


def wait_for_result(running: RunningWork) -> Any:
    """The result of work, for a thread that has nothing else to do. If its own caller stops waiting, the process is
    killed and WorkCancelled is raised."""
    try:
        while True:
            try:
                return running.result(CHECK_SECONDS)
            except TimeoutError:
                # the work itself may have exceeded its time
                if running.done():
                    raise
            if is_cancelled():
                running.cancel()
                raise WorkCancelled
    finally:
        note_unfinished(running.settled)


@contextmanager
def pool_errors(seconds: float) -> Iterator[None]:
    """Turn the errors of unfinished work into a ToolError: `timeout`, or `too_large` if its process died."""
    try:
        yield
    except TimeoutError:
        raise ToolError("timeout", f"The query was stopped after {seconds:g} seconds.") from None
    except (MemoryError, RuntimeError, OSError) as error:
        # WorkerDied is a RuntimeError: the process died, most likely because it ran out of memory
        raise ToolError("too_large", f"The query broke off ({error}). Ask for less.") from None
