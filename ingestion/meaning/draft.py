"""A draft of the shown graph, to which rules add derived triples and in which they hide read ones: Facts -> Facts.
Beyond a multiple of what was read in work or triples: RuleStopped. `closure` has the terms above each term."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from ingestion.read.facts import IRI, Facts, TermSort, unique_counts
from ingestion.vocabulary import TYPE

if TYPE_CHECKING:
    from numpy.typing import NDArray

TermPair = tuple[int, int]


class Draft:
    """The facts and the changes by rules. Terms are numbers as in Facts, rows are indexes of read triples. Derived
    triples are never exported; hidden ones are, each with a reason. `things` are classes that are things themselves,
    `kinds` pairs of a thing and a class that is no table (too many, or too much overlap). `codes` are those of expanded
    values, by property and value, `places` those of members in lists. `limits` say what would have been too much."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.hidden = {row: reason for reason, rows in facts.aside.items() for row in rows.tolist()}
        self.added: dict[tuple[int, int, int], None] = {}
        self.things: set[int] = set()
        self.kinds: set[TermPair] = set()
        self.limits: list[str] = []
        self.places = dict(facts.places)
        self.budget = RuleBudget(len(facts.subject))
        self.codes = {p: {v: set(codes) for v, codes in values.items()} for p, values in facts.codes.items()}
        self._new: list[tuple[str, TermSort]] = []
        self._made: dict[tuple[str, TermSort], int] = {}
        self._added_rows: list[NDArray[np.int32]] = []
        self._by_predicate: dict[int, list[TermPair]] = defaultdict(list)
        self._blank_targets: dict[int, list[TermPair]] = defaultdict(list)
        self.predicates = {facts.texts[n]: n for n in facts.predicates}

    def predicate(self, iri: str) -> int | None:
        """The number of a predicate; None if the graph does not use it."""
        return self.predicates.get(iri)

    def has_any(self, *iris: str) -> bool:
        """Whether any of these predicates is used."""
        return any(iri in self.predicates for iri in iris)

    def iri(self, text: str) -> int:
        """The number of an IRI; a new one if the graph does not have it."""
        found = self.predicates.get(text)
        if found is None:
            found = self.iris.get(text)
        return self._term(text, IRI) if found is None else found

    def known_iri(self, text: str) -> int | None:
        """The number of an IRI that the graph has."""
        return self.iris.get(text)

    def literal(self, text: str, datatype: str = "", language: str = "") -> int:
        """The number of a new literal."""
        return self._term(text, ("literal", datatype, language))

    def text(self, term: int) -> str:
        """The IRI, blank label or lexical form of a term."""
        known = len(self.facts.texts)
        return self.facts.texts[term] if term < known else self._new[term - known][0]

    def sort(self, term: int) -> TermSort:
        """Kind, datatype and language of a term."""
        known = len(self.facts.texts)
        return self.facts.sorts[int(self.facts.sort_of[term])] if term < known else self._new[term - known][1]

    def pairs(self, iri: str) -> list[TermPair]:
        """(subject, object) of the shown triples with a predicate, read or derived."""
        number = self.predicates.get(iri)
        if number is None:
            return []
        rows: list[int] = self._by_number[slice(*_span(self._numbers, number))].tolist()
        subject, object_ = self.facts.subject, self.facts.object
        read = [(int(subject[r]), int(object_[r])) for r in rows if r not in self.hidden]
        return [*read, *((s, o) for s, o in self._by_predicate.get(number, ()) if (s, number, o) in self.added)]

    def rows_of(self, subject: int) -> range:
        return range(*_span(self.facts.subject, subject))

    def rows_to(self, target: int) -> list[int]:
        """The rows with a term as object."""
        rows: list[int] = self._by_object[slice(*_span(self._ordered, target))].tolist()
        return rows

    def row(self, row: int) -> tuple[int, int, int]:
        """The triple of a row: subject, predicate, object."""
        facts = self.facts
        return int(facts.subject[row]), int(facts.predicate[row]), int(facts.object[row])

    def instances_of(self, iri: str) -> list[int]:
        """The things with a class as type."""
        wanted = self.classes.get(iri)
        rows = [] if wanted is None else self._type_rows[self.facts.object[self._type_rows] == wanted].tolist()
        read = {int(self.facts.subject[row]) for row in rows if row not in self.hidden}
        number = self.predicates.get(TYPE, -1)
        return sorted(read | {s for s, o in self._by_predicate.get(number, ()) if self.text(o) == iri})

    def add(self, subject: int, predicate: str, target: int) -> None:
        """Derive a triple, unless it exists already or its subject is a literal."""
        if self.sort(subject)[0] == "literal":
            return
        number = self._number(predicate)
        key = subject, number, target
        if key not in self.added and not self._read(*key):
            self.budget.check_derived(len(self.added) + 1)
            self.added[key] = None
            self._by_predicate[number].append((subject, target))
            if self.sort(target)[0] == "blank":
                self._blank_targets[target].append((subject, number))

    def add_kinds(self, pairs: Iterable[TermPair]) -> None:
        """Things become members of classes that are no tables."""
        for pair in pairs:
            self.budget.check_derived(len(self.kinds) + 1)
            self.kinds.add(pair)

    def owners(self, blank: int) -> list[TermPair]:
        """(subject, predicate) of the shown triples that lead to a blank node."""
        read = [self.row(row)[:2] for row in self.rows_to(blank) if row not in self.hidden]
        return [*read, *(pair for pair in self._blank_targets.get(blank, ()) if (*pair, blank) in self.added)]

    def hide_link(self, subject: int, predicate: int, target: int, reason: str) -> None:
        """Hide a link: a read one with the reason; a derived one is deleted."""
        key = subject, predicate, target
        if key in self.added:
            del self.added[key]
        else:
            self.hide(self._rows_with(*key), reason)

    def derive(self, subjects: "NDArray[np.int32]", predicate: str, targets: "NDArray[np.int32]") -> None:
        """Derive a triple for each pair of subject and target. Later rules do not see them."""
        self._added_rows.append(np.stack((subjects, np.full(len(subjects), self._number(predicate)), targets)).T)

    def replace_literals(
        self, rows: "NDArray[np.intp]", replacements: "dict[int, tuple[int, ...]]", reason: str
    ) -> None:
        """Replace literals of one property by others; `replacements` has them by the read literal."""
        facts = self.facts
        for term, others in replacements.items():
            here = rows[facts.object[rows] == term]
            if not len(here):
                continue
            self.hide(here.tolist(), reason)
            for other in others:
                self._added_rows.append(
                    np.stack((facts.subject[here], facts.predicate[here], np.full(len(here), other))).T
                )
                self.codes.setdefault(int(facts.predicate[here[0]]), {}).setdefault(other, set()).add(term)

    def replace_terms(self, other: Mapping[int, int], reason: str) -> None:
        """Read terms as others in all triples. Later rules see it only in a new draft."""
        facts = self.facts
        term = np.arange(len(facts.texts), dtype=np.int32)
        term[list(other)] = list(other.values())
        columns = np.stack((facts.subject, facts.predicate, facts.object), axis=1)
        replaced = term[columns]
        rows = np.flatnonzero((replaced != columns).any(axis=1))
        self.hide(rows.tolist(), reason)
        _, first = np.unique(np.concatenate((columns, replaced[rows])), axis=0, return_index=True)
        self._added_rows.append(replaced[rows][first[first >= len(columns)] - len(columns)])

    def hide(self, rows: "Iterator[int] | range | list[int]", reason: str) -> None:
        """Hide read triples; the first reason is kept."""
        for row in rows:
            self.hidden.setdefault(row, reason)

    def finished_facts(self) -> Facts:
        """The facts with the derived triples, sorted in the same way; `facts` itself if there are none."""
        old = self.facts
        is_changed = self.added or self._added_rows or self.hidden or self.things or self.kinds or self.limits
        if not is_changed and self.codes == old.codes:
            return old
        sorts = list(old.sorts)
        index = {sort: i for i, sort in enumerate(sorts)}
        codes = []
        for _, sort in self._new:
            codes.append(index.setdefault(sort, len(index)))
        sorts = list(index)
        new = np.array(list(self.added), dtype=np.int32).reshape(-1, 3)
        if self._added_rows:
            new = np.unique(np.concatenate((new, *self._added_rows)).astype(np.int32), axis=0)
        subject, predicate, object_ = (
            np.concatenate((column, new[:, i])) for i, column in enumerate((old.subject, old.predicate, old.object))
        )
        reasons = sorted(set(self.hidden.values()))
        aside = np.zeros(len(subject), dtype=np.int8)
        for row, reason in self.hidden.items():
            aside[row] = reasons.index(reason) + 1
        derived = np.zeros(len(subject), dtype=bool)
        derived[len(old.subject) :] = True
        if old.derived is not None:
            derived[: len(old.subject)] = old.derived
        graph = None if old.graph is None else np.concatenate((old.graph, np.zeros(len(new), dtype=np.int32)))
        keys = (object_, predicate, subject)
        order = np.lexsort(keys if graph is None else (graph, *keys))
        facts = Facts(
            [*old.texts, *(text for text, _ in self._new)],
            sorts,
            np.concatenate((old.sort_of, np.array(codes, dtype=np.int32))),
            subject[order],
            predicate[order],
            object_[order],
            None if graph is None else graph[order],
            old.omitted,
        )
        facts.languages = old.languages
        facts.derived = derived[order]
        facts.aside = {reason: np.flatnonzero(aside[order] == i) for i, reason in enumerate(reasons, 1)}
        facts.things = np.array(sorted(self.things), dtype=np.int32) if self.things else None
        facts.codes = self.codes
        facts.places = self.places
        facts.limits = tuple(dict.fromkeys(self.limits))
        members = sorted((thing, kind) for thing, kind in self.kinds if self.sort(thing)[0] != "literal")
        facts.memberships = np.array(members, dtype=np.int32).reshape(-1, 2)
        return facts

    @cached_property
    def _type_rows(self) -> "NDArray[np.intp]":
        return np.flatnonzero(self.facts.predicate == self.predicates.get(TYPE, -1))

    @cached_property
    def classes(self) -> dict[str, int]:
        """The numbers of all classes that are types of things, by IRI."""
        return {self.facts.texts[n]: n for n in unique_counts(self.facts.object[self._type_rows])[0].tolist()}

    @cached_property
    def iris(self) -> dict[str, int]:
        """The numbers of all IRIs."""
        wanted = np.flatnonzero(self.facts.kinds("iri")).tolist()
        return {self.facts.texts[n]: n for n in wanted}

    @cached_property
    def _by_number(self) -> "NDArray[np.intp]":
        """All rows by the number of their predicate."""
        return np.argsort(self.facts.predicate, kind="stable")

    @cached_property
    def _numbers(self) -> "NDArray[np.int32]":
        return self.facts.predicate[self._by_number]

    @cached_property
    def _by_object(self) -> "NDArray[np.intp]":
        return np.argsort(self.facts.object, kind="stable")

    @cached_property
    def _ordered(self) -> "NDArray[np.int32]":
        return self.facts.object[self._by_object]

    def _read(self, subject: int, predicate: int, target: int) -> bool:
        return any(row not in self.hidden for row in self._rows_with(subject, predicate, target))

    def _rows_with(self, subject: int, predicate: int, target: int) -> range:
        """The rows of a triple; there are several if it is in several graphs."""
        low, high = _span(self.facts.subject, subject)
        for column, number in ((self.facts.predicate, predicate), (self.facts.object, target)):
            first, last = _span(column[low:high], number)
            low, high = low + first, low + last
        return range(low, high)

    def _number(self, predicate: str) -> int:
        """The number of a predicate, which counts as used from now on."""
        if predicate not in self.predicates:
            self.predicates[predicate] = self.iri(predicate)
        return self.predicates[predicate]

    def _term(self, text: str, sort: TermSort) -> int:
        key = text, sort
        if key not in self._made:
            self._made[key] = len(self.facts.texts) + len(self._new)
            self._new.append(key)
        return self._made[key]


