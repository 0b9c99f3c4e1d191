"""What a model call may take: time, tokens, retries -> Limits."""

import math
import time
from dataclasses import dataclass, field, replace

from langchain_core.caches import BaseCache

from agents.models.structured_output import StructuredOutput

# the length of a token, to fit texts into a budget of tokens (given)
CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True)
class Limits:
    """The limits of model calls.

    `schema_tokens` and `example_tokens` are the room for the schema and for verified questions in a prompt. `retries`
    counts repetitions after a malformed reply, `busy_retries` those after an error of the server, `exchanges` the calls
    for one query. `cache` has earlier replies, `output` is how records are asked for. `deadline` (by
    `time.monotonic()`) is the end of the turn, `version` that of its graph.
    """

    seconds: float = 60.0
    retries: int = 2
    evidence_tokens: int = 2500
    schema_tokens: int = 6000
    example_tokens: int = 400
    busy_retries: int = 2
    exchanges: int = 3
    cache: BaseCache | None = None
    output: StructuredOutput = field(default_factory=StructuredOutput)
    deadline: float = math.inf
    version: str = ""

    def until(self, deadline: float, version: str) -> "Limits":
        """The limits of one turn."""
        return replace(self, deadline=deadline, version=version)

    def seconds_left(self) -> float:
        """How many seconds the next call may take, 0 if the turn is over."""
        return max(0.0, min(self.seconds, self.deadline - time.monotonic()))
