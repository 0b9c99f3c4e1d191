"""Link units that are asked for: Question -> Links to properties: "how many minutes", "how many km"."""

from collections.abc import Iterator

from nacre.language.base import language
from nacre.language.thesaurus import english_data
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.schema.schema_terms import SYNONYM_SCORE
from nacre.understanding.question.types import Link, Question, Ref


def link_requested_units(question: Question, graph: SchemaGraph) -> Iterator[Link]:
    """Properties whose numbers have the unit after "how many"."""
    units = english_data()["units"]
    for at in _requested_nouns(question):
        word = question.tokens[at]
        unit = units.get(word.norm) or units.get(word.lemma)
        if unit is None or any(n.start <= at < n.end for n in question.numbers):
            continue
        for predicate, holders in graph.holders.items():
            about = graph.about(predicate)
            if unit in (about.unit, units.get(about.unit.casefold())):
                for node in holders:
                    ref = Ref(node, predicate)
                    yield Link(at, at + 1, "property", (ref,), SYNONYM_SCORE, 1 << at, False, match="like")


def _requested_nouns(question: Question) -> Iterator[int]:
    """The places of words after "how many"."""
    known, words = language().words, question.tokens
    for at in range(2, len(words)):
        if words[at - 2].norm in known["degree"] and words[at - 1].norm in known["how_much"]:
            yield at
