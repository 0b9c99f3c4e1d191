"""Decide the type of a column by all of its texts: ColumnProfile -> ColumnType; then each text -> a literal of it.

Distinct texts are kept up to a limit; beyond it only counts of what they may be, and hashes while all of them differ.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import filterfalse, islice
from operator import eq, or_
from typing import Literal

import numpy as np

from ingestion.induce.cells import TOKEN
from ingestion.induce.declarations import is_name_shaped
from ingestion.induce.names import MANY_DAYS, is_called_date, lowercase_name
from ingestion.read.facts import STRING, TermSort
from ingestion.read.tables import TermNumbers, Terms
from ingestion.vocabulary import XSD
from nacre.extensions.spreadsheets.classify import (
    DATE,
    NUMBER,
    CellKind,
    Order,
    classify,
    clock_of,
    date_of,
    is_decimal,
    is_whole,
    number_of,
    words,
)
from nacre.extensions.spreadsheets.metadata import StatedColumn
from nacre.language.values import read_day_digits

TypeName = Literal["text", "integer", "decimal", "quantity", "year", "date", "dateTime", "time", "boolean"]

# distinct texts of a column that are kept; the least share of cells that have the type of their column (given)
MAX_DISTINCT, MIN_SHARE = 50_000, 0.9

# rows of a sheet in which a column of ones and zeros says yes and no (given)
MIN_FLAGS = 20

# texts that show whether a column has names
SAMPLE = 500

_STATED: dict[str, TypeName] = {
    **dict.fromkeys(("integer", "int", "long", "short", "byte", "nonNegativeInteger", "positiveInteger"), "integer"),
    **dict.fromkeys(("decimal", "number", "double", "float", "percent"), "decimal"),
    **{"boolean": "boolean", "date": "date", "dateTime": "dateTime", "datetime": "dateTime", "time": "time"},
    **{"gYear": "year"},
}

_SORTS: dict[TypeName, TermSort] = {
    "integer": ("literal", f"{XSD}integer", ""),
    "decimal": ("literal", f"{XSD}decimal", ""),
    "year": ("literal", f"{XSD}gYear", ""),
    "date": ("literal", f"{XSD}date", ""),
    "dateTime": ("literal", f"{XSD}dateTime", ""),
    "time": ("literal", f"{XSD}time", ""),
    "boolean": ("literal", f"{XSD}boolean", ""),
}

_DOUBLE: TermSort = ("literal", f"{XSD}double", "")


@dataclass(frozen=True)
class ColumnType:
    """The type of a column, how its numbers and dates are written, the unit of most of its cells, what to ask, whether
    an empty cell is a no, and the sort of its texts."""

    name: TypeName
    comma: bool = False
    order: Order = "ymd"
    unit: str = ""
    question: str = ""
    is_ticked: bool = False
    texts: TermSort = STRING

    def literal(self, text: str) -> tuple[TermSort, str] | None:
        """The sort and form of the literal for a text without blanks around it; None if it does not fit."""
        kind = self.name
        if kind == "text":
            return self.texts, text
        if kind in ("integer", "decimal", "quantity", "year"):
            number = number_of(text, self.comma)
            if number is None or (number[1] and kind != "quantity"):
                return None
            if kind == "quantity":
                return STRING, f"{number[0]} {number[1]}".rstrip()
            if kind == "decimal" and "e" in number[0].lower():
                return _DOUBLE, number[0]
            if kind != "decimal" and not number[0].lstrip("-").isdecimal():
                return None
            return _SORTS[kind], number[0]
        if kind in ("date", "dateTime"):
            found = read_day_digits(text) or date_of(text, self.order)
            return (_SORTS["dateTime" if "T" in found else "date"], found) if found else None
        if kind == "time":
            found = clock_of(text)
            return (_SORTS[kind], found) if found else None
        low = text.casefold()
        if low in words("true"):
            return _SORTS[kind], "true"
        return (_SORTS[kind], "false") if low in words("false") else None


class ColumnProfile:
    """All texts of one column, as far as they decide on its type."""

    def __init__(self) -> None:
        self.kinds: Counter[int] = Counter()
        self.units: Counter[str] = Counter()
        self.filled = 0
        self.sample: dict[str, None] = {}
        self._distinct: Counter[str] = Counter()
        self._hashes = array("q")
        self._may_be_unique, self.is_complete = True, True

    def add(self, cells: Sequence[str]) -> None:
        """Count the cells of some rows."""
        self._distinct.update(cells)
        if len(self._distinct) > MAX_DISTINCT:
            self.is_complete = False
            self._fold(self._distinct)
            self._distinct = Counter()

    def finish(self) -> None:
        """Count what is left; nothing can be added afterwards."""
        self._distinct = self._fold(self._distinct)
        if not self.is_complete and self._may_be_unique:
            self._may_be_unique = len(np.unique(np.frombuffer(self._hashes, dtype=np.int64))) == len(self._hashes)
        self._hashes = array("q")

    def _fold(self, counts: Counter[str]) -> Counter[str]:
        """Count what the cells may be; the counts of the texts in them."""
        stripped = counts
        if not all(map(eq, counts, map(str.strip, counts))):
            stripped = Counter()
            for cell, count in counts.items():
                stripped[cell.strip()] += count
        stripped.pop("", None)
        kinds = self.kinds
        for text, count in stripped.items():
            kind = classify(text)
            kinds[kind] += count
            if kind & CellKind.UNIT and (number := number_of(text, bool(kind & CellKind.COMMA))):
                self.units[number[1]] += count
        self.filled += stripped.total()
        if len(self.sample) < SAMPLE:
            self.sample.update(dict.fromkeys(islice(stripped, SAMPLE)))
        if self._may_be_unique:
            self._may_be_unique = stripped.total() == len(stripped)
            if not self.is_complete:
                self._hashes.extend(map(hash, stripped))
        return stripped

    @property
    def is_unique(self) -> bool:
        """Whether all cells with a value differ, and there are several."""
        return self._may_be_unique and self.filled > 1

    @property
    def distinct(self) -> Iterable[str]:
        """The distinct texts of a complete column, else some of them."""
        return self._distinct if self.is_complete else self.sample

    @property
    def share_of_names(self) -> float:
        """The share of the first distinct texts that look like names."""
        return sum(map(is_name_shaped, self.sample)) / len(self.sample) if self.sample else 0.0

    def count(self, *kinds: int) -> int:
        """The number of cells that may be any of the kinds."""
        any_of = reduce(or_, kinds)
        return sum(count for kind, count in self.kinds.items() if kind & any_of)

    def count_dates(self, orders: int) -> int:
        """The number of cells that are dates in these orders of their parts and in no other."""
        return sum(count for kind, count in self.kinds.items() if kind & DATE == orders)


def decide_type(
    profile: ColumnProfile,
    heading: str,
    comma: bool,
    stated: StatedColumn | None = None,
    order: Literal["dmy", "mdy"] | None = None,
    rows: int = 0,
) -> ColumnType:
    """The type that nearly all cells of a column have, else text. `comma` is how other numbers of the file are written,
    which decides for a column whose numbers can be read in both ways, as `order` does for dates. `rows` has all."""
    if stated is not None and stated.datatype:
        kind = _stated_type(stated, profile, comma)
        is_other = kind.name == "text" and decide_type(profile, heading, comma).name != "text"
        return ColumnType("text", texts=("literal", TOKEN, "")) if is_other else kind
    missing = profile.count(CellKind.MISSING)
    stating = profile.filled - missing
    # also a short column may have one cell that does not fit
    enough = max(min(MIN_SHARE * stating, stating - 1), (profile.filled + 1) / 2, 1)
    distinct = set(islice(profile.distinct, 3))
    is_flag = distinct == {"0", "1"} or (distinct == {"1"} and profile.filled < rows)
    if is_flag and rows >= MIN_FLAGS and words("counts").keys().isdisjoint(lowercase_name(heading).casefold().split()):
        return ColumnType("boolean", is_ticked="0" not in distinct)
    if profile.count(CellKind.BOOLEAN) >= enough and profile.count(CellKind.BOOLEAN) == profile.filled - missing:
        return ColumnType("boolean", is_ticked=all(text.casefold() in words("marks") for text in profile.distinct))
    if profile.count(CellKind.CLOCK) >= enough:
        return ColumnType("time")
    if profile.count(CellKind.YMD, CellKind.DMY, CellKind.MDY) >= enough:
        return _date_type(profile, enough, order)
    days = profile.count(CellKind.DAY_DIGITS)
    if days and days == stating and (is_called_date(heading) or sum(1 for _ in profile.distinct) >= MANY_DAYS):
        return ColumnType("date")
    if profile.count(CellKind.ZERO) or profile.count(CellKind.POINT, CellKind.COMMA) < enough:
        return ColumnType("text")
    own = uses_comma(profile)
    comma = comma if own is None else own
    read, whole = (CellKind.COMMA, CellKind.WHOLE_COMMA) if comma else (CellKind.POINT, CellKind.WHOLE_POINT)
    if profile.count(read) < enough:
        return ColumnType("text")
    if profile.units:
        unit, count = max(profile.units.items(), key=lambda each: (each[1], each[0]))
        return ColumnType("quantity", comma, unit=unit) if 2 * count > profile.filled else ColumnType("text")
    if profile.count(whole) < profile.count(read):
        return ColumnType("decimal", comma)
    is_year = profile.count(CellKind.YEAR) == profile.count(read) and is_called_year(heading)
    return ColumnType("year" if is_year else "integer", comma)


def is_called_year(heading: str) -> bool:
    """Whether a heading has a word for a year, also at the end of a compound.

    >>> is_called_year("Baujahr"), is_called_year("Fiscal Year"), is_called_year("An"), is_called_year("Jahreszahl")
    (True, True, True, False)
    """
    own, years = lowercase_name(heading).casefold().split(), words("years")
    # short words are the ends of many others
    return any(word in years or word.endswith(tuple(year for year in years if len(year) > 3)) for word in own)


def uses_comma(profile: ColumnProfile) -> bool | None:
    """Whether the numbers of a column are written with a decimal comma; None if all can be read in both ways."""
    point = sum(count for kind, count in profile.kinds.items() if kind & NUMBER == CellKind.POINT)
    comma = sum(count for kind, count in profile.kinds.items() if kind & NUMBER == CellKind.COMMA)
    if point == comma:
        return None
    return comma > point


def _date_type(profile: ColumnProfile, enough: float, stated: Literal["dmy", "mdy"] | None) -> ColumnType:
    days, months, either = map(profile.count_dates, (CellKind.DMY, CellKind.MDY, CellKind.DMY | CellKind.MDY))
    if either and (days > 0) == (months > 0) and stated is None:
        why = "some cells have the day first and others the month" if days else "no cell tells the day from the month"
        ask = "State 'dates: day first' or 'month first' for it with --annotations, or its format in CSVW metadata."
        return ColumnType("text", question=f"{why}, so its dates are texts. {ask}")
    order: Order = stated if stated and either else "dmy" if days > months else "mdy" if months else "ymd"
    if profile.filled - (months if order == "dmy" else days) < enough:
        return ColumnType("text")
    timed = profile.count(CellKind.DATED_TIME)
    return ColumnType("dateTime" if 2 * timed > profile.filled else "date", order=order)


def _stated_type(stated: StatedColumn, profile: ColumnProfile, comma: bool) -> ColumnType:
    name = _STATED.get(stated.datatype, "text")
    letters = [each for each in stated.format.lower() if each in "dmy"]
    usual = "mdy" if profile.count_dates(CellKind.MDY) > profile.count_dates(CellKind.DMY) else "dmy"
    order = {"d": "dmy", "m": "mdy", "y": "ymd"}.get(letters[0] if letters else "", usual)
    own = uses_comma(profile)
    comma = stated.decimal == "," if stated.decimal else comma if own is None else own
    if name == "decimal" and profile.units:
        return ColumnType("quantity", comma, unit=max(profile.units, key=lambda each: profile.units[each]))
    return ColumnType(name, comma, order)  # type: ignore[arg-type]


# cells of no value as programs write them; they are no texts
EMPTY = frozenset(("", "nan", "NaN", "NULL", "#N/A"))
# letters of a code of a country, a unit or the like, at most (given)
MAX_CODE = 3

# headings of two columns that may be degrees, what they are then called, and the highest number
_LONGITUDE, _LATITUDE = ("longitude", 180.0), ("latitude", 90.0)
_COORDINATES = {
    "x": _LONGITUDE,
    "y": _LATITUDE,
    **dict.fromkeys(("länge", "laenge", "längengrad"), _LONGITUDE),
    **dict.fromkeys(("breite", "breitengrad"), _LATITUDE),
}


def coordinate_names(columns: Sequence[tuple[str, ColumnProfile, ColumnType]]) -> dict[str, str]:
    """What the columns X and Y, "Länge" and "Breite" of a table are if both have decimals that are degrees on the
    earth."""
    found = {}
    for name, profile, kind in columns:
        called, highest = _COORDINATES.get(name.casefold(), ("", 0.0))
        numbers = (number_of(text, kind.comma) for text in profile.sample) if called and kind.name == "decimal" else ()
        degrees = [float(number[0]) for number in numbers if number is not None]
        if degrees and max(map(abs, degrees)) <= highest and not all(map(float.is_integer, degrees)):
            found[name] = called
    return found if len(found) == 2 and len(set(found.values())) == 2 else {}


class CellNumbers(dict[str, int]):
    """The numbers of the terms of a column by its cells, as `number_of` gives them for a text without blanks around it;
    0 for an empty cell. Other cells are texts, and listed as `misfits`. Of many cells only the last ones are kept."""

    def __init__(
        self,
        number_of: Callable[[str], int | None],
        texts: Terms,
        plain: Terms | None = None,
        is_plain: Callable[[str], object] | None = None,
        empty: frozenset[str] = EMPTY,
    ) -> None:
        super().__init__(dict.fromkeys(empty, 0))
        self._empty, self._number_of, self._texts, self.misfits = empty, number_of, texts, set[str]()
        self._plain, self._is_plain = plain, is_plain

    def of(self, cells: Sequence[str]) -> Iterable[int]:
        """The numbers for some cells. If all new ones are literals of `plain` as they are, they are added at once."""
        if self._plain is not None and self._is_plain is None:
            texts = list(map(str.strip, cells))
            if self._empty.isdisjoint(texts):
                return self._plain.of(texts)
        if len(self) > MAX_DISTINCT:
            self.clear()
            self.update(dict.fromkeys(self._empty, 0))
        if self._plain is not None:
            new = list(dict.fromkeys(filterfalse(self.__contains__, cells)))
            if all(map(self._is_plain, new) if self._is_plain else map(eq, new, map(str.strip, new))):
                self.update(zip(new, self._plain.of(new), strict=True))
        return map(self.__getitem__, cells)

    def __missing__(self, cell: str) -> int:
        number = 0
        if text := cell.strip():
            found = self._number_of(text)
            number = self._texts[text] if found is None else found
            if found is None:
                self.misfits.add(cell)
        self[cell] = number
        return number


def number_of_no(numbers: TermNumbers) -> int:
    """The number of the literal for an empty cell among ticks."""
    return numbers.of(_SORTS["boolean"])["false"]


def literal_numbers(kind: ColumnType, numbers: TermNumbers, profile: ColumnProfile | None = None) -> CellNumbers:
    """The literals of a column by its cells. "NA" is no value beside longer texts; alone it may be a code."""
    texts = numbers.of(kind.texts)
    if kind.name == "text":
        is_code = profile is None or all(len(text) <= MAX_CODE for text in profile.sample)
        return CellNumbers(texts.__getitem__, texts, texts, empty=EMPTY if is_code else EMPTY | {"NA"})

    def number(text: str) -> int | None:
        found = kind.literal(text)
        return None if found is None else numbers.of(found[0])[found[1]]

    plain = numbers.of(_SORTS[kind.name]) if kind.name in ("integer", "decimal", "year") else None
    return CellNumbers(number, texts, plain, is_decimal if kind.name == "decimal" and not kind.comma else is_whole)
