"""The names of classes and properties as terms with weighted words: Lexicon + SchemaGraph -> SchemaTerms."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from typing import NamedTuple

import simplemma

from nacre.language.base import language, phrase_list, word_list, word_map
from nacre.language.forms.nouns import interchangeable_words
from nacre.language.quantities.units import split_magnitude
from nacre.language.split_labels import split_compound
from nacre.language.thesaurus import (
    concept_phrases,
    converse_roles,
    english_data,
    function_words,
    is_person,
    unit_words,
    vocabulary,
)
from nacre.language.tokens import fold, lemma, split_name
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.schema.class_synonyms import class_hypernyms
from nacre.understanding.question.types import Link, Ref

# How well a word of a question fits a word of a name: the word itself, another form, a synonym, a stem, a misspelling.
SAME_WORD_SCORE, LEMMA_SCORE, SYNONYM_SCORE, STEM_SCORE, SPELLING_SCORE = 1.0, 0.97, 0.72, 0.7, 0.75
# Weights of words that say less: those of the class's own name ("student name"), generic ones, function words.
OWN_CLASS_WEIGHT, GENERIC_WEIGHT, LIGHT_WEIGHT = 0.25, 0.6, 0.1
# The weight of a preposition that tells two names apart.
PREPOSITION_WEIGHT = 0.5
# Nouns that one expression stands for, at most.
MAX_PHRASE_CONCEPTS = 4


class SchemaTerm(NamedTuple):
    """One name of a class, property or link, with a weight for each word.

    `nodes` are the class, the class that has the property, or the source and the targets of the link. `score` is below
    1 for names that are not the graph's own.
    """

    kind: str
    nodes: tuple[int, ...]
    predicate: str
    words: tuple[str, ...]
    weights: tuple[float, ...]
    score: float = 1.0


class _Name(NamedTuple):
    kind: str
    nodes: tuple[int, ...]
    predicate: str
    words: tuple[str, ...]
    score: float = 1.0


_Terms = Mapping[tuple[str, tuple[int, ...], str, tuple[str, ...]], SchemaTerm]


def schema_terms(lexicon: Lexicon, graph: SchemaGraph) -> tuple[list[SchemaTerm], frozenset[str]]:
    """The terms of the graph's names and of names derived from these, and the words of the graph's names."""
    terms = _add_names({}, _own_names(lexicon, graph), graph)
    name_words = frozenset(word for term in terms.values() for word in term.words)
    agents = [_Name("class", (node,), "", (word,)) for node, word in agent_nouns(graph) if word not in name_words]
    terms = _add_names(terms, agents, graph)
    class_names = {term.words for term in terms.values() if term.kind == "class"}
    hypernyms = [_Name("class", (i,), "", (word,), SYNONYM_SCORE) for i, word in class_hypernyms(graph, class_names)]
    terms = _add_names(terms, hypernyms, graph)
    for names in (_money_names(graph), _expression_names(graph), _converse_names(graph)):
        terms = _add_names(terms, (name for name in names if name.words[0] not in name_words), graph)
    return _weigh_prepositions(terms.values(), graph), name_words


def term_link(start: int, end: int, term: SchemaTerm, score: float, covered: int, exact: bool, how: str) -> Link:
    """The link of a span to what a term names."""
    if term.kind == "class":
        return Link(start, end, "class", (Ref(term.nodes[0]),), score, covered, exact, match=how)
    if term.kind == "property":
        return Link(start, end, "property", (Ref(term.nodes[0], term.predicate),), score, covered, exact, match=how)
    source, *targets = term.nodes
    refs = tuple(Ref(t, "", 0, term.predicate) for t in targets)
    return Link(start, end, "property", (*refs, Ref(source)), score, covered, exact, match="link " + how)


def _lemmas_of_parts(word: str, labels: frozenset[str]) -> tuple[str, ...]:
    """The lemmas of the words of a compound; another word as it is."""
    parts = split_compound(word, labels)
    return tuple(map(lemma, parts)) if len(parts) > 1 else parts


def _add_names(terms: _Terms, names: Iterable[_Name], graph: SchemaGraph) -> _Terms:
    """The terms with those of further names. Of two equal ones, the one with the higher score counts."""
    found = dict(terms)
    for kind, nodes, predicate, name_words, score in names:
        words = tuple(w for word in name_words for w in _lemmas_of_parts(word, graph.schema.labels))
        own = set(graph.nodes[nodes[0]].words) if kind == "property" and nodes else set[str]()
        key = kind, nodes, predicate, words
        if words and not _is_class_identifier(words, own) and (key not in found or found[key].score < score):
            found[key] = SchemaTerm(kind, nodes, predicate, words, _weights(words, own), score)
    return found


def _own_names(lexicon: Lexicon, graph: SchemaGraph) -> Iterator[_Name]:
    """The labels and further names that the graph gives classes, groups and predicates."""
    for node in graph.nodes:
        yield _Name("class", (node.index,), "", () if node.any_of else node.words)
    for word, unions in graph.unions.words.items():
        score = SYNONYM_SCORE if word in graph.unions.hypernyms else SAME_WORD_SCORE
        yield from (_Name("class", (union,), "", (word,), score) for union in unions)
    by_relation = {tuple(sorted(n.relations)): n.index for n in graph.nodes}
    for name in lexicon.schema_entries:
        words = tuple(lemma(t) for t in name.tokens)
        if name.kind == "class" and name.target in graph.node_of_class:
            yield _Name("class", (graph.node_of_class[name.target],), "", words, name.weight)
        elif name.kind == "group" and (name.target,) in by_relation:
            yield _Name("class", (by_relation[(name.target,)],), "", words)
        elif name.kind == "predicate" and name.target in graph.schema.predicate_of:
            if words in graph.phrases[name.target] and function_words().issuperset(words):
                # "in" and "from the" tell nothing about what is asked.
                continue
            yield from _predicate_names(name.target, words, graph)
            if words and (whole := word_map("wording", "completed").get(words[-1])):
                # a "phone" is a phone number
                yield from _predicate_names(name.target, (*words[:-1], *map(lemma, whole.split())), graph)


def _money_names(graph: SchemaGraph) -> Iterator[_Name]:
    """Amounts in a currency as "money"."""
    currencies = english_data()["currencies"]
    for predicate, holders in graph.holders.items():
        if fold(split_magnitude(graph.about(predicate).unit)[1]) in currencies:
            for word in sorted(language().words["money"]):
                yield from (_Name("property", (holder,), predicate, (word,), SYNONYM_SCORE) for holder in holders)


def _expression_names(graph: SchemaGraph) -> Iterator[_Name]:
    """Properties that are called by an everyday expression, by its nouns: "made of" as "material", "reports to" as
    "supervisor"."""
    for predicate, words in graph.words.items():
        for concept in concept_phrases().get(words, ())[:MAX_PHRASE_CONCEPTS]:
            yield from (name._replace(score=SYNONYM_SCORE) for name in _predicate_names(predicate, (concept,), graph))


def _converse_names(graph: SchemaGraph) -> Iterator[_Name]:
    """Links between things, by the words for the other role: "learns from" for "taught"."""
    roles = converse_roles()
    for predicate, words in graph.words.items():
        role = roles.get(words) or roles.get(words[:-1])
        if role is None:
            continue
        for other in sorted(phrase for phrase, found in roles.items() if found == (role[0], 1 - role[1])):
            names = (each for each in _predicate_names(predicate, other, graph) if each.kind == "link")
            yield from (name._replace(score=SYNONYM_SCORE) for name in names)


def _predicate_names(predicate: str, words: tuple[str, ...], graph: SchemaGraph) -> Iterator[_Name]:
    """A name of a predicate for each node that has it as a property, and for each source of its links."""
    about = graph.about(predicate)
    is_label = about.role == "name" and words[-1:] == phrase_list("linking", "label_word")
    if about.role in ("type", "schema") or is_label:
        return
    for holder in graph.holders.get(predicate, ()) if about.has_literals else ():
        yield _Name("property", (holder,), predicate, words)
        yield from (_Name("property", (holder,), predicate, (word,)) for word in interchangeable_words(words))
        if words[-1:] == phrase_list("linking", "value_word") and len(words) > 1 and graph.is_numeric(predicate):
            # The "rating value" is also the rating.
            yield _Name("property", (holder,), predicate, words[:-1])
    ends: dict[int, set[int]] = defaultdict(set)
    for source, target in graph.ends.get(predicate, ()) if about.has_links else ():
        if not (graph.nodes[source].any_of or graph.nodes[target].any_of):
            ends[source].add(target)
    for source in graph.drop_contained_classes(ends):
        mixed = graph.mixed_target.get((source, predicate))
        targets = graph.drop_subclasses(ends[source]) if mixed is None else (mixed,)
        yield _Name("link", (source, *targets), predicate, words)
        others = graph.drop_contained_classes(ends[source] - {mixed})
        if mixed is not None and source in ends[source] and len(others) > 1:
            # "what contains the gear train", which contains things of other classes as well
            yield _Name("link", (source, source), predicate, words)


def _is_class_identifier(words: tuple[str, ...], own: Collection[str]) -> bool:
    """Whether a name abbreviates its class's name and adds a word for an identifier: "rent no" is not a rent."""
    keys = function_words() | language().words["generic"] | frozenset(word_list("wording", "keys"))
    return bool(own and words) and _abbreviates(words[0], own) and keys.issuperset(words[1:])


