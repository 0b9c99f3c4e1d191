"""JSON-LD within limits: bytes -> bytes without references to remote contexts, or IngestionError.

Contexts come from `jsonld/`, or are downloaded if that is allowed: address -> document, within one deadline for all of
them and from public addresses. JSON that would exhaust the parser's stack or time is refused before it is parsed."""

import ipaddress
import json
import re
import socket
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx
import numpy as np

from ingestion.read.sources import DEFAULT_EXPANSION
from nacre.errors import IngestionError
from nacre.stores.deadline_network import bound_to_deadlines, network_deadline

# address of a context without its scheme -> its copy in `jsonld/`, whose README has sources and licences
BUNDLED_CONTEXTS = {
    "schema.org": "schema-org",
    "schema.org/docs/jsonldcontext.json": "schema-org",
    "schema.org/docs/jsonldcontext.jsonld": "schema-org",
    "www.w3.org/ns/activitystreams": "activitystreams",
    "www.w3.org/ns/anno.jsonld": "anno",
    "www.w3.org/ns/anno": "anno",
    "www.w3.org/ns/odrl.jsonld": "odrl",
    "www.w3.org/ns/csvw": "csvw",
    "www.w3.org/ns/csvw.jsonld": "csvw",
    **{f"semiceu.github.io/DCAT-AP/releases/{n}/context/dcat-ap.jsonld": "dcat-ap" for n in ("3.0.0", "3.0.1")},
    "www.w3.org/2018/credentials/v1": "credentials-v1",
    "www.w3.org/ns/did/v1": "did-v1",
    "w3id.org/did/v1": "did-v1",
}

# terms of inlined contexts: 2 million take 7 s to parse (measured)
MAX_INLINED_TERMS = 2_000_000

# contexts that name each other in turn (given)
MAX_NAMED_IN_TURN = 50


class ContextLoader:
    """Loads contexts by their addresses: a given copy, a bundled one, or a download if allowed. `expansion` raises the
    limits of what contexts may add to a file."""

    def __init__(self, given: Mapping[str, Path], fetch: bool, expansion: int = DEFAULT_EXPANSION) -> None:
        self._files = {_without_scheme(url): path for url, path in given.items()}
        self._downloads = ContextDownloads() if fetch else None
        self._known: dict[str, Any] = {}
        self._fetched: set[str] = set()
        self.max_inlined = MAX_INLINED_TERMS * expansion // DEFAULT_EXPANSION
        self.max_copied = MAX_COPIED_TERMS * expansion // DEFAULT_EXPANSION

    def load(self, url: str, named_by: str = "") -> Any:
        """The document of a context, which the file names, or the context `named_by`."""
        key = _without_scheme(url)
        if key not in self._known:
            if key in self._files:
                self._known[key] = _read_file(self._files[key])
            elif key in BUNDLED_CONTEXTS:
                self._known[key] = _read_file(Path(__file__).parent / "jsonld" / f"{BUNDLED_CONTEXTS[key]}.json")
            elif self._downloads is not None:
                # a copy that the user gave is trusted like the file itself
                server = named_by if _without_scheme(named_by) in self._fetched else ""
                self._known[key] = self._downloads.fetch(url, server)
                self._fetched.add(key)
            else:
                raise IngestionError(
                    f"the JSON-LD context {url} is not known here."
                    f" Give a copy with --context {url}=FILE, or allow downloads with --fetch-contexts"
                )
        return self._known[key]

    def check(self, blocks: Iterable[bytes], data: Callable[[], bytes]) -> None:
        """Raise IngestionError for a document whose contexts add too much to its terms."""
        if has_several_contexts(blocks):
            check_contexts(data(), self.max_copied)

    def inline(self, data: bytes, base: str) -> bytes:
        """As `inline_contexts`."""
        return inline_contexts(data, base, self)


class _TooManyTerms(IngestionError):
    pass


