"""Link units that are asked for: Question -> Links to properties: "how many minutes", "how many km"."""

from collections.abc import Iterator

from nacre.language.base import language
from nacre.language.thesaurus import english_data
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.schema.schema_terms import SYNONYM_SCORE
from nacre.understanding.question.types import Link, Question, Ref

# The score of a property whose name the question splits.
SPLIT_NAME_SCORE = 0.8


def link_split_names(question: Question, graph: SchemaGraph) -> Iterator[Link]:
    """Properties whose name ends with the word after "how many" and begins with later words: the "payment days" of
    "how many days do they have for payment"."""
    words = question.tokens
    for at in _requested_nouns(question):
        later = {t.lemma: i for i, t in enumerate(words) if i > at and i not in question.stopwords}
        for predicate, holders in graph.holders.items():
            name = graph.words[predicate]
            if name[-1:] != (words[at].lemma,) or not graph.is_numeric(predicate):
                continue
            places = {later[lemma] for lemma in name[:-1] if lemma in later}
            if places:
                covered = 1 << at | sum(1 << i for i in places)
                for node in holders:
                    ref = Ref(node, predicate)
                    yield Link(at, at + 1, "property", (ref,), SPLIT_NAME_SCORE, covered, match="partial")


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
