"""What the models of a run were asked, for who wants to see it: callbacks of LangChain -> Calls."""

from contextvars import ContextVar
from dataclasses import dataclass

# of a message so many characters are kept, and so many of all calls of a run
LONGEST, MOST = 40_000, 200_000


@dataclass(frozen=True)
class ModelCall:
    """One call: its messages as (role, text), what came back, how long it took, and its tokens."""

    messages: tuple[tuple[str, str], ...]
    answer: str
    seconds: float
    input_tokens: int = 0
    output_tokens: int = 0


# a list that whoever runs a turn has put there; without one nothing is kept
call_log: ContextVar[list[ModelCall] | None] = ContextVar("heard", default=None)


def record_call(call: ModelCall) -> None:
    """Keep a call for the run that makes it, within bounds."""
    calls = call_log.get()
    if calls is not None and sum(map(_size, calls)) + _size(call) <= MOST:
        calls.append(call)


def _size(call: ModelCall) -> int:
    return len(call.answer) + sum(len(text) for _, text in call.messages)
