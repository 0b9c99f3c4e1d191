"""Numbers and dates of a question with their comparisons: text + tokens -> Numbers, each stretch of text once."""

import re
from collections.abc import Iterator, Mapping, Sequence

from nacre.language.base import language
from nacre.language.dates import Period, find_periods
from nacre.language.quantities.quantity import find_quantities
from nacre.language.thesaurus import english_data
from nacre.language.tokens import Token
from nacre.understanding.question.bounds import Bound, find_bounds
from nacre.understanding.question.quotations import MOMENT
from nacre.understanding.question.types import Number

# how many numbers of each kind are read
MAX_NUMBERS = 40


def find_numbers(text: str, tokens: Sequence[Token]) -> tuple[Number, ...]:
    """Return the numbers and dates of a question in order: those with a comparison, dates, digits, then words."""
    moments = {match.start(): match for match in MOMENT.finditer(text)}
    found = list(_compared(text, tokens, moments))
    for others in (_dates(text, tokens), _quantities(text, tokens, moments), _words(tokens)):
        covered = {i for number in found for i in range(number.start, number.end)}
        for number in others:
            own = set(range(number.start, number.end))
            if not covered & own:
                found.append(number)
                covered |= own
    return tuple(sorted(_with_digits(number, tokens) for number in found))


def _compared(text: str, tokens: Sequence[Token], moments: Mapping[int, re.Match[str]]) -> Iterator[Number]:
    """Numbers with a comparison: "over 80", "before 2015-03-01 12:00"."""
    for bound in find_bounds(text, tokens)[:MAX_NUMBERS]:
        quantity = bound.quantity
        inside = _covering(tokens, quantity.start, quantity.end)
        if inside is None:
            continue
        moment, date_start = moments.get(quantity.start), bound.period.first if bound.period else ""
        if moment is not None:
            date_start = moment[0].replace("T", " ")
            inside = _covering(tokens, moment.start(), moment.end()) or inside
        elif _is_inside(quantity.start, moments):
            continue
        yield _with_last_year(_number(bound, min(bound.start, inside[0]), inside[1], date_start), bound.period)


def _number(bound: Bound, start: int, end: int, date_start: str) -> Number:
    return Number(
        start,
        end,
        bound.op,
        bound.quantity.value,
        bound.quantity.unit,
        concepts=bound.measure.concepts if bound.measure else (),
        date_start=date_start,
        date_end=bound.period.after if bound.period else "",
        until=bound.until,
        multiplier=bound.quantity.many,
    )


def _dates(text: str, tokens: Sequence[Token]) -> Iterator[Number]:
    for period in find_periods(text, any_year=True)[:MAX_NUMBERS]:
        inside = _covering(tokens, period.start, period.end)
        if inside:
            number = Number(*inside, "", period.value, date_start=period.first, date_end=period.after)
            yield _with_last_year(number, period)


def _quantities(text: str, tokens: Sequence[Token], moments: Mapping[int, re.Match[str]]) -> Iterator[Number]:
    starts = {token.start for token in tokens}
    for quantity in find_quantities(text)[:MAX_NUMBERS]:
        inside = _covering(tokens, quantity.start, quantity.end)
        if inside and quantity.start in starts and not _is_inside(quantity.start, moments):
            yield Number(*inside, "", quantity.value, quantity.unit, multiplier=quantity.many)


def _words(tokens: Sequence[Token]) -> Iterator[Number]:
    values = english_data()["numbers"]
    for i, token in enumerate(tokens):
        if token.norm in values and not is_stand_in(tokens, i):
            yield Number(i, i + 1, "", float(values[token.norm]))


def is_stand_in(tokens: Sequence[Token], at: int) -> bool:
    """Whether a number word stands for a thing: "the year each one was founded"."""
    known = language().words
    return 0 < at < len(tokens) and tokens[at].norm in known["stand_in"] and tokens[at - 1].norm in known["before_one"]


def _is_inside(start: int, moments: Mapping[int, re.Match[str]]) -> bool:
    """Whether a number is a part of a day with a time, and not its beginning."""
    return any(match.start() < start < match.end() for match in moments.values())


def _with_last_year(number: Number, period: Period | None) -> Number:
    """The number with the last year of a period of several: "in the 1990s" is from 1990 to 1999."""
    if period is None or period.last is None or number.until is not None:
        return number
    if number.op in (">", "<="):
        return number._replace(value=period.last)
    return number._replace(op=">=", until=period.last) if number.op in ("", "=") else number


def _with_digits(number: Number, tokens: Sequence[Token]) -> Number:
    """The number with the digits of a whole number as they were typed."""
    typed = tokens[number.end - 1].text
    return number._replace(digits=typed if typed.isdigit() else "")


def _covering(tokens: Sequence[Token], start: int, end: int) -> tuple[int, int] | None:
    """The range of tokens that a stretch of text covers."""
    inside = [i for i, token in enumerate(tokens) if token.start < end and start < token.end]
    return (inside[0], inside[-1] + 1) if inside else None
