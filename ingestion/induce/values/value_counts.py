"""The most frequent values of properties in large classes: Layout -> (key of the metadata, facet as JSON).

They are counted once, so that the page of a class shows them for a class of any size. Values of members that pass
filters are counted when they are asked for.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import nsmallest
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from ingestion.induce.layout import Layout
from ingestion.induce.predicate_columns import PredicateColumns
from ingestion.induce.values.cells import Cell
from ingestion.read.capsules import unique_counts
from nacre.records.browse import FACET_VALUES, LARGE_CLASS, LONGEST_CELL, facet_key

if TYPE_CHECKING:
    from numpy.typing import NDArray

_Counts = Sequence[int]
# the largest classes, the most frequent properties, and groups of members that a property is counted for (given)
MOST_CLASSES, MOST_PROPERTIES, MOST_GROUPS = 50, 200, 4
# of equal counts, links come first, then numbers and texts
_LINK = -1


def value_counts(layout: Layout) -> Iterator[tuple[str, str]]:
    """Key and facet for the properties of classes of at least LARGE_CLASS members: `values` are
    [value, id of a link, count], the most frequent first; `more`: there are others; `low` and `high` are numbers, or
    texts in columns of other types."""
    classes = layout.classes
    large = sorted((iri for iri, count in classes.members.items() if count >= LARGE_CLASS), key=_by_size(layout))
    sets_of = {iri: frozenset(n for n, own in enumerate(classes.sets) if iri in own) for iri in large[:MOST_CLASSES]}
    places = sorted(layout.places, key=lambda place: (-len(place.subject), place.iri))
    for place in places[:MOST_PROPERTIES] if large else ():
        found: dict[frozenset[int], str] = {}
        for iri, sets in sets_of.items():
            own = sets.intersection(place.domains)
            if own and own not in found and len(found) < MOST_GROUPS:
                found[own] = json.dumps(_facet(layout, place, own), ensure_ascii=False)
            if own in found:
                yield facet_key(iri, place.iri), found[own]


def _by_size(layout: Layout) -> Callable[[str], tuple[int, str]]:
    return lambda iri: (-layout.classes.members[iri], iri)


def _facet(layout: Layout, place: PredicateColumns, sets: frozenset[int]) -> dict[str, object]:
    literals, (targets, links) = _counts_of(layout, place, sets)
    cells = _cells(layout, place)
    values: dict[Cell, int] = {cell: n for cell, n in zip(cells, literals, strict=True) if n}
    if len(values) < sum(map(bool, literals)):
        # forms of one number, or of one text in several languages
        values = Counter()
        for cell, n in zip(cells, literals, strict=True):
            values[cell] += n
        values = +values
    ids = layout.ids[targets].tolist()
    each: list[tuple[int, int, Any]] = [(-n, int(isinstance(cell, str)), cell) for cell, n in values.items()]
    each += [(-n, _LINK, key) for key, n in zip(ids, links, strict=True)]
    first = nsmallest(FACET_VALUES + 1, each)
    listed = [[None, own, -n] if kind == _LINK else [_short(own), None, -n] for n, kind, own in first[:FACET_VALUES]]
    low, high = _bounds(place, values)
    return {"values": listed, "more": len(first) > FACET_VALUES, "low": low, "high": high}


def _bounds(place: PredicateColumns, values: Iterable[Cell]) -> tuple[Cell, Cell]:
    """The lowest and highest number or date; None for other columns."""
    kind = place.cells.datatype if place.cells is not None else "text"
    if kind in ("integer", "real", "year"):
        numbers = [v for v in values if isinstance(v, int | float) and isfinite(v)]
        return (min(numbers), max(numbers)) if numbers else (None, None)
    dates = [v for v in values if isinstance(v, str)] if kind in ("date", "datetime", "time") else []
    return (_short(min(dates)), _short(max(dates))) if dates else (None, None)


def _short(cell: Cell) -> Cell:
    return cell[:LONGEST_CELL] if isinstance(cell, str) else cell


def _counts_of(
    layout: Layout, place: PredicateColumns, sets: frozenset[int]
) -> "tuple[_Counts, tuple[NDArray[np.int32], _Counts]]":
    """The number of triples of each distinct literal, and the targets of links with theirs, of subjects with these type
    sets."""
    if sets == place.domains.keys():
        return place.distinct_counts.tolist(), (place.targets, place.target_counts.tolist())
    among = np.zeros(len(layout.classes.sets) + 1, dtype=bool)
    among[[n + 1 for n in sets]] = True
    rows = among[layout.classes.set_of[place.subject] + 1]
    objects, literal = place.object[rows], place.literal[rows]
    numbers = place.distinct.searchsorted(objects[literal])
    targets, links = unique_counts(objects[~literal])
    return np.bincount(numbers, minlength=len(place.distinct)).tolist(), (targets, links.tolist())


def _cells(layout: Layout, place: PredicateColumns) -> list[Cell]:
    """What a column shows of each distinct literal: its value, else its text."""
    if place.cells is None or not len(place.distinct):
        return [None] * len(place.distinct)
    texts = layout.facts.texts
    return [
        texts[term] if cell is None else int(cell) if isinstance(cell, bool) else cell
        for term, cell in zip(place.distinct.tolist(), place.cells.value, strict=True)
    ]
