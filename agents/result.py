"""What every agent hands back: its value, which mind made it, and what that cost."""

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Usage:
    """Model calls begun, and tokens; `cached` is the part of `input` that the server had read before."""

    calls: int = 0
    input: int = 0
    cached: int = 0
    output: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.calls + other.calls,
            self.input + other.input,
            self.cached + other.cached,
            self.output + other.output,
        )


NOTHING = Usage()


@dataclass(frozen=True)
class Result(Generic[T]):
    """`by` is "rules", "model", or "rules after model: why"."""

    value: T
    by: str = "rules"
    usage: Usage = NOTHING
