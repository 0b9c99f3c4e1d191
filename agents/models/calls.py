"""Bounded calls of a chat model: messages -> a validated record, or a stream of text; ModelFailed otherwise."""

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from langchain_core.exceptions import OutputParserException
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from pydantic import BaseModel, ValidationError

from agents.models.failure_reasons import failure_reason, logged_error, reply_fault
from agents.models.limits import Limits
from agents.models.reply_cache import CachedReply
from agents.models.structured_output import parse_record
from agents.models.usage import UsageCounter
from agents.result import NO_USAGE, Usage

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


async def structured_reply(
    model: BaseChatModel,
    messages: Sequence[BaseMessage],
    shape: type[Shape],
    *,
    limits: Limits,
    refuse: Callable[[Shape], Awaitable[str | None]] | None = None,
) -> tuple[Shape, Usage]:
    """A record of type `shape`, requested in a way that the model's server supports.

    A malformed reply, or one for which `refuse` returns a reason, is sent back with the reason, at most
    `limits.retries` times. Raises ModelFailed.
    """
    counter = UsageCounter()
    sent = list(messages)
    why = ""
    for _ in range(limits.retries + 1):
        cached = CachedReply(limits, model, sent, json.dumps(shape.model_json_schema(), sort_keys=True))
        raw, parsed, why = await _cached_or_new(cached, model, sent, shape, counter, limits)
        if parsed is not None:
            reason = await refuse(parsed) if refuse else None
            if reason is None:
                return parsed, counter.usage
            why = reason
        log.info("model reply sent back: %s", why)
        sent = [*messages, AIMessage(raw), HumanMessage(f"That can't be used: {why}\nGive a corrected answer.")]
    raise ModelFailed(why or "malformed answer", counter.usage)


async def _cached_or_new(
    cached: CachedReply,
    model: BaseChatModel,
    messages: list[BaseMessage],
    shape: type[Shape],
    counter: UsageCounter,
    limits: Limits,
) -> tuple[str, Shape | None, str]:
    """One reply: its text, the record or None, and what is wrong with it."""
    before = await cached.text()
    if before is not None:
        return before, shape.model_validate_json(before), ""
    raw, parsed, why = await _call(model, messages, shape, counter, limits)
    if parsed is not None:
        await cached.store(parsed.model_dump_json())
    return raw, parsed, why


async def _call(
    model: BaseChatModel, messages: list[BaseMessage], shape: type[Shape], counter: UsageCounter, limits: Limits
) -> tuple[str, Shape | None, str]:
    seconds = limits.seconds_left()
    if not seconds:
        raise ModelFailed(TURN_IS_OVER, counter.usage)
    tried, bound, prompt = (
        limits.output.method,
        limits.output.bind(model, shape),
        limits.output.with_instructions(messages, shape),
    )
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
    """Whether a text ends with many repetitions of the same words.

    >>> is_repeating("It is blue. " * 6), is_repeating("Red, blue, green, red."), is_repeating("no" * 9)
    (True, False, False)
    """
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
            if not is_transient(error) or wait >= limits.seconds_left():
                raise
            log.info("model server is busy, again in %.1f s: %s", wait, _failure(error))
        await asyncio.sleep(wait)
        pause *= 2
    return await call()


def is_transient(error: Exception) -> bool:
    """Whether a provider's error may go away: too many requests, or a server error."""
    status = getattr(error, "status_code", None)
    return isinstance(status, int) and (status in (408, 429) or 500 <= status < 600)


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
    """What is wrong with a reply, without its text, which goes to the log."""
    log.debug("malformed reply: %s", logged_error(error))
    return reply_fault(error)
