"""Dates, times and numbers of a sentence that may be the answer: text -> Spans."""

import re
from collections.abc import Iterator
from datetime import date
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from nacre.language.base import pattern, word_list
from nacre.language.dates import find_periods
from nacre.language.quantities.amounts import Amount, find_amounts, is_currency
from nacre.language.quantities.units import convert_unit
from nacre.language.thesaurus import english_data
from nacre.language.tokens import Token, fold, tokenize
from nacre.records.answer import Value
from nacre.texts.expected_answer import ExpectedAnswer

_YEAR = re.compile(r"(?<![\w.,:])(1[0-9]\d\d|20\d\d)(?![\w:]|,\d|\.\d)")
_MAX_DAYS_OF_MONTH = 31
# characters after a number in which "of" and a noun may follow
_MAX_OF_PHRASE = 40


class Span(NamedTuple):
    """A part of a sentence in characters, the rule that proposed it, and its value with its unit."""

    start: int
    end: int
    how: str
    value: Value
    unit: str = ""


def date_spans(text: str) -> Iterator[Span]:
    """Days and months as ISO dates, years as numbers."""
    periods = find_periods(text)
    for period in periods:
        yield Span(period.start, period.end, "date", _iso_date(period.first, period.after))
    for match in _YEAR.finditer(text):
        if not any(period.start <= match.start() < period.end for period in periods):
            yield Span(match.start(), match.end(), "year", int(match[1]))


def time_spans(text: str) -> Iterator[Span]:
    """Times of day as they are written."""
    for match in (*pattern("texts", "clock_time").finditer(text), *pattern("texts", "hour").finditer(text)):
        yield Span(match.start(), match.end(), "time", " ".join(match[0].split()))


def number_spans(text: str, want: ExpectedAnswer) -> Iterator[Span]:
    """Numbers in digits or words that may be the expected answer, with their units."""
    clock_times = pattern("texts", "clock_time").finditer(text)
    dates = [(p.start, p.end) for p in find_periods(text)] + [match.span() for match in clock_times]
    for amount in [*find_amounts(text), *_amounts_in_words(text)]:
        if any(start <= amount.start < end for start, end in dates):
            continue
        how = _fit(amount, want) or _count_of_noun(text, amount, want)
        if how:
            yield Span(amount.start, amount.end, how, _number(amount.value), amount.unit)


def labelled_number_spans(text: str, want: ExpectedAnswer, tokens: tuple[Token, ...]) -> Iterator[Span]:
    """Numbers right after the noun of the expected answer: "version 3.2"."""
    for token, following in pairwise(tokens):
        if token.lemma in want.noun and following.norm[0].isdigit() and text[token.end : following.start] == " ":
            for amount in find_amounts(following.text):
                yield Span(following.start, following.end, "numbered", _number(amount.value))


def parse_number_span(span: Span, text: str) -> Span:
    """A span whose phrase is a number with its unit has that number as its value; others stay."""
    if not isinstance(span.value, str) or not span.value[:1].isdigit() or span.how in ("date", "time", "quoted"):
        return span
    phrase = text[span.start : span.end]
    amounts = find_amounts(phrase)
    if len(amounts) != 1 or (amounts[0].start, amounts[0].end) != (0, len(phrase)):
        return span
    return span._replace(value=_number(amounts[0].value), unit=amounts[0].unit)


def _iso_date(first: str, after: str) -> str:
    """The ISO date of a day or a month, or the decade.

    >>> _iso_date("1998-03-14", "1998-03-15"), _iso_date("2016-11-01", "2016-12-01")
    ('1998-03-14', '2016-11')
    """
    days = (date.fromisoformat(after) - date.fromisoformat(first)).days
    return first if days == 1 else first[:7] if days <= _MAX_DAYS_OF_MONTH else f"{first[:3]}0s"


@cache
def _number_words() -> re.Pattern[str]:
    words = sorted((w for w in english_data()["numbers"] if w not in ("once", "twice")), key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(words)})\b(?:\s+(?P<unit>[^\W\d_]+))?", re.IGNORECASE)


def _amounts_in_words(text: str) -> Iterator[Amount]:
    """Numbers in words with their units."""
    for match in _number_words().finditer(text):
        word, following = match[0].split()[0].casefold(), match["unit"] or ""
        amounts = find_amounts(f"{english_data()['numbers'][word]} {following}")
        if amounts:
            end = match.end() if amounts[0].unit else match.start() + len(word)
            yield amounts[0]._replace(start=match.start(), end=end, after=following)


def _fit(amount: Amount, want: ExpectedAnswer) -> str:
    """How an amount fits the expected answer: "fitting" unit, another "measured" one, a bare "number", or "" not."""
    is_money = is_currency(amount.unit)
    if fold(amount.after) in word_list("texts", "power_words"):
        return "measured" if want.units is None else ""
    if want.kind == "count":
        return "" if is_money or amount.unit else "number"
    if want.units is None:
        return "measured" if amount.unit else "number"
    if not amount.unit:
        return "number"
    if is_money:
        return "fitting" if "currency" in want.units else ""
    fits = any(unit and unit != "currency" and convert_unit(1.0, amount.unit, unit) is not None for unit in want.units)
    return "fitting" if fits else "measured" if "" in want.units else ""


def _count_of_noun(text: str, amount: Amount, want: ExpectedAnswer) -> str:
    """ "number" for a measure of the counted noun: "300 kg of apples"; else ""."""
    after = tokenize(text[amount.end : amount.end + _MAX_OF_PHRASE])[:2]
    is_of_noun = want.kind == "count" and len(after) == 2 and after[0].norm == "of" and after[1].lemma in want.noun
    return "number" if is_of_noun else ""


def _number(value: float) -> Value:
    return int(value) if value.is_integer() else round(value, 9)
