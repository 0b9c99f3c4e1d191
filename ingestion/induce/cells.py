"""Infer the column type of a predicate: distinct lexical forms -> typed cells that can restore them.

Durations of XML Schema become numbers: "PT1H30M" -> 90 min; years and months become months. Dates of several
precisions, uncertain ones (EDTF, levels 0 and 1) and days before Christ become periods: "192X" -> its first and last
possible day.
"""

import calendar
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from ingestion.induce.names import readable_name
from ingestion.induce.quantities import MIN_READ, read_quantities
from ingestion.read.facts import TermSort
from ingestion.vocabulary import XSD, local_name, name_rank
from nacre.language.data import word_list
from nacre.language.values import format_year, year_key
from nacre.records.schema import Datatype, Shape
from nacre.stores.sqlite.tables import lexical_form

Cell = str | int | float | None

_INTEGERS = (
    "integer int long short byte nonNegativeInteger positiveInteger negativeInteger nonPositiveInteger "
    "unsignedLong unsignedInt unsignedShort unsignedByte"
)

EDTF = "http://id.loc.gov/datatypes/edtf/EDTF"

_FAMILY: dict[str, Datatype] = {
    **{XSD + name: "integer" for name in _INTEGERS.split()},
    **{XSD + name: "real" for name in ("decimal", "double", "float")},
    XSD + "boolean": "boolean",
    XSD + "date": "date",
    XSD + "dateTime": "datetime",
    XSD + "dateTimeStamp": "datetime",
    XSD + "time": "time",
    XSD + "gYear": "year",
    XSD + "gYearMonth": "date",
    EDTF: "date",
    XSD + "duration": "duration",
    XSD + "dayTimeDuration": "duration",
    XSD + "yearMonthDuration": "duration",
}

_DATE = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])")

_DATETIME = re.compile(_DATE.pattern + r"[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?")

_TIME = re.compile(r"\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?")

_FORMS: dict[Datatype, re.Pattern[str]] = {"date": _DATE, "datetime": _DATETIME, "time": _TIME}

_NOT_FINITE = frozenset({"NaN", "INF", "+INF", "-INF"})

_YEAR_WORDS = {"year", "date"}

_NUMBERS = frozenset(("integer", "real"))

_TIMES = frozenset(("date", "datetime", "time", "year"))

_DATES: frozenset[Datatype] = frozenset(("date", "datetime", "year"))

# minimum share of literals with one family of datatypes for all others to count as exceptions (given)
MOST = 0.5


@dataclass(frozen=True)
class TypedCells:
    """Cells for distinct literals, in their order.

    `value[i]` is the typed cell; ranges and pairs also have `low` and `high`. Those of a period are the first and the
    last possible day, as keys (`nacre.language.values`), and its value is its words. `text`: the lexical form has a
    column of its own. `exact[i]`: the cells alone can't restore the literal, so its form is stored. `hidden[i]`: no
    cell shows it. `sort` is the datatype and language of literals that are not `exact`.
    """

    datatype: Datatype
    shape: Shape
    unit: str
    value: Sequence[Cell]
    low: Sequence[Cell] | None
    high: Sequence[Cell] | None
    text: bool
    sort: TermSort
    exact: Sequence[bool]
    hidden: Sequence[bool]
    minimum: float | None = None
    maximum: float | None = None


def written_form(cells: TypedCells | None) -> str:
    """`written` of a predicate with these cells."""
    _, datatype, language = cells.sort if cells else ("", "", "")
    if cells is None or cells.datatype == "text":
        return f"@{language}" if language else ""
    numbers = {*_NUMBERS, "boolean"}
    return (
        (local_name(datatype) or "string")
        if cells.datatype in {*numbers, "year"} and _FAMILY.get(datatype) not in numbers
        else ""
    )


class PartialDate(NamedTuple):
    """A date of any precision in words, and its first and last possible day as keys; None if it is no date."""

    words: str
    first: str | None
    last: str | None


