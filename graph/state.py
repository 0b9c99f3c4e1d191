"""What a thread remembers and what a turn works on: Input -> State. All of it JSON-plain but the messages."""

from typing import Annotated, Any

from langchain_core.messages import AnyMessage
from langgraph.channels import EphemeralValue
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict

from nacre.records.answer import Answer
from nacre.records.evidence import Found
from nacre.records.turn import Earlier, Rewrite, Understanding

Json = dict[str, Any]
# the records that lie in the state as JSON
KEPT = (Rewrite, Understanding, Found, Earlier)


def gather(left: list[Json], right: list[Json]) -> list[Json]:
    """What the branches of one round bring back, side by side; a turn starts it anew with `Overwrite([])`."""
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


class State(Input, total=False):
    """The thread (`messages`, `about`, `turn`, `earlier`, `spent`), then the turn: all below starts anew with it."""

    about: str
    turn: int
    earlier: list[Json]
    spent: dict[str, float]

    asked: str
    version: str
    vectors: str | None
    layers: str
    hold: str
    strategy: str
    started: float
    rewrite: Json
    understanding: Json
    enabled: list[str]
    unavailable: dict[str, str]
    round: int
    route: list[str]
    wanted: list[str]
    search: str
    visited: list[str]
    found: Annotated[list[Json], gather]
    by: Annotated[dict[str, str], attribute]
    usage: Annotated[dict[str, float], add_up]
    caveats: list[str]
    answer: Answer