def inline_contexts(data: bytes, base: str, loader: ContextLoader) -> bytes:
    """The document with the contents of its remote contexts instead of their addresses.

    Raises IngestionError for a missing or cyclic context and for contexts that add too much, ValueError for invalid
    JSON.
    """
    document = json.loads(data)
    try:
        inlined = _Inliner(loader).node(document, base)
    except _TooManyTerms:
        # pages that name the same context, one by one
        inlined = _Inliner(loader).node(_group_by_context(document), base)
    check_copied_terms(inlined, loader.max_copied)
    return json.dumps(inlined, ensure_ascii=False).encode(errors="surrogatepass")


def _group_by_context(document: Any) -> Any:
    """A list of nodes that name their contexts, with each context named once for all its nodes."""
    if not isinstance(document, list):
        return document
    groups: dict[str, Any] = {}
    for node in document:
        if not isinstance(node, dict) or "@context" not in node or "@graph" in node:
            return document
        context = node["@context"]
        group = groups.setdefault(json.dumps(context), {"@context": context, "@graph": []})
        group["@graph"].append({key: value for key, value in node.items() if key != "@context"})
    return list(groups.values())


class _Inliner:
    """Inlines the contexts of one document and counts their terms."""

    def __init__(self, loader: ContextLoader) -> None:
        self._loader = loader
        self._terms = 0
        # a resolved context and the number of its terms
        self._resolved: dict[str, tuple[Any, int]] = {}

    def node(self, node: Any, base: str) -> Any:
        """A node without addresses of contexts."""
        if isinstance(node, list):
            return [self.node(each, base) for each in node]
        if not isinstance(node, dict):
            return node
        return {
            key: self._resolve(value, base, ()) if key == "@context" else self.node(value, base)
            for key, value in node.items()
        }

    def _count(self, terms: int) -> None:
        self._terms += terms
        if self._terms > self._loader.max_inlined:
            raise _TooManyTerms(
                f"its JSON-LD contexts have more than {self._loader.max_inlined:,} terms together;"
                " --max-expansion raises the limit for a file that you trust"
            )

    def _resolve(self, value: Any, base: str, above: tuple[str, ...]) -> Any:
        """A context without addresses; `above` are the addresses of the enclosing contexts."""
        if isinstance(value, str):
            return self._resolve_address(_resolve_reference(base, value), above)
        if isinstance(value, list):
            parts = [self._resolve(each, base, above) for each in value]
            return [each for part in parts for each in (part if isinstance(part, list) else [part])]
        if not isinstance(value, dict):
            return value
        imported = self._resolve(value["@import"], base, above) if isinstance(value.get("@import"), str) else {}
        # the base of a remote context does not apply to the document
        own = {key: each for key, each in value.items() if key != "@import" and not (above and key == "@base")}
        merged = {**imported, **own} if isinstance(imported, dict) else own
        if above:
            self._count(len(merged) + 1)
        return {key: self._resolve_definition(each, base, above) for key, each in merged.items()}

    def _resolve_address(self, url: str, above: tuple[str, ...]) -> Any:
        if url in above:
            raise IngestionError(f"the JSON-LD context {url} leads back to itself")
        if len(above) > MAX_NAMED_IN_TURN:
            raise IngestionError(f"more than {MAX_NAMED_IN_TURN} JSON-LD contexts name each other in turn")
        if url in self._resolved:
            value, terms = self._resolved[url]
            self._count(terms)
            return value
        before = self._terms
        document = self._loader.load(url, above[-1] if above else "")
        inner = document.get("@context", {}) if isinstance(document, dict) else {}
        value = self._resolve(inner, url, (*above, url))
        # an empty context counts too, for it can be named again and again
        self._count(1)
        self._resolved[url] = value, self._terms - before
        return value

    def _resolve_definition(self, value: Any, base: str, above: tuple[str, ...]) -> Any:
        if isinstance(value, dict) and "@context" in value:
            return {**value, "@context": self._resolve(value["@context"], base, above)}
        return value


