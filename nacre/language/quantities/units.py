"""Numbers with units in a question, and their conversion: text -> Quantity."""

import re
from functools import cache, lru_cache
from typing import Any, NamedTuple

from nacre.language.thesaurus import english_data
from nacre.language.tokens import fold, lemma, split_name

_UNIT = (
    r"km/h|m/s|g/km|kwh/100\s?km|l/100\s?km|[a-zµ]{1,4}/[a-z]{1,4}[23²³]?|(?:[cmk]?m|ft|yd|mi|foot|yard|mile)[23²³]"
    r"|[%€$£]|°\s?[cf]\b|[a-z]+"
)
_NUMBER = re.compile(
    r"(?:(?P<currency>[€$£])\s?)?(?<![\w.])(?P<n>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?!\d|\.\d)"
    rf"(?P<unit>\s?-?\s?(?:{_UNIT}))?",
    re.IGNORECASE,
)
_AFTER_NUMBER = re.compile(rf"\s*-?\s?({_UNIT})", re.IGNORECASE)


_POWERS = str.maketrans("²³", "23")
# "g/cm3", "mol/l", "m²"
_COMPOUND = re.compile(r"[a-zµ]{1,4}/[a-z]{1,4}[23]?|(?:[cmk]?m|ft|yd|mi|foot|yard|mile)[23]")
_HALF = re.compile(r"\bhalf (?:an?|the)\b", re.IGNORECASE)
_DOZEN = re.compile(r"\b(half an?|[a-z]+)\s+dozens?\b", re.IGNORECASE)
# the word before "hundred", "thousand", "million": "ten thousand", "a million"
_BEFORE_MANY = re.compile(r"\b([a-z]+)(?=[\s-]+([a-z]+)\b)", re.IGNORECASE)
# "20 sq metres", "3 cubic feet", "50 sqm"
_RAISED = re.compile(r"(?<=\d )(?:(?P<sq>square|sq\.?)|cubic|cu\.?)\s+(?P<of>[a-z]+)\b", re.IGNORECASE)
_GLUED = re.compile(r"(?<=\d)(?P<gap>\s?)sq(?P<of>m|ft|km|mi|yd)\b", re.IGNORECASE)
# "5 metres per second"
_PER = re.compile(r"(?<=\d )([a-z]+)\s+per\s+([a-z]+)\b", re.IGNORECASE)
_TENS = re.compile(r"\b([a-z]+ty)[\s-]([a-z]+)\b", re.IGNORECASE)

# "a day" is an amount only where something is compared with it: a "day fee" is none
_COMPARED = ("than", "least", "most", "over", "under", "above", "below", "within", "exactly", "for", "about")
_ONE = re.compile(
    rf"((?:{'|'.join(f'(?<={word} )' for word in _COMPARED)})an?|\bone)"
    r"(\s+(?:hours?|minutes?|seconds?|days?|weeks?|months?|years?|met(?:er|re)s?|kilos?|tonn?es?)\b)",
    re.IGNORECASE,
)


# what numbers of data are counted in
MAGNITUDES = frozenset({"thousand", "million", "billion"})