def _weigh_prepositions(terms: Collection[SchemaTerm], graph: SchemaGraph) -> list[SchemaTerm]:
    """The terms, with more weight for prepositions that tell phrases apart: "made in" and "made by"."""
    light, articles = function_words(), language().words["article"]
    predicates: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for term in terms:
        if term.predicate and term.score == SAME_WORD_SCORE:
            predicates[tuple(w for w in term.words if w not in light)].add(term.predicate)

    def weigh(term: SchemaTerm) -> SchemaTerm:
        content = tuple(w for w in term.words if w not in light) if term.predicate else ()
        if not content or len(predicates[content]) < 2 or term.words not in graph.phrases[term.predicate]:
            return term
        is_light = (w in light and w not in articles for w in term.words)
        weights = (PREPOSITION_WEIGHT if add else w for w, add in zip(term.weights, is_light, strict=True))
        return term._replace(weights=tuple(weights))

    return [weigh(term) for term in terms]


def _abbreviates(word: str, others: Collection[str]) -> bool:
    """Whether a word is the beginning of one of the others."""
    return len(word) > 1 and any(other != word and other.startswith(word) for other in others)


def _weights(words: tuple[str, ...], own: Collection[str]) -> tuple[float, ...]:
    """How much each word of a name says. `own` are the words of its class's name."""
    light, generic = _light_words(), language().words["generic"]
    # In "number of seats" the seats are what is counted.
    is_count = words[:2] == phrase_list("linking", "number_of")
    has_content = any(word not in light and word not in own for word in words)
    has_other = any(word not in own for word in words)

    def weight(word: str) -> float:
        if has_content and (word in light or (is_count and word == words[0])):
            return LIGHT_WEIGHT
        if has_other and word in own:
            return OWN_CLASS_WEIGHT
        return GENERIC_WEIGHT if word in generic and len(words) > 1 else 1.0

    return tuple(map(weight, words))


