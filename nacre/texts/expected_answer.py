"""What a question asks a text for: question -> ExpectedAnswer."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal, NamedTuple, cast

from nacre.language.base import language
from nacre.language.courtesy import strip_courtesy
from nacre.language.thesaurus import function_words, gradable_adjective, synonyms
from nacre.language.tokens import Token, fold, tokenize

AnswerKind = Literal[
    "reason", "time", "date", "count", "amount", "degree", "person", "place", "name", "yes_no", "thing", "described"
]

# words with so many letters in common from their beginning may be forms of one word (given)
STEM_LETTERS = 5
_TOP = frozenset("most least fewest only".split())
_PAST = frozenset("was were did had".split())
_ASKING = re.compile(r"\b(?:what|which|who|whom|whose|when|where|why|how)\b", re.IGNORECASE)


class QuestionWord(NamedTuple):
    """A word that the answer's sentence should have: its forms, its stem, and whether it names something."""

    forms: frozenset[str]
    stem: str
    name: bool


class ExpectedAnswer(NamedTuple):
    """`kind` of answer; `units` that it may have (None: any); lemmas of the `noun` that it is or counts; the `words` of
    the question beside it; `asked` are all its words, of which an answer should add some; `denied`: it asks whether
    something is not so, `past`: what was once, `top`: what is most or least of all."""

    kind: AnswerKind
    units: tuple[str, ...] | None
    noun: frozenset[str]
    words: tuple[QuestionWord, ...]
    asked: frozenset[str]
    denied: bool = False
    past: bool = False
    top: bool = False


@lru_cache(256)
def expected_answer(question: str) -> ExpectedAnswer:
    """What the question asks for, by its words.

    >>> found = expected_answer("How many seats does the hall have?")
    >>> found.kind, sorted(found.noun), [word.stem for word in found.words]
    ('count', ['seat'], ['seat', 'hall'])
    """
    text = strip_courtesy(question).strip()
    kind = next((k for k, pattern in language().wanted.items() if pattern.search(fold(text))), "thing")
    said = tokenize(text)
    opening = _ASKING.search(text) if kind != "yes_no" else None
    units, noun, spent = _measured(kind, said, opening.start() if opening else 0)
    if kind == "degree":
        kind = "amount"
    light = function_words() | language().words["filler"] | language().words["calling"]
    words = tuple(
        _word(token, first=i == 0) for i, token in enumerate(said) if token.norm not in light and i not in spent
    )
    asked = frozenset(form for token in said for form in (token.norm, token.lemma))
    denials = f"{language().phrases['negating']} {language().phrases['denying']}".split()
    denied = sum(word in denials for word in re.findall(r"[\w']+", fold(text))) % 2 == 1
    past = any(token.norm in _PAST for token in said)
    return ExpectedAnswer(cast(AnswerKind, kind), units, noun, words, asked, denied, past, has_superlative_word(said))


def expect_described_thing(clause: str) -> ExpectedAnswer:
    """A clause about a thing ("that has a library") as a question for the thing."""
    return expected_answer(clause)._replace(kind="described", noun=frozenset(), units=None, denied=False)


def has_superlative_word(said: Iterable[Token]) -> bool:
    """Whether words speak of the most or the least.

    >>> has_superlative_word(tokenize("the longest river")), has_superlative_word(tokenize("a long river"))
    (True, False)
    """
    return any(
        token.norm in _TOP or ((own := gradable_adjective(token)) and own.degree == "superlative") for token in said
    )


def _word(token: Token, *, first: bool) -> QuestionWord:
    named = any(map(str.isdigit, token.text)) or (token.text[0].isupper() and not first)
    forms = frozenset((token.norm, token.lemma)) if named else synonyms(token.lemma) | {token.norm}
    return QuestionWord(forms, token.lemma, named)


def _measured(kind: str, said: list[Token], opening: int) -> tuple[tuple[str, ...] | None, frozenset[str], set[int]]:
    """The units of what is asked for, the noun that it is, and which words say only what kind of answer is wanted."""
    at = next((i for i, token in enumerate(said) if token.start >= opening), 0)
    following = said[at + 1] if at + 1 < len(said) else None
    costing = frozenset(language().phrases["costing"].split())
    if kind in ("degree", "amount") and any(token.norm in costing for token in said):
        return ("currency",), frozenset(), {i for i, token in enumerate(said) if token.norm in costing}
    if following is None:
        return None, frozenset(), set()
    if kind == "degree":
        degree = gradable_adjective(following)
        concepts = degree.concepts if degree else ()
        return _units(concepts), frozenset((following.lemma, *concepts)), {at + 1}
    if kind in ("count", "amount") and said[at].norm == "how":
        head = _head(said, at + 2)
        return (("",) if kind == "count" else None), _lemmas(said, head), {*()}
    if kind == "name":
        head = _head(said, at + 1) or _attribute(said, at + 1)
        lemmas = _lemmas(said, head)
        return _units(lemmas), lemmas, set()
    if kind == "person":
        return None, _lemmas(said, _attribute(said, at + 1)), set()
    if kind in ("date", "time", "place") and following.start and said[at].norm in ("what", "which"):
        return None, frozenset(), {at + 1}
    return None, frozenset(), set()


def _head(said: list[Token], start: int) -> list[int]:
    """The words of the noun phrase that begins here: up to the first function word."""
    found = []
    for i in range(start, len(said)):
        if said[i].norm in function_words():
            break
        found.append(i)
    return found


def _attribute(said: list[Token], start: int) -> list[int]:
    """The noun of "is the price of": after being and an article."""
    being, article = language().words["being"], language().words["article"]
    at = start
    while at < len(said) and (said[at].norm in being or said[at].norm in article):
        at += 1
    return _head(said, at) if at > start else []


def _lemmas(said: list[Token], places: list[int]) -> frozenset[str]:
    return frozenset(said[i].lemma for i in places[:3])


def _units(concepts: tuple[str, ...] | frozenset[str]) -> tuple[str, ...] | None:
    """The units of what is measured; None where it is no measure."""
    known = language().phrases["units"]
    found = [unit for unit, measures in known.items() if any(concept.strip("-") in measures for concept in concepts)]
    return tuple(found) or None


def is_same_word(word: QuestionWord, token: Token) -> bool:
    """Whether a word of a text says a word of the question, by its form, a synonym or its stem."""
    if token.norm in word.forms or token.lemma in word.forms:
        return True
    if word.name or len(word.stem) < STEM_LETTERS or len(token.lemma) < STEM_LETTERS:
        return False
    common = 0
    for one, other in zip(word.stem, token.lemma, strict=False):
        if one != other:
            break
        common += 1
    return common >= STEM_LETTERS and common * 3 >= 2 * max(len(word.stem), len(token.lemma)) - 2
