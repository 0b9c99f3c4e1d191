"""Ask for what is behind the rows of a select: Select + Vocabulary -> a CONSTRUCT of triples, as `provenance` gives
them, or the things behind an aggregate."""

from collections.abc import Collection
from dataclasses import replace

from nacre.plans.sparql.pattern import Vocabulary
from nacre.plans.sparql.terms import iri
from nacre.plans.sparql.to_sparql import Sparql, Writer
from nacre.plans.sql.provenance import narrowed
from nacre.plans.statement import Output
from nacre.records.plan import Aggregate, Attribute, Select, value_of


def behind(select: Select, keys: tuple[str, ...], words: Vocabulary, names: Collection[str], *, things: int) -> str:
    """A CONSTRUCT of the triples behind so many things of a select's rows, or behind those of `keys`: its links, the
    values that it asks for or sets conditions on, and the class of the answers with their `names`."""
    about = narrowed(select, keys)
    writer = Writer(words, about)
    pattern, answer = writer.pattern, value_of(about.answers[0]).variable
    ranking = select.order.by if select.order else None
    for term in (*map(value_of, about.answers), ranking):
        if isinstance(term, Attribute) and term.variable in pattern.names:
            pattern.value(term)
    group, thing = writer.group(), pattern.names[answer]
    said = [f"{pattern.names[e.subject]} {iri(e.predicate)} {pattern.names[e.object]} ." for e in about.edges]
    said += [f"{pattern.names[name]} {iri(p)} {value.raw} ." for (name, p), value in pattern.values.items()]
    shown = [*pattern.names.values(), *(value.raw for value in pattern.values.values())]
    for class_ in next(v.classes[:1] for v in about.variables if v.name == answer):
        several = len(words.members(class_)) > 1
        said.append(f"{thing} a {f'{thing}_c0' if several else iri(class_)} .")
        shown += [f"{thing}_c0"] if several else []
    named = f"OPTIONAL {{ {thing} {thing}_np {thing}_nl FILTER({thing}_np IN ({', '.join(map(iri, names))})) }}"
    template = "\n".join(f"  {line}" for line in (*said, f"{thing} {thing}_np {thing}_nl ."))
    inner = f"{{ SELECT DISTINCT {' '.join(shown)} {{\n{group}\n}} LIMIT {things} }}"
    return f"CONSTRUCT {{\n{template}\n}} WHERE {{\n{inner}\n{named}\n}}"


def contributing(select: Select, words: Vocabulary, variable: str) -> Sparql:
    """The distinct things of one variable over the same conditions: what an aggregate rests on."""
    writer = Writer(words, _plain(select))
    name = writer.pattern.names[variable]
    outputs = Output("iri", "key", variable), Output(variable, "label", variable)
    return Sparql(f"SELECT DISTINCT {name} {{\n{writer.group()}\n}}", outputs, (name, name))


def number_contributing(select: Select, words: Vocabulary, variable: str) -> Sparql:
    """How many things `contributing` would give."""
    writer = Writer(words, _plain(select))
    text = f"SELECT (COUNT(DISTINCT {writer.pattern.names[variable]}) AS ?n) {{\n{writer.group()}\n}}"
    return Sparql(text, (Output("count", "number", variable),), ("?n",))


def _plain(select: Select) -> Select:
    """The select's conditions on things alone."""
    filters = tuple(f for f in select.filters if not isinstance(f.left, Aggregate))
    return replace(select, answers=(), filters=filters, order=None, group=(), by=(), limit=None)
