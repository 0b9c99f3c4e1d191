"""Numbers and dates of a German or French text as English writes them: text -> text."""

import calendar
import re
from collections.abc import Callable
from functools import cache

from nacre.language.base import load_language_texts
from nacre.language.tokens import fold
from nacre.language.translation.dictionary import glosses

_GROUPED_NUMBER = re.compile(r"(?<![\d.,])\d{1,3}(?:[. \u00a0\u202f]\d{3})+(?![\d.])")
_DECIMAL_COMMA = re.compile(r"(?<![\d.,])(\d+),(\d+)(?![\d,])")
_NUMERIC_DATE = re.compile(r"(?<!\d)(\d{1,2})[./](\d{1,2})[./](\d{4})(?!\d)")


def normalize_numbers(text: str, code: str) -> str:
    """Numbers and dates as English writes them.

    >>> normalize_numbers("1.234,5 am 3. Mai 1990", "de"), normalize_numbers("12 500 le 03/05/1990", "fr")
    ('1234.5 am 3 May 1990', '12500 le 1990-05-03')
    """
    text = _NUMERIC_DATE.sub(lambda m: f"{m[3]}-{int(m[2]):02}-{int(m[1]):02}" if int(m[2]) <= 12 else m[0], text)
    text = _GROUPED_NUMBER.sub(lambda m: re.sub(r"\D", "", m[0]), text)
    text = _DECIMAL_COMMA.sub(r"\1.\2", text)
    return _month_pattern(code).sub(_english_month(code), text)


@cache
def _month_pattern(code: str) -> re.Pattern[str]:
    names = "|".join(load_language_texts(f"{code}/glosses.yaml")["months"].split())
    return re.compile(rf"\b(?:(\d{{1,2}})(?:\.|er)?\s+)?({names})\b(?=\s+\d|\W*$)", re.IGNORECASE)


def _english_month(code: str) -> Callable[[re.Match[str]], str]:
    def replace(match: re.Match[str]) -> str:
        month = calendar.month_name[1 + glosses(code).months.index(fold(match[2]))]
        return f"{match[1]} {month}" if match[1] else month

    return replace
