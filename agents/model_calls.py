"""Bounded calls of a chat model: messages -> a validated record, or a stream of text; ModelFailed otherwise."""

import asyncio
import json
import logging
import math
import re
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from string import Template
from typing import Any, Literal, TypeVar
from uuid import UUID

from langchain_core.caches import BaseCache
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.exceptions import OutputParserException
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, Generation, LLMResult
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from pydantic import BaseModel, ValidationError

from agents.turn_view import FREE, NO_USAGE, Usage, spending
from nacre.language.sanitize import escape_controls

log = logging.getLogger(__name__)

T = TypeVar("T")

Shape = TypeVar("Shape", bound=BaseModel)

MOST_CHARACTERS = 6000
MOST_REPETITIONS = 5
LONGEST_REPETITION = 200
FIRST_PAUSE = 0.5

# clients that report why a stream ended; without a report the connection was lost
REPORTS_STREAM_END = ("openai-chat", "chat-ollama")

STREAM_END_KEYS = {"finish_reason", "done_reason"}

TURN_IS_OVER = "the time of this turn was used up"


class ModelFailed(Exception):
    """The model gave no usable reply. `why` is short and readable, `usage` what the attempts took."""

    def __init__(self, why: str, usage: Usage = NO_USAGE) -> None:
        super().__init__(why)
        self.why = why
        self.usage = usage


Method = Literal["json_schema", "tools", "text"]

METHODS: tuple[Method, ...] = ("json_schema", "tools", "text")

_BOUND = {"json_schema": "json_schema", "tools": "function_calling"}

# status codes by which a server refuses a format
_REFUSALS = (400, 404, 405, 415, 422, 501)


class StructuredOutput:
    """The format of one model's records. With `auto` it changes to the next format when the server refuses one;
    if all are refused something else is wrong, and the next question starts with the first again."""

    def __init__(self, method: Method | Literal["auto"] = "auto") -> None:
        self.setting = method
        self.method: Method = METHODS[0] if method == "auto" else method

    def bind(self, model: BaseChatModel, shape: type[BaseModel]) -> Runnable[Any, Any]:
        """The model as a runnable that returns {"raw", "parsed", "parsing_error"}."""
        if self.method == "text":
            return model | RunnableLambda(lambda raw: parse_record(raw, shape))
        return model.with_structured_output(shape, method=_BOUND[self.method], include_raw=True)

    def with_instructions(self, messages: list[BaseMessage], shape: type[BaseModel]) -> list[BaseMessage]:
        """The messages for this format; for plain words the first one, which a server caches, describes the fields."""
        if self.method != "text":
            return messages
        schema = shape.model_json_schema()
        form = json.dumps({**schema["properties"], **schema.get("$defs", {})}, sort_keys=True)
        told = f"{messages[0].content}\n\nAnswer with one JSON object and nothing else. Its fields: {form}"
        return [type(messages[0])(told), *messages[1:]]

    def change_after(self, error: Exception, tried: Method) -> bool:
        """Whether to try another format now, after an error with the format `tried`."""
        if self.setting != "auto" or getattr(error, "status_code", None) not in _REFUSALS:
            return False
        if self.method != tried:
            # a concurrent question has changed it already
            return METHODS.index(self.method) > METHODS.index(tried)
        following = METHODS.index(tried) + 1
        self.method = METHODS[following % len(METHODS)]
        return following < len(METHODS)


def plain_schema(schema: dict[str, Any]) -> None:
    """Leave out of a JSON schema what a model does not need: titles of fields, and descriptions for programmers."""
    schema.pop("description", None)
    for each in schema.get("properties", {}).values():
        each.pop("title", None)


def parse_record(raw: AIMessage, shape: type[BaseModel]) -> dict[str, Any]:
    """The record in a text: the outermost braces, or for a shape with one text field the content of a fence.

    >>> class Word(BaseModel):
    ...     word: str
    >>> parse_record(AIMessage('Sure: {"word": "a"}'), Word)["parsed"]
    Word(word='a')
    >>> parse_record(AIMessage("```\\nb\\n```"), Word)["parsed"]
    Word(word='b')
    """
    text = str(raw.text)
    fields = list(shape.model_fields)
    first, last = text.find("{"), text.rfind("}")
    # braces in a fence, as in YAML, are no JSON
    in_fence = len(fields) == 1 and "```" in text and not fenced_text(text).startswith("{")
    try:
        if 0 <= first < last and not in_fence:
            return {"raw": raw, "parsed": shape.model_validate_json(text[first : last + 1]), "parsing_error": None}
        # a reply that starts with a brace was cut off
        if len(fields) == 1 and text.strip() and not fenced_text(text).startswith("{"):
            return {"raw": raw, "parsed": shape.model_validate({fields[0]: fenced_text(text)}), "parsing_error": None}
    except ValidationError as error:
        return {"raw": raw, "parsed": None, "parsing_error": error}
    return {"raw": raw, "parsed": None, "parsing_error": ValueError("there is no JSON object in it")}


