"""Pages for browsers: the chat at /, the API's documentation at /api/docs. Their policies allow no other host."""

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.staticfiles import StaticFiles
from starlette.responses import Response
from starlette.types import Scope

from agents.run_in_thread import run_in_thread
from nacre.serving.page.api_docs import api_docs_page

STATIC_FOLDER = Path(__file__).with_name("static")
DOCS, SPEC = "/api/docs", "/api/openapi.json"
INLINE_ELEMENTS = re.compile(r"<(script|style)>(.*?)</\1>", re.DOTALL)
BASE_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; connect-src 'self'; "
PAGE_HEADERS = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-cache"}

router = APIRouter(include_in_schema=False)


@router.get("/")
async def chat_page() -> HTMLResponse:
    """The chat page; its query string selects what it shows."""
    return _chat_page()


@router.get(DOCS)
async def redirect_to_docs() -> RedirectResponse:
    """Redirect to the documentation's address with a slash."""
    return RedirectResponse(f"{DOCS}/")


@router.get(f"{DOCS}/")
async def docs_page(request: Request) -> HTMLResponse:
    """The documentation of the API."""
    if not hasattr(request.app.state, "api_docs"):
        # made once: the routes of an app do not change
        request.app.state.api_docs = await run_in_thread(lambda: api_docs_page(request.app.openapi(), SPEC))
    text: str = request.app.state.api_docs
    return HTMLResponse(text, headers={**PAGE_HEADERS, "Content-Security-Policy": content_security_policy(text)})


class PageFiles(StaticFiles):
    """The page's static files. Browsers revalidate them, so that a page never runs with files of an older version."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers.update(
            {**PAGE_HEADERS, "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'"}
        )
        return response


def add_pages(app: FastAPI) -> None:
    """Add the pages and their static files."""
    app.include_router(router)
    app.mount("/static", PageFiles(directory=str(STATIC_FOLDER)), name="static")


@cache
def _chat_page() -> HTMLResponse:
    text = (STATIC_FOLDER / "index.html").read_text(encoding="utf-8")
    csp = content_security_policy(text, "'self'").replace("img-src data:", "img-src 'self' data:")
    return HTMLResponse(text, headers={**PAGE_HEADERS, "Content-Security-Policy": csp})


def content_security_policy(text: str, *sources: str) -> str:
    """The policy that allows a page's inline scripts and styles, by their hashes, and files from `sources`.

    >>> content_security_policy("<style>p{}</style>", "'self'").rpartition("; ")[2]
    "style-src 'self' 'sha256-gG2yISYereRMiG2lMXrbiUgi0Ubw9p7QCeWcroOvy9Y='"
    """
    allowed: dict[str, list[str]] = {"script": [*sources], "style": [*sources]}
    for kind, content in INLINE_ELEMENTS.findall(text):
        allowed[kind].append(f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'")
    directives = (f"{kind}-src {' '.join(found) or chr(39) + 'none' + chr(39)}" for kind, found in allowed.items())
    return "; ".join([f"{BASE_POLICY}img-src data:", *directives])
