"""The HTTP app: settings -> FastAPI with LangServe at /ask and the native API under /api."""

import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from sse_starlette import EventSourceResponse

from config.settings import Settings
from records.errors import NacreError
from serving.asking import Asking, opened
from serving.langserve import add_ask

log = logging.getLogger(__name__)


class Question(BaseModel):
    """What /api/ask takes."""

    question: str
    graph: str | None = None
    thread: str | None = None


def create_app(settings: Settings) -> FastAPI:
    """The app; its stores and threads are opened when it starts and closed when it stops."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with opened(settings, lasting=True) as asking:
            app.state.asking = asking
            yield

    app = FastAPI(title="Nacre", lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url="/api/openapi.json")
    app.add_exception_handler(NacreError, _refuse)
    add_ask(app, lambda: _asking(app))

    @app.get("/", include_in_schema=False)
    async def pointer() -> dict[str, str]:
        return {"nacre": "ask at /ask/playground/ or POST /api/ask", "graphs": "/api/graphs", "health": "/healthz"}

    @app.get("/healthz")
    async def healthz() -> dict[str, str]:
        return {"status": "ok"}

    @app.get("/readyz")
    def readyz() -> JSONResponse:
        names = _asking(app).library.names()
        if not names:
            return JSONResponse({"status": "no graph", "next": "nacre ingest FILE --graph NAME"}, status_code=503)
        return JSONResponse({"status": "ok", "graphs": names})

    @app.get("/api/graphs")
    def graphs() -> list[dict[str, str]]:
        library = _asking(app).library
        return [{"name": name, "version": library.current(name)} for name in library.names()]

    @app.post("/api/ask")
    async def ask(asked: Question) -> EventSourceResponse:
        asking = _asking(app)
        asking.check(asked.question, asked.graph)
        return EventSourceResponse(_told(asking.events(asked.question, asked.graph, asked.thread)))

    return app


async def _told(events: AsyncIterator[tuple[str, Any]]) -> AsyncIterator[dict[str, str]]:
    """Each event of a turn with its name and its payload as JSON; `done` or `error`, then `done`, ends the stream."""
    try:
        async for kind, payload in events:
            yield {"event": kind, "data": json.dumps(payload, ensure_ascii=False)}
    except NacreError as error:
        yield {"event": "error", "data": json.dumps({"message": str(error)})}
    except Exception:
        log.exception("a turn broke")
        yield {"event": "error", "data": json.dumps({"message": "Nacre broke down on this; its log says why."})}
    yield {"event": "done", "data": "{}"}


async def _refuse(_: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"detail": str(error)}, status_code=422)


def _asking(app: FastAPI) -> Asking:
    asking: Asking = app.state.asking
    return asking
