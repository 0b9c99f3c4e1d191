"""Work that is done to its end even if its client disconnects meanwhile: coroutine -> its result."""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

log = logging.getLogger(__name__)

T = TypeVar("T")


async def complete(work: Coroutine[Any, Any, T]) -> T:
    """The result of work that no cancellation interrupts; CancelledError is raised after it.

    Frameworks cancel each wait of a task whose client has disconnected, not only the first one, so `asyncio.shield`
    alone would let the task go on before the work is done.
    """
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is None:
        return task.result()
    if not task.cancelled() and (why := task.exception()) is not None:
        log.warning("a turn whose client disconnected is not stored: %s", why)
    raise cancelled
