"""Units that are asked for: Question -> Links to what is measured in them: "how many minutes", "how many km"."""

from collections.abc import Iterator

from nacre.language.base import language
from nacre.language.thesaurus import english_data
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.schema.schema_terms import SYNONYM_SCORE
from nacre.understanding.question.types import Link, Question, Ref

# how likely a property is meant whose name the question takes apart
SPLIT_NAME_SCORE = 0.8


def link_split_names(question: Question, graph: SchemaGraph) -> Iterator[Link]:
    """Properties whose name ends in what stands after "how many" and begins with what comes later: the "payment days"
    of "how many days do they have for payment"."""
    said, words = language().words, question.tokens
    for at, word in enumerate(words[2:], 2):
        how, many = words[at - 2 : at]
        if how.norm not in said["degree"] or many.norm not in said["how_much"]:
            continue
        later = {t.lemma: i for i, t in enumerate(words) if i > at and i not in question.stopwords}
        for predicate, holders in graph.holders.items():
            name = graph.words[predicate]
            if name[-1:] != (word.lemma,) or not graph.is_numeric(predicate):
                continue
            there = [later[lemma] for lemma in name[:-1] if lemma in later]
            if there:
                covered = 1 << at | sum(1 << i for i in set(there))
                yield from (
                    Link(at, at + 1, "property", (Ref(h, predicate),), SPLIT_NAME_SCORE, covered, match="partial")
                    for h in holders
                )


def link_requested_units(question: Question, graph: SchemaGraph) -> Iterator[Link]:
    """Properties whose numbers have the unit that stands after "how many"."""
    units, said = english_data()["units"], language().words
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
                    Link(at, at + 1, "property", (Ref(holder, predicate),), SYNONYM_SCORE, 1 << at, False, match="like")
                    for holder in holders
                )
