"""What a text of a cell may be: a number with a decimal point or comma, a date in an order, a truth value, or none.

A column decides by all of its texts (`columns`); then a text is a literal.
"""

import re
from datetime import date
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Literal

import yaml

from ingestion.induce.partial_dates import month_number
from ingestion.induce.quantities import CURRENCY_SIGNS, UNIT_SYMBOLS, is_common_unit
from nacre.language.values import read_day_digits

Order = Literal["ymd", "dmy", "mdy"]


class CellKind:
    """What a text may be, as bits: enumerations take several times as long. A number without a separator can be read
    with both; a date with its month in words and one that begins with its year have no other order."""

    NONE = 0
    POINT = 1
    COMMA = 2
    WHOLE_POINT = 4
    WHOLE_COMMA = 8
    UNIT = 16
    ZERO = 32
    YMD = 64
    DMY = 128
    MDY = 256
    DATED_TIME = 512
    CLOCK = 1024
    BOOLEAN = 2048
    MISSING = 4096
    YEAR = 8192
    DAY_DIGITS = 16384


_PLAIN = CellKind.POINT | CellKind.COMMA | CellKind.WHOLE_POINT | CellKind.WHOLE_COMMA

DATE = CellKind.YMD | CellKind.DMY | CellKind.MDY

NUMBER = CellKind.POINT | CellKind.COMMA

# digits of a longer one are those of a key
MAX_DIGITS, MAX_TEXT = 17, 40

_SPACES = " '’\u00a0\u202f"

# signs and codes before a number
_MONEY = "|".join(["[€$£¥]", *CURRENCY_SIGNS])

_FORM = re.compile(
    rf"(?P<sign>[-+−(])?\s?(?P<before>{_MONEY})?\s?(?P<inner>[-−])?(?P<digits>[0.,][0.,{_SPACES}]*)"
    r"(?P<power>[eE][-+]?0{1,3})?[\s\u00a0\u202f]?(?P<after>[^\W\d_][^\s\d]{0,9}|[%‰€$£¥°][^\s\d]{0,5})?"
    r"(?P<minus>-)?(?P<close>\))?"
)

_POINT = re.compile(rf"(?:0{{1,3}}(?:(?P<s>[,{_SPACES}])000)(?:(?P=s)000)*|0+)(?P<rest>\.0+)?|(?P<only>\.0+)")

_COMMA = re.compile(rf"(?:0{{1,3}}(?:(?P<s>[.{_SPACES}])000)(?:(?P=s)000)*|0+)(?P<rest>,0+)?|(?P<only>,0+)")

_DIGITS = str.maketrans("123456789", "0" * 9)

# most numbers, which are written as XML Schema writes them
is_whole, is_decimal = (
    re.compile(rf"(?=.{{1,{MAX_DIGITS}}}\Z)-?[0-9]+{rest}").fullmatch for rest in ("", r"(?:\.[0-9]+)?")
)

_LEADING_ZERO = re.compile(r"[-+−]?0[\d ]")

_TIME = (
    r"(?:T|,?\s+)(?P<hour>\d{1,2}):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d)(?P<part>\.\d{1,9})?)?"
    r"(?:\s?(?P<half>[aApP])\.?[mM]\.?)?\s?(?P<zone>Z|[+-]\d\d:?\d\d)?"
)

_NUMERIC_DATE = re.compile(rf"(\d{{1,4}})(?P<s>[./-])\s?(\d{{1,2}})(?P=s)\s?(\d{{1,4}})(?:{_TIME})?")

_WORDED_DATE = re.compile(
    r"(?:(?P<day>\d{1,2})(?:\.|st|nd|rd|th|er)?[\s-]*(?P<month>[^\W\d_]{3,12})\.?"
    rf"|(?P<month2>[^\W\d_]{{3,12}})\.?\s+(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?),?[\s-]+(?P<year>\d{{4}}|\d{{2}})(?:{_TIME})?"
)

_CLOCK = re.compile(r"(\d{1,2}):([0-5]\d)(?::([0-5]\d))?")

# two digits of a year up to this one are of this century (POSIX)
LAST_YEAR = 68

