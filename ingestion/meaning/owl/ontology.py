"""Ontologies without instances: their OWL classes become things with kinds and links. Draft -> Draft."""

from collections import defaultdict

from ingestion.meaning.budget import RuleStopped
from ingestion.meaning.closure import MAX_NEAREST, Ancestors, transitive_closure
from ingestion.meaning.draft import Draft
from ingestion.meaning.owl.expressions import PARTS, Expression, Expressions
from ingestion.vocabulary import (
    CLASS_TYPES,
    EMPTY_TYPES,
    OWL,
    PROPERTY_TYPES,
    SCHEMA_TYPES,
    SUBCLASS,
    TYPE,
    XSD,
)

EQUIVALENT = OWL + "equivalentClass"
DISJOINT_UNION = OWL + "disjointUnionOf"
REASON = "schema statement"
_OF_CLASSES = frozenset({SUBCLASS, EQUIVALENT, DISJOINT_UNION, OWL + "disjointWith"})


def read_ontology(draft: Draft) -> None:
    """Classes without subclasses become things, their superclasses kinds, and restrictions links.

    This applies if there are no instances, or fewer than classes with restrictions. A link is inherited from the kinds
    unless the thing has a more specific one of that predicate. Under a closed world, a class whose definition fits is
    one more kind of the thing.
    """
    if not draft.has_any(SUBCLASS, EQUIVALENT):
        return
    reader = _Reader(draft)
    if not reader.about_classes():
        return
    tables = reader.tables()
    for thing in sorted(reader.things):
        for kind in sorted(reader.above.get(thing, ())):
            if kind in tables:
                draft.add(thing, TYPE, kind)
            else:
                draft.add_kinds([(thing, kind)])
        for predicate, target in reader.links[thing]:
            draft.add(thing, draft.text(predicate), target)
    for kind, members in reader.defined.items():
        draft.add_kinds((member, kind) for member in members)
    draft.things |= reader.things
    for thing in reader.things:
        for row in draft.rows_of(thing):
            _, predicate, target = draft.row(row)
            iri = draft.text(predicate)
            if iri in _OF_CLASSES or (iri == TYPE and draft.text(target) in SCHEMA_TYPES):
                draft.hide([row], REASON)
    for iri in PARTS:
        for node in {s for s, _ in draft.pairs(iri)}:
            if draft.sort(node)[0] == "blank":
                draft.hide(draft.rows_of(node), REASON)


