"""Find tables, columns and names in a graph: Facts -> Layout, the plan that load.py follows."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from ingestion.capsules import Facts, Sort
from ingestion.cells import Cells, typed_cells
from ingestion.classes import Classes, find_classes
from ingestion.column_names import Names, column_name, namespace_word
from ingestion.labels import preferred_labels
from ingestion.statements import Statements, read_statements
from ingestion.vocabulary import TYPE, language_rank, local_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int32]
    Longs = NDArray[np.int64]
    Flags = NDArray[np.bool_]

# SQLite's limit on columns is 2000, for the columns of a view as well.
MOST_COLUMNS = 1900


@dataclass
class Place:
    """One predicate: its visible triples, where they lie, and how their literals read.

    `subject` and `object` are term numbers, `row` the index of the triple in the facts. `distinct` are the literal
    terms that `cells` speaks of, in its order.
    """

    iri: str
    number: int
    subject: "Ints"
    object: "Ints"
    row: "Longs"
    functional: bool
    literal: "Flags"
    distinct: "Ints"
    cells: Cells | None
    junction: str = ""
    key: str = ""
    value: str = ""
    low: str = ""
    high: str = ""
    text: str = ""
    link: str = ""
    index: int = 0

    @cached_property
    def subjects(self) -> "Ints":
        """The distinct subjects; the triples are sorted by subject."""
        distinct: Ints = self.subject[np.diff(self.subject, prepend=-1) != 0]
        return distinct

    def columns(self) -> int:
        """How many SQL columns it takes."""
        return len([c for c in (self.value, self.low, self.high, self.text, self.link) if c]) or 5


@dataclass
class Layout:
    """Everything that load.py writes. `aside` maps a reason to indexes of facts that no visible cell holds."""

    facts: Facts
    statements: Statements
    classes: Classes
    entities: "Ints"
    ids: "Longs"
    labels: list[str]
    places: list[Place]
    aside: dict[str, "Longs"] = field(default_factory=dict)
    base_graph: int = 0
    # For each fact whether it repeats the one before it in another named graph.
    repeated: "Flags | None" = None


def induce(facts: Facts) -> Layout:
    """Decide what becomes a table, a column, a junction, and what is kept aside."""
    base_graph = 0
    repeated = None
    if facts.graph is not None:
        numbers, counts = np.unique(facts.graph, return_counts=True)
        base_graph = int(numbers[np.lexsort((_text_ranks(facts, numbers), -counts))[0]])
        repeated = np.zeros(facts.triples, dtype=bool)
        for column in (facts.subject, facts.predicate, facts.object):
            repeated[1:] |= column[1:] != column[:-1]
        repeated = ~repeated
        repeated[:1] = False
    statements = read_statements(facts)
    schema_rows = statements.is_schema[facts.subject]
    type_number = statements.number_of.get(TYPE, -1)
    is_iri = facts.kinds("iri")
    typed = (facts.predicate == type_number) & ~schema_rows
    type_rows = typed & is_iri[facts.object]
    visible = ~schema_rows & ~typed
    if repeated is not None:
        visible &= ~repeated
    classes = find_classes(facts, statements, type_rows, visible)
    entities, ids = _entities(facts, visible, type_rows)
    layout = Layout(facts, statements, classes, entities, ids, [], [], {}, base_graph, repeated)
    aside: dict[str, list[Any]] = defaultdict(list)
    aside["schema statement"].append(np.flatnonzero(schema_rows))
    aside["type is not a name"].append(np.flatnonzero(typed & ~type_rows))
    layout.places = _places(facts, visible, aside)
    layout.labels = preferred_labels(facts, entities, visible, classes)
    _name(layout)
    layout.aside = {reason: np.sort(np.concatenate(parts)) for reason, parts in aside.items() if sum(map(len, parts))}
    return layout


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
    ids[numbers] = [entity_id(texts[n]) for n in numbers.tolist()]
    if len(np.unique(ids[numbers])) < len(numbers):
        _resolve_collisions(texts, numbers, ids)
    return numbers[np.argsort(ids[numbers], kind="stable")], ids


def entity_id(iri: str, attempt: int = 0) -> int:
    """The row key of an entity: 63 bits of a hash of its IRI, never 0.

    >>> entity_id("http://example.org/a") == entity_id("http://example.org/a") < 2**63
    True
    """
    text = iri if not attempt else f"{attempt} {iri}"
    return (int.from_bytes(blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest(), "big") >> 1) or 1


def _resolve_collisions(texts: list[str], numbers: "Ints", ids: "Longs") -> None:
    taken: set[int] = set()
    for number in sorted(numbers.tolist(), key=texts.__getitem__):
        attempt = 0
        while (key := entity_id(texts[number], attempt)) in taken:
            attempt += 1
        taken.add(key)
        ids[number] = key


def _places(facts: Facts, visible: "Flags", aside: dict[str, list[Any]]) -> list[Place]:
    rows = np.flatnonzero(visible)
    rows = rows[np.argsort(facts.predicate[rows], kind="stable")]
    if not len(rows):
        return []
    numbers, starts = np.unique(facts.predicate[rows], return_index=True)
    places = []
    for number, start, end in zip(numbers, starts, [*starts[1:], len(rows)], strict=True):
        places.append(_place(facts, int(number), rows[start:end], aside))
    places.sort(key=lambda p: p.iri)
    for index, place in enumerate(places):
        place.index = index
    return places


def _place(facts: Facts, number: int, rows: "Longs", aside: dict[str, list[Any]]) -> Place:
    iri = facts.texts[number]
    functional = bool(len(rows) < 2 or not (np.diff(facts.subject[rows]) == 0).any())
    if not functional:
        spare = _other_languages(facts, rows)
        if spare is not None:
            aside["other language"].append(spare)
            rows = np.setdiff1d(rows, spare, assume_unique=True)
            functional = True
    literal = facts.is_literal[facts.object[rows]]
    distinct, counts = np.unique(facts.object[rows][literal], return_counts=True)
    cells = None
    if len(distinct):
        texts = [facts.texts[n] for n in distinct.tolist()]
        sorts = [facts.sorts[s] for s in facts.sort_of[distinct].tolist()]
        cells = typed_cells(iri, texts, sorts, counts.tolist())
        if any(cells.hidden):
            hidden = np.isin(facts.object[rows], distinct[np.array(cells.hidden, dtype=bool)])
            aside["no value of the column's type"].append(rows[hidden])
            rows, literal = rows[~hidden], literal[~hidden]
    return Place(iri, number, facts.subject[rows], facts.object[rows], rows, functional, literal, distinct, cells)


def _other_languages(facts: Facts, rows: "Longs") -> "Longs | None":
    """The rows beside the preferred language, where a subject's values differ by nothing but their language."""
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
        sort: Sort = facts.sorts[facts.sort_of[facts.object[row]]]
        if sort[1]:
            return None
        groups[int(facts.subject[row])].append((sort[2], row))
    for values in groups.values():
        if len({language for language, _ in values}) < len(values):
            return None
        best = min(values, key=lambda v: language_rank(v[0]))
        spare.extend(row for _, row in values if row != best[1])
    return np.array(sorted(spare), dtype=np.int64)


