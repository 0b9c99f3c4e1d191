"""A chat model in this process: settings and a model file -> a LangChain chat model over the local engine.

Callers of any thread or event loop get its lock one at a time, in the order of their requests.
"""

import asyncio
import json
import threading
from collections import deque
from collections.abc import AsyncIterator
from concurrent.futures import Future
from typing import TYPE_CHECKING, cast

import httpx
from pydantic import SecretStr

from agents.turn_view import FREE
from nacre.config.bounded_replies import bound_body, bound_reply, reply_bounds
from nacre.config.models import ModelProvider
from nacre.config.settings import Settings
from nacre.extensions.local_model.local_engine import (
    STATES,
    EngineOptions,
    LocalEngine,
    check_gguf,
    is_installed,
    model_advice,
    model_file,
    models_folder,
    shared_engine,
    stop_engines,
)

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


class FairLock:
    """`enter` or `enter_blocking` acquires the lock, `leave` releases it. A cancelled caller leaves the queue."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._waiting: deque[Future[None]] = deque()
        self._taken = False

    async def enter(self) -> None:
        """Acquire the lock without blocking the event loop."""
        place = self._place()
        try:
            await asyncio.wrap_future(place)
        except asyncio.CancelledError:
            if not place.cancel():
                # the lock was acquired at the moment of the cancellation
                self.leave()
            raise

    def enter_blocking(self) -> None:
        """Acquire the lock, blocking this thread."""
        self._place().result()

    def leave(self) -> None:
        """Release the lock to the next caller."""
        with self._guard:
            while self._waiting:
                following = self._waiting.popleft()
                if following.set_running_or_notify_cancel():
                    following.set_result(None)
                    return
            self._taken = False

    def _place(self) -> "Future[None]":
        place: Future[None] = Future()
        with self._guard:
            if self._taken:
                self._waiting.append(place)
            else:
                self._taken = True
                place.set_result(None)
        return place


# one lock for all models of this process, since concurrent generations only compete for processors
WORKER = FairLock()


def local_model(settings: Settings, name: str) -> "BaseChatModel":
    """The chat model of `local` or `local:NAME_OR_PATH`. The first call loads the file, once for all turns. Raises
    ValueError if there is no such file, and ImportError if the extra is missing."""
    file = model_file(settings, name)
    check_gguf(file)
    if not is_installed():
        raise ImportError(f"NACRE_MODEL is {name!r}, and what runs it is missing. Run: pip install 'nacre[local]'")
    states = models_folder(settings).resolve() / STATES
    load = EngineOptions(file.resolve(), settings.local_context, settings.local_threads, states)
    return engine_chat_model(shared_engine(load), settings)


def engine_chat_model(engine: LocalEngine, settings: Settings) -> "BaseChatModel":
    """A chat model over an engine, with the settings' temperature, tokens and time."""
    from langchain_openai import ChatOpenAI

    transport = LocalTransport(engine)
    return ChatOpenAI(
        model=engine.load.file.stem,
        base_url=f"{engine.url}/v1",
        api_key=SecretStr(engine.key),
        http_client=httpx.Client(transport=transport),
        http_async_client=httpx.AsyncClient(transport=transport, event_hooks={"response": [bound_reply]}),
        temperature=settings.temperature,
        max_completion_tokens=settings.model_tokens,
        timeout=settings.model_seconds,
        max_retries=0,
        stream_usage=True,
        metadata={"model": f"local:{engine.load.file.name}", "price": FREE},
    )


class LocalTransport(httpx.AsyncBaseTransport, httpx.BaseTransport):
    """Sends requests to an engine, one at a time; closing a reply stops the generation. The state of the prompt prefix
    is restored from disk if possible, and saved after it was processed the first time."""

    def __init__(self, engine: LocalEngine) -> None:
        self._engine = engine

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """One reply, streamed."""
        await WORKER.enter()
        try:
            await asyncio.to_thread(self._engine.ready)
            head = system_prefix(request.content)
            await asyncio.to_thread(self._engine.restore_state, head)
            # a separate client, since connections belong to the event loop that created them
            inner = httpx.AsyncHTTPTransport(uds=self._engine.uds or None)
            answer = await inner.handle_async_request(self._with_address(request))
        except BaseException:
            WORKER.leave()
            raise
        stream = cast(httpx.AsyncByteStream, answer.stream)
        kept = StreamedReply(stream, inner, self._engine, head if answer.status_code == httpx.codes.OK else "")
        return httpx.Response(answer.status_code, headers=answer.headers, stream=kept, extensions=answer.extensions)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """One complete reply."""
        WORKER.enter_blocking()
        try:
            self._engine.ready()
            head = system_prefix(request.content)
            self._engine.restore_state(head)
            with httpx.HTTPTransport(uds=self._engine.uds or None) as inner:
                answer = inner.handle_request(self._with_address(request))
                bound_body(answer, *reply_bounds(request))
                content = b"".join(cast(httpx.SyncByteStream, answer.stream))
            if answer.status_code == httpx.codes.OK:
                self._engine.save_state(head)
        finally:
            WORKER.leave()
        return httpx.Response(answer.status_code, headers=answer.headers, content=content)

    def _with_address(self, request: httpx.Request) -> httpx.Request:
        """The request with the address of the running engine."""
        place = httpx.URL(self._engine.url)
        request.url = request.url.copy_with(scheme=place.scheme, host=place.host, port=place.port)
        return request


class StreamedReply(httpx.AsyncByteStream):
    """The chunks of a reply; closing it frees the worker for the next request."""

    def __init__(self, stream: httpx.AsyncByteStream, inner: httpx.AsyncHTTPTransport, engine: LocalEngine, head: str):
        self._stream, self._inner, self._engine, self._head = stream, inner, engine, head
        self._begun = self._closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._stream:
            self._begun = True
            yield piece

    async def aclose(self) -> None:
        """Stop the reply, save the state of its prefix, and release the worker."""
        if self._closed:
            return
        self._closed = True
        try:
            await self._stream.aclose()
            await self._inner.aclose()
            if self._begun:
                await asyncio.to_thread(self._engine.save_state, self._head)
        finally:
            WORKER.leave()


def system_prefix(content: bytes) -> str:
    """The system message at the beginning of a request, "" if there is none.

    >>> messages = b'[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}]'
    >>> system_prefix(b'{"messages": ' + messages + b"}")
    'Be brief.'
    """
    messages = json.loads(content or b"{}").get("messages") or [{}]
    first = messages[0]
    return first["content"] if first.get("role") == "system" and isinstance(first.get("content"), str) else ""


LOCAL = ModelProvider(
    local_model, lambda settings, name: model_file(settings, name).name, stop_engines, model_advice, "nacre model list"
)
