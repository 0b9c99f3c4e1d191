"""Assign things to tables by their sets of types: Facts -> Classes, with names.
Tables and relations of classes are named by their labels, and by distinctive segments of their members' IRIs."""

import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

import numpy as np

from ingestion.induce.declarations import Declarations
from ingestion.induce.names import SqlIdentifiers, column_name, namespace_word, readable_name
from ingestion.read.facts import Facts, change_mask, unique_counts
from ingestion.vocabulary import EMPTY_TYPES, local_name
from nacre.language.data import word_list

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int32]
    Flags = NDArray[np.bool_]

# a type set with fewer members and a smaller share of all things is rare
MAX_RARE_MEMBERS = 5

MAX_RARE_SHARE = 0.01

# SQLite allows 500 SELECTs in one view, and a view over all tables must be possible
MAX_TABLES = 400


class _AssertedTypes(NamedTuple):
    """The distinct sets of stated types, and for each term the index of its set (-1: not described here)."""

    names: list[tuple[str, ...]]
    index_of: "Ints"


class _ClosedSets(NamedTuple):
    """Distinct sets of types with superclasses; `set_of[t]`: -1 if not described here; `asserted`: most frequent."""

    sets: list[frozenset[str]]
    counts: list[int]
    set_of: "Ints"
    asserted: dict[int, tuple[str, ...]]


@dataclass(frozen=True)
class ClassTable:
    """A table with the members of one set of types, and of rare sets near to it. `closed` is the main set with
    superclasses, `sets` the indexes of all type sets, main one first, `asserted` the types that most members state."""

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
    """`set_of[t]` is the index of a term's closed type set (-1: not described here), `table_of[t]` its table,
    `table_by_set` a set's table. `kinds` are classes with untyped members, each a view over their tables, `unusual`
    subjects (term numbers) with stated types beside their table's. `name_classes` sets `relation_of` and `view_of`."""

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
        """The sets in tables of another set, by the largest class that is in no main set; others are left out."""
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


def find_classes(facts: Facts, declarations: Declarations, type_rows: "Flags", visible: "Flags") -> Classes:
    """Assign each type set to a table. Rare sets join the table with the nearest types."""
    stated = _asserted_types(facts, type_rows, visible)
    closed = _close_sets(stated, declarations)
    tables = _assign_tables(closed.sets, closed.counts, closed.asserted)
    table_by_set = np.full(len(closed.sets) + 1, -1, dtype=np.int32)
    for number, table in enumerate(tables):
        table_by_set[list(table.sets)] = number
    table_of = table_by_set[closed.set_of]
    unusual = _unusual_types(stated, table_of, tables) | _stated_types(facts, type_rows)
    return Classes(
        facts,
        closed.sets,
        closed.counts,
        closed.set_of,
        table_of,
        tables,
        table_by_set.tolist(),
        unusual,
        kinds=_members_of_kinds(facts, closed),
    )


def _asserted_types(facts: Facts, type_rows: "Flags", visible: "Flags") -> _AssertedTypes:
    index_by_types: dict[tuple[int, ...], int] = {(): 0}
    index_of = np.full(len(facts.texts), -1, dtype=np.int32)
    index_of[facts.subject[visible]] = 0
    rows = np.flatnonzero(type_rows)
    subjects, objects = facts.subject[rows], facts.object[rows]
    starts = np.flatnonzero(change_mask(subjects))
    items, ends = array("i", objects.tobytes()), np.append(starts[1:], len(rows))[: len(starts)]
    for subject, start, end in zip(subjects[starts].data, starts.data, ends.data, strict=True):
        types = tuple(items[start:end])
        index = index_by_types.get(types)
        if index is None:
            index = index_by_types.setdefault(tuple(sorted(set(types))), len(index_by_types))
            index_by_types[types] = index
        index_of[subject] = index
    names: list[tuple[str, ...]] = [()] * (max(index_by_types.values()) + 1)
    for numbers, index in index_by_types.items():
        names[index] = tuple(sorted({facts.texts[n] for n in numbers}))
    return _AssertedTypes(names, index_of)


