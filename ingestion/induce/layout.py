"""Induce tables, columns and names from a graph: Facts -> Layout, the plan for `write_tables`."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from ingestion.induce.cells import TypedCells, infer_cells
from ingestion.induce.classes import Classes, find_classes, name_classes
from ingestion.induce.declarations import Declarations, preferred_labels, read_declarations
from ingestion.induce.names import SqlIdentifiers, column_name, namespace_word
from ingestion.layer.entries import NO_LAYER, Layer
from ingestion.layer.resolve import name_declarations
from ingestion.meaning.derive import Rule, derive_facts
from ingestion.read.facts import Facts, TermSort, change_mask, unique_counts
from ingestion.vocabulary import TYPE, language_rank, local_name, name_rank
from nacre.records.schema import LOCAL, Column, Relation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int32]
    Longs = NDArray[np.int64]
    Flags = NDArray[np.bool_]

# SQLite allows 2000 columns in a table or a view
MAX_COLUMNS = 1900

# minimum share of filled rows of a column in a too wide table: an empty cell takes a byte, a junction's row about 100
MIN_FILLED = 0.01

# junctions that are tables of their own; SQLite takes 0.02 ms longer for each table that exists to create one
MAX_JUNCTION_TABLES = 1000


@dataclass(frozen=True, eq=False)
class PredicateColumns:
    """One predicate: its visible triples, their relation and columns, and the cells of its literals. `index` is its
    number in the order of IRIs. The names from `junction` to `link` are set when all predicates are known, "" for
    missing columns. `subject` and `object` are term numbers, `row` indexes of facts. `distinct` are the literal terms
    of `cells`, in order, `targets` the distinct objects of links, both with their number of triples; `domains` and
    `ranges` count subjects and targets by type set. `hidden` are rows that no column shows, by reason; `shared` has the
    rows of a junction that is a view."""

    iri: str
    index: int
    number: int
    subject: "Ints"
    object: "Ints"
    row: "Ints"
    functional: bool
    literal: "Flags"
    distinct: "Ints"
    distinct_counts: "Longs"
    cells: TypedCells | None
    targets: "Ints"
    target_counts: "Longs"
    domains: dict[int, int]
    ranges: dict[int, int]
    hidden: "Mapping[str, Ints]"
    junction: str = ""
    shared: str = ""
    key: str = ""
    value: str = ""
    low: str = ""
    high: str = ""
    text: str = ""
    link: str = ""

    @property
    def position(self) -> int:
        """The place of a column of a sheet, as the terms of sheets are numbered in this order; 0 for others."""
        return self.number if self.iri.startswith(LOCAL) else 0

    @property
    def columns(self) -> tuple[str, ...]:
        """Its SQL columns, in order."""
        return tuple(c for c in (self.value, self.low, self.high, self.text, self.link) if c)


@dataclass(frozen=True)
class Layout:
    """The plan of all tables. `aside` maps a reason to indexes of facts that no visible cell shows. `entities` are term
    numbers in the order of row keys, `ids` the row key of each term, `labels` those of the entities. `repeated` marks
    facts that repeat the previous one in another named graph."""

    facts: Facts
    declarations: Declarations
    classes: Classes
    entities: "Ints"
    ids: "Longs"
    labels: Sequence[str]
    places: Sequence[PredicateColumns]
    aside: Mapping[str, "Longs"]
    base_graph: int = 0
    repeated: "Flags | None" = None


def list_places(facts: Facts, place: PredicateColumns) -> "Ints | None":
    """The places of a predicate's objects in lists of their subjects; None if some have none, or only one each."""
    if not facts.places or place.functional:
        return None
    pairs = zip(place.subject.tolist(), place.object.tolist(), strict=True)
    found = np.array([facts.places.get(pair, -1) for pair in pairs], dtype=np.int32)
    return found if (found >= 0).all() else None


