"""Numbers and dates that a question compares with: text + tokens -> Bounds ("over 4.8 m", "before March 2015")."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

from nacre.language.base import pattern, word_list
from nacre.language.dates import Period, find_periods
from nacre.language.quantities.quantity import Quantity, find_quantities
from nacre.language.thesaurus import GradableAdjective, english_data, gradable_adjective
from nacre.language.tokens import Token
from nacre.records.plan import Comparison
from nacre.understanding.question.ranges import CURRENCY_SIGNS, NumberRange, find_ranges

# patterns of words that compare, in the order in which they are tried
OPERATOR_PATTERNS: tuple[tuple[str, Comparison], ...] = (
    ("not_more_than", "<="),
    ("not_less_than", ">="),
    ("more_or_equal", ">="),
    ("less_or_equal", "<="),
    ("at_least", ">="),
    ("at_most", "<="),
    ("more_than", ">"),
    ("less_than", "<"),
    ("exactly", "="),
)
# "after the start of 2020" includes 2020, "before the end of May" includes May
_FROM_START: Mapping[Comparison, Comparison] = {">": ">=", "<=": "<"}
_TO_END: Mapping[Comparison, Comparison] = {"<": "<=", ">=": ">"}


@dataclass(frozen=True)
class Bound:
    """A number with its comparison: "over 4.8 m", "longer than 5 m" (with its measure).

    "Between 3 and 5" and "3 to 5" are one bound with the upper end in `until`.
    """

    start: int
    end: int
    op: Comparison
    quantity: Quantity
    measure: GradableAdjective | None = None
    period: Period | None = None
    until: float | None = None


class _Sentence(NamedTuple):
    """A question with its numbers, dates and ranges (by their start)."""

    text: str
    lowered: str
    tokens: Sequence[Token]
    periods: Mapping[Quantity, Period]
    ranges: Mapping[int, NumberRange]

    def before(self, number: Quantity) -> str:
        """The words before a number, in lower case and without the sign of a currency."""
        return self.lowered[: number.start].rstrip(CURRENCY_SIGNS)


BoundRule = Callable[[_Sentence, Quantity], Bound | None]


def find_bounds(question: str, tokens: Sequence[Token]) -> tuple[Bound, ...]:
    """Return the bounds of a question, in order. A number that bounds nothing ("from 0 to 60", a name) has none."""
    dates = find_periods(question, any_year=True)
    periods = {Quantity(date.value, "", date.start, date.end): date for date in dates}
    numbers = _numbers(question, tokens, periods)
    lowered = question.casefold()
    ranges = {each.low.start: each for each in find_ranges(lowered, numbers, periods)}
    sentence = _Sentence(question, lowered, tokens, periods, ranges)
    bounds = (_bound_of(sentence, number) for number in numbers if not _bounds_nothing(sentence, number))
    return tuple(
        replace(bound, period=periods[bound.quantity]) if bound.quantity in periods else bound
        for bound in bounds
        if bound is not None
    )


def _numbers(question: str, tokens: Sequence[Token], periods: Mapping[Quantity, Period]) -> list[Quantity]:
    """The numbers and dates of a question in their order: in digits, and in words."""
    dates = list(periods)
    in_digits = [
        each for each in find_quantities(question) if not any(date.start <= each.start < date.end for date in dates)
    ]
    numbers = in_digits + dates
    for i, token in enumerate(tokens):
        if not any(number.start <= token.start < number.end for number in numbers):
            numbers += _number_word(tokens, i)
    return sorted(numbers, key=lambda number: number.start)


def _number_word(tokens: Sequence[Token], i: int) -> Iterator[Quantity]:
    """ "Five metres", "over a year", "at least one"."""
    token, data = tokens[i], english_data()
    if token.norm in data["numbers"] and token.norm not in word_list("question", "no_number_words"):
        unit, end = _unit_after(tokens, i)
        yield Quantity(float(data["numbers"][token.norm]), unit, token.start, end)
    elif token.norm in ("a", "an") and i and tokens[i - 1].norm in data["before_one"]:
        unit, end = _unit_after(tokens, i)
        if unit:
            yield Quantity(1.0, unit, token.start, end)
    elif token.norm == "one" and i and tokens[i - 1].norm in word_list("question", "before_exactly_one"):
        yield Quantity(1.0, "", token.start, token.end)


def _unit_after(tokens: Sequence[Token], i: int) -> tuple[str, int]:
    """The unit right after a number word, and where both end."""
    units = english_data()["units"]
    following = tokens[i + 1] if i + 1 < len(tokens) else None
    if following is not None and following.lemma in units and len(following.norm) > 1:
        return units[following.lemma], following.end
    return "", tokens[i].end


def _bounds_nothing(sentence: _Sentence, number: Quantity) -> bool:
    """Whether a number is inside a range, or part of a course: "from 0 to 60"."""
    if number.start in sentence.ranges:
        return False
    if any(each.low.start < number.start < each.high.end for each in sentence.ranges.values()):
        return True
    is_end = pattern("question", "course_end").search(sentence.before(number))
    return bool(is_end and pattern("question", "course").search(sentence.lowered))


def _bound_of(sentence: _Sentence, number: Quantity) -> Bound | None:
    """The bound that the first rule finds."""
    return next((bound for rule in BOUND_RULES if (bound := rule(sentence, number)) is not None), None)


def _range(sentence: _Sentence, number: Quantity) -> Bound | None:
    """ "Between 3 and 5"."""
    found = sentence.ranges.get(number.start)
    if found is None:
        return None
    opening = pattern("question", "range_start").search(sentence.before(number))
    start = opening.start() if opening else number.start
    lower = _bound(sentence.tokens, start, found.low._replace(end=found.high.end), ">=")
    return replace(lower, period=found.period, until=found.high.value)


def _between(sentence: _Sentence, number: Quantity) -> Bound | None:
    """The ends of "between" with units that make no range."""
    before = sentence.before(number)
    if pattern("question", "between_lower").search(before):
        return _bound(sentence.tokens, before.rindex(" ") + 1 if " " in before else 0, number, ">=")
    if pattern("question", "between_upper").search(before):
        return _bound(sentence.tokens, number.start, number, "<=")
    return None


def _operator_after(sentence: _Sentence, number: Quantity) -> Bound | None:
    """ "300 pages or less", "18 and over"."""
    after = pattern("question", "bound_after").match(sentence.text[number.end :])
    if after is None:
        return None
    whole = number._replace(end=number.end + after.end())
    return _bound(sentence.tokens, number.start, whole, "<=" if after["down"] else ">=")


def _end_of_period(sentence: _Sentence, number: Quantity) -> Bound | None:
    """ "From March to", "from March to the day of ..."."""
    if number not in sentence.periods:
        return None
    before = sentence.before(number)
    if pattern("question", "period_upper").search(before):
        return _bound(sentence.tokens, number.start, number, "<=")
    goes_on = pattern("question", "period_goes_on").match(sentence.text[number.end :])
    if pattern("question", "period_lower").search(before) and goes_on:
        return _bound(sentence.tokens, number.start, number, ">=")
    return None


def _operator_before(sentence: _Sentence, number: Quantity) -> Bound | None:
    """ "At least 3", "before the end of May", "over the age of 30"."""
    before = sentence.before(number) + " "
    for name, operator in OPERATOR_PATTERNS:
        found = _operator_pattern(name).search(before)
        if found:
            edge = _FROM_START if found["start"] else _TO_END if found["last"] else {}
            return _bound(sentence.tokens, found.start("op"), number, edge.get(operator, operator))
    return None


@cache
def _operator_pattern(name: str) -> re.Pattern[str]:
    """The words of an operator right before a number."""
    words, filler = pattern("question", name).pattern, pattern("question", "bound_filler").pattern
    return re.compile(rf"(?:^|[\s,(])(?P<op>{words})\s*(?:{filler})?$")


def _comparative(sentence: _Sentence, number: Quantity) -> Bound | None:
    """ "Longer than 5 m"."""
    found = pattern("question", "comparative_than").search(sentence.before(number))
    if found is None:
        return None
    token = next((each for each in sentence.tokens if each.start == found.start("word")), None)
    measure = gradable_adjective(token) if token is not None else None
    if measure is None:
        return None
    return _bound(sentence.tokens, found.start("word"), number, ">" if measure.descending else "<", measure)


def _equality(sentence: _Sentence, number: Quantity) -> Bound | None:
    """ "Of 30", "in 1990", "on 3 May"."""
    before = sentence.before(number)
    is_equal = pattern("question", "equal_before").search(before) or (
        number in sentence.periods and pattern("question", "date_before").search(before)
    )
    return _bound(sentence.tokens, number.start, number, "=") if is_equal else None


# the rules for a number, in the order in which they are tried
BOUND_RULES: tuple[BoundRule, ...] = (
    _range,
    _between,
    _operator_after,
    _end_of_period,
    _operator_before,
    _comparative,
    _equality,
)


def _bound(
    tokens: Sequence[Token],
    start: int,
    number: Quantity,
    operator: Comparison,
    measure: GradableAdjective | None = None,
) -> Bound:
    """A bound over the tokens from the start of its words to the end of its number."""
    inside = [i for i, token in enumerate(tokens) if token.end > start and token.start < number.end]
    if measure is None and inside:
        first = gradable_adjective(tokens[inside[0]])
        measure = first if first and first.degree == "comparative" else None
    return Bound(inside[0] if inside else 0, inside[-1] + 1 if inside else 0, operator, number, measure)
