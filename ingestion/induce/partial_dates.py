"""Read dates of any precision, also uncertain ones: a text -> its first and last possible day.
EDTF of the levels 0 and 1, XML Schema, and words of `dates.yaml`: "ca. 1890", "late 1870s", "2. Jh. v. Chr."."""

import calendar
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from nacre.language.data import load_language_texts
from nacre.language.values import format_year, key_year, year_key


class PartialDate(NamedTuple):
    """A date of any precision in words, and its first and last possible day as keys; None if it is no date."""

    words: str
    first: str | None
    last: str | None


ZONE = r"(?:Z|[+-]\d\d:\d\d)?"

# a date of EDTF, levels 0 and 1, or of XML Schema; a season is a month from 21 to 24
_PARTIAL = re.compile(
    rf"(?:Y(?P<long>-?\d{{5,9}})|(?P<sign>-?)(?P<y>\d{{4}}|\d\d\dX|\d\dXX|\dXXX)"
    rf"(?:-(?P<m>0[1-9]|1[0-2]|2[1-4]|XX)(?:-(?P<d>\d\d|XX)(?P<time>T\d\d:\d\d\S{{0,20}})?)?)?){ZONE}(?P<mark>[~?%]?)"
)

_SEASONS = ("spring", "summer", "autumn", "winter")

_MARKS = {"": "{}", "~": "about {}", "?": "{} (uncertain)", "%": "about {} (uncertain)"}

# the days before and after all others
OPEN = year_key(-(10**9)) + "-01-01", year_key(10**9) + "-12-31"

_DAY = re.compile(r"\d{4}-\d\d-\d\d")

# characters of a date in words; parts of a decade and of a century, which overlap, in tenths
MAX_WORDS = 60

_PARTS = {"early": (0, 4), "middle": (3, 6), "late": (5, 9), "first_half": (0, 4), "second_half": (5, 9)}

_ROMAN = {"i": 1, "v": 5, "x": 10}


def parse_partial_date(text: str) -> PartialDate | None:
    """The period that a date of any precision stands for, also of an interval; None for other texts. The year 0 is 1 BC
    (EDTF, XML Schema 1.1), a season is any time of its year, and "ca. 1890" is any year from 1885 to 1895.

    >>> parse_partial_date("192X")
    PartialDate(words='1920s', first='1920-01-01', last='1929-12-31')
    >>> [parse_partial_date(text).words for text in ("1929~", "../1919", "-0043-03")]
    ['about 1929', '1919 or earlier', 'March 44 BC']
    >>> parse_partial_date("before 1903").last, parse_partial_date("late 1870s")[1:], parse_partial_date("box 1903")
    ('1902-12-31', ('1875-01-01', '1879-12-31'), None)
    """
    text = text.strip()
    start, *rest = text.split("/")
    first = _parse_date(start)
    if len(rest) in (0, 2):
        return first if first and not rest else parse_worded_date(text)
    if len(rest) == 1 and first is not None and re.fullmatch(r"\d\d", rest[0]) and re.fullmatch(r"\d{4}", start):
        return parse_worded_date(f"{start}-{rest[0]}")
    last = _parse_date(rest[-1])
    if len(rest) > 2 or (first is None and start not in ("", "..")) or (last is None and rest[-1] not in ("", "..")):
        return None
    if first is not None and last is not None:
        ordered = str(first.first) <= str(last.last)
        return PartialDate(f"{first.words} to {last.words}", first.first, last.last) if ordered else None
    if first is not None:
        return PartialDate(f"{first.words} or later", first.first, OPEN[1])
    return PartialDate(f"{last.words} or earlier", OPEN[0], last.last) if last is not None else None


def is_unknown_date(text: str) -> bool:
    """Whether a text says that a date is not known: "undated", "not recorded", "unknown, before the war"."""
    starts = _plain(text), re.split("[,;(:]", _plain(text))[0].strip()
    return len(text) <= MAX_WORDS and not set(starts).isdisjoint(_words()["missing"])


def is_surely_date(text: str) -> bool:
    """Whether a text is a day, or a date with words that no amount has: "about 1200" may be one.

    >>> is_surely_date("before 1903"), is_surely_date("19th century"), is_surely_date("about 1200")
    (True, True, False)
    """
    if _DAY.fullmatch(text.strip()):
        return True
    plain = _plain(text)
    return bool(_forms()["sure"].search(plain)) and parse_worded_date(text) is not None


def parse_worded_date(text: str) -> PartialDate | None:
    """The period of a date in words; its words are the text. None for other texts and for a year alone.

    >>> parse_worded_date("before 500 BC")[1:] == (OPEN[0], "-9100-12-31"), parse_worded_date("1890")
    (True, None)
    """
    if len(text) > MAX_WORDS or not re.search(r"\d|\b[IVX]+", text):
        return None
    plain = _plain(text)
    # a year alone is a number, unless it has brackets
    if plain.isdecimal() and plain == text.strip():
        return None
    found = _qualified(plain)
    return PartialDate(text.strip(), *found) if found is not None and found[0] <= found[1] else None


