"""SPARQL sources, the store of an ingested graph (in a separate process) or an endpoint: query -> Solutions. A query in
one canonical form: text -> tokens (SPARQL 1.1 grammar, section 19.8) -> text. It has no comments, no escapes outside
strings and no white space but spaces and line feeds, so that every parser reads the same tokens."""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from nacre.errors import ConfigError, ToolError
from nacre.records.schema import TextSearch
from nacre.stores.killable_pool import KillablePool, pool_errors, wait_for_result

if TYPE_CHECKING:
    import pyoxigraph as ox


class SparqlTerm(NamedTuple):
    """An RDF term. `datatype` is an IRI ("" for IRIs and blank nodes), `language` a tag or ""."""

    kind: Literal["iri", "literal", "blank"]
    value: str
    datatype: str = ""
    language: str = ""


class Solutions(NamedTuple):
    """The rows of a SELECT, with None for unbound variables; `truncated`: there were more than requested."""

    variables: tuple[str, ...]
    rows: list[tuple[SparqlTerm | None, ...]]
    truncated: bool


class SparqlSource(Protocol):
    """Read-only, blocking, thread-safe. Raises ToolError: syntax, refused, timeout, too_large or unavailable."""

    dialect: str
    """The extensions of SPARQL 1.1 that it supports ("virtuoso", "qlever" ...), or ""."""

    def select(self, query: str, *, limit: int, seconds: float) -> Solutions:
        """At most `limit` rows of a SELECT."""
        ...

    def ask(self, query: str, *, seconds: float) -> bool:
        """The answer of an ASK."""
        ...

    def construct(self, query: str, *, limit: int, seconds: float) -> list[tuple[SparqlTerm, SparqlTerm, SparqlTerm]]:
        """At most `limit` triples of a CONSTRUCT."""
        ...


def seconds_left(started: float, seconds: float) -> float:
    """The rest of the time of a query that started at this monotonic time; raises ToolError if it is used up."""
    left = started + seconds - time.monotonic()
    if left <= 0:
        raise ToolError("timeout", f"The query was stopped after {seconds:g} seconds.")
    return left


# named graph of triples that no table shows: schema triples, labels in further languages
ASIDE = "urn:nacre:aside"

# named graph of the numbers that literals were read as, if their datatypes do not say so
READINGS, READS, PART = "urn:nacre:readings", "urn:nacre:reads:", "urn:nacre:part:"

SECONDS = 5.0
MAX_MEMORY = 4_000_000_000
MAX_TEXT = 50_000_000
_MAX_QUERY_LENGTH = 200_000


# opens the store of a path; picklable
OpenStore = Callable[[str], "ox.Store"]


class OxigraphStore:
    """A read-only store: of a folder, or what `load` makes of a path in a `pool`, which is not closed with it. A query
    that exceeds its time is killed with its process, since Oxigraph can't be interrupted."""

    dialect = ""

    def __init__(self, path: Path, load: OpenStore | None = None, pool: KillablePool | None = None) -> None:
        if load is None and not (path / "CURRENT").is_file():
            raise ConfigError(f"There are no triples in {path.name}. Run: nacre ingest FILE.ttl --graph NAME --sparql")
        self.path = path
        self._load, self._pool, self._own = load or _open_folder, pool or KillablePool(MAX_MEMORY), pool is None

    @cached_property
    def readings(self) -> frozenset[str]:
        """The predicates whose literals were read as numbers at ingestion."""
        query = f"SELECT ?p {{ GRAPH <{READINGS}> {{ ?p <{READS}> ?p }} }}"
        rows = self.select(query, limit=100_000, seconds=SECONDS).rows
        return frozenset(row[0].value for row in rows if row[0] is not None)

    def select(self, query: str, *, limit: int, seconds: float) -> Solutions:
        """At most `limit` rows; raises ToolError as documented in SparqlSource."""
        found = self._ask(_select, query, limit, seconds)
        return Solutions(tuple(found[0]), [tuple(t and SparqlTerm(*t) for t in row) for row in found[1]], found[2])

    def ask(self, query: str, *, seconds: float) -> bool:
        """The answer of an ASK."""
        return bool(self._ask(_truth, query, 1, seconds))

    def construct(self, query: str, *, limit: int, seconds: float) -> list[tuple[SparqlTerm, SparqlTerm, SparqlTerm]]:
        """At most `limit` triples of a CONSTRUCT."""
        found = self._ask(_construct, query, limit, seconds)
        return [(SparqlTerm(*s), SparqlTerm(*p), SparqlTerm(*o)) for s, p, o in found]

    def close(self) -> None:
        """Kill its own processes, whatever they are doing."""
        if self._own:
            self._pool.close()

    def _ask(self, run: Callable[..., Any], query: str, limit: int, seconds: float) -> Any:
        if len(query) > _MAX_QUERY_LENGTH:
            raise ToolError(
                "too_large", f"The query has {len(query)} characters; at most {_MAX_QUERY_LENGTH} are allowed."
            )
        running = self._pool.start(run, self._load, str(self.path), query, limit, seconds=seconds)
        with pool_errors(seconds):
            return wait_for_result(running)


