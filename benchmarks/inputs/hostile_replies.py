"""Replies of a hostile server of a model: name -> body, type and headers."""

import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

JSON, EVENTS, LINES = "application/json", "text/event-stream", "application/x-ndjson"
NUMBER = 100_000
OBJECTS: list[dict[str, Any]] = [{}] * NUMBER
LINE = {"model": "small", "created_at": "2026-01-01T00:00:00Z", "done": True, "message": {"role": "assistant"}}


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


def _choices() -> bytes:
    return whole_reply("", choices=OBJECTS)


# each is made when it is sent, as compressing takes a second
HOSTILE_REPLIES: dict[str, Callable[[], HostileReply]] = {
    "choices": lambda: HostileReply(_choices()),
    "numbers as choices": lambda: HostileReply(whole_reply("", choices=[0] * NUMBER)),
    "unknown fields": lambda: HostileReply(whole_reply("", **{f"f{i}": 0 for i in range(NUMBER)})),
    "unknown objects": lambda: HostileReply(whole_reply("", other=OBJECTS)),
    "calls of tools": lambda: HostileReply(whole_reply("", message={"tool_calls": OBJECTS})),
    "choices behind a string with quotes": lambda: HostileReply(
        whole_reply("", model='\\"', choices=OBJECTS),
    ),
    "compressed choices": lambda: HostileReply(gzip.compress(_choices()), headers={"content-encoding": "gzip"}),
    "choices, compressed as nobody asked for": lambda: HostileReply(_choices(), headers={"content-encoding": "br"}),
    "300 MB of spaces, compressed": lambda: HostileReply(
        gzip.compress(b" " * 300_000_000, 1), headers={"content-encoding": "gzip"}
    ),
    "an event of choices": lambda: HostileReply(chunk("", choices=OBJECTS) + b"\n\n", EVENTS),
    "an event of many lines": lambda: HostileReply(b"data: {},\n" * NUMBER + b"\n", EVENTS),
    "an event of many lines with comments": lambda: HostileReply(b'data: {},\n: "\n' * NUMBER + b"\n", EVENTS),
    "a line of calls of tools": lambda: HostileReply(
        json.dumps({**LINE, "message": {"role": "assistant", "tool_calls": OBJECTS}}).encode() + b"\n", LINES
    ),
    "a line of unknown objects": lambda: HostileReply(json.dumps({**LINE, "other": OBJECTS}).encode() + b"\n", LINES),
    "a line of objects behind a separator of lines": lambda: HostileReply(
        b'{"model": "\xe2\x80\xa8' + json.dumps(OBJECTS).encode() + b"\n", LINES
    ),
}
