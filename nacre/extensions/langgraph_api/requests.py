"""Bodies of LangGraph's API -> validated requests. Fields that only other servers need are ignored.

Messages of a turn are JSON as LangChain's clients read them; graph name <-> assistant.
"""

from collections.abc import Sequence
from typing import Any, Literal
from uuid import NAMESPACE_URL, uuid5

from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from pydantic import BaseModel, Field, field_validator, model_validator

from graph.state import message_metadata
from nacre.errors import ConfigError
from nacre.records.answer import Answer
from nacre.serving.errors import NotFound
from nacre.serving.keys import Caller
from nacre.serving.threads import MAX_THREAD_NAME
from nacre.serving.turn_service import TurnService

MAX_ID = 100

MAX_LISTED = 1000

# keys that a search for threads compares (given)
MAX_FILTERS = 20

STREAM_MODES = ("values", "updates", "messages-tuple", "messages", "custom")


class CheckpointReference(BaseModel):
    """A checkpoint of the thread that the path names; without an id the latest."""

    checkpoint_id: str | None = Field(None, max_length=MAX_ID)


class InputMessage(BaseModel):
    """A message: `type` as in LangChain, or `role` as in OpenAI's API."""

    id: str | None = Field(None, max_length=MAX_ID)
    type: str = Field("", max_length=MAX_ID)
    role: str = Field("", max_length=MAX_ID)
    content: str | list[str | dict[str, Any]] = ""

    @model_validator(mode="before")
    @classmethod
    def _short_forms(cls, value: object) -> object:
        """LangChain also takes a text for a human message, and a pair of role and text."""
        if isinstance(value, str):
            return {"role": "user", "content": value}
        if isinstance(value, list) and len(value) == 2:
            return dict(zip(("role", "content"), value, strict=True))
        return value


class RunInput(BaseModel):
    """The question, or messages of which the last is the question."""

    question: str | None = None
    graph: str | None = None
    messages: list[InputMessage] | InputMessage | None = None


class RunCommand(BaseModel):
    """The reply to a question that the last turn asked back. `update` and `goto` are refused."""

    resume: Any = None
    update: Any = None
    goto: Any = None


def assistant_id(graph: str) -> str:
    """The id of a graph's assistant, the same on every server.

    >>> assistant_id("bmw") == assistant_id("bmw") != assistant_id("kitchen")
    True
    """
    return str(uuid5(NAMESPACE_URL, f"nacre:assistants:{graph}"))


class AtCheckpoint(BaseModel):
    """A request that may name a checkpoint in two ways."""

    checkpoint: CheckpointReference | None = None
    checkpoint_id: str | None = Field(None, max_length=MAX_ID)

    @property
    def named_checkpoint(self) -> str | None:
        return (self.checkpoint.checkpoint_id if self.checkpoint else None) or self.checkpoint_id


class GraphRunRequest(AtCheckpoint):
    """A turn to run."""

    assistant_id: str = Field(max_length=MAX_ID)
    input: RunInput | None = None
    command: RunCommand | None = None
    context: dict[str, Any] | None = None
    stream_mode: list[str] = ["values"]
    stream_resumable: bool = False
    on_disconnect: Literal["cancel", "continue"] = "continue"
    multitask_strategy: Literal["reject", "interrupt", "rollback", "enqueue"] = "enqueue"
    if_not_exists: Literal["create", "reject"] = "reject"
    interrupt_before: Any = None
    interrupt_after: Any = None
    webhook: Any = None
    after_seconds: float | None = None

    @field_validator("stream_mode", mode="before")
    @classmethod
    def _listed_modes(cls, value: object) -> object:
        return [value] if isinstance(value, str) else value


class NewGraphThread(BaseModel):
    """A thread to create."""

    thread_id: str | None = Field(None, max_length=MAX_THREAD_NAME)
    metadata: dict[str, Any] | None = None
    if_exists: Literal["raise", "do_nothing"] = "raise"
    supersteps: list[Any] | None = None


class ThreadMetadata(BaseModel):
    """Metadata to add to that of a thread."""

    metadata: dict[str, Any] = {}


class ThreadSearch(BaseModel):
    """Which threads to list, in which order and with which fields."""

    metadata: dict[str, str | int | float | bool | None] | None = Field(None, max_length=MAX_FILTERS)
    values: dict[str, Any] | None = None
    ids: list[str] | None = Field(None, max_length=MAX_LISTED)
    status: Literal["idle", "busy", "interrupted", "error"] | None = None
    limit: int = Field(10, ge=1, le=MAX_LISTED)
    offset: int = Field(0, ge=0, le=2**31)
    sort_by: Literal["thread_id", "status", "created_at", "updated_at", "state_updated_at"] | None = None
    sort_order: Literal["asc", "desc"] | None = None
    select: list[str] | None = None
    extract: dict[str, Any] | None = None


