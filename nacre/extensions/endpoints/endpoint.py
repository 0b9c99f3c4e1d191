"""Query a SPARQL 1.1 endpoint over HTTP, within limits of rate, size and time: query -> Solutions."""

import logging
import re
import threading
import time
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import httpx

from nacre.errors import ConfigError, ToolError
from nacre.extensions.endpoints.endpoint_answers import (
    JSON_RESULTS,
    TRIPLES,
    BodyReader,
    Triple,
    error_page_text,
    header_number,
    printable,
    read_rows,
    read_triples,
    read_truth,
    refusal,
)
from nacre.records.threads import FairSemaphore, is_cancelled
from nacre.stores.addresses import EndpointLimits
from nacre.stores.deadline_network import bound_to_deadlines, network_deadline
from nacre.stores.sparql_source import Solutions

log = logging.getLogger(__name__)

# longer queries are sent in the body: servers and proxies truncate addresses (RFC 9110 requires 8,000 characters)
MAX_ADDRESS_LENGTH = 4000

MAX_REDIRECTS = 3

# maximum number of pages of one query, if the server limits the rows of an answer
MAX_PAGES = 50

# seconds before the only retry if a busy server names no delay
RETRY_SECONDS = 2.0

_SLICED = re.compile(r"(?:(?<!\s)\s++)?\bLIMIT\s++(?P<limit>\d++)(?P<offset>\s++OFFSET\s++\d++)?+\s*+$", re.IGNORECASE)

_REMOTE_MAXIMUM = "x-sparql-maxrows"

# Virtuoso marks results that are incomplete because its time was over
_STATE, _UNFINISHED = "x-sql-state", "S1T"


