"""Choose the branches of a round: Situation -> Choice. No branch chosen ends the retrieval."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import BaseModel, Field

from agents.models.calls import ModelFailed, structured
from agents.models.limits import ANY_TURN, Limits, Turn
from agents.plain import quoted
from agents.prompt import prompt
from agents.result import Result

Strategy = Literal["parallel", "stepwise"]
LONGEST_FOUND = 200
MOST_FOUND = 8


@dataclass(frozen=True)
class Situation:
    """Where a turn stands. `wanted` are the branches that lack evidence and still have something new to try.

    `found` says of each query and branch so far what it gave, errors and empty results included. `unsure` means that
    there is evidence, but perhaps not enough. With the strategy "stepwise" a model chooses each single step.
    """

    question: str
    round: int
    enabled: tuple[str, ...]
    visited: tuple[str, ...]
    wanted: tuple[str, ...]
    found: tuple[str, ...] = ()
    unsure: bool = False
    strategy: Strategy = "parallel"
    turn: Turn = ANY_TURN


@dataclass(frozen=True)
class Choice:
    """The branches of the next round, and what to look for in passages; "" for the question itself."""

    branches: tuple[str, ...]
    search: str = ""


Selector = Callable[[Situation], Awaitable[Result[Choice]]]


class Step(BaseModel):
    """Where to look next, and for what."""

    place: str = Field(max_length=40)
    search: str = Field(max_length=300)
    enough: bool


async def by_rules(situation: Situation) -> Result[Choice]:
    """All enabled branches at first, then those that are wanted."""
    return Result(Choice(situation.enabled if situation.round == 1 else situation.wanted))


def by_model(model: BaseChatModel, rules: Selector, limits: Limits) -> Selector:
    """The rules' choice; the model's where it is unsure whether the evidence is enough, or for each step if so set."""

    async def tool_selector(situation: Situation) -> Result[Choice]:
        chosen = await rules(situation)
        stepwise = situation.strategy == "stepwise"
        if not stepwise and (situation.round == 1 or not situation.unsure or len(situation.wanted) < 2):
            return chosen
        places = situation.wanted or situation.enabled

        async def refuse(step: Step) -> str | None:
            known = step.enough or step.place in places
            return None if known else f"There is no place {step.place!r}. There are: {', '.join(places)}."

        try:
            step, usage = await structured(
                model, _messages(situation, places), Step, limits=limits.of(situation.turn), refuse=refuse
            )
        except ModelFailed as failed:
            return Result(chosen.value, f"rules after model: {failed.why}", failed.usage)
        if step.enough and situation.round > 1:
            return Result(Choice(()), "model", usage)
        # what is enough before anything was found names no place
        branches = (step.place,) if step.place in places else chosen.value.branches
        return Result(Choice(branches, " ".join(step.search.split())), "model", usage)

    return tool_selector


def _messages(situation: Situation, places: tuple[str, ...]) -> list[SystemMessage | HumanMessage]:
    turn = prompt(
        "tool_selector_turn",
        places=", ".join(places),
        found="\n".join(quoted(line)[:LONGEST_FOUND] for line in situation.found[-MOST_FOUND:]) or "nothing yet",
        question=quoted(situation.question),
    )
    return [SystemMessage(prompt("tool_selector")), HumanMessage(turn)]
