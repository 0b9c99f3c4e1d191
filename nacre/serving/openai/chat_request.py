"""Requests for chat completions: the messages of an OpenAI client -> the question and the earlier questions."""

import json
import re
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, Field

from nacre.errors import ConfigError

# an upper bound on the messages of a conversation, far beyond real ones
MAX_MESSAGES = 4000
MAX_TITLE = 80
# the form that a prompt asks for: the name of the value, and whether it is a list
_JSON_KEY = re.compile(r'\{\s*"(\w+)":\s*(\[?)')


class MessagePart(BaseModel):
    """One part of a message's content; only text is supported."""

    type: str
    text: str | None = None


class ChatMessage(BaseModel):
    """One message of a conversation."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[MessagePart] | None = None


class StreamOptions(BaseModel):
    """What a stream contains besides tokens."""

    include_usage: bool | None = None


class ChatRequest(BaseModel):
    """A chat completion. Other fields (temperature, seed ...) are accepted and ignored."""

    model: str = Field(description="The name of a graph.")
    messages: list[ChatMessage] = Field(description="The conversation; its last message is the question.")
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: int | None = None
    tools: list[Any] | None = None
    tool_choice: Any = None
    function_call: Any = None
    response_format: dict[str, Any] | None = None
    modalities: list[str] | None = None


class ChatQuestion(NamedTuple):
    """The question, and the questions before it in order."""

    question: str
    before: tuple[str, ...]


def parse_chat_request(request: ChatRequest) -> ChatQuestion:
    """The question of a request; raises ConfigError for options that this server does not support.

    Instructions (`system`, `developer`) and tool results are ignored, since answers come only from the graph.

    >>> messages = [ChatMessage(role="user", content=text) for text in ("Which books are there?", "And the longest?")]
    >>> parse_chat_request(ChatRequest(model="books", messages=messages))
    ChatQuestion(question='And the longest?', before=('Which books are there?',))
    """
    _check_options(request)
    if not request.messages:
        raise ConfigError("messages is empty. Send at least one user message.")
    if len(request.messages) > MAX_MESSAGES:
        raise ConfigError(f"There are {len(request.messages)} messages; at most {MAX_MESSAGES} are allowed.")
    texts = [(message.role, _text(message)) for message in request.messages]
    turns = [(role, text) for role, text in texts if role in ("user", "assistant")]
    if not turns or turns[-1][0] != "user":
        raise ConfigError("The last message must be a user message: it is the question.")
    questions = [text for role, text in turns if role == "user"]
    return ChatQuestion(questions[-1], tuple(each for each in questions[:-1] if each.strip()))


def reply_to_client(text: str) -> str | None:
    """The reply to a client that asks a model about its own conversation, with a prompt of Open WebUI: the first
    question as a title, and nothing for tags, follow-up questions and searches, which a graph can't write. None for a
    question of a person.

    >>> history = "<chat_history>\\nUSER: Which books are there?\\nASSISTANT: Two.\\n</chat_history>"
    >>> reply_to_client('### Task:\\nWrite a title.\\nJSON format: { "title": "the title" }\\n' + history)
    '{"title": "Which books are there?"}'
    """
    task, found, history = text.partition("<chat_history>")
    if not (found and task.lstrip().startswith("### Task:")):
        return None
    question = next((line[5:] for line in history.splitlines() if line.startswith("USER:")), "")
    title = " ".join(question.split())[:MAX_TITLE]
    key = _JSON_KEY.search(task)
    if key is None:
        return title
    return json.dumps({key[1]: [] if key[2] else title if key[1] == "title" else ""}, ensure_ascii=False)


def _check_options(request: ChatRequest) -> None:
    if (request.n or 1) != 1:
        raise ConfigError("n must be 1: there is one answer.")
    # optional tools can be ignored, required ones can't
    for choice in (request.tool_choice, request.function_call):
        if choice == "required" or isinstance(choice, dict):
            raise ConfigError("Tools are not called here. Omit tool_choice, or set it to 'auto' or 'none'.")
    format = (request.response_format or {}).get("type", "text")
    if format != "text":
        raise ConfigError(f"The answer is text; response_format {str(format)[:40]!r} is not supported.")
    if request.modalities and request.modalities != ["text"]:
        raise ConfigError("The answer is text; modalities must be ['text'].")


def _text(message: ChatMessage) -> str:
    if isinstance(message.content, str):
        return message.content
    parts: Sequence[MessagePart] = message.content or ()
    for part in parts:
        if part.type not in ("text", "refusal"):
            raise ConfigError(f"A message has content of type {part.type[:40]!r}; only text is supported.")
    return "\n".join(part.text or "" for part in parts)
