"""Assign things to tables by their sets of types: Facts -> Classes."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ingestion.induce.classes import Classes, ClassTable
from ingestion.induce.declarations import Declarations
from ingestion.read.capsules import Facts, change_mask, unique_counts
from ingestion.vocabulary import EMPTY_TYPES

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
    """The distinct sets of types with their superclasses. `set_of` has the index of each term's set (-1: not described
    here), `asserted` the most frequent stated types of each set."""

    sets: list[frozenset[str]]
    counts: list[int]
    set_of: "Ints"
    asserted: dict[int, tuple[str, ...]]


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
    """The stated types of all described terms."""
    index_by_types: dict[tuple[int, ...], int] = {(): 0}
    index_of = np.full(len(facts.texts), -1, dtype=np.int32)
    index_of[facts.subject[visible]] = 0
    rows = np.flatnonzero(type_rows)
    subjects, objects = facts.subject[rows], facts.object[rows]
    starts = np.flatnonzero(change_mask(subjects))
    items = objects.tolist()
    ends = [*starts[1:].tolist(), len(rows)][: len(starts)]
    for subject, start, end in zip(subjects[starts].tolist(), starts.tolist(), ends, strict=True):
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
    """The stated types of terms that are not those of their table."""
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
    """A table for each frequent set; a rare set joins the nearest table. If too many rare sets are near to no table,
    all of these go into the table of things without a class."""
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
