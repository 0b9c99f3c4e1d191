"""The schema as a graph: classes as nodes, links between their things as steps: Lexicon -> SchemaGraph.

Unions are nodes for words that are wider than a class ("rooms" of several kinds, "animals"). A word that names several
classes that do not contain each other means the things of all of them. A class with that very name wins.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from nacre.language.data import WORDS, word_list
from nacre.language.labels import is_boolean_predicate, none_value
from nacre.language.thesaurus import is_noun_of_kind, kind_synonyms, nouns_of_kind, wide_words
from nacre.language.tokens import lemma, split_name
from nacre.records.schema import LOCAL, Predicate, Schema
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.stores.sqlite.tables import ROW_BASE
from nacre.understanding.linking.schema_paths import (
    PathStep,
    SchemaNode,
    ShortestPaths,
    build_mixed_targets,
    build_nodes,
    build_steps,
    schema_node,
)
from nacre.understanding.question.numbers import FIRST_YEAR, LAST_YEAR


class SchemaGraph:
    """Nodes, their properties, and the steps and paths between them. It never changes after it is built.

    `words` are the lemmas of a predicate's label, `phrases` those of what a semantic layer says that people ask with.
    `hidden_nodes` are the classes that it hides, `layer_share` is the share of properties that it derives or gives
    phrases. `literals` are the properties with values of each node, `holders` the nodes that have such a property.
    `ends` are the nodes that a predicate links, source and target.
    `value_counts` counts the values by node and property. `unions` are the nodes of words wider than a class; they have
    properties and steps, and are neither `holders` nor `base_nodes`.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        schema = lexicon.schema
        self.schema: Schema = schema
        nodes, self.node_of_class = build_nodes(lexicon)
        self.nodes_of_relation = _inverted({n.index: n.relations for n in nodes})
        self._widest_node = {
            relation: min(found, key=lambda i: (-nodes[i].count, i))
            for relation, found in self.nodes_of_relation.items()
        }
        self.node_of_classes = {(n.classes, n.without): n.index for n in nodes}
        built = build_steps(lexicon, nodes, self.nodes_of_relation)
        self.forward_share, self.backward_share = built.forward_share, built.backward_share
        mixed = build_mixed_targets(lexicon, nodes, self.nodes_of_relation)
        self.mixed_target = mixed.target
        # the predicates that lead to each node of things of several classes
        self.mixed_predicates: dict[int, set[str]] = defaultdict(set)
        for (_, predicate), node in mixed.target.items():
            self.mixed_predicates[node].add(predicate)
        self.base_nodes: Sequence[SchemaNode] = (*nodes, *mixed.nodes)
        self.nodes = self.base_nodes
        self.value_counts = _value_counts(lexicon, self.nodes_of_relation)
        self.literals = self._literals()
        self.holders = _inverted(self.literals)
        self.words: Mapping[str, tuple[str, ...]] = {p.iri: _lemmas(p.label) for p in schema.predicates}
        self.phrases = {p.iri: frozenset(map(_lemmas, p.phrases)) for p in schema.predicates}
        layered = sum(bool(p.phrases or p.patterns) for p in schema.predicates)
        self.layer_share = layered / max(1, len(schema.predicates))
        hidden = {c.iri for c in schema.classes if c.hidden}
        self.hidden_nodes = frozenset(n.index for n in self.nodes if n.classes and hidden.issuperset(n.classes))
        persons = frozenset(n.index for n in self.nodes if self._is_person(n))
        steps = _join_steps(self.nodes, built.steps, mixed.steps)
        self.unions = build_unions(lexicon, self.nodes, persons, self.hidden_nodes, steps)
        self.nodes = (*self.base_nodes, *self.unions.nodes)
        self.persons = persons | {u for u, members in self.unions.members.items() if persons.issuperset(members)}
        all_steps = _join_steps(self.nodes, steps, self.unions.steps)
        # only a word of the question brings in a union
        self.steps = {i: tuple(s for s in found if not self.nodes[s.target].any_of) for i, found in all_steps.items()}
        self.ends = _ends(steps, schema)
        unions_of_relation = _inverted({union.index: union.relations for union in self.unions.nodes})
        self.value_counts = {**self.value_counts, **_value_counts(lexicon, unions_of_relation)}
        self.literals = self._literals()
        # Properties of yes or no that are stored as texts or numbers. Nobody asks to list their values.
        self.boolean_predicates = frozenset(
            p.iri for p in schema.predicates if p.datatype != "boolean" and is_boolean_predicate(p)
        )
        paths = ShortestPaths(all_steps, frozenset(self._widest_node.values()))
        self.cheapest_paths, self.distance = paths.cheapest, paths.distance
        self.is_subclass = lru_cache(maxsize=16384)(self._is_subclass)
        self.property_nodes = lru_cache(maxsize=16384)(self._property_nodes)
        self.is_numeric = lru_cache(maxsize=16384)(self._is_numeric)
        self.is_date = lru_cache(maxsize=16384)(self._is_date)

    def about(self, predicate: str) -> Predicate:
        return self.schema.predicate_of[predicate]

    def surface_words(self, predicate: str) -> list[str]:
        """The words of a predicate's label, inflected as they are there."""
        return split_name(self.about(predicate).label).split()

    def _is_numeric(self, predicate: str) -> bool:
        about = self.about(predicate)
        return about.minimum is not None or about.datatype in ("integer", "real", "year", "duration")

    def is_sheet(self, node: int) -> bool:
        """Whether the things of a node are rows of a table that was read as a file."""
        classes = self.nodes[node].classes
        return bool(classes) and all(iri.startswith(LOCAL) for iri in classes)

    @cached_property
    def main_sheet(self) -> int | None:
        """The node of the rows of the only table of files or of a database, or of one with many times as many rows as
        each other."""
        rows = {self.widest_node(node.index) for node in self.base_nodes if node.classes}
        ordered = sorted(rows, key=lambda node: -self.nodes[node].count)
        classes = [iri for node in rows for iri in self.nodes[node].classes]
        if not rows or not all(iri.startswith((LOCAL, ROW_BASE)) for iri in classes):
            return None
        first, second = [*(self.nodes[node].count for node in ordered), 0][:2]
        return ordered[0] if first >= MAIN_ROWS * second else None

    def is_flag(self, predicate: str) -> bool:
        """Whether a property is yes or no, however it is stored."""
        return predicate in self.boolean_predicates or bool(predicate and self.about(predicate).datatype == "boolean")

    def _is_date(self, predicate: str) -> bool:
        """Whether a property has dates, by its datatype, or by the last word of its name and its numbers ("yearID")."""
        about, words = self.about(predicate), self.words[predicate]
        if about.datatype in ("date", "datetime", "year", "time") or (words and words[-1] in WORDS["time"]):
            return True
        low, high = about.minimum, about.maximum
        if about.datatype != "integer" or low is None or high is None or not FIRST_YEAR <= low <= high <= LAST_YEAR:
            return False
        named = [word for word in words if word not in word_list("ingestion", "key_words")]
        return bool(named) and named[-1] in WORDS["year_names"]

    def none_of(self, node: int, predicate: str) -> str | int | None:
        """What things without a property have of it: a word for none, or 0 if each thing has a number and some 0."""
        about = self.about(predicate)
        is_complete = self.value_counts.get((node, predicate), 0) >= self.nodes[node].count
        is_amount = self.is_numeric(predicate) and not self.is_date(predicate)
        return 0 if is_amount and is_complete and about.minimum == 0 else none_value(about)

    def widest_node(self, node: int) -> int:
        """The widest node that shares a table with a node."""
        return min((self._widest_node[r] for r in self.nodes[node].relations), key=lambda i: -self.nodes[i].count)

    def drop_subclasses(self, nodes: Collection[int]) -> tuple[int, ...]:
        """The nodes without those of subclasses of others: whoever "wrote" it, and not only its professors."""
        classes = {c for n in nodes for c in self.nodes[n].classes}
        narrow = {c for c in classes if self._superclasses(c) & classes}
        return tuple(sorted(n for n in nodes if not narrow & set(self.nodes[n].classes)))

    def drop_contained_classes(self, nodes: Collection[int]) -> tuple[int, ...]:
        """The nodes without classes whose things all belong to the class of another node."""
        classes = {c for n in nodes for c in self.nodes[n].classes}
        known = self.schema.class_of
        parts = {c for c in classes if c in known and classes & set(known[c].within)}
        return tuple(sorted(n for n in nodes if not parts & set(self.nodes[n].classes)))

    def may_be(self, node: int, kind: int) -> bool:
        """Whether a thing of a node may be of another one: the same, a narrower or an overlapping one."""
        if node == kind or self.is_subclass(node, kind) or self.drop_contained_classes((node, kind)) == (node,):
            return True
        return self.nodes[kind].relations <= self.nodes[node].relations

    def _property_nodes(self, predicate: str) -> tuple[int, ...]:
        """The nodes to which values of a property belong: for each widest node, the narrowest that has as many."""
        found: dict[int, None] = {}
        holders = self.holders.get(predicate, ())
        for wide in (i for i in holders if i in self._widest_node.values()):
            within = [i for i in holders if self.nodes[i].relations <= self.nodes[wide].relations]
            as_many = [i for i in within if self.value_counts[i, predicate] == self.value_counts[wide, predicate]]
            found[min(as_many, key=lambda i: (self.nodes[i].count, i))] = None
        return tuple(found)

    def _is_subclass(self, node: int, other: int) -> bool:
        if self.nodes[other].any_of:
            return node in self.unions.members[other] or self.nodes[node].relations < self.nodes[other].relations
        above = {c for own in self.nodes[node].classes for c in self._superclasses(own)}
        return node != other and bool(self.nodes[other].classes) and set(self.nodes[other].classes) <= above

    def _superclasses(self, iri: str) -> frozenset[str]:
        found: set[str] = set()
        waiting = [iri]
        while waiting:
            known = self.schema.class_of.get(waiting.pop())
            new = set(known.parents) - found - {iri} if known else set()
            found |= new
            waiting += new
        return frozenset(found)

    def _is_person(self, node: SchemaNode) -> bool:
        """Whether a node's things are persons: by the node's label, or because they have a family name."""
        family = WORDS["family"]
        labels = (self.words[predicate] for predicate in self.literals[node.index])
        has_family_name = any(w[0] in family and w[-1].endswith("name") for w in labels if w)
        return has_family_name or bool(node.words and node.words[-1] in nouns_of_kind("persons"))

    def _literals(self) -> Mapping[int, Sequence[str]]:
        found: dict[int, list[str]] = defaultdict(list)
        for i, predicate in sorted(self.value_counts):
            about = self.schema.predicate_of.get(predicate)
            if about is not None and about.has_literals:
                found[i].append(predicate)
        return {**found, **{n.index: [] for n in self.nodes if n.index not in found}}


