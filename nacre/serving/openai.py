"""OpenAI's API at /v1: a graph is a model; messages -> a turn -> the reply, whole or in chunks, with footnotes."""

import json
import re
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import Annotated, Any, Literal, NoReturn, cast

from fastapi import APIRouter, Header, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from sse_starlette import ServerSentEvent

from nacre.errors import ConfigError
from nacre.records.answer import Answer
from nacre.records.evidence import shorten
from nacre.serving.errors import ModelNotFound, NotFound
from nacre.serving.http.auth import CallerDep
from nacre.serving.http.dependencies import (
    OPENAI_ERROR_RESPONSES,
    FewProblems,
    LookUpSlotDep,
    TurnContext,
    TurnContextDep,
    TurnServiceDep,
)
from nacre.serving.http.middleware import error_response, openai_error, route_path
from nacre.serving.keys import Caller
from nacre.serving.runs import Run
from nacre.serving.transcript import escape_markdown
from nacre.serving.turn_service import TurnInput, TurnService

MODEL_OWNER = "nacre"

STREAM_END = "[DONE]"

ThreadHeader = Annotated[
    str | None,
    Header(alias="X-Nacre-Thread", description="Thread that stores the conversation; without it nothing is stored."),
]

openai_router = APIRouter(prefix="/v1", tags=["openai"], responses=OPENAI_ERROR_RESPONSES)


@openai_router.get("/models", summary="List the graphs as models")
def list_models(service: TurnServiceDep, caller: CallerDep, slot: LookUpSlotDep) -> dict[str, Any]:
    """All graphs that the caller may read."""
    return {"object": "list", "data": [_model(name) for name in service.graph_names(caller)]}


@openai_router.get("/models/{model}", summary="Get a graph as a model")
def get_model(model: str, service: TurnServiceDep, caller: CallerDep, slot: LookUpSlotDep) -> dict[str, Any]:
    """One graph."""
    return _model(_graph_name(model, service, caller))


class MessagePart(BaseModel):
    """One part of a message's content; only text is supported."""

    type: str
    text: str | None = None


class ChatMessage(BaseModel):
    """One message of a conversation."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[MessagePart] | None = None


class StreamOptions(BaseModel):
    """What a stream contains besides tokens."""

    include_usage: bool | None = None


class ChatRequest(BaseModel):
    """A chat completion. Other fields (temperature, seed ...) are accepted and ignored."""

    model: str = Field(description="The name of a graph.")
    messages: list[ChatMessage] = Field(description="The conversation; its last message is the question.")
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: int | None = None
    tools: list[Any] | None = None
    tool_choice: Any = None
    function_call: Any = None
    response_format: dict[str, Any] | None = None
    modalities: list[str] | None = None


@openai_router.post("/chat/completions", summary="Ask a question as a chat completion", response_model=None)
async def create_chat_completion(
    chat: Annotated[ChatRequest, FewProblems],
    turns: TurnContextDep,
    thread: ThreadHeader = None,
) -> Response:
    """Ask the last message of the graph that `model` names; the messages before it are the conversation.

    The content is the answer, followed by its citations as footnotes. `nacre` in the reply has the values as data.
    """
    run = await _start_run(chat, turns, thread)
    completion = ChatCompletion(run.id, run.graph)
    if not chat.stream:
        return await _reply(run, completion.body, turns)
    with_usage = bool(chat.stream_options and chat.stream_options.include_usage)
    return turns.event_stream(_chunks(run, completion, with_usage))


class InputItem(BaseModel):
    """One item of the input; only messages are supported."""

    type: str = "message"
    role: Literal["system", "developer", "user", "assistant"] | None = None
    content: str | list[MessagePart] | None = None


class ResponseRequest(BaseModel):
    """A response. Other fields (temperature, store ...) are accepted and ignored."""

    model: str
    input: str | list[InputItem]
    stream: bool | None = None
    previous_response_id: str | None = None
    conversation: Any = None
    tools: list[Any] | None = None
    tool_choice: Any = None
    text: dict[str, Any] | None = None


@openai_router.post("/responses", summary="Ask a question as a response", response_model=None)
async def create_response(
    body: Annotated[ResponseRequest, FewProblems],
    turns: TurnContextDep,
    thread: ThreadHeader = None,
) -> Response:
    """The same in OpenAI's Responses API. Nothing is stored: send the whole conversation as `input`."""
    run = await _start_run(to_chat_request(body), turns, thread)
    response = ModelResponse(run.id, run.graph)
    if not body.stream:
        return await _reply(run, response.body, turns)
    return turns.event_stream(_events(run, response))