_Days = tuple[str, str]


def _parse_date(text: str) -> PartialDate | None:
    """The period of a date of EDTF that is no interval."""
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
    words = format_year(begin)
    if begin != end:
        words = f"{begin}s" if begin >= 0 and end - begin == 9 else f"{abs(begin) + (begin < 0)} to {format_year(end)}"
    elif is_season:
        words = f"{_SEASONS[month - 21]} {words}"
    elif month and (not day or found["sign"] or found["mark"]):
        words = f"{day or ''} {calendar.month_name[month]} {words}".strip()
    elif day:
        words = text
    days = _days(begin, end, 0 if is_season else month, day)
    if found["mark"] in ("~", "%") and begin == end and not month:
        days = _approximate(begin)
    return PartialDate(_MARKS[found["mark"]].format(words), *days)


def _days(begin: int, end: int, month: int = 0, day: int = 0) -> _Days:
    last_month = month or 12
    last_day = day or calendar.monthrange(end % 400 + 2000, last_month)[1]
    return (f"{year_key(begin)}-{month or 1:02}-{day or 1:02}", f"{year_key(end)}-{last_month:02}-{last_day:02}")


def _approximate(year: int) -> _Days:
    """A year that is not exact. The digits of years before Christ are those of 1 BC and so on."""
    shown = year if year > 0 else 1 - year
    margin = 5 if shown % 10 == 0 else 2 if shown % 5 == 0 else 0
    return _days(year - margin, year + margin)


def _words() -> Mapping[str, Any]:
    return load_language_texts("resources/dates.yaml")


def month_number(word: str) -> int:
    """The number of a month by its first letters, in several languages; 0 for other words."""
    low = word.casefold()
    return next((_months()[low[:size]] for size in (4, 3) if low[:size] in _months()), 0)


@cache
def _months() -> dict[str, int]:
    return {start: int(number) for number, starts in _words()["months"].items() for start in starts.split()}


def _plain(text: str) -> str:
    return " ".join(text.casefold().strip(" [](){}").split())


def _any(*names: str) -> str:
    """An expression for any of the words of some entries, the longest first."""
    found = [word for name in names for word in _words()[name]]
    return "|".join(re.escape(word) for word in sorted(found, key=len, reverse=True))


@cache
def _forms() -> dict[str, re.Pattern[str]]:
    era = rf"(?:\s?(?:(?P<bc>{_any('bc')})|(?P<ad>{_any('ad')}))|(?P<no>))"
    seasons = "|".join(word for words in _words()["seasons"].values() for word in words)
    forms = {
        "about": rf"(?:{_any('about')})(?:(?<=\W)|\b|(?=\d))\s*(?P<rest>.+)",
        **{
            name: rf"(?:{_any(name)})(?:(?<=-)|\b(?!\.)|(?<=\.))\s*(?P<rest>.+)"
            for name in ("before", "until", "after", "since", *_PARTS)
        },
        "or_earlier": rf"(?P<rest>.+?)\s+(?:{_any('or_earlier')})",
        "or_later": rf"(?P<rest>.+?)\s+(?:{_any('or_later')})",
        "decade": rf"(?:(?:the\s+)?(?P<y>\d{{2,3}}0)(?:{_any('decade')})"
        rf"|(?:{_any('decade_before')})\s+(?P<y2>\d{{3}}0))",
        "century": rf"(?:the\s+)?(?:(?P<n>\d{{1,2}}|[ivx]+)(?:\.|st|nd|rd|th|e|er|ème)?[\s-]*(?:{_any('century')})"
        rf"|(?:{_any('century')})\s+(?P<n2>[ivx]+|\d{{1,2}})){era}",
        "season": rf"(?:{seasons})\s+(?P<y>\d{{4}})",
        "month": r"(?:(?P<d>\d{1,2})(?:\.|st|nd|rd|th)?[-/\s]*)?(?P<m>[^\W\d_]{3,12}|[ivx]{1,4})"
        r"(?:\.?,?\s+|[-./])(?P<y>\d{4})",
        "month_first": r"(?P<m>[^\W\d_]{3,12})\.?\s+(?P<d>\d{1,2})(?:st|nd|rd|th)?,?\s+(?P<y>\d{4})",
        "numbers": r"(?:(?P<d>\d{1,2})\.\s?)?(?P<m>\d{1,2})[./]\s?(?P<y>\d{4})",
        "day": r"(?P<y>\d{4})-(?P<m>\d\d)(?:-(?P<d>\d\d))?",
        "sure": rf"(?<!\w)(?:{_any('before', 'after')})(?!\w)|\d0(?:{_any('decade')})\b|(?:{_any('decade_before')}) \d"
        rf"|(?:{_any('century')})(?!\w)|\b(?:{seasons})\b|\d\s?(?:{_any('bc', 'ad')})(?!\w)"
        rf"|\b(?:{'|'.join(_months())})[^\W\d_]*[-.]?\s*\d|\d[-./\s]+[ivx]+[-./\s]+\d{{4}}",
        "year": rf"(?:(?P<before>{_any('ad')})\s?)?(?P<y>\d{{1,4}}){era}",
    }
    forms["range"] = rf"(?:(?:{_any('between')}) )?(?P<rest>.+?)\s*(?:-|–|—|\b(?:{_any('to')})\b)\s*(?P<end>.+)"
    return {name: re.compile(form) for name, form in forms.items()}


