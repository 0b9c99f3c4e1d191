"""Rules for ontologies, concept schemes and items: Draft -> Draft with classes, members and links.

OWL ontologies without instances: their classes become things with kinds and links, by their class expressions. SKOS:
schemes, collections and concepts with narrower concepts are classes, the concepts below are members. Wikibase: labels
of properties from their items, values of statements, and instances of classes.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from ingestion.meaning.draft import MAX_NEAREST, Ancestors, Draft, RuleStopped, transitive_closure
from ingestion.vocabulary import (
    ALTERNATIVE,
    CLASS_TYPES,
    COMMENT,
    EMPTY_TYPES,
    LABEL,
    OWL,
    PREFERRED,
    PROPERTY_TYPES,
    RDF,
    RDFS,
    SCHEMA_TYPES,
    SKOS,
    SUBCLASS,
    TYPE,
    XSD,
    language_rank,
)
from nacre.language.word_forms import is_plural

EQUIVALENT = OWL + "equivalentClass"

DISJOINT_UNION = OWL + "disjointUnionOf"

SCHEMA_REASON = "schema statement"

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
                draft.hide([row], SCHEMA_REASON)
    for iri in PARTS:
        for node in {s for s, _ in draft.pairs(iri)}:
            if draft.sort(node)[0] == "blank":
                draft.hide(draft.rows_of(node), SCHEMA_REASON)


ExpressionKind = Literal["class", "some", "only", "value", "count", "and", "or", "not", "one of"]


@dataclass(frozen=True)
class Expression:
    """A class expression. `term` is the class, or the value of a restriction on `predicate`."""

    kind: ExpressionKind
    term: int = -1
    predicate: int = -1
    parts: tuple["Expression", ...] = ()
    low: int = 0
    high: int | None = None

    @cached_property
    def size(self) -> int:
        """The number of its parts at any depth, and itself."""
        return 1 + sum(part.size for part in self.parts)


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
        self.above = _ancestors(draft, direct, "read ontology", "classes")
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
                return what.term in self._classes_of(thing)
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


_LISTS: dict[str, ExpressionKind] = {OWL + "intersectionOf": "and", OWL + "unionOf": "or", OWL + "oneOf": "one of"}

# whether the number of a restriction is the least one, and whether it is the largest one
_COUNTS = {
    **dict.fromkeys((OWL + "cardinality", OWL + "qualifiedCardinality"), (True, True)),
    **dict.fromkeys((OWL + "minCardinality", OWL + "minQualifiedCardinality"), (True, False)),
    **dict.fromkeys((OWL + "maxCardinality", OWL + "maxQualifiedCardinality"), (False, True)),
}

# levels of an expression, and its parts at any depth: those of parts that it has twice count twice (given)
MAX_DEPTH, MAX_PARTS = 20, 10_000

# a node with one of these predicates belongs to a class expression
PARTS = (
    *_LISTS,
    OWL + "onProperty",
    OWL + "complementOf",
    OWL + "datatypeComplementOf",
    OWL + "onDatatype",
    RDF + "first",
)


class Expressions:
    """Parses the expressions of a graph; None for unsupported ones, such as data ranges and inverse predicates, and for
    expressions of more than `MAX_PARTS` parts. Raises RuleStopped if there are too many in all."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        # nodes may be shared, and an expression be part of itself
        self._known: dict[tuple[int, int], Expression | None] = {}
        self._lists: dict[int, list[int]] = {}

    def read(self, node: int, depth: int = 0) -> Expression | None:
        """The expression of a term: a class by its IRI, others by their blank node."""
        if (node, depth) not in self._known:
            found = self._read(node, depth)
            self._known[node, depth] = found if found is None or found.size <= MAX_PARTS else None
        found = self._known[node, depth]
        self._draft.budget.spend(found.size if found and not depth else 1)
        return found

    def _read(self, node: int, depth: int) -> Expression | None:
        draft = self._draft
        kind = draft.sort(node)[0]
        if kind == "iri":
            iri = draft.text(node)
            return None if iri.startswith(XSD) or iri == RDFS + "Literal" else Expression("class", node)
        if kind != "blank" or depth > MAX_DEPTH:
            return None
        said = {draft.text(p): o for _, p, o in map(draft.row, draft.rows_of(node))}
        for iri, list_kind in _LISTS.items():
            if iri in said:
                members = self.items(said[iri])
                parts = [Expression("class", m) if list_kind == "one of" else self.read(m, depth + 1) for m in members]
                known = tuple(part for part in parts if part is not None)
                return Expression(list_kind, parts=known) if len(known) == len(parts) > 0 else None
        if OWL + "complementOf" in said:
            inner = self.read(said[OWL + "complementOf"], depth + 1)
            return Expression("not", parts=(inner,)) if inner else None
        predicate = said.get(OWL + "onProperty", -1)
        return (
            self._restriction(said, predicate, depth) if predicate >= 0 and draft.sort(predicate)[0] == "iri" else None
        )

    def items(self, node: int) -> list[int]:
        """The members of a list, which may be shared by many expressions."""
        if node not in self._lists:
            self._lists[node] = self._items(node)
        return self._lists[node]

    def _items(self, node: int) -> list[int]:
        draft, found, seen = self._draft, list[int](), set[int]()
        while node not in seen:
            draft.budget.spend()
            seen.add(node)
            said = {draft.text(p): o for _, p, o in map(draft.row, draft.rows_of(node))}
            if RDF + "first" not in said:
                break
            found.append(said[RDF + "first"])
            node = said.get(RDF + "rest", node)
        return found

    def _restriction(self, said: dict[str, int], predicate: int, depth: int) -> Expression | None:
        if OWL + "hasValue" in said:
            return Expression("value", said[OWL + "hasValue"], predicate)
        for iri, kind in ((OWL + "someValuesFrom", "some"), (OWL + "allValuesFrom", "only")):
            if iri in said:
                filler = self.read(said[iri], depth + 1)
                return Expression("some" if kind == "some" else "only", -1, predicate, (filler,)) if filler else None
        for iri, (low, high) in _COUNTS.items():
            if iri in said and (text := self._draft.text(said[iri])).isdigit():
                filler = self.read(said[OWL + "onClass"], depth + 1) if OWL + "onClass" in said else None
                number = int(text)
                parts = (filler,) if filler else ()
                return Expression("count", -1, predicate, parts, number if low else 0, number if high else None)
        return None


