"""LangServe at /ask: question -> tokens from /ask/stream, the whole record from /ask/invoke."""

import logging
import uuid
from collections.abc import AsyncGenerator, AsyncIterator
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, cast

from fastapi import APIRouter, Depends, FastAPI, Request
from langchain_core.callbacks import adispatch_custom_event
from langchain_core.runnables import RunnableConfig, RunnableGenerator
from langserve import add_routes
from pydantic import BaseModel, WithJsonSchema

from nacre.errors import ConfigError, NacreError
from nacre.records.answer import Answer, QuestionLine, failed_record
from nacre.serving.errors import NotFound
from nacre.serving.http.auth import authenticate
from nacre.serving.http.dependencies import ERROR_RESPONSES, TurnContext, turn_context
from nacre.serving.keys import Caller
from nacre.serving.transcript import collect_record
from nacre.serving.turn_service import TurnInput, TurnService

log = logging.getLogger(__name__)

PATH = "/ask"

ANSWER_EVENT = "answer"

ORIGIN_KEY = "asked_from"

MAX_BATCH = 32

_DIST = Path(str(files("langserve"))) / "playground" / "dist"

PLAYGROUND_FILES = frozenset(file.relative_to(_DIST).as_posix() for file in _DIST.rglob("*") if file.is_file())

# LangServe has one output type per chain; this chain streams tokens and returns a record when invoked
OUTPUT_TYPE: Any = str | dict[str, Any]


# any type, so that a wrong item fails alone (`turn_input`); the playground shows no form for nullable types
UncheckedText = Annotated[Any, WithJsonSchema({"type": "string"})]


class AskInput(BaseModel):
    """The `input` of a client, not validated."""

    question: UncheckedText = ""
    graph: UncheckedText = ""
    thread: UncheckedText = ""


class AskRunnable(RunnableGenerator[Any, Any]):
    """Streams tokens, then the record (event `answer`); invoked, returns it. In a batch, each failure is a record."""

    def __init__(self) -> None:
        async def tokens(inputs: AsyncIterator[Any], config: RunnableConfig) -> AsyncIterator[str]:
            async for item in inputs:
                async for kind, payload in _events(item, config):
                    if kind == "token":
                        yield payload
                    elif kind == "answer":
                        await adispatch_custom_event(ANSWER_EVENT, payload, config=config)

        # RunnableGenerator also accepts generators with a config, unlike its type says
        super().__init__(tokens, name="ask")  # type: ignore[arg-type]

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        return await self._acall_with_config(_record, input, config, **kwargs)

    async def abatch(self, inputs: list[Any], config: Any = None, **kwargs: Any) -> list[Any]:
        results = await super().abatch(inputs, config, **{**kwargs, "return_exceptions": True})
        return [_record_or_failure(item, result) for item, result in zip(inputs, results, strict=True)]


def add_langserve(app: FastAPI) -> None:
    """Add LangServe's routes at /ask; a client's `config` is ignored: it must not choose another owner's thread."""

    async def check_request(request: Request) -> None:
        if request.path_params.get("file_path") not in (None, "", *PLAYGROUND_FILES):
            raise NotFound("Not Found")
        # LangServe turns errors of a chain into a bare 500, so invalid questions are refused before they reach it
        try:
            body = await request.json()
        except ValueError:
            return
        if not isinstance(body, dict):
            return
        config = body.get("config", {})
        if not all(isinstance(each, dict) for each in (config if isinstance(config, list) else [config])):
            raise ConfigError('"config" is an object. It is ignored; leave it out.')
        service: TurnService = app.state.turn_service
        items = body.get("inputs", [])
        if not isinstance(items, list) or not all(isinstance(each, dict) for each in items):
            raise ConfigError('A batch is a list of questions: {"inputs": [{"question": "...", "graph": "..."}]}.')
        # names of steps are lists too
        if any(isinstance(each, list) and len(each) > MAX_BATCH for each in body.values()):
            raise ConfigError(f"A batch has at most {MAX_BATCH} questions, and a list as many names. Send fewer.")
        service.check_capacity(request.state.caller)
        if isinstance(input := body.get("input"), dict):
            await service.check_question(turn_input(input, request.state.caller))

    def add_origin(config: dict[str, Any], request: Request) -> dict[str, Any]:
        # next to the input, where clients can't write
        return {**config, "configurable": {ORIGIN_KEY: turn_context(request)}}

    # with the app instead of a router, LangServe prints a banner at startup, which a platform's server does not support
    router = APIRouter()
    add_routes(
        router,
        AskRunnable().with_types(input_type=AskInput, output_type=OUTPUT_TYPE),
        path=PATH,
        # only these keys reach a batch, and `add_origin` replaces what a client sends in them
        config_keys=("configurable",),
        per_req_config_modifier=add_origin,
        dependencies=[Depends(authenticate), Depends(check_request)],
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
    app.include_router(router, responses=ERROR_RESPONSES)


def turn_input(input: Any, caller: Caller, id: str = "") -> TurnInput:
    """The turn of an input; raises ConfigError that names the wrong field."""
    fields = input if isinstance(input, dict) else AskInput.model_validate(input, from_attributes=True).model_dump()
    given = {"question": fields.get("question", ""), "graph": fields.get("graph"), "thread": fields.get("thread")}
    for name, value in given.items():
        if not isinstance(value, str) and (value is not None or name == "question"):
            raise ConfigError(f"{name!r} is {type(value).__name__}, not text. Send a string.")
    return TurnInput(**given, caller=caller, id=id)


async def _events(input: Any, config: RunnableConfig) -> AsyncGenerator[tuple[str, Any]]:
    origin: TurnContext = config["configurable"][ORIGIN_KEY]
    turn = turn_input(input, origin.caller, uuid.uuid4().hex)
    async for kind, payload in origin.measured(origin.service.events(turn)):
        yield kind, payload


async def _record(input: Any, run_manager: Any, config: RunnableConfig) -> Answer:
    return await collect_record(_events(input, config))


def _record_or_failure(input: Any, result: Any) -> Answer:
    """The record of one item of a batch. Internal errors are logged and not shown to clients."""
    if not isinstance(result, BaseException):
        return cast(Answer, result)
    if not isinstance(result, NacreError):
        log.error("a question of a batch failed", exc_info=result)
    why = str(result) if isinstance(result, NacreError) else type(result).__name__
    fields = AskInput.model_validate(input, from_attributes=True)
    texts = {name: str(value or "") for name, value in fields.model_dump().items()}
    return failed_record(QuestionLine("", texts["question"], graph=texts["graph"]), texts["thread"], why)
