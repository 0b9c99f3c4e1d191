"""Query a SPARQL 1.1 endpoint over HTTP, within limits of rate, size and time: query -> Solutions.

Then what it sends is read, within bounds: bytes and headers -> rows, truth, triples, or ToolError. An endpoint is not
trusted. Its answers are read only in the formats that were asked for, none of which has entities or external
references; sizes are bounded while an answer is inflated, before it is parsed, and while its terms are collected. The
`check` of a reader is called now and then, and raises if nobody waits for the answer any more.

JSON takes up to 100 times the memory of its text, and `json.loads` keeps the interpreter's lock while it parses. So the
items of a text are counted first, in short steps, and other threads run between the objects that are parsed."""

import json
import logging
import re
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import IO, Any, cast
from urllib.parse import urlsplit

import httpx
import pyoxigraph as ox

from nacre.config.bounded_replies import ReplyTooLarge, bound_body
from nacre.errors import ConfigError, ToolError
from nacre.records.threads import FairSemaphore, is_cancelled
from nacre.stores.addresses import EndpointLimits, host_of
from nacre.stores.deadline_network import bound_to_deadlines, network_deadline
from nacre.stores.sparql_source import Solutions, SparqlTerm

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


Triple = tuple[SparqlTerm, SparqlTerm, SparqlTerm]


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
        first = query if sliced else f"{query}\nLIMIT {wanted}"
        if sliced and wanted > limit + 1:
            # no more rows than are read
            first = f"{query[: sliced.start('limit')]}{limit + 1}{query[sliced.end('limit') :]}"
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
        deadline = time.monotonic() + seconds
        return read_truth(self.url, self._send(query, JSON_RESULTS, deadline)[0], partial(self._check_time, deadline))

    def construct(self, query: str, *, limit: int, seconds: float) -> list[Triple]:
        deadline = time.monotonic() + seconds
        content, headers = self._send(query, TRIPLES, deadline)
        media, check = headers.get("content-type", ""), partial(self._check_time, deadline)
        return read_triples(self.url, content, media, limit, check)

    def close(self) -> None:
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
                    "unavailable",
                    f"{self.url} can't be asked ({printable(str(error)).rstrip('.') or type(error).__name__}).",
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
            form = {name: [value for other, value in fields if other == name] for name, _ in fields}
            given: dict[str, Any] = {"data": form} if long else {"params": fields}
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
        body = bytearray()
        try:
            bound_body(reply, MAX_BYTES)
            for part in reply.iter_raw():
                body += part
                self._check_time(deadline)
        except ReplyTooLarge as error:
            # what can't be read from its beginning on was sent in another encoding
            raise ToolError("too_large" if body else "unavailable", f"{self.url}: {error}.") from None
        return bytes(body)

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


JSON_RESULTS = "application/sparql-results+json"

# N-Triples first; servers that have only Turtle send that
TRIPLES = "application/n-triples, text/turtle;q=0.5"

XSD_STRING = "http://www.w3.org/2001/XMLSchema#string"

LANGUAGE_STRING = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"

MAX_BYTES = 32_000_000

# characters of the terms of one answer (given, as for the local store)
MAX_TERM_CHARACTERS = 50_000_000

# rows and cells of one answer. Measured: 1 million cells take 0.3 s and 60 MB
MAX_ROWS, MAX_CELLS = 1000, 1_000_000

# items of one term: an object, three more fields, and the comma before the next one
ITEMS_OF_TERM = 5

# columns of a SELECT * (given)
MOST_COLUMNS = 10

# bytes without a triple: a term has at most 4 MB. Measured: nested nodes take 80 times their bytes until they end
MAX_BYTES_WITHOUT_TRIPLE = 4_000_000

BYTES_TO_PARSE = 65_536

MAX_HEADER_DIGITS = 9

_TRIPLE_FORMATS = {
    "": ox.RdfFormat.N_TRIPLES,
    "application/n-triples": ox.RdfFormat.N_TRIPLES,
    "text/plain": ox.RdfFormat.N_TRIPLES,
    "text/turtle": ox.RdfFormat.TURTLE,
    "application/x-turtle": ox.RdfFormat.TURTLE,
}

_TAG = re.compile(r"<(script|style)\b(?:(?!</?\1\b).)*+</\1>|<[^<>]*>", re.DOTALL | re.IGNORECASE)

_TIMED_OUT = re.compile(r"time.?out|timed out|exceeds the limit|S1T00|too long", re.IGNORECASE)

# Virtuoso answers an ASK with a row or none
_VIRTUOSO_ASK = "__ASK_RETVAL"

Row = tuple[SparqlTerm | None, ...]


def nothing_to_check() -> None:
    """The check of a caller who waits for as long as it takes."""


