"""/embed/KEY/?graph=: the page for a frame of another site -> HTML whose policy names the origins that may show it.

Its visitors have no key. What the page asks of /embed/KEY/api is passed on to /api as a request of the key called KEY,
which must exist in `nacre keys`. Only paths that show nothing of others are passed on: a conversation is read by its
name, which the server makes for a visitor and nobody can guess, and none are listed.
"""

import re
from pathlib import Path
from urllib.parse import urlencode

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, RedirectResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from nacre.errors import ConfigError, NacreError
from nacre.records.threads import run_in_thread
from nacre.serving.errors import Forbidden, ForbiddenOrigin, NotFound
from nacre.serving.http.auth import OWN_SITES, Authenticator
from nacre.serving.http.middleware import nacre_error_response
from nacre.serving.keys import KEY_NAME, Caller
from nacre.serving.page.pages import PAGE_HEADERS, STATIC_FOLDER, PageFiles, content_security_policy

EMBED = "/embed"

FOLDER = Path(__file__).parent

# in place of DENY: browsers obey the policy, which names the sites
FRAMED = {"X-Frame-Options": "ALLOWALL"}

ORIGIN = re.compile(r"https?://(?:[a-z0-9-]+\.)*[a-z0-9-]+(?::\d{1,5})?|https?://\[[\da-f:]+\](?::\d{1,5})?")

# method and path after /api of what visitors may ask for
VISITORS = re.compile(
    r"GET /(?:choices|graphs|graphs/[^/]+(?:/(?!layer|verified).+)?|runs/[^/]+)"
    r"|GET /threads/visitor-[0-9a-f]{32}(?:/turns/\d+/answer\.[a-z]+)?"
    r"|POST /(?:ask|threads|graphs/[^/]+/(?:labels|places|query))"
    r"|PUT /threads/visitor-[0-9a-f]{32}/turns/\d+/feedback|DELETE /runs/[^/]+"
)

router = APIRouter(include_in_schema=False)


def parse_embedding(setting: str) -> dict[str, tuple[str, ...]]:
    """The origins of each key; raises ConfigError.

    >>> parse_embedding("site=https://a.example https://b.example:8443")
    {'site': ('https://a.example', 'https://b.example:8443')}
    """
    origins: dict[str, tuple[str, ...]] = {}
    for entry in filter(None, map(str.strip, setting.split(","))):
        name, _, listed = entry.partition("=")
        found = tuple(each.rstrip("/").lower() for each in listed.split())
        wrong = [each for each in found if not ORIGIN.fullmatch(each)]
        if not KEY_NAME.fullmatch(name.strip()) or not found or wrong:
            raise ConfigError(
                f"NACRE_EMBED can't have {entry[:200]!r}. Name a key and its sites: KEY=https://a.example https://b.example"
            )
        origins[name.strip()] = found
    return origins


async def visitor(request: Request, key: str) -> Caller:
    """The caller that visitors of a site are, without rights. Raises NotFound, whatever is missing."""
    if key in request.app.state.embedding:
        owner = await run_in_thread(request.app.state.keys.find_owner, key)
        if owner is not None:
            return Caller(key, owner[0].graphs, visitor=request.client.host if request.client else "-")
    raise NotFound("Not Found")


@router.get(f"{EMBED}/script.js")
@router.get(f"{EMBED}/page.js")
@router.get(f"{EMBED}/page.css")
async def file(request: Request) -> FileResponse:
    """What a site includes; the first script and the last style sheet of the page in its frame."""
    return FileResponse(FOLDER / Path(request.url.path).name, headers=PAGE_HEADERS)


@router.get(EMBED)
async def find_page(request: Request, graph: str = "") -> RedirectResponse:
    """Redirect to the page of the first key that may read the graph."""
    for key in request.app.state.embedding:
        try:
            caller = await visitor(request, key)
        except NotFound:
            continue
        if not graph or caller.may_read(graph):
            return RedirectResponse(f"embed/{key}/?{urlencode(dict(request.query_params))}")
    raise NotFound("Not Found")


@router.get(f"{EMBED}/{{key}}/")
async def page(request: Request, key: str) -> HTMLResponse:
    """The page in a frame of the sites of this key."""
    authenticator: Authenticator = request.app.state.authenticator
    authenticator.limit_address(request)
    await visitor(request, key)
    text = (STATIC_FOLDER / "index.html").read_text(encoding="utf-8")
    own = '<link rel="stylesheet" href="../page.css">\n<script src="../page.js"></script>\n<script type="module"'
    # the site's page keeps the focus
    text = text.replace('<script type="module"', own, 1).replace(" autofocus", "")
    policy = content_security_policy(text, "'self'").replace("img-src data:", "img-src 'self' data:")
    sites = " ".join(request.app.state.embedding[key])
    policy = policy.replace("frame-ancestors 'none'", f"frame-ancestors {sites}")
    return HTMLResponse(text, headers={**PAGE_HEADERS, "Content-Security-Policy": policy, **FRAMED})


class VisitorApi:
    """Passes requests of visitors on to /api."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        path = f"/{scope['path_params']['path']}"
        try:
            authenticator: Authenticator = request.app.state.authenticator
            authenticator.limit_address(request)
            # the page in the frame is one of this server; pages around it and others may not ask
            authenticator.check_origin(request)
            if request.headers.get("sec-fetch-site", "none") not in OWN_SITES:
                raise ForbiddenOrigin("Other pages may not send requests.")
            request.state.caller = await visitor(request, scope["path_params"]["key"])
        except NacreError as error:
            await (await nacre_error_response(request, error))(scope, receive, send)
            return
        if (request.method, path) == ("GET", "/threads"):
            await JSONResponse([])(scope, receive, send)
        elif not VISITORS.fullmatch(f"{request.method} {path}"):
            refusal = await nacre_error_response(request, Forbidden("Visitors may not do this."))
            await refusal(scope, receive, send)
        else:
            root = scope["root_path"]
            passed = {name: scope[name] for name in scope if name not in ("path_params", "route", "endpoint")}
            passed["path"] = f"{root}/api{path}"
            await request.app(passed, receive, send)
            # metrics count the route that answered
            scope["route"] = passed.get("route")


def add_embed(app: FastAPI, *, alone: bool) -> None:
    """Add the routes if a site may show the page, to a server of its own."""
    app.state.embedding = parse_embedding(app.state.settings.embed)
    if not alone or not app.state.embedding:
        return
    app.include_router(router)
    methods = ["GET", "POST", "PUT", "DELETE"]
    app.router.routes.append(Route(f"{EMBED}/{{key}}/api/{{path:path}}", VisitorApi(), methods=methods))
    app.mount(f"{EMBED}/{{key}}/static", PageFiles(directory=str(STATIC_FOLDER)))
    # parts of the page that extensions have: maps, and charts as files
    for name in ("places", "downloads"):
        app.mount(f"{EMBED}/{{key}}/{name}/files", PageFiles(directory=str(FOLDER.parent / name / "static")))
