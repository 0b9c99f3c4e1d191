"""One process that runs work for its parent: function + arguments -> its result. It can be killed at any time."""

import os
import resource
import signal
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from typing import Any, NamedTuple

from nacre.stores.processes.no_network import deny_network
from nacre.stores.processes.parent_watch import exit_with_parent
from nacre.stores.processes.spawn_context import ScriptlessSpawnContext

# for starting a process; one takes 0.7 to 1.5 s on two busy cores (measured)
START_SECONDS = 60.0
# for a process that was killed to be gone (given)
END_SECONDS = 5.0


class Work(NamedTuple):
    """Picklable work; `seconds` is its limit of time, None for no limit."""

    function: Callable[..., Any]
    arguments: tuple[object, ...]
    options: dict[str, object]
    seconds: float | None


class WorkerDied(RuntimeError):
    """The process ended while it worked, most likely because it ran out of memory."""


class WorkerGone(WorkerDied):
    """The process ended before it took the work, which may run in another process."""


class WorkerProcess:
    """A process of at most `memory` bytes. All methods but `kill` are for one thread."""

    def __init__(self, memory: int, prepare: Callable[[], object] | None) -> None:
        self._lines: Connection
        # spawn is the only start method that inherits nothing: no threads, open files or secrets
        context = ScriptlessSpawnContext()
        self._is_useless = False
        self._lines, child_end = context.Pipe()
        self._process = context.Process(target=_serve, args=(child_end, memory, os.getpid(), prepare), daemon=True)
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


def _serve(lines: Connection, memory: int, parent: int, prepare: Callable[[], object] | None) -> None:
    exit_with_parent(parent)
    deny_network()
    # the parent stops its processes when it is interrupted; on their own they would print a traceback
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if prepare is not None:
        prepare()
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
    """Whether the work of a message succeeded, and its result or its exception."""
    try:
        function, arguments, options = ForkingPickler.loads(message)
        return True, function(*arguments, **options)
    except BaseException as error:
        error.add_note(traceback.format_exc())
        return False, error