class _Reader:
    """Reads an ontology. `things` are the classes that are things, `above` their kinds, `links` their restrictions,
    `defined` the things that fit a definition."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.expressions = Expressions(draft)
        self.classes = {n for iri in sorted(CLASS_TYPES) for n in draft.instances_of(iri)}
        self.classes |= {n for pair in draft.pairs(SUBCLASS) for n in pair}
        self.classes = {n for n in self.classes if draft.sort(n)[0] == "iri" and draft.text(n) not in EMPTY_TYPES}
        self.types: dict[int, set[int]] = defaultdict(set)
        for subject, kind in draft.pairs(TYPE):
            if draft.text(kind) not in SCHEMA_TYPES | EMPTY_TYPES:
                self.types[subject].add(kind)
        direct: dict[int, set[int]] = defaultdict(set)
        self.said: dict[int, list[Expression]] = defaultdict(list)
        self.definitions: dict[int, Expression] = {}
        for iri in (SUBCLASS, EQUIVALENT):
            for one, node in draft.pairs(iri):
                expression = self.expressions.read(node) if one in self.classes else None
                if expression is None:
                    continue
                if iri == EQUIVALENT and expression.kind == "or":
                    for part in expression.parts:
                        if part.kind == "class":
                            direct[part.term].add(one)
                    continue
                for part in _conjuncts(expression):
                    if part.kind == "class" and part.term in self.classes:
                        direct[one].add(part.term)
                    elif part.kind != "class":
                        self.said[one].append(part)
                if iri == EQUIVALENT and expression.kind != "class":
                    self.definitions[one] = expression
        for one, node in draft.pairs(DISJOINT_UNION):
            for member in self.expressions.items(node):
                direct[member].add(one)
        self.direct = direct
        closure = transitive_closure(direct)
        if not closure.complete:
            draft.limits.append(f"read ontology: only the {MAX_NEAREST} nearest classes above each one")
        self.above: Ancestors = closure.ancestors
        self.inner = {kind for above in direct.values() for kind in above}
        self.things: set[int] = set()
        self.links: dict[int, list[tuple[int, int]]] = {}
        self.defined: dict[int, list[int]] = {}

    def about_classes(self) -> bool:
        """Find the things; returns whether the classes are the things of the graph."""
        draft = self.draft
        restricted = [
            c for c in self.classes if any(e.kind in ("some", "value", "count") for e in self.said.get(c, ()))
        ]
        properties = {n for iri in sorted(PROPERTY_TYPES) for n in draft.instances_of(iri)}
        ontology = set(draft.instances_of(OWL + "Ontology"))
        others = {int(s) for s in set(draft.facts.subject.tolist()) - self.classes - properties - ontology}
        instances = [n for n in others if draft.sort(n)[0] == "iri" or self.types.get(n)]
        if restricted:
            wanted = len(restricted) > len(instances)
        else:
            wanted = not instances and not properties and bool(self.direct)
        if not wanted:
            return False
        used = {kind for kinds in self.types.values() for kind in kinds}
        outer = self.classes - self.inner - used
        self.links = {thing: self._links(thing) for thing in outer}
        self._find_defined(outer & self.definitions.keys())
        outer = {c for c in outer - self.defined.keys() if self.above.get(c) or self.links[c]}
        ends = {target for thing in outer for _, target in self.links[thing]} & self.classes
        self.things = outer | ends
        for end in ends - outer:
            self.links[end] = self._links(end)
            if not self.above.get(end):
                # things that are only referred to have no other kind
                draft.add(end, TYPE, draft.iri(OWL + "Thing"))
        return True

    def _find_defined(self, kinds: set[int]) -> None:
        """Find the things that fit each definition."""
        members: dict[int, list[int]] = defaultdict(list)
        try:
            for thing in sorted(self.links):
                classes = self._classes_of(thing)
                self.draft.budget.spend(len(classes))
                for kind in classes:
                    members[kind].append(thing)
            for kind in sorted(kinds):
                if found := self._fitting(kind, members):
                    self.defined[kind] = found
        except RuleStopped as error:
            self.draft.limits.append(f"read ontology: not all things that fit a definition, {error}")

    def tables(self) -> set[int]:
        """The kinds that split the things into tables: the top ones, and those below one with most of the things."""
        below: dict[int, set[int]] = defaultdict(set)
        for thing in self.things:
            for kind in self.above.get(thing, ()):
                below[kind].add(thing)
        found, queue = set[int](), [kind for kind in below if not self.above.get(kind)]
        while queue:
            kind = queue.pop()
            found.add(kind)
            if 2 * len(below[kind]) > len(self.things):
                queue += [inner for inner in below if kind in self.direct.get(inner, ()) and inner not in found]
        return found

    def _links(self, thing: int) -> list[tuple[int, int]]:
        """(predicate, target) of a thing: its own, and those of its kinds unless it has a more specific one."""
        found: list[tuple[int, int]] = []
        for term in [thing, *sorted(self.above.get(thing, ()), key=lambda k: (-len(self.above.get(k, ())), k))]:
            has = list(found)
            self.draft.budget.spend(1 + len(has))
            for predicate, target in self._own(term):
                closer = [t for p, t in has if p == predicate]
                is_value = self.draft.sort(target)[0] == "literal"
                if (predicate, target) in found or (is_value and closer):
                    continue
                if not any(t == target or target in self.above.get(t, ()) for t in closer):
                    found.append((predicate, target))
        return found

    def _own(self, term: int) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        said = self.said.get(term, [])
        for each in said:
            if each.kind == "value":
                found.append((each.predicate, each.term))
            elif each.kind == "some" or (each.kind == "count" and each.parts and each.low):
                found += [(each.predicate, target) for target in _named(each.parts[0])]
        known = {predicate for predicate, _ in found}
        for each in said:
            if each.predicate in known:
                continue
            if each.kind == "only":
                found += [(each.predicate, target) for target in _named(each.parts[0])]
            elif each.kind == "count" and not each.parts and each.low == each.high:
                found.append((each.predicate, self.draft.literal(str(each.low), XSD + "integer")))
        return found

    def _fitting(self, kind: int, members: dict[int, list[int]]) -> list[int]:
        """The other things that fit the definition of a class. `members` are the things of each class, in order."""
        definition = self.definitions[kind]
        classes = [part.term for part in _conjuncts(definition) if part.kind == "class"]
        if not classes:
            return []
        fewest = min((members.get(term, []) for term in classes), key=len)
        return [t for t in fewest if t != kind and t not in self.definitions and self._fits(definition, t)]

    def _classes_of(self, thing: int) -> set[int]:
        """A thing itself, the classes above it, its types, and those above them."""
        types = self.types.get(thing, ())
        return {thing, *self.above.get(thing, ()), *types, *(a for kind in types for a in self.above.get(kind, ()))}

    def _fits(self, what: Expression, thing: int) -> bool:
        links = self.links.get(thing, ())
        self.draft.budget.spend(1 + len(links))
        targets = [t for p, t in links if p == what.predicate]
        inner = what.parts[0] if what.parts else None
        match what.kind:
            case "class":
                types = self.types.get(thing, ())
                return (
                    what.term == thing
                    or what.term in self.above.get(thing, ())
                    or what.term in types
                    or any(what.term in self.above.get(kind, ()) for kind in types)
                )
            case "and":
                return all(self._fits(part, thing) for part in what.parts)
            case "or" | "one of":
                return any(self._fits(part, thing) for part in what.parts)
            case "not":
                return inner is not None and not self._fits(inner, thing)
            case "value":
                return what.term in targets
            case "some":
                return inner is not None and any(self._fits(inner, t) for t in targets)
            case "only":
                return inner is not None and bool(targets) and all(self._fits(inner, t) for t in targets)
            case "count":
                count = sum(inner is None or self._fits(inner, t) for t in targets)
                return count >= what.low and (what.high is None or count <= what.high)


def _conjuncts(expression: Expression) -> list[Expression]:
    if expression.kind != "and":
        return [expression]
    return [each for part in expression.parts for each in _conjuncts(part)]


def _named(expression: Expression) -> list[int]:
    """The classes and individuals that an expression names."""
    if expression.kind == "class":
        return [expression.term]
    if expression.kind in ("or", "one of"):
        return [term for part in expression.parts for term in _named(part)]
    if expression.kind == "and":
        return next((terms for part in expression.parts if (terms := _named(part))), [])
    return []
