"""Inline remote JSON-LD contexts: JSON-LD bytes -> JSON-LD bytes without references to remote contexts."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from nacre.errors import IngestionError

# address of a context without its scheme -> its copy in `jsonld/`, whose README has sources and licences
BUNDLED_CONTEXTS = {
    "schema.org": "schema-org",
    "schema.org/docs/jsonldcontext.json": "schema-org",
    "schema.org/docs/jsonldcontext.jsonld": "schema-org",
    "www.w3.org/ns/activitystreams": "activitystreams",
    "www.w3.org/2018/credentials/v1": "credentials-v1",
    "www.w3.org/ns/did/v1": "did-v1",
    "w3id.org/did/v1": "did-v1",
}
FETCH_SECONDS, MAX_CONTEXT_BYTES, MAX_REDIRECTS = 10.0, 2 << 20, 5

ContextLoader = Callable[[str], Any]


def context_loader(given: Mapping[str, Path], fetch: bool) -> ContextLoader:
    """A function from the address of a context to its document: a given copy, a bundled one, or a download if
    allowed."""
    files = {_without_scheme(url): path for url, path in given.items()}
    known: dict[str, Any] = {}

    def load(url: str) -> Any:
        key = _without_scheme(url)
        if key not in known:
            if key in files:
                known[key] = _read_file(files[key])
            elif key in BUNDLED_CONTEXTS:
                known[key] = _read_file(Path(__file__).parent / "jsonld" / f"{BUNDLED_CONTEXTS[key]}.json")
            elif fetch:
                known[key] = _download(url)
            else:
                raise IngestionError(
                    f"the JSON-LD context {url} is not known here."
                    f" Give a copy with --context {url}=FILE, or allow downloads with --fetch-contexts"
                )
        return known[key]

    return load


def inline_contexts(data: bytes, base: str, load: ContextLoader) -> bytes:
    """The document with the contents of its remote contexts instead of their addresses.

    Raises IngestionError for a missing or cyclic context, ValueError for invalid JSON.
    """
    return json.dumps(_inline_node(json.loads(data), base, load), ensure_ascii=False).encode(errors="surrogatepass")


def _inline_node(node: Any, base: str, load: ContextLoader) -> Any:
    if isinstance(node, list):
        return [_inline_node(each, base, load) for each in node]
    if not isinstance(node, dict):
        return node
    return {
        key: _resolve_context(value, base, load, ()) if key == "@context" else _inline_node(value, base, load)
        for key, value in node.items()
    }


def _resolve_context(value: Any, base: str, load: ContextLoader, above: tuple[str, ...]) -> Any:
    """A context without addresses; `above` are the addresses of the enclosing contexts."""
    if isinstance(value, str):
        url = urljoin(base, value)
        if url in above:
            raise IngestionError(f"the JSON-LD context {url} leads back to itself")
        document = load(url)
        inner = document.get("@context", {}) if isinstance(document, dict) else {}
        return _resolve_context(inner, url, load, (*above, url))
    if isinstance(value, list):
        parts = [_resolve_context(each, base, load, above) for each in value]
        return [each for part in parts for each in (part if isinstance(part, list) else [part])]
    if not isinstance(value, dict):
        return value
    imported = _resolve_context(value["@import"], base, load, above) if isinstance(value.get("@import"), str) else {}
    # the base of a remote context does not apply to the document
    own = {key: each for key, each in value.items() if key != "@import" and not (above and key == "@base")}
    merged = {**imported, **own} if isinstance(imported, dict) else own
    return {key: _resolve_definition(each, base, load, above) for key, each in merged.items()}


def _resolve_definition(value: Any, base: str, load: ContextLoader, above: tuple[str, ...]) -> Any:
    if isinstance(value, dict) and "@context" in value:
        return {**value, "@context": _resolve_context(value["@context"], base, load, above)}
    return value


def _without_scheme(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.netloc}{parts.path}".rstrip("/") if parts.scheme in {"http", "https"} else url


def _read_file(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise IngestionError(f"{path}: can't be read ({error.strerror}). Check the file given to --context.") from None
    except ValueError as error:
        raise IngestionError(f"{path}: no JSON ({error}). Check the file given to --context.") from None


def _download(url: str) -> Any:
    import httpx

    if urlsplit(url).scheme not in {"http", "https"}:
        raise IngestionError(f"the JSON-LD context {url} has no http address. Give a copy with --context {url}=FILE")
    accept = {"Accept": "application/ld+json, application/json;q=0.9"}
    try:
        with (
            httpx.Client(timeout=FETCH_SECONDS, follow_redirects=True, max_redirects=MAX_REDIRECTS) as client,
            client.stream("GET", url, headers=accept) as answer,
        ):
            answer.raise_for_status()
            body = b""
            for part in answer.iter_bytes():
                body += part
                if len(body) > MAX_CONTEXT_BYTES:
                    raise IngestionError(f"the JSON-LD context {url} has more than {MAX_CONTEXT_BYTES >> 20} MB")
        return json.loads(body)
    except (httpx.HTTPError, ValueError) as error:
        raise IngestionError(
            f"the JSON-LD context {url} can't be fetched ({error or type(error).__name__})."
            f" Give a copy with --context {url}=FILE"
        ) from None