def _resolve_reference(base: str, reference: str) -> str:
    """`urljoin`, which knows a few schemes only, for a base of any scheme.

    >>> _resolve_reference("nacre-file:///towns/a/b.jsonld", "../context.jsonld")
    'nacre-file:///towns/context.jsonld'
    """
    scheme, colon, rest = base.partition(":")
    joined = urljoin(f"file:{rest}", reference)
    return joined if urlsplit(reference).scheme else f"{scheme}{colon}{joined.removeprefix('file:')}"


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
    except RecursionError:
        raise IngestionError(f"{path}: JSON nested too deeply. Check the file given to --context.") from None


# the parser needs stack for each level and time for each pair of levels; it crashes at some thousands (measured)
MAX_JSON_DEPTH = 256

# a context copies the terms that are valid outside it: 3 million of them take a second (measured)
MAX_COPIED_TERMS = 20_000_000

# a term of a scoped context is defined again wherever the context applies: 800,000 of them take a second (measured)
COPIES_PER_DEFINITION = 4

_ESCAPE = re.compile(rb"\\.", re.DOTALL)

# "@context" may be written with escapes of its letters
_ESCAPED_LETTER = re.compile(rb"\\u00[4-7]")


def has_several_contexts(blocks: Iterable[bytes]) -> bool:
    """Whether a JSON document may have more than one context. Raises IngestionError if it is nested too deeply."""
    depth, inside, contexts, left = 0, 0, 0, b""
    for block in blocks:
        contexts += block.count(b"@context") + len(_ESCAPED_LETTER.findall(block))
        text = left + block
        # an escape may continue in the next block
        ending = len(text) - len(text.rstrip(b"\\"))
        left, text = (text[-1:], text[:-1]) if ending % 2 else (b"", text)
        codes = np.frombuffer(_ESCAPE.sub(b"  ", text), dtype=np.uint8)
        quotes = np.cumsum(codes == ord('"')) + inside
        steps = np.isin(codes, (ord("{"), ord("["))).astype(np.int64) - np.isin(codes, (ord("}"), ord("]")))
        depths = np.cumsum(np.where(quotes % 2, 0, steps)) + depth
        if len(codes):
            depth, inside = int(depths[-1]), int(quotes[-1]) % 2
            if depths.max() > MAX_JSON_DEPTH:
                raise IngestionError(f"the JSON in it is nested deeper than {MAX_JSON_DEPTH} levels")
    return contexts > 1


def check_contexts(data: bytes, max_terms: int) -> None:
    """Raise IngestionError if the contexts of a document would copy too many terms. Invalid JSON passes."""
    try:
        document = json.loads(data)
    except ValueError:
        return
    check_copied_terms(document, max_terms)


def check_copied_terms(document: Any, max_terms: int) -> None:
    """Raise IngestionError if the contexts of a parsed document would copy more than `max_terms` terms."""
    # the terms whose contexts apply to their values or types, with the size of the context
    scoped: dict[str, int] = {}
    stack: list[Any] = [document]
    while stack:
        node = stack.pop()
        children = node.values() if isinstance(node, dict) else node
        if isinstance(node, dict):
            for key, value in node.items():
                if isinstance(value, dict) and "@context" in value:
                    scoped[key] = max(scoped.get(key, 0), _number_of_terms(value["@context"]))
        stack += [each for each in children if isinstance(each, dict | list)]
    copied = 0
    waiting: list[tuple[Any, int]] = [(document, 0)]
    while waiting:
        node, active = waiting.pop()
        if isinstance(node, dict):
            if "@context" in node:
                copied += active
                active += _number_of_terms(node["@context"])
            applied = _scoped_terms(node, scoped) if scoped else None
            if applied is not None:
                copied += active + COPIES_PER_DEFINITION * applied
                active += applied
        if copied > max_terms:
            raise IngestionError(
                f"its JSON-LD contexts are nested so that {max_terms:,} terms would have to be copied;"
                " --max-expansion raises the limit for a file that you trust"
            )
        children = node.values() if isinstance(node, dict) else node
        waiting += [(each, active) for each in children if isinstance(each, dict | list)]


def _number_of_terms(context: Any) -> int:
    parts = context if isinstance(context, list) else [context]
    return sum(len(each) for each in parts if isinstance(each, dict))


