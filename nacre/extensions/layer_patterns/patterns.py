"""Run SPARQL patterns and rules over triples in a process of their own: query -> rows of terms.

The engine can't be interrupted. A query that exceeds its time is killed with its process, and the ingest fails with
the name of the entry.
"""

import tempfile
from collections.abc import Iterable
from itertools import islice
from typing import Any, TypeAlias

from ingestion.index.triples import ntriples_literal, ntriples_name
from ingestion.vocabulary import XSD
from nacre.errors import IngestionError, ToolError
from nacre.stores.killable_pool import KillablePool, pool_errors
from nacre.stores.sparql_source import plain_term

# a rule of a layer took at most 1 s over 45,000 triples (measured with the layers of real graphs)
SECONDS = 60.0

MAX_MEMORY = 6_000_000_000

MAX_ROWS = 2_000_000

# blank nodes keep their names as IRIs
BLANK = "urn:nacre:blank:"

# kind, text, datatype, language
PlainTerm: TypeAlias = tuple[str, str, str, str]

PlainTriple: TypeAlias = tuple[PlainTerm, PlainTerm, PlainTerm]


class PatternStore:
    """A store of triples, of which each line is one of `written_term`s and a full stop. `select` and `construct` raise
    IngestionError for a query that takes too much."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._pool = KillablePool(MAX_MEMORY, processes=1)
        self._pending: list[str] = []
        self._is_loaded = False
        # closed by `close`
        self._file = tempfile.NamedTemporaryFile(  # noqa: SIM115
            "w", suffix=".nt", prefix="nacre-layer-", encoding="utf-8"
        )
        self._file.writelines(lines)

    def add(self, lines: Iterable[str]) -> None:
        """Add triples, which later queries see."""
        self._pending += lines

    def select(self, query: str) -> list[tuple[PlainTerm | None, ...]]:
        """The distinct rows of a SELECT."""
        rows: list[tuple[PlainTerm | None, ...]] = self._run(_select, query)
        return rows

    def construct(self, query: str) -> list[PlainTriple]:
        triples: list[PlainTriple] = self._run(_construct, query)
        return triples

    def close(self) -> None:
        """End the process."""
        self._pool.close()
        self._file.close()

    def _run(self, work: Any, text: str) -> Any:
        pending = "".join(self._pending)
        self._pending = []
        # a query that is killed loses the store, which is then read from the file again
        self._file.write(pending)
        if not self._is_loaded:
            self._file.flush()
            self._result(_load, self._file.name)
            self._is_loaded = True
        elif pending:
            self._result(_add, pending)
        return self._result(work, text)

    def _result(self, work: Any, text: str) -> Any:
        try:
            with pool_errors(SECONDS):
                return self._pool.start(work, text, seconds=SECONDS).result()
        except ToolError as error:
            self._is_loaded = False
            raise IngestionError(str(error)) from None


def written_term(kind: str, text: str, datatype: str, language: str) -> str:
    """A term in N-Triples syntax."""
    if kind == "literal":
        return ntriples_literal(text, datatype, language)
    return ntriples_name(BLANK + text[2:] if kind == "blank" else text)


_STRING = XSD + "string"

_stores: list[Any] = []


def _load(file: str) -> None:
    import pyoxigraph as ox

    store = ox.Store()
    store.bulk_load(path=file, format=ox.RdfFormat.N_TRIPLES, lenient=True)
    _stores[:] = [store]


def _add(text: str) -> None:
    import pyoxigraph as ox

    _stores[0].load(input=text.encode(), format=ox.RdfFormat.N_TRIPLES, lenient=True)


def _select(query: str) -> list[tuple[PlainTerm | None, ...]]:
    found = _stores[0].query(query)
    width = range(len(found.variables))
    return _bounded(tuple(_plain(row[i]) for i in width) for row in found)


def _construct(query: str) -> list[tuple[PlainTerm | None, ...]]:
    return _bounded((_plain(t.subject), _plain(t.predicate), _plain(t.object)) for t in _stores[0].query(query))


def _bounded(rows: Iterable[tuple[PlainTerm | None, ...]]) -> list[tuple[PlainTerm | None, ...]]:
    found = list(islice(rows, MAX_ROWS + 1))
    if len(found) > MAX_ROWS:
        raise ToolError("too_large", f"It gives more than {MAX_ROWS:,} rows.")
    return found


def _plain(term: Any) -> PlainTerm | None:
    """A term as facts have it: texts without a datatype, blank nodes under their own names."""
    plain = plain_term(term)
    if plain is None:
        return None
    kind, text, datatype, language = plain
    if kind == "iri" and text.startswith(BLANK):
        return "blank", f"_:{text[len(BLANK) :]}", "", ""
    return kind, text, "" if language or datatype == _STRING else datatype, language
