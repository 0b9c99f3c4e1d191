"""Dates in a question, at any precision: text -> Period ("March 2024", "5 May 2019", "2019-05-05", "the 1990s")."""

import calendar
import re
from datetime import date, timedelta
from typing import NamedTuple

_MONTHS = {
    name.casefold(): n for names in (calendar.month_name, calendar.month_abbr) for n, name in enumerate(names) if n
}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_ISO = re.compile(r"\b(?P<y>\d{4})-(?P<m>\d{2})(?:-(?P<d>\d{2}))?\b")
# "2020/05/12", "12.5.2020", "5/12/2020"
_NUMERIC = re.compile(
    r"(?<![\w.,:/+\-])(?:(?P<y>\d{4})(?P<by>[./])(?P<m>\d{1,2})(?P=by)(?P<d>\d{1,2})"
    r"|(?P<a>\d{1,2})(?P<sep>[./\-])(?P<b>\d{1,2})(?P=sep)(?P<y2>\d{4}))(?![\w\-/]|[.:,]\d)"
)
_DAY_FIRST = re.compile(
    rf"\b(?:(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?)?(?P<m>{_MONTH})\.?,?\s+(?P<y>\d{{4}})\b", re.IGNORECASE
)
_MONTH_FIRST = re.compile(
    rf"\b(?P<m>{_MONTH})\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y>\d{{4}})\b", re.IGNORECASE
)
_DECADE = re.compile(r"\b(?P<y>\d{3})0s\b")
_TENS = ("twenties", "thirties", "forties", "fifties", "sixties", "seventies", "eighties", "nineties")
# "the 90s", "the '90s", "the nineties": up to "the 20s" of this century, from "the 30s" on of the last
_TENS_ALONE = re.compile(
    rf"(?<=\bthe )(?:(?:early|mid|late)[ -])?['’]?(?:(?P<ten>\d)0['’]?s|(?P<tens>{'|'.join(_TENS)}))\b", re.IGNORECASE
)
_THIS_CENTURY = 2
# "the second quarter of 2023", "Q2 2023", "the first half of 2019", "2019 H1"
_PLACES = ("first", "second", "third", "fourth")
_PARTS_OF_YEAR = {"quarter": 3, "half": 6, "q": 3, "h": 6}
_PART = re.compile(
    rf"\b(?:(?P<place>{'|'.join(_PLACES)}|last|[1-4](?:st|nd|rd|th))\s+(?P<part>quarter|half)\s+(?:of\s+)?(?P<y>\d{{4}})"
    rf"|(?P<q>[qh])(?P<n>[1-4])[ /]?(?P<y2>\d{{4}})|(?P<y3>\d{{4}})[ /-]?(?P<q3>[qh])(?P<n3>[1-4]))\b",
    re.IGNORECASE,
)
_LONGEST_MONTH, _LAST_MONTH = 31, 12
# months and days of any year
_DAY_OF_ANY = re.compile(rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<m>{_MONTH})\b", re.IGNORECASE)
_MONTH_OF_ANY = re.compile(
    rf"(?:(?<=\bin )|(?<=\bduring )|(?<=\bevery )|(?<=\beach )|(?<=\bon )|(?<=\bof ))"
    rf"(?P<m>{_MONTH})\b(?:\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b)?",
    re.IGNORECASE,
)


class Period(NamedTuple):
    """A stretch of time: `first` day and the day `after` it, as ISO dates, and its place in characters; a month or day
    of any year is written as in XML Schema ("--07", "--07-12") and has no day after it."""

    first: str
    after: str
    start: int
    end: int

    @property
    def value(self) -> float:
        """The year that it begins in, or the month."""
        return float(self.first[2:4]) if self.of_any_year else float(self.first[:4])

    @property
    def of_any_year(self) -> bool:
        return is_yearless(self.first)

    @property
    def last(self) -> float | None:
        """The last year of several; None where it is within one year."""
        last = int(self.after[:4] or 0) - (self.after[4:] == "-01-01")
        return float(last) if not self.of_any_year and last > self.value else None