BROADER = tuple(SKOS + name for name in ("broader", "broaderGeneric", "broaderPartitive", "broaderInstantive"))

NARROWER = tuple(SKOS + name for name in ("narrower", "narrowerGeneric", "narrowerPartitive", "narrowerInstantive"))

CONCEPT = SKOS + "Concept"

MEMBER = SKOS + "member"

# each kind is a view; only the largest get one, other concepts are queried by their links
MAX_KINDS = 300

# each of several schemes is a table
MAX_KIND_TABLES = 20


def read_skos(draft: Draft) -> None:
    """A concept is a member of all concepts above it, and of its schemes and collections.

    If the leaf concepts have singular names, a concept with a plural name ("brass instruments") only groups others: it
    is a class, and no member of the classes above it.
    """
    if not draft.has_any(*BROADER, *NARROWER, MEMBER, SKOS + "inScheme", SKOS + "topConceptOf", SKOS + "hasTopConcept"):
        return
    direct = _broader_terms(draft, BROADER, NARROWER)
    broader = {b for above in direct.values() for b in above}
    concepts = {*direct, *broader, *draft.instances_of(CONCEPT)}
    grouping = _grouping(draft, concepts, broader)
    above = _ancestors(draft, direct, "read skos", "concepts")
    of_schemes = _broader_terms(draft, (SKOS + "inScheme", SKOS + "topConceptOf"), (SKOS + "hasTopConcept",))
    collections = _broader_terms(draft, (), (MEMBER,))
    in_collections = _ancestors(draft, collections, "read skos", "collections")
    schemes = {scheme for found in of_schemes.values() for scheme in found}
    members: dict[int, set[int]] = defaultdict(set)
    for concept in (above.keys() | of_schemes.keys() | in_collections.keys()) - grouping:
        for kind in (*above.get(concept, ()), *of_schemes.get(concept, ()), *in_collections.get(concept, ())):
            if draft.sort(kind)[0] == "iri":
                members[kind].add(concept)
    for concept in sorted(concepts):
        draft.add(concept, TYPE, draft.iri(CONCEPT))
    for kind in sorted(members, key=lambda k: (-len(members[k]), draft.text(k)))[:MAX_KINDS]:
        if kind in schemes and 1 < len(schemes) <= MAX_KIND_TABLES:
            for concept in sorted(members[kind]):
                draft.add(concept, TYPE, kind)
        else:
            draft.add_kinds((concept, kind) for concept in members[kind])


def _broader_terms(draft: Draft, upwards: Sequence[str], downwards: Sequence[str] = ()) -> dict[int, set[int]]:
    """The terms directly above each one, by predicates that lead to them and by those that lead from them."""
    found: dict[int, set[int]] = defaultdict(set)
    for narrow, broad in (pair for iri in upwards for pair in draft.pairs(iri)):
        found[narrow].add(broad)
    for broad, narrow in (pair for iri in downwards for pair in draft.pairs(iri)):
        found[narrow].add(broad)
    return found


def _ancestors(draft: Draft, direct: dict[int, set[int]], rule: str, what: str) -> Ancestors:
    """All terms above each one; the report says if there are too many."""
    closure = transitive_closure(direct)
    if not closure.complete:
        draft.limits.append(f"{rule}: only the {MAX_NEAREST} nearest {what} above each one")
    return closure.ancestors