@openai_router.api_route(
    "/{path:path}", methods=["GET", "POST", "DELETE"], response_model=None, include_in_schema=False
)
async def unsupported_route(path: str, caller: CallerDep) -> NoReturn:
    """The other routes of OpenAI's API: embeddings, files, stored responses."""
    raise NotFound(f"This server has no /v1/{path[:60]}. Use /v1/chat/completions or /v1/responses.")


async def _start_run(chat: ChatRequest, turns: TurnContext, thread: str | None) -> Run:
    """In the thread, or after the earlier questions of the request. Raises NacreError if it can't be asked."""
    turns.service.check_capacity(turns.caller)
    name = _graph_name(chat.model, turns.service, turns.caller)
    question, before = parse_chat_request(chat)
    if (reply := reply_to_client(question)) is not None:
        return Run.finished(turns.caller.owner, name, [("token", reply), ("answer", plain_record(name, reply))])
    return await turns.begin_turn(TurnInput(question, name, thread, earlier=before), resumed=False)


class ChatCompletion:
    """The reply to one request; every chunk repeats its id and time."""

    def __init__(self, id: str, model: str) -> None:
        self._head = {"id": f"chatcmpl-{id}", "created": int(time.time()), "model": model}

    def body(self, record: Answer) -> dict[str, Any]:
        """The complete reply. Its content is the record's `answer`, then the footnotes."""
        message = {"role": "assistant", "content": record["answer"] + footnotes(record), "refusal": None}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        return {
            **self._head,
            "object": "chat.completion",
            "choices": [choice],
            "usage": token_usage(record),
            "nacre": record_extract(record),
        }

    def first_chunk(self) -> dict[str, Any]:
        """The chunk before the first token."""
        return self._chunk({"role": "assistant", "content": ""})

    def token_chunk(self, text: str) -> dict[str, Any]:
        return self._chunk({"content": text})

    def last_chunks(self, record: Answer, *, with_usage: bool) -> Iterator[dict[str, Any]]:
        """The chunks after the last token: footnotes, the end with the record, and the usage if requested."""
        if notes := footnotes(record):
            yield self._chunk({"content": notes})
        yield {**self._chunk({}, "stop"), "nacre": record_extract(record)}
        if with_usage:
            yield {**self._chunk({}), "choices": [], "usage": token_usage(record)}

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return {**self._head, "object": "chat.completion.chunk", "choices": [choice]}


async def _chunks(run: Run, completion: ChatCompletion, with_usage: bool) -> AsyncIterator[ServerSentEvent]:
    async with aclosing(_decoded(run)) as events:
        yield _event(completion.first_chunk())
        async for kind, payload in events:
            if kind == "token":
                yield _event(completion.token_chunk(payload))
            elif kind == "answer":
                for chunk in completion.last_chunks(payload, with_usage=with_usage):
                    yield _event(chunk)
            elif kind == "error":
                yield _event(openai_error(payload["status"], payload["message"]))
        yield ServerSentEvent(STREAM_END, sep="\n")