def find_periods(text: str, *, any_year: bool = False) -> list[Period]:
    """The dates of a text that say more than a bare year; months and days of `any_year` too.

    >>> find_periods("opened before March 2015")
    [Period(first='2015-03-01', after='2015-04-01', start=14, end=24)]
    >>> [(p.first, p.after) for p in find_periods("the 1990s or the sixties, on 12 July and in May", any_year=True)]
    [('1990-01-01', '2000-01-01'), ('1960-01-01', '1970-01-01'), ('--07-12', ''), ('--05', '')]
    >>> [(p.first, p.after) for p in find_periods("the second quarter of 2023 or Q4 2024")]
    [('2023-04-01', '2023-07-01'), ('2024-10-01', '2025-01-01')]
    >>> [p.first for p in find_periods("12.5.2020, 2020/05/12, 5/13/2020 and 3/4/2020")]
    ['2020-05-12', '2020-05-12', '2020-05-13', '2020-04-03']
    """
    found: list[Period] = []
    undated = (_DAY_OF_ANY, _MONTH_OF_ANY) if any_year else ()
    for pattern in (_PART, _ISO, _NUMERIC, _MONTH_FIRST, _DAY_FIRST, _DECADE, _TENS_ALONE, *undated):
        for match in pattern.finditer(text):
            if any(p.start < match.end() and match.start() < p.end for p in found):
                continue
            parts = _numeric(match) if pattern is _NUMERIC else match.groupdict()
            span = _part(match) if pattern is _PART else _span(parts)
            if span is not None:
                found.append(Period(*span, match.start(), match.end()))
    return sorted(found, key=lambda p: p.start)


def is_yearless(first: str) -> bool:
    """Whether a month or day is of no year: "--07", "--07-12"."""
    return first.startswith("--")


def year_bounds(value: int) -> tuple[str, str]:
    """The first day of a year and of the next.

    >>> year_bounds(2015)
    ('2015-01-01', '2016-01-01')
    """
    return f"{value:04}-01-01", f"{value + 1:04}-01-01"


def format_yearless_date(part: str) -> str:
    """A month or day of any year, as it stands in a date, in words.

    >>> format_yearless_date("-07-"), format_yearless_date("-07-12"), format_yearless_date("-7")
    ('in July', 'on 12 July', '')
    """
    found = re.fullmatch(r"-(\d\d)-(\d\d)?", part)
    if found is None:
        return ""
    month = calendar.month_name[int(found[1])]
    return f"on {int(found[2])} {month}" if found[2] else f"in {month}"


def format_period(first: str, after: str) -> str:
    """A stretch of days as people say when it was, "" where it is no stretch.

    >>> format_period("2019-01-01", "2020-01-01"), format_period("2015-03-01", "2015-04-01")
    ('in 2019', 'in March 2015')
    >>> format_period("2023-04-01", "2023-07-01")
    'in the second quarter of 2023'
    >>> format_period("2011-01-01", "2018-01-01"), format_period("1990-01-01", "2000-01-01")
    ('between 2011 and 2017', 'in the 1990s')
    >>> format_period("2011-03-01", "2011-06-01"), format_period("2011-03-04", "2011-03-08")
    ('between March and May 2011', 'between 4 March and 7 March 2011')
    """
    try:
        begin, end = date.fromisoformat(first), date.fromisoformat(after)
    except ValueError:
        return ""
    if end - begin == timedelta(days=1):
        return f"on {_day(begin)}"
    if begin >= end:
        return ""
    if begin.day != 1 or end.day != 1:
        return _between(_day(begin), _day(end - timedelta(days=1)))
    months = (end.year - begin.year) * 12 + end.month - begin.month
    if months == 1:
        return f"in {_month(begin)}"
    for part, length in (("quarter", 3), ("half", 6)):
        if months == length and begin.month % length == 1:
            return f"in the {_PLACES[begin.month // length]} {part} of {begin.year}"
    years = end.year - begin.year
    if begin.month != 1 or end.month != 1:
        return _between(_month(begin), _month(end - timedelta(days=1)))
    if years == 10 and begin.year % 10 == 0:
        return f"in the {begin.year}s"
    return f"in {begin.year}" if years == 1 else f"between {begin.year} and {end.year - 1}"


def _day(day: date) -> str:
    return f"{day.day} {_month(day)}"


def _month(day: date) -> str:
    return f"{calendar.month_name[day.month]} {day.year}"


