"""Choose among the readings that earlier answers offered: question + earlier turns -> Rewrite, or None."""

import re
from collections.abc import Sequence

from nacre.language.base import language
from nacre.language.thesaurus import english_data
from nacre.language.tokens import tokenize
from nacre.records.turn import EarlierTurn, Reading, Rewrite


def chosen_reading(question: str, earlier: tuple[EarlierTurn, ...]) -> Rewrite | None:
    """The reading that is asked for by its number, in its own words, or by a yes where one was to be confirmed or one
    alone was offered; None where none is.

    A number means the last answer that offered something. "The second one" means a thing that the last answer named,
    where it named several.
    """
    words = _norms(question)
    last = earlier[-1] if earlier else None
    asked = (last.confirm or (last.options[0] if len(last.options) == 1 else None)) if last is not None else None
    if asked is not None and words and set(words) <= language().words["affirming"]:
        return Rewrite(asked.words, True, chosen=asked)
    offering = next((turn for turn in reversed(earlier) if turn.options), None)
    if offering is None:
        return None
    number = _number(words, ordinal=offering is earlier[-1] and len(offering.keys) < 2)
    reading: Reading | None
    if 0 < number <= len(offering.options):
        reading = offering.options[number - 1]
    else:
        offered = (reading for turn in reversed(earlier) for reading in turn.options)
        reading = next((reading for reading in offered if _norms(reading.words) == words), None)
    return Rewrite(reading.words, True, chosen=reading) if reading is not None else None


def _norms(text: str) -> list[str]:
    return [token.norm for token in tokenize(text)]


def _number(words: Sequence[str], *, ordinal: bool) -> int:
    """The number that these words choose, 0 where they say more than that."""
    said = [word for word in words if word not in language().words["around_choice"]] or [
        word for word in words if word == "one"
    ]
    if len(said) != 1:
        return 0
    numbers = {**english_data()["numbers"], **(english_data()["ordinals"] if ordinal else {})}
    return int(said[0]) if re.fullmatch("[0-9]{1,2}", said[0]) else int(numbers.get(said[0], 0))
