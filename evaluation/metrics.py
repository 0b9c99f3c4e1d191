"""The options that an answer names, and values compared with the gold values in any order."""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from nacre.language.tokens import fold, name_tokens
from nacre.records.evidence import Cell

Value = str | int | float | bool


def chosen_options(options: Sequence[str], values: Sequence[Value], answer: str) -> list[str]:
    """The options that an answer names: among its values, else in its words; of overlapping names the longest.

    >>> chosen_options(["Elm", "Elm Hall", "Oak"], [], "It is in Elm Hall.")
    ['Elm Hall']
    """
    folded = {fold(f"{value:g}" if isinstance(value, float) else str(value)) for value in values}
    among_values = [option for option in options if fold(option) in folded]
    if among_values or values:
        return among_values
    words = f" {' '.join(name_tokens(answer))} "
    named: list[str] = []
    for option in sorted(options, key=len, reverse=True):
        name = f" {' '.join(name_tokens(option))} "
        if name in words:
            named.append(option)
            words = words.replace(name, " | ")
    return [option for option in options if option in named]


# lists whose lengths differ by more than this factor and number are never equal
_MAX_FACTOR, _MAX_EXTRA = 3, 5

_PUNCTUATION = re.compile(r"(?<!\d)\.(?!\d)|\.(?!\d)|(?<=[^\W\d])\.|(?<=[^\W\d])-|-(?!\d)")
_DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2212"), "-")


def same_values(gold: Sequence[Cell], values: Sequence[Cell]) -> bool:
    """Whether every value is a gold item, and every gold item is among the values."""
    if not gold:
        return not values
    max_values, max_gold = _MAX_FACTOR * len(gold) + _MAX_EXTRA, _MAX_FACTOR * len(values) + _MAX_EXTRA
    if len(values) > max_values or len(gold) > max_gold:
        return False
    texts = {_normal_form(str(g)): i for i, g in enumerate(gold) if not _is_number(g)}
    numbers = [(float(g), i) for i, g in enumerate(gold) if _is_number(g)]  # type: ignore[arg-type]
    exact = dict(numbers)
    matched: set[int] = set()
    for value in values:
        item = texts.get(_normal_form(str(value)))
        number = _number(value)
        if number is not None:
            near = exact.get(number)
            if near is None:
                near = next((i for n, i in numbers if _is_near(n, number)), None)
            if near is not None:
                matched.update(i for n, i in numbers if n == number or i == near)
                item = near if item is None else item
        if item is None:
            return False
        matched.add(item)
    matched_texts = {_normal_form(str(gold[i])) for i in matched}
    return all(i in matched or _normal_form(str(g)) in matched_texts for i, g in enumerate(gold))


def _is_number(value: Cell) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(value: Cell) -> float | None:
    if _is_number(value):
        return float(value)  # type: ignore[arg-type]
    try:
        return float(str(value).strip().replace(",", ""))
    except ValueError:
        return None


def _is_near(gold: float, value: float) -> bool:
    slack = 0.0051 if gold % 1 and abs(gold) >= 1 else 1e-9
    return abs(gold - value) <= slack


@lru_cache(maxsize=200_000)
def _normal_form(value: str) -> str:
    text = unicodedata.normalize("NFKD", value).translate(_DASHES)
    text = "".join(c for c in text if not unicodedata.combining(c)).casefold()
    text = _PUNCTUATION.sub(" ", re.sub(r"[^\w.+-]+|_", " ", text))
    return " ".join(text.split()).removeprefix("the ")
