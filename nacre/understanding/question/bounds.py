"""Numbers and dates that a question compares with: text + tokens -> bounds ("over 4.8 m", "before March 2015")."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from nacre.language.dates import Period, find_periods, year_bounds
from nacre.language.quantities.quantity import Quantity, find_quantities
from nacre.language.thesaurus import GradableAdjective, english_data, gradable_adjective
from nacre.language.tokens import Token
from nacre.records.plan import Comparison

_OPERATORS: tuple[tuple[str, Comparison], ...] = (
    (
        r"(?:no|not) (?:more|greater|higher|larger|bigger|longer|later|older|taller|heavier|wider|deeper|farther) than",
        "<=",
    ),
    (r"(?:no|not) (?:less|fewer|lower|smaller|shorter|earlier|younger|lighter|cheaper|sooner) than", ">="),
    (r"(?:more|greater|higher|larger|bigger|longer|over|above|older) than or equal to", ">="),
    (r"(?:less|fewer|lower|smaller|shorter) than or equal to", "<="),
    (r"at least|minimum of|>=|starting at|since|as of", ">="),
    (r"at most|up to|maximum of|<=|within|until|till|by", "<="),
    (r"more than|greater than|higher than|larger than|bigger than|over|above|exceeding|exceeds?|beyond|after|>", ">"),
    (r"less than|fewer than|lower than|smaller than|under|below|beneath|before|cheaper than|<", "<"),
    (r"exactly|equal to|equals|of exactly|=", "="),
)


# "300 pages or less", "18 and over"
_AFTER = re.compile(
    r"\s*(?:[a-z]+\s+)?(?:or|and)\s+(?:(?P<down>less|fewer|below|under|lower|smaller|shorter|earlier|before|younger|cheaper)"
    # "over 80 or under 50" bounds two numbers, and so does "above age 30 and below age 50"
    r"|more|over|above|up|higher|larger|longer|later|greater|bigger|older|after|upwards)\b"
    r"(?!\s+than|(?:\s+(?:the\s+)?ages?(?:\s+of)?)?\s*[£€$]?\d)",
    re.IGNORECASE,
)
# what stands before a range and between its ends
_BETWEEN = re.compile(r"\b(?:between|range(?: of)?|ranging from)(?:\s+(?:the|years?|ages?(?: of)?))*\s*$")
_TO = re.compile(r"\s*(?:to|-|–|—|through|until|till)\s*(?:the\s+)?")
_AND = re.compile(r"\s*(?:and|to)\s*(?:the\s+)?")
# "since the start of 2020", "before the end of May": what bounds the whole year or month
_EDGE = r"the\s(?:very\s)?(?:(?P<start>start|beginning)|(?P<last>end))\sof\s"
# "over the age of 30"
_AGE = r"(?:the\s|an\s)?ages?\s(?:of\s)?"
_FROM_START: dict[Comparison, Comparison] = {">": ">=", "<=": "<"}
_TO_END: dict[Comparison, Comparison] = {"<": "<=", ">=": ">"}
FIRST_YEAR, LAST_YEAR = 1000, 2100


@dataclass(frozen=True)
class Bound:
    """A number to compare with: "over 4.8 m", "longer than 5 m" (with its measure); of "between 3 and 5", "3 to 5" both
    ends, the upper one in `until`."""

    start: int
    end: int
    op: Comparison
    quantity: Quantity
    measure: GradableAdjective | None = None
    period: Period | None = None
    until: float | None = None


def find_bounds(question: str, tokens: Sequence[Token]) -> tuple[Bound, ...]:
    """The bounds of a question, in order; a number that bounds nothing ("from 0 to 60", a name) gives none."""
    found: list[Bound] = []
    lowered = question.casefold()
    dated = find_periods(question, any_year=True)
    numbers = [q for q in find_quantities(question) if not any(p.start <= q.start < p.end for p in dated)]
    when = {Quantity(p.value, "", p.start, p.end): p for p in dated}
    numbers += when
    words = english_data()["numbers"]
    for i, token in enumerate(tokens):
        if any(q.start <= token.start < q.end for q in numbers):
            continue
        if token.norm in words and token.norm not in ("one", "zero"):
            unit, end = _unit_after(tokens, i)
            numbers.append(Quantity(float(words[token.norm]), unit, token.start, end))
        elif token.norm in ("a", "an") and i and tokens[i - 1].norm in english_data()["before_one"]:
            unit, end = _unit_after(tokens, i)
            if unit:
                numbers.append(Quantity(1.0, unit, token.start, end))
        elif token.norm == "one" and i and tokens[i - 1].norm in ("least", "than", "exactly", "only"):
            numbers.append(Quantity(1.0, "", token.start, token.end))
    numbers.sort(key=lambda q: q.start)
    ranges = {low.start: (low, high, period) for low, high, period in _ranges(lowered, numbers, when)}
    for number in numbers:
        if number.start in ranges:
            low, high, period = ranges[number.start]
            introduced = _BETWEEN.search(lowered[: number.start].rstrip(" £€$"))
            at = introduced.start() if introduced else number.start
            found.append(replace(_bound(tokens, at, low._replace(end=high.end), ">="), period=period, until=high.value))
            continue
        if any(low.start < number.start < high.end for low, high, _ in ranges.values()):
            continue
        before = lowered[: number.start].rstrip(" £€$")
        if re.search(r"\bfrom(?:\s\S+)? to$|\bfrom$", before) and re.search(
            r"\bfrom\s\S+(?:\s[a-z/]+)? to \d", lowered
        ):
            # "from 0 to 60" names a course, it bounds nothing
            continue
        between = re.search(r"(?:between|range(?: of)?)\s+\S+(?:\s+\S+)??\s+(?:and|to)$", before)
        if before.endswith(("between", "range of", "range")):
            found.append(_bound(tokens, before.rindex(" ") + 1 if " " in before else 0, number, ">="))
            continue
        if between:
            found.append(_bound(tokens, number.start, number, "<="))
            continue
        following = _AFTER.match(question[number.end :])
        if following:
            far = number._replace(end=number.end + following.end())
            found.append(_bound(tokens, number.start, far, "<=" if following["down"] else ">="))
            continue
        spanned = re.search(r"from\s+\S+(?:\s+\S+){0,2}?\s+to$", before)
        if spanned and number in when:
            found.append(_bound(tokens, number.start, number, "<="))
            continue
        if before.endswith("from") and re.match(r"\s+to\s", question[number.end :]) and number in when:
            found.append(_bound(tokens, number.start, number, ">="))
            continue
        for pattern, op in _OPERATORS:
            match = re.search(rf"(?:^|[\s,(])(?P<op>{pattern})\s*(?:{_EDGE}|{_AGE}|the\s|a\s|an\s)?$", before + " ")
            if match:
                edge = _FROM_START if match["start"] else _TO_END if match["last"] else {}
                found.append(_bound(tokens, match.start("op"), number, edge.get(op, op)))
                break
        else:
            match = re.search(r"(?P<word>[\w]+)\s+than$", before)
            position = next((i for i, t in enumerate(tokens) if match and t.start == match.start("word")), None)
            own = gradable_adjective(tokens[position]) if position is not None else None
            if match and own:
                found.append(_bound(tokens, match.start("word"), number, ">" if own.descending else "<", own))
            elif re.search(r"\b(?:of|is|are|was|were|equals?|exactly|in|from|since|has|have|=)$", before) or (
                number in when and re.search(r"\b(?:(?:in|during|of|from) the|on|during)$", before)
            ):
                found.append(_bound(tokens, number.start, number, "="))
    return tuple(replace(b, period=when[b.quantity]) if b.quantity in when else b for b in found)


def _ranges(
    text: str, numbers: Sequence[Quantity], when: dict[Quantity, Period]
) -> Iterator[tuple[Quantity, Quantity, Period | None]]:
    """Both ends of each range of a text in lower case, in one unit, and the time that it spans.

    "between 2 and 4 million", "from 1990 to 1995", "5-15 km". What runs downwards, or from nothing, is
    a score or a course.
    """
    last = -1
    for low, high in pairwise(numbers):
        between = _BETWEEN.search(text[: low.start].rstrip(" £€$"))
        apart = text[low.end : high.start].rstrip("£€$")
        if low.start < last or not (_TO.fullmatch(apart) or (between and _AND.fullmatch(apart))):
            continue
        if "-" in apart and low.value >= 100 and len(f"{low.value:g}") != len(f"{high.value:g}"):
            # a number of a telephone or a form
            continue
        spans = [when.get(each) or _of_year(each) for each in (low, high)]
        if low in when or high in when:
            dated = [each for each in spans if each is not None and not each.of_any_year]
            if len(dated) == len(spans) and dated[0].first < dated[1].first:
                last = high.end
                yield low, high, Period(dated[0].first, dated[1].after, low.start, high.end)
            continue
        said = _said(text, high)
        if said != high.value and low.value == _said(text, low) and low.value < said:
            low = low._replace(value=low.value * high.value / said)
        if low.unit not in ("", high.unit) and high.unit:
            continue
        unit = high.unit or low.unit
        if low.value < high.value and (between or low.value):
            last = high.end
            yield low._replace(unit=unit), high._replace(unit=unit), None


def _of_year(number: Quantity) -> Period | None:
    if number.unit or number.value != int(number.value) or not FIRST_YEAR <= number.value <= LAST_YEAR:
        return None
    return Period(*year_bounds(int(number.value)), number.start, number.end)


def _said(text: str, number: Quantity) -> float:
    """A number without the "million" that follows it."""
    word = text[number.start : number.end].lstrip("£€$ ")
    digits = re.match(r"[\d,]+(?:\.\d+)?", word)
    if digits:
        return float(digits[0].replace(",", ""))
    first = re.match(r"[a-z]*", word)
    return float(english_data()["numbers"].get(first[0] if first else "", number.value))


def _unit_after(tokens: Sequence[Token], i: int) -> tuple[str, int]:
    """The unit right after a number said as a word, and where both end."""
    units = english_data()["units"]
    following = tokens[i + 1] if i + 1 < len(tokens) else None
    if following is not None and following.lemma in units and len(following.norm) > 1:
        return units[following.lemma], following.end
    return "", tokens[i].end


def _bound(
    tokens: Sequence[Token], start: int, number: Quantity, op: Comparison, own: GradableAdjective | None = None
) -> Bound:
    inside = [i for i, t in enumerate(tokens) if t.end > start and t.start < number.end]
    if own is None and inside and inside[0] < len(tokens):
        first = gradable_adjective(tokens[inside[0]])
        own = first if first and first.degree == "comparative" else None
    return Bound(inside[0] if inside else 0, inside[-1] + 1 if inside else 0, op, number, own)