def fenced_text(text: str) -> str:
    """The content of the first fence of a text, or the text.

    >>> fenced_text("Here: ```sql\\nSELECT 1\\n``` done")
    'SELECT 1'
    """
    _, fence, rest = text.partition("```")
    if not fence:
        return text.strip()
    inside = rest.partition("```")[0]
    head, line, body = inside.partition("\n")
    return (body if line and head.strip().isalpha() else inside).strip()


@dataclass(frozen=True)
class Limits:
    """The limits of model calls; `deadline` is by `time.monotonic()`, `version` that of the graph. `retries` count
    malformed replies, `busy_retries` errors of the server, `exchanges` calls for one query. `schema_tokens` and
    `example_tokens` are the room of the schema and of verified questions in a prompt. `cache` has earlier replies,
    `output` the format."""

    seconds: float = 60.0
    retries: int = 2
    evidence_tokens: int = 2500
    schema_tokens: int = 6000
    example_tokens: int = 400
    busy_retries: int = 2
    exchanges: int = 3
    cache: BaseCache | None = None
    output: StructuredOutput = field(default_factory=StructuredOutput)
    deadline: float = math.inf
    version: str = ""

    def until(self, deadline: float, version: str) -> "Limits":
        """The limits of one turn."""
        return replace(self, deadline=deadline, version=version)

    def seconds_left(self) -> float:
        """How many seconds the next call may take, 0 if the turn is over."""
        return max(0.0, min(self.seconds, self.deadline - time.monotonic()))


async def structured_reply(
    model: BaseChatModel,
    messages: Sequence[BaseMessage],
    shape: type[Shape],
    *,
    limits: Limits,
    refuse: Callable[[Shape], Awaitable[str | None]] | None = None,
) -> tuple[Shape, Usage]:
    """A record of type `shape`, requested in a way that the model's server supports. Raises ModelFailed. A malformed
    or refused reply is sent back with the reason, at most `limits.retries` times, and not if it is given again."""
    counter = UsageCounter()
    sent = list(messages)
    why = before = ""
    for _ in range(limits.retries + 1):
        cached = CachedReply(limits, model, sent, json.dumps(shape.model_json_schema(), sort_keys=True))
        known = await cached.text()
        if known is None:
            raw, parsed, why = await _call(model, sent, shape, counter, limits)
            if parsed is not None:
                await cached.store(parsed.model_dump_json())
        else:
            raw, parsed, why = known, shape.model_validate_json(known), ""
        if parsed is not None:
            reason = await refuse(parsed) if refuse else None
            if reason is None:
                return parsed, counter.usage
            why = reason
        if raw and raw == before:
            break
        before = raw
        log.info("model reply sent back: %s", why)
        sent = [*messages, AIMessage(raw), HumanMessage(f"That can't be used: {why}\nGive a corrected answer.")]
    raise ModelFailed(why or "malformed answer", counter.usage)


class CachedReply:
    """The place of one reply in the cache. Without a cache, or if it fails, there is never one."""

    def __init__(self, limits: Limits, model: BaseChatModel, messages: Sequence[BaseMessage], shape: str) -> None:
        self._cache = limits.cache
        self._prompt = json.dumps([[message.type, message.content] for message in messages], ensure_ascii=False)
        name = (model.metadata or {}).get("model", model._llm_type)
        self._key = json.dumps([name, shape, limits.version])

    async def text(self) -> str | None:
        """The cached reply, or None."""
        if self._cache is None:
            return None
        try:
            generations = await self._cache.alookup(self._prompt, self._key)
        except sqlite3.Error as error:
            log.warning("cached model replies can't be read: %s", error)
            return None
        return str(generations[0].text) if generations else None

    async def store(self, text: str) -> None:
        """Store a complete reply."""
        if self._cache is None:
            return
        try:
            await self._cache.aupdate(self._prompt, self._key, [Generation(text=text)])
        except sqlite3.Error as error:
            log.warning("a model reply can't be cached: %s", error)


