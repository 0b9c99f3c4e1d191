"""What every agent returns: Result, with the value, the reasoner that made it, and the model usage."""

from dataclasses import astuple, dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Usage:
    """Started model calls, and tokens; `cached` is the part of `input` that the server had in its cache.

    `price` is in US dollars, without the `unpriced` calls, whose price or number of tokens is unknown.
    """

    calls: int = 0
    input: int = 0
    cached: int = 0
    output: int = 0
    price: float = 0.0
    unpriced: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(*(own + more for own, more in zip(astuple(self), astuple(other), strict=True)))


NO_USAGE = Usage()


@dataclass(frozen=True)
class Result(Generic[T]):
    """The result of one agent; `by` is "rules", "model", or "rules after model: why"."""

    value: T
    by: str = "rules"
    usage: Usage = NO_USAGE
