"""Format values for people: Cell -> text, with thousands separators, units, dates, and yes or no."""

import calendar
import re
from collections.abc import Iterable
from datetime import date
from urllib.parse import unquote

from nacre.language.base import word_list
from nacre.records.evidence import Cell

_DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[T ]00:00(?::00(?:\.0+)?)?(?:Z|[+-]\d\d:\d\d)?)?")
_MOMENT = re.compile(r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d:\d\d)(?::00|(:\d\d))?(?:\.\d+)?(Z|[+-]\d\d:\d\d)?")
_SLUG = re.compile(r"[^\W_A-Z]+(?:[-_][^\W_A-Z]+)+")
_WORD = re.compile(r"[^\W\d_A-Z]{3,}")
# "bmw", "m": abbreviations without a vowel
_ABBREVIATION = re.compile(r"[bcdfghj-np-tv-xz]{1,4}")
# significant digits of an average
_SIGNIFICANT_DIGITS = 3
# smaller numbers are written with an exponent
_MIN_DECIMAL = 1e-4


def format_value(value: Cell, unit: str = "", *, counted: bool = True, rounded: bool = False) -> str:
    """A value with thousands separators, at most two decimals and its unit; dates are written out.

    A number that is not `counted` (a year, a code) has no separators. A `rounded` number keeps three significant
    digits, or its whole part.

    >>> format_value(112233.333, "km"), format_value(723.75, "kg", rounded=True)
    ('112,233.33 km', '724 kg')
    >>> format_value(2010, counted=False), format_value("2010-05-01")
    ('2010', '1 May 2010')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        text = _decimal(value, rounded, counted)
    elif isinstance(value, int):
        text = f"{value:,}" if counted else str(value)
    else:
        return format_date(value) if isinstance(value, str) else "unknown"
    return append_unit(text, unit)


def drop_midnight(text: str) -> str:
    """A date whose time is midnight as the date alone: a day that was stored as a point in time.

    >>> drop_midnight("1992-01-01T00:00:00"), drop_midnight("1992-01-01T10:30:00")
    ('1992-01-01', '1992-01-01T10:30:00')
    """
    found = _DAY.fullmatch(text)
    return "-".join(found.groups()) if found else text


def append_unit(number: str, unit: str) -> str:
    """A number followed by its unit.

    >>> append_unit("5", "km"), append_unit("5", "%"), append_unit("5", "")
    ('5 km', '5%', '5')
    """
    return f"{number}%" if unit == "%" else f"{number} {unit}" if unit else number


def format_date(text: str) -> str:
    """An ISO date in words; any other text unchanged.

    >>> format_date("1966-07-30"), format_date("1966-07-30T15:00:00Z"), format_date("30.7.1966")
    ('30 July 1966', '30 July 1966 at 15:00 UTC', '30.7.1966')
    """
    day = _DAY.fullmatch(text)
    if day is not None:
        return _day(*map(int, day.groups())) or text
    moment = _MOMENT.fullmatch(text)
    if moment is not None:
        date_words = _day(*map(int, moment.groups()[:3]))
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
    if small or not _SLUG.fullmatch(name) or not any(unquote(re.split(r"[/#:]", iri)[-1]) == name for iri in iris):
        return name
    parts = re.split(r"[-_]", name)
    return " ".join(part.upper() if _ABBREVIATION.fullmatch(part) else part.capitalize() for part in parts)


def has_lowercase_name(names: Iterable[Cell]) -> bool:
    """Whether one of several names is a word in small letters, as names of kinds are.

    >>> has_lowercase_name(["diesel", "plug-in-hybrid"]), has_lowercase_name(["bmw-m3", "bmw-x5"])
    (True, False)
    """
    return any(isinstance(each, str) and _WORD.fullmatch(each) for each in names)


def is_plain_number(text: str, unit: str) -> bool:
    """Whether a text is a number alone, or a number with its unit.

    >>> is_plain_number("4935 mm", "mm"), is_plain_number("approx. 5", ""), is_plain_number("1,370 lb (635 kg)", "lb")
    (True, False, False)
    """
    number = re.sub(rf"(?:(?<!\s)\s++)?{re.escape(unit)}\s*+$", "", text, flags=re.IGNORECASE) if unit else text
    return number.replace(".", "").replace(",", "").strip().isdigit()


def is_number_name(name: str, iris: tuple[str, ...]) -> bool:
    """Whether a thing is named by a number only, or by the end of its IRI if that has a digit.

    >>> is_number_name("12", ()), is_number_name("row5", ("http://e.org/row5",)), is_number_name("X5", ())
    (True, True, False)
    """
    if name.isdigit():
        return True
    return any(map(str.isdigit, name)) and any(re.split(r"[/#:]", iri)[-1] == name for iri in iris)


def is_amount_label(label: str, datatype: str = "", role: str = "") -> bool:
    """Whether the numbers of a property are amounts, and not years, codes or other identifiers.

    >>> is_amount_label("price"), is_amount_label("release year"), is_amount_label("capacity", role="identifier")
    (True, False, False)
    >>> is_amount_label("house number"), is_amount_label("number of words")
    (False, True)
    """
    words = label.lower().removeprefix("number of ").split()
    return datatype != "year" and role != "identifier" and not set(words) & word_list("wording", "uncounted")


def _day(year: int, month: int, day: int) -> str:
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
        digits = max(0, _SIGNIFICANT_DIGITS - len(str(int(abs(value)))))
    text = f"{value:,.{digits}f}" if counted else f"{value:.{digits}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return text if float(text.replace(",", "")) else f"{value:.{_SIGNIFICANT_DIGITS}g}"
