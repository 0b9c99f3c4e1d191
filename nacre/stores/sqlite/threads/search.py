"""A filter for threads -> the condition, order and limit of a statement that lists them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Scalar = str | int | float | bool | None

METADATA_SCHEMA = """
CREATE TABLE IF NOT EXISTS thread_metadata (
    owner TEXT NOT NULL, thread TEXT NOT NULL, metadata TEXT NOT NULL, PRIMARY KEY (owner, thread)
);
"""
# whether the last turn of a thread asked which of several readings was meant
_WAITS = (
    "coalesce((SELECT json_extract(record, '$.status') = 'clarify' AND json_array_length(record, '$.options') > 0"
    " FROM turn t WHERE t.owner = c.owner AND t.thread = c.thread ORDER BY t.turn DESC LIMIT 1), 0)"
)
# JSON's true and 1 have the same value in SQLite, so that types are compared as well
_HAS_METADATA = (
    "EXISTS (SELECT 1 FROM thread_metadata m, json_each(m.metadata) has, json_each(?) wanted"
    " WHERE m.owner = c.owner AND m.thread = c.thread AND has.key = ?"
    " AND has.type = wanted.type AND has.atom IS wanted.atom)"
)


@dataclass(frozen=True)
class ThreadFilter:
    """Which threads of an owner to list. `graphs` are those that the owner may read (None: all), `waiting` those whose
    last turn asked a question back; threads without a graph count as readable."""

    owner: str
    graphs: Sequence[str] | None = None
    graph: str | None = None
    ids: Sequence[str] | None = None
    without: Sequence[str] = ()
    metadata: Mapping[str, Scalar] = field(default_factory=dict)
    waiting: bool | None = None
    order: Literal["created", "updated", "thread"] = "updated"
    descending: bool = True
    limit: int = 10
    skip: int = 0


def search_statement(filter: ThreadFilter) -> tuple[str, list[object]]:
    """What follows WHERE, for a table `conversation` named c, and its parameters."""
    where, given = ["owner = ?"], list[object]([filter.owner])
    if filter.graphs is not None:
        where.append("(graph = '' OR graph IN (SELECT value FROM json_each(?)))")
        given.append(json.dumps(list(filter.graphs)))
    if filter.graph is not None:
        where.append("graph = ?")
        given.append(filter.graph)
    if filter.ids is not None:
        where.append("thread IN (SELECT value FROM json_each(?))")
        given.append(json.dumps(list(filter.ids)))
    if filter.without:
        where.append("thread NOT IN (SELECT value FROM json_each(?))")
        given.append(json.dumps(list(filter.without)))
    for key, value in filter.metadata.items():
        where.append(_HAS_METADATA)
        given += [json.dumps([value]), key]
    if filter.waiting is not None:
        where.append(f"{_WAITS} = ?")
        given.append(int(filter.waiting))
    direction = "DESC" if filter.descending else "ASC"
    order = f"{filter.order} {direction}, thread {direction} LIMIT ? OFFSET ?"
    return f"{' AND '.join(where)} ORDER BY {order}", [*given, filter.limit, filter.skip]
