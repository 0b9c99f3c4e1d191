"""Parse numbers, ranges, pairs and units: "167 - 153 g/km" -> a range of 153 to 167 g/km."""

import re
from functools import cache
from math import inf, isclose, isfinite
from typing import Any, NamedTuple

from nacre.language.base import pattern, word_map
from nacre.records.schema import Shape

_NUMBER = r"(?:\d{1,3}(?:[,'’\u00a0\u202f]\d{3})+(?:\.\d+)?|\d+(?:\.\d+|,\d+)?(?:[eE][+-]?\d+)?|\.\d+)"
_PER_UNIT = r"(?:\s?/\s?(?:10{0,3}\s?)?[^\W\d_][^\s\d/()]*)?"
_UNIT = rf"(?:[^\W\d_]|[µμ°%‰€$£¥])[^\s\d/()]*{_PER_UNIT}(?:\^?[23²³])?"
# the most frequent codes of ISO 4217, and the equivalent signs
CURRENCY_SIGNS = {
    **{"EUR": "€", "USD": "$", "GBP": "£", "JPY": "¥"},
    **dict.fromkeys("AUD BRL CAD CHF CNY CZK DKK HKD HUF INR KRW MXN NOK NZD PLN SEK SGD ZAR".split(), ""),
}
_MONEY = f"(?:[€$£¥]|(?:{'|'.join(CURRENCY_SIGNS)})(?![^\\W\\d_]))"
# the form of most values
_PLAIN = r"((?:[1-9][0-9]{0,15}|0)(?:\.[0-9]{1,15})?)"
_SIMPLE = rf"{_PLAIN}(?: - {_PLAIN})?(?: ([^\s0-9]{{1,6}}))?"
SIMPLE_QUANTITY = re.compile(_SIMPLE)
SIMPLE_QUANTITY_LINES = re.compile(f"^{_SIMPLE}$", re.MULTILINE)

_NOTE = re.compile(r"^(.*\S)\s*\(([^()]*)\)$", re.DOTALL)
_MISSING = re.compile(r"^(?:\.{2,}|…|-+|–|—|\?+|n/?a)\s*+(?:[^\W\d_]++\s*+)?/\s*+(?=\d)", re.IGNORECASE)
_PER = re.compile(r"^10{1,3}(?=[^\W\d])")
# money and percentages: pint has no currencies, and they are never converted
UNIT_SYMBOLS = frozenset("€$£¥%‰") | frozenset(CURRENCY_SIGNS)
# spellings that need no pint: loading it takes half a second, and most graphs only use these
_COMMON = """
    mm cm dm m km mi ft in yd g kg mg t lb oz s ms min h W kW MW GW hp V kV A mA J kJ MJ Wh kWh MWh GWh Hz kHz MHz GHz
    Pa kPa MPa bar mbar K l L ml cl dl hl N kN Nm ha mph mpg m² km² cm² m³ cm³ GB MB kB TB
"""
COMMON_UNITS = frozenset(_COMMON.split())

_LONGEST = 60
# maximum relative difference of two steps of a linear conversion: above the noise of floats (given)
LINEAR_TOLERANCE = 1e-6


class WrittenQuantity(NamedTuple):
    """Numbers as written: `second` is None for a single number; `unit` is "" if the text has none."""

    shape: Shape
    first: float
    second: float | None
    unit: str


