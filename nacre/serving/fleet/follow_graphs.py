"""Keep the graphs of this machine and of the store the same while a server runs: address + data folder -> a task."""

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from nacre.stores.published.follow import follow_store
from nacre.stores.published.store import GraphStore, StoreUnavailable

log = logging.getLogger(__name__)

# a version is on all servers within 5 s (given), if it can be copied in that time
FOLLOW_SECONDS = 1.0


async def follow_graphs(address: str, data: Path) -> None:
    """Fetch what others publish, and publish what changes here, until it is cancelled."""
    loop = asyncio.get_running_loop()
    # a thread of its own, since fetching a large graph takes a while
    with ThreadPoolExecutor(1, thread_name_prefix="nacre-graphs") as pool:
        store = await loop.run_in_executor(pool, GraphStore, address)
        is_failing = False
        while True:
            try:
                changed = await loop.run_in_executor(pool, follow_store, store, data)
                if changed:
                    log.info("graphs that were fetched or published: %s", ", ".join(changed))
                is_failing = False
            except StoreUnavailable as error:
                if not is_failing:
                    log.warning("%s The graphs stay as they are here until it answers.", error)
                is_failing = True
            await asyncio.sleep(FOLLOW_SECONDS)
