"""The names of classes and properties as terms with weighed words: Lexicon + SchemaGraph -> [SchemaTerm], no decision."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from typing import NamedTuple

from nacre.language.base import language
from nacre.language.forms.nouns import interchangeable_words, wording_entry
from nacre.language.quantities.units import split_magnitude
from nacre.language.thesaurus import concept_phrases, english_data, function_words, unit_words, vocabulary
from nacre.language.tokens import fold, lemma
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.schema.agent_nouns import agent_nouns
from nacre.understanding.linking.schema.class_synonyms import class_hypernyms
from nacre.understanding.linking.schema.compounds import split_compound
from nacre.understanding.question.types import Link, Ref

# how well a word of a question fits one of a name
SAME_WORD_SCORE, LEMMA_SCORE, SYNONYM_SCORE, STEM_SCORE, SPELLING_SCORE = 1.0, 0.97, 0.72, 0.7, 0.75
# what a word of a name weighs that its class's own name has anyway ("student name"), and one that says little
OWN_CLASS_WEIGHT, GENERIC_WEIGHT, LIGHT_WEIGHT = 0.25, 0.6, 0.1
# how many nouns an expression stands for at most
_CONCEPTS = 4
_LABEL = ("label",)
VALUE_WORDS = ("value",)
# "number of seats": what is counted is what the name says
_NUMBER, _OF = ("number",), ("of",)


class SchemaTerm(NamedTuple):
    """A name: `nodes` are what it names, or of what; of a link the source and then the targets."""

    kind: str
    nodes: tuple[int, ...]
    predicate: str
    words: tuple[str, ...]
    weights: tuple[float, ...]
    sure: float = 1.0


class _Name(NamedTuple):
    kind: str
    nodes: tuple[int, ...]
    predicate: str
    words: tuple[str, ...]
    sure: float = 1.0


def schema_terms(lexicon: Lexicon, graph: SchemaGraph) -> tuple[list[SchemaTerm], frozenset[str]]:
    """The terms, and the words of the graph's own names: the words of other terms are made from these."""
    found: dict[tuple[str, tuple[int, ...], str, tuple[str, ...]], SchemaTerm] = {}

    def add(names: Iterable[_Name]) -> None:
        for kind, nodes, predicate, whole, sure in names:
            words = tuple(w for word in whole for w in split_compound(word))
            own = set(graph.nodes[nodes[0]].words) if kind == "property" and nodes else set[str]()
            key = kind, nodes, predicate, words
            if words and not _numbers(words, own) and (key not in found or found[key].sure < sure):
                found[key] = SchemaTerm(kind, nodes, predicate, words, _weights(words, own), sure)

    add(_names(lexicon, graph))
    said = frozenset(word for term in found.values() for word in term.words)
    add(_Name("class", (target,), "", (word,)) for target, word in agent_nouns(graph) if word not in said)
    called = {term.words for term in found.values() if term.kind == "class"}
    add([_Name("class", (index,), "", (word,), SYNONYM_SCORE) for index, word in class_hypernyms(graph, called)])
    add([name for name in _money(graph) if name.words[0] not in said])
    add([name for name in _phrased(graph) if name.words[0] not in said])
    return list(found.values()), said


def _names(lexicon: Lexicon, graph: SchemaGraph) -> Iterator[_Name]:
    for node in graph.nodes:
        yield _Name("class", (node.index,), "", node.words)
    by_relation = {tuple(sorted(n.relations)): n.index for n in graph.nodes}
    for name in lexicon.described:
        words = tuple(lemma(t) for t in name.tokens)
        if name.kind == "class" and name.target in graph.node_of:
            yield _Name("class", (graph.node_of[name.target],), "", words, name.weight)
        elif name.kind == "group" and (name.target,) in by_relation:
            yield _Name("class", (by_relation[(name.target,)],), "", words)
        elif name.kind == "predicate" and name.target in graph.schema.predicate_of:
            yield from _of_predicate(name.target, words, graph)


