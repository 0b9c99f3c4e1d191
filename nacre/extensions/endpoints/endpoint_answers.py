"""Read what a SPARQL endpoint sends, within bounds: bytes and headers -> rows, truth, triples, or ToolError.

An endpoint is not trusted. Its answers are read only in the formats that were asked for, none of which has entities or
external references; sizes are bounded while an answer is inflated, before it is parsed, and while its terms are
collected. The `check` of a reader is called now and then, and raises if nobody waits for the answer any more.

JSON takes up to 100 times the memory of its text, and `json.loads` keeps the interpreter's lock while it parses. So the
items of a text are counted first, in short steps, and other threads run between the objects that are parsed.
"""

import json
import logging
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import IO, Any, cast

import pyoxigraph as ox

from nacre.errors import ToolError
from nacre.stores.addresses import host_of
from nacre.stores.sparql_source import SparqlTerm

log = logging.getLogger(__name__)

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

# zlib's window for each encoding: 16 more means a gzip header
_WINDOWS = {"gzip": zlib.MAX_WBITS + 16, "x-gzip": zlib.MAX_WBITS + 16, "deflate": zlib.MAX_WBITS}

_TAG = re.compile(r"<(script|style)\b(?:(?!</?\1\b).)*+</\1>|<[^<>]*>", re.DOTALL | re.IGNORECASE)

_TIMED_OUT = re.compile(r"time.?out|timed out|exceeds the limit|S1T00|too long", re.IGNORECASE)

# Virtuoso answers an ASK with a row or none
_VIRTUOSO_ASK = "__ASK_RETVAL"

Row = tuple[SparqlTerm | None, ...]

Triple = tuple[SparqlTerm, SparqlTerm, SparqlTerm]


class BodyReader:
    """Collects the body of an answer, inflated, up to MAX_BYTES."""

    def __init__(self, url: str, encoding: str) -> None:
        self._url = url
        self._body = bytearray()
        encoding = encoding.strip().lower()
        if encoding not in ("", "identity", *_WINDOWS):
            raise ToolError("unavailable", f"{url} sent an answer with the encoding {encoding[:50]!r}.")
        self._inflate = zlib.decompressobj(_WINDOWS[encoding]) if encoding in _WINDOWS else None

    def add(self, part: bytes) -> None:
        """Add a part as it was received; raises ToolError."""
        if self._inflate is None:
            self._body += part
        else:
            try:
                # never more than one byte beyond the maximum, however much a part inflates to
                self._body += self._inflate.decompress(part, MAX_BYTES + 1 - len(self._body))
            except zlib.error as error:
                raise ToolError(
                    "unavailable", f"{self._url} sent an answer that can't be inflated ({error})."
                ) from None
        if len(self._body) > MAX_BYTES:
            raise ToolError("too_large", f"{self._url} sent more than {MAX_BYTES // 1_000_000} MB. Ask for less.")

    def body(self) -> bytes:
        """All that was added."""
        return bytes(self._body)


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
