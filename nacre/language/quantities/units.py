"""Units of measure: conversion, and units of thousands or millions ("million USD")."""

import re
from functools import cache, lru_cache
from math import isfinite
from typing import Any

from nacre.language.base import word_list
from nacre.language.thesaurus import english_data
from nacre.language.tokens import split_name

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


def load_unit_registry() -> None:
    """Load the registry of units, so that the first conversion does not wait for it."""
    _registry()


def convert_unit(value: float, unit: str, target: str) -> float | None:
    """The value in another unit; None if the two measure different things.

    >>> convert_unit(4.8, "m", "mm")
    4800.0
    """
    if unit == target or not unit or not target:
        return value
    factor = _factor(unit, target)
    if factor is None:
        return None
    converted = value * factor if factor else _convert(value, unit, target)
    return None if converted is None or not isfinite(converted) else float(round(converted, 9))


def is_unit_factor(number: float) -> bool:
    """Whether a number converts one unit of the language data into another, such as km into miles or days into years.

    >>> is_unit_factor(1.609), is_unit_factor(365.25), is_unit_factor(4711)
    (True, True, False)
    """
    return any(abs(number - factor) <= UNIT_FACTOR_SLACK * factor for factor in _unit_factors())


@cache
def _unit_factors() -> frozenset[float]:
    units = sorted(set(english_data()["units"].values()))
    factors = (_factor(one, other) for one in units for other in units)
    return frozenset(factor for factor in factors if factor)


@cache
def _registry() -> Any:
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
        magnitude: float = _registry().Quantity(value, _pint_name(unit)).to(_pint_name(target)).magnitude
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
    """A unit as written in data, in the syntax of pint."""
    unit = re.sub(r"/\s*100\s*km$", "/hectokilometer", unit.strip().translate(_POWERS))
    unit = re.sub(r"(?<=[a-z])([23])$", r"**\1", unit)
    unit = _PINT_RATES.get(unit, unit).replace("/hectokilometer", "/(100*km)")
    return _PINT_UNITS.get(unit, unit)
