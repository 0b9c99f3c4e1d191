"""Dates, times and numbers of a sentence that may be an answer, as spans: text -> Spans."""

import re
from collections.abc import Iterator
from datetime import date
from functools import cache
from typing import NamedTuple

from nacre.language.base import language
from nacre.language.dates import find_periods
from nacre.language.quantities.amounts import Amount, find_amounts
from nacre.language.quantities.units import convert_unit
from nacre.language.thesaurus import english_data
from nacre.language.tokens import Token, fold, tokenize
from nacre.records.answer import Value
from nacre.texts.expected_answer import ExpectedAnswer

_YEAR = re.compile(r"(?<![\w.,:])(1[0-9]\d\d|20\d\d)(?![\w:]|,\d|\.\d)")
_CLOCK = re.compile(r"(?<![\w:.])\d{1,2}:[0-5]\d(?:\s?(?:am|pm|a\.m\.|p\.m\.))?(?![\w:])|\b(?:noon|midnight)\b", re.I)
_HOUR = re.compile(r"(?<![\w:.])\d{1,2}(?:\.[0-5]\d)?\s?(?:am|pm|a\.m\.|p\.m\.|o['’]clock)", re.I)
_MONTH_YEAR = 31


class Span(NamedTuple):
    """A stretch of a sentence as characters, how it was found, and what it is as data."""

    start: int
    end: int
    how: str
    value: Value
    unit: str = ""


def date_spans(text: str) -> Iterator[Span]:
    """Days and months as ISO dates, years as numbers."""
    taken = []
    for period in find_periods(text):
        taken.append((period.start, period.end))
        yield Span(period.start, period.end, "date", _iso(period.first, period.after))
    for match in _YEAR.finditer(text):
        if not any(start <= match.start() < end for start, end in taken):
            yield Span(match.start(), match.end(), "year", int(match[1]))


def time_spans(text: str) -> Iterator[Span]:
    """Times of the day, as they are written."""
    for match in (*_CLOCK.finditer(text), *_HOUR.finditer(text)):
        yield Span(match.start(), match.end(), "time", " ".join(match[0].split()))


def number_spans(text: str, want: ExpectedAnswer) -> Iterator[Span]:
    """Numbers that may be what is asked for, in figures or words, with their units."""
    dated = [(p.start, p.end) for p in find_periods(text)] + [m.span() for m in _CLOCK.finditer(text)]
    for amount in [*find_amounts(text), *_spelt(text)]:
        if any(start <= amount.start < end for start, end in dated):
            continue
        how = _fits(amount, want) or _counted(text, amount, want)
        if how:
            unit = amount.unit
            yield Span(amount.start, amount.end, how, _plain(amount.value), unit)


def labelled_number_spans(text: str, want: ExpectedAnswer, said: tuple[Token, ...]) -> Iterator[Span]:
    """The number right after the noun that is asked for: "version 3.2"."""
    for i, token in enumerate(said[:-1]):
        following = said[i + 1]
        if token.lemma in want.noun and following.norm[0].isdigit() and text[token.end : following.start] == " ":
            for amount in find_amounts(following.text):
                yield Span(following.start, following.end, "numbered", _plain(amount.value))


def parse_number_span(span: Span, text: str) -> Span:
    """A phrase that is a number with its unit, as that."""
    if not isinstance(span.value, str) or not span.value[:1].isdigit() or span.how in ("date", "time", "quoted"):
        return span
    said = text[span.start : span.end]
    found = find_amounts(said)
    if len(found) != 1 or (found[0].start, found[0].end) != (0, len(said)):
        return span
    return span._replace(value=_plain(found[0].value), unit=found[0].unit)


def _iso(first: str, after: str) -> str:
    """A day, a month, or the years of a decade.

    >>> _iso("1998-03-14", "1998-03-15"), _iso("2016-11-01", "2016-12-01")
    ('1998-03-14', '2016-11')
    """
    days = (date.fromisoformat(after) - date.fromisoformat(first)).days
    return first if days == 1 else first[:7] if days <= _MONTH_YEAR else f"{first[:3]}0s"


@cache
def _number_words() -> re.Pattern[str]:
    words = sorted((w for w in english_data()["numbers"] if w not in ("once", "twice")), key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(words)})\b(?:\s+(?P<unit>[^\W\d_]+))?", re.IGNORECASE)


def _spelt(text: str) -> Iterator[Amount]:
    """Numbers that are written as words, with their units."""
    for match in _number_words().finditer(text):
        word, following = match[0].split()[0].casefold(), match["unit"] or ""
        found = find_amounts(f"{english_data()['numbers'][word]} {following}")
        if found:
            end = match.end() if found[0].unit else match.start() + len(word)
            yield found[0]._replace(start=match.start(), end=end, after=following)


def _fits(amount: Amount, want: ExpectedAnswer) -> str:
    """How a number may be the answer: with a unit of the kind that is asked for, with another, or without; "" not."""
    money = is_currency(amount.unit)
    if fold(amount.after) in language().phrases["raising"].split():
        return "measured" if want.units is None else ""
    if want.kind == "count":
        return "" if money or amount.unit else "number"
    if want.units is None:
        return "measured" if amount.unit else "number"
    if not amount.unit:
        return "number"
    if money:
        return "fitting" if "currency" in want.units else ""
    fits = any(unit and unit != "currency" and convert_unit(1.0, amount.unit, unit) is not None for unit in want.units)
    return "fitting" if fits else "measured" if "" in want.units else ""


def _counted(text: str, amount: Amount, want: ExpectedAnswer) -> str:
    """ "number" for a measure of what is counted: "300 kg of apples"."""
    after = tokenize(text[amount.end : amount.end + 40])[:2]
    of = want.kind == "count" and len(after) == 2 and after[0].norm == "of" and after[1].lemma in want.noun
    return "number" if of else ""


def is_currency(unit: str) -> bool:
    """Whether a unit is a currency, as `find_amounts` gives it.

    >>> is_currency("EUR"), is_currency("franc"), is_currency("kg")
    (True, True, False)
    """
    return fold(unit) in english_data()["currencies"] or (len(unit) == 3 and unit.isupper())


def _plain(value: float) -> Value:
    return int(value) if value.is_integer() else round(value, 9)
