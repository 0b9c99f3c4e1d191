"""Resolve ordinals: "the second one", "the last", "the other" + earlier turns -> span and thing."""

from collections.abc import Sequence

from nacre.language.base import language
from nacre.language.forms.nouns import is_plural
from nacre.language.thesaurus import english_data, function_words
from nacre.language.tokens import Token
from nacre.records.turn import EarlierTurn, Scope
from nacre.understanding.dialogue.references.pronouns import mentioned_classes
from nacre.understanding.dialogue.references.turn_things import named_things_of
from nacre.understanding.linking.linker import Linker


def ordinal_reference(
    words: Sequence[Token], earlier: Sequence[EarlierTurn], linker: Linker
) -> tuple[tuple[int, int], Scope] | None:
    """The span of an ordinal with its article, and the thing that it means in the last list. None if there is none.

    "The others" are the things of the list that were not mentioned since, if the last turn was about one of them.
    """
    ordinals, known = english_data()["ordinals"], language().words
    listing = next((turn for turn in reversed(earlier) if len(turn.keys) == len(turn.labels) > 1), None)
    for i, token in enumerate(words):
        if listing is None or not i or words[i - 1].norm not in known["article"]:
            continue
        if token.norm in known["the_others"]:
            end, number = _others_end(words, i, listing, linker)
            is_elliptic = all(t.norm in function_words() for t in (*words[: i - 1], *words[end:]))
            others = _others(earlier, listing, number, is_elliptic) if end else None
            return None if others is None else ((i - 1, end), others)
        following = words[i + 1].norm if i + 1 < len(words) else ""
        has_no_noun = not following or following in known["stand_in"] or following in function_words()
        size = len(listing.keys)
        place = ordinals.get(token.norm) or (size if token.norm in known["last"] else 0)
        if has_no_noun and 0 < place <= size:
            return (i - 1, i + 2 if following in known["stand_in"] else i + 1), _things_at(listing, (place - 1,))
    return None


def _things_at(turn: EarlierTurn, places: Sequence[int]) -> Scope:
    """Some of the things that a turn gave, as certain as that turn."""
    confidence = 1.0 if turn.confidence is None else turn.confidence
    keys, labels = (tuple(each[place] for place in places) for each in (turn.keys, turn.labels))
    return Scope(None, keys, labels, confidence=confidence)


def _others_end(words: Sequence[Token], at: int, listing: EarlierTurn, linker: Linker) -> tuple[int, int]:
    """Where "other", "other two" or "other rooms" ends, 0 if another noun follows; and how many are meant, 0 if any
    number."""
    known, numbers = language().words, english_data()["numbers"]
    plural, end = is_plural(words[at].norm), at + 1
    number = int(numbers.get(words[end].norm, 0)) if end < len(words) else 0
    end += bool(number)
    if end < len(words):
        tables = {thing.relation for key in listing.keys if (thing := linker.lexicon.thing(key))}
        is_class = any(c.start == end and tables <= c.relations for c in mentioned_classes(words, linker))
        if is_class or words[end].norm in known["stand_in"]:
            plural, end = plural or is_plural(words[end].norm), end + 1
        elif words[end].norm not in function_words():
            return 0, 0
    return end, number or (0 if plural else 1)


def _others(earlier: Sequence[EarlierTurn], listing: EarlierTurn, number: int, is_elliptic: bool) -> Scope | None:
    """The things of a list that were not mentioned since; the second of two if neither was. None if their number is
    another. "And the others?" alone asks the last question, which has to be about one of the list."""
    since = earlier[[turn is listing for turn in earlier].index(True) + 1 :]
    named = {key for turn in since for keys in (turn.keys, *named_things_of(turn.plan)) for key in keys}
    rest = [place for place, key in enumerate(listing.keys) if key not in named]
    if len(listing.keys) == 2 and len(rest) != 1:
        rest = [1]
    last = set(named_things_of(since[-1].plan)) if since else set()
    is_of_one = any(len(keys) == 1 and keys[0] in listing.keys for keys in last)
    if not rest or (number and len(rest) != number) or (is_elliptic and not (number == 1 or is_of_one)):
        return None
    return _things_at(listing, rest)
