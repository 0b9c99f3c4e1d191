"""The tables of things by their set of types, and the classes in them: names of classes -> tables, members."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ingestion.read.capsules import Facts, unique_counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int32]


@dataclass
class ClassTable:
    """Members of one set of types, by and large.

    `closed` holds the superclasses as well; `sets` are the indexes of the type sets in it, the main one first;
    `asserted` is how most members state their types.
    """

    closed: frozenset[str]
    sets: list[int]
    asserted: tuple[str, ...]
    count: int
    name: str = ""
    rows_name: str = ""
    label: str = ""
    words: tuple[str, ...] = ()

    @property
    def merged(self) -> bool:
        """Whether members of other type sets lie in it."""
        return len(self.sets) > 1


@dataclass
class Classes:
    """`set_of[t]`: index of a term's closed type set (-1: not described here); `table_of[t]`: index of its table;
    `table_by_set`: that of a set.

    `kinds` are classes beside the tables, each with its members: a view over the tables that hold these.
    `odd` are the subjects (term numbers) whose asserted types are not those of their table, with these types.
    """

    facts: Facts
    sets: list[frozenset[str]]
    counts: list[int]
    set_of: "Ints"
    table_of: "Ints"
    tables: list[ClassTable]
    table_by_set: list[int]
    odd: dict[int, tuple[str, ...]]
    relation_of: dict[str, str] = field(default_factory=dict)
    view_of: dict[str, list[int]] = field(default_factory=dict)
    members: dict[str, int] = field(default_factory=dict)
    kinds: dict[str, "Ints"] = field(default_factory=dict)

    def tables_with(self, iri: str) -> list[int]:
        """Indexes of the tables that hold members of a class."""
        return self._tables_with.get(iri, [])

    def table_sets(self) -> Iterator[list[int]]:
        """The tables that one relation reads: each table alone, each class."""
        yield from ([i] for i in range(len(self.tables)))
        yield from self._tables_with.values()

    def __post_init__(self) -> None:
        self._tables_with: dict[str, list[int]] = defaultdict(list)
        for index, table in enumerate(self.tables):
            for iri in sorted(set().union(*(self.sets[s] for s in table.sets))):
                self._tables_with[iri].append(index)
        members: Counter[str] = Counter()
        for closed, count in zip(self.sets, self.counts, strict=True):
            for iri in closed:
                members[iri] += count
        self.members = dict(members)

    def kinds_of(self, terms: "Ints") -> dict[str, int]:
        """How many of the terms are of each kind."""
        if not self.kinds:
            return {}
        among = np.zeros(len(self.set_of), dtype=bool)
        among[terms] = True
        counts = {iri: int(among[members].sum()) for iri, members in self.kinds.items()}
        return {iri: count for iri, count in counts.items() if count}

    def kind_tables(self, iri: str) -> list[int]:
        """Indexes of the tables that hold the members of a kind."""
        tables: list[int] = unique_counts(self.table_of[self.kinds[iri]])[0].tolist()
        return tables

    def within(self, iri: str) -> tuple[str, ...]:
        """The classes that all members of a kind are of; none for what is no kind."""
        if iri not in self.kinds:
            return ()
        sets = unique_counts(self.set_of[self.kinds[iri]])[0].tolist()
        shared = [self.sets[index] if index >= 0 else frozenset[str]() for index in sets]
        return tuple(sorted(frozenset.intersection(*shared))) if shared else ()

    def spread(self, terms: "Ints") -> dict[int, int]:
        """How many of the terms have each type set, -1 for those that are not described here."""
        if not len(terms):
            return {}
        counts = np.bincount(self.set_of[terms] + 1)
        there = counts.nonzero()[0]
        return dict(zip((there - 1).tolist(), counts[there].tolist(), strict=True))

    def tables_of(self, sets: Collection[int]) -> list[int]:
        """The tables where things with these type sets lie."""
        return sorted({self.table_by_set[s] for s in sets})

    def small_kinds(self) -> dict[str, list[int]]:
        """The sets that lie in a table of another set, by the class to ask for them: the one with most members among
        those that no table is about. Sets without such a class are left out."""
        main = set().union(*(self.sets[table.sets[0]] for table in self.tables))
        found: dict[str, list[int]] = defaultdict(list)
        for table in self.tables:
            for index in table.sets[1:]:
                if own := self.sets[index] - main:
                    found[min(own, key=lambda iri: (-self.members[iri], iri))].append(index)
        return found

    def common_relation(self, sets: Collection[int]) -> str:
        """The smallest relation that holds all things with these type sets, "" where there is none."""
        if not sets or -1 in sets:
            return ""
        tables = self.tables_of(sets)
        if len(tables) == 1 and set(sets) == {self.tables[tables[0]].sets[0]}:
            return self.tables[tables[0]].name
        common: frozenset[str] = frozenset.intersection(*(self.sets[s] for s in sets))
        if not common:
            return ""
        smallest: str = min(common, key=lambda iri: (self.members[iri], iri))
        return self.relation_of[smallest]