async def _decoded(run: Run) -> AsyncGenerator[tuple[str, Any]]:
    async with aclosing(run.batches()) as batches:
        async for batch in batches:
            for _, event in batch:
                if event.kind in ("token", "answer", "error"):
                    yield event.kind, json.loads(event.data)


class ModelResponse:
    """The response to one request; its events are numbered."""

    def __init__(self, id: str, model: str) -> None:
        self._id, self._item = f"resp_{id}", f"msg_{id}"
        self._model = model
        self._created = int(time.time())
        self._number = -1

    def body(self, record: Answer) -> dict[str, Any]:
        """The complete response; its text is the record's `answer`, then the footnotes."""
        text = record["answer"] + footnotes(record)
        return {
            **self._response("completed", [self._message("completed", text)], record),
            "nacre": record_extract(record),
        }

    def first_events(self) -> Iterator[dict[str, Any]]:
        """The events before the first token."""
        response = self._response("in_progress", [])
        yield self._event("response.created", response=response)
        yield self._event("response.in_progress", response=response)
        yield self._event("response.output_item.added", output_index=0, item=self._message("in_progress"))
        yield self._event("response.content_part.added", **self._position, part=self._part(""))

    def token_event(self, text: str) -> dict[str, Any]:
        return self._event("response.output_text.delta", **self._position, delta=text, logprobs=[])

    def last_events(self, record: Answer) -> Iterator[dict[str, Any]]:
        """The events after the last token: the footnotes, and the end of each part."""
        if notes := footnotes(record):
            yield self.token_event(notes)
        response = self.body(record)
        text = record["answer"] + notes
        yield self._event("response.output_text.done", **self._position, text=text, logprobs=[])
        yield self._event("response.content_part.done", **self._position, part=self._part(text))
        yield self._event("response.output_item.done", output_index=0, item=response["output"][0])
        yield self._event("response.completed", response=response)

    def error_event(self, message: str) -> dict[str, Any]:
        """The event of a turn that failed."""
        return self._event("error", code="server_error", message=message, param=None)

    @property
    def _position(self) -> dict[str, Any]:
        return {"item_id": self._item, "output_index": 0, "content_index": 0}

    def _event(self, kind: str, **fields: Any) -> dict[str, Any]:
        self._number += 1
        return {"type": kind, "sequence_number": self._number, **fields}

    def _part(self, text: str) -> dict[str, Any]:
        return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}

    def _message(self, status: str, text: str | None = None) -> dict[str, Any]:
        content = [] if text is None else [self._part(text)]
        return {"type": "message", "id": self._item, "status": status, "role": "assistant", "content": content}

    def _response(self, status: str, output: list[dict[str, Any]], record: Answer | None = None) -> dict[str, Any]:
        used = record and {
            "input_tokens": record["input_tokens"],
            "input_tokens_details": {"cached_tokens": record["cached_tokens"]},
            "output_tokens": record["output_tokens"],
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": record["input_tokens"] + record["output_tokens"],
        }
        head = {"id": self._id, "object": "response", "created_at": self._created, "model": self._model}
        unused = dict.fromkeys(("error", "incomplete_details", "instructions", "temperature", "top_p"))
        fixed = {"metadata": {}, "parallel_tool_calls": False, "store": False, "tool_choice": "auto", "tools": []}
        return {**head, "status": status, "output": output, "usage": used, **unused, **fixed}


async def _events(run: Run, response: ModelResponse) -> AsyncIterator[ServerSentEvent]:
    async with aclosing(_decoded(run)) as events:
        for opening in response.first_events():
            yield _event(opening, opening["type"])
        async for kind, payload in events:
            if kind == "token":
                yield _event(response.token_event(payload), "response.output_text.delta")
            elif kind == "answer":
                for closing in response.last_events(payload):
                    yield _event(closing, closing["type"])
            elif kind == "error":
                yield _event(response.error_event(payload["message"]), "error")


