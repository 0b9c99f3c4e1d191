"""Parse numbers, ranges, pairs and units: "167 - 153 g/km" -> a range of 153 to 167 g/km.
Then a column of text as numbers in one unit; units at the end of property names: "lengthM" is a length in m."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from math import inf, isclose, isfinite
from typing import Any, NamedTuple

from ingestion.induce.names import expand_abbreviations, readable_name
from ingestion.vocabulary import local_name
from nacre.language.data import pattern, word_list, word_map
from nacre.language.quantities import magnitude_of_name
from nacre.language.thesaurus import english_data
from nacre.language.tokens import fold, lemma
from nacre.language.word_forms import singular
from nacre.records.schema import Predicate, Shape

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

_ORDINAL = re.compile(r"[0-9]+(?:st|nd|rd|th)")

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
    """The quantity in a text that consists of nothing else; None for other texts."""
    if simple := SIMPLE_QUANTITY.fullmatch(text):
        low, high, unit = simple.groups("")
        if not unit or is_common_unit(unit):
            return WrittenQuantity("range" if high else "single", float(low), float(high) if high else None, unit)
    text = text.strip()
    if not text or len(text) > _LONGEST or not any(c.isdigit() for c in text) or _ORDINAL.fullmatch(text):
        return None
    if note := _NOTE.match(text):
        inner = parse_quantity(note[2], decimal_comma)
        if inner is None:
            return None
        text = note[1]
    text = _MISSING.sub("", text)
    if text.count(" ") > 1:
        for symbols, words in word_map("ingestion", "worded_units").items():
            text = re.sub(words, symbols, text, flags=re.IGNORECASE)
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
    >>> stated_unit("weight in pounds"), stated_unit("Its value, in pounds.")
    ('lb', '£')
    """
    is_money = not word_list("ingestion", "money_words").isdisjoint(re.findall(r"\w+", text.lower()))
    for found in pattern("ingestion", "stated_unit").finditer(text):
        word = found[2]
        name = word.lower().removesuffix("s").replace("meter", "metre")
        unit = word if word in COMMON_UNITS else word_map("ingestion", "unit_names").get(name)
        unit = word_map("ingestion", "money_names").get(name, unit) if is_money else unit
        # "in s", "in second place": too short or too ambiguous for a unit
        if unit and word != unit[:1] and word.lower() != "second":
            return unit + {"square": "²", "cubic": "³"}.get((found[1] or "").strip().lower(), "")
    return ""


def unit_conversion(unit: str, target: str) -> tuple[float, float] | None:
    """Factor and offset that convert a number from one unit to another; None for different dimensions."""
    if CURRENCY_SIGNS.get(unit, unit) == CURRENCY_SIGNS.get(target, target) != "" or unit == target:
        return 1.0, 0.0
    return None if not unit or not target else _linear(unit, target)


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
    return number if number.is_integer() and -1e11 < number < 1e11 else float(f"{number:.12g}")


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


_ZEROS = re.compile(r"[-+]?0\d+")

# a number or two, followed by a word
_COUNTED = re.compile(r"([-+−]?\d[\d.,]*(?:\s?[-–−]\s?\d[\d.,]*)?) ([^\W\d_][^\s\d]{0,11}|°)")

_DIGIT = re.compile(r"\d")

_COMMA = re.compile(r"\d+,(\d{1,2}|\d{4,})\b")

# minimum number of values with the same word for it to be a unit; number of values that are examined
FEWEST, _FIRST = 2, 30

# minimum share of distinct values that are quantities for a column to be numeric
MIN_READ = 0.9


@dataclass(frozen=True)
class ColumnQuantities:
    """The distinct values of one predicate as numbers in one unit; None for a value without a number."""

    unit: str
    shape: Shape
    numbers: tuple[tuple[float, float, float] | None, ...]
    whole: bool