def _span(numbers: "NDArray[np.int32]", number: int) -> tuple[int, int]:
    # in the same type, since numpy would otherwise copy all numbers into a wider type each time
    low, high = numbers.searchsorted(np.array((number, number + 1), dtype=numbers.dtype)).tolist()
    return low, high


# steps of a rule for each read triple and besides: three million take 3 to 10 s (measured)
STEPS_PER_TRIPLE, FREE_STEPS = 100, 3_000_000

# triples and memberships that all rules derive, for each read triple and besides: real graphs have up to ten (given)
DERIVED_PER_TRIPLE, FREE_DERIVED = 30, 1_000_000


class RuleStopped(Exception):
    """A rule would take too much; the message says what of."""


class RuleBudget:
    """What a rule may still take."""

    def __init__(self, triples: int) -> None:
        self._triples = triples
        self.most_derived = FREE_DERIVED + DERIVED_PER_TRIPLE * triples
        self._left = self._most_steps = FREE_STEPS + STEPS_PER_TRIPLE * triples

    def renew(self) -> None:
        """Give the next rule all steps."""
        self._left = self._most_steps

    def spend(self, steps: int = 1) -> None:
        """Count steps. Raises RuleStopped if there are none left."""
        self._left -= steps
        if self._left < 0:
            raise RuleStopped(f"more than {self._most_steps:,} steps")

    def check_derived(self, count: int) -> None:
        """Raise RuleStopped if so many derived triples are too many."""
        if count > self.most_derived:
            raise RuleStopped(f"more than {self.most_derived:,} derived triples")


