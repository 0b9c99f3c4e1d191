"""Which threads are old: the clock and the time that servers have run -> a time that a wrong clock cannot move far."""

import asyncio
import logging
import time
from collections.abc import Callable

from agents.run_in_thread import run_in_thread
from nacre.serving.conversations.threads import Threads
from nacre.stores.conversations.conversations import Conversations, ConversationStoreError
from nacre.stores.conversations.shared_answers import SharedAnswerStore

log = logging.getLogger(__name__)

DAY = 86_400.0
CHECK_SECONDS = 3600.0
# checks in the time that threads are kept, if that is shorter
CHECKS = 4
# after a stop, the observed time comes back to the clock at this multiple of the time that passes (given)
CATCH_UP = 2.0


class ObservedTime:
    """The time that servers of a data folder have seen pass, stored with its conversations.

    It is never later than the clock, and it advances at most twice as fast as the monotonic clock of a running server.
    """

    def __init__(
        self,
        conversations: Conversations,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._conversations = conversations
        self._clock, self._monotonic = clock, monotonic
        # the stored time at the last look, and when that was
        self._last: tuple[float, float] | None = None

    def advance(self) -> float:
        """Store how far the time has come, and return it, in seconds since 1970."""
        clock, now = self._clock(), self._monotonic()
        stored = self._conversations.observed_time()
        if stored is None:
            stored = min(clock, self._conversations.last_change() or clock)
        before, at = self._last or (stored, now)
        observed = max(stored, min(clock, before + CATCH_UP * (now - at)))
        self._conversations.observe_time(observed)
        self._last = observed, now
        return min(observed, clock)


async def delete_untouched_threads(threads: Threads, days: float) -> None:
    """Delete threads that were not used for `days`, again and again; with 0 only observe the time. Shared answers are
    deleted once they have expired."""
    observed, shared = ObservedTime(threads.conversations), SharedAnswerStore(threads.conversations)
    while True:
        try:
            now = await run_in_thread(observed.advance)
            await run_in_thread(shared.delete_expired)
            if days:
                deleted = await threads.delete_untouched(now - days * DAY)
                log.info("deleted %d threads that were not used for %g days", deleted, days)
        except ConversationStoreError as error:
            log.warning("old threads can't be deleted now: %s", error)
        await asyncio.sleep(min(CHECK_SECONDS, days * DAY / CHECKS or CHECK_SECONDS))
