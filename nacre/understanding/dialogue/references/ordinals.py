"""Resolve ordinals: "the second one", "the last", "the other" + earlier turns -> span and thing."""

from collections.abc import Sequence

from nacre.language.base import language
from nacre.language.thesaurus import english_data, function_words
from nacre.language.tokens import Token
from nacre.records.turn import EarlierTurn, Scope


def ordinal_reference(words: Sequence[Token], earlier: Sequence[EarlierTurn]) -> tuple[tuple[int, int], Scope] | None:
    """The span of an ordinal with its article, and the thing that it means in the last list. None if there is none."""
    ordinals, known = english_data()["ordinals"], language().words
    listing = next((turn for turn in reversed(earlier) if len(turn.keys) == len(turn.labels) > 1), None)
    for i, token in enumerate(words):
        following = words[i + 1].norm if i + 1 < len(words) else ""
        has_no_noun = not following or following in known["stand_in"] or following in function_words()
        if not i or words[i - 1].norm not in known["article"] or not has_no_noun:
            continue
        end = i + 2 if following in known["stand_in"] else i + 1
        if token.norm in known["other"]:
            other = _other_of_two(earlier)
            return None if other is None else ((i - 1, end), other)
        size = len(listing.keys) if listing is not None else 0
        place = ordinals.get(token.norm) or (size if token.norm in known["last"] else 0)
        if listing is not None and 0 < place <= size:
            return (i - 1, end), _thing_at(listing, place - 1)
    return None


def _thing_at(turn: EarlierTurn, place: int) -> Scope:
    """One of the things that a turn gave, as certain as that turn."""
    confidence = 1.0 if turn.confidence is None else turn.confidence
    return Scope(None, (turn.keys[place],), (turn.labels[place],), confidence=confidence)


def _other_of_two(earlier: Sequence[EarlierTurn]) -> Scope | None:
    """The one of two things that was not mentioned since. The second one if neither was."""
    for at in range(len(earlier) - 1, -1, -1):
        keys, labels = earlier[at].keys, earlier[at].labels
        if len(keys) == 2 == len(labels):
            since = {key for turn in earlier[at + 1 :] for key in turn.keys}
            is_first = keys[1] in since and keys[0] not in since
            return _thing_at(earlier[at], 0 if is_first else 1)
    return None
