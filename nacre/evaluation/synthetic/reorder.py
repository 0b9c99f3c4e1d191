"""Reorder the words of a question: a question -> questions in which one phrase is moved.

Each rule applies to few questions, only if the moved phrase can't attach to another word. The patterns are in
`rewordings.yaml`.
"""

import re
from collections.abc import Callable
from functools import cache

from nacre.evaluation.synthetic.rewording_data import first_word, lower_first_word, rewording_data, rewording_words
from nacre.language.tokens import lemma

# words at the beginning of a name after "the" that may be its plural head
_MAX_HEAD_WORDS = 4


def word_orders(question: str) -> list[str]:
    """All other orders of a question without its question mark.

    >>> word_orders("which country is Ann Lee from")
    ['From which country is Ann Lee?']
    """
    return [other for rule in RULES if (other := rule(question)) is not None]


def _move_preposition_first(question: str) -> str | None:
    """ "which X is Y from" -> "from which X is Y"."""
    match = _pattern("final_preposition").fullmatch(question)
    return f"{match[2].capitalize()} {lower_first_word(match[1])}?" if match else None


def _move_preposition_last(question: str) -> str | None:
    """ "from which X is Y" -> "which X is Y from"."""
    match = _pattern("initial_preposition").fullmatch(question)
    return f"{match[2]} {match[1].casefold()}?" if match else None


def _move_owner_first(question: str) -> str | None:
    """ "what is the P of X" -> "X: what is its P"; X is one thing without further phrases."""
    match = _pattern("property_of").fullmatch(question)
    if match is None or first_word(question) in rewording_words("orders") or _pattern("preposition").search(match[1]):
        return None
    owner = match[2].split()
    first = owner[0].casefold()
    head = owner[: 1 if first != "the" else _MAX_HEAD_WORDS]
    is_plural = any(w.islower() and w.endswith("s") and lemma(w) != w for w in head)
    is_narrowed = first != "the" and _pattern("preposition").search(match[2])
    is_quantified = first in rewording_words("quantifiers") or first_word(match[1]) in rewording_words("asking")
    if is_plural or is_narrowed or is_quantified or _pattern("measure").search(match[1]):
        return None
    return f"{match[2]}: what is its {lower_first_word(match[1])}?"


def _move_phrase_first(question: str) -> str | None:
    """ "what is the N in X" -> "in X, what is the N": the only prepositional phrase, after a verb that may have one."""
    match = _pattern("final_phrase").fullmatch(question)
    if match is None or _pattern("clause").search(match[3]) or len(_pattern("preposition").findall(question)) > 1:
        return None
    head, last = match[1], match[1].split()[-1].casefold()
    if _pattern("count_of_things").match(head):
        head += " there"
    elif not (_pattern("definite_question").match(head) or last in rewording_words("standing")):
        return None
    if _pattern("relative_clause").search(head.split(" ", 1)[-1]):
        return None
    return f"{match[2].capitalize()} {match[3]}, {lower_first_word(head)}?"


def _move_subject_first(question: str) -> str | None:
    """ "what is the N" -> "the N, what is that"; "how old is X" -> "X: how old"."""
    match = _pattern("definite_subject").fullmatch(question)
    if match is not None and not _pattern("ends_in_preposition").search(match[3]):
        verb = "is that" if match[2].casefold() == "is" else "are they"
        question_word = match[1].casefold()
        return f"{match[3][0].upper()}{match[3][1:]}, {question_word} {verb}?"
    match = _pattern("degree").fullmatch(question)
    if match is not None and not match[1].casefold().endswith((" many", " much")):
        return None if _pattern("clause").search(match[2]) else f"{match[2]}: {lower_first_word(match[1])}?"
    return None


@cache
def _pattern(name: str) -> re.Pattern[str]:
    data = rewording_data()
    prepositions = "|".join(data["movable_prepositions"].split())
    return re.compile(data["patterns"][name].replace("<prepositions>", prepositions), re.IGNORECASE)


RULES: tuple[Callable[[str], str | None], ...] = (
    _move_preposition_first,
    _move_preposition_last,
    _move_owner_first,
    _move_phrase_first,
    _move_subject_first,
)
