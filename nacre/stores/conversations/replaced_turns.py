"""Turns that were replaced, since a client went on from an earlier checkpoint: stored apart, and taken up again."""

import json
from collections.abc import Sequence

from nacre.stores.state.database import StateDatabase
from nacre.stores.state.dialect import StateDialect
from nacre.stores.state.statements import Execute


def has_turns(database: StateDatabase, owner: str, thread: str, ids: Sequence[str]) -> bool:
    """Whether all of these ids are those of records of a thread, of its turns or of replaced ones."""
    id = database.dialect.field("record", "id")
    rows = database.read(
        f"SELECT {id} FROM turn WHERE owner = ? AND thread = ? AND {id} IN (?)"
        " UNION SELECT id FROM replaced_turn WHERE owner = ? AND thread = ? AND id IN (?)",
        *(owner, thread, list(ids)) * 2,
    )
    return {row[0] for row in rows} >= set(ids)


def exchange_turns(run: Execute, dialect: StateDialect, owner: str, thread: str, ids: Sequence[str]) -> None:
    """Make the turns whose records have these ids, in this order, the turns of a thread. Others are stored apart.

    A turn whose id is not known stays what it is.
    """
    id = dialect.field("record", "id")
    run(
        f"INSERT INTO replaced_turn SELECT owner, thread, {id}, at, record FROM turn"
        f" WHERE owner = ? AND thread = ? AND {id} NOT IN (?) AND {id} != ''"
        " ON CONFLICT (owner, thread, id) DO UPDATE SET at = excluded.at, record = excluded.record",
        *(owner, thread, list(ids)),
    )
    sql = "SELECT id, at, record FROM replaced_turn WHERE owner = ? AND thread = ? AND id IN (?)"
    for each, at, text in run(sql, owner, thread, list(ids)).fetchall():
        record = json.loads(text)
        run(
            "INSERT INTO turn VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (owner, thread, turn) DO UPDATE SET"
            " at = excluded.at, run = excluded.run, question = excluded.question, answer = excluded.answer,"
            " record = excluded.record",
            *(owner, thread, ids.index(each) + 1, at, each, record["question"], record["answer"], text),
        )
    run("DELETE FROM replaced_turn WHERE owner = ? AND thread = ? AND id IN (?)", owner, thread, list(ids))