def _close_sets(stated: _AssertedTypes, declarations: Declarations) -> _ClosedSets:
    """Add the superclasses to the stated types; different statements may have the same closed set."""
    names, index_of = stated
    described = index_of >= 0
    members = np.bincount(index_of[described], minlength=len(names)).tolist()
    set_index: dict[frozenset[str], int] = {}
    set_by_asserted = np.zeros(len(names), dtype=np.int32)
    counts: list[int] = []
    main: dict[int, tuple[int, tuple[str, ...]]] = {}
    for index, types in enumerate(names):
        if not members[index]:
            continue
        closed = frozenset[str]().union(*(declarations.ancestors(iri) for iri in types))
        # that something is an individual or a resource is no kind of thing, unless nothing else is known
        closed = closed - EMPTY_TYPES or closed
        number = set_by_asserted[index] = set_index.setdefault(closed, len(set_index))
        counts += [0] * (len(set_index) - len(counts))
        counts[number] += members[index]
        main[number] = max(main.get(number, (0, ())), (members[index], types))
    set_of = np.full(len(index_of), -1, dtype=np.int32)
    set_of[described] = set_by_asserted[index_of[described]]
    sets, asserted = list(set_index), {number: types for number, (_, types) in main.items()}
    if frozenset() not in set_index:
        asserted[len(sets)] = ()
        sets, counts = [*sets, frozenset()], [*counts, 0]
    return _ClosedSets(sets, counts, set_of, asserted)


def _members_of_kinds(facts: Facts, closed: _ClosedSets) -> dict[str, "Ints"]:
    """The members of classes that things belong to without being typed."""
    if facts.memberships is None:
        return {}
    pairs = facts.memberships[closed.set_of[facts.memberships[:, 0]] >= 0]
    pairs = pairs[np.argsort(pairs[:, 1], kind="stable")]
    kinds, counts = unique_counts(pairs[:, 1])
    parts = np.split(pairs[:, 0], np.cumsum(counts)[:-1])
    typed = frozenset().union(*closed.sets)
    named = {facts.texts[n]: part for n, part in zip(kinds.tolist(), parts, strict=len(kinds) > 0)}
    return {iri: part for iri, part in named.items() if iri not in typed}


def _unusual_types(
    stated: _AssertedTypes, table_of: "Ints", tables: Sequence[ClassTable]
) -> dict[int, tuple[str, ...]]:
    if not tables:
        return {}
    number_of = {types: number for number, types in enumerate(stated.names)}
    usual = np.array([number_of[table.asserted] for table in tables], dtype=np.int32)
    described = np.flatnonzero(table_of >= 0)
    different = described[stated.index_of[described] != usual[table_of[described]]]
    return {int(n): stated.names[stated.index_of[n]] for n in different.tolist()}


def _stated_types(facts: Facts, type_rows: "Flags") -> dict[int, tuple[str, ...]]:
    """The types that the graph itself states, for things with derived or hidden types."""
    if facts.derived is None:
        return {}
    rows = np.flatnonzero(type_rows)
    derived = facts.derived[rows]
    found: dict[int, set[str]] = {number: set() for number in facts.subject[rows[derived]].tolist()}
    for row in rows[~derived].tolist():
        if (subject := int(facts.subject[row])) in found:
            found[subject].add(facts.texts[facts.object[row]])
    return {number: tuple(sorted(types)) for number, types in found.items()}


