"""The routes of A2A: /a2a (JSON-RPC, versions 1.0 and 0.3) and /.well-known/agent-card.json."""

import logging

from a2a.server.context import ServerCallContext
from a2a.server.request_handlers.response_helpers import agent_card_to_dict
from a2a.server.routes import ServerCallContextBuilder, create_jsonrpc_routes
from a2a.utils.constants import AGENT_CARD_WELL_KNOWN_PATH
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from agents.run_in_thread import run_in_thread
from nacre.serving.a2a.card import agent_card
from nacre.serving.a2a.handler import CONTEXT, RequestParts, TurnHandler
from nacre.serving.a2a.registry import TaskRegistry
from nacre.serving.errors import ForbiddenOrigin, Unauthenticated
from nacre.serving.http.auth import Authenticator, authenticate, bearer_token
from nacre.serving.http.error_formats import A2A
from nacre.serving.turn_service import TurnService

# the SDK logs a traceback for each invalid request; errors of our own are logged by `handler`
NOISY_LOGGERS = ("a2a.server.routes", "a2a.compat")


class CallContextBuilder(ServerCallContextBuilder):
    """The context of a call: who sent it and what its method needs."""

    def build(self, request: Request) -> ServerCallContext:
        """The context of an authenticated request."""
        headers = dict(request.headers)
        parts = RequestParts(request.app.state, request.state.caller, _address(request), headers)
        return ServerCallContext(state={"headers": headers, CONTEXT: parts})


def add_a2a(app: FastAPI) -> None:
    """Add the routes."""
    for name in NOISY_LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    app.state.a2a_tasks = TaskRegistry()
    grace = app.state.settings.stop_seconds + 5
    (route,) = create_jsonrpc_routes(
        TurnHandler(), A2A, CallContextBuilder(), enable_v0_3_compat=True, shutdown_grace_period=grace
    )

    async def call(request: Request) -> Response:
        """One call, once it is known who sent it. Even with a key, pages of other origins are refused."""
        authenticator: Authenticator = request.app.state.authenticator
        authenticator.check_origin(request)
        await authenticate(request, await bearer_token(request))
        response: Response = await route.endpoint(request)
        return response

    app.router.routes.append(Route(A2A, call, methods=["POST"], include_in_schema=False))
    app.router.routes.append(Route(AGENT_CARD_WELL_KNOWN_PATH, _card, methods=["GET"], include_in_schema=False))


async def _card(request: Request) -> Response:
    """The card. Without a valid key it names no graph."""
    service: TurnService = request.app.state.turn_service
    try:
        caller = await authenticate(request, await bearer_token(request))
    except (Unauthenticated, ForbiddenOrigin):
        card = agent_card(_address(request), service, None)
    else:
        async with service.look_up_slot(caller):
            card = await run_in_thread(agent_card, _address(request), service, caller)
    return JSONResponse(
        agent_card_to_dict(card), headers={"Cache-Control": "no-store", "Vary": "Authorization, Origin"}
    )


def _address(request: Request) -> str:
    return str(request.base_url).rstrip("/") + A2A
