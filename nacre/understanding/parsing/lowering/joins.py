"""Join the things of a plan along the cheapest paths: Refs + SchemaGraph -> Joins (variables and edges)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from nacre.records.plan import Edge, Variable
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.graph.shortest_paths import PathStep, WeightedPaths
from nacre.understanding.question.types import Condition, Derivation, Ref

# paths that cost at most so much more than the cheapest are other readings
MAX_EXTRA_COST = 0.7
# slots from here on are things on a path between others, to which nothing is joined
FIRST_SLOT_ON_PATH = 50
# how many paths are looked at if some do not lead to what is named
MAX_PATHS = 8

# the predicates that lead to named things
IncomingPredicates = frozenset[tuple[Ref, frozenset[str]]]


@dataclass(frozen=True)
class Joins:
    """The variables of one select, the edges between them, and what the paths cost.

    `ambiguous` is the number of other paths that are about as cheap.
    """

    variables: Mapping[Ref, Variable]
    edges: tuple[Edge, ...]
    cost: float
    steps: int
    ambiguous: int

    def with_variable(self, ref: Ref, variable: Variable) -> "Joins":
        """Return the joins with another variable for a thing."""
        return replace(self, variables={**self.variables, ref: variable})


def find_joins(
    graph: SchemaGraph,
    refs: Sequence[Ref],
    hints: frozenset[str],
    choice: int = 0,
    prefix: str = "",
    attachment: str = "",
    ends: IncomingPredicates = frozenset(),
) -> Joins | None:
    """Join all things, the nearest first; return None if there is no path.

    `choice` takes the next cheapest path where several are about as cheap. `prefix` begins the names of the variables.
    The result is cached: the readings of a question join the same things again and again.
    """
    return _join(graph, tuple(dict.fromkeys(refs)), hints, choice, prefix, attachment, ends)


@lru_cache(maxsize=4096)
def _join(
    graph: SchemaGraph,
    refs: tuple[Ref, ...],
    hints: frozenset[str],
    choice: int,
    prefix: str,
    attachment: str,
    ends: IncomingPredicates,
) -> Joins | None:
    incoming = dict(ends)
    builder, waiting = _JoinBuilder(graph, prefix), list(refs)
    if waiting:
        builder.add_thing(waiting.pop(0))
    while waiting:
        candidates = _candidates(graph, waiting, tuple(builder.variables), hints, attachment, incoming)
        best = min(candidates, key=lambda candidate: candidate.rank, default=None)
        if best is None:
            return None
        near = [path for path in best.paths if path[0] <= best.paths[0][0] + MAX_EXTRA_COST]
        chosen = min(choice, len(near) - 1)
        choice = max(0, choice - (len(near) - 1))
        builder.add_path(best.known, best.ref, near[chosen], len(near) - 1)
        waiting.remove(best.ref)
    return builder.build()


class _Candidate(NamedTuple):
    """A thing that may be joined next, what it is joined to, and the paths between the two."""

    rank: tuple[float, int, int]
    known: Ref
    ref: Ref
    paths: WeightedPaths


def _candidates(
    graph: SchemaGraph,
    waiting: Sequence[Ref],
    joined: Sequence[Ref],
    hints: frozenset[str],
    attachment: str,
    incoming: Mapping[Ref, frozenset[str]],
) -> Iterator[_Candidate]:
    """Every pair of a thing that waits and a thing that is joined already, if there is a path."""
    for place, ref in enumerate(waiting):
        if any(other.node == ref.node and other.slot < ref.slot for other in waiting):
            # of several things of one class each is joined to the one before
            continue
        for known in joined:
            if known.slot >= FIRST_SLOT_ON_PATH:
                continue
            paths = _paths(graph, known, ref, hints, incoming)
            if not paths:
                continue
            # of several things of one class the last is meant
            same_class = bool(ref.slot) and known.node == ref.node
            to_last = same_class or attachment == "last"
            cost = 0.0 if same_class and attachment == "last" else paths[0][0]
            yield _Candidate((cost, place, -known.slot if to_last else known.slot), known, ref, paths)


def _paths(
    graph: SchemaGraph, known: Ref, ref: Ref, hints: frozenset[str], incoming: Mapping[Ref, frozenset[str]]
) -> WeightedPaths:
    """The cheapest paths from one thing to another.

    For named things, only the paths over predicates that lead to them or that the question names, if there are any.
    """
    paths = graph.cheapest_paths(known.node, ref.node, hints)
    if known not in incoming and ref not in incoming:
        return paths

    def leads(path: tuple[PathStep, ...]) -> bool:
        first, last = path[0], path[-1]
        leads_to_ref = not last.forward or ref not in incoming or last.predicate in incoming[ref] | hints
        leads_to_known = first.forward or known not in incoming or first.predicate in incoming[known] | hints
        return leads_to_ref and leads_to_known

    more = graph.cheapest_paths(known.node, ref.node, hints, MAX_PATHS)
    return tuple(path for path in more if leads(path[1]))[: len(paths)] or paths


class _JoinBuilder:
    """Collects the variables and edges of one select."""

    def __init__(self, graph: SchemaGraph, prefix: str) -> None:
        self._graph, self._prefix = graph, prefix
        self.variables: dict[Ref, Variable] = {}
        self._edges: list[Edge] = []
        self._cost, self._steps, self._ambiguous = 0.0, 0, 0
        self._things_on_paths = 0

    def build(self) -> Joins:
        """Return what was collected."""
        return Joins(self.variables, tuple(self._edges), self._cost, self._steps, self._ambiguous)

    def add_thing(self, ref: Ref) -> str:
        """Add a variable for a thing if it has none, and return its name."""
        known = self.variables.get(ref)
        if known is not None:
            return known.name
        node = self._graph.nodes[ref.node]
        base = name = self._prefix + node.variable
        taken = {variable.name for variable in self.variables.values()}
        number = 1
        while name in taken:
            number += 1
            name = f"{base}_{number}"
        noun = node.label if node.any_of else ""
        self.variables[ref] = Variable(name, node.classes, node.without, any_of=node.any_of, noun=noun)
        return name

    def add_path(self, start: Ref, end: Ref, path: tuple[float, tuple[PathStep, ...]], alternatives: int) -> None:
        """Add the things and edges of a path from one thing to another."""
        cost, steps = path
        self._cost += cost
        self._ambiguous += alternatives
        here = self.variables[start].name
        for i, step in enumerate(steps):
            there = self.add_thing(end) if i == len(steps) - 1 else self._thing_on_path(here, step)
            edge = Edge(here, step.predicate, there) if step.forward else Edge(there, step.predicate, here)
            if edge not in self._edges:
                self._edges.append(edge)
            self._steps += 1
            here = there

    def _thing_on_path(self, here: str, step: PathStep) -> str:
        """The variable between two steps: one that is there already, or a new one."""
        self._things_on_paths += 1
        ref = Ref(step.target, "", FIRST_SLOT_ON_PATH + self._things_on_paths)
        return self._shared_thing(here, step) or self.add_thing(ref)

    def _shared_thing(self, here: str, step: PathStep) -> str | None:
        """A variable on another path over the same edge: one more property of the same row."""
        for edge in self._edges:
            if edge.predicate != step.predicate:
                continue
            if step.forward and edge.subject == here:
                return edge.object
            if not step.forward and edge.object == here:
                other = next((ref for ref, each in self.variables.items() if each.name == edge.subject), None)
                if other is not None and other.slot >= FIRST_SLOT_ON_PATH:
                    return edge.subject
        return None


def incoming_predicates(derivation: Derivation, conditions: Sequence[Condition]) -> IncomingPredicates:
    """Return the predicates that lead to each thing that the conditions name, as far as they are known."""
    known = {link.keys: link.ends for link in derivation.links if link.ends is not None}
    found: dict[Ref, frozenset[str]] = {}
    for condition in conditions:
        if condition.op == "is" and not condition.negated and condition.keys in known:
            ref = condition.ref.thing
            found[ref] = found.get(ref, frozenset()) | known[condition.keys]
    return frozenset(found.items())
