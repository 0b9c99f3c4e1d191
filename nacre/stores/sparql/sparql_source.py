"""What answers SPARQL: the triples of an ingested graph, or an endpoint elsewhere: query -> Solutions."""

from typing import Literal, NamedTuple, Protocol


class SparqlTerm(NamedTuple):
    """An RDF term. `datatype` is an IRI ("" for what is no literal), `language` a tag or ""."""

    kind: Literal["iri", "literal", "blank"]
    value: str
    datatype: str = ""
    language: str = ""


class Solutions(NamedTuple):
    """The rows of a SELECT, None where a variable is unbound; `truncated` says that there were more than asked for."""

    variables: tuple[str, ...]
    rows: list[tuple[SparqlTerm | None, ...]]
    truncated: bool


class SparqlSource(Protocol):
    """Read-only, safe to use by many threads, blocking.

    Each method raises ToolError: syntax, refused, timeout, too_large or unavailable.
    """

    dialect: str
    """What it knows beyond SPARQL 1.1 ("virtuoso", "qlever" ...), or ""."""

    def select(self, query: str, *, limit: int, seconds: float) -> Solutions:
        """At most `limit` rows of a SELECT."""
        ...

    def ask(self, query: str, *, seconds: float) -> bool:
        """The answer of an ASK."""
        ...

    def construct(self, query: str, *, limit: int, seconds: float) -> list[tuple[SparqlTerm, SparqlTerm, SparqlTerm]]:
        """At most `limit` triples of a CONSTRUCT."""
        ...
