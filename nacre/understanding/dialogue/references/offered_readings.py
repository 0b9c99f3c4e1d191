"""Choose a reading that an earlier answer offered: question + earlier turns -> Rewrite, or None."""

import re
from collections.abc import Sequence

from nacre.language.base import language
from nacre.language.thesaurus import english_data
from nacre.language.tokens import tokenize
from nacre.records.turn import EarlierTurn, Reading, Rewrite


def chosen_reading(question: str, earlier: tuple[EarlierTurn, ...]) -> Rewrite | None:
    """The reading that a turn chooses: by its number, in its words, or by a yes if one reading is to be confirmed.

    A number refers to the last answer that offered readings. "The second one" refers to a thing if the last answer
    named several.
    """
    words = _norms(question)
    confirmed = _reading_to_confirm(earlier)
    if confirmed is not None and words and set(words) <= language().words["affirming"]:
        return Rewrite(confirmed.words, True, chosen=confirmed)
    offering = next((turn for turn in reversed(earlier) if turn.options), None)
    if offering is None:
        return None
    number = _chosen_number(words, may_be_ordinal=offering is earlier[-1] and len(offering.keys) < 2)
    if 0 < number <= len(offering.options):
        reading: Reading | None = offering.options[number - 1]
    else:
        offered = (reading for turn in reversed(earlier) for reading in turn.options)
        reading = next((reading for reading in offered if _norms(reading.words) == words), None)
    return Rewrite(reading.words, True, chosen=reading) if reading is not None else None


def _reading_to_confirm(earlier: tuple[EarlierTurn, ...]) -> Reading | None:
    """The reading that the last answer asked to confirm, or the only one it offered."""
    last = earlier[-1] if earlier else None
    if last is None:
        return None
    return last.confirm or (last.options[0] if len(last.options) == 1 else None)


def _norms(text: str) -> list[str]:
    return [token.norm for token in tokenize(text)]


def _chosen_number(words: Sequence[str], *, may_be_ordinal: bool) -> int:
    """The number that words choose. 0 if they say more than that."""
    content = [word for word in words if word not in language().words["around_choice"]]
    content = content or [word for word in words if word == "one"]
    if len(content) != 1:
        return 0
    if re.fullmatch("[0-9]{1,2}", content[0]):
        return int(content[0])
    data = english_data()
    numbers = {**data["numbers"], **(data["ordinals"] if may_be_ordinal else {})}
    return int(numbers.get(content[0], 0))
