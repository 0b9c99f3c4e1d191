"""Run work in separate processes that can be killed: function + arguments -> its result, within memory and time.
Denying the network (seccomp on Linux: AF_INET, AF_INET6) is the second layer: guards refuse SERVICE in queries, but an
engine may have an HTTP client of its own (Oxigraph). Elsewhere the guards stand alone. Children ask for the id of their
parent: Linux's signal (PR_SET_PDEATHSIG) comes already when the thread that started them ends."""

import ctypes
import errno
import logging
import os
import platform
import resource
import runpy
import signal
import socket
import struct
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import popen_forkserver, spawn
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext, ForkServerProcess
from multiprocessing.reduction import ForkingPickler
from typing import Any, NamedTuple

from nacre.errors import ToolError
from nacre.records.threads import FairQueue, WorkCancelled, default_share, is_cancelled, note_unfinished, work_owner

log = logging.getLogger(__name__)

PROCESSES = 2
# how often a thread that waits for a process looks whether its own caller still waits (given)
CHECK_SECONDS = 0.1
# processes that are tried for work if they end before they take it (given)
ATTEMPTS = 3
CLOSE_SECONDS = 5.0


# modules that processes are forked with: what the pools import that there are when the first process starts
_shared_imports: dict[str, None] = {}


class Work(NamedTuple):
    """Picklable work; `seconds` is its limit of time, None for no limit."""

    function: Callable[..., Any]
    arguments: tuple[object, ...]
    options: dict[str, object]
    seconds: float | None


class WorkerProcess:
    """A process of at most `memory` bytes. All methods but `kill` are for one thread."""

    def __init__(self, memory: int, imports: Sequence[str]) -> None:
        self._lines: Connection
        # it is forked from a process that has nothing of this one, no threads, open files or texts, only modules
        context = ScriptlessContext()
        context.set_forkserver_preload(list(_shared_imports))
        self._is_useless = False
        self._lines, child_end = context.Pipe()
        self._process = context.Process(target=_serve, args=(child_end, memory, imports), daemon=True)
        try:
            self._process.start()
        finally:
            child_end.close()

    def wait_until_ready(self) -> bool:
        """Whether the process has started and prepared itself; if not, it is useless."""
        try:
            return self._lines.poll(START_SECONDS) and self._lines.recv() is None
        except (EOFError, OSError):
            return False

    def is_idle(self) -> bool:
        """Whether the process can be given work. The line of a process that was killed is readable: it has ended."""
        return not self._is_useless and self._process.is_alive() and not self._lines.poll()

    def run(self, work: Work) -> Any:
        """The result of the work, or its exception. Raises TimeoutError after its time, WorkerDied if the process
        ended; after both the process is useless. Raises WorkerGone if it ended, unasked, before it took the work."""
        try:
            self._lines.send((work.function, work.arguments, work.options))
            self._lines.recv()
        except (EOFError, ConnectionError):
            is_unasked, self._is_useless = not self._is_useless, True
            raise (WorkerGone if is_unasked else WorkerDied)("its process ended") from None
        try:
            if not self._lines.poll(work.seconds):
                self.kill()
                raise TimeoutError
            succeeded, result = self._lines.recv()
        except (EOFError, ConnectionError):
            self._is_useless = True
            raise WorkerDied("its process ended") from None
        if not succeeded:
            raise result
        return result

    def kill(self) -> None:
        """End the process, whatever it is doing; from any thread."""
        self._is_useless = True
        if self._process.is_alive():
            self._process.kill()

    def close(self) -> None:
        """End the process and wait until it is gone."""
        self.kill()
        self._process.join(END_SECONDS)
        self._lines.close()


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
    """A pool of processes of at most `memory` bytes each, which import `imports` first and are replaced when they end.
    Work is killed with its process after its time; each owner of work (`work_owner`) has a share."""

    def __init__(self, memory: int, processes: int = PROCESSES, imports: Sequence[str] = ()) -> None:
        self._memory, self._processes, self._imports = memory, processes, imports
        _shared_imports.update(dict.fromkeys(imports))
        self._lock = threading.Lock()
        self._running: _Dispatchers | None = None

    def start(
        self, work: Callable[..., Any], *args: object, seconds: float | None = None, **given: object
    ) -> RunningWork:
        """Start picklable work: result, TimeoutError after `seconds` of work, or WorkerDied. Cancelling kills it."""
        running = RunningWork(Work(work, args, given, seconds))
        with self._lock:
            self._dispatchers().put(running)
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
            self._running = _Dispatchers(lambda: WorkerProcess(self._memory, self._imports), self._processes)
        return self._running


