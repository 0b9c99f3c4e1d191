"""The order of AG-UI's events, as its official client checks it: the events of one run -> what is wrong with it."""

from collections.abc import Iterable, Mapping
from typing import Any

OPENERS = {
    "TEXT_MESSAGE_START": ("text", "messageId"),
    "TOOL_CALL_START": ("tool", "toolCallId"),
    "STEP_STARTED": ("step", "stepName"),
}
INNER = {
    "TEXT_MESSAGE_CONTENT": ("text", "messageId"),
    "TOOL_CALL_ARGS": ("tool", "toolCallId"),
}
CLOSERS = {
    "TEXT_MESSAGE_END": ("text", "messageId"),
    "TOOL_CALL_END": ("tool", "toolCallId"),
    "STEP_FINISHED": ("step", "stepName"),
}
ENDS = {"RUN_FINISHED", "RUN_ERROR"}


def order_problems(events: Iterable[Mapping[str, Any]]) -> list[str]:
    """What the official client would refuse."""
    problems: list[str] = []
    open_parts: set[tuple[str, str]] = set()
    ended = False
    for number, event in enumerate(events):
        kind = event["type"]
        if ended:
            problems.append(f"{kind} after the end")
        if (kind == "RUN_STARTED") != (number == 0):
            problems.append(f"{kind} is event {number}")
        if kind in OPENERS:
            part = _part(OPENERS[kind], event)
            problems += [f"{kind} twice: {part}"] if part in open_parts else []
            open_parts.add(part)
        elif kind in INNER or kind in CLOSERS:
            part = _part((INNER | CLOSERS)[kind], event)
            problems += [] if part in open_parts else [f"{kind} without a start: {part}"]
            open_parts -= {part} if kind in CLOSERS else set()
            problems += ["an empty delta"] if event.get("delta") == "" else []
        elif kind in ENDS:
            ended = True
            problems += [f"still open: {open_parts}"] if kind == "RUN_FINISHED" and open_parts else []
    return problems if ended else [*problems, "no end"]


def _part(names: tuple[str, str], event: Mapping[str, Any]) -> tuple[str, str]:
    return names[0], event[names[1]]
