"""Stretches of a question that are names as they are written: text + tokens -> token ranges (quotations, codes)."""

import re
from collections.abc import Sequence

from nacre.language.dates import find_periods
from nacre.language.tokens import Token

# a day with a time
MOMENT = re.compile(r"\b\d{4}-\d{2}-\d{2}[ T]\d{1,2}:\d{2}(?::\d{2})?\b")
# a telephone number, an IP address, a version: digits in at least three parts
_CODE = re.compile(r"(?<![\w.,:+\-])\+?\d+(?:[.\-]\d+){2,}(?![\w\-]|[.:,]\d)")
_QUOTED = re.compile(
    r"\"([^\"]{1,80})\"|“([^”]{1,80})”|(?<![\w])'([^']{1,80})'(?![\w])|``([^`']{1,80})''|`([^`']{1,80})[`']"
)


def find_quotations(text: str, tokens: Sequence[Token]) -> tuple[tuple[int, int], ...]:
    """Return the token ranges in quotation marks, and those of codes of digits that are no dates."""
    found = []
    for match in _QUOTED.finditer(text):
        inside = [i for i, token in enumerate(tokens) if match.start() < token.start and token.end < match.end() + 1]
        if inside:
            found.append((inside[0], inside[-1] + 1))
    codes = list(_CODE.finditer(text))
    dates = [(date.start, date.end) for date in find_periods(text, any_year=True)] if codes else []
    dates += [match.span() for match in MOMENT.finditer(text)]
    for match in codes:
        inside = [i for i, token in enumerate(tokens) if match.start() <= token.start and token.end <= match.end()]
        is_date = any(start < match.end() and match.start() < end for start, end in dates)
        if inside and not is_date and not any(start <= inside[0] < end for start, end in found):
            found.append((inside[0], inside[-1] + 1))
    return tuple(sorted(found))
