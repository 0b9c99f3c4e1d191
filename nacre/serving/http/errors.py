"""Error replies: error -> reply with status, headers and one line that says why.

Its format is that of the path's protocol: path + status + message -> a reply for the clients of that protocol.
"""

import json
from collections.abc import Mapping
from typing import Any, Literal

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
from nacre.serving.http.connection import route_path


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
    path = [part for part in problems[0].get("loc", ()) if part != "body"] if problems else []
    return error_response(route_path(request.scope), 422, problems, param=str(path[0]) if path else None)


async def routing_error_response(request: Request, error: Exception) -> JSONResponse:
    """The reply to a request for an unknown route or method."""
    assert isinstance(error, HTTPException)
    return error_response(route_path(request.scope), error.status_code, error.detail, error.headers)


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
        headers |= request.app.state.authenticator.challenge(request)
    code = "model_not_found" if isinstance(error, ModelNotFound) else None
    return error_response(route_path(request.scope), error_status(error), str(error), headers, code=code)


ErrorFormat = Literal["openai", "json-rpc", "langgraph", "own"]

OPENAI, MCP, A2A, LANGGRAPH = "/v1", "/mcp", "/a2a", "/langgraph"

FORMATS: dict[str, ErrorFormat] = {OPENAI: "openai", MCP: "json-rpc", A2A: "json-rpc", LANGGRAPH: "langgraph"}

# OpenAI's error types by status; others are `invalid_request_error` or, from 500 on, `server_error`
OPENAI_ERROR_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}

OPENAI_ERROR_CODES = {401: "invalid_api_key", 413: "context_length_exceeded", 429: "rate_limit_exceeded"}

PARSE_ERROR, INVALID_REQUEST, INTERNAL_ERROR = -32700, -32600, -32603  # JSON-RPC 2.0, section 5.1


def error_format(path: str) -> ErrorFormat:
    """The error format of a path's protocol.

    >>> error_format("/v1/models"), error_format("/mcp"), error_format("/api/ask")
    ('openai', 'json-rpc', 'own')
    """
    return FORMATS.get(f"/{path[1:].partition('/')[0]}", "own")


def error_response(
    path: str,
    status: int,
    detail: Any,
    headers: Mapping[str, str] | None = None,
    *,
    code: str | None = None,
    param: str | None = None,
) -> JSONResponse:
    """The reply. `detail` is one line, or a list of problems with fields. `code` and `param` are OpenAI's."""
    format = error_format(path)
    message = detail if isinstance(detail, str) else "; ".join(_problem_message(each) for each in detail)
    if format == "openai":
        # OpenAI's API has no status 422
        status = 400 if status == 422 else status
        body: dict[str, Any] = openai_error(status, message, code, param)
    elif format == "json-rpc":
        body = {"jsonrpc": "2.0", "id": None, "error": {"code": json_rpc_code(status), "message": message}}
    else:
        # LangGraph's clients show a text alone
        body = {"detail": message if format == "langgraph" else detail}
    return JSONResponse(body, status_code=status, headers=dict(headers or {}))


def openai_error(status: int, message: str, code: str | None = None, param: str | None = None) -> dict[str, Any]:
    """The body of an error in the format of OpenAI's API.

    >>> openai_error(400, "No messages.", param="messages")["error"]["type"]
    'invalid_request_error'
    """
    kind = OPENAI_ERROR_TYPES.get(status) or ("server_error" if status >= 500 else "invalid_request_error")
    return {"error": {"message": message, "type": kind, "param": param, "code": code or OPENAI_ERROR_CODES.get(status)}}


def json_rpc_code(status: int) -> int:
    """JSON-RPC's code for a request that was refused before its message was read.

    >>> json_rpc_code(400), json_rpc_code(401), json_rpc_code(500)
    (-32700, -32600, -32603)
    """
    return PARSE_ERROR if status == 400 else INTERNAL_ERROR if status >= 500 else INVALID_REQUEST


def _problem_message(problem: Mapping[str, Any]) -> str:
    where = ".".join(str(part) for part in problem.get("loc", ()) if part != "body")
    return f"{where}: {problem['msg']}" if where else str(problem["msg"])
