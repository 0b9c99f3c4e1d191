"""What a thread keeps and what a run passes on: Input -> State. All of it JSON-plain but the messages."""

from typing import Annotated, Any

from langchain_core.messages import AnyMessage
from langgraph.channels import EphemeralValue
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict

from graph.transient_channels import Gathered, Passed
from nacre.records.answer import Answer
from nacre.records.evidence import Found
from nacre.records.turn import Earlier, Rewrite, Understanding

Json = dict[str, Any]
# the records that lie in the state as JSON
RECORDS = (Rewrite, Understanding, Found, Earlier)


def gather(left: list[Json], right: list[Json]) -> list[Json]:
    """What the branches of one round bring back, side by side."""
    return [*left, *right]


def attribute(left: dict[str, str], right: dict[str, str]) -> dict[str, str]:
    """Who did which step; a step that fell back to rules once keeps saying so.

    >>> attribute({"sql": "rules after model: timeout"}, {"sql": "rules", "fuser": "rules"})
    {'sql': 'rules after model: timeout', 'fuser': 'rules'}
    """
    kept = {name: by for name, by in left.items() if " after " in by}
    return {**left, **right, **kept}


def add_up(left: dict[str, float], right: dict[str, float]) -> dict[str, float]:
    """Model calls and tokens of all steps of a turn.

    >>> add_up({"calls": 1}, {"calls": 2, "input": 5})
    {'calls': 3, 'input': 5}
    """
    return {name: left.get(name, 0) + right.get(name, 0) for name in {**left, **right}}


class Input(TypedDict, total=False):
    """What a client sends: `question` (and `graph`), or `messages`, whose last human message is then the question.

    Both names live for one step only, so that a later turn that sends messages never meets an earlier question.
    """

    question: Annotated[str, EphemeralValue(str)]
    graph: Annotated[str, EphemeralValue(str)]
    messages: Annotated[list[AnyMessage], add_messages]


class Kept(Input, total=False):
    """What the checkpoints of a thread keep, for the next turn and for people who look at it.

    `readings` are the ways the question was read, in words, the likeliest first.
    """

    about: str
    turn: int
    earlier: list[Json]
    spent: dict[str, float]
    asked: str
    standalone: str
    readings: list[str]
    visited: list[str]


class Output(Kept, total=False):
    """What a run gives: the thread as it is kept, and the whole record of the turn."""

    answer: Annotated[Answer, Passed()]


class State(Output, total=False):
    """What a run passes on from node to node besides. A run that goes on from a checkpoint in the middle of a turn
    works it out again (`graph.resumed`)."""

    version: Annotated[str, Passed()]
    vectors: Annotated[str | None, Passed()]
    layers: Annotated[str, Passed()]
    hold: Annotated[str, Passed()]
    strategy: Annotated[str, Passed()]
    started: Annotated[float, Passed()]
    rewrite: Annotated[Json, Passed()]
    conversation: Annotated[list[Json], Passed()]
    understanding: Annotated[Json, Passed()]
    enabled: Annotated[list[str], Passed()]
    unavailable: Annotated[dict[str, str], Passed()]
    round: Annotated[int, Passed()]
    route: Annotated[list[str], Passed()]
    wanted: Annotated[list[str], Passed()]
    search: Annotated[str, Passed()]
    found: Annotated[list[Json], Gathered(gather)]
    by: Annotated[dict[str, str], Gathered(attribute)]
    usage: Annotated[dict[str, float], Gathered(add_up)]
    caveats: Annotated[list[str], Passed()]


PASSED = frozenset(State.__annotations__) - frozenset(Kept.__annotations__)
