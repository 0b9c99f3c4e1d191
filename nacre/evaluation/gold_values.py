"""Whether values are the gold values, in any order: two lists of cells -> yes or no."""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from nacre.records.evidence import Cell

# lists whose lengths differ by more than this factor can't be the same, however their items are written
_MOST_TIMES, _MOST_MORE = 3, 5
_TIDY = re.compile(r"(?<!\d)\.(?!\d)|\.(?!\d)|(?<=[^\W\d])\.|(?<=[^\W\d])-|-(?!\d)")
_DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2212"), "-")


def same_values(gold: Sequence[Cell], values: Sequence[Cell]) -> bool:
    """Every value is a gold item and every gold item is there.

    >>> same_values(["Ann", 2.5], [2.5, "ann"]), same_values(["Ann"], ["Ann", "Bob"]), same_values([2.333], [2.33])
    (True, False, True)
    """
    if not gold:
        return not values
    if len(values) > _MOST_TIMES * len(gold) + _MOST_MORE or len(gold) > _MOST_TIMES * len(values) + _MOST_MORE:
        return False
    texts = {_plain(str(g)): i for i, g in enumerate(gold) if not _is_number(g)}
    numbers = [(float(g), i) for i, g in enumerate(gold) if _is_number(g)]  # type: ignore[arg-type]
    exact = dict(numbers)
    hit: set[int] = set()
    for value in values:
        found = texts.get(_plain(str(value)))
        number = _number(value)
        if number is not None:
            near = exact.get(number)
            if near is None:
                near = next((i for n, i in numbers if _near(n, number)), None)
            if near is not None:
                hit.update(i for n, i in numbers if n == number or i == near)
                found = near if found is None else found
        if found is None:
            return False
        hit.add(found)
    plain_hit = {_plain(str(gold[i])) for i in hit}
    return all(i in hit or _plain(str(g)) in plain_hit for i, g in enumerate(gold))


def _is_number(value: Cell) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(value: Cell) -> float | None:
    if _is_number(value):
        return float(value)  # type: ignore[arg-type]
    try:
        return float(str(value).strip().replace(",", ""))
    except ValueError:
        return None


def _near(gold: float, value: float) -> bool:
    slack = 0.0051 if gold % 1 and abs(gold) >= 1 else 1e-9
    return abs(gold - value) <= slack


@lru_cache(maxsize=200_000)
def _plain(value: str) -> str:
    text = unicodedata.normalize("NFKD", value).translate(_DASHES)
    text = "".join(c for c in text if not unicodedata.combining(c)).casefold()
    text = _TIDY.sub(" ", re.sub(r"[^\w.+-]+|_", " ", text))
    return " ".join(text.split()).removeprefix("the ")
