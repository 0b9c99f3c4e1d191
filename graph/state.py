"""The state of the graph: what a client sends, what a thread keeps, what one run passes on; decoded as a TurnView.
All of it is plain JSON but the messages. Channels without a checkpoint: docs/decisions/0031-transient-channels.md."""

import re
import textwrap
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Self, get_args

from langchain_core.messages import AIMessage, AIMessageChunk, AnyMessage
from langgraph.channels import EphemeralValue, UntrackedValue
from langgraph.config import get_config
from langgraph.graph.message import add_messages, push_message
from typing_extensions import TypedDict

from agents.turn_view import Strategy, TurnView
from nacre.config.settings import Settings
from nacre.records.answer import Answer, Citation
from nacre.records.evidence import BranchResult, QueryError
from nacre.records.json_form import from_json
from nacre.records.turn import EarlierTurn, Rewrite, Understanding

Json = dict[str, Any]

# the fields that a node changes
Update = dict[str, Any]

# the records that the state holds as JSON
RECORDS = (Rewrite, Understanding, BranchResult, EarlierTurn)


def concatenate(left: list[Json], right: list[Json]) -> list[Json]:
    """The results of the branches of one round, side by side."""
    return [*left, *right]


def merge_attribution(left: dict[str, str], right: dict[str, str]) -> dict[str, str]:
    """Who did which step; a step that fell back to the rules once keeps saying so.

    >>> merge_attribution({"sql": "rules after model: timeout"}, {"sql": "rules", "fuser": "rules"})
    {'sql': 'rules after model: timeout', 'fuser': 'rules'}
    """
    fallbacks = {name: by for name, by in left.items() if " after " in by}
    return {**left, **right, **fallbacks}


def add_usage(left: dict[str, float], right: dict[str, float]) -> dict[str, float]:
    """Model calls and tokens of all steps of a turn.

    >>> add_usage({"calls": 1}, {"calls": 2, "input": 5})
    {'calls': 3, 'input': 5}
    """
    return {name: left.get(name, 0) + right.get(name, 0) for name in {**left, **right}}


class Input(TypedDict, total=False):
    """What a client sends: `question` (and `graph`), or `messages`, whose last human message is then the question.

    `question` and `graph` live for one step only, so that a later turn that sends messages never sees an earlier
    question.
    """

    question: Annotated[str, EphemeralValue(str)]
    graph: Annotated[str, EphemeralValue(str)]
    messages: Annotated[list[AnyMessage], add_messages]


class ThreadState(Input, total=False):
    """What the checkpoints of a thread keep, for the next turn and for people who look at it.

    `readings` are the readings of the question in words, the likeliest first. `unanswered` names the message of a
    question whose turn was stopped: {"message": its id, "run": id, "graph": name}. It counts as long as that message is
    the last one.
    """

    about: str
    turn: int
    earlier: list[Json]
    spent: dict[str, float]
    asked: str
    standalone: str
    readings: list[str]
    visited: list[str]
    unanswered: dict[str, str]


class TransientValue(UntrackedValue[Any]):
    """The last value of a field in this run."""

    def __init__(self, typ: type[Any] = object, guard: bool = False) -> None:
        super().__init__(typ, guard)


class Output(ThreadState, total=False):
    """What a run returns: the thread as it is kept, and the whole record of the turn."""

    answer: Annotated[Answer, TransientValue()]


class TransientReducer(TransientValue):
    """The values that several nodes of this run give for a field, combined by `reduce`."""

    def __init__(self, reduce: Callable[[Any, Any], Any]) -> None:
        super().__init__()
        self.reduce = reduce

    def copy(self) -> Self:
        """The same channel with its value."""
        same = self.from_checkpoint(None)
        same.value = self.value
        return same

    def from_checkpoint(self, checkpoint: Any) -> Self:
        """The channel at the start of a run: empty, whatever an older version kept in a checkpoint."""
        empty = self.__class__(self.reduce)
        empty.key = self.key
        return empty

    def update(self, values: Sequence[Any]) -> bool:
        """Add the values of the nodes of one step."""
        for value in values:
            self.value = self.reduce(self.value, value) if self.is_available() else value
        return bool(values)


class State(Output, total=False):
    """The whole state. No checkpoint has the fields below, which the nodes of one run pass on to each other; a run that
    starts from a checkpoint in the middle of a turn computes them again (`graph.builder`)."""

    version: Annotated[str, TransientValue()]
    vectors: Annotated[str | None, TransientValue()]
    layers: Annotated[str, TransientValue()]
    lease: Annotated[str, TransientValue()]
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


