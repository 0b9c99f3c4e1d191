"""The replies to requests that are refused: error -> status, headers, one line that says why."""

import json
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from nacre.errors import NacreError
from nacre.serving.http.error_formats import refused
from nacre.serving.http.error_status import Busy, NoModel, Unkept, Unknown, status


async def invalid(request: Request, error: Exception) -> JSONResponse:
    """The reply to a request that does not fit its route: where and why, without what was sent."""
    assert isinstance(error, RequestValidationError)
    # LangServe gives bare texts
    told = [
        {key: each[key] for key in ("loc", "msg", "type")} if isinstance(each, dict) else {"msg": str(each)}
        for each in error.errors()
    ]
    # halves of characters, which a client may put into a name, fit into no reply
    told = json.loads(json.dumps(told).encode("ascii", "replace"))
    return refused(request.url.path, 422, told, param=_param(told))


def _param(told: list[dict[str, Any]]) -> str | None:
    """The field that the first problem is about."""
    where = [part for part in told[0].get("loc", ()) if part != "body"] if told else []
    return str(where[0]) if where else None


async def missing(request: Request, error: Exception) -> JSONResponse:
    """The reply where there is no such route, or none for this method."""
    assert isinstance(error, HTTPException)
    return refused(request.url.path, error.status_code, error.detail, error.headers)


async def unkept(request: Request, error: Exception) -> JSONResponse:
    """The reply to a request that met a file of conversations which can't be used now."""
    return await refuse(request, Unkept(f"The conversations can't be read or written now ({error}). Try again."))


async def refuse(request: Request, error: Exception) -> JSONResponse:
    """The reply to a request that raised a NacreError."""
    assert isinstance(error, NacreError)
    headers = {}
    if isinstance(error, Busy):
        headers["Retry-After"] = str(max(1, round(error.again)))
    if isinstance(error, Unknown):
        headers["WWW-Authenticate"] = "Bearer"
    code = "model_not_found" if isinstance(error, NoModel) else None
    return refused(request.url.path, status(error), str(error), headers, code=code)
