"""Look-ups hold a slot: those of one key keep nobody else waiting, and they end with their client or their time."""

import asyncio
import threading
import time
from collections import Counter
from inspect import iscoroutinefunction
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest
from fastapi import FastAPI, Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute, iter_route_contexts

from nacre.config.settings import Settings
from nacre.errors import NacreError
from nacre.records.threads import CancelToken, WorkCancelled, cancel_token, compute_once, raise_if_cancelled
from nacre.serving.app import create_app
from nacre.serving.http.auth import authenticate
from nacre.serving.http.dependencies import LookUpSlotDep, hold_look_up_slot
from nacre.serving.http.middleware import nacre_error_response
from nacre.serving.keys import Caller
from nacre.serving.turn_service import LOOK_UP_SLOTS, TurnService

# without a slot on purpose: they read no graph, or at most once a second
WITHOUT_SLOT = {"readyz", "metrics"}
SECONDS = 2.0


class Work:
    """Look-ups that last until they are told to end."""

    def __init__(self) -> None:
        self.running: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self.cancelled = 0
        self.started, self.over = threading.Event(), threading.Event()
        self._lock = threading.Lock()

    def run(self, owner: str) -> str:
        with self._lock:
            self.running[owner] += 1
            self.most[owner] = max(self.most[owner], self.running[owner])
        self.started.set()
        try:
            while not self.over.is_set():
                raise_if_cancelled()
                time.sleep(0.01)
            return owner
        except WorkCancelled:
            self.cancelled += 1
            raise
        finally:
            with self._lock:
                self.running[owner] -= 1


def app_of(work: Work) -> FastAPI:
    app = FastAPI()
    composition = SimpleNamespace(library=None, settings=SimpleNamespace(branch_seconds=SECONDS, max_turns=128))
    app.state.turn_service = TurnService(cast(Any, composition), cast(Any, None), None)
    app.add_exception_handler(NacreError, nacre_error_response)

    async def caller(request: Request) -> Caller:
        return Caller(request.headers["owner"])

    app.dependency_overrides[authenticate] = caller

    @app.get("/slow")
    def slow(slot: LookUpSlotDep, request: Request) -> str:
        return work.run(request.headers["owner"])

    @app.get("/quick")
    def quick(slot: LookUpSlotDep) -> str:
        return "quick"

    return app


def client_of(app: FastAPI) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test", timeout=30)


async def test_look_ups_of_one_key_keep_nobody_else_waiting() -> None:
    work = Work()
    async with client_of(app_of(work)) as client:
        slow = [asyncio.create_task(client.get("/slow", headers={"owner": "eve"})) for _ in range(60)]
        assert await asyncio.to_thread(work.started.wait, 10)
        async with asyncio.timeout(SECONDS / 2):
            assert (await client.get("/quick", headers={"owner": "ann"})).json() == "quick"
        assert work.most["eve"] == LOOK_UP_SLOTS - 1
        work.over.set()
        assert {reply.status_code for reply in await asyncio.gather(*slow)} == {200}


async def test_one_key_takes_no_more_than_its_share_of_the_places_to_wait() -> None:
    work = Work()
    async with client_of(app_of(work)) as client:
        slow = [asyncio.create_task(client.get("/slow", headers={"owner": "eve"})) for _ in range(150)]
        first, _ = await asyncio.wait(slow, return_when=asyncio.FIRST_COMPLETED)
        refused = first.pop().result()
        assert refused.status_code == 429
        assert "96 questions of this key" in refused.json()["detail"]
        assert (await client.get("/quick", headers={"owner": "ann"})).status_code == 200
        work.over.set()
        statuses = [reply.status_code for reply in await asyncio.gather(*slow)]
        assert (statuses.count(200), statuses.count(429)) == (96, 54)


async def test_a_look_up_ends_at_its_time_and_says_so() -> None:
    work = Work()
    async with client_of(app_of(work)) as client:
        reply = await client.get("/slow", headers={"owner": "eve"})
        assert reply.status_code == 422
        assert "stopped after 2 seconds" in reply.json()["detail"]
        assert work.cancelled == 1
        assert (await client.get("/quick", headers={"owner": "eve"})).status_code == 200


async def test_a_look_up_ends_with_its_client() -> None:
    work, left = Work(), asyncio.Event()
    app = app_of(work)
    messages = iter([{"type": "http.request", "body": b"", "more_body": False}])

    async def receive() -> Any:
        if (message := next(messages, None)) is not None:
            return message
        await left.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        pass

    scope = {"type": "http", "method": "GET", "path": "/slow", "query_string": b"", "headers": [(b"owner", b"eve")]}
    running = asyncio.create_task(app(scope, receive, send))
    assert await asyncio.to_thread(work.started.wait, 10)
    left.set()
    async with asyncio.timeout(SECONDS / 2):
        await running
    assert work.cancelled == 1


def test_a_result_that_was_cancelled_is_not_cached() -> None:
    calls = []

    @compute_once(2)
    def half(name: str) -> str:
        calls.append(name)
        return "half" if len(calls) == 1 else "whole"

    token = CancelToken()
    token.over = True
    held = cancel_token.set(token)
    with pytest.raises(WorkCancelled):
        half("a")
    cancel_token.reset(held)
    assert half("a") == "whole"
    assert len(calls) == 2


def test_every_route_that_runs_in_a_thread_holds_a_slot(tmp_path: Path) -> None:
    app = create_app(Settings(data=tmp_path))
    routes = [each.route for each in iter_route_contexts(app.routes) if isinstance(each.route, APIRoute)]
    assert len(routes) > 30
    plain = {route.name: route for route in routes if not iscoroutinefunction(route.endpoint)}
    assert {"thing_details", "follow_up_questions", "graph_schema", "list_models"} <= set(plain)
    assert {name for name, route in plain.items() if not holds_slot(route.dependant)} == WITHOUT_SLOT


def holds_slot(dependant: Dependant) -> bool:
    return any(each.call is hold_look_up_slot or holds_slot(each) for each in dependant.dependencies)
