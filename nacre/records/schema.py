"""The schema of a graph: classes and predicates by IRI, the SQLite relations that hold them; attached endpoints."""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Literal, TypeVar

_Result = TypeVar("_Result")

Datatype = Literal["text", "integer", "real", "boolean", "date", "datetime", "time", "year", "duration"]

Shape = Literal["single", "range", "pair", "period"]

# The label of a blank node without a name.
UNNAMED = "unnamed"

# begins the bases of documents, which have their names within the ingest, and no folder of this machine
LOCAL = "nacre-file:///"


@dataclass(frozen=True)
class Class:
    """One class. `count` members, subclasses included; `relation` is the table or view that lists them all.

    A class that is not part of the type hierarchy (a SKOS concept, say) has a view of its own; `within` are then the
    classes that hold all of its members. A `hidden` class is queryable and left out of what is suggested or shown.
    `pattern` is the SPARQL group pattern over ?this of a class that a semantic layer derives. `is_named` classes have
    their name from a layer that is no pack.
    """

    iri: str
    label: str
    count: int
    relation: str
    comment: str = ""
    alt_labels: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    within: tuple[str, ...] = ()
    hidden: bool = False
    pattern: str = ""
    is_named: bool = False


@dataclass(frozen=True)
class Group:
    """The members of exactly one set of types, in a table of its own.

    `classes` is the set. `without` are the additional classes of other groups with all of `classes`, so that "in all of
    `classes`, in none of `without`" defines the group in graph terms. `words` are further names from the data (segments
    of the members' IRIs).
    """

    relation: str
    label: str
    classes: tuple[str, ...]
    count: int
    without: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


RECORDS = "urn:nacre:records"  # the derived predicate from a thing to the number of records that state it
DEPRECATED = "http://www.w3.org/2002/07/owl#deprecated"
REIFIES = "http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies"
EXACT_MATCH = "http://www.w3.org/2004/02/skos/core#exactMatch"
# minimum ratio of objects to subjects at which a link counts as one-to-one
ONE_TO_ONE_SHARE = 0.9


@dataclass(frozen=True)
class Predicate:
    """One predicate. `domains` and `ranges` map a class to the number of its members that are subjects (objects).

    Undescribed link targets and untyped things count under "". `unit` is the unit found in the data ("mm", "km/h").
    `shape`: literals hold one number, a range or a pair. If there are few distinct values (labels of the targets for
    links), `values` lists them, most frequent first; otherwise `samples` has some of them, and `spellings` groups the
    texts that are one value in several spellings. A `hidden` predicate is
    queryable and left out of what is suggested or shown. `patterns` are the SPARQL group patterns over ?this and ?value
    of a predicate that a semantic layer derives; each gives values. `phrases` are what people also ask with, as a layer
    says ("cast by", "heavy"); they are among `alt_labels`. `written` is what the data writes the values in if a query
    over the data must know: "string" or another datatype that is no number for numbers, a language tag ("@de") for
    texts. `ordered`: the rows of its junction are in the order of lists. `position` orders the columns of a file of
    tables, 0 for others. `unread` values are texts among numbers or dates.
    """

    iri: str
    label: str
    triples: int
    subjects: int
    objects: int
    has_literals: bool
    has_links: bool
    functional: bool
    domains: dict[str, int]
    ranges: dict[str, int]
    datatype: Datatype = "text"
    shape: Shape = "single"
    unit: str = ""
    minimum: float | None = None
    maximum: float | None = None
    comment: str = ""
    alt_labels: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    samples: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    inverses: tuple[str, ...] = ()
    role: Literal["fact", "name", "identifier", "text", "type", "schema"] = "fact"
    hidden: bool = False
    patterns: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    written: str = ""
    ordered: bool = False
    spellings: tuple[tuple[str, ...], ...] = ()
    position: int = 0
    unread: int = 0

    @property
    def pairs_off(self) -> bool:
        """Whether nearly each subject has an object of its own, as a car and its engine."""
        return self.objects >= ONE_TO_ONE_SHARE * self.subjects


@dataclass(frozen=True)
class Column:
    """The columns of one predicate in a relation: literals in `value`, links in `link` (the target's id). Ranges,
    pairs and periods also have `low` and `high`; `text` is the raw text if `value` is a number parsed from it."""

    predicate: str
    value: str = ""
    low: str = ""
    high: str = ""
    text: str = ""
    link: str = ""

    @property
    def names(self) -> list[str]:
        """The names of its columns."""
        return [name for name in (self.value, self.low, self.high, self.text, self.link) if name]


@dataclass(frozen=True)
class Relation:
    """A table or view that can be queried. `key` is the column with the subject's id (an integer derived from its IRI).
    A "table" or "view" has one row a subject; a "junction" one row a triple of its only predicate."""

    name: str
    kind: Literal["table", "view", "junction"]
    key: str
    columns: tuple[Column, ...]
    comment: str = ""


@lru_cache(maxsize=64)
def _interned(labels: frozenset[str]) -> frozenset[str]:
    """One object for equal sets: as keys of caches, two equal objects would be compared label by label."""
    return labels


class SchemaCache:
    """Results computed from one schema, by a key of the computing function. They live as long as the schema."""

    def __init__(self) -> None:
        self._results: dict[Hashable, Any] = {}

    def get(self, key: Hashable, compute: Callable[[], _Result]) -> _Result:
        """The result under a key; computed the first time."""
        if key not in self._results:
            self._results[key] = compute()
        result: _Result = self._results[key]
        return result


