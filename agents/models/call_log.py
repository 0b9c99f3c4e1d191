"""The model calls of a run, for people who want to see the prompts: LangChain callbacks -> ModelCalls."""

from contextvars import ContextVar
from dataclasses import dataclass

# characters that are kept of a message, and of all calls of a run
LONGEST, MOST = 40_000, 200_000


@dataclass(frozen=True)
class ModelCall:
    """One call: its messages as (role, text), the reply, how long it took, and its tokens."""

    messages: tuple[tuple[str, str], ...]
    answer: str
    seconds: float
    input_tokens: int = 0
    output_tokens: int = 0


# the list is set by whoever runs a turn; without one nothing is recorded
call_log: ContextVar[list[ModelCall] | None] = ContextVar("heard", default=None)


def record_call(call: ModelCall) -> None:
    """Add a call to the log of its run, within bounds."""
    calls = call_log.get()
    if calls is not None and sum(map(_size, calls)) + _size(call) <= MOST:
        calls.append(call)


def _size(call: ModelCall) -> int:
    return len(call.answer) + sum(len(text) for _, text in call.messages)
