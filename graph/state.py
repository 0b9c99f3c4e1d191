"""What a thread keeps and what a run passes on: Input -> State. All of it JSON-plain but the messages."""

from typing import Annotated, Any

from langchain_core.messages import AnyMessage
from langgraph.channels import EphemeralValue
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict

from graph.transient_channels import TransientReducer, TransientValue
from nacre.records.answer import Answer
from nacre.records.evidence import BranchResult
from nacre.records.turn import EarlierTurn, Rewrite, Understanding

Json = dict[str, Any]
# the records that lie in the state as JSON
RECORDS = (Rewrite, Understanding, BranchResult, EarlierTurn)


def concatenate(left: list[Json], right: list[Json]) -> list[Json]:
    """What the branches of one round bring back, side by side."""
    return [*left, *right]


def merge_attribution(left: dict[str, str], right: dict[str, str]) -> dict[str, str]:
    """Who did which step; a step that fell back to rules once keeps saying so.

    >>> attribute({"sql": "rules after model: timeout"}, {"sql": "rules", "fuser": "rules"})
    {'sql': 'rules after model: timeout', 'fuser': 'rules'}
    """
    kept = {name: by for name, by in left.items() if " after " in by}
    return {**left, **right, **kept}


def add_usage(left: dict[str, float], right: dict[str, float]) -> dict[str, float]:
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


class ThreadState(Input, total=False):
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


class Output(ThreadState, total=False):
    """What a run gives: the thread as it is kept, and the whole record of the turn."""

    answer: Annotated[Answer, TransientValue()]


class State(Output, total=False):
    """What a run passes on from node to node besides. A run that goes on from a checkpoint in the middle of a turn
    works it out again (`graph.resumed`)."""

    version: Annotated[str, TransientValue()]
    vectors: Annotated[str | None, TransientValue()]
    layers: Annotated[str, TransientValue()]
    hold: Annotated[str, TransientValue()]
    strategy: Annotated[str, TransientValue()]
    started: Annotated[float, TransientValue()]
    rewrite: Annotated[Json, TransientValue()]
    conversation: Annotated[list[Json], TransientValue()]
    understanding: Annotated[Json, TransientValue()]
    enabled: Annotated[list[str], TransientValue()]
    unavailable: Annotated[dict[str, str], TransientValue()]
    round: Annotated[int, TransientValue()]
    route: Annotated[list[str], TransientValue()]
    wanted: Annotated[list[str], TransientValue()]
    search: Annotated[str, TransientValue()]
    found: Annotated[list[Json], TransientReducer(concatenate)]
    by: Annotated[dict[str, str], TransientReducer(merge_attribution)]
    usage: Annotated[dict[str, float], TransientReducer(add_usage)]
    caveats: Annotated[list[str], TransientValue()]


TRANSIENT_FIELDS = frozenset(State.__annotations__) - frozenset(ThreadState.__annotations__)
