"""The numbers of a question, in digits or words, with their units: text -> Quantities."""

import re
from functools import cache
from typing import NamedTuple

from nacre.language.base import pattern, phrase_list
from nacre.language.quantities.amounts import is_currency, numbers_with_units
from nacre.language.quantities.units import convert_unit
from nacre.language.thesaurus import english_data
from nacre.language.tokens import fold, lemma

# "g/cm3", "mol/l", "m²"
_COMPOUND = re.compile(r"[a-zµ]{1,4}/[a-z]{1,4}[23]?|(?:[cmk]?m|ft|yd|mi|foot|yard|mile)[23]")
# the word before "hundred", "thousand", "million": "ten thousand", "a million"
_BEFORE_MULTIPLIER = re.compile(r"\b([a-z]+)(?=[\s-]+([a-z]+)\b)", re.IGNORECASE)
_TENS = re.compile(r"\b([a-z]+ty)[\s-]([a-z]+)\b", re.IGNORECASE)


class Quantity(NamedTuple):
    """A number of a question, its unit ("" none, "currency" for money) and its place in characters.

    `many` is the multiplier in words ("2 million"), which is already part of `value`.
    """

    value: float
    unit: str
    start: int
    end: int
    many: float = 1.0


def find_quantities(text: str) -> list[Quantity]:
    """The numbers of a text with their units.

    >>> find_quantities("longer than 4.8 m and under 45k euros")[0]
    Quantity(value=4.8, unit='m', start=12, end=17, many=1.0)
    >>> [(q.value, q.unit) for q in find_quantities("an hour and a half, two and a half kilos, a cat and a half")]
    [(1.5, 'h'), (2.5, 'kg')]
    >>> [q.value for q in find_quantities("two dozen eggs, a dozen, half a dozen")]
    [24.0, 12.0, 6.0]
    >>> [(q.value, q.unit, q.end) for q in find_quantities("at 5 metres per second, 8 hours per day")]
    [(5.0, 'm/s', 22), (8.0, 'h', 31)]
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
