"""One predicate: its triples, what they say and of what: Facts + Classes -> places."""

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ingestion.induce.classes import Classes
from ingestion.induce.values.cells import TypedCells, infer_cells
from ingestion.read.capsules import Facts, TermSort, change_mask, unique_counts
from ingestion.vocabulary import language_rank

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int32]
    Longs = NDArray[np.int64]
    Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class PredicateColumns:
    """One predicate: its visible triples, where they lie, and how their literals read.

    The names, `junction` to `link`, are given when all predicates are known; those of columns that it has not stay "".
    `index` is its place in the order of IRIs.

    `subject` and `object` are term numbers, `row` the index of the triple in the facts. `distinct` are the literal
    terms that `cells` speaks of, in its order, `targets` the distinct ends of links; both with how many triples have
    each. `domains` and `ranges` say how many distinct subjects and targets have each type set.
    """

    iri: str
    index: int
    number: int
    subject: "Ints"
    object: "Ints"
    row: "Longs"
    functional: bool
    literal: "Flags"
    distinct: "Ints"
    distinct_counts: "Longs"
    cells: TypedCells | None
    targets: "Ints"
    target_counts: "Longs"
    domains: dict[int, int]
    ranges: dict[int, int]
    junction: str = ""
    key: str = ""
    value: str = ""
    low: str = ""
    high: str = ""
    text: str = ""
    link: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        """The SQL columns that it has, in their order."""
        return tuple(c for c in (self.value, self.low, self.high, self.text, self.link) if c)


def find_predicate_columns(
    facts: Facts, classes: Classes, visible: "Flags", aside: dict[str, list[Any]]
) -> list[PredicateColumns]:
    """A place for each predicate of the visible triples, in the order of IRIs; what none can show goes to `aside`."""
    rows = np.flatnonzero(visible)
    rows = rows[np.argsort(facts.predicate[rows], kind="stable")]
    if not len(rows):
        return []
    numbers, counts = unique_counts(facts.predicate[rows])
    parts = zip(numbers.tolist(), np.split(rows, np.cumsum(counts)[:-1]), strict=True)
    in_order = enumerate(sorted(parts, key=lambda part: facts.texts[part[0]]))
    return [_place(facts, classes, index, number, of_it, aside) for index, (number, of_it) in in_order]


def _place(
    facts: Facts, classes: Classes, index: int, number: int, rows: "Longs", aside: dict[str, list[Any]]
) -> PredicateColumns:
    iri = facts.texts[number]
    functional = bool(change_mask(facts.subject[rows]).all())
    if not functional:
        spare = _other_languages(facts, rows)
        if spare is not None:
            aside["other language"].append(spare)
            rows, functional = np.setdiff1d(rows, spare, assume_unique=True), True
    objects = facts.object[rows]
    literal = facts.is_literal[objects]
    distinct, counts = unique_counts(objects[literal])
    cells = None
    if len(distinct):
        texts = list(map(facts.texts.__getitem__, distinct.tolist()))
        sorts = list(map(facts.sorts.__getitem__, facts.sort_of[distinct].tolist()))
        often = np.bincount(facts.sort_of[distinct], counts)
        frequency = {facts.sorts[s]: int(often[s]) for s in often.nonzero()[0].tolist()}
        cells = infer_cells(iri, texts, sorts, frequency)
        if any(cells.hidden):
            hidden = np.isin(objects, distinct[np.array(cells.hidden, dtype=bool)])
            aside["no value of the column's type"].append(rows[hidden])
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
    )


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
        sort: TermSort = facts.sorts[facts.sort_of[facts.object[row]]]
        if sort[1]:
            return None
        groups[int(facts.subject[row])].append((sort[2], row))
    for values in groups.values():
        if len({language for language, _ in values}) < len(values):
            return None
        best = min(values, key=lambda v: language_rank(v[0]))
        spare.extend(row for _, row in values if row != best[1])
    return np.array(sorted(spare), dtype=np.int64)