@cache
def _open_folder(folder: str) -> "ox.Store":
    import pyoxigraph as ox

    return ox.Store.read_only(folder)


def _select(load: OpenStore, path: str, query: str, limit: int) -> tuple[list[str], list[tuple[Any, ...]], bool]:
    import pyoxigraph as ox

    found = _result(load, path, query)
    if not isinstance(found, ox.QuerySolutions):
        raise ToolError("refused", "Only a SELECT returns rows.")
    names = [variable.value for variable in found.variables]
    size = 0
    rows: list[tuple[Any, ...]] = []
    with _engine_errors():
        for solution in islice(found, limit + 1):
            rows.append(tuple(plain_term(solution[i]) for i in range(len(names))))
            size += sum(len(term[1]) for term in rows[-1] if term)
            if size > MAX_TEXT:
                raise ToolError("too_large", f"The rows hold more than {MAX_TEXT // 1_000_000} million characters.")
    return names, rows[:limit], len(rows) > limit


def _truth(load: OpenStore, path: str, query: str, limit: int) -> bool:
    import pyoxigraph as ox

    found = _result(load, path, query)
    if not isinstance(found, ox.QueryBoolean):
        raise ToolError("refused", "Only an ASK returns true or false.")
    return bool(found)


def _construct(load: OpenStore, path: str, query: str, limit: int) -> list[tuple[Any, Any, Any]]:
    import pyoxigraph as ox

    found = _result(load, path, query)
    if not isinstance(found, ox.QueryTriples):
        raise ToolError("refused", "Only a CONSTRUCT returns triples.")
    with _engine_errors():
        return [(plain_term(t.subject), plain_term(t.predicate), plain_term(t.object)) for t in islice(found, limit)]


def _result(load: OpenStore, path: str, query: str) -> Any:
    with _engine_errors():
        return load(path).query(query)


@contextmanager
def _engine_errors() -> Iterator[None]:
    try:
        yield
    except SyntaxError as error:
        raise ToolError("syntax", str(error)) from None
    except (OSError, ValueError) as error:
        raise ToolError("unavailable", f"The triples can't be read: {error}.") from None


def plain_term(term: Any) -> tuple[str, str, str, str] | None:
    """A term as a tuple of strings, to send between processes."""
    import pyoxigraph as ox

    if term is None:
        return None
    if isinstance(term, ox.NamedNode):
        return "iri", term.value, "", ""
    if isinstance(term, ox.Literal):
        return "literal", term.value, term.datatype.value, term.language or ""
    return "blank", str(term), "", ""


_FUSEKI = "http://jena.apache.org/text#query"
_STARDOG = "tag:stardog:api:property:textMatch"
_BLAZEGRAPH = "http://www.bigdata.com/rdf/search#search"

# initial letters that a misspelt word must share with the name: without an index, and with a prefix index
MIN_PREFIX, INDEXED_MIN_PREFIX = 3, 4

MAX_EDITS = 2


