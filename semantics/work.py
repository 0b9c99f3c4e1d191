"""One try to compose a plan: what was named, what was used of the question, what it costs."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from records.plan import Body, Edge, Filter, Order, Select, Term, Variable
from records.schema import Schema
from semantics.candidates import Candidate
from semantics.markers import Form, Superlative
from semantics.paths import Access, Path, SchemaGraph, Step
from semantics.words import Token, fold


@dataclass
class Node:
    """A thing of the question: an entity, a class, or what a link leads to ("the capital")."""

    name: str
    start: int
    end: int
    role: str
    relations: frozenset[str]
    classes: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    predicate: str = ""
    label: str = ""
    backward: bool = False
    children: list["Node"] = field(default_factory=list)
    parent: "Node | None" = None


@dataclass(frozen=True)
class Draft:
    """A body with its score: what it explains of the question, less what it costs.

    `dropped` counts conditions and superlatives that were said but found no place: the body then says too little.
    """

    body: Body
    score: float
    covered: frozenset[int]
    dropped: int = 0


@dataclass(frozen=True)
class Target:
    """What is asked for: a property (`pick`), a thing (`node`), or how many of it."""

    count: bool = False
    pick: Candidate | None = None
    node: Node | None = None


@dataclass
class Parts:
    """A select under construction."""

    variables: list[Variable] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    filters: list[Filter] = field(default_factory=list)
    ways: dict[tuple[str, tuple[Step, ...]], str] = field(default_factory=dict)

    def select(
        self,
        answers: tuple[Term, ...],
        group: tuple[str, ...] = (),
        order: Order | None = None,
        limit: int | None = None,
        offset: int = 0,
    ) -> Select:
        """The select over what was collected so far."""
        filters = tuple(self.filters)
        return Select(answers, tuple(self.variables), tuple(self.edges), filters, group, order, limit, offset)


class Work:
    """One set of picks being composed; holds what was used so that the rest can be counted."""

    def __init__(
        self,
        tokens: Sequence[Token],
        form: Form,
        picks: Sequence[Candidate],
        graph: SchemaGraph,
        scope: Node | None,
        common: frozenset[str] = frozenset(),
        avoided: frozenset[str] = frozenset(),
        turn: int = 0,
    ) -> None:
        self.tokens = tokens
        self.common = common
        self.avoided = avoided
        self.turn = turn
        self.choices = 1
        self.unsaid: set[str] = set()
        self.words = [t.norm for t in tokens]
        self.form = form
        self.graph = graph
        self.schema: Schema = graph.schema
        self.used: set[int] = set(form.taken)
        self.cost = 0.0
        self.dropped = 0
        self.reversed = False
        self.compared = False
        self.names: dict[str, int] = {}
        self.picks = list(picks)
        self.scope = scope
        self.nodes: list[Node] = []
        self.attributes = [p for p in picks if p.kind == "predicate" and self.is_literal(p.predicate)]
        self.links = [p for p in picks if p.kind == "predicate" and not self.is_literal(p.predicate)]
        self.values = [p for p in picks if p.kind == "value"]
        self.flags = [p for p in picks if p.kind == "flag"]
        self.supers = [s for s in form.superlatives if not self.inside_pick(s)]
        self.spent_links: set[int] = set()
        # things of which one is meant: the first by a predicate, descending or not
        self.ranked: list[tuple[Node, str, bool]] = []
        self.ways: dict[str, Path] = {}

    def is_literal(self, iri: str) -> bool:
        return self.schema.predicate_of[iri].has_literals

    def inside_pick(self, marker: Superlative) -> bool:
        return any(p.start <= marker.start and marker.end <= p.end and p.exact for p in self.picks)

    def fresh(self, label: str) -> str:
        base = "".join(c if c.isalnum() else "_" for c in fold(label)).strip("_")[:24] or "thing"
        self.names[base] = self.names.get(base, 0) + 1
        return base if self.names[base] == 1 else f"{base}{self.names[base]}"

    def type_label(self, node: Node) -> str:
        if node.classes and len(node.relations) == 1:
            (relation,) = node.relations
            return next((g.label for g in self.schema.groups if g.relation == relation), node.label)
        return self.schema.class_of[node.classes[0]].label if node.classes else node.label or "thing"

    def type_of(self, relations: frozenset[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The class that has exactly these tables, as (classes, without)."""
        groups = [g for g in self.schema.groups if g.relation in relations]
        if len(groups) == 1:
            return groups[0].classes, groups[0].without
        shared = set.intersection(*(set(g.classes) for g in groups)) if groups else set()
        for iri in sorted(
            shared, key=lambda c: (self.schema.class_of[c].count, c) if c in self.schema.class_of else (0, c)
        ):
            if sum(iri in g.classes for g in self.schema.groups) == len(groups):
                return (iri,), ()
        return (), ()

    def beside_class(self, node: Node) -> Node | None:
        """The class noun right after a named thing, "X models"; a plural does not stand before a noun."""
        last = self.tokens[node.end - 1] if 0 < node.end <= len(self.tokens) else None
        if node.role == "class" and not node.keys and last is not None and last.norm != last.lemma:
            return None
        end = node.end
        while end < len(self.words) and self.words[end] in self.common:
            end += 1
        return next((n for n in self.nodes if n.start == end and n.role == "class"), None)

    def bounded(self, pick: Candidate) -> bool:
        """Is this property only said to set a condition: "with a price under 100"?"""
        return any(0 <= b.start - pick.end <= 2 or 0 <= pick.start - b.end <= 1 for b in self.form.bounds)

    def as_pick(self, predicate: str, position: int) -> Candidate:
        label = self.schema.predicate_of[predicate].label
        return Candidate(
            "predicate", position, position + 1, 1.0, label, predicate=predicate, covered=frozenset((position,))
        )

    def measured(self, node: Node, concepts: tuple[str, ...]) -> tuple[str, Access, float] | None:
        found = self.graph.measuring(node.relations, concepts)
        return found[0] if found else None

    def noun_link(self, pick: Candidate) -> bool:
        """Is a link predicate said as a noun ("the capital of X") rather than as a verb ("X borders Y")?"""
        after = self.words[pick.end] if pick.end < len(self.words) else ""
        before = self.words[pick.start - 1] if pick.start else ""
        if any(n.keys and n.end == pick.start for n in self.nodes):
            # "X's capital"
            return True
        return after == "of" or before in ("the", "a", "an", "its", "their", "'s")

    def link_node(self, pick: Candidate) -> Node | None:
        """What the link leads to, as a thing of the question."""
        ends = self.graph.ends[pick.predicate]
        relations = frozenset(end.subject if pick.backward else end.object for end in ends)
        if not relations:
            return None
        self.used |= pick.covered
        self.spent_links.add(pick.start)
        classes, without = self.type_of(relations)
        label = self.schema.predicate_of[pick.predicate].label
        beside = next(
            (
                n
                for n in self.nodes
                if n.role == "class" and n.start in (pick.end, pick.start - 1) and n.relations & relations
            ),
            None,
        )
        if beside is not None:
            self.nodes.remove(beside)
        node = Node(
            self.fresh(label),
            pick.start,
            pick.end,
            "link",
            relations,
            classes,
            without,
            predicate=pick.predicate,
            label=label,
            backward=pick.backward,
        )
        self.nodes.append(node)
        self.nodes.sort(key=lambda n: n.start)
        return node

    def noun_between(self, pick: Candidate) -> bool:
        """A link said as a noun between two things it could join: "population of the capital of X"."""
        following = next((n for n in self.nodes if n.start >= pick.end), None)
        ends = self.graph.ends[pick.predicate]
        domain, range_ = {end.subject for end in ends}, {end.object for end in ends}
        if pick.backward:
            domain, range_ = range_, domain
        before = next((n for n in reversed(self.nodes) if n.end <= pick.start), None)
        said = before is not None and before.relations & range_ and self.form.asked == "yesno"
        # "is A the capital of B": both ends are named, the link only joins them
        return (
            not said
            and self.noun_link(pick)
            and following is not None
            and bool(domain & following.relations)
            and not any(n.role == "class" and n.end == pick.start for n in self.nodes)
        )

    def negation_before(self, pick: Candidate) -> bool:
        return any(0 < pick.start - i <= 5 for i in self.form.negations)
