"""Numbers with units in text: text -> Amounts with their written precision, or Quantities of a question."""

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import pairwise
from math import inf, isfinite
from typing import Any, NamedTuple

from nacre.language.data import pattern, phrase_list, word_list
from nacre.language.thesaurus import english_data, function_words
from nacre.language.tokens import fold, lemma, split_name

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
    """A number with its unit and its place in characters."""

    value: float
    unit: str  # "" without one
    slack: float  # how far the exact value may lie from it
    start: int
    end: int
    after: str = ""  # the word after it
    many: float = 1.0  # the multiplier in words ("2 million"), which is part of `value`


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


@lru_cache(maxsize=4096)
def is_currency(unit: str) -> bool:
    """Whether a unit is money: a sign, a word or a code of ISO 4217 ("€", "pound", "SEK"; not "EUR/kWh")."""
    return fold(unit) in english_data()["currencies"] or unit in word_list("quantities", "currency_codes")


def is_same_amount(amount: Amount, value: float, unit: str, words: frozenset[str]) -> bool:
    """Whether an amount states a value of the data, rounded or in another unit.

    `unit` is the unit as the data writes it. If the data has no unit, the unit of the amount must be among its `words`.
    An amount without a unit fits any unit.
    """
    own = canonical_unit(unit) or unit
    # the registry of units takes longer to load than a turn takes, and without a unit the values must be near
    if not own and not _is_near(amount, value):
        return False
    many, base_unit = split_magnitude(unit)
    if many > 1:
        return any(is_same_amount(amount, number, base_unit, words) for number in (value, value * many))
    # a number of what the words of the data name fits as a measure and as a count
    is_named = not own and not _unit_words(amount.after).isdisjoint(words)
    stated = amount.unit if is_named else _stated_unit(amount, own)
    if not stated:
        return _is_near(amount, value)
    if not own:
        return bool(_unit_words(stated) & words) and _is_near(amount, value)
    if fold(stated) == fold(own):
        # two units may differ in the case of a letter only
        return (stated == own or canonical_unit(stated) == canonical_unit(own)) and _is_near(amount, value)
    converted = convert_unit(value, _with_power(own), _with_power(stated))
    return converted is not None and _is_near(amount, converted)


def near_values(amount: Amount, values: Sequence[float], unit: str) -> list[float]:
    """Those of some values in ascending order that `is_same_amount` may hold for, found without comparing each."""
    many, base_unit = split_magnitude(unit)
    own = canonical_unit(base_unit) or base_unit
    stated = _stated_unit(amount, own) if own else ""
    units = ("", "") if not stated or fold(stated) == fold(own) else (_with_power(own), _with_power(stated))
    slack = 1.01 * max(amount.slack, 1e-9 * max(1.0, abs(amount.value)))
    found: list[float] = []
    for factor in {1.0, many}:
        first, last = (convert_unit(value * factor, *units) for value in (values[0], values[-1]))
        if first is None or last is None:
            continue
        sign = 1.0 if first <= last else -1.0

        def key(value: float, factor: float = factor, sign: float = sign) -> float:
            converted = convert_unit(value * factor, *units)
            return inf if converted is None else sign * converted

        low = bisect_left(values, sign * amount.value - slack, key=key)
        found += values[low : bisect_right(values, sign * amount.value + slack, low, key=key)]
    return found


def _stated_unit(amount: Amount, own: str) -> str:
    """The unit that an amount states, which may be the word after it: that of the data, or another measure."""
    if amount.unit or not amount.after:
        return amount.unit
    return amount.after if fold(amount.after) == fold(own) or _is_measure(amount.after) else ""


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
    if not isfinite(value):
        return None
    unit, after = canonical_unit(money.strip()) if money else "", ""
    if not unit and (pair := pattern("quantities", "unit_of_two_words").match(text, end)):
        unit, after, end = canonical_unit(pair[1]), pair[1], pair.end()
    elif not unit and (following := _UNIT.match(text, end)):
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
    known = {**english_data()["units"], **english_data()["currency_codes"]}
    return frozenset({fold(unit), *(fold(word) for word, name in known.items() if name == unit)})


