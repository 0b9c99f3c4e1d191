"""Numbers of a text with their units and the precision in which they are written: text -> Amounts."""

import re
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

from nacre.language.quantities.units import convert_unit, split_magnitude
from nacre.language.thesaurus import english_data
from nacre.language.tokens import fold, lemma

# digits may be grouped by commas, by narrow or no-break spaces, or by apostrophes
_NUMBER = re.compile(
    r"(?P<money>[€$£¥]\s?)?(?P<sign>(?<![\w)\]])[-−])?(?P<more>[€$£¥]\s?)?(?<![\w.,:])"
    r"(?P<n>\d{1,3}(?:[,\u202f\u00a0'’]\d{3})+(?![\d])(?:\.\d+)?|\d+(?:\.\d+)?)(?![\d:]*:\d)(?!\d)"
)
_CLOCK = re.compile(r"(?<![\d:.])(\d{1,3}):([0-5]\d)(?::([0-5]\d))?(?![\d:])(?P<unit>\s?(?:h|min)\b)?")
_ISO_DURATION = re.compile(r"\bP(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?\b")
_UNIT = re.compile(r"[ \u202f\u00a0]*+-?(°\s?[CF]\b|[%€$£¥°]|[^\W\d_]+(?:/(?:100\s?)?[^\W\d_]+)?[²³23]?(?![^\W_]))")
_BASE_UNITS = ("m", "m**2", "m**3", "kg", "s", "m/s", "J", "W", "Pa")


class Amount(NamedTuple):
    """A number, its unit ("" none), how far the exact value may lie from it, its place, and the word after it.

    `many` is the multiplier in words ("2 million"), which is already part of `value`.
    """

    value: float
    unit: str
    slack: float
    start: int
    end: int
    after: str = ""
    many: float = 1.0


def find_amounts(text: str) -> list[Amount]:
    """The numbers of a text in order; times of day and durations are in hours.

    >>> [(a.value, a.unit) for a in find_amounts("1,459 mm in 3:36 h, about 45k euros")]
    [(1459.0, 'mm'), (3.6, 'h'), (45000.0, 'EUR')]
    """
    amounts = [_clock(match) for match in _CLOCK.finditer(text)]
    amounts += [_duration(match) for match in _ISO_DURATION.finditer(text) if any(match.groups())]
    spans = [(a.start, a.end) for a in amounts]
    amounts += [each for each in numbers_with_units(text) if not any(a <= each.start < b for a, b in spans)]
    return _join_units(sorted(amounts, key=lambda a: a.start), text)


def numbers_with_units(text: str) -> list[Amount]:
    """The numbers of a text in order, without times of day and durations.

    >>> [(a.value, a.unit, a.many) for a in numbers_with_units("over €4m, 2 hundred thousand km, 5 m")]
    [(4000000.0, 'EUR', 1000000.0), (200000.0, 'km', 100000.0), (5.0, 'm', 1.0)]
    """
    amounts: list[Amount] = []
    for match in _NUMBER.finditer(text):
        is_in_unit = bool(amounts) and match.start("n") < amounts[-1].end
        amount = None if is_in_unit else _amount(text, match)
        if amount is not None:
            amounts.append(amount)
    return amounts


@lru_cache(maxsize=4096)
def canonical_unit(word: str) -> str:
    """The canonical form of a unit, by which units are compared; "" for any other word.

    >>> canonical_unit("metres"), canonical_unit("€"), canonical_unit("dishes")
    ('m', 'EUR', '')
    """
    units, currencies = english_data()["units"], english_data()["currencies"]
    # case distinguishes these: "mW" is no "MW"
    if word in ("mW", "Mm", "Ms"):
        return word
    token = fold(word.replace("²", "2").replace("³", "3")).replace(" ", "")
    for form in (token, lemma(token)):
        if form in currencies:
            return str(english_data()["currency_codes"].get(form, form))
        if form in units:
            return str(units[form])
    return ""


def is_currency(unit: str) -> bool:
    """Whether the unit of an amount is a currency.

    >>> is_currency("EUR"), is_currency("franc"), is_currency("kg")
    (True, True, False)
    """
    return fold(unit) in english_data()["currencies"] or (len(unit) == 3 and unit.isupper())