class EndpointSource:
    """A `SparqlSource` over HTTP, safe to share between threads. The operator sets the address. Redirects to another
    host are refused, so that an endpoint can't make this machine send requests elsewhere."""

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
        self._slots = FairSemaphore(limits.at_once)
        self._pause = 1 / limits.a_second
        self._lock = threading.Lock()
        self._next = 0.0
        headers = {"User-Agent": "nacre", "Accept-Encoding": "gzip", **_authorization(limits.key)}
        self._client = bound_to_deadlines(httpx.Client(headers=headers, follow_redirects=False))

    def select(self, query: str, *, limit: int, seconds: float) -> Solutions:
        """At most `limit` rows. If the server declares a lower maximum, the rest is fetched in pages."""
        deadline = time.monotonic() + seconds
        sliced = _SLICED.search(query)
        # one more row shows that there are more
        wanted = int(sliced["limit"]) if sliced else limit + 1
        unlimited = query[: sliced.start()] if sliced else query
        first = _lower_limit(query, sliced, limit + 1) if sliced else f"{query}\nLIMIT {wanted}"
        names = projected_names(query)
        found, maximum = self._page(first, names, limit + 1, deadline)
        rows, pages = found.rows, 1
        # a query with its own OFFSET is not paged
        allowed = 0 if sliced and sliced["offset"] else MAX_PAGES
        while maximum and len(found.rows) == maximum and len(rows) < min(wanted, limit + 1) and pages < allowed:
            size = min(maximum, wanted - len(rows))
            found, _ = self._page(f"{unlimited}\nLIMIT {size} OFFSET {len(rows)}", names, limit + 1, deadline)
            rows, pages = rows + found.rows, pages + 1
        cut = bool(maximum and len(found.rows) == maximum and len(rows) < wanted)
        return Solutions(found.variables, rows[:limit], len(rows) > limit or cut)

    def ask(self, query: str, *, seconds: float) -> bool:
        """The answer of an ASK."""
        deadline = time.monotonic() + seconds
        return read_truth(self.url, self._send(query, JSON_RESULTS, deadline)[0], partial(self._check_time, deadline))

    def construct(self, query: str, *, limit: int, seconds: float) -> list[Triple]:
        """At most `limit` triples of a CONSTRUCT."""
        deadline = time.monotonic() + seconds
        content, headers = self._send(query, TRIPLES, deadline)
        media, check = headers.get("content-type", ""), partial(self._check_time, deadline)
        return read_triples(self.url, content, media, limit, check)

    def close(self) -> None:
        """Close its connections."""
        self._client.close()

    def _page(self, query: str, names: Sequence[str] | None, most: int, deadline: float) -> tuple[Solutions, int]:
        """At most so many rows of one answer, and the server's maximum (0: not declared)."""
        content, headers = self._send(query, JSON_RESULTS, deadline)
        variables, rows = read_rows(self.url, content, names, most, partial(self._check_time, deadline))
        return Solutions(variables, rows, False), header_number(headers, _REMOTE_MAXIMUM) or 0

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
                    "unavailable", f"{self.url} can't be asked ({printable(str(error)) or type(error).__name__})."
                ) from None
        if status >= 400:
            raise refusal(self.url, status, content)
        if headers.get(_STATE, "").startswith(_UNFINISHED):
            raise ToolError("timeout", f"{self.url} gave what it had found when its own time was over, not all.")
        media = headers.get("content-type", "")
        if "html" in media or (accepted == JSON_RESULTS and "json" not in media):
            log.warning("%s sent no results: %s", self.url, error_page_text(content))
            what = f"{self.url} sent {printable(media) or 'an unknown format'}, no results."
            raise ToolError("unavailable", f"{what} An endpoint's address often ends in /sparql or /query.")
        return content, headers

    def _exchange(self, query: str, accepted: str, deadline: float) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and content of the last answer, redirects within the host followed."""
        url = self.url
        for _ in range(MAX_REDIRECTS + 1):
            self._check_time(deadline)
            left = deadline - time.monotonic()
            fields = [("query", query), *self._graphs]
            headers = {"Accept": accepted}
            long = sum(len(value) for _, value in fields) > MAX_ADDRESS_LENGTH
            given: dict[str, Any] = {"data": _form(fields)} if long else {"params": fields}
            self.asked += 1
            method = "POST" if long else "GET"
            with (
                network_deadline(deadline),
                self._client.stream(method, url, headers=headers, timeout=left, **given) as reply,
            ):
                if reply.is_redirect:
                    url = self._same_host(url, reply.headers.get("location", ""))
                    continue
                self.server = reply.headers.get("server", "")
                return reply.status_code, reply.headers, self._content(reply, deadline)
        raise ToolError("unavailable", f"{self.url} redirects without end.")

    def _content(self, reply: httpx.Response, deadline: float) -> bytes:
        reader = BodyReader(self.url, reply.headers.get("content-encoding", ""))
        for part in reply.iter_raw():
            reader.add(part)
            self._check_time(deadline)
        return reader.body()

    def _check_time(self, deadline: float) -> None:
        """Raises ToolError if the time is over, or if nobody waits for the answer any more."""
        if time.monotonic() >= deadline or is_cancelled():
            raise ToolError("timeout", f"{self.url} gave no complete answer in time.")

    def _same_host(self, url: str, location: str) -> str:
        target = httpx.URL(url).join(location)
        here, there = urlsplit(self.url), urlsplit(str(target))
        if (there.scheme, there.netloc) != (here.scheme, here.netloc) and not (
            (here.scheme, there.scheme) == ("http", "https")
            and there.hostname == here.hostname
            and (there.port == here.port or (here.port or 80, there.port or 443) == (80, 443))
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
        # it may be any address with a password, mistyped
        shown = repr(url[:200]) if "@" not in url else f"What ends in {url[:2000].rpartition('@')[2]!r}"
        raise ConfigError(f"{shown} is no address of an endpoint. Give one such as https://example.org/sparql")
    if parts.username or parts.password:
        raise ConfigError("An address with a password would be kept with the graph. Set NACRE_ENDPOINT_KEYS instead.")
    return url


def _authorization(key: str) -> dict[str, str]:
    if not key:
        return {}
    value = key if key.startswith("Bearer ") else f"Basic {b64encode(key.encode()).decode()}"
    return {"Authorization": value}


def _lower_limit(query: str, sliced: re.Match[str], most: int) -> str:
    """The query with its own LIMIT, or a lower one if it asks for more rows than are read."""
    if int(sliced["limit"]) <= most:
        return query
    return f"{query[: sliced.start('limit')]}{most}{query[sliced.end('limit') :]}"


def _form(fields: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    return {name: [value for other, value in fields if other == name] for name, _ in fields}


def _retry_after(headers: Mapping[str, str]) -> float:
    delay = header_number(headers, "retry-after")
    return RETRY_SECONDS if delay is None else float(delay)


_SELECT = re.compile(r"(?<![?$\w:])SELECT\b(?P<columns>[^{]*)", re.IGNORECASE)

_END = re.compile(r"(?<![?$\w:])(?:WHERE|FROM)\b.*", re.IGNORECASE | re.DOTALL)

_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*+"?|\'(?:[^\'\\]|\\.)*+\'?|<[^<>\s]*+>', re.DOTALL)

# names of variables: VARNAME in SPARQL 1.1, section 19.8
_PART = re.compile(
    r"(?P<mark>[()*])|(?P<as>\bAS\s+)?[?$](?P<name>[\w\u00b7\u0300-\u036f\u203f\u2040]++)", re.IGNORECASE
)


def projected_names(query: str) -> tuple[str, ...] | None:
    """The names of the columns of a SELECT; None for SELECT *, and for an expression that contains a group.

    >>> projected_names('SELECT DISTINCT ?s (COUNT(DISTINCT ?o) AS ?n) WHERE { ?s ?p ?o }')
    ('s', 'n')
    >>> projected_names("SELECT * { ?s ?p ?o }"), projected_names("SELECT (EXISTS { ?s ?p ?o } AS ?x) {}")
    (None, None)
    """
    found = _SELECT.search(query)
    columns = _END.sub("", _QUOTED.sub("", found["columns"])) if found else ""
    names, depth = list[str](), 0
    for part in _PART.finditer(columns):
        if part["mark"] == "*" and depth == 0:
            return None
        depth += {"(": 1, ")": -1}.get(part["mark"] or "", 0)
        if part["name"] and (depth == 0 or (depth == 1 and part["as"])):
            names.append(part["name"])
    return tuple(names) if names and depth == 0 else None
