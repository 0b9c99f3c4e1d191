"""Pages for browsers: the chat at /, the API's documentation at /api/docs. Policies allow no other host."""

import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.staticfiles import StaticFiles
from starlette.responses import Response
from starlette.types import Scope

from nacre.records.threads import run_in_thread

STATIC_FOLDER = Path(__file__).with_name("static")

DOCS, SPEC = "/api/docs", "/api/openapi.json"

INLINE_ELEMENTS = re.compile(r"<(script|style)>(.*?)</\1>", re.DOTALL)

BASE_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; connect-src 'self'; "

PAGE_HEADERS = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-cache"}

router = APIRouter(include_in_schema=False)


@router.api_route("/", methods=["GET", "HEAD"])
async def chat_page() -> HTMLResponse:
    """The chat page; its query string selects what it shows."""
    return _chat_page()


@router.get(DOCS)
async def redirect_to_docs() -> RedirectResponse:
    """Redirect to the documentation's address with a slash, whatever path a proxy adds."""
    return RedirectResponse("docs/")


@router.get(f"{DOCS}/")
async def docs_page(request: Request) -> HTMLResponse:
    """The documentation of the API."""
    if not hasattr(request.app.state, "api_docs"):
        # made once: the routes of an app do not change
        request.app.state.api_docs = await run_in_thread(lambda: api_docs_page(request.app.openapi()))
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


STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
code { font: 0.9em ui-monospace, monospace; overflow-wrap: anywhere; }
section { border-top: 1px solid #8888; padding: 0.5rem 0 1rem; }
h3 { margin: 0.5rem 0; font-weight: normal; }
h3 b { display: inline-block; min-width: 4.5rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 0.2rem 1rem 0.2rem 0; }
p { margin: 0.4rem 0; white-space: pre-line; }
nav a { display: block; overflow-wrap: anywhere; }
"""

METHODS = ("get", "post", "put", "patch", "delete")

SCHEMAS = "#/components/schemas/"


def api_docs_page(spec: Mapping[str, Any]) -> str:
    """All operations with their parameters, bodies and replies, and all schemas, each with an anchor of its own."""
    operations = list(_operations(spec))
    links = "".join(
        f'<a href="#{_anchor(method, path)}"><code>{method.upper()} {escape(path)}</code></a>'
        for method, path, _ in operations
    )
    schemas = spec.get("components", {}).get("schemas", {})
    title = escape(str(spec["info"]["title"]))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{title}: the API</title><link rel="icon" href="data:,"><style>{STYLE}</style></head><body><main>'
        f"<h1>{title}: the API</h1><p>{escape(str(spec['info'].get('description', '')))}</p>"
        f'<p>For programs: <a href="../openapi.json">{SPEC}</a></p>'
        f'<nav aria-label="Operations">{links}</nav>'
        f"<h2>Operations</h2>{''.join(_operation(*each) for each in operations)}"
        f"<h2>Schemas</h2>{''.join(_schema(name, each) for name, each in sorted(schemas.items()))}"
        "</main></body></html>"
    )


def _operations(spec: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for path, item in spec["paths"].items():
        for method in METHODS:
            if method in item:
                yield method, path, item[method]


def _operation(method: str, path: str, operation: Mapping[str, Any]) -> str:
    parts = [f'<section id="{_anchor(method, path)}"><h3><b>{method.upper()}</b> <code>{escape(path)}</code></h3>']
    parts.append(f"<p>{escape(str(operation.get('description') or operation.get('summary') or ''))}</p>")
    rows = [
        (each["name"], each["in"] + ("" if each.get("required") else ", optional"), each.get("schema", {}), each)
        for each in operation.get("parameters", ())
    ]
    parts.append(
        _table("Parameters", [(name, where, _type(kind), _notes(kind, each)) for name, where, kind, each in rows])
    )
    body = operation.get("requestBody", {}).get("content", {})
    parts.append(_table("Body", [(kind, "", _type(each.get("schema", {})), "") for kind, each in body.items()]))
    replies = [
        (status, kind, _type(each.get("schema", {})), escape(str(reply.get("description", ""))))
        for status, reply in operation.get("responses", {}).items()
        for kind, each in (reply.get("content") or {"": {}}).items()
    ]
    parts.append(_table("Replies", replies))
    return "".join([*parts, "</section>"])


def _schema(name: str, schema: Mapping[str, Any]) -> str:
    required = set(schema.get("required", ()))
    rows = [
        (field, "" if field in required else "optional", _type(kind), _notes(kind, kind))
        for field, kind in schema.get("properties", {}).items()
    ]
    text = f"<p>{escape(str(schema.get('description', '')))}</p>{_table('Fields', rows) if rows else _type(schema)}"
    return f'<section id="schema-{escape(name)}"><h3><code>{escape(name)}</code></h3>{text}</section>'


def _table(caption: str, rows: list[tuple[str, str, str, str]]) -> str:
    """Rows of name, place, type and notes; the last two are HTML."""
    if not rows:
        return ""
    lines = "".join(
        f'<tr><th scope="row"><code>{escape(name)}</code></th>'
        f"<td>{escape(where)}</td><td>{kind}</td><td>{notes}</td></tr>"
        for name, where, kind, notes in rows
    )
    return f"<table><caption>{caption}</caption>{lines}</table>"


def _type(schema: Mapping[str, Any]) -> str:
    """A type in a few words, with links to named schemas."""
    if "$ref" in schema:
        name = escape(str(schema["$ref"]).removeprefix(SCHEMAS))
        return f'<a href="#schema-{name}"><code>{name}</code></a>'
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return " or ".join(dict.fromkeys(map(_type, schema[several])))
    if "enum" in schema or "const" in schema:
        return " or ".join(f"<code>{escape(repr(each))}</code>" for each in schema.get("enum", [schema.get("const")]))
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return escape(str(schema.get("type", "any")))


def _notes(schema: Mapping[str, Any], described: Mapping[str, Any]) -> str:
    bounds = [
        f"{words} {schema[key]}"
        for key, words in (
            ("minimum", "at least"),
            ("maximum", "at most"),
            ("maxLength", "characters: at most"),
            ("default", "default:"),
        )
        if schema.get(key) not in (None, "")
    ]
    return escape(". ".join(filter(None, [str(described.get("description", "")).rstrip("."), *bounds])))


def _anchor(method: str, path: str) -> str:
    return escape(f"{method}{path}".replace("{", "").replace("}", "").replace("/", "-"))
