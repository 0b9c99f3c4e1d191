"""What an OpenAI client sends: a chat completion request -> the question, and what was said before it."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, Field

from nacre.errors import ConfigError

# of a conversation that a client carries itself (given); what is longer than any request holds is no conversation
MAX_MESSAGES = 4000


class MessagePart(BaseModel):
    """One part of a message's content; only text can be read here."""

    type: str
    text: str | None = None


class ChatMessage(BaseModel):
    """One message of a conversation."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[MessagePart] | None = None


class StreamOptions(BaseModel):
    """What a stream tells besides its tokens."""

    include_usage: bool | None = None


class ChatRequest(BaseModel):
    """A chat completion. Further fields (temperature, seed ...) are taken and change nothing."""

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
    """The question, and the questions before it, from the first on."""

    question: str
    before: tuple[str, ...]


def parse_chat_request(request: ChatRequest) -> ChatQuestion:
    """The question of a request; raises ConfigError for what this server can't give.

    Instructions (`system`, `developer`) and results of tools are no part of the conversation: what is answered comes
    from the graph alone.

    >>> said = [ChatMessage(role="user", content=text) for text in ("Which books are there?", "And the longest?")]
    >>> parse_chat_request(ChatRequest(model="books", messages=said))
    ChatQuestion(question='And the longest?', before=('Which books are there?',))
    """
    _check_options(request)
    if not request.messages:
        raise ConfigError("messages is empty. Send at least one message of the user.")
    if len(request.messages) > MAX_MESSAGES:
        raise ConfigError(f"There are {len(request.messages)} messages; {MAX_MESSAGES} are the most.")
    said = [(message.role, _text(message)) for message in request.messages]
    turns = [(role, text) for role, text in said if role in ("user", "assistant")]
    if not turns or turns[-1][0] != "user":
        raise ConfigError("The last message must be the user's: it is the question.")
    questions = [text for role, text in turns if role == "user"]
    return ChatQuestion(questions[-1], tuple(each for each in questions[:-1] if each.strip()))


def _check_options(request: ChatRequest) -> None:
    if (request.n or 1) != 1:
        raise ConfigError("n must be 1: there is one answer.")
    # a model may leave tools aside that it is offered; one that it must call can't be promised
    for wish in (request.tool_choice, request.function_call):
        if wish == "required" or isinstance(wish, dict):
            raise ConfigError("No tool is called here. Leave tool_choice out, or set it to 'auto' or 'none'.")
    form = (request.response_format or {}).get("type", "text")
    if form != "text":
        raise ConfigError(f"The answer is text; response_format {str(form)[:40]!r} can't be given.")
    if request.modalities and request.modalities != ["text"]:
        raise ConfigError("The answer is text; modalities must be ['text'].")


def _text(message: ChatMessage) -> str:
    if isinstance(message.content, str):
        return message.content
    parts: Sequence[MessagePart] = message.content or ()
    for part in parts:
        if part.type not in ("text", "refusal"):
            raise ConfigError(f"A message has content of type {part.type[:40]!r}; only text can be read here.")
    return "\n".join(part.text or "" for part in parts)