def _assign_tables(
    sets: list[frozenset[str]], counts: list[int], asserted: dict[int, tuple[str, ...]]
) -> list[ClassTable]:
    """A table for each frequent set; a rare one joins the nearest, too many without one the things without a class."""
    total = sum(counts)
    order = sorted((s for s in range(len(sets)) if counts[s]), key=lambda s: (-counts[s], sorted(sets[s])))
    few = {s for s in order if sets[s] and counts[s] < MAX_RARE_MEMBERS and counts[s] < MAX_RARE_SHARE * total}
    frequent = [s for s in order if s not in few][:MAX_TABLES]
    rare = [s for s in order if s not in set(frequent)]
    # the sets in the table of each main set
    sets_of = {s: [s] for s in frequent}
    holders: dict[str, list[int]] = defaultdict(list)
    for s in frequent:
        for iri in sets[s]:
            holders[iri].append(s)
    alone: list[int] = []
    for s in rare:
        near = Counter(other for iri in sets[s] for other in holders.get(iri, ()))
        if near:
            home = min(near, key=lambda o: (-near[o] / len(sets[s] | sets[o]), -counts[o], sorted(sets[o])))
            sets_of[home].append(s)
        else:
            alone.append(s)
            for iri in sets[s]:
                holders[iri].append(s)
            sets_of[s] = [s]
    if len(frequent) + len(alone) > MAX_TABLES:
        none = sets.index(frozenset())
        common = sets_of.setdefault(none, [none])
        for s in alone:
            common += sets_of.pop(s)
        order.append(none)
    return [
        ClassTable(sets[s], tuple(sets_of[s]), asserted[s], counts[s]) for s in dict.fromkeys(order) if s in sets_of
    ]


def name_classes(classes: Classes, names: SqlIdentifiers, declarations: Declarations) -> Classes:
    """The classes with named tables and a relation for each class. Tables are named by their most specific class."""
    segments = distinctive_segments(classes.facts.texts, classes.table_of, len(classes.tables))
    claimed: dict[str, str] = {}

    def claim(iri: str) -> str:
        if iri not in claimed:
            plain = class_identifier(iri, declarations)
            claimed[iri] = names.claim([plain, f"{namespace_word(iri)}_{plain.rstrip('_')}"])
        return claimed[iri]

    shared = [iri for iri in classes.members if not _is_table(classes, iri)]
    shared.sort(key=lambda iri: (-classes.members[iri], iri))
    relation_of = {iri: claim(iri) for iri in shared}
    view_of: dict[str, Sequence[int]] = {iri: classes.tables_with(iri) for iri in shared}
    tables = list(classes.tables)
    for index in sorted(range(len(tables)), key=lambda i: (-tables[i].count, sorted(tables[i].closed))):
        specific = _most_specific(classes, tables[index].closed, declarations)
        of_class = class_identifier(specific, declarations)
        words = tuple(w for w in segments[index] if not is_redundant_word(column_name(w), of_class))
        label = readable_name(of_class)
        if not specific:
            label, name = "thing", names.claim(["thing", "untyped_thing"])
        elif specific not in view_of:
            name = claim(specific)
        else:
            base = claim(specific).rstrip("_")
            elsewhere = {w for i, other in segments.items() if i != index for w in other}
            unique = [w for w in words if w not in elsewhere] or words
            label = f"{label} {unique[0]}" if unique else f"other {label}"
            last = f"other_{base}" if len(base) < 50 else f"other_{base[:50]}"
            name = names.claim([*(f"{base}_{column_name(w)}" for w in unique), last])
        rows_name = names.claim([f"{name.rstrip('_')}_rows"]) if tables[index].merged else name
        tables[index] = replace(tables[index], name=name, rows_name=rows_name, label=label, words=words)
        relation_of |= {iri: name for iri in tables[index].closed if iri not in view_of}
    for iri in sorted(classes.kinds, key=lambda k: (-len(classes.kinds[k]), k)):
        relation_of[iri] = claim(iri)
    for iri in sorted(declarations.classes - classes.members.keys() - classes.kinds.keys()):
        if not iri.startswith("_:"):
            relation_of[iri] = claim(iri)
            view_of[iri] = []
    return replace(classes, tables=tables, relation_of=relation_of, view_of=view_of)


def _is_table(classes: Classes, iri: str) -> bool:
    tables = classes.tables_with(iri)
    if len(tables) != 1:
        return False
    table = classes.tables[tables[0]]
    return iri in table.closed and not any(iri in classes.sets[s] for s in table.sets[1:])


