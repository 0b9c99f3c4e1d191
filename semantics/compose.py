"""Compose a plan from what the spans of a question name: picks + form -> Draft (after DCS: a tree over the schema graph)."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from records.plan import (
    Aggregate,
    Ask,
    Attribute,
    Body,
    Compute,
    Constant,
    Edge,
    Filter,
    Function,
    Itself,
    Order,
    Select,
    Term,
    Variable,
)
from records.schema import Schema
from semantics.english import Measure, function_words, resource
from semantics.linker import Candidate
from semantics.markers import Bound, Form, Superlative
from semantics.paths import Access, Path, SchemaGraph, Step
from semantics.units import convert
from semantics.words import Token, fold, lemma

_LINKING = frozenset("of the in at for a an named called by is are with state".split())


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
    children: list["Node"] = field(default_factory=list)
    parent: "Node | None" = None
    sub: Select | None = None


@dataclass(frozen=True)
class Draft:
    """A body with its score: what it explains of the question, less what it costs."""

    body: Body
    score: float
    covered: frozenset[int]


@dataclass
class _Parts:
    """A select under construction."""

    variables: list[Variable] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    filters: list[Filter] = field(default_factory=list)
    ways: dict[tuple[str, tuple[Step, ...]], str] = field(default_factory=dict)
    cost: float = 0.0


class Composer:
    """One try to compose one set of picks; holds what was used so that the rest can be counted."""

    def __init__(
        self,
        tokens: Sequence[Token],
        form: Form,
        picks: Sequence[Candidate],
        graph: SchemaGraph,
        scope: Node | None,
        common: frozenset[str] = frozenset(),
        avoided: frozenset[str] = frozenset(),
    ) -> None:
        self.tokens = tokens
        self.common = common
        self.avoided = avoided
        self.unsaid: set[str] = set()
        self.words = [t.norm for t in tokens]
        self.form = form
        self.graph = graph
        self.schema: Schema = graph.schema
        self.used: set[int] = set(form.taken)
        self.cost = 0.0
        self.names: dict[str, int] = {}
        self.picks = list(picks)
        self.scope = scope
        self.nodes: list[Node] = []
        self.attributes = [p for p in picks if p.kind == "predicate" and self._literal(p.predicate)]
        self.links = [p for p in picks if p.kind == "predicate" and not self._literal(p.predicate)]
        self.values = [p for p in picks if p.kind == "value"]
        self.flags = [p for p in picks if p.kind == "flag"]
        self.supers = [s for s in form.superlatives if not self._inside_pick(s)]
        self.bounds = list(form.bounds)
        self.spent_links: set[int] = set()
        self._make_nodes()

    # the things named

    def _literal(self, iri: str) -> bool:
        return self.schema.predicate_of[iri].has_literals

    def _inside_pick(self, marker: Superlative) -> bool:
        return any(p.start <= marker.start and marker.end <= p.end and p.exact for p in self.picks)

    def _fresh(self, label: str) -> str:
        base = "".join(c if c.isalnum() else "_" for c in fold(label)).strip("_")[:24] or "thing"
        self.names[base] = self.names.get(base, 0) + 1
        return base if self.names[base] == 1 else f"{base}{self.names[base]}"

    def _make_nodes(self) -> None:
        found: list[Node] = []
        for pick in sorted((p for p in self.picks if p.kind in ("entity", "class")), key=lambda p: p.start):
            self.used |= pick.covered
            node = Node(
                "", pick.start, pick.end, pick.kind, pick.relations, pick.classes, pick.without, pick.keys, label=pick.label
            )
            last = found[-1] if found else None
            if last and self._glued(last, node):
                merged = self._merge(last, node)
                if merged:
                    found[-1] = merged
                    continue
            found.append(node)
        if self.scope is not None:
            found.append(self.scope)
            found.sort(key=lambda n: n.start)
        self.nodes = found
        for node in self.nodes:
            node.name = self._fresh(self._type_label(node))

    def _glued(self, a: Node, b: Node) -> bool:
        return all(self.words[i] in _LINKING - {"in", "at", "for", "by", "with"} for i in range(a.end, b.start))

    def _merge(self, a: Node, b: Node) -> Node | None:
        """A class beside an entity of it names one thing: "the city of X", "X state"."""
        common = a.relations & b.relations
        if not common or (a.role == "entity" and b.role == "entity"):
            return None
        if a.role == "class" and b.role == "class":
            if a.end != b.start or a.relations == b.relations:
                return None
            narrow = min((a, b), key=lambda n: sum(self.graph.size.get(r, 1) for r in n.relations))
            return replace(narrow, start=a.start, end=b.end)
        entity = a if a.role == "entity" else b
        # "the X models" asks for them, "the city of X" only says which X is meant
        role = "class" if len(entity.keys) > 1 else "entity"
        return replace(entity, start=a.start, end=b.end, role=role)

    def _type_label(self, node: Node) -> str:
        if node.classes and len(node.relations) == 1:
            (relation,) = node.relations
            return next((g.label for g in self.schema.groups if g.relation == relation), node.label)
        return self.schema.class_of[node.classes[0]].label if node.classes else node.label or "thing"

    def _type_of(self, relations: frozenset[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The class that has exactly these tables, as (classes, without)."""
        groups = [g for g in self.schema.groups if g.relation in relations]
        if len(groups) == 1:
            return groups[0].classes, groups[0].without
        shared = set.intersection(*(set(g.classes) for g in groups)) if groups else set()
        for iri in sorted(shared, key=lambda c: (self.schema.class_of[c].count, c) if c in self.schema.class_of else (0, c)):
            if sum(iri in g.classes for g in self.schema.groups) == len(groups):
                return (iri,), ()
        return (), ()

    # what is asked for

    def drafts(self) -> list[Draft]:
        """The plans these picks allow, best first; empty where they do not hang together."""
        body = self._comparison() or self._yes_no() or self._main()
        if body is None:
            return []
        return [Draft(body, self._score(), frozenset(self.used))]

    def _score(self) -> float:
        return -self.cost

    def _main(self) -> Body | None:
        target = self._target()
        if target is None:
            return None
        kind, item = target
        if kind == "attribute":
            return self._attribute_plan(item)
        if isinstance(item, Node):
            return self._node_plan(item, count=kind == "count")
        return None

    def _target(self) -> tuple[str, "Candidate | Node | Measure"] | None:
        form = self.form
        count = form.asked == "count"
        if form.asked == "degree" and form.degree and self.nodes:
            found = self._measured(self.nodes[0], form.degree.concepts)
            if found:
                self.cost += found[2] * 0.5
                return "attribute", self._as_pick(found[0], form.focus)
        if form.asked == "where":
            return self._place_target()
        if form.asked == "who" and not any(p.start >= form.focus and p.start <= form.focus + 1 for p in self.picks if p.kind == "class"):
            return self._who_target()
        items: list[tuple[int, int, str, Candidate | Node]] = []
        for node in self.nodes:
            items.append((node.start, 0, "node", node))
        for pick in self.attributes:
            items.append((pick.start, 1, "attribute", pick))
        for pick in self.links:
            items.append((pick.start, 1, "link", pick))
        items.sort(key=lambda i: i[:2])
        after = [i for i in items if i[0] >= form.focus] or items
        if not after:
            return None
        first = after[0]
        if isinstance(first[3], Node) and (beside := self._beside_class(first[3])) is not None:
            first = (beside.start, 0, "node", beside)
            after = [first, *(i for i in after if i[3] is not beside)]
        ordered = self.supers and first[2] == "attribute" and any(s.end == first[0] for s in self.supers)
        if form.asked in ("fragment", "list", "amount") or first[2] == "node" and first[3].role in ("entity", "scope"):  # type: ignore[union-attr]
            # "height of X", "X population", "name the capital of X": a property said anywhere is what is wanted
            wanted = next((i for i in after if i[2] == "attribute" and not self._bounded(i[3])), None)  # type: ignore[arg-type]
            wanted = wanted or next((i for i in after if i[2] == "link" and self._noun_link(i[3], True)), None)  # type: ignore[arg-type]
            if wanted and (first[2] != "node" or first[3].role in ("entity", "scope")):  # type: ignore[union-attr]
                if not (first[2] == "node" and first[3].role == "scope" and self.supers and form.asked == "which"):  # type: ignore[union-attr]
                    first = wanted
        if first[2] == "attribute" and not (ordered and any(n.role == "class" for n in self.nodes) and form.asked == "which" and not self._of_follows(first[3])):  # type: ignore[arg-type]
            pick = first[3]
            assert isinstance(pick, Candidate)
            if count and self.schema.predicate_of[pick.predicate].minimum is None:
                return None
            return "attribute", pick
        if first[2] == "link":
            pick = first[3]
            assert isinstance(pick, Candidate)
            nouns = [n for n in self.nodes if n.role == "class" and n.start >= form.focus and n.start < pick.start]
            if not nouns:
                node = self._link_node(pick)
                if node:
                    return ("count" if count else "node"), node
        node = next((i[3] for i in after if isinstance(i[3], Node)), None)
        if node is None:
            return None
        head = self._head(node)
        if head is None:
            return self._who_target()
        return ("count" if count else "node"), head

    def _head(self, node: Node) -> Node | None:
        """The noun that a named thing stands before: "the X models" asks for models; None where that noun is unknown."""
        if node.role == "class" or node.role == "scope" or self.form.asked not in ("which", "count", "list", "fragment"):
            return node
        beside = self._beside_class(node)
        if beside is not None:
            return beside
        if self.form.asked in ("which", "list") and node.end < len(self.tokens):
            following = self.tokens[node.end]
            if following.norm not in function_words() and not any(node.end in p.covered for p in self.picks) and node.end not in self.used:
                return None
        return node

    def _beside_class(self, node: Node) -> Node | None:
        """The class noun right after a named thing: "X models"."""
        end = node.end
        while end < len(self.words) and self.words[end] in self.common:
            end += 1
        return next((n for n in self.nodes if n.start == end and n.role == "class"), None)

    def _of_follows(self, pick: Candidate) -> bool:
        return pick.end < len(self.words) and self.words[pick.end] in ("of", "in", "for", "on", "at")

    def _bounded(self, pick: Candidate) -> bool:
        """Is this property only said to set a condition: "with a price under 100"?"""
        return any(0 <= b.start - pick.end <= 2 or 0 <= pick.start - b.end <= 1 for b in self.bounds)

    def _as_pick(self, predicate: str, position: int) -> Candidate:
        label = self.schema.predicate_of[predicate].label
        return Candidate("predicate", position, position + 1, 1.0, label, predicate=predicate, covered=frozenset((position,)))

    def _measured(self, node: Node, concepts: tuple[str, ...]) -> tuple[str, Access, float] | None:
        found = self.graph.measuring(node.relations, concepts)
        return found[0] if found else None

    def _place_target(self) -> tuple[str, "Candidate | Node"] | None:
        """"Where is X": what a link about places says of X; "where is the highest P" is P itself."""
        for pick in self.links:
            if self._noun_link(pick, False) and not any(n.start < pick.end for n in self.nodes):
                node = self._link_node(pick)
                if node:
                    return "node", node
        if not self.nodes:
            return None
        thing = self.nodes[0]
        words = set(resource()["places"])
        best: tuple[float, Step] | None = None
        for relation in thing.relations:
            for step in self.graph.steps[relation]:
                if step.forward:
                    names = set().union(*self.graph.words[step.predicate]) if self.graph.words[step.predicate] else set()
                    names |= {lemma(w) for w in fold(step.target).split("_")}
                    cost = 0.0 if names & words else 1.0
                    if best is None or (cost, -step.triples) < (best[0], -best[1].triples):
                        best = cost, step
        if best is None or best[0] > 0.5:
            return None
        step = best[1]
        relations = frozenset(s.target for r in thing.relations for s in self.graph.steps[r] if s.predicate == step.predicate and s.forward)
        already = next((n for n in self.nodes[1:] if n.role == "class" and n.relations & relations), None)
        if already:
            return "node", already
        classes, without = self._type_of(relations)
        node = Node(self._fresh("place"), self.form.focus - 1, self.form.focus, "link", relations, classes, without, predicate=step.predicate)
        self.nodes.insert(0, node)
        return "node", node

    def _who_target(self) -> tuple[str, "Candidate | Node"] | None:
        """Who: a thing of a table about persons, else of the table that links to everything else named."""
        for pick in self.links:
            node = self._link_node(pick) if self._noun_link(pick, False) else None
            if node:
                return "node", node
        persons = set(resource()["persons"])
        tables: list[tuple[float, str]] = []
        for group in self.schema.groups:
            names = {lemma(w) for text in (group.label, *group.words) for w in fold(text).split()}
            cost = 0.0 if names & persons else 0.8
            relation = frozenset((group.relation,))
            for node in self.nodes:
                ways = self.graph.paths(relation, node.relations)
                cost += ways[0].cost if ways else 5.0
            tables.append((cost, group.relation))
        if not tables or not self.nodes:
            return None
        relation = min(tables)[1]
        classes, without = self._type_of(frozenset((relation,)))
        node = Node(self._fresh(relation), self.form.focus - 1, self.form.focus, "class", frozenset((relation,)), classes, without)
        self.nodes.insert(0, node)
        return "node", node

    def _noun_link(self, pick: Candidate, loose: bool) -> bool:
        """Is a link predicate said as a noun ("the capital of X") rather than as a verb ("X borders Y")?"""
        after = self.words[pick.end] if pick.end < len(self.words) else ""
        before = self.words[pick.start - 1] if pick.start else ""
        if after in ("of", "for") or before in ("the", "a", "an", "its", "their", "'s"):
            return True
        return loose

    def _link_node(self, pick: Candidate) -> Node | None:
        """What the link leads to, as a thing of the question."""
        relations = frozenset(l.object for l in self.graph_links(pick.predicate) if l.object)
        if not relations:
            return None
        self.used |= pick.covered
        self.spent_links.add(pick.start)
        classes, without = self._type_of(relations)
        label = self.schema.predicate_of[pick.predicate].label
        beside = next((n for n in self.nodes if n.role == "class" and n.start in (pick.end, pick.start - 1) and n.relations & relations), None)
        if beside is not None:
            self.nodes.remove(beside)
        node = Node(self._fresh(label), pick.start, pick.end, "link", relations, classes, without, predicate=pick.predicate, label=label)
        self.nodes.append(node)
        self.nodes.sort(key=lambda n: n.start)
        return node

    def graph_links(self, predicate: str) -> list["_LinkEnd"]:
        return [
            _LinkEnd(relation, step.target)
            for relation, steps in self.graph.steps.items()
            for step in steps
            if step.predicate == predicate and step.forward
        ]

    # the tree

    def _tree(self, root: Node) -> None:
        """Attach every node to the one it belongs to: the least cost of way, distance and words in between."""
        for pick in self.links:
            if pick.start not in self.spent_links and self._noun_between(pick):
                self._link_node(pick)
        placed, waiting = [root], [n for n in self.nodes if n is not root]
        while waiting:
            best: tuple[float, int, int, Node, Node, Path] | None = None
            for child in waiting:
                for parent in placed:
                    way = self._way(parent, child)
                    if way is None:
                        continue
                    cost = way.cost + self._distance(parent, child, placed)
                    key = (cost, child.start, -parent.start)
                    if best is None or key < best[:3]:
                        best = (*key, parent, child, way)
            if best is None:
                self.cost += 1.5 * len(waiting)
                for node in waiting:
                    self.used -= set(range(node.start, node.end))
                return
            cost, _, _, parent, child, way = best
            self.cost += way.cost
            child.parent = parent
            parent.children.append(child)
            child.sub = None
            self.ways[child.name] = way
            placed.append(child)
            waiting.remove(child)

    def _noun_between(self, pick: Candidate) -> bool:
        """A link said as a noun between two things it could join: "population of the capital of X"."""
        following = next((n for n in self.nodes if n.start >= pick.end), None)
        domain = {l.subject for l in self.graph_links(pick.predicate)}
        return self._noun_link(pick, False) and following is not None and bool(domain & following.relations) and not any(
            n.role == "class" and n.end == pick.start for n in self.nodes
        )

    def _way(self, parent: Node, child: Node) -> Path | None:
        if child.role == "link":
            return self._way_by(parent, child, child.predicate, forward=True)
        if parent.role == "link" and parent.parent is None and not any(c.parent is parent for c in self.nodes if c.role != "x" and self.ways.get(c.name) and self.ways[c.name].steps[-1].predicate == parent.predicate):
            found = self._way_by(parent, child, parent.predicate, forward=False)
            if found:
                return found
        ways = self.graph.paths(parent.relations, child.relations)
        if not ways:
            return None
        said = {p.predicate: p for p in self.links}
        best: tuple[float, Path] | None = None
        for way in ways:
            bonus = 0.0
            if any(step.predicate in self.avoided for step in way.steps):
                continue
            for step in way.steps:
                pick = said.get(step.predicate)
                if pick is not None:
                    near = min(abs(pick.start - child.end), abs(child.start - pick.end), abs(pick.start - parent.end), abs(parent.start - pick.end))
                    bonus += 0.6 * pick.score if near <= 4 else 0.3 * pick.score
            cost = way.cost - bonus
            if best is None or cost < best[0]:
                best = cost, way
        if best is None:
            return None
        if best[1].cost - best[0] < 0.1:
            self.unsaid |= {s.predicate for s in best[1].steps}
        way = self._oriented(best[1], parent, child, ways)
        return Path(way.steps, max(0.2, best[0]))

    def _oriented(self, way: Path, parent: Node, child: Node, ways: tuple[Path, ...]) -> Path:
        """Links between things of one table go both ways: the thing said first is the subject, unless "by" follows."""
        if len(way.steps) != 1 or not (parent.relations & child.relations):
            return way
        step = way.steps[0]
        pick = next((p for p in self.links if p.predicate == step.predicate), None)
        passive = pick is not None and pick.end < len(self.words) and self.words[pick.end] == "by"
        forward = (parent.start < child.start) != passive
        if step.forward == forward:
            return way
        return next((w for w in ways if len(w.steps) == 1 and w.steps[0].predicate == step.predicate and w.steps[0].forward == forward), way)

    def _way_by(self, parent: Node, child: Node, predicate: str, forward: bool) -> Path | None:
        steps = [
            s for r in sorted(parent.relations) for s in self.graph.steps[r]
            if s.predicate == predicate and s.forward == forward and s.target in child.relations
        ]
        if steps:
            return Path((steps[0],), 0.3)
        if not forward:
            # the owner of the link may lie one step further: "the capital of the country of X"
            return None
        for first in (s for r in sorted(parent.relations) for s in self.graph.steps[r]):
            for second in self.graph.steps[first.target]:
                if second.predicate == predicate and second.forward and second.target in child.relations:
                    return Path((first, second), 1.5)
        return None

    def _distance(self, parent: Node, child: Node, placed: list[Node]) -> float:
        between = [n for n in self.nodes if min(parent.end, child.end) <= n.start < max(parent.start, child.start) and n not in (parent, child)]
        cost = 0.22 * len(between)
        head = self._beside_class(parent)
        if head is not None and parent.keys and child is not head and child.start > head.start:
            # what follows "X models" is said of the models, not of X
            cost += 1.5
        if parent.keys and child.keys:
            cost += 0.9
        if child.start < parent.start:
            cost += 0.1
        if self._after_and(child):
            sibling = next((n for n in reversed(placed) if n.end <= child.start and n.relations & child.relations and n is not child), None)
            if sibling is not None and sibling.parent is parent:
                cost -= 0.5
        return cost

    def _after_and(self, node: Node) -> bool:
        return any(self.words[i] in ("and", "or", "both") for i in range(max(0, node.start - 4), node.start))

    @property
    def ways(self) -> dict[str, Path]:
        if not hasattr(self, "_ways"):
            self._ways: dict[str, Path] = {}
        return self._ways

    # selects

    def _node_plan(self, target: Node, count: bool) -> Body | None:
        self._tree(target)
        if target.role == "entity" and self.form.asked in ("which", "who", "list", "count"):
            # what was named is not what was asked for
            self.cost += 1.2
        parts = _Parts()
        self._emit(target, parts)
        order, group, limit, offset = self._order(target, parts)
        self._conditions(target, parts)
        beside = () if count or group else self._beside(target, parts)
        select = Select(
            (Itself(target.name), *beside), tuple(parts.variables), tuple(parts.edges), tuple(parts.filters),
            group=group, order=order, limit=limit, offset=offset,
        )
        for position, function in self.form.aggregates:
            if function == "sum" and not count and not self.attributes:
                self.used.discard(position)
        if count and order is None:
            return replace(select, answers=(Aggregate("count", Itself(target.name)),))
        if count:
            return Select(
                (Aggregate("count", Itself("counted")),), (Variable("counted", target.classes, target.without),), (),
                (Filter(Itself("counted"), "in", select),),
            )
        return select

    def _beside(self, target: Node, parts: _Parts) -> tuple[Attribute, ...]:
        """"... and its price": a property asked for beside the thing itself."""
        for pick in self.attributes:
            before = set(self.words[max(0, pick.start - 5) : pick.start])
            ways = self.graph.access(target.relations, pick.predicate)
            if "and" in before and ways and not self._bounded(pick):
                self.used |= pick.covered
                return (Attribute(self._walk(target.name, ways[0].steps, parts), pick.predicate),)
        return ()

    def _attribute_plan(self, pick: "Candidate | Node | Measure") -> Body | None:
        assert isinstance(pick, Candidate)
        self.used |= pick.covered
        owner = self._owner(pick)
        if owner is None:
            return None
        self._tree(owner)
        parts = _Parts()
        self._emit(owner, parts)
        ways = self.graph.access(owner.relations, pick.predicate)
        if not ways:
            return None
        access = self._best_access(owner, ways)
        self.cost += access.cost
        variable = self._walk(owner.name, access.steps, parts)
        function = self._function(pick)
        order, group, limit, offset = self._order(owner, parts, wanted=pick)
        self._conditions(owner, parts)
        attribute = Attribute(variable, pick.predicate)
        numeric = self.schema.predicate_of[pick.predicate].minimum is not None
        if self.form.asked == "count" and not numeric:
            function = "count"
        if function and (numeric or function == "count"):
            part = {"min": "low", "max": "high"}.get(function, "")
            if self.schema.predicate_of[pick.predicate].shape != "range":
                part = ""
            answers: tuple[Term, ...] = (Aggregate(function, replace(attribute, part=part)),)  # type: ignore[arg-type]
            return Select(answers, tuple(parts.variables), tuple(parts.edges), tuple(parts.filters))
        # one step away there may be many things: each value is said with its owner
        several = bool(access.steps) and not access.steps[0].forward or owner.role == "class" or len(owner.keys) > 1
        answers = (Itself(variable if access.steps else owner.name), attribute) if several else (attribute,)
        return Select(
            answers, tuple(parts.variables), tuple(parts.edges), tuple(parts.filters),
            order=order, limit=limit, offset=offset, group=group,
        )

    def _best_access(self, owner: Node, ways: tuple[Access, ...]) -> Access:
        if owner.role == "class" or len(ways) == 1:
            return ways[0]
        return ways[0]

    def _function(self, pick: Candidate) -> Function | None:
        for position, function in self.form.aggregates:
            if position not in pick.covered:
                return function
        for marker in self.supers:
            if marker.end == pick.start and marker.measure is not None:
                self.supers.remove(marker)
                return "max" if marker.descending else "min"
        return None

    def _owner(self, pick: Candidate) -> Node | None:
        """The thing whose property is asked for: the nearest that has it, those after "of" first."""
        best: tuple[float, Node] | None = None
        for link in list(self.links):
            if link.start > pick.end and self._noun_between(link):
                self._link_node(link)
        for node in self.nodes:
            ways = self.graph.access(node.relations, pick.predicate)
            if not ways or self._beside_class(node) is not None:
                continue
            between = sum(1 for n in self.nodes if min(pick.end, node.end) <= n.start < max(pick.start, node.start) and n is not node)
            cost = ways[0].cost + 0.35 * between + (0.0 if node.start > pick.start else 0.15)
            if best is None or cost < best[0]:
                best = cost, node
        if best is not None:
            return best[1]
        if self.nodes:
            return None
        relations = sorted(((n, r) for (r, p), n in self.graph.facts.items() if p == pick.predicate), reverse=True)
        if not relations or self.form.asked in ("fragment",):
            return None
        only = frozenset((relations[0][1],))
        classes, without = self._type_of(only)
        node = Node(self._fresh(relations[0][1]), pick.end, pick.end, "class", only, classes, without)
        self.nodes.append(node)
        return node

    def _emit(self, node: Node, parts: _Parts) -> None:
        """The node and everything attached to it, as variables and edges; a superlative below becomes a sub-select."""
        if not any(v.name == node.name for v in parts.variables):
            parts.variables.append(Variable(node.name, node.classes, node.without, node.keys))
        for child in node.children:
            way = self.ways[child.name]
            self._spend(way)
            if self._negated(node, child):
                inner = _Parts()
                copy = Node(node.name + "_not", 0, 0, "class", node.relations, node.classes, node.without)
                copy.children = [child]
                inner.variables.append(Variable(copy.name, copy.classes, copy.without))
                self._emit(child, inner)
                self._join(copy.name, way, child.name, inner)
                parts.filters.append(
                    Filter(Itself(node.name), "in", Select((Itself(copy.name),), tuple(inner.variables), tuple(inner.edges), tuple(inner.filters)), negated=True)
                )
                continue
            self._join(node.name, way, child.name, parts)
            own = self._superlative_of(child, node)
            most = None if own else self._counting_child(child)
            if own is not None or most is not None:
                inner = _Parts()
                self._emit(child, inner)
                sub = self._ranked(child, own, inner) if own else self._most(child, *most, inner)  # type: ignore[misc]
                if sub is not None:
                    parts.variables.append(Variable(child.name, child.classes, child.without))
                    parts.filters.append(Filter(Itself(child.name), "in", sub))
                    continue
            self._emit(child, parts)

    def _spend(self, way: Path) -> None:
        for step in way.steps:
            for pick in self.links:
                if pick.predicate == step.predicate:
                    self.used |= pick.covered

    def _negated(self, parent: Node, child: Node) -> bool:
        low, high = sorted((parent.start, child.start))
        return any(low < i < high for i in self.form.negations)

    def _superlative_of(self, node: Node, parent: Node) -> Superlative | None:
        """A superlative right before a thing that is not the one asked for, unless the one asked for "has" it."""
        for marker in self.supers:
            if marker.measure is None or not 0 <= node.start - marker.end <= 1:
                continue
            verb = {self.words[i] for i in range(parent.end, marker.start)}
            if verb & {"has", "have", "having", "had", "with"}:
                continue
            return marker
        return None

    def _counting_child(self, node: Node) -> tuple[Superlative, Node] | None:
        """"The state that borders the most states": a plain "most" before a thing attached to this one."""
        for marker in self.supers:
            for child in node.children:
                if marker.measure is None and 0 <= child.start - marker.end <= 1:
                    return marker, child
        return None

    def _most(self, node: Node, marker: Superlative, counted: Node, parts: _Parts) -> Select:
        self.supers.remove(marker)
        return Select(
            (Itself(node.name),), tuple(parts.variables), tuple(parts.edges), tuple(parts.filters), (node.name,),
            Order(Aggregate("count", Itself(counted.name)), marker.descending), marker.limit, marker.place - 1,
        )

    def _ranked(self, node: Node, marker: Superlative, parts: _Parts) -> Select | None:
        assert marker.measure is not None
        found = self._measured(node, marker.measure.concepts)
        if found is None:
            return None
        self.supers.remove(marker)
        order = self._by(node.name, found[0], found[1], marker.descending, parts)
        return Select(
            (Itself(node.name),), tuple(parts.variables), tuple(parts.edges), tuple(parts.filters),
            order=order, limit=marker.limit, offset=marker.place - 1,
        )

    def _by(self, variable: str, predicate: str, access: Access, descending: bool, parts: _Parts) -> Order:
        end = self._walk(variable, access.steps, parts)
        shape = self.schema.predicate_of[predicate].shape
        part = ("high" if descending else "low") if shape == "range" else ""
        return Order(Attribute(end, predicate, part), descending)  # type: ignore[arg-type]

    def _walk(self, start: str, steps: tuple[Step, ...], parts: _Parts) -> str:
        """Follow steps from a variable, making the variables in between; the same way is walked once."""
        here = start
        for i, step in enumerate(steps):
            key = (start, steps[: i + 1])
            known = parts.ways.get(key) or self._existing(here, step, parts)
            if known is None:
                known = self._fresh(next((g.label for g in self.schema.groups if g.relation == step.target), step.target))
                classes, without = self._type_of(frozenset((step.target,)))
                parts.variables.append(Variable(known, classes, without))
                parts.edges.append(Edge(here, step.predicate, known) if step.forward else Edge(known, step.predicate, here))
            parts.ways[key] = known
            here = known
        return here

    def _existing(self, here: str, step: Step, parts: _Parts) -> str | None:
        for edge in parts.edges:
            if edge.predicate == step.predicate:
                if step.forward and edge.subject == here:
                    return edge.object
                if not step.forward and edge.object == here:
                    return edge.subject
        return None

    def _join(self, parent: str, way: Path, child: str, parts: _Parts) -> None:
        last = self._walk(parent, way.steps[:-1], parts)
        step = way.steps[-1]
        parts.edges.append(Edge(last, step.predicate, child) if step.forward else Edge(child, step.predicate, last))

    def _order(
        self, target: Node, parts: _Parts, wanted: Candidate | None = None
    ) -> tuple[Order | None, tuple[str, ...], int | None, int]:
        for marker in list(self.supers):
            self.supers.remove(marker)
            limit, offset = marker.limit, marker.place - 1
            following = [n for n in self.nodes if 0 <= n.start - marker.end <= 2]
            pick = next((a for a in self.attributes if 0 <= a.start - marker.end <= 2 and a is not wanted), None)
            if pick is None and (marker.measure is None or not following):
                pick = next((a for a in self.attributes if a is not wanted and not self._bounded(a) and a.start >= marker.start), None)
                if pick is None and marker.measure is not None and marker.end >= len(self.tokens) - 1:
                    pick = next((a for a in self.attributes if a is not wanted and not self._bounded(a)), None)
            average = any(function == "avg" for _, function in self.form.aggregates)
            if pick is not None and self.schema.predicate_of[pick.predicate].minimum is not None:
                self.used |= pick.covered
                owner = self._nearest_owner(pick, target)
                ways = self.graph.access(owner.relations, pick.predicate)
                if ways:
                    self.cost += ways[0].cost * 0.5
                    if average:
                        variable = self._walk(owner.name, ways[0].steps, parts)
                        by = Order(Aggregate("avg", Attribute(variable, pick.predicate)), marker.descending)
                        return by, (target.name,), limit, offset
                    return self._by(owner.name, pick.predicate, ways[0], marker.descending, parts), (), limit, offset
            if marker.measure is None and following and following[0] is not target:
                counted = following[0]
                by = Order(Aggregate("count", Itself(counted.name)), marker.descending)
                return by, (target.name,), limit, offset
            if marker.measure is None:
                self.cost += 0.6
                continue
            thing = following[0] if following and following[0].parent is not None else target
            found = self._measured(thing, marker.measure.concepts)
            if found is None and thing is not target:
                found, thing = self._measured(target, marker.measure.concepts), target
            if found is None:
                self.cost += 0.8
                self.used -= set(range(marker.start, marker.end))
                continue
            self.cost += 0.3 * found[2]
            if average:
                variable = self._walk(thing.name, found[1].steps, parts)
                return Order(Aggregate("avg", Attribute(variable, found[0])), marker.descending), (target.name,), limit, offset
            return self._by(thing.name, found[0], found[1], marker.descending, parts), (), limit, offset
        return None, (), None, 0

    def _nearest_owner(self, pick: Candidate, target: Node) -> Node:
        best = (9.0, target)
        for node in (target, *(n for n in self.nodes if n.parent is not None)):
            ways = self.graph.access(node.relations, pick.predicate)
            if ways:
                between = abs(node.start - pick.start) / 20
                cost = ways[0].cost + between
                if cost < best[0]:
                    best = cost, node
        return best[1]

    def _conditions(self, target: Node, parts: _Parts) -> None:
        placed = [n for n in self.nodes if n is target or n.parent is not None]
        for bound in list(self.bounds):
            self._bound(bound, target, placed, parts)
        for flag in self.flags:
            owners = [n for n in placed if self.graph.access(n.relations, flag.predicate) and n.start >= flag.start] or [
                n for n in placed if self.graph.access(n.relations, flag.predicate)
            ]
            if owners:
                owner = min(owners, key=lambda n: abs(n.start - flag.end))
                if owner.keys and owner.role == "entity":
                    continue
                variable = self._walk(owner.name, self.graph.access(owner.relations, flag.predicate)[0].steps, parts)
                parts.filters.append(Filter(Attribute(variable, flag.predicate), "=", not self._negation_before(flag)))
                self.used |= flag.covered
        same: dict[tuple[str, str], list[Candidate]] = {}
        for value in self.values:
            ranked = sorted(
                ((self.graph.access(n.relations, value.predicate)[0].cost + abs(n.start - value.start) / 20, n.start, n) for n in placed if self.graph.access(n.relations, value.predicate)),
                key=lambda r: r[:2],
            )
            if ranked:
                same.setdefault((ranked[0][2].name, value.predicate), []).append(value)
        for (name, predicate), values in same.items():
            owner = next(n for n in placed if n.name == name)
            access = self.graph.access(owner.relations, predicate)[0]
            self.cost += access.cost * 0.5
            variable = self._walk(owner.name, access.steps, parts)
            right: Constant | tuple[Constant, ...] = values[0].value if len(values) == 1 else tuple(v.value for v in values)
            parts.filters.append(Filter(Attribute(variable, predicate), "in" if len(values) > 1 else "=", right, self._negation_before(values[0])))
            for value in values:
                self.used |= value.covered

    def _negation_before(self, pick: Candidate) -> bool:
        return any(0 < pick.start - i <= 3 for i in self.form.negations)

    def _bound(self, bound: Bound, target: Node, placed: list[Node], parts: _Parts) -> None:
        if bound in self.bounds:
            self.bounds.remove(bound)
        following = next((n for n in placed if n is not target and 0 <= n.start - bound.end <= 2), None)
        if following is not None and not bound.quantity.unit:
            parts.filters.append(Filter(Aggregate("count", Itself(following.name)), bound.op, int(bound.quantity.value)))
            self.grouped = target.name
            return
        choice = self._bound_predicate(bound, placed)
        if choice is None:
            self.cost += 0.7
            self.used -= set(range(bound.start, bound.end))
            return
        owner, predicate, access, value = choice
        variable = self._walk(owner.name, access.steps, parts)
        shape = self.schema.predicate_of[predicate].shape
        part = {"<": "high", "<=": "high", ">": "low", ">=": "low"}.get(bound.op, "") if shape == "range" else ""
        parts.filters.append(Filter(Attribute(variable, predicate, part), bound.op, value))  # type: ignore[arg-type]

    def _bound_predicate(self, bound: Bound, placed: list[Node]) -> tuple[Node, str, Access, float] | None:
        unit = bound.quantity.unit
        best: tuple[float, Node, str, Access, float] | None = None
        concepts = bound.measure.concepts if bound.measure else ("price", "cost") if unit == "currency" else ()
        said = {p.predicate: p for p in self.attributes if min(abs(p.end - bound.start), abs(bound.end - p.start)) <= 4}
        for node in placed:
            measured = {m[0]: m[2] for m in self.graph.measuring(node.relations, concepts)} if concepts else {}
            for predicate in self.schema.predicates:
                year = predicate.datatype in ("year", "date", "datetime") and not unit and 1000 <= bound.quantity.value <= 2200
                named = predicate.iri in said or predicate.iri in measured or year or bool(unit and predicate.unit)
                if predicate.minimum is None and not year or not named:
                    continue
                ways = self.graph.access(node.relations, predicate.iri)
                if not ways:
                    continue
                value: float | None = bound.quantity.value
                if unit and unit != "currency":
                    value = convert(bound.quantity.value, unit, predicate.unit) if predicate.unit else None
                elif unit == "currency" and predicate.unit:
                    value = None
                if value is None:
                    continue
                cost = ways[0].cost + (0.0 if predicate.iri in said else 0.3 + measured[predicate.iri] if predicate.iri in measured else 1.0)
                if best is None or cost < best[0]:
                    best = cost, node, predicate.iri, ways[0], value
        if best is None:
            return None
        if best[2] in said:
            self.used |= said[best[2]].covered
        self.cost += 0.3 * best[0]
        return best[1:]

    # yes or no, and comparisons of two

    def _yes_no(self) -> Body | None:
        if self.form.asked != "yesno" or not self.nodes:
            return None
        root = self.nodes[0]
        self._tree(root)
        parts = _Parts()
        self._emit(root, parts)
        self._conditions(root, parts)
        if len(parts.filters) + len(parts.edges) == 0:
            self.cost += 0.8
        return Ask(Select((Itself(root.name),), tuple(parts.variables), tuple(parts.edges), tuple(parts.filters)))

    def _comparison(self) -> Body | None:
        """Two things compared by one measure ("is A longer than B", "how much more is A than B"): yes or no, or by how much."""
        marks = [c for c in self.form.comparatives if c.measure is not None or self.form.asked == "amount"]
        than = next((i for i, w in enumerate(self.words) if w == "than"), None)
        if than is None or not marks or self.form.asked not in ("yesno", "amount"):
            return None
        mark = marks[0]
        concepts = mark.measure.concepts if mark.measure else ("price", "cost")
        pick = next(iter(self.attributes), None)
        sides = []
        for nodes in ([n for n in self.nodes if n.start < than], [n for n in self.nodes if n.start > than]):
            side = self._side(nodes, pick, concepts)
            if side is None:
                return None
            sides.append(side)
        if self.form.asked == "amount":
            left, right = sides if mark.descending else sides[::-1]
            return Compute("-", left, right)
        return Compute(">" if mark.descending else "<", sides[0], sides[1])

    def _side(self, nodes: list[Node], pick: Candidate | None, concepts: tuple[str, ...]) -> Select | None:
        """The average of the compared property over one side's things."""
        if not nodes:
            return None
        root = nodes[-1] if nodes[-1].role == "class" else nodes[0]
        everything, self.nodes = self.nodes, nodes
        self._tree(root)
        self.nodes = everything
        if pick is not None and self.graph.access(root.relations, pick.predicate):
            predicate, access = pick.predicate, self.graph.access(root.relations, pick.predicate)[0]
            self.used |= pick.covered
        else:
            found = self._measured(root, concepts)
            if found is None:
                return None
            predicate, access, cost = found
            self.cost += 0.3 * cost
        parts = _Parts()
        self._emit(root, parts)
        variable = self._walk(root.name, access.steps, parts)
        return Select((Aggregate("avg", Attribute(variable, predicate)),), tuple(parts.variables), tuple(parts.edges), tuple(parts.filters))


@dataclass(frozen=True)
class _LinkEnd:
    subject: str
    object: str
