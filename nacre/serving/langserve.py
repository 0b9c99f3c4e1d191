"""LangServe at /ask: tokens from /ask/stream, the whole record from /ask/invoke; all of LangServe is in this file."""

import logging
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, cast

from fastapi import APIRouter, Depends, FastAPI, Request
from langchain_core.callbacks import adispatch_custom_event
from langchain_core.runnables import RunnableConfig, RunnableGenerator
from langserve import add_routes
from pydantic import BaseModel, ValidationError, WithJsonSchema

from nacre.errors import ConfigError, NacreError
from nacre.evaluation.ask_questions import QuestionLine, failed_record
from nacre.records.answer import Answer
from nacre.serving.http.auth import authenticate
from nacre.serving.http.errors import NotFound
from nacre.serving.http.metrics import Metrics
from nacre.serving.keys import Caller
from nacre.serving.tracing import trace_turn
from nacre.serving.turn_service import TurnService

log = logging.getLogger(__name__)

PATH = "/ask"
ANSWER_EVENT = "answer"
ORIGIN_KEY = "asked_from"
MAX_BATCH = 32
_DIST = Path(str(files("langserve"))) / "playground" / "dist"
PLAYGROUND_FILES = frozenset(file.relative_to(_DIST).as_posix() for file in _DIST.rglob("*") if file.is_file())
# one chain has one output type for LangServe, and ours gives tokens when streamed and a record when invoked
OUTPUT_TYPE: Any = str | dict[str, Any]


# one item of a batch may be wrong and the others still asked: LangServe lets in all, and `check_ask_input` looks closer. The
# playground draws no form for a type that may be null
UncheckedText = Annotated[Any, WithJsonSchema({"type": "string"})]


class AskInput(BaseModel):
    """What a client sends as `input`."""

    question: UncheckedText = ""
    graph: UncheckedText = ""
    thread: UncheckedText = ""


class CheckedAskInput(BaseModel):
    """The same, where it is right."""

    question: str
    graph: str | None
    thread: str | None


@dataclass(frozen=True)
class RequestOrigin:
    """Where a question comes from; it travels beside the input, where no client can put anything."""

    service: TurnService
    metrics: Metrics
    caller: Caller
    headers: dict[str, str]


class AskRunnable(RunnableGenerator[Any, Any]):
    """Streams tokens, as any chain does, and the record with its citations as the custom event `answer` of
    `stream_events`; invoked, it gives the record and not the joined tokens. In a batch, what can't be asked gives a
    record with the status "failed" and its reason, and fails nothing else."""

    def __init__(self) -> None:
        async def tokens(inputs: AsyncIterator[Any], config: RunnableConfig) -> AsyncIterator[str]:
            async for asked in inputs:
                async for kind, payload in _events(asked, config):
                    if kind == "token":
                        yield payload
                    elif kind == "answer":
                        await adispatch_custom_event(ANSWER_EVENT, payload, config=config)

        # its types know less than it does: a config is handed on to whoever takes one
        super().__init__(tokens, name="ask")  # type: ignore[arg-type]

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        return await self._acall_with_config(_record, input, config, **kwargs)

    async def abatch(self, inputs: list[Any], config: Any = None, **kwargs: Any) -> list[Any]:
        results = await super().abatch(inputs, config, **{**kwargs, "return_exceptions": True})
        return [_unless_failed(given, result) for given, result in zip(inputs, results, strict=True)]


def add_langserve(app: FastAPI) -> None:
    """Put LangServe's routes for asking under /ask.

    A client's `config` is ignored, so that it can't choose another's thread: the thread comes from the checked input,
    and its owner from the key.
    """

    async def known(request: Request) -> None:
        if request.path_params.get("file_path") not in (None, "", *PLAYGROUND_FILES):
            raise NotFound("Not Found")
        # LangServe turns what a chain raises into a bare 500; what can't be asked is found before it gets there
        try:
            body = await request.json()
        except ValueError:
            return
        if not isinstance(body, dict):
            return
        service: TurnService = app.state.turn_service
        several = body.get("inputs", [])
        if not isinstance(several, list) or not all(isinstance(each, dict) for each in several):
            raise ConfigError('A batch is a list of questions: {"inputs": [{"question": "...", "graph": "..."}]}.')
        if len(several) > MAX_BATCH:
            raise ConfigError(f"A batch has at most {MAX_BATCH} questions. Send fewer at once.")
        service.check_capacity()
        if isinstance(given := body.get("input"), dict):
            one = check_ask_input(given)
            await service.check_question(one.question, one.graph, one.thread, request.state.caller)

    def mine(config: dict[str, Any], request: Request) -> dict[str, Any]:
        state = app.state
        origin = RequestOrigin(state.turn_service, state.metrics, request.state.caller, dict(request.headers))
        return {**config, "configurable": {ORIGIN_KEY: origin}}

    # given the app itself it would print a banner when the server starts, and no platform takes such a hook
    router = APIRouter()
    add_routes(
        router,
        AskRunnable().with_types(input_type=AskInput, output_type=OUTPUT_TYPE),
        path=PATH,
        # a batch keeps these alone, and what a client puts there is replaced by `mine`
        config_keys=("configurable",),
        per_req_config_modifier=mine,
        dependencies=[Depends(authenticate), Depends(known)],
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


def check_ask_input(given: Any) -> CheckedAskInput:
    """What is asked; raises ConfigError that names the field and what is wrong with it."""
    fields = given if isinstance(given, dict) else AskInput.model_validate(given, from_attributes=True).model_dump()
    try:
        return CheckedAskInput(
            question=fields.get("question", ""), graph=fields.get("graph"), thread=fields.get("thread")
        )
    except ValidationError as error:
        name = error.errors()[0]["loc"][0]
        raise ConfigError(f"{name!r} is {type(fields.get(str(name))).__name__}, not text. Send a string.") from None


async def _events(given: Any, config: RunnableConfig) -> AsyncIterator[tuple[str, Any]]:
    wanted = check_ask_input(given)
    origin: RequestOrigin = config["configurable"][ORIGIN_KEY]
    id = uuid.uuid4().hex
    events = origin.service.events(wanted.question, wanted.graph, wanted.thread, id=id, caller=origin.caller)
    async for kind, payload in trace_turn(origin.metrics.count_events(events), origin.headers):
        yield kind, payload


async def _record(given: Any, run_manager: Any, config: RunnableConfig) -> Answer:
    record: Answer | None = None
    async for kind, payload in _events(given, config):
        if kind == "answer":
            record = payload
    if record is None:
        raise RuntimeError("the turn ended without an answer")
    return record


def _unless_failed(given: Any, result: Any) -> Answer:
    """The record of one item of a batch; what went wrong inside is in the log, and not for a client."""
    if not isinstance(result, BaseException):
        return cast(Answer, result)
    if not isinstance(result, NacreError):
        log.error("a question of a batch failed", exc_info=result)
    why = str(result) if isinstance(result, NacreError) else type(result).__name__
    fields = AskInput.model_validate(given, from_attributes=True)
    texts = {name: str(value or "") for name, value in fields.model_dump().items()}
    return failed_record(QuestionLine("", texts["question"], graph=texts["graph"]), texts["thread"], why)
