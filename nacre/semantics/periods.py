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
_DAY_FIRST = re.compile(
    rf"\b(?:(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?)?(?P<m>{_MONTH})\.?,?\s+(?P<y>\d{{4}})\b", re.IGNORECASE
)
_MONTH_FIRST = re.compile(
    rf"\b(?P<m>{_MONTH})\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y>\d{{4}})\b", re.IGNORECASE
)
_DECADE = re.compile(r"\b(?P<y>\d{3})0s\b")


class Period(NamedTuple):
    """A stretch of time: `first` day and the day `after` it, as ISO dates, and its place in characters."""

    first: str
    after: str
    start: int
    end: int


def periods(text: str) -> list[Period]:
    """The dates of a text that say more than a bare year.

    >>> periods("opened before March 2015")
    [Period(first='2015-03-01', after='2015-04-01', start=14, end=24)]
    """
    found: list[Period] = []
    for pattern in (_ISO, _MONTH_FIRST, _DAY_FIRST, _DECADE):
        for match in pattern.finditer(text):
            if any(p.start < match.end() and match.start() < p.end for p in found):
                continue
            span = _span(match.groupdict())
            if span is not None:
                found.append(Period(*span, match.start(), match.end()))
    return sorted(found, key=lambda p: p.start)


def year(value: int) -> tuple[str, str]:
    """The first day of a year and of the next.

    >>> year(2015)
    ('2015-01-01', '2016-01-01')
    """
    return f"{value:04}-01-01", f"{value + 1:04}-01-01"


def said_span(first: str, after: str) -> str:
    """A stretch of days as people say when it was, "" where it is no day, month, decade or run of years.

    >>> said_span("2019-01-01", "2020-01-01"), said_span("2015-03-01", "2015-04-01")
    ('in 2019', 'in March 2015')
    >>> said_span("2011-01-01", "2018-01-01"), said_span("1990-01-01", "2000-01-01")
    ('between 2011 and 2017', 'in the 1990s')
    """
    try:
        begin, end = date.fromisoformat(first), date.fromisoformat(after)
    except ValueError:
        return ""
    if end - begin == timedelta(days=1):
        return f"on {begin.day} {calendar.month_name[begin.month]} {begin.year}"
    if begin.day != 1 or end.day != 1 or begin >= end:
        return ""
    if (end.year - begin.year) * 12 + end.month - begin.month == 1:
        return f"in {calendar.month_name[begin.month]} {begin.year}"
    years = end.year - begin.year
    if begin.month != 1 or end.month != 1:
        return ""
    if years == 10 and begin.year % 10 == 0:
        return f"in the {begin.year}s"
    return f"in {begin.year}" if years == 1 else f"between {begin.year} and {end.year - 1}"


def said_bound(op: str, day: str) -> str:
    """From or before a day as people say it, where the day begins a year or a month; "" elsewhere.

    >>> said_bound(">=", "2019-01-01"), said_bound("<", "2019-01-01"), said_bound(">=", "2015-04-01")
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


def _span(parts: dict[str, str | None]) -> tuple[str, str] | None:
    if "m" not in parts:
        decade = int(str(parts["y"])) * 10
        return year(decade)[0], year(decade + 9)[1]
    said = str(parts["m"])
    month = int(said) if said.isdigit() else _MONTHS[said.casefold()]
    try:
        first = date(int(str(parts["y"])), month, int(parts.get("d") or 1))
    except ValueError:
        return None
    days = 1 if parts.get("d") else calendar.monthrange(first.year, first.month)[1]
    return first.isoformat(), (first + timedelta(days=days)).isoformat()