def read_rows(
    url: str,
    content: bytes,
    names: Sequence[str] | None = None,
    most: int = MAX_ROWS,
    check: Callable[[], None] = nothing_to_check,
) -> tuple[tuple[str, ...], list[Row]]:
    """The variables and at most `most` rows of a SELECT in SPARQL's JSON format. `names` are the variables that were
    asked for, in their order; None takes those that the server names."""
    columns = len(names) if names else MOST_COLUMNS
    data = _read_object(url, content, max(MAX_ITEMS, most * columns * ITEMS_OF_TERM), check)
    try:
        sent = tuple(map(str, data["head"]["vars"]))
        bindings = data["results"]["bindings"]
        if names and bindings and sent and not set(sent).intersection(names):
            raise ToolError("unavailable", f"{url} answered with other columns than were asked for.")
        variables = tuple(names or sent)
        if len(variables) * min(most, len(bindings)) > MAX_CELLS:
            raise ToolError("too_large", f"{url} sent more than {MAX_CELLS:,} cells. Ask for less.")
        rows = list[Row]()
        for binding in islice(bindings, most):
            check()
            rows.append(tuple(_read_term(binding[name]) if name in binding else None for name in variables))
    except (KeyError, TypeError, AttributeError, ValueError):
        raise ToolError("unavailable", f"{url} sent no results of SPARQL.") from None
    return variables, rows


def read_truth(url: str, content: bytes, check: Callable[[], None] = nothing_to_check) -> bool:
    """The truth of an ASK."""
    data = _read_object(url, content, MAX_ITEMS, check)
    answer = data.get("boolean")
    head, results = data.get("head"), data.get("results")
    if answer is None and isinstance(head, dict) and head.get("vars") == [_VIRTUOSO_ASK]:
        answer = bool(results.get("bindings")) if isinstance(results, dict) else False
    if not isinstance(answer, bool):
        raise ToolError("unavailable", f"{url} answered an ASK with neither true nor false.")
    return answer


def read_triples(
    url: str, content: bytes, media: str, limit: int, check: Callable[[], None] = nothing_to_check
) -> list[Triple]:
    """At most `limit` triples of a CONSTRUCT, in N-Triples or Turtle."""
    form = _TRIPLE_FORMATS.get(media.partition(";")[0].strip().lower())
    if form is None:
        raise ToolError("unavailable", f"{url} sent triples as {media[:50]!r}, which was not asked for.")
    found: list[Triple] = []
    characters = 0
    body = _BodyToParse(url, content, check)
    try:
        for quad in ox.parse(cast(IO[bytes], body), form, base_iri=url):
            if len(found) == limit:
                break
            body.unread = MAX_BYTES_WITHOUT_TRIPLE
            triple = (_from_oxigraph(quad.subject), _from_oxigraph(quad.predicate), _from_oxigraph(quad.object))
            characters += sum(len(term.value) for term in triple)
            if characters > MAX_TERM_CHARACTERS:
                raise ToolError("too_large", f"{url} sent terms of more than {MAX_TERM_CHARACTERS:,} characters.")
            found.append(triple)
    except (SyntaxError, ValueError, MemoryError) as error:
        raise ToolError("unavailable", f"{url} sent triples that can't be read ({printable(str(error))}).") from None
    return found


class _BodyToParse:
    """A body as a file that the parser reads part by part. The parser can't be interrupted between two triples."""

    def __init__(self, url: str, content: bytes, check: Callable[[], None]) -> None:
        self._url, self._content, self._check = url, content, check
        self._place = 0
        self.unread = MAX_BYTES_WITHOUT_TRIPLE

    def read(self, size: int) -> bytes:
        """The next part; raises ToolError."""
        self._check()
        if self.unread < 0:
            what = f"{self._url} sent {MAX_BYTES_WITHOUT_TRIPLE:,} bytes without a triple."
            raise ToolError("too_large", what)
        part = self._content[self._place : self._place + min(size, BYTES_TO_PARSE)]
        self._place += len(part)
        self.unread -= len(part)
        return part


def header_number(headers: Mapping[str, str], name: str) -> int | None:
    """The number in a header; None if there is none, or something else.

    >>> header_number({"a": "12", "b": "²", "c": "9" * 5000}, "a"), header_number({"b": "²"}, "b")
    (12, None)
    """
    value = headers.get(name, "").strip()
    return int(value) if value.isascii() and value.isdigit() and len(value) <= MAX_HEADER_DIGITS else None


def refusal(url: str, status: int, content: bytes) -> ToolError:
    """What an answer with an error status means, in our words: error pages may name hosts and secrets, so the log has
    them. Only what an endpoint says of a query that it can't read is for whoever wrote the query."""
    text = error_page_text(content)
    log.warning("%s answered with status %s: %s", url, status, text)
    if status in (408, 504) or _TIMED_OUT.search(text):
        return ToolError("timeout", f"{url} stopped the query.")
    if status in (401, 403):
        return ToolError("refused", f"{url} asks for a login ({status}). Set NACRE_ENDPOINT_KEYS for {host_of(url)}.")
    if status == 400:
        return ToolError("syntax", f"{url} can't read the query: {text}")
    if status in (413, 414):
        return ToolError("too_large", f"{url} takes no query of that length ({status}).")
    return ToolError("unavailable", f"{url} failed with status {status}.")


