"""Count calls, tokens and price of models: LangChain callbacks -> Usage."""

import time
from typing import Any
from uuid import UUID

from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, LLMResult

from agents.models.call_log import LONGEST, ModelCall, call_log, record_call
from agents.result import NO_USAGE, Usage

MILLION = 1_000_000


class UsageCounter(AsyncCallbackHandler):
    """Counts the calls, tokens and price of the models that it is passed to.

    The price is in the metadata of the model: US dollars for a million tokens (read, cached, written). A call counts as
    unpriced until its tokens are known; one that the server refused costs nothing.
    """

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
        self.usage += Usage(calls=1, unpriced=int(not _is_free(price)))

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
            if price is not None and not _is_free(price):
                read, again, written = price
                tokens = (spent["input_tokens"] - cached) * read + cached * again + spent["output_tokens"] * written
                self.usage += Usage(price=tokens / MILLION, unpriced=-1)

    def _record(self, response: LLMResult, run_id: UUID) -> None:
        """Record the call for people who want to see it."""
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
        if getattr(error, "status_code", 0) and not _is_free(self._prices.get(run_id)):
            self.usage += Usage(unpriced=-1)


def _is_free(price: tuple[float, float, float] | None) -> bool:
    return price is not None and not any(price)