def _grouping(draft: Draft, concepts: set[int], inner: set[int]) -> set[int]:
    """The inner concepts with plural names, if most other concepts have singular names."""
    labels: dict[int, tuple[tuple[int, str], str]] = {}
    for concept, label in draft.pairs(PREFERRED):
        language = draft.sort(label)[2]
        if concept in concepts and language_rank(language)[0] <= 2:
            said = language_rank(language), draft.text(label)
            labels[concept] = min(labels.get(concept, said), said)
    plural = {concept for concept, (_, label) in labels.items() if is_plural(label)}
    outer = labels.keys() - inner
    return plural & inner if 2 * len(plural & outer) < len(outer) else set()


WIKIBASE = "http://wikiba.se/ontology#"

DIRECT, CLAIM, VALUE, QUALIFIER = (
    WIKIBASE + name for name in ("directClaim", "claim", "statementProperty", "qualifier")
)

RANK, PREFERRED_RANK, DEPRECATED_RANK = (WIKIBASE + name for name in ("rank", "PreferredRank", "DeprecatedRank"))

PROPERTY_REASON, DEPRECATED_REASON, KIND_REASON = "describes a property", "deprecated statement", "kind of a statement"

STATEMENT_KINDS = tuple(WIKIBASE + name for name in ("Statement", "BestRank"))

# each kind is a view; only the largest classes get one, others are queried by their links
MAX_WIKIBASE_KINDS = 300

_KIND, _ABOVE = "instance of", "subclass of"

_DESCRIPTIONS = ("http://schema.org/description", COMMENT)


def read_wikibase(draft: Draft) -> None:
    """Predicates get the labels of the items that describe them; items get the values of their statements, and belong
    to their classes and all classes above. Deprecated statements are set aside."""
    for statement, rank in draft.pairs(RANK):
        if draft.text(rank) == DEPRECATED_RANK:
            draft.hide([*draft.rows_of(statement), *draft.rows_to(statement)], DEPRECATED_REASON)
    if not draft.has_any(DIRECT, CLAIM):
        return
    predicates = {iri: dict(draft.pairs(iri)) for iri in (DIRECT, CLAIM, VALUE, QUALIFIER)}
    labels = {
        item: draft.text(label)
        for item, label in sorted(draft.pairs(LABEL), reverse=True)
        if draft.sort(label)[2] in ("", "en")
    }
    _label_predicates(draft, predicates)
    for item, statement in predicates[CLAIM].items():
        value = predicates[VALUE].get(item)
        if value is not None:
            _add_statement_values(draft, statement, value, predicates[DIRECT].get(item))
    called = {labels[item]: predicate for item, predicate in predicates[DIRECT].items() if item in labels}
    if _KIND in called:
        _add_memberships(draft, draft.text(called[_KIND]), draft.text(called[_ABOVE]) if _ABOVE in called else "")
    for item in {item for each in predicates.values() for item in each}:
        draft.hide(draft.rows_of(item), PROPERTY_REASON)
    # statements are called by the links that lead to them
    kinds = (kind for name in STATEMENT_KINDS if (kind := draft.known_iri(name)) is not None)
    draft.hide([row for kind in kinds for row in draft.rows_to(kind)], KIND_REASON)


def _label_predicates(draft: Draft, predicates: dict[str, dict[int, int]]) -> None:
    """Label predicates by their items; the label of the link to a statement differs from that of its value."""
    for name in (LABEL, ALTERNATIVE, *_DESCRIPTIONS):
        for item, text in draft.pairs(name):
            for iri, of_items in predicates.items():
                if item not in of_items:
                    continue
                said = text
                if iri == CLAIM:
                    _, datatype, language = draft.sort(text)
                    said = draft.literal(f"{draft.text(text)} statement", datatype, language)
                draft.add(of_items[item], COMMENT if name in _DESCRIPTIONS else name, said)


def _add_statement_values(draft: Draft, claim: int, value: int, direct: int | None) -> None:
    """Add the values of statements to items without a direct value: the preferred ones if there are any."""
    owners = {statement: owner for owner, statement in draft.pairs(draft.text(claim))}
    known = {owner for owner, _ in draft.pairs(draft.text(direct))} if direct is not None else set()
    shown = draft.text(value if direct is None else direct)
    preferred = {statement for statement, rank in draft.pairs(RANK) if draft.text(rank) == PREFERRED_RANK}
    ranked = {owners[statement] for statement in preferred & owners.keys()}
    for statement, target in draft.pairs(draft.text(value)):
        owner = owners.get(statement)
        if owner is not None and owner not in known and (statement in preferred or owner not in ranked):
            draft.add(owner, shown, target)


def _add_memberships(draft: Draft, kind: str, above: str) -> None:
    direct = _broader_terms(draft, (above,) if above else ())
    higher = _ancestors(draft, direct, "read wikibase", "classes")
    members: dict[int, set[int]] = defaultdict(set)
    for item, of_class in draft.pairs(kind):
        for each in (of_class, *higher.get(of_class, ())):
            if draft.sort(each)[0] == "iri":
                members[each].add(item)
    for each in sorted(members, key=lambda k: (-len(members[k]), draft.text(k)))[:MAX_WIKIBASE_KINDS]:
        draft.add_kinds((item, each) for item in members[each])
