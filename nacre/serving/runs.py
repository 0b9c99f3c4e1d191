"""Turns under way and just done: an iterator of events -> a run that clients follow, leave and come back to."""

import asyncio
import json
import logging
import uuid
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from typing import Any, NamedTuple

from agents.models.call_log import ModelCall, call_log
from nacre.errors import NacreError
from nacre.serving.http.error_status import NotFound, error_status

log = logging.getLogger(__name__)

RETENTION_SECONDS = 60.0
# runs whose prompts can be looked at after their end
MAX_CALL_LOGS = 50
SERVER_STOPPING = "The server is stopping. Ask again in a moment."
CLIENT_LEFT = "Stopped: the client has left."


class RunEvent(NamedTuple):
    """One event: its kind and its payload as JSON."""

    kind: str
    data: str


class Run:
    """One turn. Its events are kept, so that a client that lost the line hears what it missed."""

    def __init__(self, owner: str, resume_seconds: float) -> None:
        self.id = uuid.uuid4().hex
        self.owner = owner
        self.told: list[RunEvent] = []
        self.calls: list[ModelCall] = []
        self._resume_seconds = resume_seconds
        self._listeners = 0
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._leaving: asyncio.TimerHandle | None = None
        self._why = CLIENT_LEFT

    @classmethod
    def over(cls, owner: str, events: list[tuple[str, Any]]) -> "Run":
        """A run that ended before, of which these events are known."""
        run = cls(owner, 0)
        for kind, payload in [*events, ("done", {"run": run.id})]:
            run._tell(kind, payload)
        return run

    @property
    def done(self) -> bool:
        """Whether the last event is told."""
        return bool(self.told) and self.told[-1].kind == "done"

    def begin(self, events: AsyncIterator[tuple[str, Any]]) -> asyncio.Task[None]:
        """Run the turn, until it ends or is stopped."""
        self._task = asyncio.create_task(self._work(events), name=f"run {self.id}")
        return self._task

    def stop(self, why: str = CLIENT_LEFT) -> None:
        """Cancel what is not done; listeners hear why."""
        self._why = why
        if self._task is not None:
            self._task.cancel()

    async def ended(self) -> None:
        """Wait for the last event."""
        if self._task is not None:
            await asyncio.wait([self._task])

    async def listen(self, after: int = 0) -> AsyncIterator[tuple[int, RunEvent]]:
        """The events with their numbers, from the one after `after` to the last; see `batches`."""
        async with aclosing(self.batches(after)) as batches:
            async for batch in batches:
                for each in batch:
                    yield each

    async def batches(self, after: int = 0) -> AsyncGenerator[list[tuple[int, RunEvent]]]:
        """The events with their numbers, those together that are told by now, as an answer's words are when rules say
        it. When nobody listens any more, and nobody comes back in time, the turn is cancelled."""
        self._listeners += 1
        if self._leaving is not None:
            self._leaving.cancel()
        try:
            number = after
            while True:
                if number < len(self.told):
                    batch = list(enumerate(self.told[number:], number + 1))
                    number = len(self.told)
                    yield batch
                if number < len(self.told):
                    continue
                if self.done:
                    return
                self._changed.clear()
                await self._changed.wait()
        finally:
            self._listeners -= 1
            if not self._listeners and not self.done:
                self._leaving = asyncio.get_running_loop().call_later(self._resume_seconds, self.stop)

    async def _work(self, events: AsyncIterator[tuple[str, Any]]) -> None:
        call_log.set(self.calls)
        try:
            async for kind, payload in events:
                self._tell(kind, payload)
        except NacreError as error:
            self._tell("error", {"message": str(error), "status": error_status(error)})
        except asyncio.CancelledError:
            # the end of the task is the end of the turn: there is nobody else to tell
            self._tell("error", {"message": self._why, "status": 499 if self._why == CLIENT_LEFT else 503})
        except Exception:
            log.exception("a turn broke")
            self._tell("error", {"message": "Nacre broke down on this; its log says why.", "status": 500})
        finally:
            with suppress(asyncio.CancelledError):
                await events.aclose()  # type: ignore[attr-defined]
            self._tell("done", {"run": self.id})

    def _tell(self, kind: str, payload: Any) -> None:
        self.told.append(RunEvent(kind, json.dumps(payload, ensure_ascii=False)))
        self._changed.set()


class Runs:
    """The runs of one process, each known to its owner alone."""

    def __init__(self, resume_seconds: float) -> None:
        self._resume_seconds = resume_seconds
        self._runs: dict[str, Run] = {}
        self._calls: dict[str, tuple[str, list[ModelCall]]] = {}

    def new(self, owner: str, *, resumed: bool = True) -> Run:
        """A run that has not begun. One that nobody can come back to ends as soon as its client leaves."""
        run = Run(owner, self._resume_seconds if resumed else 0)
        self._runs[run.id] = run
        return run

    def begin(self, run: Run, events: AsyncIterator[tuple[str, Any]]) -> None:
        """Begin a run; it is forgotten some time after its end."""
        loop = asyncio.get_running_loop()
        self._calls[run.id] = run.owner, run.calls
        while len(self._calls) > MAX_CALL_LOGS:
            del self._calls[next(iter(self._calls))]
        run.begin(events).add_done_callback(lambda _: loop.call_later(RETENTION_SECONDS, self._runs.pop, run.id, None))

    def calls(self, owner: str, id: str) -> list[ModelCall]:
        """What the models of one of the latest runs were asked; raises Missing."""
        known, calls = self._calls.get(id, ("", []))
        if known != owner:
            raise NotFound("What the models of this turn were asked is no longer remembered. Ask again to see it.")
        return calls

    def get(self, owner: str, id: str) -> Run:
        """A run of an owner; raises Missing."""
        run = self._runs.get(id)
        if run is None or run.owner != owner:
            raise NotFound("There is no such run; it may have ended a while ago. Ask again.")
        return run

    async def close(self, seconds: float) -> None:
        """Let runs end for so long, then cancel the rest."""
        running = [run for run in self._runs.values() if not run.done]
        if not running:
            return
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.gather(*(run.ended() for run in running)), seconds)
        for run in running:
            if not run.done:
                run.stop(SERVER_STOPPING)
        await asyncio.gather(*(run.ended() for run in running))
