"""Messages of a turn as JSON, as LangChain's clients read them; input messages -> text."""

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage

from graph.message import message_metadata
from nacre.errors import ConfigError
from nacre.records.answer import Answer
from nacre.serving.langgraph.requests import InputMessage

MessageJson = dict[str, Any]
HUMAN_TYPES = ("human", "user")
ANSWER_NODE = "fuser"


def message_json(message: BaseMessage) -> MessageJson:
    """A message as JSON."""
    return message.model_dump()


def question_message(text: str, id: str) -> MessageJson:
    """The message of a question."""
    return message_json(HumanMessage(text, id=id))


def answer_message(record: Answer, id: str) -> MessageJson:
    """The message of an answer, with its status and citations."""
    return message_json(AIMessage(record["answer"], id=id, additional_kwargs=message_metadata(record)))


def token_chunk(text: str, id: str) -> MessageJson:
    """A piece of the message of an answer."""
    return message_json(AIMessageChunk(content=text, id=id))


def last_chunk(record: Answer, id: str) -> MessageJson:
    """The last piece of the message, with the metadata and without text."""
    metadata = message_metadata(record)
    return message_json(AIMessageChunk(content="", id=id, additional_kwargs=metadata, chunk_position="last"))


def clarification(message: MessageJson) -> list[dict[str, Any]]:
    """The interrupt of a turn that asks which of several readings was meant; none if its answer is complete."""
    metadata = message["additional_kwargs"]
    if metadata.get("status") != "clarify" or not metadata.get("options"):
        return []
    return [{"id": str(message["id"]), "value": {"kind": "clarification", "options": metadata["options"]}}]


def input_text(message: InputMessage) -> str:
    """The text of a human message; raises ConfigError for images and other content."""
    if isinstance(message.content, str):
        return message.content
    return "".join(_block_text(block) for block in message.content)


def input_message(message: InputMessage) -> MessageJson:
    """A message of the conversation that a client sends along, as JSON."""
    kind = HumanMessage if is_human(message) else AIMessage
    return message_json(kind(input_text(message), id=message.id))


def is_human(message: InputMessage) -> bool:
    """Whether a person wrote the message."""
    return (message.type or message.role) in HUMAN_TYPES


def _block_text(block: str | dict[str, Any]) -> str:
    text = block if isinstance(block, str) else block.get("text") if block.get("type") == "text" else None
    if not isinstance(text, str):
        raise ConfigError("Only text can be asked. Send the question as text, without images or files.")
    return text


def answer_ids(messages: Sequence[MessageJson]) -> tuple[str, ...]:
    """The ids of the answers among messages."""
    return tuple(str(message["id"]) for message in messages if message["type"] == "ai")
