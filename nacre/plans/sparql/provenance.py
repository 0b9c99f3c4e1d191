"""Ask for what is behind the rows of a select: Select + Vocabulary -> a CONSTRUCT of triples, as `provenance` gives
them, or the things behind an aggregate."""

from collections.abc import Collection
from dataclasses import replace

from nacre.plans.sparql.pattern import Vocabulary
from nacre.plans.sparql.terms import format_iri
from nacre.plans.sparql.to_sparql import SparqlQuery, SparqlWriter
from nacre.plans.sql.provenance import narrow_select
from nacre.plans.statement import OutputColumn
from nacre.records.plan import Aggregate, Attribute, Select, aggregated_value


def provenance_query(
    select: Select, keys: tuple[str, ...], words: Vocabulary, names: Collection[str], *, things: int
) -> str:
    """A CONSTRUCT of the triples behind so many things of a select's rows, or behind those of `keys`: its links, the
    values that it asks for or sets conditions on, and the class of the answers with their `names`."""
    about = narrow_select(select, keys)
    writer = SparqlWriter(words, about)
    pattern, answer = writer.pattern, aggregated_value(about.answers[0]).variable
    ranking = select.order.by if select.order else None
    for term in (*map(aggregated_value, about.answers), ranking):
        if isinstance(term, Attribute) and term.variable in pattern.names:
            pattern.value(term)
    group, thing = writer.group(), pattern.names[answer]
    said = [f"{pattern.names[e.subject]} {format_iri(e.predicate)} {pattern.names[e.object]} ." for e in about.edges]
    said += [f"{pattern.names[name]} {format_iri(p)} {value.raw} ." for (name, p), value in pattern.values.items()]
    shown = [*pattern.names.values(), *(value.raw for value in pattern.values.values())]
    for class_ in next(v.classes[:1] for v in about.variables if v.name == answer):
        several = len(words.members(class_)) > 1
        said.append(f"{thing} a {f'{thing}_c0' if several else format_iri(class_)} .")
        shown += [f"{thing}_c0"] if several else []
    named = f"OPTIONAL {{ {thing} {thing}_np {thing}_nl FILTER({thing}_np IN ({', '.join(map(format_iri, names))})) }}"
    template = "\n".join(f"  {line}" for line in (*said, f"{thing} {thing}_np {thing}_nl ."))
    inner = f"{{ SELECT DISTINCT {' '.join(shown)} {{\n{group}\n}} LIMIT {things} }}"
    return f"CONSTRUCT {{\n{template}\n}} WHERE {{\n{inner}\n{named}\n}}"


def contributing_query(select: Select, words: Vocabulary, variable: str) -> SparqlQuery:
    """The distinct things of one variable over the same conditions: what an aggregate rests on."""
    writer = SparqlWriter(words, _plain(select))
    name = writer.pattern.names[variable]
    outputs = OutputColumn("iri", "key", variable), OutputColumn(variable, "label", variable)
    return SparqlQuery(f"SELECT DISTINCT {name} {{\n{writer.group()}\n}}", outputs, (name, name))


def contributing_count_query(select: Select, words: Vocabulary, variable: str) -> SparqlQuery:
    """How many things `contributing_query` would give."""
    writer = SparqlWriter(words, _plain(select))
    text = f"SELECT (COUNT(DISTINCT {writer.pattern.names[variable]}) AS ?n) {{\n{writer.group()}\n}}"
    return SparqlQuery(text, (OutputColumn("count", "number", variable),), ("?n",))


def _plain(select: Select) -> Select:
    """The select's conditions on things alone."""
    filters = tuple(f for f in select.filters if not isinstance(f.left, Aggregate))
    return replace(select, answers=(), filters=filters, order=None, group=(), by=(), limit=None)
