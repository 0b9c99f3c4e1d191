"""Run plans where SPARQL is answered: SparqlSource + Vocabulary -> Engine."""

from collections.abc import Callable, Collection, Mapping

from nacre.plans.run import Describe, Engine, describe_nothing
from nacre.plans.sparql.pattern import Vocabulary
from nacre.plans.sparql.provenance import contributing_count_query, contributing_query
from nacre.plans.sparql.terms import cell_value
from nacre.plans.sparql.to_sparql import SparqlQuery, to_sparql
from nacre.plans.statement import Statement
from nacre.records.evidence import Cell
from nacre.stores.sparql.sparql_source import Solutions, SparqlSource
from nacre.stores.sqlite.tables import SqlResult, Tables

QUERY_SECONDS, ALTERNATIVE_SECONDS = 5.0, 0.5
# IRIs -> how they are shown; what is missing is shown by its last segment
LabelLookup = Callable[[Collection[str]], Mapping[str, str]]


def sparql_engine(
    source: SparqlSource,
    words: Vocabulary,
    labels: LabelLookup,
    *,
    describe: Describe = describe_nothing,
    tables: Tables | None = None,
    seconds: float = QUERY_SECONDS,
    seconds_beside: float = ALTERNATIVE_SECONDS,
) -> Engine:
    """Plans as SPARQL, each query within `seconds`, of a reading that stands beside the likeliest `seconds_beside`.

    Things are shown by their labels, which are looked up for those in the rows alone; rows without an order come
    sorted by what they show.
    """

    def fetch(query: Statement | SparqlQuery, limit: int, beside: bool) -> SqlResult:
        assert isinstance(query, SparqlQuery)
        found = source.select(query.text, limit=limit, seconds=seconds_beside if beside else seconds)
        rows = _rows(query, found, labels)
        if not query.ordered:
            shown = [i for i, output in enumerate(query.outputs) if output.role != "key"]
            rows.sort(key=lambda row: [_place(row[i]) for i in shown], reverse=query.last_first)
        return SqlResult(query.names, rows, found.truncated)

    return Engine(
        "sparql",
        words.schema,
        lambda body: to_sparql(body, words),
        lambda select, variable: contributing_query(select, words, variable),
        lambda select, variable: contributing_count_query(select, words, variable),
        fetch,
        tables,
        describe,
        away=tables is None,
    )


def last_segment(iri: str) -> str:
    """How a thing without a label is shown.

    >>> last_segment("http://example.org/Deep_Purple")
    'Deep_Purple'
    """
    return iri.rstrip("/#").replace("#", "/").rpartition("/")[2] or iri


def _rows(query: SparqlQuery, found: Solutions, labels: LabelLookup) -> list[tuple[Cell, ...]]:
    place = [found.variables.index(name.lstrip("?")) for name in query.names]
    roles = [output.role for output in query.outputs]
    things = {
        str(cell_value(row[i])) for row in found.rows for i, role in zip(place, roles, strict=True) if role == "label"
    }
    named = labels(things) if things else {}

    def shown(row: tuple[Cell, ...], raw: tuple[str | None, ...], at: int, role: str) -> Cell:
        if role == "label" and row[at] is not None:
            return named.get(str(row[at])) or last_segment(str(row[at]))
        return raw[at] if role == "text" else row[at]

    rows = []
    for solution in found.rows:
        cells = tuple(cell_value(term) for term in solution)
        raw = tuple(term.value if term is not None else None for term in solution)
        rows.append(tuple(shown(cells, raw, at, role) for at, role in zip(place, roles, strict=True)))
    return rows


def _place(value: Cell) -> tuple[int, float, str]:
    """Nothing before numbers before texts, as SQLite sorts."""
    if value is None:
        return 0, 0.0, ""
    return (1, float(value), "") if isinstance(value, int | float) else (2, 0.0, value)