@lru_cache(maxsize=4096)
def _is_measure(word: str) -> bool:
    """Whether a word is a unit that the language data lacks ("furlongs", "m2"); short words are rarely units."""
    if "/" in word:
        return convert_unit(1.0, _with_power(word), f"({_with_power(word)})") is not None
    if fold(word) in function_words() or (len(word) < 4 and word[-1] not in "23²³"):
        return False
    return any(convert_unit(1.0, _with_power(word), base) is not None for base in _BASE_UNITS)


def _with_power(unit: str) -> str:
    """A unit with its power in the syntax of pint: "m2" -> "m**2"."""
    return re.sub(r"(?<=[^\W\d_])([23])$", r"**\1", unit.replace("²", "2").replace("³", "3"))


# "g/cm3", "mol/l", "m²"
_COMPOUND = re.compile(r"[a-zµ]{1,4}/[a-z]{1,4}[23]?|(?:[cmk]?m|ft|yd|mi|foot|yard|mile)[23]")

# the word before "hundred", "thousand", "million": "ten thousand", "a million"
_BEFORE_MULTIPLIER = re.compile(r"\b([a-z]+)(?=[\s-]+([a-z]+)\b)", re.IGNORECASE)

_TENS = re.compile(r"\b([a-z]+ty)[\s-]([a-z]+)\b", re.IGNORECASE)


def round_step(least: float) -> float:
    """The smallest of 1, 2, 5, 10, ... and their tenths that is not less than a number above 0.

    >>> round_step(7.3), round_step(0.03), round_step(2.0)
    (10.0, 0.05, 2.0)
    """
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * n for n in (1, 2, 5, 10) if power * n >= least)


class Quantity(NamedTuple):
    """A number of a question, its unit and its place in characters."""

    value: float
    unit: str  # "" without one, "currency" for money
    start: int
    end: int
    many: float = 1.0  # the multiplier in words ("2 million"), which is part of `value`


def find_quantities(text: str) -> list[Quantity]:
    """The numbers of a text with their units.

    >>> find_quantities("longer than 4.8 m and under 45k euros")[0]
    Quantity(value=4.8, unit='m', start=12, end=17, many=1.0)
    """
    dozen_ends = {m.start(): m.end() for m in pattern("quantities", "dozens").finditer(text)}
    text = _to_digits(text)
    found = []
    for each in numbers_with_units(text):
        token, end = fold(each.after), each.end
        unit = "currency" if each.unit and is_currency(each.unit) else each.unit
        if not unit and _COMPOUND.fullmatch(token):
            unit, end = token, text.index(each.after, end) + len(each.after)
        if end < len(text) and text[end].isalpha() and text[end - 1].isdigit():
            # "40i"
            continue
        found.append(Quantity(abs(each.value), unit, each.start, max(end, dozen_ends.get(each.start, end)), each.many))
    return found


def _to_digits(text: str) -> str:
    """The text with its numbers and units in words as digits and symbols; all other characters keep their places."""
    text = pattern("quantities", "dozens").sub(_dozens_in_digits, text)
    text = _and_a_half().sub(_half_in_digits, text)
    text = pattern("quantities", "half").sub(lambda m: "0.5".ljust(len(m[0])), text)
    text = _one_unit().sub(lambda m: "1".ljust(len(m[1])) + m[2], text)
    text = pattern("quantities", "power_of_unit").sub(_power_of_unit, text)
    text = pattern("quantities", "square_unit").sub(lambda m: f"{m['gap']}{m['of']}2".rjust(len(m[0])), text)
    text = _BEFORE_MULTIPLIER.sub(_multiplied_in_digits, _TENS.sub(_tens_in_digits, text))
    return pattern("quantities", "unit_per_unit").sub(_unit_per_unit, text)


@cache
def _and_a_half() -> re.Pattern[str]:
    numbers = "|".join(("an?", r"\d+", *english_data()["numbers"]))
    return pattern("quantities", "and_a_half", numbers=numbers)


@cache
def _one_unit() -> re.Pattern[str]:
    before = "|".join(f"(?<={word} )" for word in phrase_list("quantities", "before_one"))
    return pattern("quantities", "one_unit", before=before)


