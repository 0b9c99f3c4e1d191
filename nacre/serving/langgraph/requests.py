"""Bodies of LangGraph's API -> validated requests. Fields that only other servers need are ignored."""

from typing import Any, Literal

from pydantic import BaseModel, Field, field_validator, model_validator

from nacre.serving.conversations.threads import MAX_THREAD_NAME

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


class GraphRunRequest(BaseModel):
    """A turn to run."""

    assistant_id: str = Field(max_length=MAX_ID)
    input: RunInput | None = None
    command: RunCommand | None = None
    context: dict[str, Any] | None = None
    checkpoint: CheckpointReference | None = None
    checkpoint_id: str | None = Field(None, max_length=MAX_ID)
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


class StateUpdate(BaseModel):
    """A checkpoint that becomes the latest one. Values are refused."""

    values: Any = None
    checkpoint: CheckpointReference | None = None
    checkpoint_id: str | None = Field(None, max_length=MAX_ID)


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
