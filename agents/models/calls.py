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
# clients that pass on why a stream ended: without it, the connection was lost
REPORTS_STREAM_END = ("openai-chat", "chat-ollama")
ENDED = {"finish_reason", "done_reason"}
TURN_IS_OVER = "the time of this turn was used up"


class ModelFailed(Exception):
    """The model gave nothing that can be used. `why` is short and plain; `usage` is what was spent on the way."""

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
    """A record of type `shape`, asked for in the way that the model's server takes.

    A malformed answer, or one for which `refuse` gives a reason, goes back with that reason at most `limits.retries`
    times. Raises ModelFailed.
    """
    meter = UsageCounter()
    said = list(messages)
    why = ""
    for _ in range(limits.retries + 1):
        kept = CachedReply(limits, model, said, json.dumps(shape.model_json_schema(), sort_keys=True))
        raw, parsed, why = await _kept_or_asked(kept, model, said, shape, meter, limits)
        if parsed is not None:
            reason = await refuse(parsed) if refuse else None
            if reason is None:
                return parsed, meter.usage
            why = reason
        log.info("model answer sent back: %s", why)
        said = [*messages, AIMessage(raw), HumanMessage(f"That can't be used: {why}\nGive a corrected answer.")]
    raise ModelFailed(why or "malformed answer", meter.usage)


async def _kept_or_asked(
    kept: CachedReply,
    model: BaseChatModel,
    messages: list[BaseMessage],
    shape: type[Shape],
    meter: UsageCounter,
    limits: Limits,
) -> tuple[str, Shape | None, str]:
    """One answer: its text, the record or None, and what is wrong with it."""
    before = await kept.text()
    if before is not None:
        return before, shape.model_validate_json(before), ""
    raw, parsed, why = await _once(model, messages, shape, meter, limits)
    if parsed is not None:
        await kept.keep(parsed.model_dump_json())
    return raw, parsed, why


async def _once(
    model: BaseChatModel, messages: list[BaseMessage], shape: type[Shape], meter: UsageCounter, limits: Limits
) -> tuple[str, Shape | None, str]:
    seconds = limits.seconds_left()
    if not seconds:
        raise ModelFailed(TURN_IS_OVER, meter.usage)
    tried, bound, worded = (
        limits.output.method,
        limits.output.bound(model, shape),
        limits.output.worded(messages, shape),
    )
    try:
        async with asyncio.timeout(seconds):
            answer = await _patiently(partial(bound.ainvoke, worded, _config(meter)), limits)
    except (ValidationError, OutputParserException, json.JSONDecodeError) as error:
        raw = _answered(error)
        return raw, parse_record(AIMessage(raw), shape)["parsed"], _short(error)
    except TimeoutError:
        raise ModelFailed(f"no answer within {seconds:.3g} s", meter.usage) from None
    except Exception as error:
        if limits.output.moves_on(error, tried):
            log.info("the model's server refused the way it was asked: %s", _short(error))
            return await _once(model, messages, shape, meter, limits)
        # every provider has its own family of errors; whichever it is, the rules go on
        raise ModelFailed(_short(error), meter.usage) from error
    if answer.get("parsed") is None and answer.get("raw") is not None:
        # a server may ignore how it was asked, and answer in words
        answer = parse_record(answer["raw"], shape) | {"parsing_error": answer.get("parsing_error")}
    raw = str(answer["raw"].content) if answer.get("raw") is not None else ""
    refusal = getattr(answer.get("raw"), "additional_kwargs", {}).get("refusal")
    if refusal:
        raise ModelFailed(f"refused: {refusal}", meter.usage)
    if isinstance(answer.get("parsed"), shape):
        return raw, answer["parsed"], ""
    return raw, None, _short(answer.get("parsing_error") or ValueError("malformed answer"))


async def stream_reply(
    model: BaseChatModel, messages: Sequence[BaseMessage], meter: UsageCounter, *, limits: Limits
) -> AsyncIterator[str]:
    """The text of one answer as it comes. Raises ModelFailed when it stops coming, repeats itself or does not stop."""
    kept = CachedReply(limits, model, messages, "text")
    before = await kept.text()
    if before is not None:
        yield before
        return
    said = ""
    async for text in _pieces(model, messages, meter, limits):
        said += text
        if len(said) > MOST_CHARACTERS:
            raise ModelFailed(f"would not stop after {MOST_CHARACTERS} characters", meter.usage)
        if is_repeating(said):
            raise ModelFailed("it repeated itself", meter.usage)
        yield text
    if said.strip():
        await kept.keep(said)