def _name(layout: Layout) -> None:
    """Give relations and columns their names, and move predicates to junctions where a relation would be too wide."""
    classes, statements = layout.classes, layout.statements
    relations = Names(["entity", "entity_class"])
    classes.name(relations, statements)
    columns = Names(["id"])
    for place in sorted(layout.places, key=lambda p: (-len(p.subject), p.iri)):
        base = list(_predicate_names(place.iri, statements))
        place.value, place.low, place.high, place.text, place.link = "", "", "", "", ""
        suffixes = _suffixes(place)
        name = columns.claim(base, suffixes)
        stem = name.rstrip("_")
        if place.cells:
            place.value = name
            place.text = f"{stem}_text" if place.cells.text else ""
            if place.cells.low:
                place.low, place.high = f"{stem}_low", f"{stem}_high"
        if not place.literal.all():
            place.link = f"{stem}_id"
        elif not place.cells:
            place.value = name
    _evict(layout)
    for place in sorted(layout.places, key=lambda p: (-len(p.subject), p.iri)):
        if place.functional:
            continue
        names = list(_predicate_names(place.iri, statements))
        owner = classes.common_relation(place.subjects)
        stem = names[0].rstrip("_")
        verb = [f"has_{stem}"] if not stem.startswith(("has_", "is_")) else []
        place.junction = relations.claim([names[0], *verb, *([f"{owner}_{stem}"] if owner else []), *names[1:]])
        place.key = f"{owner or 'subject'}_id"
        if place.key in {place.link, place.value, place.low, place.high, place.text}:
            place.key = "subject_id"


def _suffixes(place: Place) -> list[str]:
    suffixes = [""]
    if not place.literal.all():
        suffixes.append("_id")
    if place.cells and place.cells.text:
        suffixes.append("_text")
    if place.cells and place.cells.low:
        suffixes += ["_low", "_high"]
    return suffixes


def _predicate_names(iri: str, statements: Statements) -> Iterable[str]:
    label = statements.label(iri)
    plain = column_name(label) if label and len(label) <= 40 else column_name(local_name(iri))
    yield plain
    yield f"{namespace_word(iri)}_{plain.rstrip('_')}"


def _evict(layout: Layout) -> None:
    """Functional predicates that would make a relation too wide become junctions, the rarest first."""
    classes = layout.classes
    tables_of = {
        place.number: set(np.unique(classes.table_of[place.subjects]).tolist())
        for place in layout.places
        if place.functional
    }
    width: Counter[int] = Counter()
    for place in layout.places:
        if place.functional:
            for table in tables_of[place.number]:
                width[table] += place.columns()
    if sum(width.values()) <= MOST_COLUMNS:
        return
    relations: list[set[int]] = [set(c) for c in classes.table_sets()]
    candidates = sorted((p for p in layout.places if p.functional), key=lambda p: (len(p.subject), p.iri), reverse=True)
    used: list[int] = [1] * len(relations)
    for place in candidates:
        here = [i for i, tables in enumerate(relations) if tables & tables_of[place.number]]
        if any(used[i] + place.columns() > MOST_COLUMNS for i in here):
            place.functional = False
            continue
        for i in here:
            used[i] += place.columns()
