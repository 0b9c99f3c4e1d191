"""Describe a graph: Layout -> Schema."""

import re
from collections import defaultdict
from heapq import nsmallest
from statistics import median
from typing import TYPE_CHECKING, Literal

import numpy as np

from ingestion.induce import names
from ingestion.induce.cells import TypedCells, written_form
from ingestion.induce.classes import class_label, class_local_name
from ingestion.induce.declarations import limit_schema
from ingestion.induce.layout import Layout, PredicateColumns, build_relations, list_places
from ingestion.induce.quantities import add_name_units, stated_unit
from ingestion.vocabulary import COMMENT_PREDICATES, OWL, SCHEMA_PREDICATES, is_other_name, local_name, name_rank
from nacre.language.data import word_list
from nacre.language.labels import has_boolean_values
from nacre.language.spellings import spelling_groups
from nacre.records.schema import RECORDS, Class, Group, Predicate, Schema

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_LISTED_VALUES = 30

# texts of a property that are compared by their normalised form (given): 0.1 s
MAX_SPELT_VALUES = 10_000

SAMPLES = 5

_BETWEEN = re.compile(r"[\W_]+")

LONG_TEXT = 60

MAX_SAMPLE_LENGTH = 80

MAX_CODE_LENGTH = 24
MIN_NUMBERED = 3  # how many numbers number things, at least


def build_schema(layout: Layout) -> Schema:
    """The shown schema: classes, groups and predicates by IRI, and the relations they read from."""
    label_of = np.full(len(layout.facts.texts), -1, dtype=np.int64)
    label_of[layout.entities] = np.arange(len(layout.entities))
    classes = _classes(layout)
    label = {c.iri: c.label for c in classes}
    readable = names.readable_labels(
        [p.iri for p in layout.places], {p.iri: _role_of(layout, p, label) for p in layout.places}
    )
    predicates = [_predicate(layout, place, label_of, readable[place.iri]) for place in layout.places]
    schema = Schema(
        classes=classes,
        groups=_groups(layout),
        predicates=add_name_units(predicates, [c.label for c in classes]),
        relations=build_relations(layout),
        junctions={p.iri: p.junction for p in layout.places if p.junction},
        # a statement in several named graphs counts once
        triples=layout.facts.triples - (0 if layout.repeated is None else int(layout.repeated.sum())),
        entities=len(layout.entities),
    )
    return limit_schema(schema)


def _classes(layout: Layout) -> tuple[Class, ...]:
    declarations, classes = layout.declarations, layout.classes
    found = []
    for iri, relation in classes.relation_of.items():
        label = (
            class_label(iri, declarations)
            or names.expand_abbreviations(names.lowercase_name(class_local_name(iri, declarations)))
            or iri
        )
        found.append(
            Class(
                iri=iri,
                label=label,
                count=len(classes.kinds[iri]) if iri in classes.kinds else classes.members.get(iri, 0),
                relation=relation,
                comment=declarations.comments.get(iri, ""),
                alt_labels=declarations.other_labels(iri),
                # a kind lists all of its members itself
                parents=() if iri in classes.kinds else tuple(declarations.class_parents.get(iri, ())),
                within=classes.within(iri),
            )
        )
    return tuple(sorted(found, key=lambda c: (-c.count, c.iri)))


def _groups(layout: Layout) -> tuple[Group, ...]:
    classes = layout.classes
    groups = []
    for table in classes.tables:
        if not classes.counts[table.sets[0]]:
            continue  # a table with members of rare sets only
        own = classes.sets[table.sets[0]]
        others = [closed for closed in classes.sets if closed > own]
        without: list[str] = []
        for closed in sorted(others, key=lambda c: (len(c), sorted(c))):
            if not closed & set(without):
                without.append(min(closed - own, key=lambda iri: (-classes.members[iri], iri)))
        groups.append(
            Group(
                relation=table.name,
                label=names.expand_abbreviations(table.label),
                classes=table.asserted,
                count=classes.counts[table.sets[0]],
                without=tuple(sorted(without)),
                words=table.words,
            )
        )
    for iri, sets in classes.small_kinds().items():
        shared = frozenset.intersection(*(classes.sets[s] for s in sets))
        own = shared - frozenset().union(*(layout.declarations.ancestors(c) - {c} for c in shared))
        groups.append(
            Group(
                relation=classes.relation_of[iri],
                label=names.readable_name(classes.relation_of[iri]),
                classes=tuple(sorted(own)),
                count=sum(classes.counts[s] for s in sets),
                without=(),
                words=(),
            )
        )
    for iri, members in classes.kinds.items():
        label = layout.declarations.label(iri) or names.lowercase_name(local_name(iri)) or iri
        groups.append(Group(classes.relation_of[iri], label, (iri,), len(members)))
    return tuple(sorted(groups, key=lambda g: (-g.count, g.relation)))


