"""Numbers and dates of a question with their comparisons: text + tokens -> Numbers, each stretch of text once.

Quotations are stretches that are names as they are written, in which no number is read.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from nacre.language.data import WORDS, pattern, word_list
from nacre.language.quantities import Quantity, find_quantities
from nacre.language.thesaurus import GradableAdjective, english_data, gradable_adjective
from nacre.language.tokens import Token, tokenize
from nacre.language.values import Period, find_periods, year_bounds
from nacre.records.plan import Comparison
from nacre.understanding.question.records import Number

OCCASION = "count"  # the unit of numbers that say how often: "twice"
MAX_NUMBERS = 40  # how many numbers of each kind are read


def find_numbers(text: str, tokens: Sequence[Token]) -> tuple[Number, ...]:
    """Return the numbers and dates of a question in order: those with a comparison, dates, digits, then words."""
    moments = {match.start(): match for match in MOMENT.finditer(text)}
    found = list(_compared(text, tokens, moments))
    values, words = english_data()["numbers"], enumerate(token.norm for token in tokens)
    named = (Number(i, i + 1, "", float(values[w])) for i, w in words if w in values and not is_stand_in(tokens, i))
    for others in (_dates(text, tokens), _quantities(text, tokens, moments), named):
        covered = {i for number in found for i in range(number.start, number.end)}
        for number in others:
            own = set(range(number.start, number.end))
            if not covered & own:
                found.append(number)
                covered |= own
    often = (n._replace(op=n.op or "=", unit=OCCASION) if _counts_occasions(n, text, tokens) else n for n in found)
    # the digits of a whole number as they were typed
    typed = ((number, tokens[number.end - 1].text) for number in often)
    return tuple(sorted(number._replace(digits=text if text.isdigit() else "") for number, text in typed))


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
        number = Number(
            min(bound.start, inside[0]),
            inside[1],
            bound.op,
            quantity.value,
            quantity.unit,
            concepts=bound.measure.concepts if bound.measure else (),
            date_start=date_start,
            date_end=bound.period.after if bound.period else "",
            until=bound.until,
            multiplier=quantity.many,
        )
        yield _with_last_year(number, bound.period)


@dataclass(frozen=True)
class Bound:
    """A number with its comparison: "over 4.8 m", "longer than 5 m" (with its measure)."""

    start: int
    end: int
    op: Comparison
    quantity: Quantity
    measure: GradableAdjective | None = None
    period: Period | None = None
    until: float | None = None  # the upper end of "between 3 and 5" or "3 to 5"


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


def _counts_occasions(number: Number, text: str, tokens: Sequence[Token]) -> bool:
    """Whether a number says how often: "more than 3 times", "only once". "Twice the price" and "once owned" do not."""
    said = pattern("question", "occasion").match(text, tokens[max(number.start - 1, 0)].start)
    return said is not None and not number.unit and said.end() <= tokens[min(number.end, len(tokens) - 1)].end


def is_stand_in(tokens: Sequence[Token], at: int) -> bool:
    """Whether a number word stands for a thing: "the year each one was founded"."""
    return 0 < at < len(tokens) and tokens[at].norm in WORDS["stand_in"] and tokens[at - 1].norm in WORDS["before_one"]


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


def _covering(tokens: Sequence[Token], start: int, end: int) -> tuple[int, int] | None:
    inside = [i for i, token in enumerate(tokens) if token.start < end and start < token.end]
    return (inside[0], inside[-1] + 1) if inside else None


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


class NumberRange(NamedTuple):
    """Both ends of a range in one unit, and the time between them if they are dates."""

    low: Quantity
    high: Quantity
    period: Period | None = None


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
    # the bound that the first rule finds
    bounds = (
        (number, next((bound for rule in BOUND_RULES if (bound := rule(sentence, number)) is not None), None))
        for number in numbers
        if not _bounds_nothing(sentence, number)
    )
    return tuple(
        replace(bound, period=periods[number]) if number in periods and bound.period is None else bound
        for number, bound in bounds
        if bound is not None
    )


def _numbers(question: str, tokens: Sequence[Token], periods: Mapping[Quantity, Period]) -> list[Quantity]:
    """The numbers and dates of a question in their order: in digits, and in words."""
    dates = list(periods)
    in_digits = [e for e in find_quantities(question) if not any(date.start <= e.start < date.end for date in dates)]
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
    words, filler = pattern("question", name).pattern, pattern("question", "bound_filler").pattern
    return re.compile(rf"(?:^|[\s,(])(?P<op>{words})\s*(?:{filler})?$")


def _comparative(sentence: _Sentence, number: Quantity) -> Bound | None:
    """ "Longer than 5 m", "north of 60 degrees"."""
    before = sentence.before(number)
    if direction := pattern("question", "direction_of").search(before):
        northern = gradable_adjective(tokenize(f"{direction['word']}ern")[0])
        assert northern is not None
        return _bound(sentence.tokens, direction.start(), number, ">" if northern.descending else "<", northern)
    found = pattern("question", "comparative_than").search(before)
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


FIRST_YEAR, LAST_YEAR = 1000, 2100  # numbers in this range may be years
CURRENCY_SIGNS = " £€$"  # signs of money before a number

# a number with a "-" after it has at least three digits in a telephone number or the number of a form
MIN_CODE_NUMBER = 100


def find_ranges(text: str, numbers: Sequence[Quantity], periods: Mapping[Quantity, Period]) -> Iterator[NumberRange]:
    """Yield the ranges of a text in lower case. A pair that falls, or begins at zero, is a score or a course."""
    end = -1
    for low, high in pairwise(numbers):
        if low.start < end or not _is_pair(text, low, high):
            continue
        is_dated = low in periods or high in periods
        found = _date_range(low, high, periods) if is_dated else _number_range(text, low, high)
        if found is not None:
            end = high.end
            yield found


def _is_pair(text: str, low: Quantity, high: Quantity) -> bool:
    between = text[low.end : high.start].rstrip(CURRENCY_SIGNS.strip())
    is_open = _begins_range(text, low) and pattern("question", "range_and").fullmatch(between)
    if not pattern("question", "range_to").fullmatch(between) and not is_open:
        return False
    # a telephone number or the number of a form
    is_code = "-" in between and low.value >= MIN_CODE_NUMBER and len(f"{low.value:g}") != len(f"{high.value:g}")
    return not is_code


def _begins_range(text: str, low: Quantity) -> bool:
    return bool(pattern("question", "range_start").search(text[: low.start].rstrip(CURRENCY_SIGNS)))


def _date_range(low: Quantity, high: Quantity, periods: Mapping[Quantity, Period]) -> NumberRange | None:
    """ "From March 2015 to 2018"."""
    begin = periods.get(low)
    # "between 100 BC and 100"
    least = 1 if begin is not None and begin.first.startswith("-") else FIRST_YEAR
    ends = [begin or _year_period(low), periods.get(high) or _year_period(high, least)]
    dated = [each for each in ends if each is not None]
    if [each.of_any_year for each in dated] == [True, False]:
        # "between March and May 2025"
        dated[0] = dated[0]._replace(first=f"{dated[1].first[:4]}{dated[0].first[1:]}-01"[:10])
    if len(dated) < len(ends) or dated[0].first >= dated[1].first or dated[0].of_any_year != dated[1].of_any_year:
        return None
    return NumberRange(low, high, Period(dated[0].first, dated[1].after or dated[1].first, low.start, high.end))


def _year_period(number: Quantity, least: int = FIRST_YEAR) -> Period | None:
    if number.unit or number.value != int(number.value) or not least <= number.value <= LAST_YEAR:
        return None
    return Period(*year_bounds(int(number.value)), number.start, number.end)


def _number_range(text: str, low: Quantity, high: Quantity) -> NumberRange | None:
    """ "Between 2 and 4 million": the lower end takes the magnitude and the unit of the upper one."""
    plain = _without_magnitude(text, high)
    if plain != high.value and low.value == _without_magnitude(text, low) and low.value < plain:
        low = low._replace(value=low.value * high.value / plain)
    if low.unit not in ("", high.unit) and high.unit:
        return None
    if low.value >= high.value or not (low.value or _begins_range(text, low)):
        return None
    unit = high.unit or low.unit
    return NumberRange(low._replace(unit=unit), high._replace(unit=unit))


def _without_magnitude(text: str, number: Quantity) -> float:
    """A number without the "million" after it."""
    word = text[number.start : number.end].lstrip(CURRENCY_SIGNS)
    digits = re.match(r"[\d,]+(?:\.\d+)?", word)
    if digits:
        return float(digits[0].replace(",", ""))
    first = re.match(r"[a-z]*", word)
    return float(english_data()["numbers"].get(first[0] if first else "", number.value))


MOMENT = re.compile(r"\b\d{4}-\d{2}-\d{2}[ T]\d{1,2}:\d{2}(?::\d{2})?\b")  # a day with a time

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
