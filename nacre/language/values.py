"""Values and dates as people write them: Cell -> text, text -> Periods ("March 2024", "449 BC"), Periods -> words.

Days are keys whose order as texts is their order in time: "2015-03-01"; before Christ the year is counted from
FIRST_YEAR on, so that "-9557-03-15" is 15 March 44 BC.
"""

import calendar
import re
from collections.abc import Iterable
from datetime import date, timedelta
from functools import cache
from typing import NamedTuple
from urllib.parse import unquote

from nacre.language.data import load_language_texts, pattern, phrase_list, word_list, word_map
from nacre.language.quantities import is_currency
from nacre.language.tokens import iri_end
from nacre.records.evidence import Cell

_DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[T ]00:00(?::00(?:\.0+)?)?(?:Z|[+-]\d\d:\d\d)?)?")
_MOMENT = re.compile(r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d:\d\d)(?::00|(:\d\d))?(?:\.\d+)?(Z|[+-]\d\d:\d\d)?")
_SLUG = re.compile(r"[^\W_A-Z]+(?:[-_][^\W_A-Z]+)+")
_WORD = re.compile(r"[^\W\d_A-Z]{3,}")

# "bmw", "m": abbreviations without a vowel
_ABBREVIATION = re.compile(r"[bcdfghj-np-tv-xz]{1,4}")

# a sign of money, and what stands after it
MONEY_SIGN = re.compile("[$¢-¥₠-⃀]")
_DIGITS = re.compile(r"\d[\d.,]*")

# significant digits of an average
_SIGNIFICANT_DIGITS = 3

# the years of days that are written in eight digits (given)
FIRST_DAY_YEAR, LAST_DAY_YEAR = 1800, 2100

# smaller numbers are written with an exponent
_MIN_DECIMAL = 1e-4