def infer_cells(
    iri: str, texts: Sequence[str], sorts: Sequence[TermSort], frequency: dict[TermSort, int]
) -> TypedCells:
    """Infer one type for all distinct literals of a predicate; `frequency` is the number of triples by sort."""
    usual = max(frequency, key=lambda s: (frequency[s], s))
    families = {_FAMILY.get(sort[1], "text") for sort in frequency}
    other = [sort != usual for sort in sorts] if len(frequency) > 1 else [False] * len(sorts)
    periods = _periods(iri, families, texts, frequency)
    if periods is not None:
        words, low, high = ([each[i] for each in periods] for i in range(3))
        exact = _exact(other, words, texts, "date")
        return TypedCells("date", "period", "", words, low, high, False, usual, exact, [False] * len(texts))
    if families <= _NUMBERS or (len(families) == 1 and not families <= {"text", "duration"}):
        # the more general one of two
        declared = _declared(max(families), texts, other, usual)
        if declared:
            return declared
    if families == {"duration"}:
        lasting = _lasting(texts, usual)
        if lasting:
            return lasting
    if (
        "text" in families
        and name_rank(iri) is None
        and local_name(iri).lower() not in word_list("ingestion", "identifier_words")
    ):
        # if most literals have one datatype, others are exceptions: "to be confirmed"
        most = {f for f in families if _declared_as(f, frequency) > MOST * sum(frequency.values())}
        found = _found(iri, texts, other, usual, MOST if most & _NUMBERS else MIN_READ)
        if found:
            return found
        if most & _TIMES:
            return _excepted(min(most), texts, other, usual)
    datatype: Datatype = "text"
    if families == {"text"}:
        if all(_DATE.fullmatch(text) for text in texts):
            datatype = "date"
        elif all(_DATETIME.fullmatch(text) for text in texts):
            datatype = "datetime"
    return TypedCells(datatype, "single", "", texts, None, None, False, usual, other, [False] * len(texts))


def _periods(
    iri: str, families: Collection[str], texts: Sequence[str], frequency: dict[TermSort, int]
) -> list[PartialDate] | None:
    """The period of each literal if they are dates of several precisions, uncertain ones or some before Christ; a text
    that is no date has no days. None for other literals, and for dates that are all days, moments or years."""
    if not {"text", *_DATES}.issuperset(families):
        return None
    declared = sum(_declared_as(each, frequency) for each in _DATES) > MOST * sum(frequency.values())
    if not declared and (families != {"text"} or name_rank(iri) is not None or not any(map(_DATE.fullmatch, texts))):
        return None
    forms: set[str | None] = set()
    for text in texts:
        found = _ONE_FORM.fullmatch(text)
        forms.add(found.lastgroup if found else None)
    if None not in forms and len(forms) == 1:
        return None
    read = [parse_partial_date(text) for text in texts]
    known = sum(each is not None for each in read)
    # other texts among dates of one form are exceptions ("to be confirmed")
    is_mixed = (
        len(forms) > 2
        or None not in forms
        or any(each and not _ONE_FORM.fullmatch(text) for each, text in zip(read, texts, strict=True))
    )
    if not is_mixed or known < (MOST if declared else 1) * len(texts):
        return None
    return [each or PartialDate(text, None, None) for each, text in zip(read, texts, strict=True)]


def _declared(family: Datatype, texts: Sequence[str], other: Sequence[bool], usual: TermSort) -> TypedCells | None:
    """Cells if enough literals conform to their datatype; NaN and INF conform, but have no cell."""
    cast = _CAST.get(family, _text)
    value: list[Cell] = [cast(text) for text in texts]
    hidden = [cell is None for cell in value]
    wrong = sum(none and text not in _NOT_FINITE for none, text in zip(hidden, texts, strict=True))
    if wrong > 0.1 * len(texts) or all(hidden):
        return None
    exact = _exact(other, value, texts, family)
    low, high = _bounds(value) if family in {"integer", "real", "year"} else (None, None)
    return TypedCells(family, "single", "", value, None, None, False, usual, exact, hidden, low, high)


