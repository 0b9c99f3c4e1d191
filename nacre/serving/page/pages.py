"""Pages for a browser that reach no other host, under strict policies: / to talk, /api/docs for the API."""

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from fastapi import APIRouter, FastAPI
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.staticfiles import StaticFiles
from starlette.responses import Response
from starlette.types import Scope

STATIC_FOLDER = Path(__file__).with_name("static")
DOCS, SPEC = "/api/docs", "/api/openapi.json"
INLINE_ELEMENTS = re.compile(r"<(script|style)>(.*?)</\1>", re.DOTALL)
BASE_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; connect-src 'self'; "
PAGE_HEADERS = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-cache"}

router = APIRouter(include_in_schema=False)


@router.get("/")
def chat_page() -> HTMLResponse:
    """The page to talk; what it shows, its address tells."""
    return _talk()


@router.get(DOCS)
def redirect_to_docs() -> RedirectResponse:
    """The documentation, where it was asked for without the slash."""
    return RedirectResponse(f"{DOCS}/")


@router.get(f"{DOCS}/")
def docs_page() -> HTMLResponse:
    """The documentation of the API."""
    return _docs()


class PageFiles(StaticFiles):
    """The page's own files: each browser asks whether they changed, so that no page runs with an older one's."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers.update(
            {**PAGE_HEADERS, "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'"}
        )
        return response


def add_pages(app: FastAPI) -> None:
    """Add the pages, their files, and the files of the documentation, which come with a package."""
    app.include_router(router)
    app.mount("/static", PageFiles(directory=str(STATIC_FOLDER)), name="static")
    offline = files("fastapi_offline") / "static"
    app.mount(f"{DOCS}/files", StaticFiles(directory=str(offline)), name="docs-files")


@cache
def _talk() -> HTMLResponse:
    text = (STATIC_FOLDER / "index.html").read_text(encoding="utf-8")
    own = content_security_policy(text, "'self'").replace("img-src data:", "img-src 'self' data:")
    return HTMLResponse(text, headers={**PAGE_HEADERS, "Content-Security-Policy": own})


@cache
def _docs() -> HTMLResponse:
    made = get_swagger_ui_html(
        openapi_url=SPEC,
        title="Nacre: the API",
        swagger_js_url=f"{DOCS}/files/swagger-ui-bundle.js",
        swagger_css_url=f"{DOCS}/files/swagger-ui.css",
        swagger_favicon_url="data:,",
    )
    text = bytes(made.body).decode()
    # Swagger's own script sets styles on elements as it draws
    loose = content_security_policy(text, "'self'").replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")
    return HTMLResponse(text, headers={**PAGE_HEADERS, "Content-Security-Policy": loose})


def content_security_policy(text: str, *sources: str) -> str:
    """The policy that lets a page's own scripts and styles run, by their hashes, and files of `sources`.

    >>> content_security_policy("<style>p{}</style>", "'self'").rpartition("; ")[2]
    "style-src 'self' 'sha256-gG2yISYereRMiG2lMXrbiUgi0Ubw9p7QCeWcroOvy9Y='"
    """
    allowed: dict[str, list[str]] = {"script": [*sources], "style": [*sources]}
    for kind, content in INLINE_ELEMENTS.findall(text):
        allowed[kind].append(f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'")
    listed = (f"{kind}-src {' '.join(found) or chr(39) + 'none' + chr(39)}" for kind, found in allowed.items())
    return "; ".join([f"{BASE_POLICY}img-src data:", *listed])