def format_value(value: Cell, unit: str = "", *, counted: bool = True, rounded: bool = False) -> str:
    """A value with thousands separators, at most two decimals and its unit; dates are written out.

    A number that is not `counted` (a year, a code) has no separators. A `rounded` number keeps three significant
    digits, or its whole part; money keeps two decimals.

    >>> format_value(112233.333, "km"), format_value(723.75, "kg", rounded=True)
    ('112,233.33 km', '724 kg')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        text = _decimal(value, rounded and not has_cents(unit), counted)
    elif isinstance(value, int):
        # no code is negative, so it is a year
        text = f"{value:,}" if counted else str(value) if value >= 0 else format_year(value)
    else:
        return format_date(value) if isinstance(value, str) else "unknown"
    return append_unit(text, unit)


def drop_midnight(text: str) -> str:
    """A date whose time is midnight as the date alone: a day that was stored as a point in time."""
    found = _DAY.fullmatch(text)
    return "-".join(found.groups()) if found else text


def read_day_digits(text: str) -> str | None:
    """A day in eight digits as an ISO date; None for any other text, and for days that are unlikely to be meant."""
    is_number = len(text) == 8 and text.isascii() and text.isdecimal()
    if not is_number or not FIRST_DAY_YEAR <= int(text[:4]) <= LAST_DAY_YEAR:
        return None
    try:
        return date(int(text[:4]), int(text[4:6]), int(text[6:])).isoformat()
    except ValueError:
        return None


def has_cents(unit: str) -> bool:
    """Whether amounts in a unit have two decimals or none."""
    return unit != "cent" and is_currency(unit)


def append_unit(number: str, unit: str) -> str:
    """A number followed by its unit, or after a sign of money; money has two decimals or none.

    >>> append_unit("3 to 4", "€"), append_unit("-1.5", "£"), append_unit("5", "EUR")
    ('€3 to €4', '-£1.50', '5 EUR')
    """
    number += "0" * (number[-2:-1] in (".", ",") and has_cents(unit))
    if MONEY_SIGN.fullmatch(unit):
        return _DIGITS.sub(rf"{unit}\g<0>", number)
    return f"{number}%" if unit == "%" else f"{number} {unit}" if unit else number


def without_unit(text: str, unit: str) -> str:
    """The numbers of a text that `append_unit` gave."""
    return text.replace(unit, "") if MONEY_SIGN.fullmatch(unit) else text.removesuffix(append_unit("", unit))


def format_date(text: str) -> str:
    """An ISO date in words; any other text unchanged."""
    day = _DAY.fullmatch(text)
    if day is not None:
        return _formatted_day(*map(int, day.groups())) or text
    moment = _MOMENT.fullmatch(text)
    if moment is not None:
        date_words = _formatted_day(*map(int, moment.groups()[:3]))
        zone = moment[6] or ""
        clock = f"{moment[4]}{moment[5] or ''}{' UTC' if zone == 'Z' else f' (UTC{zone})' if zone else ''}"
        return f"{date_words} at {clock}" if date_words else text
    return text


def display_name(name: str, iris: tuple[str, ...], *, small: bool = False) -> str:
    """A thing's name; a name that is the last segment of its IRI is split into words.

    It stays as it is if the names beside it are in `small` letters.

    >>> display_name("bmw-m3-coupé", ("http://e.org/bmw-m3-coup%C3%A9",)), display_name("us-east-1", ("http://e.org/n17",))
    ('BMW M3 Coupé', 'us-east-1')
    """
    if small or not _SLUG.fullmatch(name) or not any(unquote(iri_end(iri)) == name for iri in iris):
        return name
    parts = re.split(r"[-_]", name)
    return " ".join(part.upper() if _ABBREVIATION.fullmatch(part) else part.capitalize() for part in parts)


def has_lowercase_name(names: Iterable[Cell]) -> bool:
    """Whether one of several names is a word in small letters, as names of kinds are."""
    return any(isinstance(each, str) and _WORD.fullmatch(each) for each in names)


def is_plain_number(text: str, unit: str) -> bool:
    """Whether a text is a number alone, or a number with its unit."""
    number = re.sub(rf"(?:(?<!\s)\s++)?{re.escape(unit)}\s*+$", "", text, flags=re.IGNORECASE) if unit else text
    return number.replace(".", "").replace(",", "").strip().isdigit()


def is_number_name(name: str, iris: tuple[str, ...]) -> bool:
    """Whether a thing is named by a number only, or by the end of its IRI if that has a digit."""
    return name.isdigit() or (any(map(str.isdigit, name)) and any(iri_end(iri) == name for iri in iris))


def is_amount_label(label: str, datatype: str = "", role: str = "") -> bool:
    """Whether the numbers of a property are amounts, and not years, codes or other identifiers."""
    words = label.lower().removeprefix("number of ").split()
    return datatype != "year" and role != "identifier" and not set(words) & word_list("wording", "uncounted")


def _formatted_day(year: int, month: int, day: int) -> str:
    try:
        date(year, month, day)
    except ValueError:
        return ""
    return f"{day} {calendar.month_name[month]} {year}"


def _decimal(value: float, rounded: bool, counted: bool) -> str:
    if value.is_integer():
        return f"{value:,.0f}" if counted else f"{value:.0f}"
    digits = 2 if abs(value) >= 1 else 4
    if rounded and abs(value) < 1:
        # leading zeros are no significant digits
        text = f"{value:.{_SIGNIFICANT_DIGITS}g}"
        return f"{float(text):f}".rstrip("0").rstrip(".") if abs(value) >= _MIN_DECIMAL else text
    if rounded:
        # one decimal stays: 159.5 is not 160
        digits = max(int((value * 10).is_integer()), _SIGNIFICANT_DIGITS - len(str(int(abs(value)))))
    text = f"{value:,.{digits}f}" if counted else f"{value:.{digits}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return text if float(text.replace(",", "")) else f"{value:.{_SIGNIFICANT_DIGITS}g}"


_MONTHS = {
    name.casefold(): n for names in (calendar.month_name, calendar.month_abbr) for n, name in enumerate(names) if n
}

_ISO = re.compile(r"\b(?P<y>\d{4})-(?P<m>\d{2})(?:-(?P<d>\d{2}))?\b")

# "2020/05/12", "12.5.2020", "5/12/2020"
_NUMERIC = re.compile(
    r"(?<![\w.,:/+\-])(?:(?P<y>\d{4})(?P<by>[./])(?P<m>\d{1,2})(?P=by)(?P<d>\d{1,2})"
    r"|(?P<a>\d{1,2})(?P<sep>[./\-])(?P<b>\d{1,2})(?P=sep)(?P<y2>\d{4}))(?![\w\-/]|[.:,]\d)"
)

_DECADE = re.compile(r"\b(?P<y>\d{3})0s\b")

# "the 20s" and earlier decades are of this century, "the 30s" and later ones of the last
_LAST_DECADE_OF_THIS_CENTURY = 2

_LONGEST_MONTH, _LAST_MONTH = 31, 12


class Period(NamedTuple):
    """A period of dates and its place in characters. A day of any year ("--07-12") has no day after it."""

    first: str  # an ISO date, or "--07", "--07-12" as in XML Schema
    after: str  # the day after it
    start: int
    end: int

    @property
    def value(self) -> float:
        """The year in which it begins, 0 for 1 BC; the month of a period of any year."""
        return float(self.first[2:4] if self.of_any_year else key_year(self.first))

    @property
    def of_any_year(self) -> bool:
        return is_yearless(self.first)

    @property
    def last(self) -> float | None:
        """The last year of a period of several years, else None."""
        last = 0 if self.of_any_year else key_year(self.after or "0001") - self.after.endswith("-01-01")
        return float(last) if last > self.value else None


def find_periods(text: str, *, any_year: bool = False, foreign: bool = False) -> list[Period]:
    """The dates of a text except bare years; with `any_year` also months and days without a year, with `foreign` also
    with German and French months.

    >>> find_periods("opened before March 2015")
    [Period(first='2015-03-01', after='2015-04-01', start=14, end=24)]
    """
    periods: list[Period] = []
    taken = bytearray(len(text))
    for expression in _expressions(any_year=any_year, foreign=foreign):
        for match in expression.finditer(text):
            start, end = match.span()
            bounds = _bounds_of(match) if not any(taken[start:end]) else None
            if bounds is not None:
                periods.append(Period(*bounds, start, end))
                taken[start:end] = b"\1" * (end - start)
    return sorted(periods, key=lambda p: p.start)


def resolve_relative_times(text: str, today: date) -> str:
    """The text with "last year", "this month" and the like as dates."""

    def resolved(match: re.Match[str]) -> str:
        back = match["which"].casefold() == "last"
        day = today.replace(day=1)
        if match["unit"].casefold() == "year":
            words = str(day.year - back)
        else:
            words = _month(day - timedelta(days=1) if back else day)
        return f"{match['kept'] or 'in'} {words}"

    return pattern("question", "relative_time").sub(resolved, text)


def is_yearless(first: str) -> bool:
    """Whether a date is a month or day of any year: "--07", "--07-12"."""
    return first.startswith("--")


def year_bounds(value: int) -> tuple[str, str]:
    """The first day of a year and of the next."""
    return f"{year_key(value)}-01-01", f"{year_key(value + 1)}-01-01"


# a multiple of 400 keeps the calendar; from the first year of keys on, the counted years have four digits
_COUNTED_FROM, _FIRST_YEAR, _LAST_YEAR = -9600, -8600, 9999


def year_key(year: int) -> str:
    """A year, 0 for 1 BC, as the beginning of the keys of its days; the first or last one for years beyond.

    >>> year_key(2015), year_key(-43), year_key(-499) < year_key(-43) < year_key(79)
    ('2015', '-9557', True)
    """
    bounded = min(max(year, _FIRST_YEAR), _LAST_YEAR)
    return f"{bounded:04}" if bounded > 0 else f"-{bounded - _COUNTED_FROM:04}"


def key_year(key: str) -> int:
    """The year of a key."""
    return int(key[1:5]) + _COUNTED_FROM if key.startswith("-") else int(key[:4])


def format_year(year: int) -> str:
    """A year in words, 0 for 1 BC."""
    return str(year) if year > 0 else f"{1 - year} BC"


def _key_days(first: str, after: str) -> tuple[date, date]:
    """The days of two keys, counted alike. Raises ValueError for other texts."""
    begin, end = (date.fromisoformat(key.removeprefix("-")) for key in (first, after))
    if first.startswith("-") and not after.startswith("-"):
        end = end.replace(year=end.year - _COUNTED_FROM)
    return begin, end


def _uncounted(words: str, key: str) -> str:
    """Words with the years of days that are counted as those of a key: "in 9557" -> "in 44 BC"."""
    return re.sub(r"\d{4}", lambda m: format_year(int(m[0]) + _COUNTED_FROM), words) if key.startswith("-") else words


def format_yearless_date(part: str) -> str:
    """A month or day of any year in words; `part` is its text within an ISO date, or the bound of such days."""
    match = re.fullmatch(r"(-?)(\d\d)-?(\d\d)?", part)
    if match is None:
        return ""
    month = calendar.month_name[int(match[2])]
    if not match[1]:
        return f"the end of {month}" if match[3] == "31" else f"{int(match[3])} {month}" if match[3] else month
    return f"on {int(match[3])} {month}" if match[3] else f"in {month}"


def format_period(first: str, after: str) -> str:
    """A period in words; "" if the dates are no period."""
    try:
        begin, end = _key_days(first, after)
    except ValueError:
        return ""
    if end - begin == timedelta(days=1):
        words = f"on {_period_day(begin)}"
    elif begin >= end:
        words = ""
    elif begin.day != 1 or end.day != 1:
        words = _between(_period_day(begin), _period_day(end - timedelta(days=1)))
    else:
        words = _format_months(begin, end)
    return _uncounted(words, first)


def _format_months(begin: date, end: date) -> str:
    """A period of whole months, whose `end` is the first day after it."""
    months = (end.year - begin.year) * 12 + end.month - begin.month
    if months == 1:
        return f"in {_month(begin)}"
    part = {3: "quarter", 6: "half"}.get(months)
    if part and begin.month % months == 1:
        return f"in the {phrase_list('dates', 'ordinals')[begin.month // months]} {part} of {begin.year}"
    years = end.year - begin.year
    if begin.month != 1 or end.month != 1:
        return _between(_month(begin), _month(end - timedelta(days=1)))
    if years == 10 and begin.year % 10 == 0 and begin.year < _YEARS_OF_DECADES:
        return f"in the {begin.year}s"
    return f"in {begin.year}" if years == 1 else f"between {begin.year} and {end.year - 1}"


_YEARS_OF_DECADES = 5000  # later years are counted ones before Christ


def _period_day(day: date) -> str:
    return f"{day.day} {_month(day)}"


def _month(day: date) -> str:
    return f"{calendar.month_name[day.month]} {day.year}"


def _between(first: str, last: str) -> str:
    """From one day or month to another; a year that they share is written once.

    >>> _between("3 May 2020", "9 June 2020"), _between("May 2019", "June 2020")
    ('between 3 May and 9 June 2020', 'between May 2019 and June 2020')
    """
    year_of = last.rpartition(" ")[2]
    return f"between {first.removesuffix(f' {year_of}')} and {last}"


def format_year_range(first: object, last: object) -> str:
    """Years from the first to the last in words; "" if the values are no years."""
    if not isinstance(first, int | float) or not isinstance(last, int | float):
        return ""
    return format_period(year_bounds(int(first))[0], year_bounds(int(last))[1])


def format_date_bound(op: str, day: str) -> str:
    """A lower or upper bound in words if its day begins a month or year, else "".

    >>> [format_date_bound(*bound) for bound in ((">=", "2019-01-01"), ("<", "2019-01-01"), (">=", "2015-04-01"))]
    ['after 2018', 'before 2019', 'after March 2015']
    """
    try:
        begin, _ = _key_days(day, day)
    except ValueError:
        return ""
    if op == "<" and day == _CHRIST[0]:
        return "before Christ"
    if op not in (">=", "<") or begin.day != 1 or begin.year == 1:
        return ""
    at = begin if op == "<" else begin - timedelta(days=1)
    month = "" if begin.month == 1 else f"{calendar.month_name[at.month]} "
    return _uncounted(f"{'before' if op == '<' else 'after'} {month}{at.year}", day)


def is_ambiguous_date(text: str) -> bool:
    """Whether a numeric date may be read with the day first and with the month first."""
    matches = [m for m in _NUMERIC.finditer(text) if m["y2"] and m["sep"] != "."]
    return any(
        m["a"].lstrip("0") != m["b"].lstrip("0") and max(int(m["a"]), int(m["b"])) <= _LAST_MONTH for m in matches
    )


@cache
def _months(*, foreign: bool) -> dict[str, int]:
    texts = [load_language_texts(f"{code}/glosses.yaml")["months"] for code in ("de", "fr") if foreign]
    return _MONTHS | {name: n for each in texts for n, name in enumerate(each.split(), 1)}


@cache
def _expressions(*, any_year: bool, foreign: bool) -> tuple[re.Pattern[str], ...]:
    months = "|".join(sorted(_months(foreign=foreign), key=len, reverse=True))
    ordinals, decades, centuries = ("|".join(phrase_list("dates", n)) for n in ("ordinals", "decades", "centuries"))
    yearless = ("day_of_any_year", "month_of_any_year") if any_year else ()
    return (
        pattern("dates", "part_of_year", ordinals=ordinals),
        pattern("dates", "year_of_era", months=months),
        pattern("dates", "century", centuries=centuries),
        pattern("dates", "christ"),
        _ISO,
        _NUMERIC,
        *(pattern("dates", name, months=months) for name in ("month_day_year", "day_month_year")),
        _DECADE,
        pattern("dates", "decade", decades=decades),
        *(pattern("dates", name, months=months) for name in yearless),
    )


def _bounds_of(match: re.Match[str]) -> tuple[str, str] | None:
    """The first day of a matched date and the day after its last; None if the calendar has no such date."""
    parts = match.groupdict()
    if "part" in parts:
        return _part_of_year(match)
    if "sep" in parts:
        parts = _day_first(match)
    if "bc" in parts:
        return _in_era(parts)
    if "christ" in parts:
        return _CHRIST
    if "nth" in parts:
        names = phrase_list("dates", "centuries")
        number = int(parts["nth"] or names.index(str(parts["name"]).casefold()) + 1)
        return year_bounds(max(100 * number - 100, 1))[0], year_bounds(100 * number - 1)[1]
    if "m" not in parts:
        first_year = int(str(parts["y"])) * 10 if "y" in parts else _decade(parts)
        return year_bounds(first_year)[0], year_bounds(first_year + 9)[1]
    return _day_or_month(parts)


def _day_first(match: re.Match[str]) -> dict[str, str | None]:
    """The parts of a numeric date: the day stands before the month wherever that is possible."""
    if match["y"]:
        return match.groupdict()
    first, second = match["a"], match["b"]
    month_first = int(second) > _LAST_MONTH and match["sep"] != "."
    return {"y": match["y2"], "m": first if month_first else second, "d": second if month_first else first}


def _part_of_year(match: re.Match[str]) -> tuple[str, str] | None:
    """The first day of a quarter or half of a year, and the day after it."""
    part = match["part"] or match["q"] or match["q3"]
    months = int(word_map("dates", "parts_of_year")[part.casefold()])
    place = (match["place"] or match["n"] or match["n3"]).casefold()
    ordinals, last = phrase_list("dates", "ordinals"), 12 // months
    number = last if place == "last" else ordinals.index(place) + 1 if place in ordinals else int(place[0])
    year = int(match["y"] or match["y2"] or match["y3"])
    end = number * months
    if number > last or not year:
        return None
    after = f"{year + end // 12:04}-{end % 12 + 1:02}-01"
    return f"{year:04}-{end - months + 1:02}-01", after


_CHRIST = year_bounds(1)  # what is before Christ is before the year 1


def _in_era(parts: dict[str, str | None]) -> tuple[str, str] | None:
    """The first day of a year, month or day with its era, or of a century before Christ, and the day after it."""
    number = int(str(parts["y"] or parts["century"]))
    if parts["century"]:
        return year_bounds(1 - 100 * number)[0], year_bounds(100 - 100 * number)[1]
    year = 1 - number if parts["bc"] is not None else number
    if not number or not parts["m"]:
        return year_bounds(year) if number else None
    # a year of the same calendar that Python has
    bounds = _day_or_month({**parts, "y": str(year % 400 + 2000)})
    return bounds and tuple(f"{year_key(year + int(key[:4]) - year % 400 - 2000)}{key[4:]}" for key in bounds)  # type: ignore[return-value]


def _decade(parts: dict[str, str | None]) -> int:
    decades = phrase_list("dates", "decades")
    ten = int(parts["ten"]) if parts["ten"] else decades.index(str(parts["tens"]).casefold()) + 2
    return (2000 if ten <= _LAST_DECADE_OF_THIS_CENTURY else 1900) + 10 * ten


def _day_or_month(parts: dict[str, str | None]) -> tuple[str, str] | None:
    name = str(parts["m"])
    month = int(name) if name.isdigit() else _months(foreign=True)[name.casefold()]
    if "y" not in parts:
        day = int(parts["d"] or 0)
        return (f"--{month:02}-{day:02}" if day else f"--{month:02}", "") if day <= _LONGEST_MONTH else None
    try:
        first = date(int(str(parts["y"])), month, int(parts.get("d") or 1))
    except ValueError:
        return None
    days = 1 if parts.get("d") else calendar.monthrange(first.year, first.month)[1]
    return first.isoformat(), (first + timedelta(days=days)).isoformat()