async def _pieces(
    model: BaseChatModel, messages: Sequence[BaseMessage], meter: UsageCounter, limits: Limits
) -> AsyncIterator[str]:
    seconds = limits.seconds_left()
    if not seconds:
        raise ModelFailed(TURN_IS_OVER, meter.usage)
    deadline = time.monotonic() + seconds
    chunks: Any = None
    whole = model._llm_type not in REPORTS_STREAM_END

    async def opened() -> Any:
        nonlocal chunks
        chunks = model.astream(list(messages), _config(meter))
        return await anext(chunks)

    following: Callable[[], Awaitable[Any]] = partial(_patiently, opened, limits)
    try:
        while True:
            try:
                chunk = await asyncio.wait_for(following(), max(0.001, deadline - time.monotonic()))
            except StopAsyncIteration:
                break
            except TimeoutError:
                raise ModelFailed(f"no end within {seconds:.3g} s", meter.usage) from None
            except Exception as error:
                raise ModelFailed(_short(error), meter.usage) from error
            following = chunks.__anext__
            whole = whole or bool(ENDED & chunk.response_metadata.keys())
            if text := str(chunk.text):
                yield text
        if not whole:
            raise ModelFailed("it broke off", meter.usage)
    finally:
        close = getattr(chunks, "aclose", None)
        if close is not None:
            await close()


def is_repeating(text: str) -> bool:
    """Whether a text ends by saying the same thing over and over.

    >>> is_repeating("It is blue. " * 6), is_repeating("Red, blue, green, red."), is_repeating("no" * 9)
    (True, False, False)
    """
    for size in range(1, min(LONGEST_REPETITION, len(text) // MOST_REPETITIONS) + 1):
        times = max(MOST_REPETITIONS, -(-48 // size))
        if text.endswith(text[-size:] * times):
            return True
    return False


async def _patiently(call: Callable[[], Awaitable[T]], limits: Limits) -> T:
    """What `call` gives; where the server is busy or broken, it is called again after a pause that doubles."""
    pause = FIRST_PAUSE
    for _ in range(limits.busy_retries):
        try:
            return await call()
        except Exception as error:
            wait = max(pause, _asked_to_wait(error))
            if not is_transient(error) or wait >= limits.seconds_left():
                raise
            log.info("model server is busy, again in %.1f s: %s", wait, _short(error))
        await asyncio.sleep(wait)
        pause *= 2
    return await call()


def is_transient(error: Exception) -> bool:
    """Whether a provider's error says "later": too many requests, or a server that is out of order."""
    status = getattr(error, "status_code", None)
    return isinstance(status, int) and (status in (408, 429) or 500 <= status < 600)


def _asked_to_wait(error: Exception) -> float:
    """The seconds that a server asks to wait for, 0 where it does not."""
    headers = getattr(getattr(error, "response", None), "headers", {})
    try:
        return float(headers.get("retry-after", 0))
    except ValueError:
        # it may be a date, which servers of models do not send
        return 0.0


def _answered(error: ValidationError | OutputParserException | json.JSONDecodeError) -> str:
    """The text that a client could not read as a record, "" where its error does not tell."""
    if isinstance(error, ValidationError):
        return next((str(each["input"]) for each in error.errors() if each["type"] == "json_invalid"), "")
    return str((error.llm_output if isinstance(error, OutputParserException) else error.doc) or "")


def _config(meter: UsageCounter) -> RunnableConfig:
    # "nostream": the graph's own `messages` stream would show tokens that have not passed the gate
    return {"callbacks": [meter], "tags": ["nostream"]}


def _short(error: Exception) -> str:
    """The first line of an error, cut to what a person reads."""
    lines = str(error).strip().splitlines()
    text = lines[0] if lines else ""
    return f"{type(error).__name__}: {text}"[:200] if text else type(error).__name__
