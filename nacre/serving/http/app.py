"""The HTTP app: settings -> FastAPI with the page, the native API under /api, LangServe at /ask, health and metrics."""

import asyncio
import gc
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext, suppress

import anyio
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.cors import CORSMiddleware
from starlette.exceptions import HTTPException

from agents.run_in_thread import run_in_thread
from graph.app import load_settings
from graph.state import RECORDS
from nacre.config.settings import Settings
from nacre.errors import NacreError
from nacre.language.tokens import tokenize
from nacre.records.json_form import prepare_adapters
from nacre.serving.garbage_collection import relax_collection
from nacre.serving.http import health, logs
from nacre.serving.http.api import (
    ask as api_ask,
)
from nacre.serving.http.api import (
    browse as api_browse,
)
from nacre.serving.http.api import (
    graphs as api_graphs,
)
from nacre.serving.http.api import (
    query as api_query,
)
from nacre.serving.http.api import (
    text2sparql as api_text2sparql,
)
from nacre.serving.http.api import (
    threads as api_threads,
)
from nacre.serving.http.auth import Authenticator
from nacre.serving.http.connection import BoundedConnection
from nacre.serving.http.error_handlers import (
    nacre_error_response,
    routing_error_response,
    storage_error_response,
    validation_error_response,
)
from nacre.serving.http.limits import RequestMiddleware
from nacre.serving.http.metrics import Metrics
from nacre.serving.keys import KeyStore
from nacre.serving.langserve import add_langserve
from nacre.serving.mcp.http import add_mcp, mcp_lifespan
from nacre.serving.openai import routes as openai
from nacre.serving.page.pages import SPEC, add_pages
from nacre.serving.runs import Runs
from nacre.serving.stateless_turns import StatelessTurnCache
from nacre.serving.threads import Threads
from nacre.serving.tracing import configure_tracing
from nacre.serving.turn_service import open_turn_service
from nacre.stores.sqlite.conversations import ConversationStoreError

FORGET_SECONDS = 3600.0

log = logging.getLogger(__name__)


def create_app(settings: Settings, *, alone: bool = True) -> FastAPI:
    """The app; its stores and threads are opened when it starts and closed when it stops. Where it is not `alone` but
    part of a platform's server, it leaves out what a platform brings itself: counters, MCP, cross-origin rules."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        configure_tracing(settings)
        app.state.runs = Runs(settings.resume_seconds)
        app.state.stopping = anyio.Event()
        async with open_turn_service(settings, lasting=True) as asking, mcp_lifespan(app) if alone else nullcontext():
            app.state.asking = asking
            # the routes are put together when they are first looked at, which takes longer than a request may wait
            await run_in_thread(app.openapi)
            await run_in_thread(prepare_adapters, *RECORDS)
            # the dictionary of word forms is read with the first word
            await run_in_thread(tokenize, "words")
            await run_in_thread(asking.library.warm)
            # what is there now stays: to look through all of it again and again for garbage stops everybody meanwhile
            gc.collect()
            relax_collection()
            beside = [asyncio.create_task(_stop(app, settings.stop_seconds))]
            if settings.keep_days and asking.threads is not None:
                beside.append(asyncio.create_task(_forget(asking.threads, settings.keep_days)))
            try:
                yield
            finally:
                for task in beside:
                    task.cancel()
                await app.state.runs.close(0)

    app = FastAPI(
        title="Nacre",
        description="Talk with your own knowledge graph: cited answers, streamed.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=SPEC,
    )
    origins = frozenset(origin.strip().rstrip("/") for origin in settings.cors_origins.split(",") if origin.strip())
    app.state.settings = settings
    app.state.metrics = Metrics()
    app.state.looks = health.HealthCache()
    app.state.recalled = StatelessTurnCache()
    app.state.door = Authenticator(KeyStore(settings.data), settings.max_rate, origins)
    app.add_exception_handler(NacreError, nacre_error_response)
    app.add_exception_handler(RequestValidationError, validation_error_response)
    app.add_exception_handler(ConversationStoreError, storage_error_response)
    app.add_exception_handler(HTTPException, routing_error_response)
    if alone and origins:
        told = ["X-Run-ID", "X-Request-ID", "Retry-After"]
        app.add_middleware(
            CORSMiddleware,
            allow_origins=sorted(origins),
            allow_methods=["*"],
            allow_headers=["*"],
            expose_headers=told,
        )
    app.add_middleware(RequestMiddleware, settings.max_body, app.state.metrics)
    for each in (api_graphs, api_browse, api_ask, api_query, api_text2sparql, api_threads, openai, health):
        app.include_router(each.router)
    if alone:
        app.include_router(health.metrics_router)
    add_pages(app)
    add_langserve(app)
    if alone:
        add_mcp(app)
    return app


def from_environment() -> FastAPI:
    """The app of one worker process."""
    settings = load_settings()
    BoundedConnection.seconds = settings.unfinished_seconds
    logs.configure(settings.log, logging.INFO)
    return create_app(settings)


async def _stop(app: FastAPI, seconds: float) -> None:
    """When the server is told to stop, let turns end for so long, then cancel the rest; their clients are told."""
    await app.state.stopping.wait()
    await app.state.runs.close(seconds)


async def _forget(threads: Threads, days: float) -> None:
    while True:
        with suppress(ConversationStoreError):
            gone = await threads.forget(days)
            log.info("%d threads were not touched for %g days and are deleted", gone, days)
        await asyncio.sleep(FORGET_SECONDS)
