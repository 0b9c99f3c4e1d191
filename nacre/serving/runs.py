"""Running and recent turns: an iterator of events -> a run that clients follow, leave and resume."""

import asyncio
import json
import logging
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress
from typing import Any, Literal, NamedTuple

from agents.model_calls import ModelCall, call_log
from nacre.errors import NacreError
from nacre.serving.errors import NotFound, error_status
from nacre.serving.keys import Caller

log = logging.getLogger(__name__)

RETENTION_SECONDS = 60.0
# runs whose model calls can be read after their end
MAX_CALL_LOGS = 50
# a client of another server counts for so long after its last sign
FOLLOWED_SECONDS = 3.0
SERVER_STOPPING = "The server is stopping. Ask again in a moment."
CLIENT_LEFT = "Stopped: the client has disconnected."


class RunEvent(NamedTuple):
    """One event: its kind and its payload as JSON."""

    kind: str
    data: str


class Run:
    """One turn. It stores its events, so that a client that lost the connection can read what it missed.

    It goes on for `resume_seconds` after its last client has left; to its end if that is None.
    """

    def __init__(self, owner: str, graph: str, resume_seconds: float | None, thread: str = "") -> None:
        self.id = uuid.uuid4().hex
        self.owner, self.graph, self.thread = owner, graph, thread
        self.created = time.time()
        self.is_cancelled = False
        # what the interface that started the run notes about it
        self.notes: object = None
        self.events: list[RunEvent] = []
        self.calls: list[ModelCall] = []
        self._resume_seconds = resume_seconds
        self._listeners = 0
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._expiry: asyncio.TimerHandle | None = None
        self._stop_reason = CLIENT_LEFT

    @classmethod
    def finished(cls, owner: str, graph: str, events: list[tuple[str, Any]]) -> "Run":
        """A run that has ended with these events."""
        run = cls(owner, graph, 0)
        for kind, payload in [*events, ("done", {"run": run.id})]:
            run._publish(kind, payload)
        return run

    @property
    def is_done(self) -> bool:
        """Whether the last event was published."""
        return bool(self.events) and self.events[-1].kind == "done"

    @property
    def is_lasting(self) -> bool:
        """Whether the turn goes on without a client."""
        return self._resume_seconds is None

    @property
    def status(self) -> Literal["pending", "running", "success", "error", "cancelled"]:
        """How far the turn is; pending before its first event."""
        if not self.is_done:
            return "running" if self.events else "pending"
        if self.result.kind == "answer":
            return "success"
        return "cancelled" if self.is_cancelled else "error"

    @property
    def result(self) -> RunEvent:
        """The answer, or the error, of a run that has ended."""
        return self.events[-2]

    def start(self, events: AsyncIterator[tuple[str, Any]]) -> asyncio.Task[None]:
        """Start the turn as a task."""
        self._task = asyncio.create_task(self._execute(events), name=f"run {self.id}")
        return self._task

    def stop(self, why: str = CLIENT_LEFT) -> None:
        """Cancel the turn; listeners receive the reason as an error event."""
        self._stop_reason = why
        if self._task is not None:
            self._task.cancel()

    def keep_alive(self) -> None:
        """Somebody follows the turn elsewhere: begin anew to wait for a client, if it waits for one."""
        if self._expiry is not None and not self._listeners and not self.is_done and self._resume_seconds is not None:
            self._expiry.cancel()
            seconds = max(self._resume_seconds, FOLLOWED_SECONDS)
            self._expiry = asyncio.get_running_loop().call_later(seconds, self.stop)

    async def wait(self) -> None:
        """Wait for the end of the turn."""
        if self._task is not None:
            await asyncio.wait([self._task])

    async def batches(self, after: int = 0) -> AsyncGenerator[list[tuple[int, RunEvent]]]:
        """Events after number `after`, numbered, in batches; the turn is cancelled if no listener returns in time."""
        self._listeners += 1
        if self._expiry is not None:
            self._expiry.cancel()
        try:
            number = after
            while True:
                if number < len(self.events):
                    batch = list(enumerate(self.events[number:], number + 1))
                    number = len(self.events)
                    yield batch
                if number < len(self.events):
                    continue
                if self.is_done:
                    return
                self._changed.clear()
                await self._changed.wait()
        finally:
            self._listeners -= 1
            if not self._listeners and not self.is_done and self._resume_seconds is not None:
                self._expiry = asyncio.get_running_loop().call_later(self._resume_seconds, self.stop)

    async def _execute(self, events: AsyncIterator[tuple[str, Any]]) -> None:
        call_log.set(self.calls)
        try:
            async for kind, payload in events:
                self._publish(kind, payload)
        except NacreError as error:
            self._publish("error", {"message": str(error), "status": error_status(error)})
        except asyncio.CancelledError:
            # not re-raised: the task ends here, and listeners get the error event
            self.is_cancelled = True
            self._publish(
                "error", {"message": self._stop_reason, "status": 499 if self._stop_reason == CLIENT_LEFT else 503}
            )
        except Exception:
            log.exception("a turn failed")
            self._publish("error", {"message": "Internal error. See the server's log.", "status": 500})
        finally:
            with suppress(asyncio.CancelledError):
                await events.aclose()  # type: ignore[attr-defined]
            self._publish("done", {"run": self.id})

    def _publish(self, kind: str, payload: Any) -> None:
        self.events.append(RunEvent(kind, json.dumps(payload, ensure_ascii=False)))
        self._changed.set()