def _scoped_terms(node: dict[str, Any], scoped: dict[str, int]) -> int | None:
    """The number of terms of all scoped contexts that apply to an object or its values; None if none applies."""
    found = [scoped[key] for key in node if key in scoped]
    for value in node.values():
        for each in value if isinstance(value, list) else (value,):
            if isinstance(each, str) and each in scoped:
                found.append(scoped[each])
    return sum(found) if found else None


# seconds of all downloads of an ingest together, bytes and redirects of one, number of downloads (given)
FETCH_SECONDS, MAX_CONTEXT_BYTES, MAX_REDIRECTS, MAX_FETCHED = 10.0, 2 << 20, 5, 100

_ACCEPT = {"Accept": "application/ld+json, application/json;q=0.9"}


class ContextDownloads:
    """The downloads of one ingest."""

    def __init__(self, seconds: float = FETCH_SECONDS) -> None:
        self._seconds, self._left, self._count = seconds, seconds, 0

    def fetch(self, url: str, named_by: str = "") -> Any:
        """The document at an address, which a file names, or another downloaded context (`named_by`).

        Raises IngestionError beyond the limits, and for redirects and contexts that lead to another private address.
        """
        self._count += 1
        if self._count > MAX_FETCHED:
            raise IngestionError(f"more than {MAX_FETCHED} JSON-LD contexts would have to be fetched")
        started = time.monotonic()
        try:
            with network_deadline(started + self._left):
                return json.loads(self._follow(url, named_by))
        except RecursionError:
            raise IngestionError(f"the JSON-LD context {url} is nested too deeply") from None
        except httpx.TimeoutException:
            raise IngestionError(
                f"the JSON-LD contexts can't be fetched within {self._seconds:g} seconds, {url} among them."
                f" Give a copy with --context {url}=FILE"
            ) from None
        except (httpx.HTTPError, ValueError) as error:
            raise IngestionError(
                f"the JSON-LD context {url} can't be fetched ({error or type(error).__name__})."
                f" Give a copy with --context {url}=FILE"
            ) from None
        finally:
            self._left -= time.monotonic() - started

    def _follow(self, url: str, named_by: str) -> bytes:
        """The body at the end of the redirects."""
        with bound_to_deadlines(httpx.Client(timeout=self._seconds, follow_redirects=False)) as client:
            for _ in range(MAX_REDIRECTS + 1):
                _check_address(url, named_by)
                with client.stream("GET", url, headers=_ACCEPT) as answer:
                    if not answer.has_redirect_location:
                        answer.raise_for_status()
                        return _body(answer, url)
                    named_by, url = url, urljoin(url, answer.headers["location"])
        raise IngestionError(f"the JSON-LD context {url} is redirected more than {MAX_REDIRECTS} times")


def _body(answer: httpx.Response, url: str) -> bytes:
    body = bytearray()
    for part in answer.iter_bytes(1 << 16):
        body += part
        if len(body) > MAX_CONTEXT_BYTES:
            raise IngestionError(f"the JSON-LD context {url} has more than {MAX_CONTEXT_BYTES >> 20} MB")
    return bytes(body)


def _check_address(url: str, named_by: str) -> None:
    """Raise IngestionError for an address without http, and for one in a private network that a server leads to.

    A server may lead to itself.
    """
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise IngestionError(f"the JSON-LD context {url} has no http address. Give a copy with --context {url}=FILE")
    if not named_by or parts.netloc == urlsplit(named_by).netloc:
        return
    try:
        found = socket.getaddrinfo(parts.hostname, parts.port or 80, type=socket.SOCK_STREAM)
    except OSError as error:
        raise IngestionError(f"the JSON-LD context {url} can't be fetched ({error.strerror or error})") from None
    if not all(ipaddress.ip_address(str(address[0]).partition("%")[0]).is_global for *_, address in found):
        raise IngestionError(
            f"the JSON-LD context {named_by} leads to {url}, a private address, which is not followed."
            f" Give a copy with --context {url}=FILE"
        )
