"""Run plans where SPARQL is answered: SparqlSource + Vocabulary -> Engine."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from nacre.errors import ToolError
from nacre.plans.run import Describe, Engine
from nacre.plans.sparql_vocabulary import (
    SparqlQuery,
    Vocabulary,
    cell_value,
    class_pattern,
    derived_patterns,
    distinct_names,
    format_iri,
)
from nacre.plans.sql_joins import OutputColumn, Statement, first_value_index
from nacre.plans.to_sparql import SparqlWriter, to_sparql
from nacre.plans.to_sql import each_kind, narrow_select
from nacre.records.evidence import Cell
from nacre.records.plan import ELAPSED, Aggregate, Ask, Attribute, Combine, Compute, Plan, Select, aggregated_value
from nacre.stores.sparql_source import Solutions, SparqlSource
from nacre.stores.sqlite.tables import SqlResult, Tables

QUERY_SECONDS, ALTERNATIVE_SECONDS = 5.0, 0.5

# IRIs -> their labels; a missing one is shown by the last segment of its IRI
LabelLookup = Callable[[Collection[str]], Mapping[str, str]]


def sparql_engine(
    source: SparqlSource,
    vocabulary: Vocabulary,
    labels: LabelLookup,
    *,
    describe: Describe = lambda profile, round: (),
    tables: Tables | None = None,
    seconds: float = QUERY_SECONDS,
    alternative_seconds: float = ALTERNATIVE_SECONDS,
) -> Engine:
    """Plans as SPARQL, each query within `seconds`; a query of an alternative reading within `alternative_seconds`.
    Labels are looked up only for the things in the rows. Rows without an order are sorted by what they show."""

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
    """The last part of an IRI, which stands for a missing label."""
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


def standalone_query(plan: Plan, vocabulary: Vocabulary) -> str:
    """One query that gives the answer; ToolError `refused` for prose and for the time between dates."""
    body = plan.body
    if isinstance(body, Select | Combine):
        # without the IRIs of labels and without raw texts
        query = to_sparql(body, vocabulary)
        kept = [name for name, out in zip(query.names, query.outputs, strict=True) if out.role not in ("key", "text")]
        return query.text.replace(distinct_names(query.names), distinct_names(kept), 1)
    if isinstance(body, Ask):
        return f"ASK {{\n{to_sparql(body.select, vocabulary).text}\n}}"
    if isinstance(body, Compute) and body.op in ELAPSED:
        raise ToolError("refused", "The time between two dates is computed from two queries.")
    if isinstance(body, Compute):
        left = SparqlWriter(vocabulary, body.left, "l").query()
        right = SparqlWriter(vocabulary, body.right, "r").query()
        one, other = (side.names[first_value_index(side.outputs)] for side in (left, right))
        computed = f"100.0 * {one} / {other}" if body.op == "%" else f"{one} {body.op} {other}"
        return f"SELECT (({computed}) AS ?result) {{\n{{ {left.text} LIMIT 1 }}\n{{ {right.text} LIMIT 1 }}\n}}"
    raise ToolError("refused", "A description in words is no single query.")


def provenance_query(
    select: Select, keys: tuple[str, ...], vocabulary: Vocabulary, names: Collection[str], *, things: int
) -> str:
    """A CONSTRUCT of the triples behind the rows of at most so many things, or behind the rows of `keys`. The triples
    are links, values that the select shows or compares, the class of the answers, and their `names` (predicates)."""
    narrowed = narrow_select(select, keys)
    writer = SparqlWriter(vocabulary, narrowed, is_traced=True)
    pattern, answer = writer.pattern, aggregated_value(narrowed.answers[0]).variable
    ranking = select.order.by if select.order else None
    for term in (*map(aggregated_value, narrowed.answers), ranking):
        if isinstance(term, Attribute) and term.variable in pattern.names:
            # names the value, so that the group binds it
            pattern.value(term)
    group, thing = writer.group(), pattern.names[answer]
    variables = pattern.names
    asked, schema = next(v for v in narrowed.variables if v.name == answer), vocabulary.schema
    triples = [
        f"{variables[e.subject]} {format_iri(e.predicate)} {variables[e.object]} ."
        for e in narrowed.edges
        if not derived_patterns(schema, e.predicate)
    ]
    triples += [
        f"{variables[name]} {format_iri(p)} {value.raw} ."
        for (name, p), value in pattern.values.items()
        if not derived_patterns(schema, p)
    ]
    shown = [*pattern.names.values(), *(value.raw for value in pattern.values.values())]
    for class_ in asked.classes[:1]:
        if class_pattern(schema, class_):
            continue
        has_subclasses = len(vocabulary.members(class_)) > 1
        triples.append(f"{thing} a {f'{thing}_c0' if has_subclasses else format_iri(class_)} .")
        shown += [f"{thing}_c0"] if has_subclasses else []
    around = [f"{thing} {thing}_np {thing}_nl FILTER({thing}_np IN ({', '.join(map(format_iri, names))}))"]
    triples.append(f"{thing} {thing}_np {thing}_nl .")
    for number, (subject, found) in enumerate(pattern.traced):
        triples += found.triples
        shown += found.variables
        if found.iris:
            own, triple = f"{subject}_t{number}", f"{subject} {subject}_t{number}p {subject}_t{number}o"
            around.append(f"{triple} FILTER({own}p IN ({', '.join(map(format_iri, found.iris))}))")
            triples.append(f"{triple} .")
    if asked.any_of or any(class_pattern(schema, c) for c in asked.classes):
        around.append(f"{thing} a {thing}_ty")
        triples.append(f"{thing} a {thing}_ty .")
    more = around[0] if len(around) == 1 else " UNION ".join(f"{{ {each} }}" for each in around)
    named = f"OPTIONAL {{ {more} }}"
    template = "\n".join(f"  {line}" for line in triples)
    inner = f"{{ SELECT DISTINCT {distinct_names(shown)} {{\n{group}\n}} LIMIT {things} }}"
    return f"CONSTRUCT {{\n{template}\n}} WHERE {{\n{inner}\n{named}\n}}"


def contributing_query(select: Select, vocabulary: Vocabulary, variable: str) -> SparqlQuery:
    """The distinct things of one variable that meet the conditions: the things behind an aggregate."""
    writer = SparqlWriter(vocabulary, _conditions_only(select))
    name = writer.pattern.names[variable]
    outputs = OutputColumn("iri", "key", variable), OutputColumn(variable, "label", variable)
    return SparqlQuery(f"SELECT DISTINCT {name} {{\n{writer.group()}\n}}", outputs, (name, name))


def contributing_count_query(select: Select, vocabulary: Vocabulary, variable: str) -> SparqlQuery:
    """The number of things that `contributing_query` gives."""
    writer = SparqlWriter(vocabulary, _conditions_only(select))
    text = f"SELECT (COUNT(DISTINCT {writer.pattern.names[variable]}) AS ?n) {{\n{writer.group()}\n}}"
    return SparqlQuery(text, (OutputColumn("count", "number", variable),), ("?n",))


def kinds_query(select: Select, vocabulary: Vocabulary, variable: str) -> SparqlQuery:
    """The number of things of one variable that meet the conditions, for each of the classes that it may be of."""
    parts = []
    for iri, each in each_kind(select, variable):
        writer = SparqlWriter(vocabulary, _conditions_only(each))
        counted = f"(COUNT(DISTINCT {writer.pattern.names[variable]}) AS ?n)"
        parts.append(f"{{ SELECT (STR({format_iri(iri)}) AS ?kind) {counted} {{\n{writer.group()}\n}} }}")
    text = f"SELECT ?kind ?n {{\n{' UNION '.join(parts)}\n}}"
    outputs = OutputColumn("kind", "value", variable), OutputColumn("count", "number", variable)
    return SparqlQuery(text, outputs, ("?kind", "?n"))


def _conditions_only(select: Select) -> Select:
    """The select's conditions on things, without answers, order and groups."""
    filters = tuple(each for each in select.filters if not isinstance(each.left, Aggregate))
    return replace(select, answers=(), filters=filters, order=None, group=(), by=(), limit=None)
