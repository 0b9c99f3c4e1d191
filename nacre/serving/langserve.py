"""LangServe at /ask: tokens from /ask/stream, the whole record from /ask/invoke; all of LangServe is in this file."""

import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Request
from langchain_core.runnables import RunnableConfig, RunnableGenerator
from langserve import add_routes
from pydantic import BaseModel, WithJsonSchema

from nacre.records.answer import Answer
from nacre.records.errors import ConfigError
from nacre.serving.asking import Asking
from nacre.serving.door import caller
from nacre.serving.keys import Caller
from nacre.serving.metrics import Metrics
from nacre.serving.refusals import Missing
from nacre.serving.tracing import traced

PATH = "/ask"
FROM = "asked_from"
MOST_IN_A_BATCH = 32
_DIST = Path(str(files("langserve"))) / "playground" / "dist"
PLAYGROUND = frozenset(file.relative_to(_DIST).as_posix() for file in _DIST.rglob("*") if file.is_file())
# one chain has one output type for LangServe, and ours gives tokens when streamed and a record when invoked
OUTPUT: Any = str | dict[str, Any]


# the playground draws no form for a type that may be null
Optional = Annotated[str | None, WithJsonSchema({"type": "string"})]


class Asked(BaseModel):
    """What a client sends as `input`."""

    question: str
    graph: Optional = ""
    thread: Optional = ""


@dataclass(frozen=True)
class From:
    """Where a question comes from; it travels beside the input, where no client can put anything."""

    asking: Asking
    metrics: Metrics
    caller: Caller
    headers: dict[str, str]


class AskRunnable(RunnableGenerator[Any, Any]):
    """Streams tokens, as any chain does; invoked, it gives the record and not the joined tokens."""

    def __init__(self) -> None:
        async def tokens(inputs: AsyncIterator[Any], config: RunnableConfig) -> AsyncIterator[str]:
            async for asked in inputs:
                async for kind, payload in _events(asked, config):
                    if kind == "token":
                        yield payload

        # its types know less than it does: a config is handed on to whoever takes one
        super().__init__(tokens, name="ask")  # type: ignore[arg-type]

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        return await self._acall_with_config(_record, input, config, **kwargs)


def add_ask(app: FastAPI) -> None:
    """Put LangServe's routes for asking under /ask.

    A client's `config` is ignored, so that it can't choose another's thread: the thread comes from the checked input,
    and its owner from the key.
    """

    async def known(request: Request) -> None:
        if request.path_params.get("file_path") not in (None, "", *PLAYGROUND):
            raise Missing("Not Found")
        # LangServe turns what a chain raises into a bare 500; what can't be asked is found before it gets there
        try:
            body = await request.json()
        except ValueError:
            return
        if not isinstance(body, dict):
            return
        asking: Asking = app.state.asking
        several = body.get("inputs", [])
        if not isinstance(several, list) or not all(isinstance(each, dict) for each in several):
            raise ConfigError('A batch is a list of questions: {"inputs": [{"question": "...", "graph": "..."}]}.')
        inputs = [body.get("input"), *several]
        if len(inputs) > MOST_IN_A_BATCH + 1:
            raise ConfigError(f"A batch has at most {MOST_IN_A_BATCH} questions. Send fewer at once.")
        asking.admit()
        for asked in inputs:
            if isinstance(asked, dict):
                graph, thread = (asked.get(key) or None for key in ("graph", "thread"))
                # what is no text is told by the check of the input that follows
                if all(each is None or isinstance(each, str) for each in (graph, thread)):
                    await asking.check(asked.get("question"), graph, thread, request.state.caller)

    def mine(config: dict[str, Any], request: Request) -> dict[str, Any]:
        state = app.state
        origin = From(state.asking, state.metrics, request.state.caller, dict(request.headers))
        return {**config, "configurable": {FROM: origin}}

    # given the app itself it would print a banner when the server starts, and no platform takes such a hook
    router = APIRouter()
    add_routes(
        router,
        AskRunnable().with_types(input_type=Asked, output_type=OUTPUT),
        path=PATH,
        # a batch keeps these alone, and what a client puts there is replaced by `mine`
        config_keys=("configurable",),
        per_req_config_modifier=mine,
        dependencies=[Depends(caller), Depends(known)],
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
    app.include_router(router)


async def _events(asked: Any, config: RunnableConfig) -> AsyncIterator[tuple[str, Any]]:
    given = asked if isinstance(asked, Asked) else Asked.model_validate(asked)
    origin: From = config["configurable"][FROM]
    events = origin.asking.events(given.question, given.graph, given.thread, id=uuid.uuid4().hex, caller=origin.caller)
    with origin.metrics.under_way.track_inprogress():
        async for kind, payload in traced(events, origin.headers):
            if kind == "answer":
                origin.metrics.count(payload)
            yield kind, payload


async def _record(asked: Any, run_manager: Any, config: RunnableConfig) -> Answer:
    record: Answer | None = None
    async for kind, payload in _events(asked, config):
        if kind == "answer":
            record = payload
    if record is None:
        raise RuntimeError("the turn ended without an answer")
    return record
