"""`nacre migrate`: conversations, verified questions and keys of the data folder -> a database that servers share.

Around every command, the graphs of the store are taken before it, and what it changed is published.
"""

import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nacre.serving.cli.turn_display import print_line

if TYPE_CHECKING:
    from nacre.config.settings import Settings
    from nacre.extensions.fleet.migrate import Moved


def migrate(
    url: Annotated[
        str | None, typer.Argument(metavar="[URL]", help="postgresql://USER@HOST/NAME; NACRE_DATABASE_URL by default.")
    ] = None,
) -> None:
    """Copy conversations, verified questions and keys to a database that several servers share. Stop the servers of the
    data folder first. The folder stays as it is. It can be interrupted and run again."""
    from pydantic import SecretStr

    from graph.builder import load_settings
    from nacre.errors import ConfigError
    from nacre.stores.state.database import parse_url

    settings = load_settings()
    if url is not None:
        if parse_url(url).password is not None:
            raise ConfigError(
                "The address has a password, which other users of this machine can see. Set NACRE_DATABASE_URL to the"
                " address and run: nacre migrate"
            )
        settings = settings.model_copy(update={"database_url": SecretStr(url)})
    if settings.database_url is None:
        raise ConfigError("Where to? Run: nacre migrate postgresql://USER@HOST/NAME, or set NACRE_DATABASE_URL.")
    moved = asyncio.run(_move(settings))
    for each in moved:
        print_line(f"{each.table:<16} {each.there:>9,} of {each.here:,}")
    print_line("All is in the database. Set NACRE_DATABASE_URL for all servers, and start them.")


async def _move(settings: "Settings") -> "list[Moved]":
    from graph.builder import THREADS, compose, open_persistent_app
    from nacre.extensions.fleet import migrate as moving
    from nacre.records.threads import run_in_thread
    from nacre.stores.state.verified_questions import FILE as VERIFIED_FILE
    from nacre.stores.state.verified_questions import VerifiedQuestionStore

    file, composition = settings.data / THREADS, compose(settings)
    async with open_persistent_app(composition) as shared:
        database = shared.conversations.database
        moved = [await run_in_thread(moving.move_keys, settings.data, database)]
        if file.is_file():
            moved += await run_in_thread(moving.move_conversations, file, shared.conversations)
            moved.append(await moving.move_checkpoints(file, shared.saver, database))
        verified = VerifiedQuestionStore(settings.data / VERIFIED_FILE)
        for move in (moving.move_verified_questions, moving.move_calibrations):
            moved.append(await run_in_thread(move, verified, composition.library.verified))
        moving.check_moved(moved)
        await run_in_thread(verified.close)
        await run_in_thread(composition.library.close)
    return moved


# commands that need no graph, or that follow the store themselves
WITHOUT = ("serve", "keys", "model", "doctor", "migrate")

# how long another command may write the graph
WAIT_SECONDS = 10.0


@contextmanager
def shared_graphs(command: str) -> Iterator[None]:
    """If NACRE_GRAPHS is set, the graphs of the store are here in the block; after it, changes are published. Raises
    ConfigError if the store can't be used."""
    settings = None
    # reading the settings takes a moment, which most calls do without
    if not (command in WITHOUT or command.startswith("-")) and ("NACRE_GRAPHS" in os.environ or Path(".env").exists()):
        from nacre.config.settings import Settings

        settings = Settings()
    if settings is None or settings.graphs is None:
        yield
        return
    from nacre.extensions.fleet.graph_store import GraphStore, follow_store, unpublished_graphs

    store = GraphStore(settings.graphs, settings.graphs_hosts)
    new = unpublished_graphs(settings.data)
    published = [name for name in follow_store(store, settings.data, WAIT_SECONDS) if name in new]
    yield
    published += follow_store(store, settings.data, WAIT_SECONDS)
    if published:
        sys.stderr.write(f"Published for all servers: {', '.join(dict.fromkeys(published))}\n")
