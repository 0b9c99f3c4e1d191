"""Runs that clients can follow, resume and cancel through any server: Runs + RunStates -> SharedRuns.

A server writes the events of its runs to the database a moment after they happen. Another one that is asked for such a
run follows it there, and hands on the wish to cancel it.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal, TypeVar, cast

from nacre.serving.errors import NotFound
from nacre.serving.keys import Caller
from nacre.serving.runs import CLIENT_LEFT, Run, RunEvent, Runs
from nacre.stores.state.database import StorageError
from nacre.stores.state.run_states import RunStates, StoredRun

log = logging.getLogger(__name__)

# how often a server writes events and looks for wishes: while runs are active, and else
ACTIVE_SECONDS, IDLE_SECONDS = 0.1, 0.5
# how often a follower looks for events, and for the server of the run
FOLLOW_SECONDS, ALIVE_SECONDS = 0.1, 1.0
CLEAN_SECONDS = 30.0
# a run that has just begun may not be written yet
RETRY_SECONDS = 0.3
LOST = "The server that answered this question has stopped. Ask again."

T = TypeVar("T")
Call = Callable[..., Any]


class SharedRuns(Runs):
    """The runs of this process and, through the database, those of other servers."""

    def __init__(self, resume_seconds: float, states: RunStates) -> None:
        super().__init__(resume_seconds)
        self._states = states
        self._written: dict[str, int] = {}
        self._begun = asyncio.Event()
        # a thread of its own: turns that compute must not delay it
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="nacre-runs")
        self._followers = ThreadPoolExecutor(4, thread_name_prefix="nacre-followed-runs")
        self._is_failing = False

    def start(self, run: Run, events: Any) -> None:
        super().start(run, events)
        self._begun.set()

    async def find(self, caller: Caller, id: str) -> Run:
        local = self._runs.get(id)
        if local is not None:
            return self.get(caller, id)
        stored = await self._ask(self._states.find, id)
        if stored is None:
            await asyncio.sleep(RETRY_SECONDS)
            stored = await self._ask(self._states.find, id)
        if stored is None or stored.owner != caller.owner or not caller.may_read(stored.graph):
            raise NotFound("This run does not exist or ended a while ago. Ask again.")
        events = await self._ask(self._states.events, id, 0)
        return FollowedRun(stored, [RunEvent(*event) for event in events], self._states, self._ask)

    async def running(self, caller: Caller, thread: str | None = None) -> list[Run]:
        stored = await self._ask(self._states.active, caller.owner)
        remote = [each for each in stored if each.id not in self._runs and thread in (None, each.thread)]
        followed: list[Run] = [FollowedRun(each, [], self._states, self._ask) for each in remote]
        return [*self.active(caller, thread), *followed]

    async def share(self) -> None:
        """Write the events of this process's runs, and do what other servers want of them, until it is cancelled."""
        loop = asyncio.get_running_loop()
        cleaned = loop.time()
        while True:
            self._begun.clear()
            try:
                await self._share_once()
                if loop.time() - cleaned > CLEAN_SECONDS:
                    cleaned = loop.time()
                    await loop.run_in_executor(self._pool, self._states.remove_old)
                self._is_failing = False
            except StorageError as error:
                if not self._is_failing:
                    log.warning("other servers can't see the runs of this one: %s", error)
                self._is_failing = True
            seconds = ACTIVE_SECONDS if any(not run.is_done for run in self._runs.values()) else IDLE_SECONDS
            # not asyncio.wait_for: in Python 3.11 it swallows a cancellation that comes with the event
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._begun.wait()

    async def close(self, seconds: float) -> None:
        await super().close(seconds)
        try:
            await self._share_once()
            await asyncio.get_running_loop().run_in_executor(self._pool, self._states.close)
        except StorageError as error:
            log.warning("the end of the runs is not stored: %s", error)

    async def _share_once(self) -> None:
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._pool, self._states.stay_alive)
        changed = []
        for run in list(self._runs.values()):
            number = self._written.get(run.id)
            if number is None or number < len(run.events):
                new = [(event.kind, event.data) for event in run.events[number or 0 :]]
                changed.append((_stored(run), number or 0, new))
        if changed:
            await loop.run_in_executor(self._pool, self._states.save, changed)
            self._written |= {run.id: number + len(new) for run, number, new in changed}
        self._written = {id: number for id, number in self._written.items() if id in self._runs}
        if any(not run.is_done for run in self._runs.values()):
            wishes = await loop.run_in_executor(self._pool, self._states.wishes)
            for id, wish in wishes.items():
                if (local := self._runs.get(id)) is not None:
                    if wish.is_followed:
                        local.keep_alive()
                    if wish.stop is not None:
                        local.stop(wish.stop)

    async def _ask(self, call: Callable[..., T], *given: object) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._followers, call, *given)