async def _reply(run: Run, format_reply: Callable[[Answer], dict[str, Any]], turns: TurnContext) -> Response:
    """The complete reply; the turn is stopped if the client disconnects."""
    await turns.wait_for_end(run)
    payload = json.loads(run.result.data)
    if run.result.kind == "answer":
        return JSONResponse(format_reply(payload))
    return error_response(route_path(turns.request.scope), payload["status"], payload["message"])


def _event(payload: Mapping[str, Any], kind: str | None = None) -> ServerSentEvent:
    return ServerSentEvent(json.dumps(payload, ensure_ascii=False), event=kind, sep="\n")


def _graph_name(model: str, service: TurnService, caller: Caller) -> str:
    try:
        return service.resolve_graph(model, caller)
    except ConfigError as error:
        names = ", ".join(service.graph_names(caller)[:8]) or "none"
        raise ModelNotFound(
            f"The model {model[:100]!r} does not exist. A model is a graph; there are: {names}."
        ) from error


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": MODEL_OWNER}


# an upper bound on the messages of a conversation, far beyond real ones
MAX_MESSAGES = 4000

MAX_TITLE = 80

# the form that a prompt asks for: the name of the value, and whether it is a list
_JSON_KEY = re.compile(r'\{\s*"(\w+)":\s*(\[?)')


def parse_chat_request(request: ChatRequest) -> tuple[str, tuple[str, ...]]:
    """The question of a request, and the questions before it; raises ConfigError for options that this server does not
    support. Instructions (`system`, `developer`) and tool results are ignored, since answers come only from the graph.

    >>> messages = [ChatMessage(role="user", content=text) for text in ("Which books are there?", "And the longest?")]
    >>> parse_chat_request(ChatRequest(model="books", messages=messages))
    ('And the longest?', ('Which books are there?',))
    """
    _check_options(request)
    if not request.messages:
        raise ConfigError("messages is empty. Send at least one user message.")
    if len(request.messages) > MAX_MESSAGES:
        raise ConfigError(f"There are {len(request.messages)} messages; at most {MAX_MESSAGES} are allowed.")
    texts = [(message.role, _text(message)) for message in request.messages]
    turns = [(role, text) for role, text in texts if role in ("user", "assistant")]
    if not turns or turns[-1][0] != "user":
        raise ConfigError("The last message must be a user message: it is the question.")
    questions = [text for role, text in turns if role == "user"]
    return questions[-1], tuple(each for each in questions[:-1] if each.strip())


def reply_to_client(text: str) -> str | None:
    """The reply to a prompt of Open WebUI about its own conversation: the first question as a title, nothing for tags,
    follow-up questions and searches. None for a question of a person.

    >>> history = "<chat_history>\\nUSER: Which books are there?\\nASSISTANT: Two.\\n</chat_history>"
    >>> reply_to_client('### Task:\\nWrite a title.\\nJSON format: { "title": "the title" }\\n' + history)
    '{"title": "Which books are there?"}'
    """
    task, found, history = text.partition("<chat_history>")
    if not (found and task.lstrip().startswith("### Task:")):
        return None
    question = next((line[5:] for line in history.splitlines() if line.startswith("USER:")), "")
    title = " ".join(question.split())[:MAX_TITLE]
    key = _JSON_KEY.search(task)
    if key is None:
        return title
    return json.dumps({key[1]: [] if key[2] else title if key[1] == "title" else ""}, ensure_ascii=False)


def _check_options(request: ChatRequest) -> None:
    if (request.n or 1) != 1:
        raise ConfigError("n must be 1: there is one answer.")
    # optional tools can be ignored, required ones can't
    for choice in (request.tool_choice, request.function_call):
        if choice == "required" or isinstance(choice, dict):
            raise ConfigError("Tools are not called here. Omit tool_choice, or set it to 'auto' or 'none'.")
    format = (request.response_format or {}).get("type", "text")
    if format != "text":
        raise ConfigError(f"The answer is text; response_format {str(format)[:40]!r} is not supported.")
    if request.modalities and request.modalities != ["text"]:
        raise ConfigError("The answer is text; modalities must be ['text'].")