def _between(first: str, last: str) -> str:
    """Two days or months, with a year that they share said once.

    >>> _between("3 May 2020", "9 June 2020"), _between("May 2019", "June 2020")
    ('between 3 May and 9 June 2020', 'between May 2019 and June 2020')
    """
    year_of = last.rpartition(" ")[2]
    return f"between {first.removesuffix(f' {year_of}')} and {last}"


def format_year_range(first: object, last: object) -> str:
    """Years from the first to the last, "" where these are no years.

    >>> format_year_range(1990, 1999.0), format_year_range(2011, 2012), format_year_range("a", "b")
    ('in the 1990s', 'between 2011 and 2012', '')
    """
    if not isinstance(first, int | float) or not isinstance(last, int | float):
        return ""
    return format_period(year_bounds(int(first))[0], year_bounds(int(last))[1])


def format_date_bound(op: str, day: str) -> str:
    """From or before a day as people say it, where the day begins a year or a month; "" elsewhere.

    >>> format_date_bound(">=", "2019-01-01"), format_date_bound("<", "2019-01-01"), format_date_bound(">=", "2015-04-01")
    ('after 2018', 'before 2019', 'after March 2015')
    """
    try:
        begin = date.fromisoformat(day)
    except ValueError:
        return ""
    if op not in (">=", "<") or begin.day != 1 or begin.year == 1:
        return ""
    at = begin if op == "<" else begin - timedelta(days=1)
    month = "" if begin.month == 1 else f"{calendar.month_name[at.month]} "
    return f"{'before' if op == '<' else 'after'} {month}{at.year}"


def _decade(parts: dict[str, str | None]) -> int:
    ten = int(parts["ten"]) if parts["ten"] else _TENS.index(str(parts["tens"]).casefold()) + 2
    return (2000 if ten <= _THIS_CENTURY else 1900) + 10 * ten


def is_ambiguous_date(text: str) -> bool:
    """Whether a date may begin with its day as well as with its month.

    >>> is_ambiguous_date("before 3/4/2020"), is_ambiguous_date("13/4/2020, 3/3/2020 or 3.4.2020")
    (True, False)
    """
    found = [m for m in _NUMERIC.finditer(text) if m["y2"] and m["sep"] != "."]
    return any(m["a"].lstrip("0") != m["b"].lstrip("0") and max(int(m["a"]), int(m["b"])) <= _LAST_MONTH for m in found)


def _numeric(match: re.Match[str]) -> dict[str, str | None]:
    """The parts of a date in digits: the day before the month, where that can be."""
    if match["y"]:
        return match.groupdict()
    first, second = match["a"], match["b"]
    month_first = int(second) > _LAST_MONTH and match["sep"] != "."
    return {"y": match["y2"], "m": first if month_first else second, "d": second if month_first else first}


def _part(match: re.Match[str]) -> tuple[str, str] | None:
    """The first day of a quarter or half of a year, and the day after it."""
    part = match["part"] or match["q"] or match["q3"]
    months = _PARTS_OF_YEAR[part.casefold()]
    place = (match["place"] or match["n"] or match["n3"]).casefold()
    last = 12 // months
    number = last if place == "last" else _PLACES.index(place) + 1 if place in _PLACES else int(place[0])
    began = int(match["y"] or match["y2"] or match["y3"])
    end = number * months
    if number > last or not began:
        return None
    after = f"{began + end // 12:04}-{end % 12 + 1:02}-01"
    return f"{began:04}-{end - months + 1:02}-01", after


def _span(parts: dict[str, str | None]) -> tuple[str, str] | None:
    if "m" not in parts:
        decade = int(str(parts["y"])) * 10 if "y" in parts else _decade(parts)
        return year_bounds(decade)[0], year_bounds(decade + 9)[1]
    said = str(parts["m"])
    month = int(said) if said.isdigit() else _MONTHS[said.casefold()]
    if "y" not in parts:
        day = int(parts["d"] or 0)
        return (f"--{month:02}-{day:02}" if day else f"--{month:02}", "") if day <= _LONGEST_MONTH else None
    try:
        first = date(int(str(parts["y"])), month, int(parts.get("d") or 1))
    except ValueError:
        return None
    days = 1 if parts.get("d") else calendar.monthrange(first.year, first.month)[1]
    return first.isoformat(), (first + timedelta(days=days)).isoformat()