@cache
def _light_words() -> frozenset[str]:
    """Words that say little about what a name names: function words, units, and words for a total."""
    # A unit says how something is measured, and not what.
    units = unit_words() - vocabulary()
    # "the total amount of all orders" may be computed.
    return function_words() | units | frozenset(word_map("wording", "computed")["total"].split())


def agent_nouns(graph: SchemaGraph) -> list[tuple[int, str]]:
    """Nodes of persons, with the dictionary words that an event or a property gives them.

    The persons linked from a "visit" are "visitors"; whoever has a "member since" is a "member".
    """
    endings = phrase_list("linking", "agent_endings")
    by_event = {
        (step.target, node.words[-1] + ending)
        for node in graph.nodes
        if node.words
        for step in graph.steps[node.index]
        if step.forward and is_person(graph.nodes[step.target].label)
        for ending in endings
    }
    by_property = {
        (node.index, split_name(graph.about(predicate).label).lower().split()[0])
        for node in graph.nodes
        if is_person(node.label)
        for predicate in graph.literals[node.index]
        if _gives_start(graph.about(predicate).label)
    }
    return sorted(noun for noun in by_event | by_property if simplemma.is_known(noun[1], lang="en"))


def _gives_start(label: str) -> bool:
    """Whether a property says since when someone has a role: "member since", "volunteer from"."""
    first, *rest = split_name(label).lower().split() or [""]
    return bool(rest) and is_person(first) and rest[0] in language().words["bound_since"] | language().words["from"]
