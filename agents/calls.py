"""Bounded calls of a chat model: messages -> a validated record, or a stream of text; ModelFailed otherwise."""

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.exceptions import OutputParserException
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, LLMResult
from langchain_core.runnables import RunnableConfig
from pydantic import BaseModel, ValidationError

from agents.result import NOTHING, Usage

log = logging.getLogger(__name__)
Shape = TypeVar("Shape", bound=BaseModel)

MOST_CHARACTERS = 6000


@dataclass(frozen=True)
class Limits:
    """What a model may take: seconds a call, malformed answers asked for again, tokens of evidence and schema shown."""

    seconds: float = 60.0
    retries: int = 2
    evidence_tokens: int = 350
    schema_tokens: int = 1500


class ModelFailed(Exception):
    """The model gave nothing that can be used. `why` is short and plain; `usage` is what was spent on the way."""

    def __init__(self, why: str, usage: Usage = NOTHING) -> None:
        super().__init__(why)
        self.why = why
        self.usage = usage


class Meter(AsyncCallbackHandler):
    """Counts the calls and tokens of whatever it is handed to."""

    def __init__(self) -> None:
        self.usage = NOTHING

    async def on_chat_model_start(self, serialized: Any, messages: Any, **kwargs: Any) -> None:
        self.usage += Usage(calls=1)

    async def on_llm_end(self, response: LLMResult, **kwargs: Any) -> None:
        for generation in (g for generations in response.generations for g in generations):
            message = generation.message if isinstance(generation, ChatGeneration) else None
            spent = message.usage_metadata if isinstance(message, AIMessage) else None
            if spent:
                cached = (spent.get("input_token_details") or {}).get("cache_read") or 0
                self.usage += Usage(input=spent["input_tokens"], cached=cached, output=spent["output_tokens"])


async def structured(
    model: BaseChatModel,
    messages: Sequence[BaseMessage],
    shape: type[Shape],
    *,
    limits: Limits,
    refuse: Callable[[Shape], Awaitable[str | None]] | None = None,
) -> tuple[Shape, Usage]:
    """A record of type `shape`, asked for by its JSON schema.

    A malformed answer, or one for which `refuse` gives a reason, goes back with that reason at most `limits.retries`
    times. Raises ModelFailed.
    """
    meter = Meter()
    bound = model.with_structured_output(shape, method="json_schema", include_raw=True)
    said = list(messages)
    why = ""
    for _ in range(limits.retries + 1):
        raw, parsed, why = await _once(bound, said, shape, meter, limits.seconds)
        if parsed is not None:
            reason = await refuse(parsed) if refuse else None
            if reason is None:
                return parsed, meter.usage
            why = reason
        log.info("model answer sent back: %s", why)
        said = [*messages, AIMessage(raw), HumanMessage(f"That can't be used: {why}\nGive a corrected answer.")]
    raise ModelFailed(why or "malformed answer", meter.usage)


async def _once(
    bound: Any, messages: list[BaseMessage], shape: type[Shape], meter: Meter, seconds: float
) -> tuple[str, Shape | None, str]:
    """One call: the raw text, the record or None, and what is wrong with it."""
    try:
        async with asyncio.timeout(seconds):
            answer = await bound.ainvoke(messages, _config(meter))
    except (ValidationError, OutputParserException, json.JSONDecodeError) as error:
        return "", None, _short(error)
    except TimeoutError:
        raise ModelFailed(f"no answer within {seconds:g} s", meter.usage) from None
    except Exception as error:
        # every provider has its own family of errors; whichever it is, the rules go on
        raise ModelFailed(_short(error), meter.usage) from error
    raw = str(answer["raw"].content) if answer.get("raw") is not None else ""
    refusal = getattr(answer.get("raw"), "additional_kwargs", {}).get("refusal")
    if refusal:
        raise ModelFailed(f"refused: {refusal}", meter.usage)
    if isinstance(answer.get("parsed"), shape):
        return raw, answer["parsed"], ""
    return raw, None, _short(answer.get("parsing_error") or ValueError("malformed answer"))


async def streamed(
    model: BaseChatModel, messages: Sequence[BaseMessage], meter: Meter, *, limits: Limits
) -> AsyncIterator[str]:
    """The text of one answer as it comes. Raises ModelFailed when it stops coming, or does not stop."""
    deadline = time.monotonic() + limits.seconds
    length = 0
    chunks = model.astream(list(messages), _config(meter))
    try:
        while True:
            try:
                chunk = await asyncio.wait_for(anext(chunks), max(0.001, deadline - time.monotonic()))
            except StopAsyncIteration:
                return
            except TimeoutError:
                raise ModelFailed(f"no end within {limits.seconds:g} s", meter.usage) from None
            except Exception as error:
                raise ModelFailed(_short(error), meter.usage) from error
            text = str(chunk.text)
            length += len(text)
            if length > MOST_CHARACTERS:
                raise ModelFailed(f"would not stop after {MOST_CHARACTERS} characters", meter.usage)
            if text:
                yield text
    finally:
        close = getattr(chunks, "aclose", None)
        if close is not None:
            await close()


def _config(meter: Meter) -> RunnableConfig:
    # "nostream": the graph's own `messages` stream would show tokens that have not passed the gate
    return {"callbacks": [meter], "tags": ["nostream"]}


def _short(error: Exception) -> str:
    """The first line of an error, cut to what a person reads."""
    lines = str(error).strip().splitlines()
    text = lines[0] if lines else ""
    return f"{type(error).__name__}: {text}"[:200] if text else type(error).__name__
