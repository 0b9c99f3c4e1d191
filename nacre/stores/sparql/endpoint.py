"""Query a SPARQL 1.1 endpoint over HTTP, within limits of rate, size and time: query -> Solutions."""

import json
import re
import threading
import time
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx
import pyoxigraph as ox

from nacre.errors import ConfigError, ToolError
from nacre.records.cancellation import is_cancelled
from nacre.stores.sparql.endpoint_limits import EndpointLimits, host_of
from nacre.stores.sparql.sparql_source import Solutions, SparqlTerm

JSON_RESULTS = "application/sparql-results+json"
TRIPLES = "application/n-triples"
XSD_STRING = "http://www.w3.org/2001/XMLSchema#string"
LANGUAGE_STRING = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"
# longer queries are sent in the body: servers and proxies truncate addresses (RFC 9110 requires 8,000 characters)
MAX_ADDRESS_LENGTH = 4000
MAX_BYTES = 32_000_000
MAX_REDIRECTS = 3
# maximum number of pages of one query, if the server limits the rows of an answer
MAX_PAGES = 50
# seconds before the only retry if a busy server names no delay
RETRY_SECONDS = 2.0
_TAG = re.compile(r"<(script|style)\b.*?</\1>|<[^>]*>", re.DOTALL | re.IGNORECASE)
_SLICED = re.compile(r"\s*\bLIMIT\s+(?P<limit>\d+)(?P<offset>\s+OFFSET\s+\d+)?\s*$", re.IGNORECASE)
_TIMED_OUT = re.compile(r"time.?out|timed out|exceeds the limit|S1T00|too long", re.IGNORECASE)
_REMOTE_MAXIMUM = "x-sparql-maxrows"
# Virtuoso answers an ASK with a row or none, and marks results that are incomplete because its time was over
_VIRTUOSO_ASK = "__ASK_RETVAL"
_STATE, _UNFINISHED = "x-sql-state", "S1T"


