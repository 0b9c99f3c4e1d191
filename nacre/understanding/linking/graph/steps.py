"""The links between nodes of the schema graph, with their costs: SchemaNodes + link counts -> PathSteps."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nacre.stores.sqlite.lexicon import Lexicon
from nacre.understanding.linking.graph.nodes import SchemaNode, schema_node
from nacre.understanding.linking.graph.shortest_paths import PathStep

# The cost of a step between nodes with names, and to or from one without; more by the share of things without the link.
NAMED_STEP_COST, NAMELESS_STEP_COST, RARE_STEP_COST = 1.0, 0.6, 0.4

NodesOfRelation = Mapping[str, Sequence[int]]


@dataclass(frozen=True)
class SchemaSteps:
    """The steps from each node. Shares are by (predicate, source, target): of the links with this predicate from the
    source, those that lead to the target, and the other way round."""

    steps: Mapping[int, Sequence[PathStep]]
    forward_share: Mapping[tuple[str, int, int], float]
    backward_share: Mapping[tuple[str, int, int], float]


@dataclass(frozen=True)
class MixedTargets:
    """Nodes for what a link leads to if that is of several classes without a common one: a place or a person.

    `target` is such a node by source and predicate.
    """

    nodes: tuple[SchemaNode, ...]
    steps: Mapping[int, Sequence[PathStep]]
    target: Mapping[tuple[int, str], int]


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
