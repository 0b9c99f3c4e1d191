"""Parse durations of XML Schema: "PT1H30M" -> 90 min; years and months become months."""

import re
from collections.abc import Sequence
from typing import NamedTuple

_FORM = re.compile(
    r"(?P<sign>-)?P(?:(?P<years>\d{1,9})Y)?(?:(?P<months>\d{1,9})M)?(?:(?P<days>\d{1,9})D)?"
    r"(?:T(?:(?P<hours>\d{1,9})H)?(?:(?P<minutes>\d{1,9})M)?(?:(?P<seconds>\d{1,9}(?:\.\d{1,9})?)S)?)?"
)
_MONTHS = {"years": 12, "months": 1}
_SECONDS = {"days": 86400, "hours": 3600, "minutes": 60, "seconds": 1}
# units in seconds, the largest first
_UNITS = (("day", 86400), ("h", 3600), ("min", 60))
# from this number of seconds on, durations are given in minutes
_LONG = 600


class ParsedDurations(NamedTuple):
    """Numbers in one unit; None for texts that are not durations of its kind."""

    unit: str
    values: tuple[float | None, ...]


def parse_durations(texts: Sequence[str]) -> ParsedDurations | None:
    """Durations in the largest unit in which all are whole numbers, at least minutes for long ones; None if most texts
    are not durations, or if months and days are mixed.

    >>> parse_durations(["PT1H30M", "PT45M"]), parse_durations(["P1Y", "P6M"])
    (ParsedDurations(unit='min', values=(90.0, 45.0)), ParsedDurations(unit='month', values=(12.0, 6.0)))
    """
    read = [_read(text) for text in texts]
    known = [each for each in read if each is not None]
    if not known or 10 * len(known) < 9 * len(read) or (any(m for m, _ in known) and any(s for _, s in known)):
        return None
    if any(months for months, _ in known):
        return ParsedDurations(*_in([None if each is None else each[0] for each in read], (("year", 12),), "month"))
    return ParsedDurations(*_in([None if each is None else each[1] for each in read], _UNITS, "s"))


def _in(
    numbers: Sequence[float | None], units: Sequence[tuple[str, int]], least: str
) -> tuple[str, tuple[float | None, ...]]:
    known = [n for n in numbers if n is not None]
    unit, size = next(((u, s) for u, s in units if all(n % s == 0 for n in known)), (least, 1))
    if unit == "s" and max(map(abs, known)) >= _LONG:
        unit, size = "min", 60
    return unit, tuple(None if n is None else n / size for n in numbers)


def _read(text: str) -> tuple[float, float] | None:
    """The months and the seconds of a duration."""
    found = _FORM.fullmatch(text.strip())
    if found is None or text.strip().endswith(("P", "T")):
        return None
    sign = -1 if found["sign"] else 1
    months = sum(int(found[part] or 0) * size for part, size in _MONTHS.items())
    seconds = sum(float(found[part] or 0) * size for part, size in _SECONDS.items())
    return sign * months, sign * seconds