def parse_quantity(text: str, decimal_comma: bool = False) -> WrittenQuantity | None:
    """The quantity in a text that consists of nothing else; None for other texts.

    >>> parse_quantity("167 − 153 g/km")
    WrittenQuantity(shape='range', first=167.0, second=153.0, unit='g/km')
    >>> parse_quantity("11,000 EUR")
    WrittenQuantity(shape='single', first=11000.0, second=None, unit='EUR')
    >>> parse_quantity("125 kW (170 hp)")
    WrittenQuantity(shape='single', first=125.0, second=None, unit='kW')
    >>> parse_quantity("01234"), parse_quantity("nan"), parse_quantity("5 apples")
    (None, None, None)
    """
    if simple := SIMPLE_QUANTITY.fullmatch(text):
        low, high, unit = simple.groups("")
        if not unit or is_common_unit(unit):
            return WrittenQuantity("range" if high else "single", float(low), float(high) if high else None, unit)
    text = text.strip()
    if not text or len(text) > _LONGEST or not any(c.isdigit() for c in text):
        return None
    if note := _NOTE.match(text):
        inner = parse_quantity(note[2], decimal_comma)
        if inner is None:
            return None
        text = note[1]
    text = _MISSING.sub("", text)
    if time := _time_pattern().fullmatch(text):
        return WrittenQuantity("single", int(time[1]) * 60 + int(time[2]) + int(time[3] or 0) / 60, None, "min")
    whole = _quantity_pattern().fullmatch(text)
    if not whole:
        return None
    first = _number(whole["n1"], decimal_comma)
    unit = (whole["u1"] or whole["m1"] or "").strip()
    if whole["sep"] is None:
        if first is None or (unit and not is_known_unit(unit)):
            return None
        return WrittenQuantity("single", first, None, _plain(unit))
    second = _number(whole["n2"], decimal_comma)
    other = (whole["u2"] or whole["m2"] or "").strip()
    if first is None or second is None:
        return None
    if not (unit or other) and whole["sep"].strip() in {"-", "/"} and whole["sep"].strip() == whole["sep"]:
        # "555-1234" and "3/4" are codes and fractions, not ranges and pairs
        return None
    unit = unit or other
    if (unit and not is_known_unit(unit)) or (other and not is_known_unit(other)):
        return None
    if other and _plain(other) != _plain(unit):
        way = unit_conversion(_plain(unit), _plain(other))
        converted = convert(first, way) if way else None
        if converted is None:
            return None
        first, unit = converted, other
    return WrittenQuantity("pair" if whole["sep"].strip() == "/" else "range", first, second, _plain(unit))


def stated_unit(text: str) -> str:
    """The unit that a comment or a name states, "" if it states none.

    >>> stated_unit("Length of a river in kilometres."), stated_unit("area in square miles"), stated_unit("age in full")
    ('km', 'mi²', '')
    """
    for found in pattern("ingestion", "stated_unit").finditer(text):
        word = found[2]
        name = word.lower().removesuffix("s").replace("meter", "metre")
        unit = word if word in COMMON_UNITS else word_map("ingestion", "unit_names").get(name)
        # "in s", "in second place": too short or too ambiguous for a unit
        if unit and word != unit[:1] and word.lower() != "second":
            return unit + {"square": "²", "cubic": "³"}.get((found[1] or "").strip().lower(), "")
    return ""


def unit_conversion(unit: str, target: str) -> tuple[float, float] | None:
    """Factor and offset that convert a number from one unit to another; None for different dimensions.

    >>> unit_conversion("m", "mm"), unit_conversion("kg", "mm"), unit_conversion("EUR", "€")
    ((1000.0, 0.0), None, (1.0, 0.0))
    """
    if CURRENCY_SIGNS.get(unit, unit) == CURRENCY_SIGNS.get(target, target) != "" or unit == target:
        return 1.0, 0.0
    if not unit or not target:
        return None
    return _linear(unit, target)


def convert(number: float, way: tuple[float, float]) -> float | None:
    """A number in another unit, by factor and offset; None if it is too large for a float.

    >>> convert(1.8, (1000.0, 0.0)), convert(1e308, (1000.0, 0.0))
    (1800.0, None)
    """
    converted = number * way[0] + way[1]
    return round_noise(converted) if isfinite(converted) else None


@cache
def _quantity_pattern() -> re.Pattern[str]:
    """A number or two with units, as a whole text."""
    between = rf"(?P<sep>\s*[-–−—/…]\s*|\s*\.\.\.\s*|\s+(?:{pattern('ingestion', 'range_words').pattern})\s+)"
    return re.compile(
        rf"(?:{pattern('ingestion', 'approximations').pattern})?\s*"
        rf"(?P<m1>{_MONEY})?\s?(?P<n1>[-+−]?{_NUMBER})\s*(?P<u1>{_UNIT})??"
        rf"(?:{between}(?P<m2>{_MONEY})?\s?(?P<n2>{_NUMBER})\s*(?P<u2>{_UNIT})?)?"
    )


@cache
def _time_pattern() -> re.Pattern[str]:
    """A time in hours and minutes: "2:30 h"."""
    hours = pattern("ingestion", "hour_words").pattern
    return re.compile(rf"(\d{{1,3}}):([0-5]\d)(?::([0-5]\d))?\s*(?:{hours})\.?")


