"""OpenAI's Responses API: its request -> a chat request; an answer record -> a response or its events."""

import time
from collections.abc import Iterator
from typing import Any, Literal

from pydantic import BaseModel

from nacre.errors import ConfigError
from nacre.records.answer import Answer
from nacre.serving.openai.chat_completion import footnotes, record_extract
from nacre.serving.openai.chat_request import ChatMessage, ChatRequest, MessagePart

TEXT_PART_TYPES = ("input_text", "output_text", "text")


class InputItem(BaseModel):
    """One item of the input; only messages are supported."""

    type: str = "message"
    role: Literal["system", "developer", "user", "assistant"] | None = None
    content: str | list[MessagePart] | None = None


class ResponseRequest(BaseModel):
    """A response. Other fields (temperature, store ...) are accepted and ignored."""

    model: str
    input: str | list[InputItem]
    stream: bool | None = None
    previous_response_id: str | None = None
    conversation: Any = None
    tools: list[Any] | None = None
    tool_choice: Any = None
    text: dict[str, Any] | None = None


def to_chat_request(request: ResponseRequest) -> ChatRequest:
    """The equivalent chat request; raises ConfigError for options that this server does not support.

    >>> to_chat_request(ResponseRequest(model="books", input="Which books are there?")).messages[0].content
    'Which books are there?'
    """
    if request.previous_response_id or request.conversation:
        raise ConfigError("Responses are not stored here. Send the messages of the conversation as input.")
    items = [InputItem(role="user", content=request.input)] if isinstance(request.input, str) else request.input
    return ChatRequest(
        model=request.model,
        messages=[_message(item) for item in items],
        tools=request.tools,
        tool_choice=request.tool_choice,
        response_format=(request.text or {}).get("format"),
    )


def _message(item: InputItem) -> ChatMessage:
    if item.type != "message" or item.role is None:
        raise ConfigError(f"The input has an item of type {item.type[:40]!r}; only messages are supported.")
    if item.content is None or isinstance(item.content, str):
        return ChatMessage(role=item.role, content=item.content)
    parts = [
        MessagePart(type="text", text=part.text) if part.type in TEXT_PART_TYPES else part for part in item.content
    ]
    return ChatMessage(role=item.role, content=parts)


class ModelResponse:
    """The response to one request; its events are numbered."""

    def __init__(self, id: str, model: str) -> None:
        self._id, self._item = f"resp_{id}", f"msg_{id}"
        self._model = model
        self._created = int(time.time())
        self._number = -1

    def body(self, record: Answer) -> dict[str, Any]:
        """The complete response; its text is the record's `answer`, then the footnotes."""
        text = record["answer"] + footnotes(record)
        return {
            **self._response("completed", [self._message("completed", text)], record),
            "nacre": record_extract(record),
        }

    def first_events(self) -> Iterator[dict[str, Any]]:
        """The events before the first token."""
        response = self._response("in_progress", [])
        yield self._event("response.created", response=response)
        yield self._event("response.in_progress", response=response)
        yield self._event("response.output_item.added", output_index=0, item=self._message("in_progress"))
        yield self._event("response.content_part.added", **self._position, part=self._part(""))

    def token_event(self, text: str) -> dict[str, Any]:
        """The event of a token."""
        return self._event("response.output_text.delta", **self._position, delta=text, logprobs=[])

    def last_events(self, record: Answer) -> Iterator[dict[str, Any]]:
        """The events after the last token: the footnotes, and the end of each part."""
        if notes := footnotes(record):
            yield self.token_event(notes)
        response = self.body(record)
        text = record["answer"] + notes
        yield self._event("response.output_text.done", **self._position, text=text, logprobs=[])
        yield self._event("response.content_part.done", **self._position, part=self._part(text))
        yield self._event("response.output_item.done", output_index=0, item=response["output"][0])
        yield self._event("response.completed", response=response)

    def error_event(self, message: str) -> dict[str, Any]:
        """The event of a turn that failed."""
        return self._event("error", code="server_error", message=message, param=None)

    @property
    def _position(self) -> dict[str, Any]:
        return {"item_id": self._item, "output_index": 0, "content_index": 0}

    def _event(self, kind: str, **fields: Any) -> dict[str, Any]:
        self._number += 1
        return {"type": kind, "sequence_number": self._number, **fields}

    def _part(self, text: str) -> dict[str, Any]:
        return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}

    def _message(self, status: str, text: str | None = None) -> dict[str, Any]:
        content = [] if text is None else [self._part(text)]
        return {"type": "message", "id": self._item, "status": status, "role": "assistant", "content": content}

    def _response(self, status: str, output: list[dict[str, Any]], record: Answer | None = None) -> dict[str, Any]:
        used = record and {
            "input_tokens": record["input_tokens"],
            "input_tokens_details": {"cached_tokens": record["cached_tokens"]},
            "output_tokens": record["output_tokens"],
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": record["input_tokens"] + record["output_tokens"],
        }
        return {
            "id": self._id,
            "object": "response",
            "created_at": self._created,
            "model": self._model,
            "status": status,
            "output": output,
            "usage": used,
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "metadata": {},
            "parallel_tool_calls": False,
            "store": False,
            "temperature": None,
            "tool_choice": "auto",
            "tools": [],
            "top_p": None,
        }