class Quantity(NamedTuple):
    """A number of a question, its unit ("" none, "currency" for money) and its place in characters; `many` is how many
    are counted as one ("2 million"), by which it is multiplied already."""

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
    units, currencies = english_data()["units"], english_data()["currencies"]
    multipliers = english_data()["multipliers"]
    dozens = {m.start(): m.end() for m in _DOZEN.finditer(text)}
    text = _DOZEN.sub(_in_digits, text)
    text = _and_a_half().sub(_with_half, text)
    text = _HALF.sub(lambda m: "0.5".ljust(len(m[0])), text)
    text = _ONE.sub(lambda m: "1".ljust(len(m[1])) + m[2], text)
    text = _GLUED.sub(lambda m: f"{m['gap']}{m['of']}2".rjust(len(m[0])), _RAISED.sub(_as_power, text))
    text = _PER.sub(_as_compound, _BEFORE_MANY.sub(_as_digits, _TENS.sub(_together, text)))
    found = []
    for match in _NUMBER.finditer(text):
        value, end = float(match["n"].replace(",", "")), match.end("n")
        unit = "currency" if match["currency"] else ""
        many = 1.0
        rest = text[end:]
        while word := _AFTER_NUMBER.match(rest):
            token = fold(word[1]).replace(" ", "")
            base = token if token in units else lemma(token)
            money = unit == "currency"
            if token in multipliers and unit in ("", "currency") and not (token == "m" and word[0][0] == " "):
                if token == "m" and not match["currency"]:
                    unit = "m"
                else:
                    many *= multipliers[token]
            elif base in currencies or token in currencies:
                unit = "currency"
            elif base in units and unit == "":
                unit = units[base]
            elif _COMPOUND.fullmatch(token) and unit == "":
                unit = token
            else:
                break
            end += word.end()
            rest = text[end:]
            if unit and not money:
                break
        if end == match.end("n") and end < len(text) and text[end].isalpha():
            continue
        found.append(Quantity(value * many, unit, match.start(), max(end, dozens.get(match.start(), end)), many))
    return found


def _in_digits(dozens: re.Match[str]) -> str:
    """How many some dozens are, in as many characters."""
    said, numbers = dozens[1].casefold(), english_data()["numbers"]
    many = 0.5 if said.startswith("half ") else 1 if said in ("a", "an") else numbers.get(said)
    return dozens[0] if many is None else f"{many * numbers['dozen']:g}".ljust(len(dozens[0]))


@cache
def _and_a_half() -> re.Pattern[str]:
    """ "an hour and a half", "two and a half kilos"."""
    numbers = "|".join(("an?", r"\d+", *english_data()["numbers"]))
    words = rf"\b(?P<n>{numbers})(?:\s(?P<unit>[a-z]+))?\s+and\s+a\s+half\b(?P<after>\s+[a-z]+)?"
    return re.compile(words, re.IGNORECASE)


def _with_half(match: re.Match[str]) -> str:
    """A number of a unit and a half of it in digits, in as many characters."""
    said, units = match["n"].casefold(), english_data()["units"]
    whole = 1 if said in ("a", "an") else int(said) if said.isdigit() else english_data()["numbers"].get(said)
    unit = (match["unit"] or match["after"] or "").strip().casefold()
    if whole is None or not (unit in units or lemma(unit) in units):
        return match[0]
    rest = match["after"] or "" if match["unit"] else ""
    return f"{whole + 0.5:g} {unit}".ljust(len(match[0]) - len(rest)) + rest


def _together(match: re.Match[str]) -> str:
    """ "twenty-five" in digits; the text keeps its length."""
    numbers = english_data()["numbers"]
    tens, ones = (numbers.get(word.casefold(), 0) for word in match.groups())
    return str(tens + ones).zfill(len(match[0])) if tens >= 20 and 0 < ones < 10 else match[0]


def _as_digits(match: re.Match[str]) -> str:
    """A number said as a word in digits where it is one of "a million", "ten thousand"; the text keeps its length."""
    word, many = match[1].casefold(), match[2].casefold()
    value = english_data()["numbers"].get(word, 1 if word in ("a", "an") else None)
    known = many in english_data()["multipliers"] and len(many) > 2 and word not in english_data()["multipliers"]
    return str(value).zfill(len(word)) if known and value is not None and len(str(value)) <= len(word) else match[0]


def _as_power(match: re.Match[str]) -> str:
    """A unit of an area or a volume, at the end of as many characters."""
    word = fold(match["of"])
    unit = english_data()["units"].get(word) or english_data()["units"].get(lemma(word))
    raised = f"{unit}{2 if match['sq'] else 3}"
    return raised.rjust(len(match[0])) if unit and _COMPOUND.fullmatch(raised) else match[0]