def _predicate(
    layout: Layout, place: PredicateColumns, label_of: "NDArray[np.int64]", readable: names.ReadableLabel
) -> Predicate:
    declarations = layout.declarations
    subjects = sum(place.domains.values())
    values, samples = _values(layout, place, label_of)
    cells = place.cells
    stated = declarations.label(place.iri)
    unit = _unit(cells, declarations.comments.get(place.iri, ""), stated, local_name(place.iri))
    return Predicate(
        iri=place.iri,
        label=stated or readable.label or place.iri,
        triples=len(place.subject),
        subjects=subjects,
        objects=len(place.targets) + len(place.distinct),
        has_literals=bool(place.literal.any()),
        has_links=bool(len(place.targets)),
        functional=subjects == len(place.subject),
        domains=_by_class(layout, place.domains) | layout.classes.kinds_of(place.subject),
        ranges=_by_class(layout, place.ranges) | layout.classes.kinds_of(place.targets),
        datatype=cells.datatype if cells else "text",
        shape=cells.shape if cells else "single",
        unit=unit,
        minimum=cells.minimum if cells else None,
        maximum=cells.maximum if cells else None,
        comment=declarations.comments.get(place.iri, ""),
        alt_labels=(*declarations.other_labels(place.iri), *(() if stated else readable.others)),
        values=values,
        samples=samples,
        parents=tuple(declarations.predicate_parents.get(place.iri, ())),
        inverses=tuple(declarations.inverses.get(place.iri, ())),
        role=_role(layout, place, cells, label_of),
        written=written_form(cells),
        ordered=list_places(layout.facts, place) is not None,
        spellings=() if values else _spellings(layout, place),
        position=place.position,
        unread=cells.unread(place.distinct_counts.tolist()) if cells else 0,
    )


def _spellings(layout: Layout, place: PredicateColumns) -> tuple[tuple[str, ...], ...]:
    if place.cells is None or place.cells.datatype != "text" or len(place.distinct) > MAX_SPELT_VALUES:
        return ()
    return spelling_groups(map(layout.facts.texts.__getitem__, place.distinct.tolist()))


def _role_of(layout: Layout, place: PredicateColumns, label: dict[str, str]) -> names.PredicateRole:
    """The role of a predicate, which its name may repeat."""
    owners = tuple(label[iri] for iri in _by_class(layout, place.domains) if iri in label)
    ends = tuple(label[iri] for iri in _by_class(layout, place.ranges) if iri in label)
    few = place.distinct.tolist() if len(place.distinct) <= MAX_LISTED_VALUES and not ends else []
    values = {layout.facts.texts[n] for n in few}
    return names.PredicateRole(owners, ends, has_boolean_values(values, local_name(place.iri)))


def _unit(cells: TypedCells | None, *said: str) -> str:
    """The unit of the values, else the one stated in the predicate's comment or name."""
    if cells is None or cells.unit or cells.datatype not in {"integer", "real"}:
        return cells.unit if cells else ""
    return next((unit for text in said if (unit := stated_unit(names.readable_name(text)))), "")


def _by_class(layout: Layout, by_set: dict[int, int]) -> dict[str, int]:
    """The number of things with these type sets in each class; "" counts things without a class."""
    counts: dict[str, int] = {}
    for index, count in by_set.items():
        closed = layout.classes.sets[index] if index >= 0 else ()
        for iri in closed or ("",):
            counts[iri] = counts.get(iri, 0) + count
    return dict(sorted(counts.items(), key=lambda c: (-c[1], c[0]))) if len(counts) > 1 else counts