def error_page_text(content: bytes) -> str:
    """The beginning of an error page, without tags and control characters."""
    text = _TAG.sub(" ", content[:20_000].decode("utf-8", "replace"))
    return printable(" ".join(text.split()))[:200] or "(no text)"


def printable(text: str) -> str:
    """The text without characters that a terminal would obey.

    >>> printable("a\\x1b[2Jb")
    'a[2Jb'
    """
    return "".join(each for each in text if each.isprintable())


def _read_object(url: str, content: bytes, most: int, check: Callable[[], None]) -> dict[str, Any]:
    try:
        data = load_json(content, most, check)
    except TooManyItems:
        raise ToolError("too_large", f"{url} sent more values than were asked for. Ask for less.") from None
    except (ValueError, RecursionError):
        raise ToolError("unavailable", f"{url} sent an answer that is truncated or not JSON.") from None
    if not isinstance(data, dict):
        raise ToolError("unavailable", f"{url} sent no results of SPARQL.")
    return data


def _read_term(binding: Mapping[str, object]) -> SparqlTerm:
    value, language = binding["value"], binding.get("xml:lang", "")
    datatype = binding.get("datatype", LANGUAGE_STRING if language else XSD_STRING)
    if not all(isinstance(each, str) for each in (value, language, datatype)):
        raise ValueError("a term of a result is not text")
    if binding["type"] == "uri":
        return SparqlTerm("iri", str(value))
    if binding["type"] == "bnode":
        return SparqlTerm("blank", str(value))
    return SparqlTerm("literal", str(value), str(datatype), str(language))


def _from_oxigraph(term: Any) -> SparqlTerm:
    if isinstance(term, ox.NamedNode):
        return SparqlTerm("iri", term.value)
    if isinstance(term, ox.BlankNode):
        return SparqlTerm("blank", term.value)
    if isinstance(term, ox.Literal):
        return SparqlTerm("literal", term.value, term.datatype.value, term.language or "")
    return SparqlTerm("literal", str(term), XSD_STRING)


# A result of 1,000 rows with 40 columns has 172,000 items. Measured with the most expensive texts of 200,000 items:
# they take 40 MB, and the lock for 0.2 s. One string of 32 MB takes it for 0.3 s.
MAX_ITEMS = 200_000

# SPARQL 1.1 Query Results JSON Format has lists only of variables, links and rows
MAX_LISTS = 1000

# a shorter text can't have too many items or lists (given: half of MAX_LISTS lists)
UNCOUNTED_BYTES = 1000

# bytes that are counted in one step, and steps between two checks (measured: 1 ms each)
BYTES_AT_ONCE, STEPS_BETWEEN_CHECKS = 1_000_000, 2000


class TooManyItems(Exception):
    """The text has more items than any result that was asked for."""


def load_json(content: bytes, most: int = MAX_ITEMS, check: Callable[[], None] = nothing_to_check) -> Any:
    """The value of a text in UTF-8 with at most `most` items. `check` is called now and then, and may raise."""
    if not json.detect_encoding(content).startswith("utf-8"):
        raise ValueError("JSON is sent in UTF-8 (RFC 8259)")
    if len(content) > UNCOUNTED_BYTES:
        _check_items(content, most, check)
    check()
    return json.loads(content, object_hook=_yield_to_threads)


def _check_items(content: bytes, most: int, check: Callable[[], None]) -> None:
    """Raises TooManyItems, or ValueError for lists. An item is what a { or , outside strings begins."""
    items = lists = place = steps = 0
    in_string = False
    while place < len(content):
        steps += 1
        if steps % STEPS_BETWEEN_CHECKS == 0:
            check()
        if in_string:
            quote = content.find(b'"', place)
            part = content[place:quote] if quote >= 0 else b""
            # a quote behind an odd number of backslashes belongs to the string
            in_string = (len(part) - len(part.rstrip(b"\\"))) % 2 == 1
            place = quote + 1 if quote >= 0 else len(content)
            continue
        quote = content.find(b'"', place, place + BYTES_AT_ONCE)
        end = min(place + BYTES_AT_ONCE, len(content)) if quote < 0 else quote
        lists += content.count(b"[", place, end)
        items += content.count(b"{", place, end) + content.count(b",", place, end)
        if lists > MAX_LISTS:
            raise ValueError("too many lists")
        if items > most:
            raise TooManyItems
        in_string, place = quote >= 0, end + 1 if quote >= 0 else end


def _yield_to_threads(value: dict[str, Any]) -> dict[str, Any]:
    # a call of a function that is written in Python is where the interpreter may change to another thread
    return value