def induce_layout(facts: Facts, layer: Layer = NO_LAYER, rules: Sequence[Rule] | None = None) -> Layout:
    """Decide what becomes a table, a column or a junction, and which triples no table shows. The resolved `layer` gives
    names; its triples are in the facts already."""
    facts = derive_facts(facts, rules)
    read = np.ones(len(facts.subject), dtype=bool) if facts.derived is None else ~facts.derived
    base_graph, repeated = _graphs(facts, read)
    declarations = read_declarations(facts)
    name_declarations(declarations, layer)
    schema_rows = declarations.is_schema[facts.subject]
    is_iri = facts.kinds("iri")
    typed = (facts.predicate == declarations.number_of.get(TYPE, -1)) & ~schema_rows
    type_rows = typed & is_iri[facts.object]
    visible = ~schema_rows & ~typed
    if repeated is not None:
        visible &= ~repeated
    for rows in facts.aside.values():
        type_rows[rows] = visible[rows] = typed[rows] = schema_rows[rows] = False
    classes = find_classes(facts, declarations, type_rows, visible)
    entities, ids = _entities(facts, visible, type_rows)
    unnamed = find_predicate_columns(facts, classes, visible)
    labels = preferred_labels(facts, entities, visible)
    named_classes, places = _name(classes, unnamed, declarations)
    hidden = [*facts.aside.items()]
    hidden += [(reason, rows.astype(np.intp)) for place in places for reason, rows in place.hidden.items()]
    hidden.append(("schema statement", np.flatnonzero(schema_rows)))
    hidden.append(("type is not a name", np.flatnonzero(typed & ~type_rows)))
    # only rows that were read: derived ones that are not shown are dropped
    parts: dict[str, list[NDArray[np.intp]]] = defaultdict(list)
    for reason, numbers in hidden:
        parts[reason].append(numbers)
    merged = {reason: np.concatenate(each) for reason, each in parts.items()}
    aside = {reason: kept for reason, each in merged.items() if len(kept := np.sort(each[read[each]]))}
    return Layout(facts, declarations, named_classes, entities, ids, labels, places, aside, base_graph, repeated)


def _graphs(facts: Facts, read: "Flags") -> "tuple[int, Flags | None]":
    """The named graph with most triples, and which facts repeat the previous one in another graph."""
    if facts.graph is None:
        return 0, None
    numbers, counts = unique_counts(facts.graph[read])
    most = numbers[counts == counts.max()].tolist()
    base_graph = min(most, key=facts.texts.__getitem__)
    differs = np.zeros(len(facts.subject), dtype=bool)
    for column in (facts.subject, facts.predicate, facts.object):
        differs[1:] |= column[1:] != column[:-1]
    differs[:1] = True
    return base_graph, ~differs


def _entities(facts: Facts, visible: "Flags", type_rows: "Flags") -> "tuple[Ints, Longs]":
    """The term numbers of all entities in the order of their row keys, and the row key of each term (0 for others)."""
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


def _name(
    classes: Classes, unnamed: Sequence[PredicateColumns], declarations: Declarations
) -> tuple[Classes, list[PredicateColumns]]:
    """Name relations and columns, and move predicates to junctions if a relation would be too wide."""
    relations = SqlIdentifiers(["entity", "entity_class", "entity_kind"])
    named_classes = name_classes(classes, relations, declarations)
    columns = SqlIdentifiers(["id"])
    frequent_first = sorted(unnamed, key=lambda p: (-len(p.subject), p.iri))
    named = [_with_columns(place, columns, declarations) for place in frequent_first]
    narrow = _too_many(named, named_classes)
    places = [
        place
        if place.functional and place.number not in narrow
        else _with_junction(place, relations, named_classes, declarations)
        for place in named
    ]
    return named_classes, sorted(_share_tables(places, relations), key=lambda p: p.index)