class Runs:
    """The runs of one process, each known to its owner alone, as long as the owner may read its graph."""

    def __init__(self, resume_seconds: float) -> None:
        self._resume_seconds = resume_seconds
        self._runs: dict[str, Run] = {}
        self._calls: dict[str, tuple[str, str, list[ModelCall]]] = {}

    def create(
        self,
        owner: str,
        graph: str,
        *,
        resumed: bool = True,
        lasting: bool = False,
        thread: str | None = None,
        id: str = "",
    ) -> Run:
        """A new run, not started. If not `resumed`, it ends with its client; a `lasting` one goes on without."""
        run = Run(owner, graph, None if lasting else self._resume_seconds if resumed else 0, thread or "")
        run.id = id or run.id
        self._runs[run.id] = run
        return run

    async def find(self, caller: Caller, id: str) -> Run:
        """Like `get`, of any server that shares the runs."""
        return self.get(caller, id)

    async def running(self, caller: Caller, thread: str | None = None) -> list[Run]:
        """The runs of the caller that have not ended, of one thread or of all, on all servers that share them."""
        runs = [each for each in self._runs.values() if each.owner == caller.owner and not each.is_done]
        return [each for each in runs if thread is None or each.thread == thread]

    def start(self, run: Run, events: AsyncIterator[tuple[str, Any]]) -> None:
        """Start a run; it is removed some time after its end."""
        loop = asyncio.get_running_loop()
        self._calls[run.id] = run.owner, run.graph, run.calls
        while len(self._calls) > MAX_CALL_LOGS:
            del self._calls[next(iter(self._calls))]
        run.start(events).add_done_callback(lambda _: loop.call_later(RETENTION_SECONDS, self._runs.pop, run.id, None))

    def calls(self, caller: Caller, id: str) -> list[ModelCall]:
        """The model calls of one of the latest runs; raises NotFound."""
        owner, graph, calls = self._calls.get(id, ("", "", []))
        if owner != caller.owner or not caller.may_read(graph):
            raise NotFound("The model calls of this turn are no longer stored. Ask again to see them.")
        return calls

    def get(self, caller: Caller, id: str) -> Run:
        """A run of the caller about a graph that the caller may read; raises NotFound."""
        run = self._runs.get(id)
        if run is None or run.owner != caller.owner or not caller.may_read(run.graph):
            raise NotFound("This run does not exist or ended a while ago. Ask again.")
        return run

    async def close(self, seconds: float) -> None:
        """Wait `seconds` for running turns to end, then cancel the rest."""
        running = [run for run in self._runs.values() if not run.is_done]
        if not running:
            return
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.gather(*(run.wait() for run in running)), seconds)
        for run in running:
            if not run.is_done:
                run.stop(SERVER_STOPPING)
        await asyncio.gather(*(run.wait() for run in running))
