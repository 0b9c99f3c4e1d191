"""/share/TOKEN: the page of a shared answer, for people without a key."""

import logging

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from agents.run_in_thread import run_in_thread
from nacre.errors import ConfigError
from nacre.serving.http.auth import Authenticator
from nacre.serving.http.dependencies import TurnServiceDep
from nacre.serving.sharing.page import MESSAGES, message_page, page_policy, preferred_language, shared_page
from nacre.serving.sharing.service import AnswerSharing
from nacre.stores.conversations.conversations import ConversationStoreError

log = logging.getLogger(__name__)

HEADERS = {
    "X-Robots-Tag": "noindex, nofollow, noarchive",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
}

router = APIRouter(include_in_schema=False)


@router.get("/share/{token}")
async def shared_answer_page(request: Request, token: str, service: TurnServiceDep) -> HTMLResponse:
    """The answer, or one message for all tokens that give nothing."""
    authenticator: Authenticator = request.app.state.authenticator
    authenticator.limit_address(request)
    sharing: AnswerSharing = request.app.state.sharing
    language = preferred_language(request.headers.get("accept-language", ""))
    try:
        found = None
        if service.threads is not None:
            found = await sharing.open(service.threads, service.library, token)
    except (ConversationStoreError, ConfigError) as error:
        # readers without a key must not learn the path of a file
        log.error("a shared answer can't be read: %s", error)
        return _page(message_page(language, MESSAGES[503]), 503)
    if found is None:
        return _page(message_page(language, MESSAGES[404]), 404)
    return _page(await run_in_thread(shared_page, found, language), 200)


def _page(text: str, status: int) -> HTMLResponse:
    return HTMLResponse(text, status, {**HEADERS, "Content-Security-Policy": page_policy()})
