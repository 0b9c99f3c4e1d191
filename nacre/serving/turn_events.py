"""The end of a turn's event stream: events -> the answer record."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, cast

from nacre.records.answer import Answer


async def collect_record(events: AsyncGenerator[tuple[str, Any]]) -> Answer:
    """The record of a turn whose other events nobody needs; raises RuntimeError if the turn ends without one."""
    record: Answer | None = None
    async with aclosing(events):
        async for kind, payload in events:
            if kind == "answer":
                record = cast(Answer, payload)
    return require_record(record)


def require_record(record: Answer | None) -> Answer:
    """The record of a turn that has ended; raises RuntimeError if there is none."""
    if record is None:
        raise RuntimeError("the turn ended without an answer")
    return record