class UsageCounter(AsyncCallbackHandler):
    """Counts the calls, tokens and price of its models, by their metadata: US dollars for a million tokens (read,
    cached, written). A call is unpriced until its tokens are known; one that the server refused costs nothing."""

    def __init__(self) -> None:
        self.usage = NO_USAGE
        self._prices: dict[UUID, tuple[float, float, float] | None] = {}
        self._started: dict[UUID, tuple[float, tuple[tuple[str, str], ...]]] = {}

    async def on_chat_model_start(
        self, serialized: Any, messages: Any, *, run_id: UUID, metadata: dict[str, Any] | None = None, **kwargs: Any
    ) -> None:
        price = (metadata or {}).get("price")
        self._prices[run_id] = price
        if call_log.get() is not None:
            sent = tuple((str(m.type), str(m.text)[:LONGEST]) for each in messages for m in each)
            self._started[run_id] = time.perf_counter(), sent
        self.usage += Usage(calls=1, unpriced=int(price != FREE))
        if (spent := spending.get()) is not None:
            tokens = sum(len(m.text) for each in messages for m in each) // CHARACTERS_PER_TOKEN
            spent[run_id] = tokens, tokens * (price or FREE)[0] / MILLION

    async def on_llm_end(self, response: LLMResult, *, run_id: UUID, **kwargs: Any) -> None:
        price = self._prices.get(run_id)
        self._record(response, run_id)
        for generation in (g for generations in response.generations for g in generations):
            message = generation.message if isinstance(generation, ChatGeneration) else None
            spent = message.usage_metadata if isinstance(message, AIMessage) else None
            if not spent:
                continue
            cached = (spent.get("input_token_details") or {}).get("cache_read") or 0
            self.usage += Usage(input=spent["input_tokens"], cached=cached, output=spent["output_tokens"])
            read, again, written = price or FREE
            tokens = (spent["input_tokens"] - cached) * read + cached * again + spent["output_tokens"] * written
            if price is not None and price != FREE:
                self.usage += Usage(price=tokens / MILLION, unpriced=-1)
            if run_id in (of_turn := spending.get() or {}):
                of_turn[run_id] = spent["input_tokens"] + spent["output_tokens"], tokens / MILLION

    def _record(self, response: LLMResult, run_id: UUID) -> None:
        started, messages = self._started.pop(run_id, (0.0, ()))
        first = next((g for generations in response.generations for g in generations), None)
        if not messages or first is None:
            return
        message = first.message if isinstance(first, ChatGeneration) else None
        counted = message.usage_metadata if isinstance(message, AIMessage) else None
        tokens = (counted["input_tokens"], counted["output_tokens"]) if counted else (0, 0)
        # a record may come as the arguments of a tool call
        arguments = [each["args"] for each in message.tool_calls] if isinstance(message, AIMessage) else []
        answer = first.text or "\n".join(map(str, arguments))
        record_call(ModelCall(messages, answer[:LONGEST], round(time.perf_counter() - started, 3), *tokens))

    async def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        if getattr(error, "status_code", 0):
            self.usage += Usage(unpriced=-int(self._prices.get(run_id) != FREE))
            (spending.get() or {}).pop(run_id, None)


async def _call(
    model: BaseChatModel, messages: list[BaseMessage], shape: type[Shape], counter: UsageCounter, limits: Limits
) -> tuple[str, Shape | None, str]:
    seconds = limits.seconds_left()
    if not seconds:
        raise ModelFailed(TURN_IS_OVER, counter.usage)
    tried, bound = limits.output.method, limits.output.bind(model, shape)
    prompt = limits.output.with_instructions(messages, shape)
    try:
        async with asyncio.timeout(seconds):
            answer = await _call_with_retries(partial(bound.ainvoke, prompt, _run_config(counter)), limits)
    except (ValidationError, OutputParserException, json.JSONDecodeError) as error:
        raw = _raw_reply(error)
        return raw, parse_record(AIMessage(raw), shape)["parsed"], _reply_fault(error)
    except TimeoutError:
        raise ModelFailed(f"no answer within {seconds:.3g} s", counter.usage) from None
    except Exception as error:
        if limits.output.change_after(error, tried):
            log.info("the model's server refused the requested format: %s", _failure(error))
            return await _call(model, messages, shape, counter, limits)
        # every provider has its own errors; after any of them the rules answer
        raise ModelFailed(_failure(error), counter.usage) from error
    if answer.get("parsed") is None and answer.get("raw") is not None:
        # a server may ignore the requested format and reply in words
        answer = parse_record(answer["raw"], shape) | {"parsing_error": answer.get("parsing_error")}
    raw = str(answer["raw"].content) if answer.get("raw") is not None else ""
    refusal = getattr(answer.get("raw"), "additional_kwargs", {}).get("refusal")
    if refusal:
        log.debug("the model refused: %s", logged_error(ValueError(refusal)))
        raise ModelFailed("the model refused to answer", counter.usage)
    if isinstance(answer.get("parsed"), shape):
        return raw, answer["parsed"], ""
    return raw, None, _reply_fault(answer.get("parsing_error") or ValueError("malformed answer"))


