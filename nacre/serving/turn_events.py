"""The end of a turn's event stream: events -> the answer record."""

from collections.abc import AsyncIterator
from typing import Any, cast

from nacre.records.answer import Answer


async def collect_record(events: AsyncIterator[tuple[str, Any]]) -> Answer:
    """The record of a turn whose other events nobody needs; raises RuntimeError if the turn ends without one."""
    record: Answer | None = None
    try:
        async for kind, payload in events:
            if kind == "answer":
                record = cast(Answer, payload)
    finally:
        await events.aclose()  # type: ignore[attr-defined]
    return require_record(record)


def require_record(record: Answer | None) -> Answer:
    """The record of a turn that has ended; raises RuntimeError if there is none."""
    if record is None:
        raise RuntimeError("the turn ended without an answer")
    return record
