"""Ranges of numbers and dates in a question: text + numbers -> Ranges ("between 2 and 4 million", "5-15 km")."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from nacre.language.base import pattern
from nacre.language.dates import Period, year_bounds
from nacre.language.quantities.quantity import Quantity
from nacre.language.thesaurus import english_data

# numbers in this range may be years
FIRST_YEAR, LAST_YEAR = 1000, 2100
# signs of money before a number
CURRENCY_SIGNS = " £€$"
# a number with a "-" after it has at least three digits in a telephone number or the number of a form
MIN_CODE_NUMBER = 100


class NumberRange(NamedTuple):
    """Both ends of a range in one unit, and the time between them if they are dates."""

    low: Quantity
    high: Quantity
    period: Period | None = None


def find_ranges(text: str, numbers: Sequence[Quantity], periods: Mapping[Quantity, Period]) -> Iterator[NumberRange]:
    """Yield the ranges of a text in lower case. A pair that falls, or begins at zero, is a score or a course."""
    end = -1
    for low, high in pairwise(numbers):
        if low.start < end or not _is_pair(text, low, high):
            continue
        is_dated = low in periods or high in periods
        found = _date_range(low, high, periods) if is_dated else _number_range(text, low, high)
        if found is not None:
            end = high.end
            yield found


def _is_pair(text: str, low: Quantity, high: Quantity) -> bool:
    """Whether the words between two numbers make them a range."""
    between = text[low.end : high.start].rstrip(CURRENCY_SIGNS.strip())
    is_open = _begins_range(text, low) and pattern("question", "range_and").fullmatch(between)
    if not pattern("question", "range_to").fullmatch(between) and not is_open:
        return False
    # a telephone number or the number of a form
    is_code = "-" in between and low.value >= MIN_CODE_NUMBER and len(f"{low.value:g}") != len(f"{high.value:g}")
    return not is_code


def _begins_range(text: str, low: Quantity) -> bool:
    return bool(pattern("question", "range_start").search(text[: low.start].rstrip(CURRENCY_SIGNS)))


def _date_range(low: Quantity, high: Quantity, periods: Mapping[Quantity, Period]) -> NumberRange | None:
    """ "From March 2015 to 2018"."""
    ends = [periods.get(each) or _year_period(each) for each in (low, high)]
    dated = [each for each in ends if each is not None and not each.of_any_year]
    if len(dated) < len(ends) or dated[0].first >= dated[1].first:
        return None
    return NumberRange(low, high, Period(dated[0].first, dated[1].after, low.start, high.end))


def _year_period(number: Quantity) -> Period | None:
    """The year that a number may be."""
    if number.unit or number.value != int(number.value) or not FIRST_YEAR <= number.value <= LAST_YEAR:
        return None
    return Period(*year_bounds(int(number.value)), number.start, number.end)


def _number_range(text: str, low: Quantity, high: Quantity) -> NumberRange | None:
    """ "Between 2 and 4 million": the lower end takes the magnitude and the unit of the upper one."""
    plain = _without_magnitude(text, high)
    if plain != high.value and low.value == _without_magnitude(text, low) and low.value < plain:
        low = low._replace(value=low.value * high.value / plain)
    if low.unit not in ("", high.unit) and high.unit:
        return None
    if low.value >= high.value or not (low.value or _begins_range(text, low)):
        return None
    unit = high.unit or low.unit
    return NumberRange(low._replace(unit=unit), high._replace(unit=unit))


def _without_magnitude(text: str, number: Quantity) -> float:
    """A number without the "million" after it."""
    word = text[number.start : number.end].lstrip(CURRENCY_SIGNS)
    digits = re.match(r"[\d,]+(?:\.\d+)?", word)
    if digits:
        return float(digits[0].replace(",", ""))
    first = re.match(r"[a-z]*", word)
    return float(english_data()["numbers"].get(first[0] if first else "", number.value))