def text_search_pattern(
    search: TextSearch, predicates: Sequence[str], words: Sequence[str], near: Sequence[str] = (), pattern: str = ""
) -> str:
    """A pattern of ?s ?p ?l: ?l of one of the predicates (or of the `pattern` of ?s and ?l) contains one of the words
    (letters and digits only) or, where supported, one spelt like one of `near`; "" if the search can't do that.

    >>> text_search_pattern("virtuoso", ("http://x.org/name",), ("new", "yorck"), ("yorck",))
    'VALUES ?p { <http://x.org/name> } ?s ?p ?l . ?l <bif:contains> "\\'new\\' OR \\'yorck\\' OR \\'yorc*\\'" .'
    """
    named = f"VALUES ?p {{ {' '.join(f'<{p}>' for p in predicates)} }}"
    linked = pattern.removesuffix(" .") or f"{named} ?s ?p ?l"
    if pattern and search == "fuseki":
        return ""
    starts = list(dict.fromkeys(f"{word[:INDEXED_MIN_PREFIX]}*" for word in near))
    fuzzy = [f"{word}~{MAX_EDITS}" for word in near]
    if search == "virtuoso":
        return f'{linked} . ?l <bif:contains> "{_any([*words, *starts], quote=chr(39))}" .'
    if search == "fuseki":
        wanted = _any([*words, *fuzzy])
        found = " UNION ".join(f'{{ (?s ?score ?l) <{_FUSEKI}> (<{p}> "{wanted}") }}' for p in predicates)
        return f"{found} {named} ?s ?p ?l ."
    if search == "stardog":
        return f'{linked} . ?l <{_STARDOG}> "{_any([*words, *fuzzy])}" .'
    if search == "blazegraph":
        return f'?l <{_BLAZEGRAPH}> "{" ".join([*words, *starts])}" . {linked} .'
    # the first test is fast, the second matches whole words
    spelt = [
        f"{word[:MIN_PREFIX]}[a-z]{{{len(word) - MIN_PREFIX - MAX_EDITS},{len(word) - MIN_PREFIX + MAX_EDITS}}}"
        for word in near
    ]
    any_word = "|".join([*words, *(word[:MIN_PREFIX] for word in near)])
    bounded = f"(^|[^a-z0-9])({'|'.join([*words, *spelt])})($|[^a-z0-9])"
    return f'{linked} FILTER(REGEX(?l, "{any_word}", "i") && REGEX(?l, "{bounded}", "i"))'


def _any(words: Sequence[str], quote: str = "") -> str:
    return " OR ".join(f"{quote}{word}{quote}" for word in words)


# rdflib, which judges a query, takes time that grows faster than its length. Measured with rdflib 7.6: a list of 240
# numbers (600 tokens) 0.6 s, 1,200 tokens 2.8 s; 40 levels of brackets exceed its recursion limit.
MAX_TOKENS, MAX_DEPTH = 600, 60

MAX_INDENT = 40

_NAME_START = (
    "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d\u2070-\u218f"
    "\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)

_NAME = _NAME_START + "_0-9\u00b7\u0300-\u036f\u203f-\u2040-"

_PREFIX = f"[{_NAME_START}](?:[{_NAME}.]*[{_NAME}])?"

_ESCAPED = r"%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?#@%]"

_LOCAL = f"(?:[{_NAME}:]|{_ESCAPED})(?:(?:[{_NAME}.:]|{_ESCAPED})*(?:[{_NAME}:]|{_ESCAPED}))?"

_TOKEN = "|".join(
    (
        r"(?P<space>[ \t\r\n]++)",
        r"(?P<comment>#[^\r\n]*)",
        r"(?P<iri><[^<>\"{}|^`\x00-\x20]*>)",
        r'(?P<long>"""(?:"{0,2}(?:[^"\\]|\\.))*+"""' + r"|'''(?:'{0,2}(?:[^'\\]|\\.))*+''')",
        r'(?P<string>"(?:[^"\\\r\n]|\\.)*+"' + r"|'(?:[^'\\\r\n]|\\.)*+')",
        f"(?P<blank>_:[{_NAME_START}_0-9](?:[{_NAME}.]*[{_NAME}])?)",
        f"(?P<pname>(?:{_PREFIX})?:(?:{_LOCAL})?)",
        f"(?P<variable>[?$][{_NAME_START}_0-9][{_NAME[:-1]}]*)",
        r"(?P<language>@[A-Za-z]+(?:-[A-Za-z0-9]+)*)",
        r"(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[eE][+-]?[0-9]+|[0-9]*\.[0-9]+|[0-9]+)",
        r"(?P<word>[A-Za-z_][A-Za-z_0-9]*)",
        r"(?P<mark>\^\^|&&|\|\||!=|<=|>=|[{}()\[\].;,|^/*?+!=<>\-])",
    )
)

_STRING_ESCAPES = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}

_WRITTEN = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}

_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)

_ABSOLUTE = re.compile(r"<[A-Za-z][A-Za-z0-9+.\-]*:")

_PATH_MARKS = frozenset("*+?")

# functions whose parenthesis pyoxigraph wants without a space
_JOINED = frozenset({"BNODE", "COALESCE", "CONCAT"})

_OPEN, _CLOSE = frozenset("{(["), frozenset("})]")


class Token(NamedTuple):
    """A token in its canonical form. `kind` is iri, string, blank, pname, variable, language, number, word or mark;
    `gap` is what stands before it: a space, a line feed and an indent, or nothing."""

    kind: str
    text: str
    gap: str = " "