class _Dispatchers:
    """Threads that give work to processes, one each."""

    def __init__(self, new_worker: Callable[[], WorkerProcess], count: int) -> None:
        self._queue: FairQueue[RunningWork] = FairQueue(count)
        self._changed = threading.Condition()
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
        with self._changed:
            waiting = self._queue.waiting()
            self._changed.notify_all()
        for each in waiting:
            each.cancel()
        for thread in self._threads:
            thread.join(CLOSE_SECONDS)

    def put(self, running: RunningWork) -> None:
        """Let the work wait for a process; its owner, if others may wait too, gets no more than a share of them."""
        owner, all_of_them = work_owner.get(), self._queue.slots
        with self._changed:
            self._queue.put(owner or "", running, all_of_them if owner is None else default_share(all_of_them))
            self._changed.notify()

    def _dispatch(self) -> None:
        worker = self._started_worker()
        while (following := self._next()) is not None:
            owner, running = following
            if running.set_running_or_notify_cancel():
                worker = self._finish(running, worker)
            with self._changed:
                self._queue.leave(owner)
        if worker is not None:
            self._discard(worker)

    def _next(self) -> tuple[str, RunningWork] | None:
        """Wait for work whose turn it is; None when the pool is closed."""
        with self._changed:
            while not self._is_closed:
                if (following := self._queue.take()) is not None:
                    return following
                self._changed.wait()
        return None

    def _finish(self, running: RunningWork, worker: WorkerProcess | None) -> WorkerProcess | None:
        """Do the work, give its result to its future, and return a process that is free."""
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
        return worker

    def _run(
        self, running: RunningWork, worker: WorkerProcess | None
    ) -> tuple[WorkerProcess | None, Any, BaseException | None]:
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
    """The result of work; if its own caller stops waiting, the process is killed and WorkCancelled is raised."""
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


# for starting a process; the first takes 0.7 to 1.5 s on two busy cores (measured)
START_SECONDS = 60.0
# for a process that was killed to be gone (given)
END_SECONDS = 5.0


class WorkerDied(RuntimeError):
    """The process ended while it worked, most likely because it ran out of memory."""


class WorkerGone(WorkerDied):
    """The process ended before it took the work, which may run in another process."""


def _serve(lines: Connection, memory: int, imports: Sequence[str]) -> None:
    # which ends with the process that has the pool
    exit_with_parent()
    deny_network()
    # the parent stops its processes when it is interrupted; on their own they would print a traceback
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for module in imports:
        import_module(module)
    lines.send(None)
    while True:
        try:
            message = lines.recv_bytes()
        except EOFError:
            return
        # the work has begun
        lines.send(None)
        succeeded, result = _result(message)
        try:
            lines.send((succeeded, result))
        except Exception as error:  # what can't be pickled raises errors of any kind
            lines.send((False, RuntimeError(f"its result can't be sent: {error}")))


def _result(message: bytes) -> tuple[bool, Any]:
    try:
        function, arguments, options = ForkingPickler.loads(message)
        return True, function(*arguments, **options)
    except BaseException as error:
        error.add_note(traceback.format_exc())
        return False, error


_spawn_lock = threading.Lock()


class _Popen(popen_forkserver.Popen):
    def _launch(self, process_obj: Any) -> None:
        with _without_script():
            super()._launch(process_obj)  # type: ignore[misc]


class _Process(ForkServerProcess):
    @staticmethod
    def _Popen(process_obj: Any) -> Any:
        return _Popen(process_obj)


class ScriptlessContext(ForkServerContext):
    """As "forkserver", but the main script is not run again in each process, which a script without
    `if __name__ == "__main__"` would do. Functions that run in the processes must not be defined in that script."""

    Process = _Process


@contextmanager
def _without_script() -> Iterator[None]:
    """Processes that this thread starts meanwhile get no main script; `multiprocessing` has no option for that."""
    own = threading.get_ident()
    with _spawn_lock:
        original = spawn.get_preparation_data

        def without_main(name: str) -> dict[str, Any]:
            prepared_data: dict[str, Any] = original(name)
            if threading.get_ident() == own:
                prepared_data.pop("init_main_from_name", None)
                prepared_data.pop("init_main_from_path", None)
            return prepared_data

        spawn.get_preparation_data = without_main
        try:
            yield
        finally:
            spawn.get_preparation_data = original


# per machine: audit architecture, number of `socket`, number of `seccomp` (linux/audit.h, asm/unistd.h)
_MACHINES = {"x86_64": (0xC000003E, 41, 317), "aarch64": (0xC00000B7, 198, 277)}

_PR_SET_NO_NEW_PRIVS, _SECCOMP_SET_MODE_FILTER, _ALL_THREADS = 38, 1, 1

_ALLOW, _DENY = 0x7FFF0000, 0x00050000 | errno.EACCES

# offsets in struct seccomp_data
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16

# load a word, jump if equal, return (linux/bpf_common.h)
_LOAD, _JUMP_EQUAL, _RETURN = 0x20, 0x15, 0x06


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def deny_network() -> bool:
    """Deny Internet sockets to this process and all its threads, for good; returns whether that was possible."""
    machine = _MACHINES.get(platform.machine())
    if sys.platform != "linux" or machine is None:
        return False
    architecture, socket_number, seccomp_number = machine
    code = b"".join(
        struct.pack("HBBI", *instruction)
        for instruction in (
            (_LOAD, 0, 0, _ARCHITECTURE),
            (_JUMP_EQUAL, 0, 5, architecture),
            (_LOAD, 0, 0, _NUMBER),
            (_JUMP_EQUAL, 0, 3, socket_number),
            (_LOAD, 0, 0, _FIRST_ARGUMENT),
            (_JUMP_EQUAL, 2, 0, socket.AF_INET),
            (_JUMP_EQUAL, 1, 0, socket.AF_INET6),
            (_RETURN, 0, 0, _ALLOW),
            (_RETURN, 0, 0, _DENY),
        )
    )
    libc = ctypes.CDLL(None, use_errno=True)
    program = _Program(len(code) // 8, code)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.syscall(
        seccomp_number, _SECCOMP_SET_MODE_FILTER, _ALL_THREADS, ctypes.byref(program)
    ):
        log.warning("The network could not be taken from a query process: %s", errno.errorcode.get(ctypes.get_errno()))
        return False
    return True


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
