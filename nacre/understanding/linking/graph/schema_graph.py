"""The schema as a graph: classes as nodes, links between their things as steps: Lexicon -> SchemaGraph."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

from nacre.language.base import language
from nacre.language.booleans import is_boolean_predicate
from nacre.language.thesaurus import nouns_of_kind
from nacre.language.tokens import lemma, split_name
from nacre.records.schema import Predicate, Schema
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.understanding.linking.graph.nodes import SchemaNode, build_nodes
from nacre.understanding.linking.graph.shortest_paths import PathStep, ShortestPaths
from nacre.understanding.linking.graph.steps import build_mixed_targets, build_steps
from nacre.understanding.linking.graph.unions import build_unions


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
        self.nodes_of_relation = _nodes_of_relation(nodes)
        self._widest_node = {
            relation: min(found, key=lambda i: (-nodes[i].count, i))
            for relation, found in self.nodes_of_relation.items()
        }
        self.node_of_classes = {(n.classes, n.without): n.index for n in nodes}
        built = build_steps(lexicon, nodes, self.nodes_of_relation)
        self.forward_share, self.backward_share = built.forward_share, built.backward_share
        mixed = build_mixed_targets(lexicon, nodes, self.nodes_of_relation)
        self.mixed_target = mixed.target
        self.base_nodes: Sequence[SchemaNode] = (*nodes, *mixed.nodes)
        self.nodes = self.base_nodes
        self.value_counts = _value_counts(lexicon, self.nodes_of_relation)
        self.literals = self._literals()
        self.holders = _holders(self.literals)
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
        self.value_counts = {**self.value_counts, **self._union_value_counts(lexicon)}
        self.literals = self._literals()
        # Properties of yes or no that are stored as texts or numbers. Nobody asks to list their values.
        self.boolean_predicates = frozenset(
            p.iri for p in schema.predicates if p.datatype != "boolean" and is_boolean_predicate(p)
        )
        paths = ShortestPaths(all_steps, frozenset(self._widest_node.values()))
        self.cheapest_paths, self.distance = paths.cheapest, paths.distance
        self.is_subclass = lru_cache(maxsize=16384)(self._is_subclass)
        self.property_nodes = lru_cache(maxsize=16384)(self._property_nodes)

    def about(self, predicate: str) -> Predicate:
        return self.schema.predicate_of[predicate]

    def surface_words(self, predicate: str) -> list[str]:
        """The words of a predicate's label, inflected as they are there."""
        return split_name(self.about(predicate).label).split()

    def is_numeric(self, predicate: str) -> bool:
        about = self.about(predicate)
        return about.minimum is not None or about.datatype in ("integer", "real", "year", "duration")

    def is_date(self, predicate: str) -> bool:
        """Whether a property has dates, by its datatype or by the last word of its name."""
        if self.about(predicate).datatype in ("date", "datetime", "year", "time"):
            return True
        return bool(self.words[predicate]) and self.words[predicate][-1] in language().words["time"]

    def widest_node(self, node: int) -> int:
        """The widest node that shares a table with a node."""
        return min((self._widest_node[r] for r in self.nodes[node].relations), key=lambda i: -self.nodes[i].count)

    def drop_subclasses(self, nodes: Collection[int]) -> tuple[int, ...]:
        """The nodes without those of subclasses of others: whoever "wrote" it, and not only its professors."""
        classes = {c for n in nodes for c in self.nodes[n].classes}
        narrow = {c for c in classes if self._superclasses(c) & classes}
        return tuple(sorted(n for n in nodes if not narrow & set(self.nodes[n].classes)))

    def drop_contained_classes(self, nodes: Collection[int]) -> tuple[int, ...]:
        """The nodes without classes whose things all belong to the class of another node: concepts, and not brass
        instruments."""
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
        """Whether the classes of a node are subclasses of those of another: poplars, trees."""
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
        family = language().words["family"]
        labels = (self.words[predicate] for predicate in self.literals[node.index])
        has_family_name = any(w[0] in family and w[-1].endswith("name") for w in labels if w)
        return has_family_name or bool(node.words and node.words[-1] in nouns_of_kind("persons"))

    def _union_value_counts(self, lexicon: Lexicon) -> Mapping[tuple[int, str], int]:
        """The values of the things of each union, by union and property."""
        of_relation: dict[str, list[int]] = defaultdict(list)
        for union in self.unions.nodes:
            for relation in union.relations:
                of_relation[relation].append(union.index)
        return _value_counts(lexicon, of_relation)

    def _literals(self) -> Mapping[int, Sequence[str]]:
        found: dict[int, list[str]] = defaultdict(list)
        for i, predicate in sorted(self.value_counts):
            about = self.schema.predicate_of.get(predicate)
            if about is not None and about.has_literals:
                found[i].append(predicate)
        return {**found, **{n.index: [] for n in self.nodes if n.index not in found}}


def _lemmas(name: str) -> tuple[str, ...]:
    return tuple(lemma(w) for w in split_name(name).split())


def _nodes_of_relation(nodes: Sequence[SchemaNode]) -> Mapping[str, Sequence[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for node in nodes:
        for relation in node.relations:
            found[relation].append(node.index)
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


def _holders(literals: Mapping[int, Sequence[str]]) -> Mapping[str, Sequence[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for i, predicates in literals.items():
        for predicate in predicates:
            found[predicate].append(i)
    return dict(found)


def _ends(steps: Mapping[int, Sequence[PathStep]], schema: Schema) -> Mapping[str, Sequence[tuple[int, int]]]:
    found: dict[str, list[tuple[int, int]]] = {p.iri: [] for p in schema.predicates}
    for source, from_source in steps.items():
        for step in from_source:
            if step.forward:
                found.setdefault(step.predicate, []).append((source, step.target))
    return found
