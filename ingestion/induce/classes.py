"""Sort the things of a graph into tables by their set of types: Facts -> tables, and names for them."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ingestion.induce.column_names import Names, column_name, namespace_word, words_of
from ingestion.induce.segments import telling_segments
from ingestion.induce.statements import Statements
from ingestion.read.capsules import Facts, changes, counted
from ingestion.vocabulary import EMPTY_TYPES, local_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int32]
    Flags = NDArray[np.bool_]

FEW_MEMBERS = 5
FEW_SHARE = 0.01
# SQLite joins at most 500 SELECTs in one view, and a view over all tables has to stay possible.
MOST_TABLES = 400


@dataclass
class Table:
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
    tables: list[Table]
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
        among = np.zeros(len(self.set_of), dtype=bool)
        among[terms] = True
        counts = {iri: int(among[members].sum()) for iri, members in self.kinds.items()}
        return {iri: count for iri, count in counts.items() if count}

    def kind_tables(self, iri: str) -> list[int]:
        """Indexes of the tables that hold the members of a kind."""
        tables: list[int] = counted(self.table_of[self.kinds[iri]])[0].tolist()
        return tables

    def spread(self, terms: "Ints") -> dict[int, int]:
        """How many of the terms have each type set, -1 for those that are not described here."""
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

    def name(self, names: Names, statements: Statements) -> None:
        """Name tables by their most telling class and give every class a relation."""
        segments = telling_segments(self.facts.texts, self.table_of, len(self.tables))
        claimed: dict[str, str] = {}

        def claim(iri: str) -> str:
            if iri not in claimed:
                plain = class_word(iri, statements)
                claimed[iri] = names.claim([plain, f"{namespace_word(iri)}_{plain.rstrip('_')}"])
            return claimed[iri]

        order = sorted(range(len(self.tables)), key=lambda i: (-self.tables[i].count, sorted(self.tables[i].closed)))
        shared = [iri for iri in self.members if not self._alone(iri)]
        for iri in sorted(shared, key=lambda i: (-self.members[i], i)):
            self.relation_of[iri] = claim(iri)
            self.view_of[iri] = self.tables_with(iri)
        for index in order:
            table = self.tables[index]
            telling = self._telling(table.closed, statements)
            of_class = class_word(telling, statements)
            words = [w for w in segments[index] if not says_less(column_name(w), of_class)]
            table.words = tuple(words)
            table.label = words_of(of_class)
            if not telling:
                table.label = "thing"
                table.name = names.claim(["thing", "untyped_thing"])
            elif telling not in self.view_of:
                table.name = claim(telling)
            else:
                base = claim(telling).rstrip("_")
                taken_by_others = {w for i, other in segments.items() if i != index for w in other}
                unique = [w for w in words if w not in taken_by_others] or words
                table.label = f"{table.label} {unique[0]}" if unique else f"other {table.label}"
                table.name = names.claim(
                    [
                        *(f"{base}_{column_name(w)}" for w in unique),
                        f"other_{base}" if len(base) < 50 else f"other_{base[:50]}",
                    ]
                )
            table.rows_name = names.claim([f"{table.name.rstrip('_')}_rows"]) if table.merged else table.name
            for iri in table.closed:
                if iri not in self.view_of:
                    self.relation_of[iri] = table.name
        for iri in sorted(self.kinds, key=lambda k: (-len(self.kinds[k]), k)):
            self.relation_of[iri] = claim(iri)
        for iri in sorted(statements.classes - self.members.keys() - self.kinds.keys()):
            if not iri.startswith("_:"):
                self.relation_of[iri] = claim(iri)
                self.view_of[iri] = []

    def _alone(self, iri: str) -> bool:
        """Whether the members of a class are exactly the main set of one table."""
        tables = self.tables_with(iri)
        if len(tables) != 1:
            return False
        table = self.tables[tables[0]]
        return iri in table.closed and not any(iri in self.sets[s] for s in table.sets[1:])

    def _telling(self, closed: frozenset[str], statements: Statements) -> str:
        if not closed:
            return ""
        depth = {iri: len(statements.ancestors(iri)) for iri in closed}
        return min(closed, key=lambda iri: (iri in EMPTY_TYPES, self.members[iri], -depth[iri], iri))


def says_less(word: str, name: str) -> bool:
    """Whether a word of the data adds nothing to the name of a class."""
    return set(word.split("_")) <= set(name.split("_")) or word.replace("_", "") == name.replace("_", "")


def class_word(iri: str, statements: Statements) -> str:
    """The SQL name of a class, from its label or its IRI."""
    if not iri:
        return ""
    label = statements.label(iri)
    return column_name(label) if label and len(label) <= 40 else column_name(local_name(iri))


def find_classes(facts: Facts, statements: Statements, type_rows: "Flags", visible: "Flags") -> Classes:
    """Type set -> table; rare sets join the table whose types are nearest to theirs."""
    size = len(facts.texts)
    set_of = np.full(size, -1, dtype=np.int32)
    asserted_of: dict[tuple[int, ...], int] = {}
    asserted_index = np.full(size, -1, dtype=np.int32)
    asserted_index[facts.subject[visible]] = 0
    asserted_of[()] = 0
    rows = np.flatnonzero(type_rows)
    subjects, objects = facts.subject[rows], facts.object[rows]
    if len(rows):
        starts = np.flatnonzero(changes(subjects))
        items = objects.tolist()
        for subject, start, end in zip(
            subjects[starts].tolist(), starts.tolist(), [*starts[1:].tolist(), len(rows)], strict=True
        ):
            key = tuple(items[start:end])
            index = asserted_of.get(key)
            if index is None:
                key = tuple(sorted(set(key)))
                index = asserted_of.setdefault(key, len(asserted_of))
                asserted_of[tuple(items[start:end])] = index
            asserted_index[subject] = index
    names: list[tuple[str, ...]] = [()] * (max(asserted_of.values()) + 1)
    for numbers, index in asserted_of.items():
        names[index] = tuple(sorted({facts.texts[n] for n in numbers}))
    described = asserted_index >= 0
    how_many = np.bincount(asserted_index[described], minlength=len(names)).tolist()
    closed_index: dict[frozenset[str], int] = {}
    set_by_asserted = np.zeros(len(names), dtype=np.int32)
    for index, types in enumerate(names):
        closed = frozenset().union(*(statements.ancestors(iri) for iri in types)) if types else frozenset()
        if how_many[index]:
            set_by_asserted[index] = closed_index.setdefault(closed, len(closed_index))
    sets = list(closed_index)
    counts = [0] * len(sets)
    main: dict[int, tuple[int, tuple[str, ...]]] = {}
    for index, types in enumerate(names):
        if how_many[index]:
            s = int(set_by_asserted[index])
            counts[s] += how_many[index]
            main[s] = max(main.get(s, (0, ())), (how_many[index], types))
    set_of[described] = set_by_asserted[asserted_index[described]]
    asserted = {s: types for s, (_, types) in main.items()}
    if frozenset() not in closed_index:
        sets.append(frozenset())
        counts.append(0)
        asserted[len(sets) - 1] = ()
    tables = _tables(sets, counts, asserted)
    table_by_set = np.full(len(sets) + 1, -1, dtype=np.int32)
    for number, table in enumerate(tables):
        table_by_set[table.sets] = number
    table_of = table_by_set[set_of]
    odd = _odd(asserted_index, names, table_of, tables) | _stated(facts, type_rows)
    classes = Classes(facts, sets, counts, set_of, table_of, tables, table_by_set.tolist(), odd)
    if facts.memberships is not None:
        pairs = facts.memberships[set_of[facts.memberships[:, 0]] >= 0]
        pairs = pairs[np.argsort(pairs[:, 1], kind="stable")]
        kinds, counts_of = counted(pairs[:, 1])
        parts = np.split(pairs[:, 0], np.cumsum(counts_of)[:-1])
        named = {facts.texts[n]: part for n, part in zip(kinds.tolist(), parts, strict=len(kinds) > 0)}
        classes.kinds = {iri: part for iri, part in named.items() if iri not in classes.members}
    return classes


def _odd(
    asserted_index: "Ints", names: list[tuple[str, ...]], table_of: "Ints", tables: list[Table]
) -> dict[int, tuple[str, ...]]:
    if not tables:
        return {}
    normal: dict[tuple[str, ...], int] = {types: i for i, types in enumerate(names)}
    usual = np.array([normal[table.asserted] for table in tables], dtype=np.int32)
    described = np.flatnonzero(table_of >= 0)
    different = described[asserted_index[described] != usual[table_of[described]]]
    return {int(n): names[asserted_index[n]] for n in different.tolist()}


def _stated(facts: Facts, type_rows: "Flags") -> dict[int, tuple[str, ...]]:
    """The types that the graph itself states, of things that have derived ones or some that are kept aside."""
    if facts.derived is None:
        return {}
    rows = np.flatnonzero(type_rows)
    derived = facts.derived[rows]
    found: dict[int, set[str]] = {number: set() for number in facts.subject[rows[derived]].tolist()}
    for row in rows[~derived].tolist():
        if (subject := int(facts.subject[row])) in found:
            found[subject].add(facts.texts[facts.object[row]])
    return {number: tuple(sorted(types)) for number, types in found.items()}


def _tables(sets: list[frozenset[str]], counts: list[int], asserted: dict[int, tuple[str, ...]]) -> list[Table]:
    """A table for each frequent set; a rare one joins the nearest of these. Where those that are near to none are too
    many for tables of their own, all of them go into the table of things without a class."""
    total = sum(counts)
    order = sorted((s for s in range(len(sets)) if counts[s]), key=lambda s: (-counts[s], sorted(sets[s])))
    few = {s for s in order if sets[s] and counts[s] < FEW_MEMBERS and counts[s] < FEW_SHARE * total}
    kept = [s for s in order if s not in few][:MOST_TABLES]
    rare = [s for s in order if s not in set(kept)]
    tables = {s: Table(sets[s], [s], asserted[s], counts[s]) for s in kept}
    holders: dict[str, list[int]] = defaultdict(list)
    for s in kept:
        for iri in sets[s]:
            holders[iri].append(s)
    alone: list[int] = []
    for s in rare:
        near = Counter(other for iri in sets[s] for other in holders.get(iri, ()))
        if near:
            home = min(near, key=lambda o: (-near[o] / len(sets[s] | sets[o]), -counts[o], sorted(sets[o])))
            tables[home].sets.append(s)
        else:
            alone.append(s)
            for iri in sets[s]:
                holders[iri].append(s)
            tables[s] = Table(sets[s], [s], asserted[s], counts[s])
    if len(kept) + len(alone) > MOST_TABLES:
        none = sets.index(frozenset())
        common = tables.setdefault(none, Table(frozenset(), [none], (), counts[none]))
        for s in alone:
            common.sets += tables.pop(s).sets
        order.append(none)
    return [tables[s] for s in dict.fromkeys(order) if s in tables]