FIRST_YEAR, END_OF_YEARS = 1000, 3000


@cache
def words(name: str) -> dict[str, int]:
    """A list of words, each with its rank."""
    return {word: rank for rank, word in enumerate(_words()[name].split())}


@cache
def _words() -> dict[str, Any]:
    # words that YAML takes for truth values are keys here
    text = files(__package__).joinpath("words.yaml").read_text(encoding="utf-8")
    read: dict[str, Any] = yaml.load(text, yaml.BaseLoader)
    return read


def classify(text: str) -> int:
    """What a text without blanks around it may be.

    >>> classify("1.234,50 €") == CellKind.COMMA | CellKind.UNIT, classify("0123") == CellKind.ZERO
    (True, True)
    >>> classify("03/04/2025") == CellKind.DMY | CellKind.MDY, classify("03.04.2025") == CellKind.DMY
    (True, True)
    """
    if text.isdecimal() and text.isascii() and text[0] != "0" and len(text) <= MAX_DIGITS:
        if len(text) == 8 and read_day_digits(text):
            return _PLAIN | CellKind.DAY_DIGITS
        return _PLAIN | CellKind.YEAR if len(text) == 4 and FIRST_YEAR <= int(text) < END_OF_YEARS else _PLAIN
    shape = text.translate(_DIGITS)
    if shape == text and "0" not in text:
        word = text.casefold() if len(text) <= MAX_TEXT else ""
        if word in words("missing"):
            return CellKind.MISSING
        return CellKind.BOOLEAN if word in words("true") or word in words("false") else CellKind.NONE
    if len(text) > MAX_TEXT:
        return CellKind.NONE
    if _LEADING_ZERO.match(text) and shape.count("0") > 1:
        return (_of_shape(shape) and CellKind.ZERO) or _of_date(text)
    return _of_shape(shape) or _of_date(text)


def is_value(cell: str) -> bool:
    """Whether a cell has a number or a date, as headings rarely do."""
    return bool(classify(cell.strip()) & (NUMBER | DATE | CellKind.CLOCK))


def is_year(cell: str) -> bool:
    """Whether a cell has a year, as headings may."""
    return bool(classify(cell.strip()) & CellKind.YEAR)


def number_of(text: str, decimal_comma: bool) -> tuple[str, str] | None:
    """The number in a text as XML Schema writes it, and its unit; None if it has none.

    >>> number_of("-1.234,50 €", True), number_of("(250.00)", False), number_of("12,5 %", True)
    (('-1234.50', '€'), ('-250.00', ''), ('12.5', '%'))
    """
    if (is_whole if decimal_comma else is_decimal)(text):
        return text, ""
    shape = text.translate(_DIGITS)
    kind = _of_shape(shape)
    if not kind & (CellKind.COMMA if decimal_comma else CellKind.POINT):
        return None
    found = _FORM.fullmatch(shape)
    assert found is not None
    start, end = found.span("digits")
    digits = text[start:end]
    for separator in (*_SPACES, "." if decimal_comma else ","):
        digits = digits.replace(separator, "")
    digits = digits.replace(",", ".")
    digits = f"0{digits}" if digits.startswith(".") else digits
    is_negative = found["sign"] in ("-", "−", "(") or found["inner"] or found["minus"]
    power = text[slice(*found.span("power"))] if found["power"] else ""
    unit = found["before"] or found["after"] or ""
    return f"{'-' if is_negative else ''}{digits}{power}", unit


def date_of(text: str, order: Order) -> str | None:
    """A date or a date with a time as XML Schema writes it; None if the text has none in this order.

    >>> date_of("3.4.25", "dmy"), date_of("March 5, 2024 2:30 pm", "dmy"), date_of("13/04/2025", "mdy")
    ('2025-04-03', '2024-03-05T14:30:00', None)
    >>> date_of("Fri Aug 3 2018", "dmy"), date_of("So., 5. Mai 2019", "dmy"), date_of("Mar 3 2018", "dmy")
    ('2018-08-03', '2019-05-05', '2018-03-03')
    """
    found = _dated(text)
    if found is None:
        return None
    if found.re is _NUMERIC_DATE:
        first, second, third = found[1], found[3], found[4]
        if len(first) == 4 and len(third) <= 2:
            day = _date(first, second, third)
        elif order == "ymd" or len(first) > 2 or len(third) not in (2, 4):
            return None
        else:
            day = _date(third, second, first) if order == "dmy" else _date(third, first, second)
    else:
        month = month_number(found["month"] or found["month2"])
        day = _date(found["year"], str(month), found["day"] or found["day2"]) if month else None
    if day is None or not found["hour"]:
        return day
    return _with_time(day, found)