def query_tokens(text: str) -> list[Token]:
    """The canonical tokens of a query. Raises ToolError: `syntax` if not SPARQL 1.1, `refused` for a relative IRI or a
    string that parsers read differently, `too_large` above MAX_TOKENS tokens or MAX_DEPTH levels of brackets."""
    tokens: list[Token] = []
    place = depth = 0
    gap = ""
    while place < len(text):
        match = _token_pattern().match(text, place)
        if match is None:
            raise ToolError("syntax", f"The query can't be parsed as SPARQL 1.1: unexpected {text[place]!r}.")
        place, kind = match.end(), str(match.lastgroup)
        if kind in ("space", "comment"):
            # a line feed and the indent of the next token, if the white space has an end of line
            _, *lines = re.split(r"[\r\n]", match.group())
            gap = "\n" + " " * min(len(lines[-1]), MAX_INDENT) if lines else gap or " "
            continue
        token = _canonical(kind, match.group())
        tokens.append(token._replace(gap=_gap(gap, tokens[-1] if tokens else None, token)))
        gap = ""
        if token.kind == "mark":
            depth += (token.text in _OPEN) - (token.text in _CLOSE)
        if len(tokens) > MAX_TOKENS:
            raise ToolError("too_large", f"The query has more than {MAX_TOKENS} tokens. Write a shorter one.")
        if depth > MAX_DEPTH:
            raise ToolError("too_large", f"The query has more than {MAX_DEPTH} levels of brackets. Write fewer.")
    return tokens


@cache
def _token_pattern() -> re.Pattern[str]:
    # compiled with the first query, since it takes a twentieth of the time to start
    return re.compile(_TOKEN, re.DOTALL)


def write_tokens(tokens: Sequence[Token]) -> str:
    """The canonical text of a query; the lines of the original are kept."""
    return "".join(f"{token.gap}{token.text}" for token in tokens).lstrip()


def keywords(tokens: Sequence[Token]) -> frozenset[str]:
    """The bare words of a query in upper case: keywords and names of functions, never parts of IRIs or strings.

    >>> sorted(keywords(query_tokens("select ?service { ?service <http://e.org/graph> 'from' }")))
    ['SELECT']
    """
    return frozenset(token.text.upper() for token in tokens if token.kind == "word")


def _gap(space: str, before: Token | None, token: Token) -> str:
    """rdflib takes # in an IRI for a comment if an IRI follows on its line. Path marks, some (, the language or
    datatype of a text and the digits after a sign follow at once."""
    last = before.text if before is not None else ""
    if token.kind == "language" or "^^" in (last, token.text) or (token.text == "(" and last.upper() in _JOINED):
        return ""
    if before is not None and before.kind == "iri" and "#" in last and not space.startswith("\n"):
        return "" if not space and token.text in _PATH_MARKS else "\n"
    is_joined = token.text in _PATH_MARKS or (token.kind == "number" and last in ("-", "+"))
    return space or ("" if is_joined else " ")


def _canonical(kind: str, text: str) -> Token:
    if kind == "iri":
        if not _ABSOLUTE.match(text):
            raise ToolError("refused", f"The IRI {text[:200]} is relative. Write the whole IRI.")
        if "\\" in text:
            raise ToolError("refused", f"The IRI {text[:200]} contains an escape. Write the character itself.")
        return Token(kind, text)
    if kind in ("string", "long"):
        width = 3 if kind == "long" else 1
        return Token("string", _write_string(_ESCAPE.sub(_resolve, text[width:-width])))
    return Token(kind, f"?{text[1:]}") if kind == "variable" else Token(kind, text)


def _resolve(match: re.Match[str]) -> str:
    short, long, other = match.groups()
    if other is None:
        point = int(short or long, 16)
        if point > 0x10FFFF or 0xD800 <= point <= 0xDFFF:
            raise ToolError("syntax", f"{match.group()} is not a character.")
        return chr(point)
    if other not in _STRING_ESCAPES:
        raise ToolError("syntax", f"The query can't be parsed as SPARQL 1.1: {match.group()!r} is not an escape.")
    return _STRING_ESCAPES[other]


def _write_string(value: str) -> str:
    if re.search(r"\\[uU]", value):
        raise ToolError("refused", "A string contains a backslash before a u; parsers read it in different ways.")
    if bad := re.search(r"[\x00-\x07\x0b\x0e-\x1f\x7f\ud800-\udfff]", value):
        raise ToolError("refused", f"A string contains the control character {bad.group()!r}.")
    return f'"{"".join(_WRITTEN.get(each, each) for each in value)}"'
