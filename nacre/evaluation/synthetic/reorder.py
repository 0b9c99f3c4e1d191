"""Say a question in another order: a question -> the same words, one of their phrases moved.

Each rule fits few questions, and only where moving a phrase can't change what it belongs to.
"""

import re
from collections.abc import Callable

from nacre.evaluation.synthetic.rewording_data import first_word, lower_first_word, rewording_words
from nacre.language.tokens import lemma

_PREPOSITIONS = "in|at|from|on|for"
_ANY_PREPOSITION = re.compile(r"\b(?:in|at|from|on|for|of|with|by|through|to|between|without|under|over|than)\b", re.I)
# a verb or a clause inside a phrase: it can't be moved as one
_CLAUSE = re.compile(r"\b(?:that|which|who|whose|where|and|or|is|are|was|were|has|have|does|do|did|can)\b", re.I)


def word_orders(question: str) -> list[str]:
    """All orders that a question, without its question mark, can be put in.

    >>> word_orders("which country is Ann Lee from")
    ['From which country is Ann Lee?']
    """
    return [other for rule in RULES if (other := rule(question)) is not None]


def _carried(question: str) -> str | None:
    """ "which X is Y from" -> "from which X is Y"."""
    match = re.fullmatch(rf"((?:which|what) .+ (?:is|are|was|were|does|do|did) .+) ({_PREPOSITIONS})", question, re.I)
    return f"{match[2].capitalize()} {lower_first_word(match[1])}?" if match else None


def _posed(question: str) -> str | None:
    """ "from which X is Y" -> "which X is Y from"."""
    match = re.fullmatch(rf"({_PREPOSITIONS}) ((?:which|what) .+)", question, re.I)
    return f"{match[2]} {match[1].casefold()}?" if match else None


def _possessed(question: str) -> str | None:
    """ "what is the P of X" -> "X: what is its P"; one X that no other phrase narrows."""
    match = re.fullmatch(r"(?:what(?:'s| is) the |the )?(\w+(?: \w+)?) of (.+)", question, re.I)
    if match is None or first_word(question) in rewording_words("orders") or _ANY_PREPOSITION.search(match[1]):
        return None
    owner = match[2].split()
    first = owner[0].casefold()
    many = any(w.islower() and w.endswith("s") and lemma(w) != w for w in owner[: 1 if first != "the" else 4])
    narrowed = first != "the" and _ANY_PREPOSITION.search(match[2])
    if (
        many
        or narrowed
        or first in ("all", "each", "every", "both")
        or first_word(match[1]) in rewording_words("asking")
    ):
        return None
    if re.search(r"\w(?:est|er)\b|\b(?:total|average|mean|most|least|number)\b", match[1], re.I):
        return None
    return f"{match[2]}: what is its {lower_first_word(match[1])}?"


def _fronted(question: str) -> str | None:
    """ "what is the N in X" -> "in X, what is the N": the only such phrase, at the end, after a verb that has one."""
    match = re.fullmatch(rf"(.+) ({_PREPOSITIONS}) (\S+(?: \S+){{0,4}})", question, re.I)
    if match is None or _CLAUSE.search(match[3]) or len(_ANY_PREPOSITION.findall(question)) > 1:
        return None
    head, last = match[1], match[1].split()[-1].casefold()
    if re.match(r"how many (?:\w+ )+are$", head, re.I):
        head += " there"
    elif not (
        re.match(r"(?:what|which|who)(?: \w+)? (?:is|are|was|were) the .+", head, re.I)
        or last in rewording_words("standing")
    ):
        return None
    if re.search(r"\b(?:that|which|who)\b", head.split(" ", 1)[-1], re.I):
        return None
    return f"{match[2].capitalize()} {match[3]}, {lower_first_word(head)}?"


def _apart(question: str) -> str | None:
    """ "what is the N" -> "the N, what is it"; "how old is X" -> "X: how old"."""
    match = re.fullmatch(r"(what|who|where) (is|are) (the .+)", question, re.I)
    if match is not None and not re.search(r"\b(?:in|from|based|like|about|at|for|on)$", match[3]):
        one = match[2].casefold() == "is"
        who = {"who": "who", "where": "where"}.get(match[1].casefold(), "what")
        return f"{match[3][0].upper()}{match[3][1:]}, {who} {'is' if one else 'are'} {'that' if one else 'they'}?"
    match = re.fullmatch(r"(how \w+) (?:is|are) (.+)", question, re.I)
    if match is not None and not match[1].casefold().endswith((" many", " much")) and not _CLAUSE.search(match[2]):
        return f"{match[2]}: {lower_first_word(match[1])}?"
    return None


RULES: tuple[Callable[[str], str | None], ...] = (_carried, _posed, _possessed, _fronted, _apart)