def is_same_amount(amount: Amount, value: float, unit: str, words: frozenset[str]) -> bool:
    """Whether an amount states a value of the data, rounded or in another unit.

    `unit` is the unit as the data writes it. If the data has no unit, the unit of the amount must be among its `words`.
    An amount without a unit fits any unit.
    """
    own, stated = canonical_unit(unit) or unit, amount.unit
    if not stated and amount.after and (fold(amount.after) == fold(own) or _is_measure(amount.after)):
        stated = amount.after
    many, base_unit = split_magnitude(unit)
    if many > 1:
        return any(is_same_amount(amount, number, base_unit, words) for number in (value, value * many))
    if not stated:
        return _is_near(amount, value)
    if not own:
        return bool(_unit_words(stated) & words) and _is_near(amount, value)
    if fold(stated) == fold(own):
        # two units may differ in the case of a letter only
        return (stated == own or canonical_unit(stated) == canonical_unit(own)) and _is_near(amount, value)
    converted = convert_unit(value, _with_power(own), _with_power(stated))
    return converted is not None and _is_near(amount, converted)


def _is_near(amount: Amount, exact: float) -> bool:
    distance = abs(exact - amount.value)
    if distance <= 1e-9 * max(1.0, abs(exact)):
        return True
    return distance <= amount.slack * (1 + 1e-9) and (amount.slack != 0.5 or abs(exact) >= 10)


def _amount(text: str, match: re.Match[str]) -> Amount | None:
    start, end = match.span("n")
    digits = re.sub(r"[,\u202f\u00a0'’]", "", match["n"])
    # "1. " is the number of a line
    if not text[:start].strip() and re.match(r"[.)]\s", text[end:]):
        return None
    money = match["money"] or match["more"]
    many = 1.0
    while size := _multiplier(is_money=bool(money)).match(text, end):
        many, end = many * english_data()["multipliers"][size[1].casefold()], size.end()
    value, slack = float(digits) * many, 0.5 * 10.0 ** -len(digits.partition(".")[2]) * many
    unit, after = canonical_unit(money.strip()) if money else "", ""
    if not unit and (following := _UNIT.match(text, end)):
        after = following[1]
        unit = canonical_unit(after)
        end = following.end() if unit else end
    elif end < len(text) and text[end].isalpha():
        return None
    return Amount(-value if match["sign"] else value, unit, slack, start, end, after, many)


@cache
def _multiplier(*, is_money: bool) -> re.Pattern[str]:
    """A word or letter that multiplies the number before it; "m" only does that with money."""
    words = [word for word in english_data()["multipliers"] if word != "m" or is_money]
    return re.compile(rf"[ \u202f\u00a0]*+-?({'|'.join(sorted(words, key=len, reverse=True))})\b", re.IGNORECASE)


def _clock(match: re.Match[str]) -> Amount:
    first, second, third = (int(part or 0) for part in match.groups()[:3])
    hours = first + second / 60 + third / 3600
    if (match["unit"] or "").strip() == "min":
        hours /= 60
    return Amount(hours, "h", 1e-6, match.start(), match.end())


def _duration(match: re.Match[str]) -> Amount:
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return Amount(24 * days + hours + minutes / 60 + seconds / 3600, "h", 1e-6, match.start(), match.end())


def _join_units(amounts: list[Amount], text: str) -> list[Amount]:
    """Join amounts such as "3 hours 36 minutes"."""
    for first, second in pairwise(amounts):
        between = text[first.end : second.start].strip()
        if between in ("", "and") and (first.unit, second.unit) in (("h", "min"), ("min", "s")):
            one = Amount(first.value + second.value / 60, first.unit, second.slack / 60, first.start, second.end)
            return _join_units([one if a is first else a for a in amounts if a is not second], text)
    return amounts


@lru_cache(maxsize=4096)
def _unit_words(unit: str) -> frozenset[str]:
    """The words and signs of a unit or currency."""
    known = {**english_data()["units"], **english_data()["currency_codes"]}
    return frozenset({fold(unit), *(fold(word) for word, name in known.items() if name == unit)})


@lru_cache(maxsize=4096)
def _is_measure(word: str) -> bool:
    """Whether a word is a unit that the language data lacks ("furlongs", "m2"); short words are rarely units."""
    if "/" in word:
        return convert_unit(1.0, _with_power(word), f"({_with_power(word)})") is not None
    if len(word) < 4 and word[-1] not in "23²³":
        return False
    return any(convert_unit(1.0, _with_power(word), base) is not None for base in _BASE_UNITS)


def _with_power(unit: str) -> str:
    """A unit with its power in the syntax of pint: "m2" -> "m**2"."""
    return re.sub(r"(?<=[^\W\d_])([23])$", r"**\1", unit.replace("²", "2").replace("³", "3"))