def clock_of(text: str) -> str | None:
    """A time of day as XML Schema writes it."""
    found = _CLOCK.fullmatch(text)
    if found is None or int(found[1]) > 23:
        return None
    return f"{int(found[1]):02}:{found[2]}:{found[3] or '00'}"


@lru_cache(65_536)
def _of_shape(shape: str) -> int:
    """What a number is by its shape, in which all digits are zeros."""
    found = _FORM.fullmatch(shape)
    if found is None or (found["sign"] == "(") != bool(found["close"]):
        return CellKind.NONE
    unit = found["before"] or found["after"] or ""
    if unit and (
        (found["before"] and found["after"]) or not (unit in UNIT_SYMBOLS or is_common_unit(unit)) or found["power"]
    ):
        return CellKind.NONE
    digits = found["digits"].rstrip(_SPACES)
    if digits.count("0") > MAX_DIGITS:
        return CellKind.NONE
    kind = CellKind.UNIT if unit else CellKind.NONE
    for pattern, read, whole in (
        (_POINT, CellKind.POINT, CellKind.WHOLE_POINT),
        (_COMMA, CellKind.COMMA, CellKind.WHOLE_COMMA),
    ):
        number = pattern.fullmatch(digits)
        if number:
            kind |= read
            if not (number["rest"] or number["only"] or found["power"]):
                kind |= whole
    return kind if kind & NUMBER else CellKind.NONE


def _of_date(text: str) -> int:
    if not _may_be_date(text.translate(_DIGITS)):
        return CellKind.NONE
    if _CLOCK.fullmatch(text):
        return CellKind.CLOCK if clock_of(text) else CellKind.NONE
    found = _dated(text)
    if found is None:
        return CellKind.NONE
    kind = CellKind.DATED_TIME if found["hour"] else CellKind.NONE
    if found.re is _WORDED_DATE or len(found[1]) == 4:
        return kind | CellKind.YMD if date_of(text, "ymd") else CellKind.NONE
    days = CellKind.DMY if date_of(text, "dmy") else CellKind.NONE
    if found["s"] != "." and date_of(text, "mdy"):
        days |= CellKind.MDY
    return kind | days if days else CellKind.NONE


@lru_cache(65_536)
def _may_be_date(shape: str) -> bool:
    """Whether some text of a shape is a date or a time; the digits decide only which one."""
    return bool(_CLOCK.fullmatch(shape) or _dated(shape))


def _dated(text: str) -> re.Match[str] | None:
    """The parts of a date, before which its day of the week may stand."""
    found = _NUMERIC_DATE.fullmatch(text) or _WORDED_DATE.fullmatch(text)
    day, _, rest = text.partition(" ")
    if found is None and rest and day.rstrip(".,").casefold() in words("weekdays"):
        return _dated(rest.lstrip())
    return found


def _date(year: str, month: str, day: str) -> str | None:
    number = int(year)
    if len(year) == 2:
        number += 2000 if number <= LAST_YEAR else 1900
    try:
        return date(number, int(month), int(day)).isoformat()
    except ValueError:
        return None


def _with_time(day: str, found: re.Match[str]) -> str | None:
    hour = int(found["hour"])
    if half := found["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half in "pP" else 0)
    zone = found["zone"] or ""
    zone = f"{zone[:3]}:{zone[3:]}" if len(zone) == 5 else zone
    if hour > 23:
        return None
    return f"{day}T{hour:02}:{found['minute']}:{found['second'] or '00'}{found['part'] or ''}{zone}"
