"""What is refused and with which HTTP status: error -> status, headers, one line that says why."""

import json
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from nacre.records.errors import ConfigError, NacreError
from nacre.serving.forms import refused


class Unknown(NacreError):
    """No key, or one that opens nothing."""


class Foreign(NacreError):
    """A web page of another origin asks, and nobody allowed it to."""


class Missing(NacreError):
    """What is asked for is not there, or not for this caller."""


class NoModel(Missing):
    """A graph that an OpenAI client names as its model, and that is not there, or not for this caller."""


class Elsewhere(ConfigError):
    """A thread about another graph."""


class Busy(NacreError):
    """Too much at once; `again` says after how many seconds to come back."""

    def __init__(self, message: str, again: float) -> None:
        super().__init__(message)
        self.again = again


class Unkept(NacreError):
    """The conversations can't be read or written now."""


STATUS: dict[type[NacreError], int] = {
    Unknown: 401, Foreign: 403, Missing: 404, NoModel: 404, Elsewhere: 409, Busy: 429, Unkept: 503,
}  # fmt: skip


def status(error: NacreError) -> int:
    """The HTTP status of a refusal; what a person can put right is 422.

    >>> status(Missing("no such thread")), status(ConfigError("empty question"))
    (404, 422)
    """
    return STATUS.get(type(error), 422)


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
