"""Noun phrases and verbs among the words of a clause: Words -> where its verb is, its objects, what stands beside."""

from collections.abc import Sequence

from nacre.extraction.grammar import Word, word_classes


def find_verb(part: Sequence[Word]) -> int | None:
    """Where the verb of a clause is: the first form of be or have, or inflected word after a whole noun phrase."""
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
    """The subject, and what stands beside it between commas or in brackets."""
    found: list[list[Word]] = [[]]
    for word in part:
        if word.kind == "mark":
            found.append([])
        else:
            found[-1].append(word)
    return [each for each in found if each]


def is_negated(part: Sequence[Word]) -> bool:
    """Whether the verb or its object stands with a negation."""
    stop = next((i for i, word in enumerate(part) if word.kind == "mark" or word.kind == "but"), len(part))
    return any(word.norm in word_classes()["denying"] or word.norm.endswith("n't") for word in part[:stop])


def object_phrases(part: Sequence[Word], *, joined: bool = True) -> tuple[list[Sequence[Word]], Sequence[Word]]:
    """The noun phrases of a list at the front, and what follows them; `joined` ones go on after "of"."""
    ends: list[Sequence[Word]] = []
    at = 0
    while at < len(part):
        start = at
        while at < len(part) and not _ends(part, at, start, joined):
            at += 1
        if at == start:
            break
        ends.append(part[start:at])
        step = at
        while step < len(part) and (part[step].text == "," or part[step].kind == "and"):
            step += 1
        if step == at or step >= len(part) or not _goes_on(part, step):
            break
        at = step
    return ends, part[at:]


def _ends(part: Sequence[Word], at: int, start: int, joined: bool) -> bool:
    word = part[at]
    if at > start and word.norm in word_classes()["relative"]:
        return True
    if word.kind in ("mark", "relative", "but", "be", "have", "modal", "and") or (
        word.kind == "adverbs" and at > start
    ):
        return True
    if word.kind == "prepositions":
        # the name of a thing may go on: "University of Basel", "Head of Studies"
        capital = at > start and part[at - 1].kind == "capital" and at + 1 < len(part)
        following = part[at + 1 : at + 3]
        named = any(w.kind == "capital" for w in following[:1]) or (
            len(following) == 2 and following[0].norm == "the" and following[1].kind == "capital"
        )
        return not (word.norm in word_classes()["joining"] and at > start and (joined or (capital and named)))
    return False


def _goes_on(part: Sequence[Word], at: int) -> bool:
    """Whether a list goes on here, and no further clause begins."""
    if part[at].kind in ("verb", "be", "have", "modal", "relative", "prepositions", "persons", "but", "adverbs"):
        return False
    ahead = part[at:]
    stop = next((i for i, w in enumerate(ahead) if w.text in (";", "(") or w.kind in ("but",)), len(ahead))
    return find_verb(ahead[:stop]) is None


def list_items(part: Sequence[Word]) -> list[Sequence[Word]]:
    """The noun phrases of a list alone."""
    ends, _ = object_phrases(part)
    return ends


def strip_leading_marks(part: Sequence[Word]) -> Sequence[Word]:
    """The words from the first on that is no mark and joins nothing."""
    while part and (part[0].kind in ("mark", "and", "but")):
        part = part[1:]
    return part