async def stream_reply(
    model: BaseChatModel, messages: Sequence[BaseMessage], counter: UsageCounter, *, limits: Limits
) -> AsyncIterator[str]:
    """The text of one reply as it arrives. Raises ModelFailed if it breaks off, repeats itself or does not end."""
    cached = CachedReply(limits, model, messages, "text")
    before = await cached.text()
    if before is not None:
        yield before
        return
    reply = ""
    async for text in _stream(model, messages, counter, limits):
        reply += text
        if len(reply) > MOST_CHARACTERS:
            raise ModelFailed(f"would not stop after {MOST_CHARACTERS} characters", counter.usage)
        if is_repeating(reply):
            raise ModelFailed("it repeated itself", counter.usage)
        yield text
    if reply.strip():
        await cached.store(reply)


async def _stream(
    model: BaseChatModel, messages: Sequence[BaseMessage], counter: UsageCounter, limits: Limits
) -> AsyncIterator[str]:
    seconds = limits.seconds_left()
    if not seconds:
        raise ModelFailed(TURN_IS_OVER, counter.usage)
    deadline = time.monotonic() + seconds
    chunks: Any = None
    is_complete = model._llm_type not in REPORTS_STREAM_END

    async def start() -> Any:
        nonlocal chunks
        chunks = model.astream(list(messages), _run_config(counter))
        return await anext(chunks)

    following: Callable[[], Awaitable[Any]] = partial(_call_with_retries, start, limits)
    try:
        while True:
            try:
                # not asyncio.wait_for: in Python 3.11 it swallows a cancellation that comes with the chunk
                async with asyncio.timeout(max(0.001, deadline - time.monotonic())):
                    chunk = await following()
            except StopAsyncIteration:
                break
            except TimeoutError:
                raise ModelFailed(f"no end within {seconds:.3g} s", counter.usage) from None
            except Exception as error:
                raise ModelFailed(_failure(error), counter.usage) from error
            following = chunks.__anext__
            is_complete = is_complete or bool(STREAM_END_KEYS & chunk.response_metadata.keys())
            if text := str(chunk.text):
                yield text
        if not is_complete:
            raise ModelFailed("it broke off", counter.usage)
    finally:
        close = getattr(chunks, "aclose", None)
        if close is not None:
            await close()


