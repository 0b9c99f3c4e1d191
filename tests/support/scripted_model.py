"""A chat model that says what a test put into its queue, and remembers what it was asked."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.output_parsers import PydanticOutputParser
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableLambda
from pydantic import BaseModel, Field

USAGE = {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120, "input_token_details": {"cache_read": 40}}


@dataclass
class Cut:
    """A stream that breaks off after `text`."""

    text: str
    error: Exception


@dataclass
class Slow:
    """An answer that takes `seconds`."""

    text: str
    seconds: float


Reply = str | dict[str, Any] | Exception | Cut | Slow


def step(
    *queries: str,
    wants: str = "names",
    look_ups: Sequence[dict[str, str]] = (),
    meaning: str = "",
    missing: str = "",
    standalone: str | None = None,
) -> dict[str, Any]:
    """What a model answers that is asked for queries; in a conversation it also says the question standing alone."""
    return {
        "wants": wants,
        "look_ups": list(look_ups),
        "queries": list(queries),
        "meaning": meaning,
        "missing": missing,
        **({} if standalone is None else {"standalone": standalone}),
    }


class ScriptedModel(BaseChatModel):
    """`replies` are used up from the front; one call too many is an error of the test."""

    replies: list[Any] = Field(default_factory=list)
    asked: list[list[BaseMessage]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        raise NotImplementedError("the scripted model is asked on the event loop only")

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        text = "".join([part async for part in self._parts(messages)])
        message = AIMessage(text, usage_metadata=USAGE)
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        async for part in self._parts(messages):
            yield ChatGenerationChunk(message=AIMessageChunk(content=part))
        yield ChatGenerationChunk(message=AIMessageChunk(content="", usage_metadata=USAGE))

    def with_structured_output(
        self, schema: Any, *, include_raw: bool = False, method: str = "", **kwargs: Any
    ) -> Runnable[Any, Any]:
        assert method == "json_schema", "the one method that every provider knows"
        assert issubclass(schema, BaseModel)
        parser: PydanticOutputParser[Any] = PydanticOutputParser(pydantic_object=schema)

        def parsed(raw: AIMessage) -> dict[str, Any]:
            try:
                return {"raw": raw, "parsed": parser.parse(str(raw.content)), "parsing_error": None}
            except Exception as error:
                return {"raw": raw, "parsed": None, "parsing_error": error}

        return self | RunnableLambda(parsed)

    async def _parts(self, messages: list[BaseMessage]) -> AsyncIterator[str]:
        self.asked.append(messages)
        assert self.replies, f"nothing left to say to: {messages[-1].content}"
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, Slow):
            await asyncio.sleep(reply.seconds)
            reply = reply.text
        text = reply.text if isinstance(reply, Cut) else json.dumps(reply) if isinstance(reply, dict) else str(reply)
        for part in re.findall(r"\S+|\s+", text):
            yield part
        if isinstance(reply, Cut):
            raise reply.error
