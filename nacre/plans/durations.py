"""Compute the time between two dates: two tables with a date -> a table of years, days or hours with both dates."""

import re
from datetime import date, datetime

from nacre.language.base import language
from nacre.language.tokens import split_name
from nacre.records.evidence import Cell, Table
from nacre.records.plan import Attribute, Compute
from nacre.records.schema import Schema

_DATE = re.compile(r"(-?\d{4})(?:-(\d\d)-(\d\d))?(?:[T ](\d\d):(\d\d).*)?")
_COLUMNS = ("result", "to", "from")
AGE_COLUMNS = ("result", "today", "from")
# from so many years on a time is given in years, below so many days in hours
MIN_YEARS, MIN_DAYS = 3, 1
UNIT_SECONDS = {"minutes": 60, "hours": 3600, "days": 86400}


def elapsed_time(body: Compute, left: Table, right: Table, today: date) -> Table:
    """One row: the time in the unit that is asked for, the later and the earlier date.

    No row if a date is missing, has several values, cannot be read, or lies after the other. Less than a day is given
    in hours.

    >>> born, died = Table(("d",), (("1932-01-30",),)), Table(("d",), (("2013-01-29",),))
    >>> from nacre.records.plan import Select
    >>> elapsed_time(Compute("years", Select((), ()), Select((), ())), died, born, date(2020, 1, 1)).rows
    ((80, '2013-01-29', '1932-01-30'),)
    >>> began, done = (Table(("d",), ((f"2024-05-01T{time}:00",),)) for time in ("10:00", "12:30"))
    >>> timed = elapsed_time(Compute("days", Select((), ()), Select((), ())), done, began, date(2025, 1, 1))
    >>> timed.rows[0][0], timed.units[0]
    (2.5, 'hours')
    """
    now = body.op == "age" and (body.left == body.right or not left.rows)
    until: Cell = today.isoformat() if now else _only_value(left)
    since = _only_value(right)
    first, last = _parse_date(since), _parse_date(until)
    if first is None or last is None or last[0] < first[0] or (first[1] and last[1] and last[1] < first[1]):
        return Table(_COLUMNS, ())
    keys = (
        (tuple(dict.fromkeys(key for table in (left, right) for key in table.keys[0])),)
        if left.keys and right.keys
        else ((),)
    )
    timed = _time_of_day_span(body, since, until)
    if timed is not None:
        return Table(_COLUMNS, ((timed[0], until, since),), keys, (timed[1], "", ""))
    if body.op in ("hours", "minutes"):
        return Table(_COLUMNS, ())
    years = _whole_years(first, last)
    if body.op == "days" and years == 0 and (first[1] is None or last[1] is None):
        return Table(_COLUMNS, ())
    if body.op != "days" or first[1] is None or last[1] is None or years >= MIN_YEARS:
        columns = AGE_COLUMNS if now else _COLUMNS
        return Table(columns, ((years, until, since),), keys, ("years", "", ""))
    # the days of an event without hours are all its days
    whole = len(str(since)) == len(str(until)) == len("2000-01-01")
    days = (last[1] - first[1]).days + whole
    return Table(_COLUMNS, ((days, until, since),), keys, ("days", "", ""))


def is_life_span(body: Compute, schema: Schema) -> bool:
    """Whether the years begin with a birth or foundation, and so are an age."""
    began = body.right.answers[0]
    if not isinstance(began, Attribute):
        return True
    words = split_name(schema.predicate_of[began.predicate].label).casefold().split()
    return not language().words["life_start"].isdisjoint(words)


def _time_of_day_span(body: Compute, since: Cell, until: Cell) -> tuple[int | float, str] | None:
    """The time and its unit if both ends have a time of day and hours or minutes matter; else None."""
    ends = [_moment(each) for each in (since, until)]
    if body.op not in UNIT_SECONDS or ends[0] is None or ends[1] is None or ends[1] < ends[0]:
        return None
    seconds = (ends[1] - ends[0]).total_seconds()
    unit = "hours" if body.op == "days" and seconds < MIN_DAYS * UNIT_SECONDS["days"] else body.op
    if unit == "days":
        return None
    taken = round(seconds / UNIT_SECONDS[unit], 2)
    return int(taken) if taken.is_integer() else taken, unit


def _moment(cell: Cell) -> datetime | None:
    """A date with a time of day, without its zone; None for other dates."""
    found = _DATE.fullmatch(str(cell))
    if found is None or found[4] is None:
        return None
    try:
        return datetime.fromisoformat(found[0]).replace(tzinfo=None)
    except ValueError:
        return None


def _only_value(table: Table) -> Cell:
    """The only value of a table; None if it has several."""
    values = {row[0] for row in table.rows}
    return values.pop() if len(values) == 1 else None


def _parse_date(cell: Cell) -> tuple[int, date | None] | None:
    """The year, and the day if it is stated; None if the cell is no date."""
    found = _DATE.fullmatch(str(cell).removesuffix(".0"))
    if found is None:
        return None
    year, month, day = found[1], found[2], found[3]
    try:
        return int(year), date(int(year), int(month), int(day)) if month else None
    except ValueError:
        return None


def _whole_years(first: tuple[int, date | None], last: tuple[int, date | None]) -> int:
    """Whole years; the difference if only years are stated."""
    if first[1] is None or last[1] is None:
        return last[0] - first[0]
    return last[0] - first[0] - ((last[1].month, last[1].day) < (first[1].month, first[1].day))