def _dozens_in_digits(match: re.Match[str]) -> str:
    word, numbers = match[1].casefold(), english_data()["numbers"]
    many = 0.5 if word.startswith("half ") else 1 if word in ("a", "an") else numbers.get(word)
    return match[0] if many is None else f"{many * numbers['dozen']:g}".ljust(len(match[0]))


def _half_in_digits(match: re.Match[str]) -> str:
    """A whole number of a unit and a half of it: "two and a half kilos"."""
    word, units = match["n"].casefold(), english_data()["units"]
    whole = 1 if word in ("a", "an") else int(word) if word.isdigit() else english_data()["numbers"].get(word)
    unit = (match["unit"] or match["after"] or "").strip().casefold()
    if whole is None or not (unit in units or lemma(unit) in units):
        return match[0]
    rest = match["after"] or "" if match["unit"] else ""
    return f"{whole + 0.5:g} {unit}".ljust(len(match[0]) - len(rest)) + rest


def _tens_in_digits(match: re.Match[str]) -> str:
    """A number such as "twenty-five"."""
    numbers = english_data()["numbers"]
    tens, ones = (numbers.get(word.casefold(), 0) for word in match.groups())
    return str(tens + ones).zfill(len(match[0])) if tens >= 20 and 0 < ones < 10 else match[0]


def _multiplied_in_digits(match: re.Match[str]) -> str:
    """The word before a multiplier: "a million", "ten thousand"."""
    word, multiplier = match[1].casefold(), match[2].casefold()
    multipliers = english_data()["multipliers"]
    value = english_data()["numbers"].get(word, 1 if word in ("a", "an") else None)
    known = multiplier in multipliers and len(multiplier) > 2 and word not in multipliers
    return str(value).zfill(len(word)) if known and value is not None and len(str(value)) <= len(word) else match[0]


def _power_of_unit(match: re.Match[str]) -> str:
    """A unit of area or volume, at the end of as many characters."""
    word, units = fold(match["of"]), english_data()["units"]
    unit = units.get(word) or units.get(lemma(word))
    power = f"{unit}{2 if match['sq'] else 3}"
    return power.rjust(len(match[0])) if unit and _COMPOUND.fullmatch(power) else match[0]


def _unit_per_unit(match: re.Match[str]) -> str:
    """A rate in words as its unit, at the end of as many characters; "hours per day" stays."""
    units = english_data()["units"]
    over, under = (units.get(fold(word)) or units.get(lemma(fold(word))) for word in match.groups())
    if over is None or under is None or convert_unit(1, over, "s") is not None:
        return match[0]
    unit = f"{over}/{under}"
    return unit.rjust(len(match[0])) if _COMPOUND.fullmatch(unit) else match[0]


_POWERS = str.maketrans("²³", "23")

# units as data writes them: as pint calls them
_PINT_RATES = {"mph": "mile/hour", "mpg": "mile/gallon", "l/hectokilometer": "liter/(100*km)"}

# pint computes powers of numbers exactly, in one step that nothing interrupts: "2**2**99" would never end. No unit has
# a power of a number; a power of brackets may contain numbers of a few digits (given)
MAX_UNIT_LENGTH, MAX_DIGITS_IN_POWER = 60, 4

_POWER = r"\s*(?:\*\*|\^|[⁰¹²³⁴-⁹⁻])"
_POWER_OF_A_NUMBER = re.compile(rf"[\d⁰¹²³⁴-⁹]{_POWER}")
_POWER_OF_BRACKETS = re.compile(rf"\){_POWER}")
_LONG_NUMBER = re.compile(rf"[\d⁰¹²³⁴-⁹]{{{MAX_DIGITS_IN_POWER + 1}}}")

# by which share a factor may be rounded: 1.6 for 1.609, 30 for 30.44 (given)
UNIT_FACTOR_SLACK = 0.015

_PINT_UNITS = {"h": "hour", "s": "second", "g": "gram", "l": "liter", "Kg": "kg"}