class HistoryRequest(BaseModel):
    """Which states of a thread to list."""

    limit: int = Field(10, ge=1, le=MAX_LISTED)
    before: str | CheckpointReference | dict[str, Any] | None = None


class StateAt(BaseModel):
    """The checkpoint whose state to read."""

    checkpoint: CheckpointReference


class StateUpdate(AtCheckpoint):
    """A checkpoint that becomes the latest one. Values are refused."""

    values: Any = None


class AssistantSearch(BaseModel):
    """Which assistants to list."""

    graph_id: str | None = None
    name: str | None = None
    metadata: dict[str, Any] | None = None
    limit: int = Field(10, ge=1, le=MAX_LISTED)
    offset: int = Field(0, ge=0, le=2**31)


class RunsToCancel(BaseModel):
    """Which runs to cancel: those named, or all with a status."""

    thread_id: str | None = None
    run_ids: list[str] | None = Field(None, max_length=MAX_LISTED)
    status: Literal["pending", "running", "all"] | None = None


MessageJson = dict[str, Any]

HUMAN_TYPES = ("human", "user")

ANSWER_NODE = "fuser"


def question_message(text: str, id: str) -> MessageJson:
    """The message of a question."""
    return HumanMessage(text, id=id).model_dump()


def answer_message(record: Answer, id: str) -> MessageJson:
    """The message of an answer, with its status and citations."""
    return AIMessage(record["answer"], id=id, additional_kwargs=message_metadata(record)).model_dump()


def token_chunk(text: str, id: str, **last: Any) -> MessageJson:
    """A piece of the message of an answer."""
    return AIMessageChunk(content=text, id=id, **last).model_dump()


def clarification(message: MessageJson) -> list[dict[str, Any]]:
    """The interrupt of a turn that asks which of several readings was meant; none if its answer is complete."""
    metadata = message["additional_kwargs"]
    if metadata.get("status") != "clarify" or not metadata.get("options"):
        return []
    return [{"id": str(message["id"]), "value": {"kind": "clarification", "options": metadata["options"]}}]


def input_text(message: InputMessage) -> str:
    """The text of a human message; raises ConfigError for images and other content."""
    texts = []
    for block in [message.content] if isinstance(message.content, str) else message.content:
        text = block if isinstance(block, str) else block.get("text") if block.get("type") == "text" else None
        if not isinstance(text, str):
            raise ConfigError("Only text can be asked. Send the question as text, without images or files.")
        texts.append(text)
    return "".join(texts)


def input_message(message: InputMessage) -> MessageJson:
    """A message of the conversation that a client sends along, as JSON."""
    kind = HumanMessage if is_human(message) else AIMessage
    return kind(input_text(message), id=message.id).model_dump()


def is_human(message: InputMessage) -> bool:
    """Whether a person wrote the message."""
    return (message.type or message.role) in HUMAN_TYPES


def answer_ids(messages: Sequence[MessageJson]) -> tuple[str, ...]:
    """The ids of the answers among messages."""
    return tuple(str(message["id"]) for message in messages if message["type"] == "ai")


# the assistant of `langgraph dev`: the graph comes from the input, the context or the thread
ANY_GRAPH = "nacre"

MAX_NAMED = 8

# assistants are not created, they exist with their graphs
EPOCH = "1970-01-01T00:00:00+00:00"


def assistant_record(graph: str) -> dict[str, Any]:
    """The assistant of a graph as JSON."""
    return {
        "assistant_id": assistant_id(graph),
        "graph_id": graph,
        "name": graph,
        "description": f"Answers questions about the graph {graph}, with citations.",
        "config": {},
        "context": {"graph": graph},
        "metadata": {"created_by": "system"},
        "version": 1,
        "created_at": EPOCH,
        "updated_at": EPOCH,
    }


def graph_of_assistant(id: str, service: TurnService, caller: Caller) -> str | None:
    """The graph of an assistant, given by its id or the name of its graph; None for ANY_GRAPH. Raises NotFound."""
    names = service.graph_names(caller)
    found = next((name for name in names if id in (name, assistant_id(name))), None)
    if found is None and id != ANY_GRAPH:
        listed = ", ".join(names[:MAX_NAMED]) or "none"
        raise NotFound(f"There is no assistant {id[:100]!r}. An assistant is a graph; there are: {listed}.")
    return found