def _values(
    layout: Layout, place: PredicateColumns, label_of: "NDArray[np.int64]"
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    shown = place.distinct_counts > 0
    literals, often = place.distinct[shown], place.distinct_counts[shown]
    targets, counts = place.targets, place.target_counts
    few = len(literals) + len(targets) <= MAX_LISTED_VALUES
    most = MAX_LISTED_VALUES if few else SAMPLES
    if not few:
        # keep the most frequent; a generous cut first, since sorting ties by text would need every text
        literals, often = _most(literals, often)
        targets, counts = _most(targets, counts)
    texts = list(map(layout.facts.texts.__getitem__, literals.tolist()))
    texts += map(layout.labels.__getitem__, label_of[targets].tolist())
    fewer = [*(-often).tolist(), *(-counts).tolist()]
    found = dict(zip(texts, fewer, strict=True))
    if len(found) < len(texts):
        # one text in several languages or datatypes
        found = defaultdict(int)
        for text, count in zip(texts, fewer, strict=True):
            found[text] += count
    pairs = zip(found.values(), found, strict=True)
    ordered = [text for _, text in (sorted(pairs) if len(found) <= most else nsmallest(most, pairs))]
    if few and all(len(text) <= MAX_SAMPLE_LENGTH for text in ordered):
        return tuple(ordered), ()
    return (), tuple(text[:MAX_SAMPLE_LENGTH] for text in ordered[:SAMPLES])


def _most(numbers: "NDArray[np.int32]", counts: "NDArray[np.int64]") -> "tuple[NDArray[np.int32], NDArray[np.int64]]":
    if len(numbers) <= SAMPLES:
        return numbers, counts
    enough = np.partition(counts, -SAMPLES)[-SAMPLES]
    kept = counts >= enough
    return numbers[kept], counts[kept]


def _role(
    layout: Layout, place: PredicateColumns, cells: TypedCells | None, label_of: "NDArray[np.int64]"
) -> Literal["fact", "name", "identifier", "text", "type", "schema"]:
    if place.iri in SCHEMA_PREDICATES or place.iri in (OWL + "sameAs", RECORDS):
        return "schema"
    if cells is None or len(place.targets):
        return "fact"
    if name_rank(place.iri) is not None or is_other_name(place.iri):
        return "name"
    if cells.datatype not in {"text", "integer"} or cells.unit:
        return "fact"
    texts = layout.facts.texts
    *before, last = names.readable_name(local_name(place.iri)).lower().split() or [""]
    words = {*before, last}
    numbering, phones, identifiers = (
        word_list("ingestion", key) for key in ("numbering_words", "phone_words", "identifier_words")
    )
    is_own = before and len(place.distinct) == len(place.object) and _are_codes(place, cells, texts)
    if last in numbering and (is_own or _counts_up(place, cells, texts)):
        return "fact" if words & phones else "identifier"
    if words & identifiers and (len(place.distinct) > 0.8 * len(place.object) or _echo(layout, place, label_of)):
        return "identifier"
    if cells.datatype != "text":
        return "fact"
    if place.iri in COMMENT_PREDICATES or median([len(texts[n]) for n in place.distinct.tolist()]) > LONG_TEXT:
        return "text"
    return "identifier" if _echo(layout, place, label_of) else "fact"


def _are_codes(place: PredicateColumns, cells: TypedCells, texts: list[str]) -> bool:
    """Whether values are numbers, or short texts with a number in each: "R-1020"."""
    some = (texts[n] for n in place.distinct[:: max(1, len(place.distinct) // 200)].tolist())
    return cells.datatype == "integer" or all(any(map(str.isdigit, t)) and len(t) <= MAX_CODE_LENGTH for t in some)


def _counts_up(place: PredicateColumns, cells: TypedCells, texts: list[str]) -> bool:
    """Whether whole numbers number things from 1 up, perhaps again in each group: no number is more frequent than a
    smaller one, and none is left out."""
    if cells.datatype != "integer" or len(place.distinct) < MIN_NUMBERED:
        return False
    counts = {texts[n]: count for n, count in zip(place.distinct.tolist(), place.distinct_counts.tolist(), strict=True)}
    in_order = [counts.get(str(number), 0) for number in range(1, len(counts) + 1)]
    return all(in_order) and in_order == sorted(in_order, reverse=True)


def _echo(layout: Layout, place: PredicateColumns, label_of: "NDArray[np.int64]") -> bool:
    """Whether the values only repeat the labels of their subjects in another spelling."""
    step = max(1, len(place.subject) // 200)
    texts = layout.facts.texts
    pairs = list(zip(place.subject[::step].tolist(), place.object[::step].tolist(), strict=True))
    spare = len(pairs) - 0.8 * len(pairs)
    for subject, value in pairs:
        spare -= _bare(layout.labels[label_of[subject]]) != _bare(texts[value])
        if spare < 0:
            return False
    return bool(pairs)


def _bare(text: str) -> str:
    return _BETWEEN.sub("", text.lower())