def _money(graph: SchemaGraph) -> Iterator[_Name]:
    """Amounts in a currency by what all of them are: "money"."""
    currencies = english_data()["currencies"]
    for predicate, holders in graph.holders.items():
        if fold(split_magnitude(graph.about(predicate).unit)[1]) in currencies:
            for word in sorted(language().words["money"]):
                yield from (_Name("property", (holder,), predicate, (word,), SYNONYM_SCORE) for holder in holders)


def _phrased(graph: SchemaGraph) -> Iterator[_Name]:
    """Properties whose name is an everyday expression by the nouns that say the same: the "material" of "made of", the
    "supervisor" of "reports to"."""
    for predicate, words in graph.words.items():
        for concept in concept_phrases().get(words, ())[:_CONCEPTS]:
            yield from (name._replace(sure=SYNONYM_SCORE) for name in _of_predicate(predicate, (concept,), graph))


def _of_predicate(predicate: str, words: tuple[str, ...], graph: SchemaGraph) -> Iterator[_Name]:
    about = graph.about(predicate)
    if about.role in ("type", "schema") or (about.role == "name" and words[-1:] == _LABEL):
        return
    for holder in graph.holders.get(predicate, []) if about.has_literals else []:
        yield _Name("property", (holder,), predicate, words)
        yield from (_Name("property", (holder,), predicate, (word,)) for word in interchangeable_words(words))
        if words[-1:] == VALUE_WORDS and len(words) > 1 and graph.is_numeric(predicate):
            # the rating is the "rating value"
            yield _Name("property", (holder,), predicate, words[:-1])
    ends: dict[int, set[int]] = defaultdict(set)
    for source, target in graph.ends.get(predicate, []) if about.has_links else []:
        ends[source].add(target)
    for source in graph.whole(ends):
        mixed = graph.mixed.get((source, predicate))
        targets = graph.widest(ends[source]) if mixed is None else (mixed,)
        yield _Name("link", (source, *targets), predicate, words)


def _numbers(words: tuple[str, ...], own: Collection[str]) -> bool:
    """Whether a name abbreviates its class's own, to say what tells its things apart: "rent no" is no rent."""
    keys = function_words() | language().words["generic"] | frozenset(wording_entry("keys"))
    return bool(own and words) and _abbreviates(words[0], own) and keys.issuperset(words[1:])


def _weights(words: tuple[str, ...], own: Collection[str]) -> tuple[float, ...]:
    """What each word of a name says; `own` are those of its class's own name."""
    little, generic = _little(), language().words["generic"]
    counting = {words[0]} if words[:1] == _NUMBER and words[1:2] == _OF else set[str]()
    tells = any(word not in little and word not in own for word in words)
    further = any(word not in own for word in words)
    return tuple(
        LIGHT_WEIGHT
        if tells and (word in little or word in counting)
        else OWN_CLASS_WEIGHT
        if further and word in own
        else GENERIC_WEIGHT
        if word in generic and len(words) > 1
        else 1.0
        for word in words
    )


@cache
def _little() -> frozenset[str]:
    """Words that say little of what a name names."""
    # a unit in a name says how something is measured, not what
    measuring = unit_words() - vocabulary()
    # "the total amount of all orders" may be computed
    return function_words() | measuring | frozenset(wording_entry("computed")["total"].split())


def _abbreviates(word: str, others: Collection[str]) -> bool:
    """Whether a word is the beginning of one of the others."""
    return len(word) > 1 and any(other != word and other.startswith(word) for other in others)


def term_link(start: int, end: int, term: SchemaTerm, score: float, covered: int, exact: bool, how: str) -> Link:
    """What a stretch of tokens that names a term stands for."""
    if term.kind == "class":
        return Link(start, end, "class", (Ref(term.nodes[0]),), score, covered, exact, match=how)
    if term.kind == "property":
        return Link(start, end, "property", (Ref(term.nodes[0], term.predicate),), score, covered, exact, match=how)
    source, *targets = term.nodes
    refs = tuple(Ref(t, "", 0, term.predicate) for t in targets)
    return Link(start, end, "property", (*refs, Ref(source)), score, covered, exact, match="link " + how)
