"""Run plans where SPARQL is answered: SparqlSource + Vocabulary -> Engine."""

from collections.abc import Callable, Collection, Mapping, Sequence

from nacre.plans.run import Describe, Engine, describe_nothing
from nacre.plans.sparql.provenance import contributing_count_query, contributing_query, kinds_query
from nacre.plans.sparql.query import SparqlQuery
from nacre.plans.sparql.terms import cell_value
from nacre.plans.sparql.to_sparql import to_sparql
from nacre.plans.sparql.vocabulary import Vocabulary
from nacre.plans.statement import Statement
from nacre.records.evidence import Cell
from nacre.stores.sparql.sparql_source import Solutions, SparqlSource
from nacre.stores.sqlite.tables import SqlResult, Tables

QUERY_SECONDS, ALTERNATIVE_SECONDS = 5.0, 0.5
# IRIs -> their labels; a missing one is shown by the last segment of its IRI
LabelLookup = Callable[[Collection[str]], Mapping[str, str]]


def sparql_engine(
    source: SparqlSource,
    vocabulary: Vocabulary,
    labels: LabelLookup,
    *,
    describe: Describe = describe_nothing,
    tables: Tables | None = None,
    seconds: float = QUERY_SECONDS,
    alternative_seconds: float = ALTERNATIVE_SECONDS,
) -> Engine:
    """Plans as SPARQL, each query within `seconds`; a query of an alternative reading within `alternative_seconds`.

    Labels are looked up only for the things in the rows. Rows without an order are sorted by what they show.
    """

    def fetch(query: Statement | SparqlQuery, limit: int, is_alternative: bool) -> SqlResult:
        assert isinstance(query, SparqlQuery)
        budget = alternative_seconds if is_alternative else seconds
        found = source.select(query.text, limit=limit, seconds=budget)
        rows = _labelled_rows(query, found, labels)
        if not query.ordered:
            shown = [i for i, output in enumerate(query.outputs) if output.role != "key"]
            rows = sorted(rows, key=lambda row: [_sort_key(row[i]) for i in shown], reverse=query.last_first)
        return SqlResult(query.names, rows, found.truncated)

    return Engine(
        "sparql",
        vocabulary.schema,
        lambda body: to_sparql(body, vocabulary),
        lambda select, variable: contributing_query(select, vocabulary, variable),
        lambda select, variable: contributing_count_query(select, vocabulary, variable),
        lambda select, variable: kinds_query(select, vocabulary, variable),
        fetch,
        tables,
        describe,
        is_remote=tables is None,
    )


def last_segment(iri: str) -> str:
    """The last part of an IRI, which stands for a missing label.

    >>> last_segment("http://example.org/Deep_Purple")
    'Deep_Purple'
    """
    return iri.rstrip("/#").replace("#", "/").rpartition("/")[2] or iri


def _labelled_rows(query: SparqlQuery, found: Solutions, labels: LabelLookup) -> list[tuple[Cell, ...]]:
    """The solutions as rows of the query's outputs: labels for things, numbers for values, texts as written."""
    positions = [found.variables.index(name.lstrip("?")) for name in query.names]
    columns = list(zip(positions, (output.role for output in query.outputs), strict=True))
    things = {str(cell_value(row[i])) for row in found.rows for i, role in columns if role == "label"}
    label_of = labels(things) if things else {}

    def shown(cells: Sequence[Cell], texts: Sequence[str | None], position: int, role: str) -> Cell:
        if role == "label" and cells[position] is not None:
            return label_of.get(str(cells[position])) or last_segment(str(cells[position]))
        return texts[position] if role == "text" else cells[position]

    rows = []
    for solution in found.rows:
        cells = [cell_value(term) for term in solution]
        texts = [term.value if term is not None else None for term in solution]
        rows.append(tuple(shown(cells, texts, position, role) for position, role in columns))
    return rows


def _sort_key(value: Cell) -> tuple[int, float, str]:
    """The order of SQLite: missing values, then numbers, then texts."""
    if value is None:
        return 0, 0.0, ""
    return (1, float(value), "") if isinstance(value, int | float) else (2, 0.0, value)
