"""Choose the branches of a round: Situation -> names of branches. No branch chosen ends the retrieval."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from langchain_core.language_models import BaseChatModel

from agents.calls import Limits
from agents.result import Result


@dataclass(frozen=True)
class Situation:
    """Where a turn stands. `wanted` are the branches that lack evidence and still have something new to try."""

    question: str
    round: int
    enabled: tuple[str, ...]
    visited: tuple[str, ...]
    wanted: tuple[str, ...]


Selector = Callable[[Situation], Awaitable[Result[tuple[str, ...]]]]


async def by_rules(situation: Situation) -> Result[tuple[str, ...]]:
    """All enabled branches at first, then those that are wanted."""
    return Result(situation.enabled if situation.round == 1 else situation.wanted)


def by_model(model: BaseChatModel, rules: Selector, limits: Limits) -> Selector:
    """The rules' choice: the first round visits every branch anyway, and the check after it knows what is missing."""
    return rules
