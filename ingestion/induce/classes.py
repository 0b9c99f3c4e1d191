"""Tables of things by their sets of types, and the classes in them: class -> tables, members."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ingestion.read.capsules import Facts, unique_counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int32]


@dataclass(frozen=True)
class ClassTable:
    """A table with the members of one set of types, and of rare sets near to it.

    `closed` is the main set with superclasses. `sets` are the indexes of all type sets in the table, the main one
    first. `asserted` are the types that most members state. The names are set by `name_classes`.
    """

    closed: frozenset[str]
    sets: tuple[int, ...]
    asserted: tuple[str, ...]
    count: int
    name: str = ""
    rows_name: str = ""
    label: str = ""
    words: tuple[str, ...] = ()

    @property
    def merged(self) -> bool:
        """Whether the table has members of several type sets."""
        return len(self.sets) > 1


@dataclass(frozen=True)
class Classes:
    """`set_of[t]` is the index of a term's closed type set (-1: not described here), `table_of[t]` that of its table,
    `table_by_set` that of a set's table.

    `kinds` are classes with untyped members, each a view over the tables of its members. `unusual` are the subjects
    (term numbers) with stated types other than those of their table. `relation_of` and `view_of` (the tables of each
    class view) are set by `name_classes`.
    """

    facts: Facts
    sets: list[frozenset[str]]
    counts: list[int]
    set_of: "Ints"
    table_of: "Ints"
    tables: Sequence[ClassTable]
    table_by_set: list[int]
    unusual: dict[int, tuple[str, ...]]
    relation_of: Mapping[str, str] = field(default_factory=dict)
    view_of: Mapping[str, Sequence[int]] = field(default_factory=dict)
    kinds: Mapping[str, "Ints"] = field(default_factory=dict)

    def tables_with(self, iri: str) -> list[int]:
        """Indexes of the tables with members of a class."""
        return self._tables_with.get(iri, [])

    def table_sets(self) -> Iterator[list[int]]:
        """The sets of tables that one relation reads: each table alone, and all tables of each class."""
        yield from ([i] for i in range(len(self.tables)))
        yield from self._tables_with.values()

    @cached_property
    def _tables_with(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = defaultdict(list)
        for index, table in enumerate(self.tables):
            for iri in sorted(set().union(*(self.sets[s] for s in table.sets))):
                found[iri].append(index)
        return found

    @cached_property
    def members(self) -> dict[str, int]:
        """The number of members of each class, subclasses included."""
        found: Counter[str] = Counter()
        for closed, count in zip(self.sets, self.counts, strict=True):
            for iri in closed:
                found[iri] += count
        return dict(found)

    def kinds_of(self, terms: "Ints") -> dict[str, int]:
        """The number of the terms that are members of each kind."""
        if not self.kinds:
            return {}
        among = np.zeros(len(self.set_of), dtype=bool)
        among[terms] = True
        counts = {iri: int(among[members].sum()) for iri, members in self.kinds.items()}
        return {iri: count for iri, count in counts.items() if count}

    def kind_tables(self, iri: str) -> list[int]:
        """Indexes of the tables with members of a kind."""
        tables: list[int] = unique_counts(self.table_of[self.kinds[iri]])[0].tolist()
        return tables

    def within(self, iri: str) -> tuple[str, ...]:
        """The classes that contain all members of a kind; empty for other classes."""
        if iri not in self.kinds:
            return ()
        sets = unique_counts(self.set_of[self.kinds[iri]])[0].tolist()
        shared = [self.sets[index] if index >= 0 else frozenset[str]() for index in sets]
        return tuple(sorted(frozenset.intersection(*shared))) if shared else ()

    def spread(self, terms: "Ints") -> dict[int, int]:
        """The number of the terms with each type set; -1 stands for terms that are not described here."""
        if not len(terms):
            return {}
        counts = np.bincount(self.set_of[terms] + 1)
        there = counts.nonzero()[0]
        return dict(zip((there - 1).tolist(), counts[there].tolist(), strict=True))

    def tables_of(self, sets: Collection[int]) -> list[int]:
        """The tables of things with these type sets."""
        return sorted({self.table_by_set[s] for s in sets})

    def small_kinds(self) -> dict[str, list[int]]:
        """The sets in tables of another set, by the class that selects them: the largest class that is in no main set.
        Sets without such a class are left out."""
        main = set().union(*(self.sets[table.sets[0]] for table in self.tables))
        found: dict[str, list[int]] = defaultdict(list)
        for table in self.tables:
            for index in table.sets[1:]:
                if own := self.sets[index] - main:
                    found[min(own, key=lambda iri: (-self.members[iri], iri))].append(index)
        return found

    def common_relation(self, sets: Collection[int]) -> str:
        """The smallest relation with all things of these type sets; "" if there is none."""
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