def _lemmas(name: str) -> tuple[str, ...]:
    return tuple(lemma(w) for w in split_name(name).split())


def _inverted(names_of: Mapping[int, Collection[str]]) -> Mapping[str, Sequence[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for node, names in names_of.items():
        for name in names:
            found[name].append(node)
    return dict(found)


def _join_steps(
    nodes: Sequence[SchemaNode], *parts: Mapping[int, Sequence[PathStep]]
) -> Mapping[int, Sequence[PathStep]]:
    """The steps from each node. Nodes with steps come first, in the order of the parts."""
    order = dict.fromkeys((*(i for part in parts for i in part), *(n.index for n in nodes)))
    return {i: tuple(step for part in parts for step in part.get(i, ())) for i in order}


def _value_counts(lexicon: Lexicon, nodes_of_relation: Mapping[str, Sequence[int]]) -> Mapping[tuple[int, str], int]:
    found: dict[tuple[int, str], int] = defaultdict(int)
    for (relation, predicate), n in lexicon.facts.items():
        for i in nodes_of_relation.get(relation, ()):
            found[i, predicate] += n
    return dict(found)


def _ends(steps: Mapping[int, Sequence[PathStep]], schema: Schema) -> Mapping[str, Sequence[tuple[int, int]]]:
    found: dict[str, list[tuple[int, int]]] = {p.iri: [] for p in schema.predicates}
    for source, from_source in steps.items():
        for step in from_source:
            if step.forward:
                found.setdefault(step.predicate, []).append((source, step.target))
    return found


MAX_UNION_CLASSES, MAX_UNIONS = 24, 40  # Classes of one union, and unions of one graph, at most (given).
MAIN_ROWS = 4  # A main sheet has at least so many times the rows of each other one (given).
MIN_COMMON_SHARE = 0.4  # The share of their properties that classes of one sort have in common, at least (given).

# The share and number of properties that a class has in common with the classes of a kind, at least, to be of the same
# kind although its noun is of none (given).
MIN_SAME_KIND_SHARE, MIN_SAME_KIND_PROPERTIES = 0.75, 2

Steps = Mapping[int, Sequence[PathStep]]


@dataclass(frozen=True)
class Unions:
    """The nodes of unions, numbered after the other nodes, with the nodes of their classes, their words and steps."""

    nodes: tuple[SchemaNode, ...]
    members: Mapping[int, tuple[int, ...]]
    words: Mapping[str, tuple[int, ...]]
    steps: Steps
    hypernyms: frozenset[str]  # English words for a wider kind, which the graph may use in another sense


def build_unions(
    lexicon: Lexicon, nodes: Sequence[SchemaNode], persons: Collection[int], hidden: Collection[int], steps: Steps
) -> Unions:
    """The unions of all words that name several classes, with the steps of their classes."""
    classes = [n for n in nodes if len(n.classes) == 1 and not n.without and n.words and n.index not in hidden]
    own = {n.words for n in classes} | {tuple(map(lemma, e.tokens)) for e in lexicon.schema_entries}
    own |= {("".join(words),) for words in own}
    properties = _properties(lexicon, classes)
    by_members: dict[tuple[int, ...], list[str]] = {}
    for word, widest in _wide_names(classes, persons, properties):
        is_own = (word,) in own and not _are_kinds(word, widest, nodes, properties)
        relations = frozenset[str]().union(*(nodes[i].relations for i in widest[: MAX_UNION_CLASSES + 1]))
        is_class = any(n.classes and not n.without and n.relations == relations for n in nodes)
        if not is_own and 1 < len(widest) <= MAX_UNION_CLASSES and not is_class:
            names = by_members.setdefault(widest, [])
            names += [word] if word not in names else []
    unions: list[SchemaNode] = []
    words: dict[str, tuple[int, ...]] = {}
    for widest, names in list(by_members.items())[:MAX_UNIONS]:
        of = [nodes[i] for i in widest]
        relations, count = frozenset[str]().union(*(n.relations for n in of)), sum(n.count for n in of)
        union = schema_node(len(nodes) + len(unions), names[0], (), (), relations, count, any(n.named for n in of))
        union = replace(union, any_of=tuple(c for n in of for c in n.classes))
        unions.append(union)
        words |= {name: (*words.get(name, ()), union.index) for name in names}
    members = {union.index: widest for union, widest in zip(unions, by_members, strict=False)}
    hypernyms = frozenset(words) - wide_words().keys() - {n.head for n in classes}
    return Unions(tuple(unions), members, words, _union_steps(members, steps), hypernyms)


def _wide_names(
    classes: Sequence[SchemaNode], persons: Collection[int], properties: Mapping[int, frozenset[str]]
) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Words with the widest classes that they may name: heads of names, nouns for a kind, then words for anything."""
    heads: dict[str, list[SchemaNode]] = defaultdict(list)
    kinds: dict[str, list[SchemaNode]] = defaultdict(list)
    for node in classes:
        heads[node.head].append(node)
        for word in sorted(kind_synonyms().get(node.head, ())):
            kinds[word].append(node)
    yield from ((word, _widest(found)) for word, found in heads.items() if len(found) > 1)
    by_kind = _classes_by_kind(classes, persons, properties)
    has_persons = any(wide_words().get(word) == "persons" for word in heads)
    sort = _widest(_largest_sort(by_kind["items"], properties)) if "items" in by_kind else ()
    widest = {kind: _widest(found) for kind, found in by_kind.items()}
    for word, kind in wide_words().items():
        english = kinds.pop(word, [])
        english = [] if kind == "persons" else english
        # a class called "person" has all people
        if word not in heads and not (kind == "persons" and has_persons):
            found = list({n.index: n for n in (*by_kind[kind], *english)}.values()) if english else []
            if kind == "items":
                yield word, _widest(_largest_sort(found, properties)) if english else sort
            yield word, _widest(found) if english else widest[kind]
    unknown = [n for n in classes if n.index not in persons and not kind_synonyms().get(n.head)]
    for word, found in kinds.items():
        if word not in heads:
            own = [properties[n.index] for n in found]
            alike = (n for n in unknown if all(_are_alike(properties[n.index], each, kinds=True) for each in own))
            yield word, _widest([*found, *alike])


def _classes_by_kind(
    classes: Sequence[SchemaNode], persons: Collection[int], properties: Mapping[int, frozenset[str]]
) -> Mapping[str, Sequence[SchemaNode]]:
    """Persons, places, organisations, events, and items: classes with properties that are none of these."""
    found: dict[str, list[SchemaNode]] = {kind: [] for kind in set(wide_words().values())}
    for node in classes:
        nouns = (kind for kind in ("places", "bodies", "events") if is_noun_of_kind(kind, node.head))
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
    sorts: dict[int, list[SchemaNode]] = {}
    sort_of: dict[frozenset[str], int] = {}
    having: dict[str, list[frozenset[str]]] = defaultdict(list)
    for number, node in enumerate(sorted(classes, key=lambda n: -n.count)):
        own = properties[node.index]
        # what is alike has a property in common, and what has the same properties is in one sort
        near = (own,) if own in sort_of else {each for one in own for each in having[one]}
        alike = sorted({sort_of[each] for each in near if _are_alike(own, each)}, key=lambda sort: len(sorts[sort]))
        grown = alike.pop() if alike else number
        # the sort that grew last is the last
        sorts[grown] = sorts.pop(grown, [])
        for sort in alike:
            joined = sorts.pop(sort)
            sorts[grown] += joined
            sort_of |= {properties[n.index]: grown for n in joined}
        sorts[grown].append(node)
        if own not in sort_of:
            for one in own:
                having[one].append(own)
        sort_of[own] = grown
    several = [s for s in sorts.values() if len(s) > 1]
    return max(several, key=lambda s: sum(n.count for n in s), default=list(classes))


def _are_alike(one: frozenset[str], other: frozenset[str], *, kinds: bool = False) -> bool:
    """Whether classes with these properties have enough in common; more if a word for one kind is to mean both."""
    common, fewest = len(one & other), min(len(one), len(other))
    if kinds:
        return common >= max(MIN_SAME_KIND_SHARE * fewest, MIN_SAME_KIND_PROPERTIES)
    return common >= MIN_COMMON_SHARE * fewest > 0


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


def _widest(classes: Collection[SchemaNode]) -> tuple[int, ...]:
    """The classes that are in no other of them; of too many for a union, one more than that are enough."""
    chosen: list[SchemaNode] = []
    for node in sorted(classes, key=lambda n: (-len(n.relations), n.index)):
        if not any(node.relations <= other.relations for other in chosen):
            chosen.append(node)
        if len(chosen) > MAX_UNION_CLASSES:
            break
    return tuple(sorted(n.index for n in chosen))


def _are_kinds(
    word: str, members: Sequence[int], nodes: Sequence[SchemaNode], properties: Mapping[int, frozenset[str]]
) -> bool:
    """Whether classes whose names end in a class's name are kinds of it, as a "store room" is a room."""
    named = [i for i in members if nodes[i].words == (word,)]
    others = [i for i in members if i not in named]
    return len(named) == 1 and all(
        nodes[i].head == word and _are_alike(properties[i], properties[named[0]]) for i in others
    )


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
