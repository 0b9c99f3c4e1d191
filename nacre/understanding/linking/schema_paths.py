"""Nodes, steps and cheapest paths of the schema graph: Schema + counts -> SchemaNodes, PathSteps, paths."""

import heapq
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import inf
from typing import NamedTuple

from nacre.language.thesaurus import function_words
from nacre.language.tokens import lemma, split_name
from nacre.records.schema import Class, Schema
from nacre.stores.sqlite.lexicon import Lexicon

# The part of an IRI after its namespace.
_LOCAL_NAME = re.compile(r"[^#/]*$")


@dataclass(frozen=True)
class SchemaNode:
    """A class, a union of classes, or a group: the things that have one combination of classes."""

    index: int
    label: str
    classes: tuple[str, ...]
    without: tuple[str, ...]
    relations: frozenset[str]  # the tables of its things
    count: int
    words: tuple[str, ...]  # the lemmas of the label
    named: bool  # its things have names, and not only codes
    variable: str  # the name of such a thing in a plan
    any_of: tuple[str, ...] = ()  # the classes of a union

    @cached_property
    def head(self) -> str:
        """The noun of a class's name, before a preposition: "singer" of "singer in concert"."""
        end = next((i for i, word in enumerate(self.words) if i and word in function_words()), len(self.words))
        return self.words[end - 1]


def build_nodes(lexicon: Lexicon) -> tuple[tuple[SchemaNode, ...], Mapping[str, int]]:
    """The nodes of classes, then those of groups that are no class; and the node of each class."""
    schema = lexicon.schema
    # the tables, and views, most of whose things have a name other than a code at the end of their IRI
    naming = {p.iri for p in lexicon.schema.predicates if p.role == "name"}
    names = {relation: n for (relation, predicate), n in lexicon.facts.items() if predicate in naming}
    coded = {h.relation for h in lexicon.table_counts if h.coded > h.things / 2 > names.get(h.relation, 0)}
    tables = {*(home.relation for home in lexicon.table_counts), *(group.relation for group in lexicon.schema.groups)}
    common, rare, named = schema.groups_of_class, _rare_relations(lexicon), frozenset(tables - coded)
    relations = {c.iri: common.get(c.iri, frozenset()) | rare.get(c.iri, frozenset()) for c in schema.classes}
    same = _equivalent_classes(schema, relations)
    classes = [c for c in schema.classes if c.count and relations[c.iri] and c.iri not in same]
    class_nodes = [
        schema_node(i, c.label, (c.iri,), (), relations[c.iri], c.count, bool(relations[c.iri] & named))
        for i, c in enumerate(classes)
    ]
    node_of_class = {c.iri: i for i, c in enumerate(classes)}
    node_of_class |= {wide: node_of_class[narrow] for wide, narrow in same.items()}
    single = {n.relations for n in class_nodes}
    groups = [g for g in schema.groups if frozenset((g.relation,)) not in single]
    group_nodes = [
        schema_node(i, g.label, g.classes, g.without, frozenset((g.relation,)), g.count, g.relation in named)
        for i, g in enumerate(groups, len(class_nodes))
    ]
    return (*class_nodes, *group_nodes), node_of_class


def schema_node(
    index: int,
    label: str,
    classes: tuple[str, ...],
    without: tuple[str, ...],
    relations: frozenset[str],
    count: int,
    named: bool,
) -> SchemaNode:
    """A node with the words and the variable that its label gives."""
    words = tuple(lemma(w) for w in split_name(label).split())
    variable = re.sub(r"\W+", "_", label.casefold()).strip("_") or "thing"
    return SchemaNode(index, label, classes, without, relations, count, words, named, variable)


def _rare_relations(lexicon: Lexicon) -> Mapping[str, frozenset[str]]:
    """For each class and superclass the views of things whose combination of types is too rare for a group."""
    schema = lexicon.schema
    ungrouped = {home.relation for home in lexicon.table_counts} - {group.relation for group in schema.groups}
    found: dict[str, set[str]] = defaultdict(set)
    for c in schema.classes:
        waiting = [c.iri] if c.relation in ungrouped else []
        while waiting:
            iri = waiting.pop()
            if iri in schema.class_of and c.relation not in found[iri]:
                found[iri].add(c.relation)
                waiting += schema.class_of[iri].parents
    return {iri: frozenset(relations) for iri, relations in found.items()}


def _equivalent_classes(schema: Schema, relations: Mapping[str, frozenset[str]]) -> Mapping[str, str]:
    """Classes with exactly the things of another one, and that class: persons, if all are employees. It is one that a
    semantic layer derives or names, else the most specific one."""
    counts = {group.relation: group.count for group in schema.groups}
    alike: dict[frozenset[str], list[Class]] = defaultdict(list)
    for c in schema.classes:
        if c.count and c.count == sum(counts.get(r, 0) for r in relations[c.iri]):
            alike[relations[c.iri]].append(c)
    several = [classes for classes in alike.values() if len(classes) > 1]
    vocabulary_size = Counter(_namespace(c.iri) for c in schema.classes) if several else Counter[str]()
    found: dict[str, str] = {}
    for classes in several:
        # The most specific class; among several, one of the vocabulary with most classes in the graph.
        first, *others = sorted(
            classes,
            key=lambda c: (
                not c.pattern,
                not c.is_named,
                -len(schema.with_parents((c.iri,))),
                -vocabulary_size[_namespace(c.iri)],
            ),
        )
        found |= {other.iri: first.iri for other in others}
    return found


