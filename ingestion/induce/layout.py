"""Find tables, columns and names in a graph: Facts -> Layout, the plan that load.py follows."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from ingestion.induce.classes import Classes
from ingestion.induce.declarations import Declarations, read_declarations
from ingestion.induce.names.class_names import name_classes
from ingestion.induce.names.column_names import SqlIdentifiers, column_name, namespace_word
from ingestion.induce.names.labels import preferred_labels
from ingestion.induce.predicate_columns import PredicateColumns, find_predicate_columns
from ingestion.induce.type_sets import find_classes
from ingestion.meaning.derive import derive_facts
from ingestion.read.capsules import Facts, change_mask, unique_counts
from ingestion.vocabulary import TYPE, local_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int32]
    Longs = NDArray[np.int64]
    Flags = NDArray[np.bool_]

# SQLite's limit on columns is 2000, for the columns of a view as well.
MAX_COLUMNS = 1900


@dataclass
class Layout:
    """Everything that load.py writes. `aside` maps a reason to indexes of facts that no visible cell holds."""

    facts: Facts
    statements: Declarations
    classes: Classes
    entities: "Ints"
    ids: "Longs"
    labels: list[str]
    places: list[PredicateColumns]
    aside: dict[str, "Longs"] = field(default_factory=dict)
    base_graph: int = 0
    # For each fact whether it repeats the one before it in another named graph.
    repeated: "Flags | None" = None


def induce_layout(facts: Facts) -> Layout:
    """Decide what becomes a table, a column, a junction, and what is kept aside."""
    facts = derive_facts(facts)
    read = np.ones(len(facts.subject), dtype=bool) if facts.derived is None else ~facts.derived
    base_graph = 0
    repeated = None
    if facts.graph is not None:
        numbers, counts = unique_counts(facts.graph[read])
        base_graph = int(numbers[np.lexsort((_text_ranks(facts, numbers), -counts))[0]])
        repeated = np.zeros(len(facts.subject), dtype=bool)
        for column in (facts.subject, facts.predicate, facts.object):
            repeated[1:] |= column[1:] != column[:-1]
        repeated = ~repeated
        repeated[:1] = False
    statements = read_declarations(facts)
    schema_rows = statements.is_schema[facts.subject]
    type_number = statements.number_of.get(TYPE, -1)
    is_iri = facts.kinds("iri")
    typed = (facts.predicate == type_number) & ~schema_rows
    type_rows = typed & is_iri[facts.object]
    visible = ~schema_rows & ~typed
    if repeated is not None:
        visible &= ~repeated
    for rows in facts.aside.values():
        type_rows[rows] = visible[rows] = typed[rows] = schema_rows[rows] = False
    classes = find_classes(facts, statements, type_rows, visible)
    entities, ids = _entities(facts, visible, type_rows)
    layout = Layout(facts, statements, classes, entities, ids, [], [], {}, base_graph, repeated)
    aside: dict[str, list[Any]] = defaultdict(list, {reason: [rows] for reason, rows in facts.aside.items()})
    aside["schema statement"].append(np.flatnonzero(schema_rows))
    aside["type is not a name"].append(np.flatnonzero(typed & ~type_rows))
    layout.places = find_predicate_columns(facts, classes, visible, aside)
    layout.labels = preferred_labels(facts, entities, visible)
    _name(layout)
    layout.aside = {
        reason: rows for reason, parts in aside.items() if len(rows := _of_graph(np.concatenate(parts), read))
    }
    return layout


def _of_graph(rows: "Longs", read: "Flags") -> "Longs":
    """Those rows, in order, that were read; what is derived and not shown is nowhere."""
    return np.sort(rows[read[rows]])


def _text_ranks(facts: Facts, numbers: "Ints") -> "Longs":
    texts = [facts.texts[n] for n in numbers]
    order = sorted(range(len(texts)), key=texts.__getitem__)
    ranks = np.empty(len(texts), dtype=np.int64)
    ranks[order] = np.arange(len(texts))
    return ranks


def _entities(facts: Facts, visible: "Flags", type_rows: "Flags") -> "tuple[Ints, Longs]":
    """Term numbers of all entities in the order of their ids, and the id of each term (0 for others)."""
    there = np.zeros(len(facts.texts), dtype=bool)
    there[facts.subject[visible | type_rows]] = True
    there[facts.object[visible]] = True
    there &= ~facts.is_literal
    numbers = np.flatnonzero(there).astype(np.int32)
    ids = np.zeros(len(facts.texts), dtype=np.int64)
    texts = facts.texts
    ids[numbers] = entity_keys([texts[n] for n in numbers.tolist()])
    order = ids[numbers].argsort(kind="stable")
    if not change_mask(ids[numbers[order]]).all():
        _resolve_collisions(texts, numbers, ids)
        order = ids[numbers].argsort(kind="stable")
    return numbers[order], ids


def entity_keys(iris: Sequence[str]) -> "Longs":
    """The row key of each entity: 63 bits of a hash of its IRI, never 0.

    >>> first, second = entity_keys(["http://example.org/a", "http://example.org/b"]).tolist()
    >>> first == entity_keys(["http://example.org/a"]).item() != second
    True
    """
    hashes = b"".join([blake2b(iri.encode(errors="surrogatepass"), digest_size=8).digest() for iri in iris])
    ids: Longs = np.maximum(np.frombuffer(hashes, dtype=">u8") >> 1, 1).astype(np.int64)
    return ids


def _resolve_collisions(texts: list[str], numbers: "Ints", ids: "Longs") -> None:
    taken: set[int] = set()
    for number in sorted(numbers.tolist(), key=texts.__getitem__):
        attempt, key = 0, entity_keys([texts[number]]).item()
        while key in taken:
            attempt += 1
            key = entity_keys([f"{attempt} {texts[number]}"]).item()
        taken.add(key)
        ids[number] = key


def _name(layout: Layout) -> None:
    """Give relations and columns their names, and move predicates to junctions where a relation would be too wide."""
    classes, statements = layout.classes, layout.statements
    relations = SqlIdentifiers(["entity", "entity_class", "entity_kind"])
    name_classes(classes, relations, statements)
    columns = SqlIdentifiers(["id"])
    frequent_first = sorted(layout.places, key=lambda p: (-len(p.subject), p.iri))
    named = [_with_columns(place, columns, statements) for place in frequent_first]
    narrow = _too_many(named, classes)
    done = [
        place if place.functional and place.number not in narrow else _with_junction(place, relations, layout)
        for place in named
    ]
    layout.places = sorted(done, key=lambda p: p.index)


def _with_columns(place: PredicateColumns, columns: SqlIdentifiers, statements: Declarations) -> PredicateColumns:
    name = columns.claim(_predicate_names(place.iri, statements), _suffixes(place))
    stem = name.rstrip("_")
    cells, links = place.cells, len(place.targets) > 0
    return replace(
        place,
        value=name if cells or not links else "",
        text=f"{stem}_text" if cells and cells.text else "",
        low=f"{stem}_low" if cells and cells.low else "",
        high=f"{stem}_high" if cells and cells.low else "",
        link=f"{stem}_id" if links else "",
    )


def _with_junction(place: PredicateColumns, relations: SqlIdentifiers, layout: Layout) -> PredicateColumns:
    names = list(_predicate_names(place.iri, layout.statements))
    owner = layout.classes.common_relation(place.domains)
    stem = names[0].rstrip("_")
    verb = [f"has_{stem}"] if not stem.startswith(("has_", "is_")) else []
    junction = relations.claim([names[0], *verb, *([f"{owner}_{stem}"] if owner else []), *names[1:]])
    keys = [f"{owner}_id"] if owner else []
    key = next(each for each in (*keys, "subject_id", "owner_id") if each not in place.columns)
    return replace(place, functional=False, junction=junction, key=key)


def _suffixes(place: PredicateColumns) -> list[str]:
    suffixes = [""]
    if len(place.targets):
        suffixes.append("_id")
    if place.cells and place.cells.text:
        suffixes.append("_text")
    if place.cells and place.cells.low:
        suffixes += ["_low", "_high"]
    return suffixes


def _predicate_names(iri: str, statements: Declarations) -> Iterable[str]:
    label = statements.label(iri)
    plain = column_name(label) if label and len(label) <= 40 else column_name(local_name(iri))
    yield plain
    yield f"{namespace_word(iri)}_{plain.rstrip('_')}"


def _too_many(places: list[PredicateColumns], classes: Classes) -> set[int]:
    """Functional predicates that would make a relation too wide and get a junction each, the rarest first."""
    candidates = sorted((p for p in places if p.functional), key=lambda p: (len(p.subject), p.iri), reverse=True)
    tables_of = {place.number: set(classes.tables_of(place.domains)) for place in candidates}
    if sum(len(place.columns) * len(tables_of[place.number]) for place in candidates) <= MAX_COLUMNS:
        return set()
    relations: list[set[int]] = [set(c) for c in classes.table_sets()]
    used: list[int] = [1] * len(relations)
    found: set[int] = set()
    for place in candidates:
        here = [i for i, tables in enumerate(relations) if tables & tables_of[place.number]]
        if any(used[i] + len(place.columns) > MAX_COLUMNS for i in here):
            found.add(place.number)
            continue
        for i in here:
            used[i] += len(place.columns)
    return found