def _share_tables(places: Sequence[PredicateColumns], relations: SqlIdentifiers) -> Iterator[PredicateColumns]:
    """The places, the most frequent first; rare junctions with the same kinds of columns share a table."""
    own = 0
    names: dict[tuple[str, ...], str] = {}
    for place in places:
        own += bool(place.junction)
        if not place.junction or own <= MAX_JUNCTION_TABLES:
            yield place
            continue
        parts = [part for part in ("value", "low", "text", "link") if getattr(place, part)]
        kinds = (place.cells.datatype if place.cells else "", *parts)
        if kinds not in names:
            names[kinds] = relations.claim(["rare_statements"])
        yield replace(place, shared=names[kinds])


def _with_columns(place: PredicateColumns, columns: SqlIdentifiers, declarations: Declarations) -> PredicateColumns:
    name = columns.claim(_predicate_names(place.iri, declarations), _suffixes(place))
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


def _with_junction(
    place: PredicateColumns, relations: SqlIdentifiers, classes: Classes, declarations: Declarations
) -> PredicateColumns:
    names = list(_predicate_names(place.iri, declarations))
    owner = classes.common_relation(place.domains)
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


def _predicate_names(iri: str, declarations: Declarations) -> Iterable[str]:
    label = declarations.label(iri)
    plain = column_name(label) if label and len(label) <= 40 else column_name(local_name(iri))
    yield plain
    yield f"{namespace_word(iri)}_{plain.rstrip('_')}"


def _too_many(places: Sequence[PredicateColumns], classes: Classes) -> set[int]:
    """Functional predicates that need junctions, as a relation would be too wide; a table's rare ones come first."""
    candidates = sorted((p for p in places if p.functional), key=lambda p: (len(p.subject), p.iri), reverse=True)
    tables_of = {place.number: set(classes.tables_of(place.domains)) for place in candidates}
    if sum(len(place.columns) * len(tables_of[place.number]) for place in candidates) <= MAX_COLUMNS:
        return set()
    # classes of the same tables have the same columns
    relations = list(dict.fromkeys(frozenset(tables) for tables in classes.table_sets()))
    used: list[int] = [1] * len(relations)
    rows = np.bincount(classes.table_of[classes.table_of >= 0], minlength=len(classes.tables)).tolist()
    found: set[int] = set()
    for place in candidates:
        if len(place.subject) < MIN_FILLED * sum(rows[table] for table in tables_of[place.number]):
            found.add(place.number)
            continue
        here = [i for i, tables in enumerate(relations) if tables & tables_of[place.number]]
        if any(used[i] + len(place.columns) > MAX_COLUMNS for i in here):
            found.add(place.number)
            continue
        for i in here:
            used[i] += len(place.columns)
    return found


def find_predicate_columns(facts: Facts, classes: Classes, visible: "Flags") -> list[PredicateColumns]:
    """The columns of each predicate of the visible triples, in the order of IRIs."""
    rows = np.flatnonzero(visible).astype(np.int32)
    rows = rows[np.argsort(facts.predicate[rows], kind="stable")]
    if not len(rows):
        return []
    numbers, counts = unique_counts(facts.predicate[rows])
    parts = zip(numbers.tolist(), np.split(rows, np.cumsum(counts)[:-1]), strict=True)
    in_order = enumerate(sorted(parts, key=lambda part: facts.texts[part[0]]))
    return [_predicate_columns(facts, classes, index, number, of_it) for index, (number, of_it) in in_order]


