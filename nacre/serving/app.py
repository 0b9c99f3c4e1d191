"""The HTTP app: settings -> FastAPI with the page, the API under /api, those for agents, health and metrics."""

import asyncio
import gc
import logging
import multiprocessing
import re
import signal
import threading
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from functools import partial

import anyio
from fastapi import FastAPI, routing
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.cors import CORSMiddleware
from fastapi.openapi.utils import get_openapi
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute

from graph.builder import load_settings
from graph.state import RECORDS
from nacre.config.settings import Settings
from nacre.errors import ConfigError, NacreError
from nacre.extension import GROUP, extensions, leave_out, resolve, service
from nacre.language.tokens import tokenize
from nacre.records.json_form import prepare_adapters
from nacre.records.threads import relax_collection, run_in_thread
from nacre.serving.http import health, middleware
from nacre.serving.http.ask import router as ask_router
from nacre.serving.http.ask import thread_router
from nacre.serving.http.auth import Authenticator, RateLimiter
from nacre.serving.http.graphs import router as graphs_router
from nacre.serving.http.layer import router as layer_router
from nacre.serving.keys import open_keys
from nacre.serving.langserve import add_langserve
from nacre.serving.mcp.server import add_mcp, mcp_lifespan
from nacre.serving.openai import openai_router
from nacre.serving.page.pages import SPEC, add_pages
from nacre.serving.runs import Runs
from nacre.serving.telemetry import Metrics, configure_tracing
from nacre.serving.threads import delete_untouched_threads
from nacre.serving.turn_service import TurnService, open_turn_service
from nacre.stores.catalog import Library
from nacre.stores.killable_pool import exit_with_parent
from nacre.stores.state.conversations import ConversationStoreError
from nacre.understanding.linking.link_mentions import linker_of

log = logging.getLogger(__name__)

# graphs that are opened before the first request: bytes of tables, number, and seconds after which no other is opened
LARGE_GRAPH, MAX_LARGE_GRAPHS, WARM_SECONDS = 10_000_000, 4, 5.0

# headers of replies that pages of other origins may read
EXPOSED_HEADERS = ["X-Run-ID", "Location", "Content-Location", "X-Request-ID", "Retry-After"]


def create_app(settings: Settings, *, alone: bool = True) -> FastAPI:
    """The app; if not `alone` but part of a platform's server, without metrics, MCP, A2A and cross-origin rules."""
    app = FastAPI(
        title="Nacre",
        description="Talk with your own knowledge graph: cited answers, streamed.",
        lifespan=lambda app: _lifespan(app, alone=alone),
        docs_url=None,
        redoc_url=None,
        openapi_url=SPEC,
    )
    origins = frozenset(origin.strip().rstrip("/") for origin in settings.cors_origins.split(",") if origin.strip())
    app.state.settings = settings
    app.state.metrics = Metrics()
    keys = open_keys(settings)
    app.state.keys = keys
    # with NACRE_DATABASE_URL, the requests of a key are counted over all servers
    limiter = RateLimiter if keys.database is None else partial(service("fleet", "rates"), database=keys.database)
    app.state.authenticator = Authenticator(keys, limiter(settings.max_rate), origins, is_locked=settings.has_login)
    app.state.health = health.HealthCache(keys)
    app.add_exception_handler(NacreError, middleware.nacre_error_response)
    app.add_exception_handler(RequestValidationError, middleware.validation_error_response)
    app.add_exception_handler(ConversationStoreError, middleware.storage_error_response)
    app.add_exception_handler(HTTPException, middleware.routing_error_response)
    # the last one that is added sees a request first
    app.add_middleware(middleware.BodyMiddleware, settings.max_body)
    if alone and origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=sorted(origins),
            allow_methods=["*"],
            allow_headers=["*"],
            expose_headers=EXPOSED_HEADERS,
        )
    app.add_middleware(middleware.RequestMiddleware, app.state.metrics)
    if alone:
        app.add_middleware(middleware.ProxyMiddleware, settings.trusted_proxies)
    _add_routes(app, alone=alone)
    return app


def create_worker_app() -> FastAPI:
    """The app of one worker process, which ends with its parent process. Settings come from the environment."""
    if (supervisor := multiprocessing.parent_process()) is not None and supervisor.pid is not None:
        exit_with_parent(supervisor.pid)
    # a closed terminal stops the server as SIGTERM does, unless it is told to go on without one (nohup)
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))
    settings = load_settings()
    middleware.BoundedConnection.seconds = settings.unfinished_seconds
    middleware.configure(settings.log, logging.INFO)
    return create_app(settings)


