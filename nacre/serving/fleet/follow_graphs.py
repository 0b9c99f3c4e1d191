"""Keep the graphs of this machine and of the store the same while a server runs: address + data folder -> a task."""

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from nacre.errors import ConfigError
from nacre.stores.published.follow import follow_store
from nacre.stores.published.store import GraphStore

log = logging.getLogger(__name__)

# a version is on all servers within 5 s (given), if it can be copied in that time
FOLLOW_SECONDS = 1.0


class FollowedGraphs:
    """What a server takes from a store of graphs and publishes there. `problem` says what fails at present; else ""."""

    def __init__(self, address: str, data: Path, hosts: str = "") -> None:
        self.problem = ""
        self._address, self._data, self._hosts = address, data, hosts
        self._store: GraphStore | None = None

    async def follow(self) -> None:
        """Fetch what others publish, and publish what changes here, until it is cancelled."""
        loop = asyncio.get_running_loop()
        # a thread of its own, since fetching a large graph takes a while
        with ThreadPoolExecutor(1, thread_name_prefix="nacre-graphs") as pool:
            while True:
                try:
                    changed = await loop.run_in_executor(pool, self._follow_once)
                    if changed:
                        log.info("graphs that were fetched or published: %s", ", ".join(changed))
                    self.problem = ""
                except ConfigError as error:
                    if not self.problem:
                        log.warning("%s The graphs stay as they are here until it answers.", error)
                    self.problem = "the store of graphs (NACRE_GRAPHS) can't be used, so graphs stay as they are here"
                await asyncio.sleep(FOLLOW_SECONDS)

    def _follow_once(self) -> list[str]:
        if self._store is None:
            self._store = GraphStore(self._address, self._hosts)
        return follow_store(self._store, self._data)
