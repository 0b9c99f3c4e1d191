"""Find the verb, the objects and the appositions of a clause: Words -> parts of Words."""

from collections.abc import Sequence
from itertools import groupby

from nacre.extraction.grammar import Word, is_in_class


def find_verb(part: Sequence[Word]) -> int | None:
    """The index of the verb of a clause: the first auxiliary, or the first inflected word after a noun phrase."""
    inside = 0
    for i, word in enumerate(part):
        if word.kind == "relative" and i:
            inside = 1
        elif word.text == "," and inside:
            inside = 0
        if inside or not i:
            continue
        if word.kind in ("be", "have", "modal"):
            return i
        before = part[i - 1]
        if word.kind == "verb" and before.kind not in ("determiners", "prepositions", "owning", "and", "mark"):
            after = part[i + 1] if i + 1 < len(part) else None
            if after is None or after.kind not in ("be", "have", "modal", "verb"):
                return i
        elif word.kind == "verb" and before.text == "," and i > 1 and any(w.text == "," for w in part[: i - 1]):
            return i
    return None


def split_apposition(part: Sequence[Word]) -> list[list[Word]]:
    """The subject, and its appositions between commas or in brackets."""
    groups = groupby(part, key=lambda word: word.kind == "mark")
    return [list(words) for is_mark, words in groups if not is_mark]


def is_negated(part: Sequence[Word]) -> bool:
    """Whether the verb or its object is negated."""
    stop = next((i for i, word in enumerate(part) if word.kind == "mark" or word.kind == "but"), len(part))
    return any(is_in_class(word.norm, "denying") or word.norm.endswith("n't") for word in part[:stop])


def object_phrases(part: Sequence[Word], *, joined: bool = True) -> tuple[list[Sequence[Word]], Sequence[Word]]:
    """The noun phrases of a list at the start, and the words after them; `joined` phrases go on after "of"."""
    phrases: list[Sequence[Word]] = []
    at = 0
    while at < len(part):
        start = at
        while at < len(part) and not _ends_phrase(part, at, start, joined):
            at += 1
        if at == start:
            break
        phrases.append(part[start:at])
        following = at
        while following < len(part) and (part[following].text == "," or part[following].kind == "and"):
            following += 1
        if following == at or following >= len(part) or not _continues_list(part, following):
            break
        at = following
    return phrases, part[at:]


def list_items(part: Sequence[Word]) -> list[Sequence[Word]]:
    """The noun phrases of a list at the start."""
    phrases, _ = object_phrases(part)
    return phrases


def strip_leading_marks(part: Sequence[Word]) -> Sequence[Word]:
    """The words without punctuation marks and conjunctions at the start."""
    while part and (part[0].kind in ("mark", "and", "but")):
        part = part[1:]
    return part


def _ends_phrase(part: Sequence[Word], at: int, start: int, joined: bool) -> bool:
    word = part[at]
    if at > start and is_in_class(word.norm, "relative"):
        return True
    if word.kind in ("mark", "relative", "but", "be", "have", "modal", "and") or (
        word.kind == "adverbs" and at > start
    ):
        return True
    if word.kind == "prepositions":
        # a name may go on after "of": "University of Basel", "Head of Studies"
        capital = at > start and part[at - 1].kind == "capital" and at + 1 < len(part)
        following = part[at + 1 : at + 3]
        named = any(w.kind == "capital" for w in following[:1]) or (
            len(following) == 2 and following[0].norm == "the" and following[1].kind == "capital"
        )
        return not (is_in_class(word.norm, "joining") and at > start and (joined or (capital and named)))
    return False


def _continues_list(part: Sequence[Word], at: int) -> bool:
    """Whether a list goes on at a place, and no new clause begins there."""
    if part[at].kind in ("verb", "be", "have", "modal", "relative", "prepositions", "persons", "but", "adverbs"):
        return False
    ahead = part[at:]
    stop = next((i for i, w in enumerate(ahead) if w.text in (";", "(") or w.kind in ("but",)), len(ahead))
    return find_verb(ahead[:stop]) is None
