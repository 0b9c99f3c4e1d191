"""Take the graphs of the store before a command, and publish what it changed: command -> the block around it."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# commands that need no graph, or that follow the store themselves
WITHOUT = ("serve", "keys", "model", "doctor", "migrate")
# how long another command may write the graph
WAIT_SECONDS = 10.0


@contextmanager
def shared_graphs(command: str) -> Iterator[None]:
    """If NACRE_GRAPHS is set, the graphs of the store are here in the block; after it, changes are published. Raises
    ConfigError if the store can't be used."""
    if command in WITHOUT or command.startswith("-") or not _may_be_set():
        yield
        return
    from nacre.config.settings import Settings

    settings = Settings()
    if settings.graphs is None:
        yield
        return
    from nacre.stores.published.follow import follow_store
    from nacre.stores.published.store import GraphStore

    store = GraphStore(settings.graphs, settings.graphs_hosts)
    follow_store(store, settings.data, WAIT_SECONDS)
    yield
    if published := follow_store(store, settings.data, WAIT_SECONDS):
        sys.stderr.write(f"Published for all servers: {', '.join(published)}\n")


def _may_be_set() -> bool:
    # reading the settings takes a moment, which most calls do without
    return "NACRE_GRAPHS" in os.environ or Path(".env").exists()
