"""Ways to make a right sentence wrong, one claim at a time: sentence -> the same with a digit, a name ... changed."""

import re
from collections.abc import Callable, Iterator, Sequence
from random import Random

from nacre.language.quantities import find_amounts
from nacre.language.values import find_periods

# each unit with one that measures something else or at another scale
UNITS = {
    "mm": "cm", "cm": "m", "m": "km", "km": "mm", "kg": "g", "g": "kg", "h": "min", "min": "h", "kW": "MW",
    "minutes": "hours", "hours": "days", "month": "week", "months": "weeks", "m2": "km2", "km/h": "mph", "l": "ml",
    "L": "ml", "€": "$", "EUR": "USD", "years": "months", "days": "weeks", "t": "kg", "ha": "m2", "°C": "kg",
    "weeks": "hours", "nm": "kg", "pages": "metres",
}  # fmt: skip
MONTHS = "January February March April May June July August September October November December".split()


def digit(sentence: str, random: Random) -> Iterator[str]:
    """Every number with one digit changed."""
    for amount in find_amounts(sentence):
        stretch = sentence[amount.start : amount.end]
        places = [m.start() for m in re.finditer(r"\d", stretch)]
        place = amount.start + random.choice(places)
        other = random.choice([d for d in "123456789" if d != sentence[place]])
        yield sentence[:place] + other + sentence[place + 1 :]


def unit(sentence: str, random: Random) -> Iterator[str]:
    """Every unit replaced by another."""
    for amount in find_amounts(sentence):
        following = re.match(r"[\d.,]+\s?(\S*[^\W\d_]|[€°C%]+)", sentence[amount.start :])
        if following and following[1] in UNITS:
            start = amount.start + following.start(1)
            yield sentence[:start] + UNITS[following[1]] + sentence[start + len(following[1]) :]


def name(sentence: str, random: Random, names: Sequence[str]) -> Iterator[str]:
    """Every name of the graph replaced by one that the sentence has not."""
    spare = [each for each in names if each.casefold() not in sentence.casefold()]
    here = [each for each in names if re.search(rf"(?<!\w){re.escape(each)}(?!\w)", sentence)]
    for each in here:
        if not any(each != longer and each in longer for longer in here):
            other = random.choice(spare)
            yield re.sub(rf"(?<!\w){re.escape(each)}(?!\w)", lambda m, o=other: o, sentence, count=1)  # type: ignore[misc]


def date(sentence: str, random: Random) -> Iterator[str]:
    """Every date with another day, month or year."""
    for each in find_periods(sentence):
        text = sentence[each.start : each.end]
        month = next((m for m in MONTHS if m in text), None)
        if month and random.random() < 0.5:
            other = text.replace(month, random.choice([m for m in MONTHS if m != month]))
        else:
            number = random.choice(list(re.finditer(r"\d+", text)))
            value = int(number[0]) % 12 + 1 if len(number[0]) < 3 else int(number[0]) + random.choice((-10, -1, 1, 10))
            other = text[: number.start()] + f"{value:0{len(number[0])}}" + text[number.end() :]
        yield sentence[: each.start] + other + sentence[each.end :]


def yes_no(sentence: str, random: Random) -> Iterator[str]:
    """Yes for no, and no for yes."""
    for said, other in (("Yes", "No"), ("No", "Yes")):
        if re.match(rf"{said}[,.:]", sentence):
            yield other + sentence[len(said) :]


def reworded(sentence: str) -> Iterator[str]:
    """The same said in another form that is as right: dates in words, thousands parted or not, other units."""
    for each in find_periods(sentence):
        parts = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)", sentence[each.start : each.end])
        if parts:
            year, month, day = map(int, parts.groups())
            for text in (f"{day} {MONTHS[month - 1]} {year}", f"{MONTHS[month - 1]} {day}, {year}"):
                yield sentence[: each.start] + text + sentence[each.end :]
    plain = re.sub(r"(?<=\d),(?=\d{3})", "", sentence)
    if plain != sentence:
        yield plain
    for found, factor, shown in ((" cm", 0.01, " m"), (" m", 100, " cm"), (" kg", 1000, " g"), (" min", 1 / 60, " h")):
        match = re.search(rf"(?<![\d.,])(\d+(?:\.\d+)?){found}(?!\w)", sentence)
        if match and 1000 > (value := float(match[1]) * factor) >= 0.01:
            yield f"{sentence[: match.start()]}{value:.3g}{shown}{sentence[match.end() :]}"


KINDS: dict[str, Callable[[str, Random], Iterator[str]]] = {
    "digit": digit,
    "unit": unit,
    "date": date,
    "yes or no": yes_no,
}


def mutants(
    sentence: str, names: Sequence[str], properties: Sequence[str], random: Random, most: int = 2
) -> Iterator[tuple[str, str]]:
    """At most so many wrong sentences a kind, with their kind."""
    made = {kind: list(change(sentence, random)) for kind, change in KINDS.items()}
    made["name"] = list(name(sentence, random, names))
    made["property"] = list(name(sentence, random, properties))
    for kind, texts in made.items():
        yield from ((kind, text) for text in random.sample(texts, min(most, len(texts))))