@dataclass(frozen=True)
class Schema:
    """The whole schema. Every subject and every link target has a row in the table `entity(id, iri, label)`.

    A predicate is either a column of every class relation whose members have it, or the junction table
    `junctions[predicate]`, never both. `rewordings`: words of people, and what a question says instead.
    """

    classes: tuple[Class, ...]
    groups: tuple[Group, ...]
    predicates: tuple[Predicate, ...]
    relations: tuple[Relation, ...]
    junctions: dict[str, str]
    triples: int
    entities: int
    rewordings: tuple[tuple[str, str], ...] = ()

    @cached_property
    def class_of(self) -> dict[str, Class]:
        return {c.iri: c for c in self.classes}

    @cached_property
    def predicate_of(self) -> dict[str, Predicate]:
        return {p.iri: p for p in self.predicates}

    @cached_property
    def relation_of(self) -> dict[str, Relation]:
        return {r.name: r for r in self.relations}

    @cached_property
    def periods(self) -> frozenset[str]:
        """The predicates whose values are periods, compared by their first and last possible day."""
        return frozenset(p.iri for p in self.predicates if p.shape == "period")

    @cached_property
    def shown_classes(self) -> tuple[Class, ...]:
        """The classes without hidden ones."""
        return tuple(c for c in self.classes if not c.hidden)

    @cached_property
    def shown_predicates(self) -> tuple[Predicate, ...]:
        """The predicates without hidden ones."""
        return tuple(p for p in self.predicates if not p.hidden)

    @cached_property
    def hidden_relations(self) -> frozenset[str]:
        """The relations that hold nothing but members of hidden classes, or triples of hidden predicates."""
        hidden = {c.iri for c in self.classes if c.hidden}
        if not hidden and len(self.shown_predicates) == len(self.predicates):
            return frozenset()
        of_classes = {c.relation for c in self.classes if c.hidden} - {c.relation for c in self.shown_classes}
        of_groups = {g.relation for g in self.groups if g.classes and hidden.issuperset(g.classes)}
        junctions = {name for iri, name in self.junctions.items() if self.predicate_of[iri].hidden}
        return frozenset((of_classes | of_groups | junctions) - {c.relation for c in self.shown_classes})

    @cached_property
    def cache(self) -> "SchemaCache":
        """Results that functions computed from this schema."""
        return SchemaCache()

    @cached_property
    def labels(self) -> frozenset[str]:
        """The labels of all predicates."""
        return _interned(frozenset(p.label for p in self.predicates))

    @cached_property
    def group_of_classes(self) -> dict[tuple[tuple[str, ...], tuple[str, ...]], Group]:
        """The first group with these `classes` and `without`."""
        return {(g.classes, g.without): g for g in reversed(self.groups)}

    @cached_property
    def _predicates_of_class(self) -> dict[str, dict[int, Predicate]]:
        found: dict[str, dict[int, Predicate]] = {}
        for number, predicate in enumerate(self.predicates):
            for iri in predicate.domains:
                found.setdefault(iri, {})[number] = predicate
        return found

    def predicates_of(self, classes: Iterable[str]) -> list[Predicate]:
        """The predicates of things of any of these classes, in their order in the schema."""
        if len(of_each := [self._predicates_of_class.get(iri, {}) for iri in classes]) == 1:
            return list(of_each[0].values())
        found = {number: p for each in of_each for number, p in each.items()}
        return [found[number] for number in sorted(found)]

    @cached_property
    def groups_of_class(self) -> dict[str, frozenset[str]]:
        """For each class the tables whose members belong to it, directly or by a subclass."""
        found: dict[str, set[str]] = {}
        for group in self.groups:
            for iri in self.with_parents(group.classes):
                found.setdefault(iri, set()).add(group.relation)
        return {iri: frozenset(relations) for iri, relations in found.items()}

    def smallest_class(self, classes: Iterable[str]) -> Class | None:
        """The class with the fewest things, of those of them that the schema has: the most specific one."""
        known = (self.class_of[iri] for iri in classes if iri in self.class_of)
        return min(known, key=lambda c: (c.count, c.iri), default=None)

    def with_parents(self, classes: Iterable[str]) -> set[str]:
        """The classes and all their ancestors."""
        found: set[str] = set()
        left = list(classes)
        while left:
            iri = left.pop()
            if iri not in found:
                found.add(iri)
                left += self.class_of[iri].parents if iri in self.class_of else ()
        return found


# the text search that an endpoint supports; "" is CONTAINS, which every endpoint has
TextSearch = Literal["", "virtuoso", "fuseki", "stardog", "blazegraph"]

Dialect = Literal["", "virtuoso"]


@dataclass(frozen=True, eq=False)
class Endpoint:
    """The address, the named graphs that are queried (none: the default graph), and the text search it supports.

    `names` are the predicates that name things, best first. `spaces` are namespaces whose local names are names.
    `unnamed` are groups of which most members have no name. `frequent` maps words of names to the share of things that
    they name. `dialect` is the SPARQL dialect if it is not the standard's. `factors` maps a predicate to the other
    units of its literals and the factors that convert them to its usual unit. `queries` and `seconds` are what
    attaching took.
    """

    url: str
    graphs: tuple[str, ...] = ()
    search: TextSearch = ""
    names: tuple[str, ...] = ()
    spaces: tuple[str, ...] = ()
    unnamed: tuple[str, ...] = ()
    frequent: dict[str, float] = field(default_factory=dict)
    dialect: Dialect = ""
    factors: dict[str, dict[str, float]] = field(default_factory=dict)
    queries: int = 0
    seconds: float = 0.0
