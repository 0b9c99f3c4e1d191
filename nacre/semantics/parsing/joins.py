"""Join the things that a plan speaks of by the cheapest ways: Refs + SchemaGraph -> variables and edges."""

import re
from collections.abc import Sequence

from nacre.records.plan import Edge, Variable
from nacre.semantics.linking.graph import SchemaGraph, Step
from nacre.semantics.types import Ref

# ways that cost at most so much more than the cheapest are other readings
AS_GOOD = 0.7
# slots from here on are things in between, which nothing is attached to
BETWEEN = 50


class Joins:
    """The variables of one select and the edges that tie them together."""

    def __init__(
        self, graph: SchemaGraph, hints: frozenset[str], choice: int, prefix: str = "", hung: str = ""
    ) -> None:
        self.graph, self.hints, self.choice, self.prefix, self.hung = graph, hints, choice, prefix, hung
        self.variables: dict[Ref, Variable] = {}
        self.edges: list[Edge] = []
        self.cost, self.steps, self.ambiguous = 0.0, 0, 0
        self.spare = 0

    def add(self, ref: Ref) -> str:
        known = self.variables.get(ref)
        if known is not None:
            return known.name
        node = self.graph.nodes[ref.node]
        base = self.prefix + (re.sub(r"\W+", "_", node.label.casefold()).strip("_") or "thing")
        taken = {v.name for v in self.variables.values()}
        name = next(n for k in range(1, 99) if (n := base if k == 1 else f"{base}_{k}") not in taken)
        self.variables[ref] = Variable(name, node.classes, node.without)
        return name

    def connect(self, refs: Sequence[Ref]) -> bool:
        """Join all of them, nearest first."""
        waiting = [r for r in dict.fromkeys(refs) if r not in self.variables]
        if not self.variables and waiting:
            self.add(waiting.pop(0))
        while waiting:
            best: tuple[float, int, Ref, Ref, int] | None = None
            for place, ref in enumerate(waiting):
                if any(w.node == ref.node and w.slot < ref.slot for w in waiting):
                    # of several things of one kind each hangs on the one before
                    continue
                for known in self.variables:
                    if known.slot >= BETWEEN:
                        continue
                    ways = self.graph.path(known.node, ref.node, self.hints)
                    # of several things of one kind the last is meant
                    own = bool(ref.slot) and known.node == ref.node
                    chain = -known.slot if (own and self.hung != "first") or self.hung == "last" else known.slot
                    if not ways:
                        continue
                    cost = 0.0 if own and self.hung == "last" else ways[0][0]
                    if best is None or (cost, place, chain) < (best[0], best[1], best[4]):
                        best = (cost, place, known, ref, chain)
            if best is None:
                return False
            _, _, known, ref, _ = best
            ways = self.graph.path(known.node, ref.node, self.hints)
            near = [w for w in ways if w[0] <= ways[0][0] + AS_GOOD]
            self.ambiguous += len(near) - 1
            at = 0
            if self.choice and len(near) > 1:
                at = min(self.choice, len(near) - 1)
                self.choice = max(0, self.choice - (len(near) - 1))
            cost, way = near[at]
            self.cost += cost
            self._walk(known, ref, way)
            waiting.remove(ref)
        return True

    def _walk(self, start: Ref, end: Ref, way: Sequence[Step]) -> None:
        here = self.variables[start].name
        for i, step in enumerate(way):
            if i == len(way) - 1:
                there = self.add(end)
            else:
                self.spare += 1
                there = self._shared(here, step) or self.add(Ref(step.target, "", BETWEEN + self.spare))
            edge = Edge(here, step.predicate, there) if step.forward else Edge(there, step.predicate, here)
            if edge not in self.edges:
                self.edges.append(edge)
            self.steps += 1
            here = there

    def _shared(self, here: str, step: Step) -> str | None:
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


def thing_of(ref: Ref) -> Ref:
    """The thing that a property is of."""
    return Ref(ref.node, "", ref.slot)
