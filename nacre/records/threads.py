"""Run blocking work in a thread: function + arguments -> its result; `Deadline` and `CancelToken` say when to end.
Threads can't be cancelled: work whose caller has left is noted, and the caller's slot ends with the work. `FairQueue`
says whose work is next. Garbage is collected less often; objects loaded at startup never, in less time."""

import asyncio
import gc
import os
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Hashable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar, copy_context
from functools import lru_cache, partial, wraps
from importlib.util import find_spec, module_from_spec
from threading import Lock, RLock
from types import ModuleType
from typing import Any, Generic, NamedTuple, ParamSpec, Protocol, TypeVar
from weakref import WeakValueDictionary

P = ParamSpec("P")
T = TypeVar("T")
W = TypeVar("W", bound="Waiting")

# the work is bound to the processor: more threads would only wait for each other
MAX_THREADS = 8

# a pool of its own: file access in the default pool must not wait for the processor
_POOL = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="nacre-work")


async def run_in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """`function(*args, **kwargs)`, run in a thread; if the caller is cancelled, `cancel_token` tells the work."""
    token, context = CancelToken(), copy_context()
    context.run(cancel_token.set, token)
    running = _POOL.submit(context.run, partial(function, *args, **kwargs))
    try:
        return await asyncio.wrap_future(running)
    except asyncio.CancelledError:
        token.over = True
        note_unfinished(running)
        raise


# on a busy machine a thread waits longer than it works; the clock limit is this many times the processor limit
CLOCK_FACTOR = 3.0


class Deadline(NamedTuple):
    """A limit of processor time, so that a busy machine gives the same answers as an idle one, and a limit of clock
    time.

    Reading the thread's processor time takes ten times as long as reading the clock. A thread can't have worked for
    longer than the clock ran, so the processor time is only read after `earliest`.
    """

    processor: float
    clock: float
    earliest: float

    def is_over(self) -> bool:
        """Whether the thread that started the deadline should stop."""
        now = time.monotonic()
        return now >= self.earliest and (now >= self.clock or time.thread_time() >= self.processor)


def start_deadline(seconds: float) -> Deadline:
    """The deadline of work that begins now and may take `seconds` of this thread's processor time.

    >>> start_deadline(60).is_over(), start_deadline(0).is_over()
    (False, True)
    """
    now = time.monotonic()
    return Deadline(time.thread_time() + seconds, now + seconds * CLOCK_FACTOR, now + seconds)


class WorkCancelled(Exception):
    """The caller no longer waits; the work ends without a result."""


class CancelToken:
    """One piece of work with a waiting caller. Any thread may set `over` when the caller stops waiting."""

    def __init__(self) -> None:
        self.over = False


cancel_token: ContextVar[CancelToken | None] = ContextVar("cancel_token", default=None)


def is_cancelled() -> bool:
    """Whether the caller of this thread's work no longer waits; False if no token is set."""
    token = cancel_token.get()
    return token is not None and token.over


def raise_if_cancelled() -> None:
    """Raise WorkCancelled if the caller no longer waits. Long loops call it once an iteration."""
    if is_cancelled():
        raise WorkCancelled


# work that goes on although its caller does not wait for it, in the order in which it was noted
unfinished_work: ContextVar[list["Future[Any]"] | None] = ContextVar("unfinished_work", default=None)


def note_unfinished(work: "Future[Any]") -> None:
    """Note work that is not done and that nobody waits for; without effect if nobody keeps account."""
    noted = unfinished_work.get()
    if noted is not None and not work.done():
        noted.append(work)


# for whom this thread works, if others may wait meanwhile: such an owner holds no more than a share of anything
work_owner: ContextVar[str | None] = ContextVar("work_owner", default=None)