class EndpointSource:
    """A `SparqlSource` over HTTP, safe to share between threads.

    The operator sets the address. Redirects to another host are refused, so that an endpoint can't make this machine
    send requests elsewhere.
    """

    def __init__(
        self,
        url: str,
        graphs: Sequence[str] = (),
        limits: EndpointLimits = EndpointLimits(),  # noqa: B008 (immutable)
        dialect: str = "",
    ) -> None:
        self.url = check_endpoint_url(url)
        self.dialect = dialect
        self.things = limits.things
        self.asked = 0
        self.server = ""
        self._graphs = [("default-graph-uri", graph) for graph in graphs]
        self._slots = threading.BoundedSemaphore(limits.at_once)
        self._pause = 1 / limits.a_second
        self._lock = threading.Lock()
        self._next = 0.0
        headers = {"User-Agent": "nacre", **_authorization(limits.key)}
        self._client = httpx.Client(headers=headers, follow_redirects=False)

    def select(self, query: str, *, limit: int, seconds: float) -> Solutions:
        """At most `limit` rows. If the server declares a lower maximum, the rest is fetched in pages."""
        deadline = time.monotonic() + seconds
        sliced = _SLICED.search(query)
        # one more row shows that there are more
        wanted = int(sliced["limit"]) if sliced else limit + 1
        unlimited = query[: sliced.start()] if sliced else query
        found, maximum = self._page(query if sliced else f"{query}\nLIMIT {wanted}", deadline)
        rows, pages = found.rows, 1
        # a query with its own OFFSET is not paged
        allowed = 0 if sliced and sliced["offset"] else MAX_PAGES
        while maximum and len(found.rows) == maximum and len(rows) < min(wanted, limit + 1) and pages < allowed:
            size = min(maximum, wanted - len(rows))
            found, _ = self._page(f"{unlimited}\nLIMIT {size} OFFSET {len(rows)}", deadline)
            rows, pages = rows + found.rows, pages + 1
        cut = bool(maximum and len(found.rows) == maximum and len(rows) < wanted)
        return Solutions(found.variables, rows[:limit], len(rows) > limit or cut)

    def ask(self, query: str, *, seconds: float) -> bool:
        """The answer of an ASK."""
        data = self._json(self._send(query, JSON_RESULTS, time.monotonic() + seconds)[0])
        answer = data.get("boolean")
        if answer is None and (data.get("head") or {}).get("vars") == [_VIRTUOSO_ASK]:
            answer = bool((data.get("results") or {}).get("bindings"))
        if not isinstance(answer, bool):
            raise ToolError("unavailable", f"{self.url} answered an ASK with neither true nor false.")
        return answer

    def construct(self, query: str, *, limit: int, seconds: float) -> list[tuple[SparqlTerm, SparqlTerm, SparqlTerm]]:
        """At most `limit` triples of a CONSTRUCT."""
        content, headers = self._send(query, TRIPLES, time.monotonic() + seconds)
        media = headers.get("content-type", TRIPLES).partition(";")[0].strip()
        form = ox.RdfFormat.from_media_type(media) or ox.RdfFormat.N_TRIPLES
        found: list[tuple[SparqlTerm, SparqlTerm, SparqlTerm]] = []
        try:
            for quad in ox.parse(content, form, base_iri=self.url):
                if len(found) == limit:
                    break
                found.append(
                    (_from_oxigraph(quad.subject), _from_oxigraph(quad.predicate), _from_oxigraph(quad.object))
                )
        except (SyntaxError, ValueError) as error:
            raise ToolError("unavailable", f"{self.url} sent triples that can't be read ({error}).") from None
        return found

    def close(self) -> None:
        """Close its connections."""
        self._client.close()

    def _page(self, query: str, deadline: float) -> tuple[Solutions, int]:
        """The rows of one answer, and the server's maximum (0: not declared)."""
        content, headers = self._send(query, JSON_RESULTS, deadline)
        data = self._json(content)
        try:
            variables = tuple(map(str, data["head"]["vars"]))
            rows = [
                tuple(_term(binding[name]) if name in binding else None for name in variables)
                for binding in data["results"]["bindings"]
            ]
        except (KeyError, TypeError, AttributeError):
            raise ToolError("unavailable", f"{self.url} sent no results of SPARQL.") from None
        maximum = headers.get(_REMOTE_MAXIMUM, "")
        return Solutions(variables, rows, False), int(maximum) if maximum.isdigit() else 0

    def _json(self, content: bytes) -> dict[str, Any]:
        try:
            data = json.loads(content)
        except ValueError:
            raise ToolError("unavailable", f"{self.url} sent an answer that is truncated or not JSON.") from None
        if not isinstance(data, dict):
            raise ToolError("unavailable", f"{self.url} sent no results of SPARQL.")
        return data

    def _send(self, query: str, accepted: str, deadline: float) -> tuple[bytes, Mapping[str, str]]:
        """The content and headers of a successful answer; raises ToolError for any other."""
        with self._slot(deadline):
            try:
                status, headers, content = self._exchange(query, accepted, deadline)
                if status in (429, 503) and (pause := _retry_after(headers)) < deadline - time.monotonic():
                    time.sleep(pause)
                    status, headers, content = self._exchange(query, accepted, deadline)
            except httpx.TimeoutException:
                raise ToolError("timeout", f"{self.url} gave no answer in time.") from None
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                raise ToolError(
                    "unavailable", f"{self.url} can't be asked ({error or type(error).__name__})."
                ) from None
        if status >= 400:
            raise _refusal(self.url, status, content)
        if headers.get(_STATE, "").startswith(_UNFINISHED):
            raise ToolError("timeout", f"{self.url} gave what it had found when its own time was over, not all.")
        media = headers.get("content-type", "")
        if "html" in media or (accepted == JSON_RESULTS and "json" not in media):
            text = _error_page_text(content)
            what = f"{self.url} sent {media or 'an unknown format'}, no results: {text!r}."
            raise ToolError("unavailable", f"{what} An endpoint's address often ends in /sparql or /query.")
        return content, headers

    def _exchange(self, query: str, accepted: str, deadline: float) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and content of the last answer, redirects within the host followed."""
        url = self.url
        for _ in range(MAX_REDIRECTS + 1):
            left = deadline - time.monotonic()
            if left <= 0 or is_cancelled():
                raise ToolError("timeout", f"{self.url} gave no answer in time.")
            fields = [("query", query), *self._graphs]
            headers = {"Accept": accepted}
            long = sum(len(value) for _, value in fields) > MAX_ADDRESS_LENGTH
            given: dict[str, Any] = {"data": _form(fields)} if long else {"params": fields}
            self.asked += 1
            with self._client.stream("POST" if long else "GET", url, headers=headers, timeout=left, **given) as reply:
                if reply.is_redirect:
                    url = self._same_host(url, reply.headers.get("location", ""))
                    continue
                self.server = reply.headers.get("server", "")
                return reply.status_code, reply.headers, self._content(reply, deadline)
        raise ToolError("unavailable", f"{self.url} redirects without end.")

    def _content(self, reply: httpx.Response, deadline: float) -> bytes:
        content = bytearray()
        for part in reply.iter_bytes():
            content += part
            if len(content) > MAX_BYTES:
                raise ToolError("too_large", f"{self.url} sent more than {MAX_BYTES // 1_000_000} MB. Ask for less.")
            # a server that trickles bytes never exceeds the timeout of a single read
            if time.monotonic() > deadline or is_cancelled():
                raise ToolError("timeout", f"{self.url} gave no complete answer in time.")
        return bytes(content)

    def _same_host(self, url: str, location: str) -> str:
        target = httpx.URL(url).join(location)
        here, there = urlsplit(self.url), urlsplit(str(target))
        if (there.scheme, there.netloc) != (here.scheme, here.netloc) and not (
            (here.scheme, there.scheme) == ("http", "https") and there.hostname == here.hostname
        ):
            raise ToolError("refused", f"{self.url} redirects to another host, {there.netloc}; that is not followed.")
        return str(target.copy_with(query=None))

    @contextmanager
    def _slot(self, deadline: float) -> Iterator[None]:
        """Wait until another query may run and the rate allows it to start."""
        if not self._slots.acquire(timeout=max(0.0, deadline - time.monotonic())):
            raise ToolError("timeout", f"{self.url} is busy with earlier queries.")
        try:
            with self._lock:
                now = time.monotonic()
                begin = max(now, self._next)
                self._next = begin + self._pause
            time.sleep(min(begin - now, max(0.0, deadline - now)))
            yield
        finally:
            self._slots.release()


def check_endpoint_url(url: str) -> str:
    """The address, if it is valid for an endpoint; raises ConfigError otherwise.

    >>> check_endpoint_url("https://example.org/sparql")
    'https://example.org/sparql'
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(f"{url!r} is no address of an endpoint. Give one such as https://example.org/sparql")
    if parts.username or parts.password:
        raise ConfigError("An address with a password would be kept with the graph. Set NACRE_ENDPOINT_KEYS instead.")
    return url


