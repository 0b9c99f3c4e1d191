"""A filter for threads -> the condition, order and limit of a statement that lists them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from nacre.stores.state.dialect import StateDialect
from nacre.stores.state.json_text import json_text

Scalar = str | int | float | bool | None


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


def search_statement(filter: ThreadFilter, dialect: StateDialect) -> tuple[str, list[object]]:
    """What follows WHERE, for a table `conversation` named c, and its values."""
    where, given = ["owner = ?"], list[object]([filter.owner])
    if filter.graphs is not None:
        where.append("(graph = '' OR graph IN (?))")
        given.append(list(filter.graphs))
    if filter.graph is not None:
        where.append("graph = ?")
        given.append(filter.graph)
    if filter.ids is not None:
        where.append("thread IN (?)")
        given.append(list(filter.ids))
    if filter.without:
        where.append("thread NOT IN (?)")
        given.append(list(filter.without))
    for key, value in filter.metadata.items():
        where.append(dialect.has_json_entry)
        given += [json_text([value]), key]
    if filter.waiting is not None:
        where.append(f"{_waits(dialect)} = ?")
        given.append(int(filter.waiting))
    direction = "DESC" if filter.descending else "ASC"
    order = f"{filter.order} {direction}, thread {direction} LIMIT ? OFFSET ?"
    return f"{' AND '.join(where)} ORDER BY {order}", [*given, filter.limit, filter.skip]


def _waits(dialect: StateDialect) -> str:
    """Whether the last turn of a thread asked which of several readings was meant."""
    status, options = dialect.field("record", "status"), dialect.list_length("record", "options")
    return (
        f"coalesce((SELECT CASE WHEN {status} = 'clarify' AND {options} > 0 THEN 1 ELSE 0 END"
        " FROM turn t WHERE t.owner = c.owner AND t.thread = c.thread ORDER BY t.turn DESC LIMIT 1), 0)"
    )