def read_quantities(
    texts: Sequence[str], least: float = MIN_READ, counts: Sequence[int] = ()
) -> ColumnQuantities | None:
    """Distinct values as numbers in the most frequent unit; None if less than a share of `least` are quantities. Other
    units of the same dimension are converted; those of another dimension have no number. With a unit it is enough if
    that share of all values, of which each occurs `counts` times, are quantities, or most are, of one
    dimension, and one text is none."""
    if alike := _written_alike(texts):
        return alike
    if any(map(_ZEROS.fullmatch, texts)) or not any(map(_DIGIT.search, texts)):
        return None
    counts = counts or [1] * len(texts)
    allowed, allowed_rows = (int(n * (1 - least) + 1e-9) for n in (len(texts), sum(counts)))
    texts, word = _without_word(texts)
    comma = any(map(_COMMA.match, texts)) and not any("." in t for t in texts)
    found: list[WrittenQuantity | None] = []
    misses = missed_rows = 0
    for text, count in zip(texts, counts, strict=True):
        found.append(parse_quantity(text, comma))
        misses += found[-1] is None
        missed_rows += count * (found[-1] is None)
        if misses > max(allowed, 1) and missed_rows > allowed_rows:
            return None
    units = Counter([q.unit for q in found if q])
    unit = max(units, key=lambda u: (units[u], u), default="")
    numbers = tuple([_in_unit(q, unit) for q in found])
    is_alike = (unit or word) and 2 * missed_rows < sum(counts) and numbers.count(None) == misses
    if misses > allowed and not is_alike:
        return None
    shapes: Counter[Shape] = Counter([q.shape for q in found if q and q.shape != "single"])
    shape: Shape = max(shapes, key=lambda s: (shapes[s], s)) if shapes else "single"
    return ColumnQuantities(unit or word, shape, numbers, _are_whole(set(chain.from_iterable(filter(None, numbers)))))


def _without_word(texts: Sequence[str]) -> tuple[Sequence[str], str]:
    """The values without an unknown word after their numbers: it counts as a unit if most values have it.

    >>> _without_word(["88 dB", "85 - 90 dB"]), _without_word(["180", "2500", "900 people"])
    ((['88', '85 - 90'], 'dB'), (['180', '2500', '900'], ''))
    >>> _without_word(["3 apples", "4 pears"]), _without_word(["1 apple", "4 apples"])
    ((['3 apples', '4 pears'], ''), (['1', '4'], 'apple'))
    """
    if len(texts) < FEWEST or not any(map(_COUNTED.fullmatch, texts[:_FIRST])):
        return texts, ""
    found = [_COUNTED.fullmatch(text) for text in texts]
    words = Counter(match[2] for match in found if match)
    word = min(words)
    if len(set(map(singular, words))) > 1 or is_known_unit(word):
        return texts, ""
    bare = [match[1] if match else text for match, text in zip(found, texts, strict=True)]
    return bare, word if 2 * words.total() > len(texts) else ""


def _written_alike(texts: Sequence[str]) -> ColumnQuantities | None:
    """Plain numbers with one common unit or none, the usual case; None for other columns."""
    if not texts or not SIMPLE_QUANTITY.fullmatch(texts[0]):
        return None
    # one search over all values, joined by line breaks, takes half the time
    lines = "\n".join(texts)
    found = SIMPLE_QUANTITY_LINES.findall(lines)
    if len(found) < len(texts) or lines.count("\n") >= len(texts):
        return None
    numbers, seconds, units = zip(*found, strict=True)
    unit = units[0]
    if any(seconds) or units.count(unit) < len(units) or (unit and not is_common_unit(unit)):
        return None
    first = list(map(float, numbers))
    whole = _are_whole(first)
    if not whole:
        first = list(map(round_noise, first))
    return ColumnQuantities(unit, "single", tuple(zip(first, first, first, strict=True)), whole)


def _are_whole(numbers: Collection[float]) -> bool:
    return all(map(float.is_integer, numbers)) and max(map(abs, numbers), default=0) < 2**53


def _in_unit(found: WrittenQuantity | None, unit: str) -> tuple[float, float, float] | None:
    if found is None:
        return None
    if found.second is None and found.unit in (unit, ""):
        only = round_noise(found.first)
        return only, only, only
    # a number without a unit is in that of the others
    way = unit_conversion(found.unit or unit, unit)
    if way is None:
        return None
    first = convert(found.first, way)
    if first is None:
        return None
    if found.second is None:
        return first, first, first
    second = convert(found.second, way)
    if second is None:
        return None
    # halves, since the sum of two floats may be too large for a float
    value = round_noise(first / 2 + second / 2) if found.shape == "range" else first
    return value, min(first, second), max(first, second)


