"""Join the things that a plan speaks of by the cheapest ways: Refs + SchemaGraph -> variables and edges."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from nacre.records.plan import Edge, Variable
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.graph.shortest_paths import PathStep, WeightedPaths
from nacre.understanding.question.types import Condition, Derivation, Ref

# ways that cost at most so much more than the cheapest are other readings
AS_GOOD = 0.7
# slots from here on are things in between, which nothing is attached to
BETWEEN = 50
# ways that are looked at where some can't lead to what is named
WIDE = 8

# the predicates that lead to named things
IncomingPredicates = frozenset[tuple[Ref, frozenset[str]]]


class Joins:
    """The variables of one select and the edges that tie them together."""

    def __init__(self) -> None:
        self.variables: dict[Ref, Variable] = {}
        self.edges: list[Edge] = []
        self.cost, self.steps, self.ambiguous = 0.0, 0, 0
        self.spare = 0

    def copy(self) -> "Joins":
        """The same, to be changed on its own."""
        made = Joins()
        made.variables, made.edges = dict(self.variables), self.edges
        made.cost, made.steps, made.ambiguous = self.cost, self.steps, self.ambiguous
        return made

    def add(self, ref: Ref, graph: SchemaGraph, prefix: str) -> str:
        known = self.variables.get(ref)
        if known is not None:
            return known.name
        node = graph.nodes[ref.node]
        base = name = prefix + node.variable
        taken = {v.name for v in self.variables.values()}
        more = 1
        while name in taken:
            more += 1
            name = f"{base}_{more}"
        self.variables[ref] = Variable(name, node.classes, node.without)
        return name

    def walk(self, start: Ref, end: Ref, way: Sequence[PathStep], graph: SchemaGraph, prefix: str) -> None:
        """Add the things and edges of a way from one thing to another."""
        here = self.variables[start].name
        for i, step in enumerate(way):
            if i == len(way) - 1:
                there = self.add(end, graph, prefix)
            else:
                self.spare += 1
                there = self._shared(here, step) or self.add(Ref(step.target, "", BETWEEN + self.spare), graph, prefix)
            edge = Edge(here, step.predicate, there) if step.forward else Edge(there, step.predicate, here)
            if edge not in self.edges:
                self.edges.append(edge)
            self.steps += 1
            here = there

    def _shared(self, here: str, step: PathStep) -> str | None:
        """A variable in between that is already there: one more property of the same row."""
        for edge in self.edges:
            if edge.predicate == step.predicate:
                if step.forward and edge.subject == here:
                    return edge.object
                if not step.forward and edge.object == here:
                    other = next((r for r, v in self.variables.items() if v.name == edge.subject), None)
                    if other is not None and other.slot >= BETWEEN:
                        return edge.subject
        return None


def find_joins(
    graph: SchemaGraph,
    refs: Sequence[Ref],
    hints: frozenset[str],
    choice: int = 0,
    prefix: str = "",
    hung: str = "",
    ends: IncomingPredicates = frozenset(),
) -> Joins | None:
    """Join all of them, nearest first; None where nothing does. `choice` takes the next cheapest way where several are
    about as short. The readings of a question join the same things again and again, which is worked out once."""
    found = _joined(graph, tuple(dict.fromkeys(refs)), hints, choice, prefix, hung, ends)
    return None if found is None else found.copy()


@lru_cache(maxsize=4096)
def _joined(
    graph: SchemaGraph,
    refs: tuple[Ref, ...],
    hints: frozenset[str],
    choice: int,
    prefix: str,
    hung: str,
    ends: IncomingPredicates,
) -> Joins | None:
    leading = dict(ends)
    joins, waiting = Joins(), list(refs)
    if waiting:
        joins.add(waiting.pop(0), graph, prefix)
    while waiting:
        best: tuple[float, int, Ref, Ref, int, WeightedPaths] | None = None
        for place, ref in enumerate(waiting):
            if any(w.node == ref.node and w.slot < ref.slot for w in waiting):
                # of several things of one kind each hangs on the one before
                continue
            for known in joins.variables:
                if known.slot >= BETWEEN:
                    continue
                ways = _ways(graph, known, ref, hints, leading)
                # of several things of one kind the last is meant
                own = bool(ref.slot) and known.node == ref.node
                chain = -known.slot if (own and hung != "first") or hung == "last" else known.slot
                if not ways:
                    continue
                cost = 0.0 if own and hung == "last" else ways[0][0]
                if best is None or (cost, place, chain) < (best[0], best[1], best[4]):
                    best = (cost, place, known, ref, chain, ways)
        if best is None:
            return None
        _, _, known, ref, _, ways = best
        near = [w for w in ways if w[0] <= ways[0][0] + AS_GOOD]
        joins.ambiguous += len(near) - 1
        at = 0
        if choice and len(near) > 1:
            at = min(choice, len(near) - 1)
            choice = max(0, choice - (len(near) - 1))
        cost, way = near[at]
        joins.cost += cost
        joins.walk(known, ref, way, graph, prefix)
        waiting.remove(ref)
    return joins


def _ways(
    graph: SchemaGraph, known: Ref, ref: Ref, hints: frozenset[str], leading: Mapping[Ref, frozenset[str]]
) -> WeightedPaths:
    """The cheapest ways from one thing to another; of named things those by which something leads to them, where there
    are any, and those that the question names."""
    ways = graph.cheapest_paths(known.node, ref.node, hints)
    if known not in leading and ref not in leading:
        return ways

    def leads(way: tuple[PathStep, ...]) -> bool:
        last, first = way[-1], way[0]
        into = not last.forward or ref not in leading or last.predicate in leading[ref] | hints
        return into and (first.forward or known not in leading or first.predicate in leading[known] | hints)

    wide = graph.cheapest_paths(known.node, ref.node, hints, WIDE)
    return tuple(each for each in wide if leads(each[1]))[: len(ways)] or ways


def incoming_predicates(d: Derivation, conditions: Sequence[Condition]) -> IncomingPredicates:
    """The predicates by which something leads to each thing that these conditions name, where that is known."""
    known = {link.keys: link.ends for link in d.links if link.ends is not None}
    found: dict[Ref, frozenset[str]] = {}
    for condition in conditions:
        if condition.op == "is" and not condition.negated and condition.keys in known:
            ref = condition.ref.thing
            found[ref] = found.get(ref, frozenset()) | known[condition.keys]
    return frozenset(found.items())
