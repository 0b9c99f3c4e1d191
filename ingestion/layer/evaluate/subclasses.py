"""Find what derived classes contain and belong to, by their members: types -> pairs of classes."""

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Terms = NDArray[np.int32]


def contained_classes(things: "Terms", types: "Terms", derived: Collection[int]) -> list[tuple[int, int]]:
    """Pairs of a class and a class with all of its members and more, where one of the two is derived.

    A pair that follows from two others is left out.
    """
    keys = np.unique(types.astype(np.int64) << 32 | things)
    types, things = (keys >> 32).astype(np.int32), (keys & 0xFFFFFFFF).astype(np.int32)
    classes, starts = np.unique(types, return_index=True)
    members = dict(zip(classes.tolist(), np.split(things, starts)[1:], strict=True))
    found: dict[int, set[int]] = {}
    for own in derived:
        if own not in members:
            continue
        shared, counts = np.unique(types[np.isin(things, members[own])], return_counts=True)
        for other, count in zip(shared.tolist(), counts.tolist(), strict=True):
            size, other_size = len(members[own]), len(members[other])
            if count == size < other_size:
                found.setdefault(own, set()).add(other)
            elif count == other_size < size:
                found.setdefault(other, set()).add(own)
    return [
        (narrow, wide)
        for narrow, all_wide in sorted(found.items())
        for wide in sorted(all_wide)
        if not any(wide in found.get(between, ()) for between in all_wide)
    ]
