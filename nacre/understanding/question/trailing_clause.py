"""A last clause that asks for a measure already mentioned: tokens + cues -> where it begins ("..., and how many?")."""

from collections.abc import Sequence

from nacre.language.base import language
from nacre.language.thesaurus import function_words, gradable_adjective, synonyms, unit_words
from nacre.language.tokens import Token
from nacre.understanding.question.types import Cue

# cues of a measure that a later clause may ask for
MEASURE_KINDS = ("superlative", "most", "compare", "comparative")
# a question has at least so many words before the clause
MIN_WORDS_BEFORE = 3


def trailing_clause_start(text: str, words: Sequence[Token], cues: Sequence[Cue]) -> int | None:
    """Return the token at which a last clause begins that only asks for the measure of what is ranked or bounded.

    >>> from nacre.understanding.question.analyse import analyse_question
    >>> analyse_question("which is the dearest room and what does it cost").text.strip()
    'which is the dearest room'
    >>> analyse_question("which is the dearest room and how many people live in it").wants_measure
    False
    >>> analyse_question("firms with more than 8 orders, and how many each").text
    'firms with more than 8 orders,'
    """
    measured = [cue for cue in cues if cue.kind in MEASURE_KINDS]
    if not measured:
        return None
    known = language().words
    for at in range(len(words) - 1, MIN_WORDS_BEFORE - 1, -1):
        is_joined = words[at].norm in known["joining"]
        clause = words[at + 1 :] if is_joined else words[at:]
        before = [cue for cue in measured if cue.end <= at]
        if not before or not clause:
            continue
        if _asks_for_figures(clause):
            return at
        is_parted = is_joined or "," in text[words[at - 1].end : words[at].start]
        if not is_parted or clause[0].norm not in known["asking_measure"]:
            continue
        concepts = {concept for cue in before if cue.kind == "superlative" for concept in _concepts(cue)}
        if _asks_for_measure(clause, concepts):
            return at
    return None


def _asks_for_figures(clause: Sequence[Token]) -> bool:
    """Whether a clause is "with the figures"."""
    known = language().words
    *lead, last = (token.norm for token in clause)
    begins_with = bool(lead) and lead[0] in known["owning"] and set(lead[1:]) <= known["article"] | known["possessive"]
    return begins_with and last in known["figures"]


def _concepts(cue: Cue) -> set[str]:
    """What a superlative measures, in whichever direction."""
    return {concept.lstrip("-") for concept in cue.ranking[1]}


def _asks_for_measure(clause: Sequence[Token], concepts: set[str]) -> bool:
    """Whether a clause only asks for a measure: "how much is it", "what does it cost", "how tall is it"."""
    known = language().words
    content = [token for token in clause if token.norm not in function_words() | known["exactly"]]
    if any(synonyms(token.lemma) & concepts or _is_measured(token, concepts) for token in content):
        return len(content) == 1
    asks_number = len(clause) > 1 and clause[0].norm in known["degree"] and clause[1].norm in known["how_much"]
    if asks_number and len(content) == 1 and clause[2] is content[0]:
        # "how many days is that"
        return content[0].norm in unit_words() or content[0].lemma in unit_words()
    if asks_number and len(clause) in (3, 4) and clause[2].norm in known["second_pronoun"]:
        # "how many they made"
        return True
    asks_what_it_is = len(clause) > 1 and all(
        token.norm in known["being"] | known["pronoun_one"] for token in clause[1:]
    )
    return not content and (asks_number or asks_what_it_is)


def _is_measured(token: Token, concepts: set[str]) -> bool:
    """Whether an adjective measures one of the concepts."""
    adjective = gradable_adjective(token)
    if adjective is None or adjective.degree != "positive":
        return False
    return bool({concept.lstrip("-") for concept in adjective.concepts} & concepts)
