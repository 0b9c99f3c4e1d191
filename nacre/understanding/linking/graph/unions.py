"""Nodes for words that are wider than a class: SchemaNodes -> Unions ("rooms" of several kinds, "animals", "objects").

A word that names several classes that do not contain each other means the things of all of them. A class with that very
name wins.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from nacre.language.thesaurus import function_words, is_noun_of_kind, kind_synonyms, wide_words
from nacre.language.tokens import lemma
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.understanding.linking.graph.nodes import SchemaNode, schema_node
from nacre.understanding.linking.graph.shortest_paths import PathStep

# Classes of one union, and unions of one graph, at most (given).
MAX_UNION_CLASSES, MAX_UNIONS = 24, 40
# The share of their properties that classes of one sort have in common, at least (given).
MIN_COMMON_SHARE = 0.4
# The share and number of properties that a class has in common with the classes of a kind, at least, to be of the same
# kind although its noun is of none (given).
MIN_SAME_KIND_SHARE, MIN_SAME_KIND_PROPERTIES = 0.75, 2

Steps = Mapping[int, Sequence[PathStep]]


@dataclass(frozen=True)
class Unions:
    """The nodes of unions, numbered after the other nodes, with the nodes of their classes, their words and steps.

    `hypernyms` are words of English for a wider kind, which the graph may use in another sense.
    """

    nodes: tuple[SchemaNode, ...]
    members: Mapping[int, tuple[int, ...]]
    words: Mapping[str, tuple[int, ...]]
    steps: Steps
    hypernyms: frozenset[str]


def build_unions(
    lexicon: Lexicon, nodes: Sequence[SchemaNode], persons: Collection[int], hidden: Collection[int], steps: Steps
) -> Unions:
    """The unions of all words that name several classes, with the steps of their classes."""
    classes = [n for n in nodes if len(n.classes) == 1 and not n.without and n.words and n.index not in hidden]
    own = {n.words for n in classes} | {tuple(map(lemma, e.tokens)) for e in lexicon.schema_entries}
    own |= {("".join(words),) for words in own}
    properties = _properties(lexicon, classes)
    by_members: dict[tuple[int, ...], list[str]] = {}
    for word, found in _wide_names(classes, persons, properties):
        widest = _widest(found, nodes)
        is_own = (word,) in own and not _are_kinds(word, widest, nodes, properties)
        if not is_own and 1 < len(widest) <= MAX_UNION_CLASSES and not _is_one_class(widest, nodes):
            names = by_members.setdefault(widest, [])
            names += [word] if word not in names else []
    unions: list[SchemaNode] = []
    words: dict[str, tuple[int, ...]] = {}
    for widest, names in list(by_members.items())[:MAX_UNIONS]:
        union = _union_node(len(nodes) + len(unions), names[0], [nodes[i] for i in widest])
        unions.append(union)
        words |= {name: (*words.get(name, ()), union.index) for name in names}
    members = {union.index: widest for union, widest in zip(unions, by_members, strict=False)}
    hypernyms = frozenset(words) - wide_words().keys() - {_head(n) for n in classes}
    return Unions(tuple(unions), members, words, _union_steps(members, steps), hypernyms)


def _wide_names(
    classes: Sequence[SchemaNode], persons: Collection[int], properties: Mapping[int, frozenset[str]]
) -> Iterator[tuple[str, list[SchemaNode]]]:
    """Words with the classes that they may name: heads of names, then nouns for a kind, then words for anything."""
    heads: dict[str, list[SchemaNode]] = defaultdict(list)
    kinds: dict[str, list[SchemaNode]] = defaultdict(list)
    for node in classes:
        heads[_head(node)].append(node)
        for word in sorted(kind_synonyms().get(_head(node), ())):
            kinds[word].append(node)
    yield from heads.items()
    by_kind = _classes_by_kind(classes, persons, properties)
    has_persons = any(wide_words().get(word) == "persons" for word in heads)
    for word, kind in wide_words().items():
        english = kinds.pop(word, [])
        # a class called "person" has all people
        if word not in heads and not (kind == "persons" and has_persons):
            found = list(dict.fromkeys([*by_kind[kind], *(english if kind != "persons" else ())]))
            if kind == "items":
                yield word, _largest_sort(found, properties)
            yield word, found
    unknown = [n for n in classes if n.index not in persons and not kind_synonyms().get(_head(n))]
    for word, found in kinds.items():
        if word not in heads:
            own = [properties[n.index] for n in found]
            yield word, [*found, *(n for n in unknown if all(_is_same_kind(properties[n.index], each) for each in own))]


def _head(node: SchemaNode) -> str:
    """The noun of a class's name, before a preposition: "singer" of "singer in concert"."""
    end = next((i for i, word in enumerate(node.words) if i and word in function_words()), len(node.words))
    return node.words[end - 1]