def _declared_as(family: Datatype, frequency: dict[TermSort, int]) -> int:
    """The number of triples with a literal of a family of datatypes."""
    return sum(n for sort, n in frequency.items() if _FAMILY.get(sort[1]) == family)


def _excepted(family: Datatype, texts: Sequence[str], other: Sequence[bool], usual: TermSort) -> TypedCells:
    """Cells of the most frequent family; the forms of all literals have a column of their own."""
    form = _FORMS.get(family)
    cast = _CAST.get(family, _text)
    value = [cast(text) if form is None or form.fullmatch(text) else None for text in texts]
    bounds = _bounds(value) if family == "year" else (None, None)
    return TypedCells(family, "single", "", value, None, None, True, usual, other, [False] * len(texts), *bounds)


def _lasting(texts: Sequence[str], usual: TermSort) -> TypedCells | None:
    """Durations as numbers with a unit; their lexical forms are stored too."""
    found = parse_durations(texts)
    if found is None:
        return None
    whole = all(n is None or n.is_integer() for n in found.values)
    number: Callable[[float], Cell] = int if whole else float
    value = [None if n is None else number(n) for n in found.values]
    hidden = [v is None for v in value]
    kept = [True] * len(texts)
    datatype: Datatype = "integer" if whole else "real"
    return TypedCells(datatype, "single", found.unit, value, None, None, False, usual, kept, hidden, *_bounds(value))


def _found(iri: str, texts: Sequence[str], other: Sequence[bool], usual: TermSort, least: float) -> TypedCells | None:
    reading = read_quantities(texts, least)
    if reading is None:
        return None
    number: Callable[[float], Cell] = int if reading.whole else float
    value = [None if n is None else number(n[0]) for n in reading.numbers]
    ranged = reading.shape != "single"
    low = [None if n is None else number(n[1]) for n in reading.numbers] if ranged else None
    high = [None if n is None else number(n[2]) for n in reading.numbers] if ranged else None
    text = bool(reading.unit) or ranged or None in value
    datatype: Datatype = "integer" if reading.whole else "real"
    if (
        datatype == "integer"
        and not text
        and _YEAR_WORDS & set(readable_name(local_name(iri)).lower().split())
        and all(isinstance(v, int) and 1000 <= v <= 2999 for v in value)
    ):
        datatype = "year"
    exact = other if text else _exact(other, value, texts, datatype)
    bounds = _bounds([*low, *high] if low and high else value)
    return TypedCells(
        datatype, reading.shape, reading.unit, value, low, high, text, usual, exact, [False] * len(texts), *bounds
    )


def _exact(other: Sequence[bool], value: Sequence[Cell], texts: Sequence[str], datatype: Datatype) -> list[bool]:
    """For each literal whether its cell can't restore its text, or it has another sort than most."""
    kept = zip(other, value, texts, strict=True)
    return [apart or lexical_form(cell, datatype) != text for apart, cell, text in kept]


def _bounds(value: Sequence[Cell]) -> tuple[float | None, float | None]:
    numbers = [v for v in value if isinstance(v, (int, float)) and -inf < v < inf]
    return (float(min(numbers)), float(max(numbers))) if numbers else (None, None)


def _integer(text: str) -> Cell:
    if not re.fullmatch(r"[-+]?[0-9]+", text):
        return None
    if len(text) > 400:
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else _finite(float(number))