Term = TypeVar("Term", bound=Any)

# steps to the ancestors of all terms, for each direct link and besides: a chain of n links needs n²/2. Real hierarchies
# need up to thirty for each link (given), and small ones may be chains
STEPS_PER_LINK, FREE_LINK_STEPS = 60, 150_000

# beyond them, a term has so many of its nearest ancestors (given)
MAX_NEAREST = 30


Ancestors = Mapping[Any, frozenset[Any]]


class Closure(NamedTuple):
    """All ancestors of each term; only the nearest ones if it is not `complete`."""

    ancestors: Ancestors
    complete: bool


def transitive_closure(direct: Mapping[Term, Iterable[Term]]) -> Closure:
    """The ancestors of each term; cycles are allowed, and a term is never its own ancestor.

    >>> transitive_closure({1: [2], 2: [3]})
    Closure(ancestors={1: frozenset({2, 3}), 2: frozenset({3})}, complete=True)
    """
    left = FREE_LINK_STEPS + STEPS_PER_LINK * sum(len(list(above)) for above in direct.values())
    found: dict[Term, frozenset[Term]] = {}
    for start in direct:
        seen: set[Term] = set()
        queue = [start]
        while queue:
            term = queue.pop()
            above = found.get(term, direct.get(term, ()))
            left -= len(above)  # type: ignore[arg-type]
            if left < 0:
                return Closure({each: _nearest(direct, each) for each in direct}, complete=False)
            if term in found:
                seen |= found[term]
                continue
            new = set(above) - seen
            seen |= new
            queue += new
        found[start] = frozenset(seen - {start})
    return Closure(found, complete=True)


def _nearest(direct: Mapping[Term, Iterable[Term]], start: Term) -> frozenset[Term]:
    found: dict[Term, None] = {}
    level = [start]
    while level:
        higher: list[Term] = []
        for term in level:
            for above in direct.get(term, ()):
                if above != start and above not in found:
                    found[above] = None
                    higher.append(above)
                    if len(found) == MAX_NEAREST:
                        return frozenset(found)
        level = higher
    return frozenset(found)