def _namespace(iri: str) -> str:
    return _LOCAL_NAME.sub("", iri)


# The cost of a step between nodes with names, and to or from one without; more by the share of things without the link.
NAMED_STEP_COST, NAMELESS_STEP_COST, RARE_STEP_COST = 1.0, 0.6, 0.4

NodesOfRelation = Mapping[str, Sequence[int]]


class PathStep(NamedTuple):
    """One link from a node to another. `forward` says that the node at hand has the subject."""

    predicate: str
    forward: bool
    target: int
    cost: float


@dataclass(frozen=True)
class SchemaSteps:
    """The steps from each node. Shares are by (predicate, source, target): of the links with this predicate from the
    source, those that lead to the target, and the other way round."""

    steps: Mapping[int, Sequence[PathStep]]
    forward_share: Mapping[tuple[str, int, int], float]
    backward_share: Mapping[tuple[str, int, int], float]


@dataclass(frozen=True)
class MixedTargets:
    """Nodes for what a link leads to if that is of several classes without a common one: a place or a person."""

    nodes: tuple[SchemaNode, ...]
    steps: Mapping[int, Sequence[PathStep]]
    target: Mapping[tuple[int, str], int]  # such a node, by source and predicate


def build_steps(lexicon: Lexicon, nodes: Sequence[SchemaNode], nodes_of_relation: NodesOfRelation) -> SchemaSteps:
    """The steps over all links, in both directions."""
    triples: dict[tuple[str, int, int], int] = defaultdict(int)
    leaving: dict[tuple[str, int], int] = defaultdict(int)
    arriving: dict[tuple[str, int], int] = defaultdict(int)
    for link in lexicon.links:
        sources, targets = nodes_of_relation.get(link.subject, ()), nodes_of_relation.get(link.object, ())
        for source in sources:
            leaving[link.predicate, source] += link.triples
        for target in targets:
            arriving[link.predicate, target] += link.triples
        if link.subject and link.object:
            for source in sources:
                for target in targets:
                    triples[link.predicate, source, target] += link.triples
    steps: dict[int, list[PathStep]] = defaultdict(list)
    forward: dict[tuple[str, int, int], float] = {}
    backward: dict[tuple[str, int, int], float] = {}
    for (predicate, source, target), n in sorted(triples.items()):
        share = min(1.0, n / max(1, nodes[source].count)) * min(1.0, n / max(1, nodes[target].count))
        rare = RARE_STEP_COST * (1 - share)
        forward[predicate, source, target] = n / leaving[predicate, source]
        backward[predicate, source, target] = n / arriving[predicate, target]
        for here, there, is_forward in ((source, target, True), (target, source, False)):
            cost = NAMED_STEP_COST if nodes[there].named and nodes[here].named else NAMELESS_STEP_COST
            steps[here].append(PathStep(predicate, is_forward, there, cost + rare))
    for here, own in steps.items():
        # paths that cost the same: by the link table that is called like what it joins, else by that with most rows
        words = set(nodes[here].words)
        own.sort(key=lambda s: (words.isdisjoint(nodes[s.target].words), -nodes[s.target].count))
    return SchemaSteps(steps, forward, backward)


def build_mixed_targets(
    lexicon: Lexicon, nodes: Sequence[SchemaNode], nodes_of_relation: NodesOfRelation
) -> MixedTargets:
    """The nodes of mixed targets, numbered after `nodes`, and the steps to and from them."""
    targets: dict[tuple[str, str], set[str]] = defaultdict(set)
    triples: dict[tuple[str, str], int] = defaultdict(int)
    for link in lexicon.links:
        if link.subject and link.object:
            targets[link.predicate, link.subject].add(link.object)
            triples[link.predicate, link.subject] += link.triples
    mixed: dict[tuple[str, frozenset[str]], SchemaNode] = {}
    steps: dict[int, list[PathStep]] = defaultdict(list)
    target: dict[tuple[int, str], int] = {}
    for (predicate, subject), found in sorted(targets.items()):
        relations = frozenset(found)
        sources = nodes_of_relation.get(subject, ())
        if len(found) < 2 or not sources or any(relations <= n.relations for n in nodes if n.classes):
            continue
        if (predicate, relations) not in mixed:
            label = lexicon.schema.predicate_of[predicate].label
            index = len(nodes) + len(mixed)
            count = triples[predicate, subject]
            mixed[predicate, relations] = schema_node(index, label, (), (), relations, count, named=True)
        at = mixed[predicate, relations].index
        for source in sources:
            steps[source].append(PathStep(predicate, True, at, NAMED_STEP_COST))
            steps[at].append(PathStep(predicate, False, source, NAMED_STEP_COST))
            target[source, predicate] = at
    return MixedTargets(tuple(mixed.values()), steps, target)