def _as_compound(match: re.Match[str]) -> str:
    """A speed or another rate that is said in words as its unit, at the end of as many characters; hours per day are
    hours."""
    units = english_data()["units"]
    over, under = (units.get(fold(word)) or units.get(lemma(fold(word))) for word in match.groups())
    if over is None or under is None or convert_unit(1, over, "s") is not None:
        return match[0]
    unit = f"{over}/{under}"
    return unit.rjust(len(match[0])) if _COMPOUND.fullmatch(unit) else match[0]


@lru_cache(maxsize=4096)
def split_magnitude(unit: str) -> tuple[float, str]:
    """How many are counted as one in a unit, and the unit of each: numbers in "million USD".

    >>> split_magnitude("million USD"), split_magnitude("billion"), split_magnitude("km")
    ((1000000.0, 'USD'), (1000000000.0, ''), (1.0, 'km'))
    """
    first, _, rest = unit.partition(" ")
    return (float(english_data()["multipliers"][first]), rest) if first in MAGNITUDES else (1.0, unit)


def magnitude_of_name(name: str) -> tuple[str, str] | None:
    """What a property is called that says what its numbers are counted in, and that: the words before it and the unit;
    None for other names.

    >>> magnitude_of_name("budget in millions"), magnitude_of_name("sales (USD billions)"), magnitude_of_name("million")
    (('budget', 'million'), ('sales', 'billion USD'), None)
    """
    if not any(many in name.casefold() for many in MAGNITUDES):
        return None
    words, codes = re.sub(r"[()]", " ", split_name(name)).split(), english_data()["currency_codes"]
    at, found = len(words), dict[str, str]()
    while at > 1:
        word = words[at - 1]
        many = word.removesuffix("s")
        coin = codes.get(word) or codes.get(many)
        if many in MAGNITUDES and "many" not in found:
            found["many"] = many
        elif coin and "each" not in found:
            found["each"] = coin
        elif word not in ("in", "of"):
            break
        at -= 1
    if "many" not in found or not words[:at]:
        return None
    return " ".join(words[:at]), f"{found['many']} {found.get('each', '')}".strip()


@cache
def _registry() -> Any:
    import pint

    return pint.UnitRegistry(on_redefinition="ignore", cache_folder=None)


def load_unit_registry() -> None:
    """Load the registry of units where that was not done yet."""
    _registry()


def convert_unit(value: float, unit: str, target: str) -> float | None:
    """The value in another unit; None where the two do not measure the same.

    >>> convert_unit(4.8, "m", "mm")
    4800.0
    """
    if unit == target or not unit or not target:
        return value
    factor = _factor(unit, target)
    if factor is None:
        return None
    return float(round(value * factor if factor else _converted(value, unit, target), 9))


# a number of a question is tried on each property with a unit, again and again
@lru_cache(maxsize=4096)
def _factor(unit: str, target: str) -> float | None:
    """What one of a unit is in another; 0.0 where it takes more than a factor, as for degrees, and None where the two
    do not measure the same."""
    import pint

    try:
        nothing, one = (_converted(value, unit, target) for value in (0.0, 1.0))
    except (pint.errors.PintError, ValueError, AssertionError):
        return None
    return one if nothing == 0 else 0.0


def _converted(value: float, unit: str, target: str) -> float:
    found: float = _registry().Quantity(value, _spelt(unit)).to(_spelt(target)).magnitude
    return found


def _spelt(unit: str) -> str:
    """A unit as written in data, as pint reads it."""
    unit = re.sub(r"/\s*100\s*km$", "/hectokilometer", unit.strip().translate(_POWERS))
    unit = re.sub(r"(?<=[a-z])([23])$", r"**\1", unit)
    unit = {"mph": "mile/hour", "mpg": "mile/gallon", "l/hectokilometer": "liter/(100*km)"}.get(unit, unit)
    unit = unit.replace("/hectokilometer", "/(100*km)")
    return {"h": "hour", "s": "second", "g": "gram", "l": "liter", "Kg": "kg"}.get(unit, unit)
