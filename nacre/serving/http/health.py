"""Health of the server: settings + stores -> /healthz, /readyz, /metrics."""

import asyncio
import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import httpx
from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from nacre.config.settings import Settings
from nacre.errors import NacreError
from nacre.serving.http.auth import RateLimiter, client_network
from nacre.serving.http.dependencies import MetricsDep, TurnServiceDep
from nacre.serving.http.graphs import GraphSummary, graph_summary
from nacre.serving.keys import KeyStore, KeysUnavailable
from nacre.serving.turn_service import TurnService
from nacre.stores import versions
from nacre.stores.catalog import error_reason
from nacre.stores.lexical import DamagedIndex, verify_seal
from nacre.stores.sqlite.lexicon import spellings_folder
from nacre.stores.state.conversations import ConversationStoreError

router = APIRouter(tags=["health"])

metrics_router = APIRouter(tags=["health"])

HEALTH_CACHE_SECONDS = 1.0

# reads of the metrics by an address in a minute, a tenth of them at once (set by hand)
MAX_SCRAPES = 600

MIN_FREE_BYTES = 50_000_000

# the model's server must answer in this time, from the connection to the headers, and a database (given)
PROBE_SECONDS = 2.0


NO_KEYS, NO_DATABASE = "no keys", "no database"

_NEXT = {NO_KEYS: "nacre keys list", NO_DATABASE: "check the server of NACRE_DATABASE_URL"}


class HealthReport(NamedTuple):
    """The graphs, the problems that concern no single graph, and what lets nobody in: "" or a status."""

    graphs: tuple[GraphSummary, ...]
    problems: list[str]
    locked: str = ""


@router.get("/healthz", summary="Is the process alive?")
async def healthz() -> dict[str, str]:
    """Always `ok`, without looking at the stores."""
    return {"status": "ok"}


@router.get(
    "/readyz",
    summary="Can it answer questions?",
    responses={503: {"description": "No graph, no usable key, or no database."}},
)
def readyz(service: TurnServiceDep, request: Request) -> JSONResponse:
    """`ok`; `degraded` if a part is missing and the rest answers; 503 if no graph can be queried, or if the keys are
    damaged or gone or their database does not answer, so that all requests are refused.

    Problems of graphs are listed only for callers that may read them.
    """
    graphs, problems, locked = request.app.state.health.report(service)
    is_ready = not locked and any(not graph.problem for graph in graphs)
    if locked:
        body: dict[str, Any] = {"status": locked, "next": _NEXT[locked]}
    elif not is_ready:
        body = {"status": "no graph", "next": "nacre ingest FILE --graph NAME"}
    else:
        has_problems = problems or any(graph.problem or graph.unavailable for graph in graphs)
        body = {"status": "degraded" if has_problems else "ok"}
    body["problems"] = problems
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    try:
        key = token if scheme.lower() == "bearer" else None
        caller = request.app.state.authenticator.authenticate(request, key)
    except NacreError:
        return JSONResponse(body, status_code=200 if is_ready else 503)
    body["graphs"] = {
        graph.name: {"version": graph.version, "unavailable": graph.unavailable, "problem": graph.problem}
        for graph in graphs
        if caller.may_read(graph.name)
    }
    return JSONResponse(body, status_code=200 if is_ready else 503)


