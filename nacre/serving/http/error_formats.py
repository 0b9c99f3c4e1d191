"""The form of a refusal: path + status + words -> a reply as OpenAI's clients, JSON-RPC's or ours expect it."""

from collections.abc import Mapping
from typing import Any, Literal

from fastapi.responses import JSONResponse

ErrorFormat = Literal["openai", "mcp", "own"]

OPENAI, MCP = "/v1", "/mcp"
# OpenAI's names of what went wrong, by status; others are `invalid_request_error` or, from 500 on, `server_error`
OPENAI_ERROR_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
OPENAI_ERROR_CODES = {401: "invalid_api_key", 413: "context_length_exceeded", 429: "rate_limit_exceeded"}
# JSON-RPC 2.0, section 5.1
PARSE_ERROR, INVALID_REQUEST, INTERNAL_ERROR = -32700, -32600, -32603


def error_format(path: str) -> ErrorFormat:
    """Which protocol a path speaks.

    >>> error_format("/v1/models"), error_format("/mcp"), error_format("/api/ask")
    ('openai', 'mcp', 'own')
    """
    first = f"/{path[1:].partition('/')[0]}"
    return "openai" if first == OPENAI else "mcp" if first == MCP else "own"


def error_response(
    path: str,
    status: int,
    told: Any,
    headers: Mapping[str, str] | None = None,
    *,
    code: str | None = None,
    param: str | None = None,
) -> JSONResponse:
    """The reply; `told` is one line, or a list where ours tells of several fields. `code` and `param` are OpenAI's."""
    form = error_format(path)
    words = told if isinstance(told, str) else "; ".join(_field(each) for each in told)
    if form == "openai":
        # what can't be used as it is has no status of its own there
        status = 400 if status == 422 else status
        body: dict[str, Any] = openai_error(status, words, code, param)
    elif form == "mcp":
        body = {"jsonrpc": "2.0", "id": None, "error": {"code": json_rpc_code(status), "message": words}}
    else:
        body = {"detail": told}
    return JSONResponse(body, status_code=status, headers=dict(headers or {}))


def openai_error(status: int, words: str, code: str | None = None, param: str | None = None) -> dict[str, Any]:
    """The body of an error as OpenAI's API has it.

    >>> openai_error(400, "No messages.", param="messages")["error"]["type"]
    'invalid_request_error'
    """
    kind = OPENAI_ERROR_TYPES.get(status) or ("server_error" if status >= 500 else "invalid_request_error")
    return {"error": {"message": words, "type": kind, "param": param, "code": code or OPENAI_ERROR_CODES.get(status)}}


def json_rpc_code(status: int) -> int:
    """JSON-RPC's code for what was refused before a message was read.

    >>> json_rpc_code(400), json_rpc_code(401), json_rpc_code(500)
    (-32700, -32600, -32603)
    """
    return PARSE_ERROR if status == 400 else INTERNAL_ERROR if status >= 500 else INVALID_REQUEST


def _field(problem: Mapping[str, Any]) -> str:
    where = ".".join(str(part) for part in problem.get("loc", ()) if part != "body")
    return f"{where}: {problem['msg']}" if where else str(problem["msg"])