def _add_routes(app: FastAPI, *, alone: bool) -> None:
    for router in (graphs_router, layer_router, ask_router, thread_router, openai_router, health.router):
        app.include_router(router)
    if alone:
        app.include_router(health.metrics_router)
    add_pages(app)
    add_langserve(app)
    if alone:
        add_mcp(app)
    app.state.left_out = set()
    for extension in filter(lambda each: each.routes, extensions()):
        before = list(app.routes)
        try:
            resolve(extension.routes)(app, alone=alone)
            if taken := _addresses(app.routes[len(before) :]) & _addresses(before):
                raise ConfigError(f"the route {min(taken)} is taken")
            if not extension.routes.startswith(f"{GROUP}."):
                # a route that can't be described would break the description of all
                get_openapi(title=extension.name, version="", routes=app.routes[len(before) :])
        except (Exception, SystemExit) as error:
            app.router.routes[:] = before
            app.state.left_out.add(extension.name)
            leave_out(f"the extension {extension.name!r}", error)


def _addresses(routes: Sequence[BaseRoute]) -> set[str]:
    """Method and path of each, whatever the parameters of the path are called."""
    # older versions of FastAPI keep all routes in one flat list
    flat = list(getattr(routing, "iter_route_contexts", iter)(routes))
    return {
        f"{m} {re.sub('{[^{}]*}', '{}', each.path or '')}"
        for each in flat
        for m in getattr(each, "methods", None) or ("",)
    }


@asynccontextmanager
async def _lifespan(app: FastAPI, *, alone: bool) -> AsyncIterator[None]:
    settings: Settings = app.state.settings
    configure_tracing(settings)
    app.state.stopping = anyio.Event()
    async with open_turn_service(settings, lasting=True) as turns, mcp_lifespan(app) if alone else nullcontext():
        app.state.turn_service = turns
        if settings.database_url is None or turns.threads is None:
            app.state.runs = Runs(settings.resume_seconds)
        else:
            app.state.runs = await service("fleet", "runs")(settings.resume_seconds, turns.threads)
        await _warm_up(app, turns)
        tasks = [asyncio.create_task(_close_runs_on_stop(app, settings.stop_seconds))]
        if turns.threads is not None:
            tasks.append(asyncio.create_task(delete_untouched_threads(turns.threads, settings.keep_days)))
        try:
            async with AsyncExitStack() as stack:
                for extension in extensions():
                    if extension.serve and extension.name not in app.state.left_out:
                        try:
                            await stack.enter_async_context(resolve(extension.serve)(app))
                        except Exception as error:
                            leave_out(f"what the extension {extension.name!r} does while serving", error)
                yield
        finally:
            for task in tasks:
                task.cancel()
            await app.state.runs.close(0)


async def _warm_up(app: FastAPI, turns: TurnService) -> None:
    # FastAPI builds its routes on first use, which takes longer than a request may wait
    await run_in_thread(app.openapi)
    await run_in_thread(prepare_adapters, *RECORDS)
    # the first word loads the dictionary of word forms
    await run_in_thread(tokenize, "words")
    await run_in_thread(turns.library.warm)
    await run_in_thread(open_large_graphs, turns.library)
    # a full collection of these lasting objects would pause all requests
    gc.collect()
    relax_collection()


def open_large_graphs(library: Library) -> None:
    """Open the largest graphs and index their schemas: the first question about 30,000 classes would take seconds."""
    start, sizes = time.process_time(), library.sizes()
    for name in sorted(sizes, key=lambda name: -sizes[name])[:MAX_LARGE_GRAPHS]:
        if sizes[name] < LARGE_GRAPH or time.process_time() - start > WARM_SECONDS:
            break
        try:
            with library.open(name) as graph:
                linker_of(graph.lexicon)
                graph.tables.check_answers(WARM_SECONDS)
        except Exception as error:  # whatever is damaged, the server starts
            log.warning("graph %s can't be opened: %s", name, error)


async def _close_runs_on_stop(app: FastAPI, seconds: float) -> None:
    """When the server stops, wait `seconds` for running turns, then cancel the rest and notify their clients."""
    await app.state.stopping.wait()
    await app.state.runs.close(seconds)
