"""Sort the things of a graph into tables by their set of types: Facts -> Classes."""

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

import numpy as np

from ingestion.induce.classes import Classes, ClassTable
from ingestion.induce.declarations import Declarations
from ingestion.read.capsules import Facts, change_mask, unique_counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int32]
    Flags = NDArray[np.bool_]

MAX_RARE_MEMBERS = 5
MAX_RARE_SHARE = 0.01
# SQLite joins at most 500 SELECTs in one view, and a view over all tables has to stay possible.
MAX_TABLES = 400


def find_classes(facts: Facts, statements: Declarations, type_rows: "Flags", visible: "Flags") -> Classes:
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
        starts = np.flatnonzero(change_mask(subjects))
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
        kinds, counts_of = unique_counts(pairs[:, 1])
        parts = np.split(pairs[:, 0], np.cumsum(counts_of)[:-1])
        named = {facts.texts[n]: part for n, part in zip(kinds.tolist(), parts, strict=len(kinds) > 0)}
        classes.kinds = {iri: part for iri, part in named.items() if iri not in classes.members}
    return classes


def _odd(
    asserted_index: "Ints", names: list[tuple[str, ...]], table_of: "Ints", tables: list[ClassTable]
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


def _tables(sets: list[frozenset[str]], counts: list[int], asserted: dict[int, tuple[str, ...]]) -> list[ClassTable]:
    """A table for each frequent set; a rare one joins the nearest of these. Where those that are near to none are too
    many for tables of their own, all of them go into the table of things without a class."""
    total = sum(counts)
    order = sorted((s for s in range(len(sets)) if counts[s]), key=lambda s: (-counts[s], sorted(sets[s])))
    few = {s for s in order if sets[s] and counts[s] < MAX_RARE_MEMBERS and counts[s] < MAX_RARE_SHARE * total}
    kept = [s for s in order if s not in few][:MAX_TABLES]
    rare = [s for s in order if s not in set(kept)]
    tables = {s: ClassTable(sets[s], [s], asserted[s], counts[s]) for s in kept}
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
            tables[s] = ClassTable(sets[s], [s], asserted[s], counts[s])
    if len(kept) + len(alone) > MAX_TABLES:
        none = sets.index(frozenset())
        common = tables.setdefault(none, ClassTable(frozenset(), [none], (), counts[none]))
        for s in alone:
            common.sets += tables.pop(s).sets
        order.append(none)
    return [tables[s] for s in dict.fromkeys(order) if s in tables]
