"""Replies to what is refused: error -> status, headers, one line that says why."""

import json

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

from nacre.records.errors import NacreError
from nacre.serving.refusals import Busy, Unkept, Unknown, status


async def invalid(_: Request, error: Exception) -> JSONResponse:
    """The reply to a request that does not fit its route: where and why, without what was sent."""
    assert isinstance(error, RequestValidationError)
    # LangServe gives bare texts
    told = [
        {key: each[key] for key in ("loc", "msg", "type")} if isinstance(each, dict) else {"msg": str(each)}
        for each in error.errors()
    ]
    # halves of characters, which a client may put into a name, fit into no reply
    return JSONResponse(json.loads(json.dumps({"detail": told}).encode("ascii", "replace")), status_code=422)


async def unkept(request: Request, error: Exception) -> JSONResponse:
    """The reply to a request that met a file of conversations which can't be used now."""
    return await refuse(request, Unkept(f"The conversations can't be read or written now ({error}). Try again."))


async def refuse(_: Request, error: Exception) -> JSONResponse:
    """The reply to a request that raised a NacreError."""
    assert isinstance(error, NacreError)
    headers = {}
    if isinstance(error, Busy):
        headers["Retry-After"] = str(max(1, round(error.again)))
    if isinstance(error, Unknown):
        headers["WWW-Authenticate"] = "Bearer"
    return JSONResponse({"detail": str(error)}, status_code=status(error), headers=headers)