def _authorization(key: str) -> dict[str, str]:
    if not key:
        return {}
    value = key if key.startswith("Bearer ") else f"Basic {b64encode(key.encode()).decode()}"
    return {"Authorization": value}


def _form(fields: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    return {name: [value for other, value in fields if other == name] for name, _ in fields}


def _retry_after(headers: Mapping[str, str]) -> float:
    delay = headers.get("retry-after", "")
    return float(delay) if delay.isdigit() else RETRY_SECONDS


def _refusal(url: str, status: int, content: bytes) -> ToolError:
    text = _error_page_text(content)
    if status in (408, 504) or _TIMED_OUT.search(text):
        return ToolError("timeout", f"{url} stopped the query: {text}")
    if status in (401, 403):
        return ToolError("refused", f"{url} asks for a login ({status}). Set NACRE_ENDPOINT_KEYS for {host_of(url)}.")
    if status == 400:
        return ToolError("syntax", f"{url} can't read the query: {text}")
    if status in (413, 414):
        return ToolError("too_large", f"{url} takes no query of that length ({status}).")
    return ToolError("unavailable", f"{url} failed with status {status}: {text}")


def _error_page_text(content: bytes, maximum: int = 200) -> str:
    """The beginning of an error page, without tags."""
    text = _TAG.sub(" ", content[:20_000].decode("utf-8", "replace"))
    return " ".join(text.split())[:maximum] or "(no text)"


def _term(binding: Mapping[str, str]) -> SparqlTerm:
    if binding["type"] == "uri":
        return SparqlTerm("iri", binding["value"])
    if binding["type"] == "bnode":
        return SparqlTerm("blank", binding["value"])
    language = binding.get("xml:lang", "")
    return SparqlTerm(
        "literal", binding["value"], binding.get("datatype", LANGUAGE_STRING if language else XSD_STRING), language
    )


def _from_oxigraph(term: Any) -> SparqlTerm:
    if isinstance(term, ox.NamedNode):
        return SparqlTerm("iri", term.value)
    if isinstance(term, ox.BlankNode):
        return SparqlTerm("blank", term.value)
    if isinstance(term, ox.Literal):
        return SparqlTerm("literal", term.value, term.datatype.value, term.language or "")
    return SparqlTerm("literal", str(term), XSD_STRING)
