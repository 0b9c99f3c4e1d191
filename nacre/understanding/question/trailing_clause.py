"""A last clause that asks for the measure of what is said before: tokens -> where it begins ("..., and how many?")."""

from collections.abc import Sequence

from nacre.language.base import language
from nacre.language.thesaurus import function_words, gradable_adjective, synonyms, unit_words
from nacre.language.tokens import Token
from nacre.understanding.question.types import Cue

_MEASURING = ("superlative", "most", "compare", "comparative")
# words before it that a question has at least
FEWEST = 3


def trailing_clause_start(text: str, words: Sequence[Token], cues: Sequence[Cue]) -> int | None:
    """The token at which a last clause begins that asks for nothing but the measure of the superlative or bound before
    it; None where there is none.

    >>> from nacre.understanding.question.analyse import analyse
    >>> analyse("which is the dearest room and what does it cost").text.strip()
    'which is the dearest room'
    >>> analyse("which is the dearest room and how many people live in it").also
    False
    >>> analyse("firms with more than 8 orders, and how many each").text
    'firms with more than 8 orders,'
    """
    if not any(cue.kind in _MEASURING for cue in cues):
        return None
    known = language().words
    for at in range(len(words) - 1, FEWEST - 1, -1):
        joined = words[at].norm in known["joining"]
        pause = "," in text[words[at - 1].end : words[at].start]
        first = at + 1 if joined else at
        before = [cue for cue in cues if cue.end <= at and cue.kind in _MEASURING]
        if not before or first >= len(words):
            continue
        if _gives_figures(words[first:]):
            return at
        if not (joined or pause) or words[first].norm not in known["asking_measure"]:
            continue
        concepts = {c for cue in before if cue.kind == "superlative" for c in _concepts(cue)}
        if _asks_measure(words[first:], concepts):
            return at
    return None


def _gives_figures(clause: Sequence[Token]) -> bool:
    """Whether a clause is "with the figures"."""
    known = language().words
    *lead, last = (t.norm for t in clause)
    with_them = bool(lead) and lead[0] in known["owning"] and set(lead[1:]) <= known["article"] | known["possessive"]
    return with_them and last in known["figures"]


def _concepts(cue: Cue) -> set[str]:
    return {each.lstrip("-") for each in cue.value.partition(" ")[2].split("|")}


def _asks_measure(clause: Sequence[Token], concepts: set[str]) -> bool:
    """Whether a clause says nothing but "how much is it", "what does it cost", "how tall is it"."""
    known = language().words
    asked = [t for t in clause if t.norm not in function_words() | known["exactly"]]
    if any(synonyms(t.lemma) & concepts or _is_measured(t, concepts) for t in asked):
        return len(asked) == 1
    counted = len(clause) > 1 and clause[0].norm in known["degree"] and clause[1].norm in known["how_much"]
    if counted and len(asked) == 1 and clause[2] is asked[0]:
        # "how many days is that"
        return asked[0].norm in unit_words() or asked[0].lemma in unit_words()
    if counted and len(clause) in (3, 4) and clause[2].norm in known["second_pronoun"]:
        # "how many they made"
        return True
    pointed = all(t.norm in known["being"] | known["pronoun_one"] for t in clause[1:])
    return not asked and (counted or (len(clause) > 1 and pointed))


def _is_measured(token: Token, concepts: set[str]) -> bool:
    own = gradable_adjective(token)
    return own is not None and own.degree == "positive" and bool({c.lstrip("-") for c in own.concepts} & concepts)
