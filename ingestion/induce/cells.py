"""Infer the column type of a predicate: distinct lexical forms -> typed cells that can restore them. Durations become
numbers ("PT1H30M" -> 90 min, years and months become months), and dates of several precisions, uncertain ones (EDTF,
levels 0 and 1) or days before Christ periods: "192X" -> its first and last possible day."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from ingestion.induce.names import readable_name
from ingestion.induce.partial_dates import OPEN, ZONE, PartialDate, is_surely_date, is_unknown_date, parse_partial_date
from ingestion.induce.quantities import MIN_READ, ColumnQuantities, read_quantities
from ingestion.read.facts import TermSort
from ingestion.vocabulary import XSD, local_name, name_rank
from nacre.language.data import word_list
from nacre.records.schema import Datatype, Shape
from nacre.stores.sqlite.tables import lexical_form

Cell = str | int | float | None

_INTEGERS = (
    "integer int long short byte nonNegativeInteger positiveInteger negativeInteger nonPositiveInteger "
    "unsignedLong unsignedInt unsignedShort unsignedByte"
)

# the datatype of texts that are no numbers or dates, whatever they look like
TOKEN = XSD + "token"

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

_RECENT_YEAR = re.compile(r"1\d{3}|20\d\d", re.ASCII)

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
    """Cells for distinct literals, in their order. `value[i]` is the typed cell; ranges and pairs also have `low` and
    `high`; for periods these are the first and last possible day, as keys (`nacre.language.values`), and `value` is the
    words. `text`: the form has a column of its own. `exact[i]`: the form is stored, since cells can't restore it.
    `hidden[i]`: no cell shows it. `sort` is the datatype and language of literals that are not `exact`."""

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

    def unread(self, counts: Sequence[int]) -> int:
        """The number of triples without a value; `counts` is that of each literal."""
        return sum(count for cell, count in zip(self.value, counts, strict=True) if cell is None)


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


def infer_cells(iri: str, texts: Sequence[str], sorts: Sequence[TermSort], counts: Sequence[int]) -> TypedCells:
    """Infer one type for all distinct literals of a predicate; `counts` is the number of triples of each."""
    frequency: Counter[TermSort] = Counter()
    for sort, count in zip(sorts, counts, strict=True):
        frequency[sort] += count
    usual = max(frequency, key=lambda s: (frequency[s], s))
    families = {_FAMILY.get(sort[1], "text") for sort in frequency}
    other = [sort != usual for sort in sorts] if len(frequency) > 1 else [False] * len(sorts)
    if usual[1] == TOKEN:
        return TypedCells("text", "single", "", texts, None, None, False, usual, other, [False] * len(texts))
    periods = _periods(iri, families, texts, sorts, frequency)
    if periods is not None:
        words, low, high = ([each[i] for each in periods] for i in range(3))
        exact, hidden = _exact(other, words, texts, "date"), [each is None for each in words]
        return TypedCells("date", "period", "", words, low, high, False, usual, exact, hidden)
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
        reading = read_quantities(texts, MOST if most & _NUMBERS else MIN_READ, counts)
        if reading:
            return _found(iri, texts, other, usual, reading)
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
    iri: str, families: Collection[str], texts: Sequence[str], sorts: Sequence[TermSort], frequency: dict[TermSort, int]
) -> list[PartialDate | tuple[None, None, None]] | None:
    """Each literal's period (a text with digits may be any day); None if all are days, moments, years, or no dates."""
    if not {"text", "integer", *_DATES}.issuperset(families) or families == {"integer"}:
        return None
    declared = sum(_declared_as(each, frequency) for each in _DATES) > MOST * sum(frequency.values())
    if families == {"text"} and name_rank(iri) is not None:
        return None
    read: list[PartialDate | tuple[None, None, None]] = []
    forms, partial, unknown, others = set[str](), 0, 0, 0
    for text, sort in zip(texts, sorts, strict=True):
        if is_unknown_date(text):
            unknown += 1
            read.append((None, None, None))
            continue
        form, period = _ONE_FORM.fullmatch(text), parse_partial_date(text)
        if form is not None:
            forms.add(str(form.lastgroup))
        # a number is a year among dates alone
        is_year = declared or _FAMILY.get(sort[1]) in _DATES or bool(_RECENT_YEAR.fullmatch(text))
        is_number = form is not None and form.lastgroup == "year" and not is_year
        partial += form is None and period is not None
        others += period is None or is_number
        read.append(period or PartialDate(text, *(OPEN if any(map(str.isdigit, text)) else (None, None))))
        if others / len(texts) > round(1 - (MOST if declared else MIN_READ), 3):
            return None
    # other texts among dates of one form are exceptions ("to be confirmed")
    if not (partial or len(forms) > 1) or unknown > MOST * len(texts):
        return None
    return read if declared or any(map(is_surely_date, texts)) else None


def _declared(family: Datatype, texts: Sequence[str], other: Sequence[bool], usual: TermSort) -> TypedCells | None:
    """Cells if enough literals conform to their datatype; NaN and INF conform, but have no cell."""
    cast = _CAST.get(family, str)
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
    cast = _CAST.get(family, str)
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


def _found(
    iri: str, texts: Sequence[str], other: Sequence[bool], usual: TermSort, reading: ColumnQuantities
) -> TypedCells:
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


_INTEGER, _REAL, _YEAR = (
    re.compile(form).fullmatch
    for form in (r"[-+]?[0-9]+", r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?", r"-?[0-9]{4,9}")
)


def _integer(text: str) -> Cell:
    if len(text) > 400 or not _INTEGER(text):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else _finite(float(number))


def _finite(number: float) -> Cell:
    return number if abs(number) != float("inf") else None


_CAST: dict[Datatype, Callable[[str], Cell]] = {
    "integer": _integer,
    "real": lambda text: _finite(float(text)) if _REAL(text) else None,
    "boolean": {"true": 1, "1": 1, "false": 0, "0": 0}.get,
    "year": lambda text: int(text) if _YEAR(text) else None,
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


# dates that need no period
_ONE_FORM = re.compile(rf"(?P<day>{_DATE.pattern}{ZONE})|(?P<moment>{_DATETIME.pattern})|(?P<year>-?\d{{4,9}})")