class FollowedRun(Run):
    """A run of another server: its events come from the database. It follows them once somebody listens or waits."""

    def __init__(self, stored: StoredRun, events: list[RunEvent], states: RunStates, ask: Call) -> None:
        # when its last client leaves, this server stops following; the other one decides about the turn
        super().__init__(stored.owner, stored.graph, 0, stored.thread)
        self.id, self.created = stored.id, stored.created
        self.events = events
        self._stored = stored
        self._states, self._ask = states, ask
        self._stopping: asyncio.Task[None] | None = None

    @property
    def is_lasting(self) -> bool:
        return self._stored.lasting

    @property
    def status(self) -> Literal["pending", "running", "success", "error", "cancelled"]:
        if self.is_done and self.is_cancelled:
            return "cancelled"
        # the state may have been read before the events that follow it
        is_begun = self._stored.status == "pending" and self.events
        return "running" if is_begun else cast(Any, self._stored.status)

    def stop(self, why: str = CLIENT_LEFT) -> None:
        if why == CLIENT_LEFT:
            super().stop(why)
        elif self._stopping is None:
            self._stopping = asyncio.ensure_future(self._ask(self._states.request_stop, self.id, why))

    async def wait(self) -> None:
        self._begin()
        if self._stopping is not None:
            await self._stopping
        await super().wait()

    async def batches(self, after: int = 0) -> AsyncGenerator[list[tuple[int, RunEvent]]]:
        self._begin()
        async for batch in super().batches(after):
            yield batch

    def _begin(self) -> None:
        if self._task is None and not self.is_done:
            self._task = asyncio.create_task(self._follow(), name=f"followed run {self.id}")

    async def _follow(self) -> None:
        loop = asyncio.get_running_loop()
        looked = loop.time() - ALIVE_SECONDS
        while not self.is_done:
            try:
                is_alive = True
                if loop.time() - looked >= ALIVE_SECONDS:
                    looked = loop.time()
                    await self._ask(self._states.note_follower, self.id)
                    is_alive = await self._ask(self._states.is_alive, self._stored.server)
                # whatever a server wrote before it died is there now
                new = await self._ask(self._states.events, self.id, len(self.events))
                if self.is_done or not (new or is_alive):
                    self._end()
                self.events += [RunEvent(*event) for event in new]
                if new:
                    self._changed.set()
                if self.is_done:
                    self._stored = await self._ask(self._states.find, self.id) or self._stored
                    self.is_cancelled = self._stored.status == "cancelled"
            except StorageError as error:
                log.warning("run %s can't be followed: %s", self.id, error)
                self._end()
            await asyncio.sleep(FOLLOW_SECONDS)

    def _end(self) -> None:
        self._publish("error", {"message": LOST, "status": 503})
        self._publish("done", {"run": self.id})


def _stored(run: Run) -> StoredRun:
    return StoredRun(run.id, run.owner, run.graph, run.thread, "", run.created, run.is_lasting, run.status, run.is_done)