def _most_specific(classes: Classes, closed: frozenset[str], declarations: Declarations) -> str:
    if not closed:
        return ""
    depth = {iri: len(declarations.ancestors(iri)) for iri in closed}
    return min(closed, key=lambda iri: (iri in EMPTY_TYPES, classes.members[iri], -depth[iri], iri))


def is_redundant_word(word: str, name: str) -> bool:
    """Whether a word adds nothing to the name of a class."""
    return set(word.split("_")) <= set(name.split("_")) or word.replace("_", "") == name.replace("_", "")


def class_identifier(iri: str, declarations: Declarations) -> str:
    """The SQL identifier of a class, from its label or its IRI."""
    if not iri:
        return ""
    label = class_label(iri, declarations)
    return column_name(label) if label and len(label) <= 40 else column_name(class_local_name(iri, declarations))


def class_label(iri: str, declarations: Declarations) -> str:
    """The stated label of a class, "" if that is the name of a database table."""
    label = declarations.label(iri)
    return label if strip_table_affix(label) == label else ""


def class_local_name(iri: str, declarations: Declarations) -> str:
    """The local name of a class's IRI, without a database's prefix of table names."""
    name = local_name(iri)
    mark = f"{name.partition('_')[0]}_".lower()
    # a single letter may belong to the name: "t_shirt"
    if len(mark) == 2 and not any(local_name(c).lower().startswith(mark) for c in declarations.classes - {iri}):
        return name
    return strip_table_affix(name)


def strip_table_affix(name: str) -> str:
    """The name of a database table without a prefix or suffix that marks tables; names in capitals are lowercased."""
    marks = word_list("wording", "tables")
    glued = next((m for m in marks if len(m) > 1 and name.startswith(m) and name[len(m) : len(m) + 1].isupper()), "")
    if glued:
        return name.removeprefix(glued)
    first, *rest = name.split("_")
    plain = rest if rest and first.lower() in marks else [first, *rest]
    # a single letter at the end is no mark of a table
    plain = plain[:-1] if len(plain) > 1 and len(plain[-1]) > 1 and plain[-1].lower() in marks - {"table"} else plain
    short = "_".join(plain)
    return name if short == name or not short.strip("_") else short.lower() if name.isupper() else short


MIN_SHARED = 0.8

_SAMPLE = 500

_HEAD = re.compile(r"(?:.*?://)?(.*[/#?])", re.DOTALL)


def distinctive_segments(texts: list[str], table_of: "NDArray[np.int32]", tables: int) -> dict[int, list[str]]:
    """For each table the words of the innermost IRI segment that most members share and other things lack."""
    found: dict[int, Counter[str]] = {}
    everywhere: Counter[str] = Counter()
    seen = 0
    for index in range(tables):
        members = np.flatnonzero(table_of == index)
        members = members[:: max(1, len(members) // _SAMPLE)]
        here: Counter[str] = Counter()
        deepest: Counter[str] = Counter()
        for head, count in Counter(_head(texts[number]) for number in members.tolist()).items():
            # without authority and local name
            parts = re.split(r"[/#?]", unquote(head, errors="replace"))[1:-1]
            passed = word_list("wording", "segments")
            segments = [part for part in parts if part and not part.isdigit() and part.lower() not in passed]
            here.update(dict.fromkeys(segments, count))
            deepest.update(dict.fromkeys(segments[-1:], count))
        seen += len(members)
        everywhere.update(here)
        found[index] = Counter({s: n for s, n in deepest.items() if n >= MIN_SHARED * len(members)})
    common = {s for s, n in everywhere.items() if n >= 0.95 * seen}
    return {
        i: [readable_name(s).lower() for s in sorted(f) if s not in common and readable_name(s)]
        for i, f in found.items()
    }


def _head(iri: str) -> str:
    """An IRI without scheme and local name; the whole IRI if it has escapes, which may hide the end."""
    found = None if "%" in iri else _HEAD.match(iri)
    return found[1] if found else iri.partition("://")[2] or iri
