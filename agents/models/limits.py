"""What a model may take, of time and of tokens: settings and a turn -> Limits."""

import math
import time
from dataclasses import dataclass, replace

from langchain_core.caches import BaseCache


@dataclass(frozen=True)
class Limits:
    """Seconds a call, malformed answers asked for again, tokens of evidence and schema shown, busy servers tried again.

    `kept` are earlier answers, `deadline` (by `time.time()`) is the end of the turn, `version` that of its graph.
    """

    seconds: float = 60.0
    retries: int = 2
    evidence_tokens: int = 350
    schema_tokens: int = 1500
    busy_retries: int = 2
    kept: BaseCache | None = None
    deadline: float = math.inf
    version: str = ""

    def of(self, turn: "Turn") -> "Limits":
        """The limits of one turn."""
        return replace(self, deadline=turn.deadline, version=turn.version)

    def left(self) -> float:
        """How many seconds the next call may take, 0 where the turn is over."""
        return max(0.0, min(self.seconds, self.deadline - time.time()))


@dataclass(frozen=True)
class Turn:
    """What every agent knows of the turn it works in: when it must end (by `time.time()`), the graph's version."""

    deadline: float = math.inf
    version: str = ""


ANY_TURN = Turn()
