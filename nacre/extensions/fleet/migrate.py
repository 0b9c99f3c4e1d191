"""Move what a data folder stores about its users to a database: folder + StateDatabase -> Moved, by tables.

Rows that are there already stay, so a move that was interrupted is run again. It ends with a comparison of counts.
"""

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from nacre.errors import ConfigError
from nacre.extensions.fleet.shared_state import SharedKeyStore
from nacre.records.threads import run_in_thread
from nacre.serving.keys import KeyStore
from nacre.stores.state.checkpoints import OrderedSaver, OrderedSqliteSaver
from nacre.stores.state.conversations import Conversations
from nacre.stores.state.database import StateDatabase, json_text
from nacre.stores.state.verified_questions import MAX_LISTED, VerifiedQuestionStore

# tables of conversations, their key columns, and their columns of JSON
TABLES: dict[str, tuple[tuple[str, ...], str]] = {
    "conversation": (("owner", "thread"), ""),
    "turn": (("owner", "thread", "turn"), "record"),
    "feedback": (("owner", "thread", "turn"), ""),
    "replaced_turn": (("owner", "thread", "id"), "record"),
    "thread_metadata": (("owner", "thread"), "metadata"),
    "observed": (("id",), ""),
    "shared_answer": (("hash",), "record"),
}

BATCH = 200


@dataclass(frozen=True)
class Moved:
    """A table: its rows in the data folder, and how many of them are in the database now."""

    table: str
    here: int
    there: int


def move_keys(data: Path, database: StateDatabase) -> Moved:
    """Copy the keys; those that the database has under the same name stay. Raises ConfigError."""
    keys, store = KeyStore(data).all(), SharedKeyStore(database)
    store.add_stored(keys)
    names = {key.name for key in store.all()}
    return Moved("keys", len(keys), sum(key.name in names for key in keys))


def move_conversations(file: Path, conversations: Conversations) -> list[Moved]:
    """Copy threads, turns and feedback from a file of SQLite. Raises StorageError."""
    database, moved = conversations.database, []
    # tables that an earlier version did not have are created
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as source:
        present = {row[0] for row in source.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        for table, (keys, json_column) in TABLES.items():
            if table not in present:
                continue
            found = 0
            here = source.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            rows = source.execute(f"SELECT * FROM {table}")
            columns = [column[0] for column in rows.description]
            sql = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
            while batch := rows.fetchmany(BATCH):
                with database.writing() as run:
                    for row in batch:
                        named = zip(columns, row, strict=True)
                        # JSON that every database reads
                        cells = [json_text(json.loads(cell)) if name == json_column else cell for name, cell in named]
                        run(f"{sql} ON CONFLICT ({', '.join(keys)}) DO NOTHING", *cells)
                found += _count(database, table, keys, columns, batch)
            moved.append(Moved(table, int(here), found))
    return moved


def move_verified_questions(here: VerifiedQuestionStore, there: VerifiedQuestionStore) -> Moved:
    """Copy verified questions, the earliest first. Raises StorageError."""
    found = arrived = 0
    for graph in here.graphs():
        entries = [
            entry
            for skip in range(0, here.count(graph), MAX_LISTED)
            for entry in here.listed(graph, limit=MAX_LISTED, skip=skip)
        ]
        for entry in reversed(entries):
            if not any(each.by == entry.by for each in there.entries(graph, entry.id)):
                there.add(graph, entry)
        known, version = here.known_graph(graph), here.known_version(graph)
        if known is not None and version is not None and there.known_version(graph) is None:
            there.note_graph(graph, version, *known)
        found += len(entries)
        arrived += min(there.count(graph), len(entries))
    return Moved("verified", found, arrived)


def move_calibrations(here: VerifiedQuestionStore, there: VerifiedQuestionStore) -> Moved:
    """Copy what verified questions say of the probabilities of graphs. Raises StorageError."""
    graphs = here.calibrated_graphs()
    for graph in graphs:
        known = here.calibration(graph)
        if known is not None and there.calibration(graph) is None:
            there.store_calibration(graph, known)
    return Moved("calibration", len(graphs), sum(there.calibration(graph) is not None for graph in graphs))


async def move_checkpoints(file: Path, saver: OrderedSaver, written: StateDatabase) -> Moved:
    """Copy the checkpoints of a file in the order in which they were written. Raises StorageError."""
    async with OrderedSqliteSaver.from_conn_string(str(file)) as source:
        places = await _places(source)
        there = 0
        for thread, id in places:
            config: Any = {"configurable": {"thread_id": thread, "checkpoint_ns": "", "checkpoint_id": id}}
            if await saver.aget_tuple(config) is None:
                stored = await source.aget_tuple(config)
                if stored is None:
                    continue
                parent = (stored.parent_config or {}).get("configurable", {}).get("checkpoint_id")
                target: Any = {"configurable": {"thread_id": thread, "checkpoint_ns": "", "checkpoint_id": parent}}
                versions = stored.checkpoint["channel_versions"]
                await saver.aput(target, stored.checkpoint, stored.metadata, versions)
            there += 1
    sql = "SELECT count(*) FROM checkpoints WHERE thread_id IN (?)"
    threads = sorted({thread for thread, _ in places})
    counted = 0
    for start in range(0, len(threads), BATCH):
        counted += int((await run_in_thread(written.read, sql, threads[start : start + BATCH]))[0][0])
    return Moved("checkpoints", len(places), min(there, counted))


async def _places(source: AsyncSqliteSaver) -> list[tuple[str, str]]:
    await source.setup()
    sql = "SELECT thread_id, checkpoint_id FROM checkpoints WHERE checkpoint_ns = '' ORDER BY rowid"
    async with source.conn.execute(sql) as rows:
        return [(row[0], row[1]) async for row in rows]


def _count(
    database: StateDatabase, table: str, keys: Sequence[str], columns: Sequence[str], rows: Sequence[Sequence[Any]]
) -> int:
    """How many of these rows the database has."""
    condition = " AND ".join(f"{key} = ?" for key in keys)
    places = [columns.index(key) for key in keys]
    sql = f"SELECT count(*) FROM {table} WHERE {' OR '.join([f'({condition})'] * len(rows))}"
    return int(database.read(sql, *(row[place] for row in rows for place in places))[0][0])


def check_moved(moved: Sequence[Moved]) -> None:
    """Raise ConfigError if a row of the folder is not in the database."""
    if lacking := [each for each in moved if each.there < each.here]:
        named = ", ".join(f"{each.table} {each.there:,} of {each.here:,}" for each in lacking)
        raise ConfigError(
            f"Not everything is in the database: {named}. Stop the servers of this folder and run it again."
        )
