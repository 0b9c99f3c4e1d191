"""Exception handlers of the app: error -> reply with status, headers and one line that says why."""

import json
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from nacre.errors import NacreError
from nacre.serving.errors import (
    ModelNotFound,
    StorageUnavailable,
    TooManyRequests,
    Unauthenticated,
    error_status,
)
from nacre.serving.http.error_formats import error_response


async def validation_error_response(request: Request, error: Exception) -> JSONResponse:
    """The reply to a request that does not match its route's parameters, without the values that were sent."""
    assert isinstance(error, RequestValidationError)
    # LangServe raises errors that are plain strings
    problems = [
        {key: each[key] for key in ("loc", "msg", "type")} if isinstance(each, dict) else {"msg": str(each)}
        for each in error.errors()
    ]
    # replies can't contain lone surrogates, which a client may put into a name
    problems = json.loads(json.dumps(problems).encode("ascii", "replace"))
    return error_response(request.url.path, 422, problems, param=_first_field(problems))


def _first_field(problems: list[dict[str, Any]]) -> str | None:
    """The field of the first problem."""
    path = [part for part in problems[0].get("loc", ()) if part != "body"] if problems else []
    return str(path[0]) if path else None


async def routing_error_response(request: Request, error: Exception) -> JSONResponse:
    """The reply to a request for an unknown route or method."""
    assert isinstance(error, HTTPException)
    return error_response(request.url.path, error.status_code, error.detail, error.headers)


async def storage_error_response(request: Request, error: Exception) -> JSONResponse:
    """The reply to a request that failed on the conversation store."""
    return await nacre_error_response(
        request, StorageUnavailable(f"The conversations can't be read or written now ({error}). Try again.")
    )


async def nacre_error_response(request: Request, error: Exception) -> JSONResponse:
    """The reply to a request that raised a NacreError."""
    assert isinstance(error, NacreError)
    headers = {}
    if isinstance(error, TooManyRequests):
        headers["Retry-After"] = str(max(1, round(error.retry_after)))
    if isinstance(error, Unauthenticated):
        headers["WWW-Authenticate"] = "Bearer"
    code = "model_not_found" if isinstance(error, ModelNotFound) else None
    return error_response(request.url.path, error_status(error), str(error), headers, code=code)