@cache
def _linear(unit: str, target: str) -> tuple[float, float] | None:
    """Factor and offset; None for units of logarithms and for factors too large or too small for a float."""
    import pint

    one, two = _pint(unit), _pint(target)
    if one is None or two is None:
        return None
    registry = _registry()

    def converted(number: float) -> float:
        magnitude: float = registry.Quantity(number, one[0]).to(two[0]).magnitude * one[1] / two[1]
        return magnitude

    try:
        full, double, triple = converted(1.0), converted(2.0), converted(3.0)
        # not a number never is close to one
        if not isclose(triple - double, double - full, rel_tol=LINEAR_TOLERANCE):
            return None
        zero = converted(0.0)
    except (pint.PintError, ArithmeticError):
        return None
    way = round_noise(full - zero), round_noise(zero)
    return way if way[0] and isfinite(way[0]) else None


def _number(text: str, decimal_comma: bool) -> float | None:
    text = text.replace("−", "-")
    if re.match(r"[-+]?0\d", text):
        return None
    if decimal_comma:
        return _finite(text.replace(",", ".")) if text.count(",") <= 1 else None
    if re.fullmatch(r"[-+]?\d+,\d+([eE].*)?", text) and not re.fullmatch(r"[-+]?\d{1,3},\d{3}", text):
        return _finite(text.replace(",", "."))
    return _finite(re.sub(r"[,'’\u00a0\u202f]", "", text))


def _finite(text: str) -> float | None:
    number = float(text)
    return number if abs(number) != inf else None


def round_noise(number: float) -> float:
    """A number rounded to twelve digits, without floating-point noise.

    >>> round_noise(0.1 + 0.2)
    0.3
    """
    if number.is_integer() and -1e11 < number < 1e11:
        return number
    return float(f"{number:.12g}")


def is_known_unit(unit: str) -> bool:
    """Whether a word is a convertible unit or a currency."""
    return is_common_unit(unit) or _pint(unit) is not None


def _plain(unit: str) -> str:
    if not unit or is_common_unit(unit):
        return unit
    known = _pint(unit)
    return known[2] if known else unit


@cache
def is_common_unit(unit: str) -> bool:
    """Whether a unit is known without loading pint.

    >>> is_common_unit("g/km"), is_common_unit("furlong")
    (True, False)
    """
    top, slash, bottom = unit.partition("/")
    return unit in UNIT_SYMBOLS or (top in COMMON_UNITS and (not slash or _PER.sub("", bottom) in COMMON_UNITS))


@cache
def _registry() -> Any:
    import pint

    registry: Any = pint.UnitRegistry(cache_folder=None)
    registry.define("mpg = mile / gallon")
    registry.define("@alias byte = B")
    return registry


@cache
def _pint(unit: str) -> tuple[Any, float, str] | None:
    """The pint unit, a factor that its name can't express ("/100km" is 1/100 of "/km"), and pint's spelling."""
    unit = unit.strip().rstrip(".")
    top, slash, bottom = unit.partition("/")
    number = re.match(r"\s?(10{0,3})\s?(?=\D)", bottom)
    factor = 1 / float(number[1]) if number else 1.0
    below = bottom[number.end() :] if number else bottom.strip()
    parts = []
    for part in (top.strip(), below):
        spelling = _spelling(part) if part else ""
        if spelling is None:
            return None
        parts.append(spelling)
    registry = _registry()
    parsed = registry.parse_units(f"{_power(parts[0])}/({_power(parts[1])})" if slash else _power(parts[0]))
    written = f"{parts[0]}/{number[1] if number else ''}{parts[1]}" if slash else parts[0]
    return parsed, factor, written


def _spelling(name: str) -> str | None:
    """The name in pint's spelling; only the case may differ, as in "Kg"."""
    if name in COMMON_UNITS:
        return name
    registry = _registry()
    try:
        if not registry.parse_units(_power(name)).dimensionless:
            return name
    except Exception:  # pint's tokenizer raises many kinds of errors for other texts
        pass
    return name.lower() if name.lower() in COMMON_UNITS else None


def _power(name: str) -> str:
    return re.sub(r"(?<=[^\W\d])\^?([23²³])$", lambda m: "**" + {"²": "2", "³": "3"}.get(m[1], m[1]), name)
