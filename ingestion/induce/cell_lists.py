"""The cells of a predicate's columns as lists, for inserting them: PredicateColumns -> lists of cells."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ingestion.induce.layout import Layout
from ingestion.induce.predicate_columns import PredicateColumns
from ingestion.induce.values.cells import Cell

if TYPE_CHECKING:
    from numpy.typing import NDArray


def link_target(layout: Layout, place: PredicateColumns) -> str:
    """The smallest relation with all targets of a predicate's links; "" if it has no links."""
    return layout.classes.common_relation(place.ranges) or "entity" if place.ranges else ""


def column_lists(
    layout: Layout,
    place: PredicateColumns,
    sources: "list[NDArray[Any] | None]",
    where: "NDArray[np.int32]",
    rows: "NDArray[np.int64]",
    size: int,
) -> Iterator[list[Cell]]:
    """The columns of some triples of a predicate as lists of `size` cells: triple n of `rows` is at `where[n]`."""
    literal = place.literal[rows]
    objects = place.object[rows]
    said, value = where[literal], place.distinct.searchsorted(objects[literal])
    for cells in sources:
        column = np.full(size, None, dtype=object)
        if cells is None:
            column[where[~literal]] = layout.ids[objects[~literal]].tolist()
        else:
            column[said] = cells[value]
        yield column.tolist()


def cell_sources(layout: Layout, place: PredicateColumns) -> "list[NDArray[Any] | None]":
    """For each SQL column of a predicate the cells of its distinct literals; None for the column of links."""
    cells = place.cells
    found: list[NDArray[Any] | None] = []
    if cells and place.value:
        found.append(_objects(cells.value))
        if cells.low is not None and cells.high is not None:
            found += [_objects(cells.low), _objects(cells.high)]
        if cells.text:
            found.append(_objects([layout.facts.texts[n] for n in place.distinct.tolist()]))
    return [*found, None] if place.link else found


def _objects(values: Sequence[Cell]) -> "NDArray[Any]":
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