def is_repeating(text: str) -> bool:
    """Whether a text ends with many repetitions of the same words."""
    for size in range(1, min(LONGEST_REPETITION, len(text) // MOST_REPETITIONS) + 1):
        times = max(MOST_REPETITIONS, -(-48 // size))
        if text.endswith(text[-size:] * times):
            return True
    return False


async def _call_with_retries(call: Callable[[], Awaitable[T]], limits: Limits) -> T:
    """The result of `call`; if the server is busy or broken it is called again, after pauses that double."""
    pause = FIRST_PAUSE
    for _ in range(limits.busy_retries):
        try:
            return await call()
        except Exception as error:
            wait = max(pause, _retry_after(error))
            status = getattr(error, "status_code", None)
            # too many requests, or a server error
            is_transient = isinstance(status, int) and (status in (408, 429) or 500 <= status < 600)
            if not is_transient or wait >= limits.seconds_left():
                raise
            log.info("model server is busy, again in %.1f s: %s", wait, _failure(error))
        await asyncio.sleep(wait)
        pause *= 2
    return await call()


def _retry_after(error: Exception) -> float:
    """The seconds that a server asks to wait, else 0."""
    headers = getattr(getattr(error, "response", None), "headers", {})
    try:
        return float(headers.get("retry-after", 0))
    except ValueError:
        # a date, which model servers do not send
        return 0.0


def _raw_reply(error: ValidationError | OutputParserException | json.JSONDecodeError) -> str:
    """The reply that a client could not parse as a record; "" if its error does not have it."""
    if isinstance(error, ValidationError):
        return next((str(each["input"]) for each in error.errors() if each["type"] == "json_invalid"), "")
    return str((error.llm_output if isinstance(error, OutputParserException) else error.doc) or "")


def _run_config(counter: UsageCounter) -> RunnableConfig:
    # "nostream": the stream mode `messages` would show tokens that have not passed the gate
    return {"callbacks": [counter], "tags": ["nostream"]}


def _failure(error: Exception) -> str:
    """The reason of a failed call for records; the text of its error goes to the log."""
    log.debug("call of a model failed: %s", logged_error(error))
    return failure_reason(error)


def _reply_fault(error: Exception) -> str:
    """What is wrong with a reply that is no record, without its text, which goes to the log.

    >>> _reply_fault(ValueError("there is no JSON object in it"))
    'ValueError: the reply is not the requested record'
    """
    log.debug("malformed reply: %s", logged_error(error))
    return f"{type(error).__name__}: the reply is not the requested record"


# the length of a token, to fit texts into a budget of tokens (given)
CHARACTERS_PER_TOKEN = 4
MILLION = 1_000_000


# characters that are kept of a message, and of all calls of a run
LONGEST, MOST = 40_000, 200_000


@dataclass(frozen=True)
class ModelCall:
    """One call: its messages as (role, text), the reply, how long it took, and its tokens."""

    messages: tuple[tuple[str, str], ...]
    answer: str
    seconds: float
    input_tokens: int = 0
    output_tokens: int = 0


# the list is set by whoever runs a turn; without one nothing is recorded
call_log: ContextVar[list[ModelCall] | None] = ContextVar("heard", default=None)


def record_call(call: ModelCall) -> None:
    """Add a call to the log of its run, within bounds."""
    calls = call_log.get()
    if calls is not None and sum(map(_size, calls)) + _size(call) <= MOST:
        calls.append(call)


def _size(call: ModelCall) -> int:
    return len(call.answer) + sum(len(text) for _, text in call.messages)


# characters of an error that the log gets (given)
MAX_LOGGED = 500

# what may be a key: a long word with a digit, what follows "Bearer" or "key=", and the user of an address
_SECRET = re.compile(
    r"(?<=://)[^/@\s]++@|(?<=\bbearer )\S++|(?<=key[=:])\s?[^\s&;,]++"
    r"|(?<![\w+/=.~*-])(?=[A-Za-z_+/=.~*-]*+\d)[\w+/=.~*-]{12,}",
    re.IGNORECASE,
)


def failure_reason(error: BaseException) -> str:
    """A sentence without text of the model's server, which may quote a key or a prompt.

    >>> failure_reason(ConnectionError("https://ann:secret@host refused"))
    "ConnectionError: the model's server can't be reached"
    """
    kind, status = type(error).__name__, getattr(error, "status_code", None)
    if isinstance(status, int):
        return f"{kind}: the model's server answered with status {status}"
    if isinstance(error, TimeoutError) or "Timeout" in kind:
        return f"{kind}: the model's server did not answer in time"
    # clients have errors of connections of their own: APIConnectionError of OpenAI, TransportError of httpx
    bases = {each.__name__ for each in type(error).__mro__}
    if isinstance(error, OSError) or "TransportError" in bases or "Connect" in kind:
        return f"{kind}: the model's server can't be reached"
    if isinstance(error, AttributeError | json.JSONDecodeError):
        return f"{kind}: the model's server replied with no JSON of the chat API"
    return f"{kind}: the call of the model failed"


def logged_error(error: BaseException) -> str:
    """The text of an error on one line, shortened, with an ellipsis for what may be a key.

    >>> logged_error(ValueError("Incorrect API key: sk-abc; or Bearer abc of abc123def456ghi"))
    'Incorrect API key:…; or Bearer … of …'
    """
    text = escape_controls(" ".join(str(error)[:MAX_LOGGED].split()))
    return _SECRET.sub("…", text)


FOLDER = Path(__file__).parent / "prompts"


def prompt(name: str, **blanks: str) -> str:
    """The text of `prompts/<name>.md` with every `$blank` filled."""
    return _template(name).substitute(blanks)


def read_prompts() -> None:
    """Read all prompts now, so that no turn reads a file on the event loop."""
    for file in FOLDER.glob("*.md"):
        _template(file.stem)


@cache
def _template(name: str) -> Template:
    return Template((FOLDER / f"{name}.md").read_text("utf-8").strip())
