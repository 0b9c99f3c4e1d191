"""Turns that were replaced, since a client went on from an earlier checkpoint: stored apart, and taken up again."""

import json
from collections.abc import Callable, Sequence

# runs a statement with its parameters, within a transaction
Execute = Callable[..., None]

REPLACED_SCHEMA = """
CREATE TABLE IF NOT EXISTS replaced_turn (
    owner TEXT NOT NULL, thread TEXT NOT NULL, id TEXT NOT NULL, at REAL NOT NULL, record TEXT NOT NULL,
    PRIMARY KEY (owner, thread, id)
);
"""
# those of the given ids that are neither turns of a thread nor replaced ones
UNKNOWN_TURNS = (
    "SELECT value FROM json_each(?) WHERE value NOT IN (SELECT json_extract(record, '$.id') FROM turn"
    " WHERE owner = ? AND thread = ?) AND value NOT IN (SELECT id FROM replaced_turn WHERE owner = ? AND thread = ?)"
)
_REPLACED = "json_extract(record, '$.id') NOT IN (SELECT value FROM json_each(?))"


def exchange_turns(run: Execute, owner: str, thread: str, ids: Sequence[str]) -> None:
    """Make the turns whose records have these ids, in this order, the turns of a thread. Others are stored apart.

    A turn whose id is not known stays what it is.
    """
    listed = json.dumps(ids)
    run(
        "INSERT OR REPLACE INTO replaced_turn SELECT owner, thread, json_extract(record, '$.id'), at, record FROM turn"
        f" WHERE owner = ? AND thread = ? AND {_REPLACED} AND json_extract(record, '$.id') != ''",
        *(owner, thread, listed),
    )
    run(
        "INSERT OR REPLACE INTO turn SELECT owner, thread, 1 + ids.key, at, r.id, json_extract(record, '$.question'),"
        " json_extract(record, '$.answer'), record FROM json_each(?) ids JOIN replaced_turn r ON r.id = ids.value"
        " WHERE owner = ? AND thread = ?",
        *(listed, owner, thread),
    )
    run(
        "DELETE FROM replaced_turn WHERE owner = ? AND thread = ? AND id IN (SELECT value FROM json_each(?))",
        *(owner, thread, listed),
    )
