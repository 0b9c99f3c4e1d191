"""The question of a turn that was stopped: stored state of a thread -> its last message, if it is not answered."""

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage


def unanswered_question(values: Mapping[str, Any]) -> BaseMessage | None:
    """The last message of a stored state if it is a question whose turn was stopped."""
    messages: Sequence[BaseMessage] = values.get("messages", [])
    stopped = values.get("unanswered") or {}
    return messages[-1] if messages and messages[-1].id == stopped.get("message") else None
