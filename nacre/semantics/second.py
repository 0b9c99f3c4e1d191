"""A second question after a superlative that asks how much it is: tokens -> where it begins ("..., and how many?")."""

from collections.abc import Sequence

from nacre.semantics.english import function_words, measure, synonyms
from nacre.semantics.language.base import language
from nacre.semantics.types import Cue
from nacre.semantics.words import Token

# words before it that a question has at least
FEWEST = 3


def second_begins(text: str, words: Sequence[Token], cues: Sequence[Cue]) -> int | None:
    """The token at which a last clause begins that asks for nothing but the measure of the superlative before it; None
    where there is none.

    >>> from nacre.semantics.question_form import analyse
    >>> analyse("which is the dearest room and what does it cost").text.strip()
    'which is the dearest room'
    >>> analyse("which is the dearest room and how many people live in it").also
    False
    """
    if not any(cue.kind in ("superlative", "most") for cue in cues):
        return None
    known = language().words
    for at in range(len(words) - 1, FEWEST - 1, -1):
        joined = words[at].norm in known["joining"]
        pause = "," in text[words[at - 1].end : words[at].start]
        first = at + 1 if joined else at
        if not (joined or pause) or first >= len(words) or words[first].norm not in known["asking_measure"]:
            continue
        concepts = {c for cue in cues if cue.kind == "superlative" and cue.end <= at for c in _concepts(cue)}
        ranks = bool(concepts) or any(cue.kind == "most" and cue.end <= at for cue in cues)
        if ranks and _asks_measure(words[first:], concepts):
            return at
    return None


def _concepts(cue: Cue) -> set[str]:
    return {each.lstrip("-") for each in cue.value.partition(" ")[2].split("|")}


def _asks_measure(clause: Sequence[Token], concepts: set[str]) -> bool:
    """Whether a clause says nothing but "how much is it", "what does it cost", "how tall is it"."""
    known = language().words
    asked = [t for t in clause if t.norm not in function_words()]
    if any(synonyms(t.lemma) & concepts or _is_measured(t, concepts) for t in asked):
        return len(asked) == 1
    counted = len(clause) > 1 and clause[0].norm in known["degree"] and clause[1].norm in known["how_much"]
    pointed = all(t.norm in known["being"] | known["pronoun_one"] for t in clause[1:])
    return not asked and (counted or (len(clause) > 1 and pointed))


def _is_measured(token: Token, concepts: set[str]) -> bool:
    own = measure(token)
    return own is not None and own.degree == "positive" and bool({c.lstrip("-") for c in own.concepts} & concepts)
