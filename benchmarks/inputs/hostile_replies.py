"""Replies of a hostile server of a model: nothing -> their bodies, types and headers by name."""

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

JSON, EVENTS, LINES = "application/json", "text/event-stream", "application/x-ndjson"
NUMBER = 100_000


@dataclass(frozen=True)
class HostileReply:
    """A body that no client may make objects of. `media` says whether it is whole, a stream of events or of lines."""

    body: bytes
    media: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)


def whole_reply(content: str, **fields: Any) -> bytes:
    """A reply of OpenAI's API with this content."""
    message = {"role": "assistant", "content": content, **fields.pop("message", {})}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    reply = {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], **fields}
    return json.dumps(reply).encode()


def chunk(content: str, **fields: Any) -> bytes:
    """An event of a streamed reply, without the blank line at its end."""
    choice = {"index": 0, "delta": {"role": "assistant", "content": content}, "finish_reason": None}
    event = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice], **fields}
    return b"data: " + json.dumps(event).encode()


@cache
def hostile_replies() -> dict[str, HostileReply]:
    """All replies, by name."""
    objects: list[dict[str, Any]] = [{}] * NUMBER
    choices = whole_reply("", choices=objects)
    line = {"model": "small", "created_at": "2026-01-01T00:00:00Z", "done": True, "message": {"role": "assistant"}}
    return {
        "choices": HostileReply(choices),
        "numbers as choices": HostileReply(whole_reply("", choices=[0] * NUMBER)),
        "unknown fields": HostileReply(whole_reply("", **{f"f{i}": 0 for i in range(NUMBER)})),
        "unknown objects": HostileReply(whole_reply("", other=objects)),
        "calls of tools": HostileReply(whole_reply("", message={"tool_calls": objects})),
        "choices behind a string with quotes": HostileReply(
            whole_reply("", model='\\"', choices=objects),
        ),
        "compressed choices": HostileReply(gzip.compress(choices), headers={"content-encoding": "gzip"}),
        "choices, compressed as nobody asked for": HostileReply(choices, headers={"content-encoding": "br"}),
        "300 MB of spaces, compressed": HostileReply(
            gzip.compress(b" " * 300_000_000, 1), headers={"content-encoding": "gzip"}
        ),
        "an event of choices": HostileReply(chunk("", choices=objects) + b"\n\n", EVENTS),
        "an event of many lines": HostileReply(b"data: {},\n" * NUMBER + b"\n", EVENTS),
        "an event of many lines with comments": HostileReply(b'data: {},\n: "\n' * NUMBER + b"\n", EVENTS),
        "a line of calls of tools": HostileReply(
            json.dumps({**line, "message": {"role": "assistant", "tool_calls": objects}}).encode() + b"\n", LINES
        ),
        "a line of unknown objects": HostileReply(json.dumps({**line, "other": objects}).encode() + b"\n", LINES),
        "a line of objects behind a separator of lines": HostileReply(
            b'{"model": "\xe2\x80\xa8' + json.dumps(objects).encode() + b"\n", LINES
        ),
    }
