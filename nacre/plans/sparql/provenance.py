"""Query the triples behind the rows of a select, or the things behind an aggregate: Select + Vocabulary -> SPARQL."""

from collections.abc import Collection
from dataclasses import replace

from nacre.plans.sparql.derived import class_pattern, derived_patterns
from nacre.plans.sparql.query import SparqlQuery
from nacre.plans.sparql.terms import format_iri
from nacre.plans.sparql.to_sparql import SparqlWriter
from nacre.plans.sparql.vocabulary import Vocabulary
from nacre.plans.sql.provenance import narrow_select
from nacre.plans.sql.to_sql import each_kind
from nacre.plans.statement import OutputColumn
from nacre.records.plan import Aggregate, Attribute, Select, aggregated_value


def provenance_query(
    select: Select, keys: tuple[str, ...], vocabulary: Vocabulary, names: Collection[str], *, things: int
) -> str:
    """A CONSTRUCT of the triples behind the rows of at most so many things, or behind the rows of `keys`.

    The triples are links, values that the select shows or compares, the class of the answers, and their `names`
    (predicates).
    """
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
    shown = list(dict.fromkeys(shown))
    template = "\n".join(f"  {line}" for line in triples)
    inner = f"{{ SELECT DISTINCT {' '.join(shown)} {{\n{group}\n}} LIMIT {things} }}"
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
