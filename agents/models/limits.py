"""What a model may take, of time and of tokens: settings and a turn -> Limits."""

import math
import time
from dataclasses import dataclass, field, replace

from langchain_core.caches import BaseCache

from agents.models.structured_output import StructuredOutput


@dataclass(frozen=True)
class Limits:
    """Seconds a call, malformed answers asked for again, tokens of evidence and schema shown, busy servers tried again.

    `kept` are earlier answers, `manner` is how records are asked for, `exchanges` the most calls for one query.
    `deadline` (by `time.time()`) is the end of the turn, `version` that of its graph.
    """

    seconds: float = 60.0
    retries: int = 2
    evidence_tokens: int = 2500
    schema_tokens: int = 6000
    busy_retries: int = 2
    exchanges: int = 3
    kept: BaseCache | None = None
    manner: StructuredOutput = field(default_factory=StructuredOutput)
    deadline: float = math.inf
    version: str = ""

    def until(self, deadline: float, version: str) -> "Limits":
        """The limits of one turn."""
        return replace(self, deadline=deadline, version=version)

    def left(self) -> float:
        """How many seconds the next call may take, 0 where the turn is over."""
        return max(0.0, min(self.seconds, self.deadline - time.time()))
