"""LangServe at /ask: tokens from /ask/stream, the whole record from /ask/invoke; all of LangServe is in this file."""

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

from fastapi import Depends, FastAPI, Request
from langchain_core.runnables import RunnableConfig, RunnableGenerator
from langserve import add_routes
from pydantic import BaseModel

from records.answer import Answer
from serving.asking import Asking

PATH = "/ask"
# one chain has one output type for LangServe, and ours gives tokens when streamed and a record when invoked
OUTPUT: Any = str | dict[str, Any]


class Asked(BaseModel):
    """What a client sends as `input`."""

    question: str
    graph: str | None = None
    thread: str | None = None


class AskRunnable(RunnableGenerator[Any, Any]):
    """Streams tokens, as any chain does; invoked, it gives the record and not the joined tokens."""

    def __init__(self, asking: Callable[[], Asking]) -> None:
        async def tokens(inputs: AsyncIterator[Any]) -> AsyncIterator[str]:
            async for asked in inputs:
                async for kind, payload in asking().events(**_fields(asked)):
                    if kind == "token":
                        yield payload

        super().__init__(tokens, name="ask")
        self._asking = asking

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        return await self._acall_with_config(self._record, input, config, **kwargs)

    async def _record(self, asked: Any) -> Answer:
        return await self._asking().answer(**_fields(asked))


def add_ask(app: FastAPI, asking: Callable[[], Asking]) -> None:
    """Put LangServe's routes for asking under /ask; `asking` is called when a request comes, after the app has started.

    A client's `config` is ignored, so that it can't choose another's thread: the thread comes from the checked input.
    """

    async def known(request: Request) -> None:
        # LangServe turns what a chain raises into a bare 500; a wrong graph name is found before it gets there
        try:
            body = await request.json()
        except json.JSONDecodeError:
            return
        if isinstance(body, dict):
            for asked in (body.get("input"), *(body.get("inputs") or ())):
                if isinstance(asked, dict):
                    asking().check(asked.get("question"), asked.get("graph"))

    add_routes(
        app,
        AskRunnable(asking).with_types(input_type=Asked, output_type=OUTPUT),
        path=PATH,
        config_keys=(),
        dependencies=[Depends(known)],
        enabled_endpoints=[
            "invoke",
            "batch",
            "stream",
            "stream_log",
            "stream_events",
            "playground",
            "input_schema",
            "output_schema",
            "config_schema",
        ],
    )


def _fields(asked: Any) -> dict[str, Any]:
    if isinstance(asked, BaseModel):
        return asked.model_dump()
    return Asked.model_validate(asked).model_dump()
