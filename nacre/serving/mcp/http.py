"""MCP over streamable HTTP at /mcp: request -> its caller -> the MCP server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from mcp.server.context import ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from nacre.errors import NacreError
from nacre.serving.http.auth import Authenticator, authenticate, bearer_token
from nacre.serving.http.error_formats import MCP
from nacre.serving.http.error_handlers import nacre_error_response
from nacre.serving.mcp.ask import ToolContext
from nacre.serving.mcp.server import create_mcp_server


class McpEndpoint:
    """The ASGI app at /mcp. It is stateless, so that any worker process can answer the next request."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        authenticator: Authenticator = request.app.state.authenticator
        try:
            # even with a key, pages of other origins are refused
            authenticator.check_origin(request)
            await authenticate(request, await bearer_token(request))
        except NacreError as error:
            await (await nacre_error_response(request, error))(scope, receive, send)
            return
        manager: StreamableHTTPSessionManager = request.app.state.mcp
        await manager.handle_request(scope, receive, send)


def add_mcp(app: FastAPI) -> None:
    """Add the route /mcp, which works while `mcp_lifespan` is open. It needs no GET (server stream) and no DELETE
    (session end)."""
    app.router.routes.append(Route(MCP, McpEndpoint(), methods=["POST"], include_in_schema=False))


@asynccontextmanager
async def mcp_lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Serve MCP over the app's open data folder until the block ends."""
    mcp = create_mcp_server(_resolve_context)
    # the endpoint authenticates requests itself
    mcp.streamable_http_app(
        stateless_http=True,
        max_request_body_size=app.state.settings.max_body,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    app.state.mcp = mcp.session_manager
    async with mcp.session_manager.run():
        yield


def _resolve_context(ctx: ServerRequestContext[Any, Request]) -> ToolContext:
    request = ctx.request
    if request is None:
        raise RuntimeError("an MCP message has no HTTP request")
    state = request.app.state
    return ToolContext(state.turn_service, request.state.caller, state.metrics, dict(request.headers))