@lru_cache(maxsize=4096)
def split_magnitude(unit: str) -> tuple[float, str]:
    """The factor and the base unit of a unit such as "million USD".

    >>> split_magnitude("million USD"), split_magnitude("billion"), split_magnitude("km")
    ((1000000.0, 'USD'), (1000000000.0, ''), (1.0, 'km'))
    """
    first, _, rest = unit.partition(" ")
    if first in word_list("quantities", "magnitudes"):
        return float(english_data()["multipliers"][first]), rest
    return 1.0, unit


def magnitude_of_name(name: str) -> tuple[str, str] | None:
    """The property and the unit in the name of a property that counts in thousands or millions; None for other names.

    >>> magnitude_of_name("budget in millions"), magnitude_of_name("sales (USD billions)"), magnitude_of_name("million")
    (('budget', 'million'), ('sales', 'billion USD'), None)
    """
    magnitudes = word_list("quantities", "magnitudes")
    if not any(magnitude in name.casefold() for magnitude in magnitudes):
        return None
    words, codes = re.sub(r"[()]", " ", split_name(name)).split(), english_data()["currency_codes"]
    end, magnitude, currency = len(words), "", ""
    while end > 1:
        word = words[end - 1]
        singular = word.removesuffix("s")
        code = codes.get(word) or codes.get(singular)
        if singular in magnitudes and not magnitude:
            magnitude = singular
        elif code and not currency:
            currency = code
        elif word not in ("in", "of"):
            break
        end -= 1
    if not magnitude or not words[:end]:
        return None
    return " ".join(words[:end]), f"{magnitude} {currency}".strip()


def convert_unit(value: float, unit: str, target: str) -> float | None:
    """The value in another unit; None if the two measure different things."""
    if unit == target or not unit or not target:
        return value
    factor = _factor(unit, target)
    if factor is None:
        return None
    converted = value * factor if factor else _convert(value, unit, target)
    return None if converted is None or not isfinite(converted) else float(round(converted, 9))


def is_unit_factor(number: float) -> bool:
    """Whether a number converts one unit of the language data into another, such as km into miles."""
    return any(abs(number - factor) <= UNIT_FACTOR_SLACK * factor for factor in _unit_factors())


@cache
def _unit_factors() -> frozenset[float]:
    units = sorted(set(english_data()["units"].values()))
    factors = (_factor(one, other) for one in units for other in units)
    return frozenset(factor for factor in factors if factor)


@cache
def unit_registry() -> Any:
    """The units of pint. Loading them takes long, so it is done before the first conversion."""
    import pint

    return pint.UnitRegistry(on_redefinition="ignore", cache_folder=None)


# every number of a question is compared with every property that has a unit
@lru_cache(maxsize=4096)
def _factor(unit: str, target: str) -> float | None:
    """The factor from a unit to another: 0.0 if a factor is not enough, as for degrees; None without conversion."""
    zero, one = (_convert(value, unit, target) for value in (0.0, 1.0))
    if zero is None or one is None:
        return None
    return one if zero == 0 else 0.0


def _convert(value: float, unit: str, target: str) -> float | None:
    """The value in another unit; None for texts that are no units, and for units that measure different things."""
    if not (_is_short(unit) and _is_short(target)):
        return None
    try:
        magnitude: float = unit_registry().Quantity(value, _pint_name(unit)).to(_pint_name(target)).magnitude
    except Exception:  # pint's tokenizer raises many kinds of errors for other texts
        return None
    return magnitude


def _is_short(unit: str) -> bool:
    """Whether pint reads a unit in little time."""
    brackets = len(_POWER_OF_BRACKETS.findall(unit))
    return (
        len(unit) <= MAX_UNIT_LENGTH
        and not _POWER_OF_A_NUMBER.search(unit)
        and (not brackets or (brackets == 1 and not _LONG_NUMBER.search(unit)))
    )


def _pint_name(unit: str) -> str:
    unit = re.sub(r"/\s*100\s*km$", "/hectokilometer", unit.strip().translate(_POWERS))
    unit = re.sub(r"(?<=[a-z])([23])$", r"**\1", unit)
    unit = _PINT_RATES.get(unit, unit).replace("/hectokilometer", "/(100*km)")
    return _PINT_UNITS.get(unit, unit)
