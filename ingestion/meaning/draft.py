"""A graph while rules read it: Facts -> Draft, which takes derived triples and hides read ones -> Facts."""

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ingestion.read.capsules import IRI, Facts, TermSort, unique_counts
from ingestion.vocabulary import TYPE

if TYPE_CHECKING:
    from numpy.typing import NDArray

TermPair = tuple[int, int]


class Draft:
    """The facts and what rules added; terms are numbers as in Facts, rows indexes of read triples.

    What is derived is no statement of the graph: it is shown and never exported. What is hidden stays a statement of
    the graph and is kept aside, with the reason. `things` are classes that are themselves the things of the graph.
    `kinds` are pairs of a thing and a kind that it is of, where kinds are many, overlap, and so split no table.
    `codes` are those that values of a property stand for, by the property and the value.
    """

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.hidden: dict[int, str] = {}
        self.added: dict[tuple[int, int, int], None] = {}
        self.things: set[int] = set()
        self.kinds: set[TermPair] = set()
        self.codes: dict[int, dict[int, set[int]]] = {}
        self._new: list[tuple[str, TermSort]] = []
        self._made: dict[tuple[str, TermSort], int] = {}
        self._said: list[NDArray[np.int32]] = []
        self._by_predicate: dict[int, list[TermPair]] = defaultdict(list)
        self._blank_targets: dict[int, list[TermPair]] = defaultdict(list)
        self._predicates = {facts.texts[n]: n for n in facts.predicates}

    def predicate(self, iri: str) -> int | None:
        """The number of a predicate that the graph uses."""
        return self._predicates.get(iri)

    def uses(self, *iris: str) -> bool:
        """Whether any of these predicates is used."""
        return any(iri in self._predicates for iri in iris)

    def iri(self, text: str) -> int:
        """The number of an IRI, a new one where the graph does not have it."""
        found = self._predicates.get(text)
        if found is None:
            found = self._iris.get(text)
        return self._term(text, IRI) if found is None else found

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
        """Subject and object of what is read and shown or derived with a predicate."""
        number = self._predicates.get(iri)
        if number is None:
            return []
        rows = np.flatnonzero(self.facts.predicate == number).tolist()
        subject, object_ = self.facts.subject, self.facts.object
        read = [(int(subject[r]), int(object_[r])) for r in rows if r not in self.hidden]
        return [*read, *((s, o) for s, o in self._by_predicate.get(number, ()) if (s, number, o) in self.added)]

    def of(self, subject: int) -> range:
        """The rows of a subject."""
        return range(*_span(self.facts.subject, subject))

    def to(self, target: int) -> list[int]:
        """The rows that lead to a term."""
        rows: list[int] = self._by_object[slice(*_span(self._ordered, target))].tolist()
        return rows

    def row(self, row: int) -> tuple[int, int, int]:
        """One triple."""
        facts = self.facts
        return int(facts.subject[row]), int(facts.predicate[row]), int(facts.object[row])

    def typed(self, iri: str) -> list[int]:
        """The things that are said to be of a class."""
        wanted = self._classes.get(iri)
        rows = [] if wanted is None else self._type_rows[self.facts.object[self._type_rows] == wanted].tolist()
        read = {int(self.facts.subject[row]) for row in rows if row not in self.hidden}
        number = self._predicates.get(TYPE, -1)
        return sorted(read | {s for s, o in self._by_predicate.get(number, ()) if self.text(o) == iri})

    def add(self, subject: int, predicate: str, target: int) -> None:
        """Derive a triple; one that is there already changes nothing, and nothing is said of a literal."""
        if self.sort(subject)[0] == "literal":
            return
        number = self._number(predicate)
        key = subject, number, target
        if key not in self.added and not self._read(*key):
            self.added[key] = None
            self._by_predicate[number].append((subject, target))
            if self.sort(target)[0] == "blank":
                self._blank_targets[target].append((subject, number))

    def owners(self, blank: int) -> list[TermPair]:
        """Subject and predicate of what is shown to lead to a blank node, whether read or derived."""
        read = [self.row(row)[:2] for row in self.to(blank) if row not in self.hidden]
        return [*read, *(pair for pair in self._blank_targets.get(blank, ()) if (*pair, blank) in self.added)]

    def part(self, subject: int, predicate: int, target: int, reason: str) -> None:
        """Show a link no more: keep it aside where it was read, forget it where it was derived."""
        key = subject, predicate, target
        if key in self.added:
            del self.added[key]
        else:
            self.hide([row for row in self.of(subject) if self.row(row) == key], reason)

    def derive(self, subjects: "NDArray[np.int32]", predicate: str, targets: "NDArray[np.int32]") -> None:
        """Derive a triple for each pair of a thing and a target, that no later rule reads."""
        self._said.append(np.stack((subjects, np.full(len(subjects), self._number(predicate)), targets)).T)

    def say(self, rows: "NDArray[np.intp]", said: "dict[int, tuple[int, ...]]", reason: str) -> None:
        """Show other literals in place of read ones of one property; `said` gives them, rows of others stay."""
        facts = self.facts
        for term, others in said.items():
            here = rows[facts.object[rows] == term]
            if not len(here):
                continue
            self.hide(here.tolist(), reason)
            for other in others:
                self._said.append(np.stack((facts.subject[here], facts.predicate[here], np.full(len(here), other))).T)
                self.codes.setdefault(int(facts.predicate[here[0]]), {}).setdefault(other, set()).add(term)

    def hide(self, rows: "Iterator[int] | range | list[int]", reason: str) -> None:
        """Keep read triples aside; the first reason counts."""
        for row in rows:
            self.hidden.setdefault(row, reason)

    def facts_meant(self) -> Facts:
        """The facts with what was derived, sorted like them; `facts` itself where nothing was."""
        old = self.facts
        if not (self.added or self._said or self.hidden or self.things or self.kinds):
            return old
        sorts = list(old.sorts)
        index = {sort: i for i, sort in enumerate(sorts)}
        codes = []
        for _, sort in self._new:
            codes.append(index.setdefault(sort, len(index)))
        sorts = list(index)
        new = np.array(list(self.added), dtype=np.int32).reshape(-1, 3)
        if self._said:
            new = np.unique(np.concatenate((new, *self._said)).astype(np.int32), axis=0)
        subject, predicate, object_ = (
            np.concatenate((column, new[:, i])) for i, column in enumerate((old.subject, old.predicate, old.object))
        )
        reasons = sorted(set(self.hidden.values()))
        aside = np.zeros(len(subject), dtype=np.int8)
        for row, reason in self.hidden.items():
            aside[row] = reasons.index(reason) + 1
        derived = np.zeros(len(subject), dtype=bool)
        derived[old.triples :] = True
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
        facts.derived = derived[order]
        facts.aside = {reason: np.flatnonzero(aside[order] == i) for i, reason in enumerate(reasons, 1)}
        facts.things = np.array(sorted(self.things), dtype=np.int32) if self.things else None
        facts.codes = self.codes
        facts.memberships = np.array(self._of_kinds(), dtype=np.int32).reshape(-1, 2)
        return facts

    def _of_kinds(self) -> list[TermPair]:
        return sorted((thing, kind) for thing, kind in self.kinds if self.sort(thing)[0] != "literal")

    @cached_property
    def _type_rows(self) -> "NDArray[np.intp]":
        return np.flatnonzero(self.facts.predicate == self._predicates.get(TYPE, -1))

    @cached_property
    def _classes(self) -> dict[str, int]:
        """The classes that things are said to be of; few, so that no other term is looked at."""
        return {self.facts.texts[n]: n for n in unique_counts(self.facts.object[self._type_rows])[0].tolist()}

    @cached_property
    def _iris(self) -> dict[str, int]:
        wanted = np.flatnonzero(self.facts.kinds("iri")).tolist()
        return {self.facts.texts[n]: n for n in wanted}

    @cached_property
    def _by_object(self) -> "NDArray[np.intp]":
        return np.argsort(self.facts.object, kind="stable")

    @cached_property
    def _ordered(self) -> "NDArray[np.int32]":
        return self.facts.object[self._by_object]

    def _read(self, subject: int, predicate: int, target: int) -> bool:
        rows = self.of(subject)
        return any(
            self.facts.predicate[r] == predicate and self.facts.object[r] == target and r not in self.hidden
            for r in rows
        )

    def _number(self, predicate: str) -> int:
        """The number of a predicate, from now on one that the graph uses."""
        if predicate not in self._predicates:
            self._predicates[predicate] = self.iri(predicate)
        return self._predicates[predicate]

    def _term(self, text: str, sort: TermSort) -> int:
        key = text, sort
        if key not in self._made:
            self._made[key] = len(self.facts.texts) + len(self._new)
            self._new.append(key)
        return self._made[key]


def _span(numbers: "NDArray[np.int32]", number: int) -> tuple[int, int]:
    """Where a number begins and ends among sorted ones."""
    # of the same type: numpy would otherwise copy all of them into a wider one, each time
    low, high = numbers.searchsorted(np.array((number, number + 1), dtype=numbers.dtype)).tolist()
    return low, high