HINTED_COST_SHARE = 0.35  # The share of its cost at which a step is taken that the question names.
MAX_PATH_STEPS, UNREACHABLE = 5, 9.0  # Steps of the longest path, and the distance of nodes without a path.

# Paths looked at in one search, and how much dearer than the cheapest a path may be.
MAX_PATHS_EXPANDED, MAX_EXTRA_PATH_COST = 400, 1.5

# Steps looked at in one search: 20 ms. Only graphs of many overlapping classes have more (measured on time scales).
MAX_STEPS_SEEN = 40_000

# The extra cost of going to a shared value and back: two things that share a value have nothing else in common.
SHARED_VALUE_COST = 1.0


# Paths from one node to another, each with its cost, cheapest first.
WeightedPaths = tuple[tuple[float, tuple[PathStep, ...]], ...]


class ShortestPaths:
    """Paths over the steps from each node that pass only through the nodes `between`. Results are cached."""

    def __init__(self, steps: Mapping[int, Sequence[PathStep]], between: frozenset[int]) -> None:
        self.steps, self.between = steps, between
        self.cheapest = lru_cache(maxsize=8192)(self._cheapest)
        self.distance = lru_cache(maxsize=16384)(self._distance)
        self._lean_steps = lru_cache(maxsize=4096)(self._cheapest_steps)
        self._steps_left = lru_cache(maxsize=1024)(self._count_steps_left)

    def _distance(self, source: int, target: int) -> float:
        if source == target:
            return 0.0
        found = self._search(source, target, self._lean_steps, frozenset(), 1)
        return found[0][0] if found else UNREACHABLE

    def _cheapest_steps(self, node: int) -> Sequence[PathStep]:
        """The two cheapest steps of different predicates to each neighbour: repeating one costs more."""
        lean: dict[int, list[PathStep]] = {}
        for step in sorted(self.steps[node], key=lambda step: step.cost):
            known = lean.setdefault(step.target, [])
            if len(known) < 2 and all(step.predicate != each.predicate for each in known):
                known.append(step)
        return [step for steps in lean.values() for step in steps]

    def _count_steps_left(self, target: int) -> Mapping[int, int]:
        """The fewest steps to a node from each node on a path to it."""
        found = {target: 0}
        edge = [target]
        for steps in range(1, MAX_PATH_STEPS):
            neighbours = dict.fromkeys(s.target for here in edge for s in self.steps[here])
            edge = [n for n in neighbours if n in self.between and n not in found]
            found |= dict.fromkeys(edge, steps)
        return found

    def _cheapest(self, source: int, target: int, hints: frozenset[str] = frozenset(), most: int = 3) -> WeightedPaths:
        """The cheapest paths from one node to another, of at least one step. Predicates among the hints cost less."""
        return self._search(source, target, self.steps.__getitem__, hints, most)

    def _search(
        self,
        source: int,
        target: int,
        steps_from: Callable[[int], Sequence[PathStep]],
        hints: frozenset[str],
        most: int,
    ) -> WeightedPaths:
        found: list[tuple[float, tuple[PathStep, ...]]] = []
        passed: tuple[int, ...] = (source,) if source != target else ()
        queue: list[tuple[float, int, int, tuple[PathStep, ...], tuple[int, ...]]] = [(0.0, 0, source, (), passed)]
        number = expanded = seen = 0
        steps_left = self._steps_left(target)
        # the costs of the cheapest paths that wait: the search ends before dearer ones
        ends = [inf] * most
        # the steps from a node by which the target can be reached in so many steps
        usable: dict[tuple[int, int], list[PathStep]] = {}
        while queue and len(found) < most and expanded < MAX_PATHS_EXPANDED and seen < MAX_STEPS_SEEN:
            cost, _, here, path, passed = heapq.heappop(queue)
            expanded += 1
            if path and here == target:
                found.append((cost, path))
                continue
            if len(path) == MAX_PATH_STEPS or (found and cost > found[0][0] + MAX_EXTRA_PATH_COST):
                continue
            steps, room = steps_from(here), MAX_PATH_STEPS - len(path)
            seen += len(steps)
            if (here, room) not in usable:
                usable[here, room] = [step for step in steps if steps_left.get(step.target, room) < room]
            for step in usable[here, room]:
                there = step.target
                if there in passed:
                    continue
                number += 1
                step_cost = step.cost * (HINTED_COST_SHARE if step.predicate in hints else 1.0)
                if path and path[-1].predicate == step.predicate and path[-1].forward and not step.forward:
                    # back over the link that the path came by, to another thing with the same value
                    step_cost += SHARED_VALUE_COST
                if cost + step_cost <= ends[-1]:
                    heapq.heappush(queue, (cost + step_cost, number, there, (*path, step), (*passed, there)))
                    ends = sorted((*ends, cost + step_cost))[:most] if there == target else ends
        return tuple(found)