def _real(text: str) -> Cell:
    if not re.fullmatch(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?", text):
        return None
    return _finite(float(text))


def _finite(number: float) -> Cell:
    return number if abs(number) != float("inf") else None


def _boolean(text: str) -> Cell:
    return {"true": 1, "1": 1, "false": 0, "0": 0}.get(text)


def _year(text: str) -> Cell:
    return int(text) if re.fullmatch(r"-?[0-9]{4,9}", text) else None


def _text(text: str) -> Cell:
    return text


_CAST: dict[Datatype, Callable[[str], Cell]] = {
    "integer": _integer,
    "real": _real,
    "boolean": _boolean,
    "year": _year,
}

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


_ZONE = r"(?:Z|[+-]\d\d:\d\d)?"

# dates that need no period
_ONE_FORM = re.compile(rf"(?P<day>{_DATE.pattern}{_ZONE})|(?P<moment>{_DATETIME.pattern})|(?P<year>-?\d{{4,9}})")

# a date of EDTF, levels 0 and 1, or of XML Schema; a season is a month from 21 to 24
_PARTIAL = re.compile(
    rf"(?:Y(?P<long>-?\d{{5,9}})|(?P<sign>-?)(?P<y>\d{{4}}|\d\d\dX|\d\dXX|\dXXX)"
    rf"(?:-(?P<m>0[1-9]|1[0-2]|2[1-4]|XX)(?:-(?P<d>\d\d|XX)(?P<time>T\d\d:\d\d\S{{0,20}})?)?)?){_ZONE}(?P<mark>[~?%]?)"
)

_SEASONS = ("spring", "summer", "autumn", "winter")

_MARKS = {"": "{}", "~": "about {}", "?": "{} (uncertain)", "%": "about {} (uncertain)"}

# the days before and after all others
_OPEN = year_key(-(10**9)) + "-01-01", year_key(10**9) + "-12-31"


def parse_partial_date(text: str) -> PartialDate | None:
    """The period that a date of any precision stands for, also of an interval; None for other texts.

    The year 0 is 1 BC, as in EDTF and in XML Schema 1.1. A season may be at any time of its year.
    """
    start, *rest = text.strip().split("/")
    first = _parse_date(start)
    if not rest:
        return first
    last = _parse_date(rest[-1])
    if len(rest) > 1 or (first is None and start not in ("", "..")) or (last is None and rest[-1] not in ("", "..")):
        return None
    if first is not None and last is not None:
        ordered = str(first.first) <= str(last.last)
        return PartialDate(f"{first.words} to {last.words}", first.first, last.last) if ordered else None
    if first is not None:
        return PartialDate(f"{first.words} or later", first.first, _OPEN[1])
    return PartialDate(f"{last.words} or earlier", _OPEN[0], last.last) if last is not None else None


def _parse_date(text: str) -> PartialDate | None:
    """The period of a date that is no interval."""
    found = _PARTIAL.fullmatch(text)
    if found is None:
        return None
    years = found["long"] or found["sign"] + found["y"]
    # of years before Christ, the last digits count backwards
    begin, end = sorted(int(years.replace("X", digit)) for digit in "09")
    month, day = (int(found[part]) if (found[part] or "XX") != "XX" else 0 for part in ("m", "d"))
    leap = begin % 400 + 2000  # a year of the same calendar that Python has
    if day > (calendar.monthrange(leap, month)[1] if 0 < month <= 12 else 0):
        return None
    is_season = month > 12
    first_month, last_month = (1, 12) if is_season or not month else (month, month)
    last_day = day or calendar.monthrange(leap, last_month)[1]
    words = format_year(begin)
    if begin != end:
        words = f"{begin}s" if begin >= 0 and end - begin == 9 else f"{abs(begin) + (begin < 0)} to {format_year(end)}"
    elif is_season:
        words = f"{_SEASONS[month - 21]} {words}"
    elif month and (not day or found["sign"] or found["mark"]):
        words = f"{day or ''} {calendar.month_name[month]} {words}".strip()
    elif day:
        words = text
    return PartialDate(
        _MARKS[found["mark"]].format(words),
        f"{year_key(begin)}-{first_month:02}-{day or 1:02}",
        f"{year_key(end)}-{last_month:02}-{last_day:02}",
    )