def default_share(slots: int) -> int:
    """How many of the slots one owner may hold: all but a quarter, at least one.

    >>> [default_share(slots) for slots in (1, 2, 8)]
    [1, 1, 6]
    """
    return max(1, slots - max(1, slots // 4))


class Waiting(Protocol):
    """What waits for a slot: a future."""

    def cancelled(self) -> bool:
        """Whether nobody needs the slot any more."""


class FairQueue(Generic[W]):
    """Futures that wait for slots, each for an owner; none holds all slots. Owners are served in turn, each owner's in
    order of arrival. For one thread at a time."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self._free = slots
        self._held: Counter[str] = Counter()
        self._waiting: dict[str, deque[tuple[W, int]]] = {}
        # when an owner that holds a slot or waits was last given one
        self._last_grant: dict[str, int] = {}
        self._grants = 0

    def put(self, owner: str, waiting: W, share: int) -> None:
        """Let it wait until `take` gives it a slot; the owner holds at most `share` at the same time."""
        self._waiting.setdefault(owner, deque()).append((waiting, share))

    def take(self) -> tuple[str, W] | None:
        """Who gets a slot now, if one is free: the owner who was given one the longest ago, until `leave`."""
        for owner, queue in list(self._waiting.items()):
            # whether or not those who were cancelled have noticed it yet
            self._waiting[owner] = deque(each for each in queue if not each[0].cancelled())
            self._forget_idle(owner)
        allowed = [owner for owner, queue in self._waiting.items() if self._held[owner] < queue[0][1]]
        if not self._free or not allowed:
            return None
        owner = min(allowed, key=lambda each: self._last_grant.get(each, -1))
        waiting, _ = self._waiting[owner].popleft()
        self._held[owner] += 1
        self._free -= 1
        self._grants += 1
        self._last_grant[owner] = self._grants
        self._forget_idle(owner)
        return owner, waiting

    def leave(self, owner: str) -> None:
        """Give a slot back."""
        self._held[owner] -= 1
        self._free += 1
        self._forget_idle(owner)

    def waiting(self) -> list[W]:
        """All that wait."""
        return [each for queue in self._waiting.values() for each, _ in queue]

    def _forget_idle(self, owner: str) -> None:
        if not self._waiting.get(owner):
            self._waiting.pop(owner, None)
            if not self._held[owner]:
                del self._held[owner]
                self._last_grant.pop(owner, None)


class FairSemaphore:
    """A semaphore for threads that is shared fairly between the owners of their work."""

    def __init__(self, slots: int) -> None:
        self._queue: FairQueue[Future[None]] = FairQueue(slots)
        self._lock = threading.Lock()

    def acquire(self, timeout: float) -> bool:
        """Whether a slot was given to the owner of this thread's work within so many seconds."""
        owner, waiting, slots = work_owner.get(), Future[None](), self._queue.slots
        with self._lock:
            self._queue.put(owner or "", waiting, slots if owner is None else default_share(slots))
            self._grant()
        try:
            waiting.result(timeout)
        except TimeoutError:
            with self._lock:
                # unless it was given in this moment
                return not waiting.cancel()
        return True

    def release(self) -> None:
        """Give the slot back, for the owner who acquired it."""
        with self._lock:
            self._queue.leave(work_owner.get() or "")
            self._grant()

    def _grant(self) -> None:
        while (following := self._queue.take()) is not None:
            following[1].set_result(None)


@contextmanager
def collection_paused() -> Iterator[None]:
    """Pause garbage collection while many lasting objects are made: it would scan them again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def compute_once(size: int) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Cache the `size` last results of a function by its arguments; unlike with `lru_cache`, other threads wait for the
    first. A result whose caller no longer waits may be incomplete, and is not cached."""

    def decorate(function: Callable[..., T]) -> Callable[..., T]:
        @lru_cache(size)
        @wraps(function)
        def cached(*arguments: Hashable) -> T:
            with collection_paused():
                result = function(*arguments)
            raise_if_cancelled()
            return result

        # a lock for the arguments of each call
        locks: WeakValueDictionary[Hashable, RLock] = WeakValueDictionary()
        lock = Lock()

        def compute(*arguments: Hashable) -> T:
            with lock:
                own = locks.setdefault(arguments, RLock())
            with own:
                return cached(*arguments)

        return compute

    return decorate


class FairSlots:
    """A number of slots, for one event loop."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self._queue: FairQueue[asyncio.Future[None]] = FairQueue(slots)
        # tasks that wait for the end of work whose caller has left
        self._leaving: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def hold(self, owner: str, share: int | None = None) -> AsyncIterator[None]:
        """Wait for a slot and hold it until the block and its unfinished work have ended; the owner holds at most
        `share` at the same time, and less than all of the processes that work for the block unless it is all slots."""
        share = default_share(self.slots) if share is None else share
        granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.put(owner, granted, share)
        self._grant()
        noted: list[Future[Any]] = []
        before = unfinished_work.get(), work_owner.get()
        unfinished_work.set(noted)
        work_owner.set(owner if share < self.slots else None)
        try:
            await granted
            yield
        finally:
            unfinished_work.set(before[0])
            work_owner.set(before[1])
            if unfinished := [work for work in noted if not work.done()]:
                leaving = asyncio.create_task(self._leave_after(owner, granted, unfinished))
                self._leaving.add(leaving)
                leaving.add_done_callback(self._leaving.discard)
            else:
                self._leave(owner, granted)

    def _grant(self) -> None:
        while (following := self._queue.take()) is not None:
            following[1].set_result(None)

    async def _leave_after(self, owner: str, granted: asyncio.Future[None], unfinished: list[Future[Any]]) -> None:
        await asyncio.gather(*map(asyncio.wrap_future, unfinished), return_exceptions=True)
        self._leave(owner, granted)

    def _leave(self, owner: str, granted: asyncio.Future[None]) -> None:
        if granted.done() and not granted.cancelled():
            self._queue.leave(owner)
        self._grant()


# thresholds of the three generations; with Python's defaults (700, 10, 10) collection took a tenth of a turn's CPU time
YOUNG, MIDDLE, OLD = 20_000, 20, 50


class _UnusedPackage(ModuleType):
    """A package whose own module runs when one of its names is used; modules inside it can be imported before."""

    def __getattr__(self, name: str) -> Any:
        spec = self.__spec__
        if name.startswith("__") or spec is None or spec.loader is None:
            raise AttributeError(name)
        object.__setattr__(self, "__class__", ModuleType)
        spec.loader.exec_module(self)
        return getattr(self, name)


@contextmanager
def fast_imports() -> Iterator[None]:
    """Import packages in two thirds of the CPU time.

    Garbage collection is paused, and imported objects are exempt from it afterwards. Models of pydantic are built at
    their first use, which for most never comes, and without plugins, for which all installed packages are searched.
    So is the client of LangGraph's servers, of whose package LangGraph uses the names of types.
    """
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    if "langgraph_sdk" not in sys.modules and (spec := find_spec("langgraph_sdk")) is not None:
        sys.modules["langgraph_sdk"] = package = module_from_spec(spec)
        package.__class__ = _UnusedPackage
    from pydantic import BaseModel

    gc.disable()
    BaseModel.model_config["defer_build"] = True
    try:
        yield
    finally:
        BaseModel.model_config.pop("defer_build", None)
        relax_collection()
        gc.enable()


def relax_collection() -> None:
    """Exempt all present objects from collection, and collect later ones less often."""
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE, OLD)
