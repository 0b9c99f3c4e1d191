"""Parse a column of text as numbers in one unit: distinct values -> ColumnQuantities."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain

from ingestion.induce.values.quantities import (
    SIMPLE_QUANTITY,
    SIMPLE_QUANTITY_LINES,
    WrittenQuantity,
    convert,
    is_common_unit,
    is_known_unit,
    parse_quantity,
    round_noise,
    unit_conversion,
)
from nacre.language.forms.nouns import singular
from nacre.records.schema import Shape

_ZEROS = re.compile(r"[-+]?0\d+")
# a number or two, followed by a word
_COUNTED = re.compile(r"([-+−]?\d[\d.,]*(?:\s?[-–−]\s?\d[\d.,]*)?) ([^\W\d_][^\s\d]{0,11}|°)")
_DIGIT = re.compile(r"\d")
_COMMA = re.compile(r"\d+,(\d{1,2}|\d{4,})\b")
# minimum number of values with the same word for it to be a unit; number of values that are examined
FEWEST, _FIRST = 2, 30
# minimum share of distinct values that are quantities for a column to be numeric
MIN_READ = 0.9


@dataclass(frozen=True)
class ColumnQuantities:
    """The distinct values of one predicate as numbers in one unit; None for a value without a number."""

    unit: str
    shape: Shape
    numbers: tuple[tuple[float, float, float] | None, ...]
    whole: bool


def read_quantities(texts: Sequence[str], least: float = MIN_READ) -> ColumnQuantities | None:
    """Distinct values as numbers in the most frequent unit; None if less than a share of `least` are quantities.

    Values in another unit of the same dimension are converted; those of another dimension have no number.

    >>> read_quantities(["4,953 mm", "1.835 m"]).numbers
    ((4953.0, 4953.0, 4953.0), (1835.0, 1835.0, 1835.0))
    """
    if alike := _written_alike(texts):
        return alike
    if not texts or any(map(_ZEROS.fullmatch, texts)):
        return None
    allowed = int(len(texts) * (1 - least) + 1e-9)
    if not any(map(_DIGIT.search, texts[: allowed + 1])):
        # too many texts without a number
        return None
    texts, word = _without_word(texts)
    comma = any(map(_COMMA.match, texts)) and not any("." in t for t in texts)
    found: list[WrittenQuantity | None] = []
    misses = 0
    for text in texts:
        found.append(parse_quantity(text, comma))
        misses += found[-1] is None
        if misses > allowed:
            return None
    units = Counter([q.unit for q in found if q])
    unit = max(units, key=lambda u: (units[u], u))
    shapes: Counter[Shape] = Counter([q.shape for q in found if q and q.shape != "single"])
    shape: Shape = max(shapes, key=lambda s: (shapes[s], s)) if shapes else "single"
    numbers = tuple([_in_unit(q, unit) for q in found])
    return ColumnQuantities(unit or word, shape, numbers, _are_whole(set(chain.from_iterable(filter(None, numbers)))))


def _without_word(texts: Sequence[str]) -> tuple[Sequence[str], str]:
    """The values without an unknown word after their numbers: it counts as a unit if most values have it.

    >>> _without_word(["88 dB", "85 - 90 dB"]), _without_word(["180", "2500", "900 people"])
    ((['88', '85 - 90'], 'dB'), (['180', '2500', '900'], ''))
    >>> _without_word(["3 apples", "4 pears"]), _without_word(["1 apple", "4 apples"])
    ((['3 apples', '4 pears'], ''), (['1', '4'], 'apple'))
    """
    if len(texts) < FEWEST or not any(map(_COUNTED.fullmatch, texts[:_FIRST])):
        return texts, ""
    found = [_COUNTED.fullmatch(text) for text in texts]
    words = Counter(match[2] for match in found if match)
    word = min(words)
    if len(set(map(singular, words))) > 1 or is_known_unit(word):
        return texts, ""
    bare = [match[1] if match else text for match, text in zip(found, texts, strict=True)]
    return bare, word if 2 * words.total() > len(texts) else ""


def _written_alike(texts: Sequence[str]) -> ColumnQuantities | None:
    """Plain numbers with one common unit or none, the usual case; None for other columns."""
    if not texts or not SIMPLE_QUANTITY.fullmatch(texts[0]):
        return None
    # one search over all values, joined by line breaks, takes half the time
    lines = "\n".join(texts)
    found = SIMPLE_QUANTITY_LINES.findall(lines)
    if len(found) < len(texts) or lines.count("\n") >= len(texts):
        return None
    numbers, seconds, units = zip(*found, strict=True)
    unit = units[0]
    if any(seconds) or units.count(unit) < len(units) or (unit and not is_common_unit(unit)):
        return None
    first = list(map(float, numbers))
    whole = _are_whole(first)
    if not whole:
        first = list(map(round_noise, first))
    return ColumnQuantities(unit, "single", tuple(zip(first, first, first, strict=True)), whole)


def _are_whole(numbers: Collection[float]) -> bool:
    return all(map(float.is_integer, numbers)) and max(map(abs, numbers), default=0) < 2**53


def _in_unit(found: WrittenQuantity | None, unit: str) -> tuple[float, float, float] | None:
    if found is None:
        return None
    if found.second is None and found.unit == unit:
        only = round_noise(found.first)
        return only, only, only
    way = unit_conversion(found.unit, unit)
    if way is None:
        return None
    first = convert(found.first, way)
    if first is None:
        return None
    if found.second is None:
        return first, first, first
    second = convert(found.second, way)
    if second is None:
        return None
    # halves, since the sum of two floats may be too large for a float
    value = round_noise(first / 2 + second / 2) if found.shape == "range" else first
    return value, min(first, second), max(first, second)