def decode_turn(state: State, settings: Settings) -> TurnView:
    """The turn so far as agents see it; it ends `turn_seconds` after it began."""
    found = tuple(from_json(BranchResult, part) for part in state.get("found", []))
    rewrite = from_json(Rewrite, state["rewrite"]) if state.get("rewrite") else Rewrite(state["asked"])
    understanding, strategy = state.get("understanding"), state.get("strategy", "")
    return TurnView(
        question=state["asked"],
        rewrite=rewrite,
        understanding=from_json(Understanding, understanding) if understanding else Understanding(rewrite.standalone),
        conversation=decode_conversation(state, settings),
        found=found,
        round=state.get("round", 0),
        enabled=tuple(state.get("enabled", ())),
        visited=tuple(state.get("visited", ())),
        wanted=tuple(state.get("wanted", ())),
        failures=_failures(state, found),
        # an older version had others
        strategy=strategy if strategy in get_args(Strategy) else "parallel",  # type: ignore[arg-type]
        search=state.get("search", ""),
        deadline=state["started"] + settings.turn_seconds,
        version=state["version"],
    )


def decode_conversation(state: State, settings: Settings) -> tuple[EarlierTurn, ...]:
    """The earlier turns that a question may refer to, oldest first."""
    turns = state.get("earlier", []) if settings.dialogue == "multi" else []
    return tuple(from_json(EarlierTurn, turn) for turn in state.get("conversation", turns))


def _failures(state: State, found: Sequence[BranchResult]) -> Mapping[str, QueryError]:
    """Why branches found nothing: the last error of each, or that none could be asked at all."""
    if not state.get("enabled"):
        return {name: QueryError("unavailable", why) for name, why in state.get("unavailable", {}).items()}
    successful = {part.branch for part in found if part.evidence}
    return {part.branch: part.error for part in found if part.error is not None and part.branch not in successful}


# key in the configuration of a run that wants whole sentences: each message chunk takes a round of the event loop
WHOLE_SENTENCES = "sentences"

LONGEST_CITED = 300

MOST_KEYS = 5

_TOKENS = re.compile(r"\S+\s*|\s+")


class Message:
    """One answer that streams: `say` each sentence as it is released, then `end` with the record. Clients get tokens as
    custom events and as chunks with the id of the message; for whole sentences one event each, and no chunks."""

    def __init__(self, write: Callable[[Json], None]) -> None:
        request = get_config().get("configurable", {})
        # the id of the run, so that whoever knows the run knows its message
        self._id = request.get("ask_id") or str(uuid.uuid4())
        self._write = write
        self._whole = bool(request.get(WHOLE_SENTENCES))

    def say(self, sentence: str) -> None:
        """Stream one sentence; inside a node only."""
        if self._whole:
            self._write({"type": "token", "text": sentence})
            return
        for token in stream_tokens(sentence):
            self._write({"type": "token", "text": token})
            push_message(AIMessageChunk(content=token, id=self._id), state_key=None)

    def end(self, record: Answer) -> AIMessage:
        """Stream the metadata, and return the message as the thread keeps it."""
        metadata = message_metadata(record)
        if not self._whole:
            push_message(
                AIMessageChunk(content="", id=self._id, additional_kwargs=metadata, chunk_position="last"),
                state_key=None,
            )
        return AIMessage(record["answer"], id=self._id, additional_kwargs=metadata)


def stream_tokens(text: str) -> list[str]:
    """The words of a text, each with the space after it.

    >>> stream_tokens(" Two [1].")
    [' ', 'Two ', '[1].']
    """
    return _TOKENS.findall(text)


def message_metadata(record: Answer) -> Json:
    """The status, offered readings and shortened citations of an answer, small enough to stay in a thread."""
    offered = {"options": record["options"]} if record["options"] else {}
    return {
        "status": record["status"],
        "confidence": record["confidence"],
        "citations": [_shortened_citation(citation) for citation in record["citations"]],
        **offered,
    }


def _shortened_citation(citation: Citation) -> Json:
    text = " ".join(citation["text"].split())
    return {
        "n": citation["n"],
        "tool": citation["tool"],
        "source": citation["source"],
        "text": text if len(text) <= LONGEST_CITED else textwrap.shorten(text, LONGEST_CITED, placeholder=" ..."),
        "keys": citation["keys"][:MOST_KEYS],
        "place": citation["place"],
    }