def _predicate_columns(facts: Facts, classes: Classes, index: int, number: int, rows: "Ints") -> PredicateColumns:
    iri = facts.texts[number]
    hidden_rows: dict[str, Ints] = {}
    functional = bool(change_mask(facts.subject[rows]).all())
    if not functional:
        spare = _other_languages(facts, rows)
        if spare is not None:
            hidden_rows["other language"] = spare
            rows, functional = np.setdiff1d(rows, spare, assume_unique=True), True
    objects = facts.object[rows]
    literal = facts.is_literal[objects]
    distinct, counts = unique_counts(objects[literal])
    cells = None
    if len(distinct):
        texts = list(map(facts.texts.__getitem__, distinct.tolist()))
        sorts = list(map(facts.sorts.__getitem__, facts.sort_of[distinct].tolist()))
        cells = infer_cells(iri, texts, sorts, counts.tolist())
        if any(cells.hidden):
            hidden = np.isin(objects, distinct[np.array(cells.hidden, dtype=bool)])
            hidden_rows["no value of the column's type"] = rows[hidden]
            rows, objects, literal = rows[~hidden], objects[~hidden], literal[~hidden]
            counts = np.where(cells.hidden, 0, counts)
    subjects = facts.subject[rows]
    targets, target_counts = unique_counts(objects[~literal])
    return PredicateColumns(
        iri=iri,
        index=index,
        number=number,
        subject=subjects,
        object=objects,
        row=rows,
        functional=functional,
        literal=literal,
        distinct=distinct,
        distinct_counts=counts,
        cells=cells,
        targets=targets,
        target_counts=target_counts,
        domains=classes.spread(subjects if functional else subjects[change_mask(subjects)]),
        ranges=classes.spread(targets),
        hidden=hidden_rows,
    )


def _other_languages(facts: Facts, rows: "Ints") -> "Ints | None":
    """The rows in other languages than the preferred one, if the values of a subject only differ by language."""
    subjects = facts.subject[rows]
    same = np.diff(subjects) == 0
    several = np.zeros(len(rows), dtype=bool)
    several[1:] |= same
    several[:-1] |= same
    if not facts.is_literal[facts.object[rows[several]]].all():
        return None
    spare: list[int] = []
    groups: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for row in rows[several].tolist():
        sort: TermSort = facts.sorts[facts.sort_of[facts.object[row]]]
        if sort[1]:
            return None
        groups[int(facts.subject[row])].append((sort[2], row))
    for values in groups.values():
        if len({language for language, _ in values}) < len(values):
            return None
        best = min(values, key=lambda v: language_rank(v[0], facts.languages))
        spare.extend(row for _, row in values if row != best[1])
    return np.array(sorted(spare), dtype=np.int32)


def build_relations(layout: Layout) -> tuple[Relation, ...]:
    """All tables, views and junctions, in this order."""
    classes = layout.classes
    by_table = table_columns(layout)
    relations = [
        Relation(table.name, "view" if table.merged else "table", "id", tuple(map(build_column, by_table[i])))
        for i, table in enumerate(classes.tables)
    ]
    for iri, tables in classes.view_of.items():
        relations.append(
            Relation(classes.relation_of[iri], "view", "id", tuple(map(build_column, union_columns(by_table, tables))))
        )
    for iri in classes.kinds:
        places = union_columns(by_table, classes.kind_tables(iri))
        relations.append(Relation(classes.relation_of[iri], "view", "id", tuple(map(build_column, places))))
    for place in layout.places:
        if place.junction:
            relations.append(Relation(place.junction, "junction", place.key, (build_column(place),)))
    return tuple(sorted(relations, key=lambda r: ({"table": 0, "view": 1, "junction": 2}[r.kind], r.name)))


def union_columns(by_table: list[list[PredicateColumns]], tables: Sequence[int]) -> list[PredicateColumns]:
    """The predicates of several tables, in the order of the columns of their view."""
    found = {place.number: place for index in tables for place in by_table[index]}
    return sorted(found.values(), key=_column_order)


def build_column(place: PredicateColumns) -> Column:
    """The columns of a predicate, in every relation that has it."""
    return Column(place.iri, place.value, place.low, place.high, place.text, place.link)


def table_columns(layout: Layout) -> list[list[PredicateColumns]]:
    """For each table the predicates with columns in it, in the order of the columns."""
    found: list[list[PredicateColumns]] = [[] for _ in layout.classes.tables]
    for place in layout.places:
        if not place.junction:
            for table in layout.classes.tables_of(place.domains):
                found[table].append(place)
    for places in found:
        places.sort(key=_column_order)
    return found


def _column_order(place: PredicateColumns) -> tuple[int, int, str]:
    rank = name_rank(place.iri)
    return (rank if rank is not None else 9), -len(place.subject), place.iri