@metrics_router.get("/metrics", summary="Counters for Prometheus", response_class=Response)
def metrics(request: Request, metrics: MetricsDep) -> Response:
    """Requests, turns, tokens and times; no names of graphs or owners."""
    # writing them takes as long as ten other requests, and needs no key
    request.app.state.health.scrapes.take(client_network(request.client.host if request.client else ""))
    return Response(metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


class HealthCache:
    """The last health report (/readyz needs no key): stores are examined once a second at most, by one request."""

    def __init__(self, keys: KeyStore) -> None:
        self._keys = keys
        self.scrapes = RateLimiter(MAX_SCRAPES)
        # each gives a further problem, or ""
        self.others: list[Callable[[], str]] = []
        self._lock = threading.Lock()
        self._report: HealthReport | None = None
        self._checked_at = 0.0

    def report(self, service: TurnService) -> HealthReport:
        """The latest report, at most about a second old."""
        # until there is a first report, requests wait for it
        if self._lock.acquire(blocking=self._report is None):
            try:
                if self._report is None or time.monotonic() - self._checked_at > HEALTH_CACHE_SECONDS:
                    report, others = _examine(service, self._keys), [other() for other in self.others]
                    self._report = report._replace(problems=[*report.problems, *filter(None, others)])
                    self._checked_at = time.monotonic()
            finally:
                self._lock.release()
        assert self._report is not None
        return self._report


def _examine(service: TurnService, keys: KeyStore) -> HealthReport:
    settings = service.composition.settings
    graphs = tuple(_examine_graph(service, name) for name in service.library.names())
    locked, key_problems = _key_problems(keys)
    free = shutil.disk_usage(settings.data).free
    disk_problems = [] if free > MIN_FREE_BYTES else [f"the disk of the data folder has {free} bytes left"]
    problems = [*_conversation_problems(service), *disk_problems, *key_problems, *model_problems(settings)]
    return HealthReport(graphs, problems, locked)


def _examine_graph(service: TurnService, name: str) -> GraphSummary:
    """What its version lacks now (open stores outlive deleted files); of an attached graph, only if it can be read."""
    graph = graph_summary(service.library, name)
    if graph.problem:
        return graph
    home = service.library.data / name
    folder = versions.version_folder(home, graph.version)
    try:
        verify_seal(spellings_folder(folder / versions.LEXICON))
    except DamagedIndex as error:
        return replace(graph, problem=f"the names are {error}. Run: nacre ingest FILE.ttl --graph {name}")
    missing, is_attached = {}, False
    try:
        with service.library.open(name, graph.version) as opened:
            is_attached = bool(opened.attached)
            if opened.stored is not None and not opened.stored.is_local:
                opened.stored.check_answers(PROBE_SECONDS)
                if changes := opened.stored.schema_changes(PROBE_SECONDS):
                    missing["schema"] = f"{changes} Run: nacre attach --refresh --graph {name}"
    except (NacreError, OSError) as error:
        missing["sql"] = f"{error_reason(error)} Run: nacre doctor"
    if is_attached:
        return replace(graph, unavailable=missing)
    graph.unavailable.update(missing)
    vectors = versions.vectors_folder(home, graph.vectors) if graph.vectors is not None else home
    for branch, path in (("lexical", folder / versions.LEXICAL), ("vector", vectors)):
        if branch not in graph.unavailable and not path.exists():
            graph.unavailable[branch] = f"its files are gone. Run: nacre index --graph {name}"
    if "lexical" not in graph.unavailable:
        try:
            verify_seal(folder / versions.LEXICAL)
        except DamagedIndex as error:
            graph.unavailable["lexical"] = f"{error}. Run: nacre index --graph {name}"
    if not (folder / versions.TABLES).exists():
        graph.unavailable["sql"] = f"its file is gone. Run: nacre ingest FILE.ttl --graph {name}"
    return graph


def _conversation_problems(service: TurnService) -> list[str]:
    if service.threads is None:
        return []
    try:
        service.threads.conversations.try_writing()
    except ConversationStoreError as error:
        return [f"conversations can't be kept: {error}"]
    return []


def _key_problems(keys: KeyStore) -> tuple[str, list[str]]:
    """The server's own store, since only it knows that there were keys: the status that lets nobody in, and why."""
    try:
        keys.all()
    except KeysUnavailable:
        return NO_DATABASE, ["the database does not answer, so all requests are refused until it does"]
    except NacreError:
        # clients without a key must not learn the path of the file
        return NO_KEYS, ["the keys are damaged or gone, so all requests are refused. Run: nacre keys list"]
    return "", []


def model_problems(settings: Settings) -> list[str]:
    """Whether the model's server accepts connections; it gets no prompt, since that may cost money."""
    if not settings.model:
        return []
    local = settings.ollama_host if settings.model.startswith("ollama:") else settings.openai_base_url
    if not local:
        return []
    try:
        asyncio.run(_await_headers(local if "://" in local else f"http://{local}"))
    except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as error:
        # the text of the error may quote the address with a password
        return [f"the model's server does not answer, so the rules answer: {type(error).__name__}"]
    return []


async def _await_headers(url: str) -> None:
    """Wait for the headers of a reply; its body is not read, since it may not end."""
    async with (
        asyncio.timeout(PROBE_SECONDS),
        httpx.AsyncClient(timeout=PROBE_SECONDS) as client,
        client.stream("GET", url),
    ):
        pass
