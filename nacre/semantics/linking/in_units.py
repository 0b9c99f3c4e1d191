"""Units that are asked for: Question -> Links to what is measured in them: "how many minutes", "how many km"."""

from collections.abc import Iterator

from nacre.semantics.english import resource
from nacre.semantics.language.base import language
from nacre.semantics.linking.graph import SchemaGraph
from nacre.semantics.linking.schema_terms import SYNONYM
from nacre.semantics.types import Link, Question, Ref


def in_units(question: Question, graph: SchemaGraph) -> Iterator[Link]:
    """Properties whose numbers have the unit that stands after "how many"."""
    units, said = resource()["units"], language().words
    for at, word in enumerate(question.tokens[2:], 2):
        how, many = question.tokens[at - 2 : at]
        unit = units.get(word.norm) or units.get(word.lemma)
        if how.norm not in said["degree"] or many.norm not in said["how_much"]:
            continue
        if unit is None or any(n.start <= at < n.end for n in question.numbers):
            continue
        for predicate, holders in graph.holders.items():
            about = graph.about(predicate)
            if unit in (about.unit, units.get(about.unit.casefold())):
                yield from (
                    Link(at, at + 1, "property", (Ref(holder, predicate),), SYNONYM, 1 << at, False, how="like")
                    for holder in holders
                )