_BRACKETS = re.compile(r"(?:(?<!\s)\s++)?\(([^()]{1,12})\)\s*+$")

# minimum length of the word before a unit; maximum number of words of a unit: "km h"
_SHORTEST, _LONGEST_UNIT = 3, 2


def add_name_units(predicates: Sequence[Predicate], classes: Collection[str]) -> tuple[Predicate, ...]:
    """Numeric properties with the unit at the end of their names; labels made from IRIs lose the unit, unless the rest
    is the label of another property or of a class (`classes` are their labels)."""
    found = [_named(p) for p in predicates]
    labels = Counter([fold(p.label) for p in predicates] + [fold(rest) for rest, _ in found if rest])
    taken = {fold(label) for label in classes} | {label for label, count in labels.items() if count > 1}
    named = zip(predicates, found, strict=True)
    return tuple(_called(p, "" if fold(rest) in taken else rest, unit) for p, (rest, unit) in named)


def _called(predicate: Predicate, rest: str, unit: str) -> Predicate:
    """The property with its unit; if its label loses the unit, the old label becomes an alternative one."""
    named = replace(predicate, unit=unit) if unit else predicate
    return replace(named, label=rest, alt_labels=(*named.alt_labels, named.label)) if rest else named


def _named(predicate: Predicate) -> tuple[str, str]:
    """The label without its unit ("" if it stays as it is), and the unit."""
    numbers = predicate.datatype in ("integer", "real") and predicate.role == "fact" and not predicate.has_links
    if not numbers:
        return "", ""
    if counted := magnitude_of_name(predicate.label) or magnitude_of_name(local_name(predicate.iri)):
        return "", counted[1] if predicate.unit in ("", counted[1]) else ""
    if brackets := _BRACKETS.search(predicate.label):
        said = brackets[1]
        unit = (
            said
            if said in UNIT_SYMBOLS or is_common_unit(said)
            else _unit(said.lower()) or _spelt_out().get(said.lower(), "")
        )
        return "", unit if predicate.unit in ("", unit) else ""
    name, label = readable_name(local_name(predicate.iri)), predicate.label
    unit = trailing_unit(name)[1] or trailing_unit(expand_abbreviations(name))[1]
    if not unit or predicate.unit not in ("", unit):
        return "", ""
    # a stated label stays as it is
    derived = any(
        fold(said).replace(" ", "").endswith(fold(label).replace(" ", ""))
        for said in (name, expand_abbreviations(name))
    )
    return trailing_unit(label)[0] if derived else "", unit


def trailing_unit(name: str) -> tuple[str, str]:
    """The words of a name before its unit, and the unit; the name and "" if it does not end in a unit.
    Ambiguous units, such as single letters, only count after a noun that is measured in them."""
    words = name.split()
    for size in range(min(_LONGEST_UNIT, len(words) - 1), 0, -1):
        rest = words[: -size - 1] if words[-size - 1].lower() == "in" else words[:-size]
        last = rest[-1].lower() if rest else ""
        if len(last) < _SHORTEST or not last.isalpha() or last == "per" or _unit(last):
            continue
        spelt = "/".join(words[-size:]).lower()
        unit = _unit(spelt) or _units_of().get(lemma(last), {}).get(spelt, "")
        if unit:
            return " ".join(rest), unit
    return name, ""


def _unit(spelt: str) -> str:
    """The unit with this spelling, independent of the noun; "" for none."""
    code = spelt.upper()
    return code if code in CURRENCY_SIGNS else str(english_data()["units_in_names"].get(spelt, ""))


@cache
def _spelt_out() -> dict[str, str]:
    """Unambiguous words for units: "minutes", "litres"."""
    known = {spelt: unit for units in _units_of().values() for spelt, unit in units.items()}
    return {spelt: unit for spelt, unit in known.items() if len(spelt) > _SHORTEST}


@cache
def _units_of() -> dict[str, dict[str, str]]:
    """Measured noun -> spelling of a unit -> unit."""
    return {noun: group["units"] for group in english_data()["units_after"] for noun in group["measured"].split()}
