"""SPARQL sources, the store of an ingested graph or an endpoint: query -> Solutions.

The triples of an ingested graph are asked in a separate process. Full-text patterns are written in the dialect of each
store: words -> the pattern of a WHERE clause.
"""

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
    """A read-only, blocking source, safe to share between threads. Each method raises ToolError: syntax, refused,
    timeout, too_large or unavailable."""

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
    """A read-only store: of a folder, or what `load` makes of a path in the processes of a `pool`, which is not closed
    with it. Oxigraph can't be interrupted, so a query that exceeds its time is killed with its process. The process
    starts with the first query."""

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
    """Turn errors of the engine into ToolError."""
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
    """A pattern of ?s ?p ?l: the literal ?l of one of the predicates contains one of the words (letters and digits
    only), or a word of similar spelling to one of `near`, if the search supports that. With a `pattern` of ?s and ?l,
    that pattern instead of predicates; "" if the search does not support it.

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