def _text(message: ChatMessage) -> str:
    if isinstance(message.content, str):
        return message.content
    parts: Sequence[MessagePart] = message.content or ()
    for part in parts:
        if part.type not in ("text", "refusal"):
            raise ConfigError(f"A message has content of type {part.type[:40]!r}; only text is supported.")
    return "\n".join(part.text or "" for part in parts)


# fields of the record; /api/ask also gives queries, triples and rows
EXTRACT_FIELDS = (
    "id", "graph", "version", "thread", "answer", "values", "table", "unit", "status", "confidence", "reason",
    "options", "caveats",
)  # fmt: skip

MAX_FOOTNOTE = 300


def footnotes(record: Answer) -> str:
    """The text below the answer, one line per citation and per caveat, "" for none; text from data is escaped."""
    lines = [
        f"- [{each['n']}] {escape_markdown(shorten(each['source'], MAX_FOOTNOTE))}: "
        f"{escape_markdown(shorten(each['text'], MAX_FOOTNOTE))}"
        for each in record["citations"]
    ]
    lines += [f"- Note: {escape_markdown(caveat)}" for caveat in record["caveats"]]
    return "\n\n" + "\n".join(lines) if lines else ""


def token_usage(record: Answer) -> dict[str, Any]:
    """The tokens that chat models read and wrote; 0 if the rules answered."""
    return {
        "prompt_tokens": record["input_tokens"],
        "completion_tokens": record["output_tokens"],
        "total_tokens": record["input_tokens"] + record["output_tokens"],
        "prompt_tokens_details": {"cached_tokens": record["cached_tokens"]},
    }


def record_extract(record: Answer) -> dict[str, Any]:
    """The part of the record for clients of other protocols, with shortened citations."""
    citations = [
        {"n": each["n"], "source": each["source"], "text": each["text"], "basis": each["basis"], "keys": each["keys"]}
        for each in record["citations"]
    ]
    return {**{name: record[name] for name in EXTRACT_FIELDS}, "citations": citations}  # type: ignore[literal-required]


def plain_record(graph: str, text: str) -> Answer:
    """What a reply that rests on no turn has of a record."""
    lists: dict[str, Any] = {name: [] for name in ("values", "options", "caveats", "citations")}
    tokens = dict.fromkeys(("input_tokens", "cached_tokens", "output_tokens"), 0)
    return cast("Answer", dict.fromkeys(EXTRACT_FIELDS) | lists | tokens | {"graph": graph, "answer": text})


TEXT_PART_TYPES = ("input_text", "output_text", "text")


def to_chat_request(request: ResponseRequest) -> ChatRequest:
    """The equivalent chat request; raises ConfigError for options that this server does not support.

    >>> to_chat_request(ResponseRequest(model="books", input="Which books are there?")).messages[0].content
    'Which books are there?'
    """
    if request.previous_response_id or request.conversation:
        raise ConfigError("Responses are not stored here. Send the messages of the conversation as input.")
    items = [InputItem(role="user", content=request.input)] if isinstance(request.input, str) else request.input
    return ChatRequest(
        model=request.model,
        messages=[_message(item) for item in items],
        tools=request.tools,
        tool_choice=request.tool_choice,
        response_format=(request.text or {}).get("format"),
    )


def _message(item: InputItem) -> ChatMessage:
    if item.type != "message" or item.role is None:
        raise ConfigError(f"The input has an item of type {item.type[:40]!r}; only messages are supported.")
    if item.content is None or isinstance(item.content, str):
        return ChatMessage(role=item.role, content=item.content)
    parts = [MessagePart(type="text", text=p.text) if p.type in TEXT_PART_TYPES else p for p in item.content]
    return ChatMessage(role=item.role, content=parts)
