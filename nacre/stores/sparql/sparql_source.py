"""The interface of SPARQL sources, the store of an ingested graph or an endpoint: query -> Solutions."""

import time
from typing import Literal, NamedTuple, Protocol

from nacre.errors import ToolError


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
    """A read-only, blocking source, safe to share between threads.

    Each method raises ToolError: syntax, refused, timeout, too_large or unavailable.
    """

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