def _classes_by_kind(
    classes: Sequence[SchemaNode], persons: Collection[int], properties: Mapping[int, frozenset[str]]
) -> Mapping[str, Sequence[SchemaNode]]:
    """The classes of each kind: persons, places, organisations, events, and items, which are none of these.

    Items have properties, and "anything" is whatever has some and is no person.
    """
    found: dict[str, list[SchemaNode]] = {kind: [] for kind in set(wide_words().values())}
    for node in classes:
        nouns = (kind for kind in ("places", "bodies", "events") if is_noun_of_kind(kind, _head(node)))
        kind = "persons" if node.index in persons else next(nouns, "items")
        if kind != "items" or properties[node.index]:
            found[kind].append(node)
        if kind != "persons" and properties[node.index]:
            found["anything"].append(node)
    # what persons are, as rows without names, are the same persons
    named = [n for n in found["persons"] if n.named]
    return {**found, "persons": named or found["persons"]}


def _largest_sort(classes: Sequence[SchemaNode], properties: Mapping[int, frozenset[str]]) -> list[SchemaNode]:
    """The classes that share their properties with the largest class, directly or through others; all if none do."""
    ordered = sorted(classes, key=lambda n: -n.count)
    sorts: list[list[SchemaNode]] = []
    for node in ordered:
        alike = [s for s in sorts if any(_are_alike(properties[node.index], properties[o.index]) for o in s)]
        sorts = [*(s for s in sorts if s not in alike), [*(n for s in alike for n in s), node]]
    several = [s for s in sorts if len(s) > 1]
    return max(several, key=lambda s: sum(n.count for n in s), default=list(classes))


def _is_same_kind(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether classes have so many properties in common that a word for the kind of one is meant for both."""
    return len(one & other) >= max(MIN_SAME_KIND_SHARE * min(len(one), len(other)), MIN_SAME_KIND_PROPERTIES)


def _are_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether classes with these properties have enough of them in common."""
    return len(one & other) >= MIN_COMMON_SHARE * min(len(one), len(other)) > 0


def _properties(lexicon: Lexicon, classes: Sequence[SchemaNode]) -> Mapping[int, frozenset[str]]:
    """The facts that the things of each class have, apart from names."""
    facts: dict[str, set[str]] = defaultdict(set)
    known = lexicon.schema.predicate_of
    for relation, predicate in lexicon.facts:
        if predicate in known and known[predicate].role == "fact" and not known[predicate].hidden:
            facts[relation].add(predicate)
    for link in lexicon.links:
        if link.predicate in known and known[link.predicate].role == "fact":
            facts[link.subject].add(link.predicate)
    return {n.index: frozenset(p for relation in n.relations for p in facts[relation]) for n in classes}


def _widest(classes: Collection[SchemaNode], nodes: Sequence[SchemaNode]) -> tuple[int, ...]:
    """The classes without those whose things all belong to another of them."""
    chosen: list[SchemaNode] = []
    for node in sorted(classes, key=lambda n: (-len(n.relations), n.index)):
        if not any(node.relations <= other.relations for other in chosen):
            chosen.append(node)
    return tuple(sorted(n.index for n in chosen))


def _is_one_class(members: Sequence[int], nodes: Sequence[SchemaNode]) -> bool:
    """Whether a class of the graph has exactly the things of a union."""
    relations = frozenset[str]().union(*(nodes[i].relations for i in members))
    return any(n.classes and not n.without and n.relations == relations for n in nodes)


def _are_kinds(
    word: str, members: Sequence[int], nodes: Sequence[SchemaNode], properties: Mapping[int, frozenset[str]]
) -> bool:
    """Whether the classes whose names end in the name of another one are kinds of that one, as a "store room" is a
    room: they have properties in common, and all names end in that word."""
    named = [i for i in members if nodes[i].words == (word,)]
    others = [i for i in members if i not in named]
    return len(named) == 1 and all(
        _head(nodes[i]) == word and _are_alike(properties[i], properties[named[0]]) for i in others
    )


def _union_node(index: int, word: str, members: Sequence[SchemaNode]) -> SchemaNode:
    relations = frozenset[str]().union(*(n.relations for n in members))
    count = sum(n.count for n in members)
    node = schema_node(index, word, (), (), relations, count, any(n.named for n in members))
    return replace(node, any_of=tuple(c for n in members for c in n.classes))


def _union_steps(members: Mapping[int, tuple[int, ...]], steps: Steps) -> Steps:
    """The steps of each union: those of its classes, also to other unions, and the ways back."""
    unions_of: dict[int, list[int]] = defaultdict(list)
    for union, classes in members.items():
        for member in classes:
            unions_of[member].append(union)
    costs: dict[tuple[int, str, bool, int], float] = {}
    for union, classes in members.items():
        for step in (step for member in classes for step in steps.get(member, ())):
            for target in (step.target, *unions_of[step.target]):
                key = union, step.predicate, step.forward, target
                costs[key] = min(step.cost, costs.get(key, step.cost))
                back = target, step.predicate, not step.forward, union
                costs[back] = min(step.cost, costs.get(back, step.cost))
    found: dict[int, list[PathStep]] = defaultdict(list)
    for (source, predicate, forward, target), cost in costs.items():
        found[source].append(PathStep(predicate, forward, target, cost))
    return found