def _qualified(text: str) -> _Days | None:
    """The days of a period with words around it."""
    forms = _forms()
    text = text.rstrip("(?), ")
    if found := forms["about"].fullmatch(text):
        year = forms["year"].fullmatch(found["rest"])
        if year and (days := _base(found["rest"])):
            return _approximate(key_year(days[0]))
        days = _qualified(found["rest"])
        begin, end = map(key_year, days) if days else (0, 0)
        if days and begin < end and OPEN[0] != days[0] and OPEN[1] != days[1]:
            return _days(begin - 5, end + 5)
        return days
    for name in ("before", "until", "after", "since", "or_earlier", "or_later"):
        if (found := forms[name].fullmatch(text)) and (days := _qualified(found["rest"])):
            return _open(name, days)
    if days := _base(text):
        return days
    for name, (first, last) in _PARTS.items():
        if (found := forms[name].fullmatch(text)) and (days := _base(found["rest"])):
            begin, end = (key_year(day) for day in days)
            tenth = (end - begin + 1) // 10
            return _days(begin + first * tenth, begin + (last + 1) * tenth - 1) if tenth else days
    return _range(text)


def _open(name: str, days: _Days) -> _Days:
    """The period before or after another one, or up to or from it."""
    first, last = days
    if name in ("until", "or_earlier"):
        return OPEN[0], last
    if name in ("since", "or_later"):
        return first, OPEN[1]
    if name == "before":
        return OPEN[0], _days(key_year(first) - 1, key_year(first) - 1)[1] if first.endswith("-01-01") else first
    return _days(key_year(last) + 1, key_year(last) + 1)[0] if last.endswith("-12-31") else last, OPEN[1]


def _range(text: str) -> _Days | None:
    found = _forms()["range"].fullmatch(text)
    if found is None:
        return None
    start, end = found["rest"], found["end"]
    if re.fullmatch(r"\d{2}", end) and re.fullmatch(r"\d{4}", start):
        end = start[:2] + end
    last = _qualified(end)
    era = re.search(rf"\s?(?:{_any('bc')})$", end)
    # "500 to 450 BC"
    first = _qualified(start + era[0] if era and re.fullmatch(r"\d{1,4}", start) else start)
    return (first[0], last[1]) if first and last and first[0] <= last[1] else None


def _base(text: str) -> _Days | None:
    """The days of a period that is a century, decade, year, season, month or day."""
    for name in ("decade", "century", "season", "month", "month_first", "numbers", "day", "year"):
        found = _forms()[name].fullmatch(text)
        if found is None:
            continue
        parts = found.groupdict()
        if name == "century":
            return _century(parts["n"] or parts["n2"], bool(parts["bc"]))
        year = int(parts["y"] or parts.get("y2") or 0)
        if name == "decade":
            return _days(year, year + 9)
        if name == "season":
            return _days(year, year)
        if name == "year":
            if parts["bc"]:
                return _days(1 - year, 1 - year) if year else None
            # a short number is a year only with its era
            return _days(year, year) if year and (parts["ad"] or parts["before"] or year >= 100) else None
        month = int(parts["m"]) if parts["m"].isdecimal() else month_number(parts["m"])
        if not month and set(parts["m"]) <= set(_ROMAN):
            month = _roman(parts["m"])
        day = int(parts["d"] or 0)
        if 1 <= month <= 12 and year and day <= calendar.monthrange(year % 400 + 2000, month)[1]:
            return _days(year, year, month, day)
    return None


def _century(number: str, is_before_christ: bool) -> _Days | None:
    """The years of a century: the 19th is 1800 to 1899, as people count, and the 2nd BC is 200 BC to 101 BC."""
    n = int(number) if number.isdecimal() else _roman(number)
    if not 1 <= n <= 21:
        return None
    return _days(1 - 100 * n, -100 * (n - 1)) if is_before_christ else _days(max(100 * (n - 1), 1), 100 * n - 1)


def _roman(text: str) -> int:
    digits = [_ROMAN[each] for each in text]
    return sum(-n if n < max(digits[i:]) else n for i, n in enumerate(digits))
