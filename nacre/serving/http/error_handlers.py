"""The replies to requests that are refused: error -> status, headers, one line that says why."""

import json
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from nacre.errors import NacreError
from nacre.serving.http.error_formats import error_response
from nacre.serving.http.errors import (
    ModelNotFound,
    StorageUnavailable,
    TooManyRequests,
    Unauthenticated,
    error_status,
)


async def validation_error_response(request: Request, error: Exception) -> JSONResponse:
    """The reply to a request that does not fit its route: where and why, without what was sent."""
    assert isinstance(error, RequestValidationError)
    # LangServe gives bare texts
    told = [
        {key: each[key] for key in ("loc", "msg", "type")} if isinstance(each, dict) else {"msg": str(each)}
        for each in error.errors()
    ]
    # halves of characters, which a client may put into a name, fit into no reply
    told = json.loads(json.dumps(told).encode("ascii", "replace"))
    return error_response(request.url.path, 422, told, param=_param(told))


def _param(told: list[dict[str, Any]]) -> str | None:
    """The field that the first problem is about."""
    where = [part for part in told[0].get("loc", ()) if part != "body"] if told else []
    return str(where[0]) if where else None


async def routing_error_response(request: Request, error: Exception) -> JSONResponse:
    """The reply where there is no such route, or none for this method."""
    assert isinstance(error, HTTPException)
    return error_response(request.url.path, error.status_code, error.detail, error.headers)


async def storage_error_response(request: Request, error: Exception) -> JSONResponse:
    """The reply to a request that met a file of conversations which can't be used now."""
    return await nacre_error_response(
        request, StorageUnavailable(f"The conversations can't be read or written now ({error}). Try again.")
    )


async def nacre_error_response(request: Request, error: Exception) -> JSONResponse:
    """The reply to a request that raised a NacreError."""
    assert isinstance(error, NacreError)
    headers = {}
    if isinstance(error, TooManyRequests):
        headers["Retry-After"] = str(max(1, round(error.again)))
    if isinstance(error, Unauthenticated):
        headers["WWW-Authenticate"] = "Bearer"
    code = "model_not_found" if isinstance(error, ModelNotFound) else None
    return error_response(request.url.path, error_status(error), str(error), headers, code=code)
