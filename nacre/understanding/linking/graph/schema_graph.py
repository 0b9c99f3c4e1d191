"""The graph of the schema: classes as nodes, links between them as edges, cheapest ways: Lexicon -> SchemaGraph."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache

from nacre.language.base import language
from nacre.language.booleans import is_boolean_predicate
from nacre.language.thesaurus import nouns_of_kind
from nacre.language.tokens import lemma, split_name
from nacre.records.schema import Class, Predicate, Schema
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.understanding.linking.graph.shortest_paths import PathStep, ShortestPaths

# what a step costs: through a node without names of its own, through any other; per share of things without the link
NAMELESS_STEP_COST, NAMED_STEP_COST, RARE_STEP_COST = 0.6, 1.0, 0.4
# what stands behind the namespace of an IRI
_NAMESPACE = re.compile(r"[^#/]*$")


@dataclass(frozen=True)
class SchemaNode:
    """A kind of thing: a class, or a group of a combination of classes. `words` are the lemmas of its label, `variable`
    is what its things are called in a plan."""

    index: int
    label: str
    classes: tuple[str, ...]
    without: tuple[str, ...]
    relations: frozenset[str]
    count: int
    words: tuple[str, ...]
    named: bool
    variable: str


class SchemaGraph:
    """Nodes, their properties and the ways between them; built once a version, then only read."""

    def __init__(self, lexicon: Lexicon) -> None:
        schema: Schema = lexicon.schema
        self.schema = schema
        self.groups_of_class = schema.groups_of_class
        named, rare = _named(lexicon), _rare(lexicon)
        self.nodes: list[SchemaNode] = []
        self.node_of: dict[str, int] = {}
        members = {
            c.iri: self.groups_of_class.get(c.iri, frozenset()) | rare.get(c.iri, frozenset()) for c in schema.classes
        }
        same = _of_the_same_things(schema, members)
        for c in schema.classes:
            if c.count and members[c.iri] and c.iri not in same:
                self.node_of[c.iri] = len(self.nodes)
                self.nodes.append(self._node(c.label, (c.iri,), (), members[c.iri], c.count, named))
        self.node_of |= {wide: self.node_of[narrow] for wide, narrow in same.items()}
        plain = {n.relations for n in self.nodes}
        for g in schema.groups:
            if frozenset((g.relation,)) not in plain:
                self.nodes.append(self._node(g.label, g.classes, g.without, frozenset((g.relation,)), g.count, named))
        self.nodes_of_relation: dict[str, list[int]] = defaultdict(list)
        for node in self.nodes:
            for relation in node.relations:
                self.nodes_of_relation[relation].append(node.index)
        # of the nodes that hold a table the widest stands for it
        self.base = {
            relation: min(found, key=lambda i: (-self.nodes[i].count, i))
            for relation, found in self.nodes_of_relation.items()
        }
        self.facts: dict[tuple[int, str], int] = defaultdict(int)
        self.literals: dict[int, list[str]] = defaultdict(list)
        for (relation, predicate), n in lexicon.facts.items():
            for i in self.nodes_of_relation.get(relation, ()):
                self.facts[i, predicate] += n
        for i, predicate in sorted(self.facts):
            about = schema.predicate_of.get(predicate)
            if about is not None and about.has_literals:
                self.literals[i].append(predicate)
        self.node_with = {(n.classes, n.without): n.index for n in self.nodes}
        self.steps: dict[int, list[PathStep]] = defaultdict(list)
        # of what a predicate leads to from a kind, and comes from to one, the share that is of the other kind
        self.led: dict[tuple[str, int, int], float] = {}
        self.come: dict[tuple[str, int, int], float] = {}
        self._add_steps(lexicon)
        self.mixed: dict[tuple[int, str], int] = {}
        self._add_mixed(lexicon)
        self.holders: dict[str, list[int]] = defaultdict(list)
        for i, predicates in self.literals.items():
            for predicate in predicates:
                self.holders[predicate].append(i)
        self.ends: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for source, steps in self.steps.items():
            for step in steps:
                if step.forward:
                    self.ends[step.predicate].append((source, step.target))
        self.words: dict[str, tuple[str, ...]] = {
            p.iri: tuple(lemma(w) for w in split_name(p.label).split()) for p in schema.predicates
        }
        # by what they are called, or with a family name
        self.persons = frozenset(n.index for n in self.nodes if self._is_person(n))
        # properties of yes or no that nobody asks to have listed: as texts or numbers, not as booleans
        self.flags = frozenset(p.iri for p in schema.predicates if p.datatype != "boolean" and is_boolean_predicate(p))
        paths = ShortestPaths(self.steps, frozenset(self.base.values()))
        self.path, self.distance = paths.cheapest, paths.distance
        self.narrower = lru_cache(maxsize=16384)(self._narrower)
        self.holding = lru_cache(maxsize=16384)(self._holding)

    def about(self, predicate: str) -> Predicate:
        return self.schema.predicate_of[predicate]

    def _is_person(self, node: SchemaNode) -> bool:
        """Whether a kind is one of persons: by what it is called, or as its things have a family name."""
        family = language().words["family"]
        names = (self.words[predicate] for predicate in self.literals[node.index])
        called = any(w[0] in family and w[-1].endswith("name") for w in names if w)
        return called or bool(node.words and node.words[-1] in nouns_of_kind("persons"))

    def base_of(self, node: int) -> int:
        """The widest node that holds the tables of a node."""
        return min((self.base[r] for r in self.nodes[node].relations), key=lambda i: -self.nodes[i].count)

    def widest(self, nodes: Collection[int]) -> tuple[int, ...]:
        """Nodes without those of whose superclass one is there: whoever "wrote" it, and not its professors alone."""
        kinds = {c for n in nodes for c in self.nodes[n].classes}
        narrow = {c for c in kinds if self._above(c) & kinds}
        return tuple(sorted(n for n in nodes if not narrow & set(self.nodes[n].classes)))

    def whole(self, nodes: Collection[int]) -> tuple[int, ...]:
        """Nodes without kinds that lie within the class of another: concepts, not brass instruments."""
        classes = {c for n in nodes for c in self.nodes[n].classes}
        known = self.schema.class_of
        parts = {c for c in classes if c in known and classes & set(known[c].within)}
        return tuple(sorted(n for n in nodes if not parts & set(self.nodes[n].classes)))

    def may_be(self, node: int, kind: int) -> bool:
        """Whether a thing of a node may be of a kind: the same or a narrower one, or one of several of it."""
        if node == kind or self.narrower(node, kind) or self.whole((node, kind)) == (node,):
            return True
        return self.nodes[kind].relations <= self.nodes[node].relations

    def _holding(self, predicate: str) -> tuple[int, ...]:
        """The kinds of things that have values of a property: of each table the widest, or a narrower one that has as
        many of them."""
        found: dict[int, None] = {}
        holders = self.holders.get(predicate, [])
        for wide in (i for i in holders if i in self.base.values()):
            within = [i for i in holders if self.nodes[i].relations <= self.nodes[wide].relations]
            as_many = [i for i in within if self.facts[i, predicate] == self.facts[wide, predicate]]
            found[min(as_many, key=lambda i: (self.nodes[i].count, i))] = None
        return tuple(found)

    def _narrower(self, node: int, other: int) -> bool:
        """Whether the things of a node are some of those of another, by their classes: poplars, trees."""
        above = {c for kind in self.nodes[node].classes for c in self._above(kind)}
        return node != other and bool(self.nodes[other].classes) and set(self.nodes[other].classes) <= above

    def _above(self, kind: str) -> set[str]:
        """All superclasses of a class."""
        found: set[str] = set()
        open_ = [kind]
        while open_:
            known = self.schema.class_of.get(open_.pop())
            new = set(known.parents) - found - {kind} if known else set()
            found |= new
            open_ += new
        return found

    def is_numeric(self, predicate: str) -> bool:
        about = self.about(predicate)
        return about.minimum is not None or about.datatype in ("integer", "real", "year", "duration")

    def is_date(self, predicate: str) -> bool:
        about = self.about(predicate)
        if about.datatype in ("date", "datetime", "year", "time"):
            return True
        # a number or text that is called so
        return bool(self.words[predicate]) and self.words[predicate][-1] in language().words["time"]

    def name_of(self, node: int) -> str:
        """The property that names the things of a node, "" for none."""
        for predicate in self.literals[node]:
            if self.about(predicate).role == "name":
                return predicate
        return ""

    def _node(
        self,
        label: str,
        classes: tuple[str, ...],
        without: tuple[str, ...],
        relations: frozenset[str],
        count: int,
        named: frozenset[str],
    ) -> SchemaNode:
        words = tuple(lemma(w) for w in split_name(label).split())
        is_named = bool(relations & named)
        return SchemaNode(len(self.nodes), label, classes, without, relations, count, words, is_named, _variable(label))

    def _add_steps(self, lexicon: Lexicon) -> None:
        triples: dict[tuple[str, int, int], int] = defaultdict(int)
        leading: dict[tuple[str, int], int] = defaultdict(int)
        coming: dict[tuple[str, int], int] = defaultdict(int)
        for link in lexicon.links:
            for source in self.nodes_of_relation.get(link.subject, ()):
                leading[link.predicate, source] += link.triples
            for target in self.nodes_of_relation.get(link.object, ()):
                coming[link.predicate, target] += link.triples
            if not link.subject or not link.object:
                continue
            for source in self.nodes_of_relation.get(link.subject, ()):
                for target in self.nodes_of_relation.get(link.object, ()):
                    triples[link.predicate, source, target] += link.triples
        for (predicate, source, target), n in sorted(triples.items()):
            share = min(1.0, n / max(1, self.nodes[source].count)) * min(1.0, n / max(1, self.nodes[target].count))
            rare = RARE_STEP_COST * (1 - share)
            self.led[predicate, source, target] = n / leading[predicate, source]
            self.come[predicate, source, target] = n / coming[predicate, target]
            for here, there, forward in ((source, target, True), (target, source, False)):
                length = NAMED_STEP_COST if self.nodes[there].named and self.nodes[here].named else NAMELESS_STEP_COST
                self.steps[here].append(PathStep(predicate, forward, there, length + rare))

    def _add_mixed(self, lexicon: Lexicon) -> None:
        """A node for what a link leads to where that is of several kinds that no class holds: a place or a person."""
        targets: dict[tuple[str, str], set[str]] = defaultdict(set)
        triples: dict[tuple[str, str], int] = defaultdict(int)
        for link in lexicon.links:
            if link.subject and link.object:
                targets[link.predicate, link.subject].add(link.object)
                triples[link.predicate, link.subject] += link.triples
        nodes: dict[tuple[str, frozenset[str]], int] = {}
        for (predicate, subject), found in sorted(targets.items()):
            relations = frozenset(found)
            sources = self.nodes_of_relation.get(subject, [])
            if len(found) < 2 or not sources or any(relations <= n.relations for n in self.nodes if n.classes):
                continue
            if (predicate, relations) not in nodes:
                label = self.about(predicate).label
                node = SchemaNode(
                    len(self.nodes), label, (), (), relations, triples[predicate, subject],
                    tuple(lemma(w) for w in split_name(label).split()), True, _variable(label),
                )  # fmt: skip
                nodes[predicate, relations] = node.index
                self.nodes.append(node)
            at = nodes[predicate, relations]
            for source in sources:
                self.steps[source].append(PathStep(predicate, True, at, NAMED_STEP_COST))
                self.steps[at].append(PathStep(predicate, False, source, NAMED_STEP_COST))
                self.mixed[source, predicate] = at


def _variable(label: str) -> str:
    return re.sub(r"\W+", "_", label.casefold()).strip("_") or "thing"


def _of_the_same_things(schema: Schema, members: Mapping[str, frozenset[str]]) -> dict[str, str]:
    """Classes whose things are all those of another one, which says more of them: persons where all are employees."""
    held = {group.relation: group.count for group in schema.groups}
    alike: dict[frozenset[str], list[Class]] = defaultdict(list)
    for each in schema.classes:
        relations = members[each.iri]
        if each.count and each.count == sum(held.get(r, 0) for r in relations):
            alike[relations].append(each)
    kin = Counter(_namespace(each.iri) for each in schema.classes)
    found: dict[str, str] = {}
    for classes in alike.values():
        # the narrowest, and of several one of the vocabulary that most classes of the graph are of
        first, *others = sorted(classes, key=lambda c: (-len(schema.with_parents((c.iri,))), -kin[_namespace(c.iri)]))
        found |= {other.iri: first.iri for other in others}
    return found


def _namespace(iri: str) -> str:
    return _NAMESPACE.sub("", iri)


def _rare(lexicon: Lexicon) -> dict[str, frozenset[str]]:
    """For each class the relations of things that no group holds, since too few have their types: views of classes."""
    schema = lexicon.schema
    beside = {home.relation for home in lexicon.homes} - {group.relation for group in schema.groups}
    found: dict[str, set[str]] = defaultdict(set)
    for c in schema.classes:
        waiting = [c.iri] if c.relation in beside else []
        while waiting:
            iri = waiting.pop()
            if iri in schema.class_of and c.relation not in found[iri]:
                found[iri].add(c.relation)
                waiting += schema.class_of[iri].parents
    return {iri: frozenset(relations) for iri, relations in found.items()}


def _named(lexicon: Lexicon) -> frozenset[str]:
    """The tables most of whose things have a name besides their IRI, which may be a code that it ends in; kinds, whose
    things lie in other tables, too."""
    naming = {p.iri for p in lexicon.schema.predicates if p.role == "name"}
    told = {relation: n for (relation, predicate), n in lexicon.facts.items() if predicate in naming}
    coded = {h.relation for h in lexicon.homes if h.coded > h.things / 2 > told.get(h.relation, 0)}
    tables = {*(home.relation for home in lexicon.homes), *(group.relation for group in lexicon.schema.groups)}
    return frozenset(tables - coded)
