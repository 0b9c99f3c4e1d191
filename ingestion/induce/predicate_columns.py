"""The triples of each predicate and the cells of its literals: Facts + Classes -> PredicateColumns."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

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
    """One predicate: its visible triples, their relation and columns, and the cells of its literals.

    The names from `junction` to `link` are set when all predicates are known; names of missing columns are "". `index`
    is the number of the predicate in the order of IRIs.

    `subject` and `object` are term numbers, `row` the index of the triple in the facts. `distinct` are the literal
    terms of `cells`, in order, and `targets` the distinct objects of links, both with their number of triples.
    `domains` and `ranges` count distinct subjects and targets by type set. `hidden` are the rows that no column shows,
    by reason. `shared` is the table that has the rows of a junction that is a view.
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
    hidden: "Mapping[str, Longs]"
    junction: str = ""
    shared: str = ""
    key: str = ""
    value: str = ""
    low: str = ""
    high: str = ""
    text: str = ""
    link: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        """Its SQL columns, in order."""
        return tuple(c for c in (self.value, self.low, self.high, self.text, self.link) if c)


def find_predicate_columns(facts: Facts, classes: Classes, visible: "Flags") -> list[PredicateColumns]:
    """The columns of each predicate of the visible triples, in the order of IRIs."""
    rows = np.flatnonzero(visible)
    rows = rows[np.argsort(facts.predicate[rows], kind="stable")]
    if not len(rows):
        return []
    numbers, counts = unique_counts(facts.predicate[rows])
    parts = zip(numbers.tolist(), np.split(rows, np.cumsum(counts)[:-1]), strict=True)
    in_order = enumerate(sorted(parts, key=lambda part: facts.texts[part[0]]))
    return [_predicate_columns(facts, classes, index, number, of_it) for index, (number, of_it) in in_order]


def _predicate_columns(facts: Facts, classes: Classes, index: int, number: int, rows: "Longs") -> PredicateColumns:
    iri = facts.texts[number]
    hidden_rows: dict[str, Longs] = {}
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
        often = np.bincount(facts.sort_of[distinct], counts)
        frequency = {facts.sorts[s]: int(often[s]) for s in often.nonzero()[0].tolist()}
        cells = infer_cells(iri, texts, sorts, frequency)
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


def _other_languages(facts: Facts, rows: "Longs") -> "Longs | None":
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
    return np.array(sorted(spare), dtype=np.int64)
