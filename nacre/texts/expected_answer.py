"""The kind of answer that a question expects of a text: question -> ExpectedAnswer."""

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import Literal, NamedTuple, cast

from nacre.language.base import language, pattern, phrase_map, word_list
from nacre.language.courtesy import strip_courtesy
from nacre.language.thesaurus import function_words, gradable_adjective, synonyms
from nacre.language.tokens import Token, fold, tokenize

AnswerKind = Literal[
    "reason", "time", "date", "count", "amount", "degree", "person", "place", "name", "yes_no", "thing", "described"
]

# common first letters of two words that may be forms of one word (given)
STEM_LETTERS = 5


class QuestionWord(NamedTuple):
    """A content word of a question: its forms and synonyms, its stem, and whether it is a name."""

    forms: frozenset[str]
    stem: str
    name: bool


class ExpectedAnswer(NamedTuple):
    """What the answer to a question looks like.

    `units` are those that it may have (None: any). `noun` are the lemmas of the noun that it is or counts. `words` are
    the content words of the question besides that noun, and `forms` all its words, to which an answer adds some. The
    flags tell whether the question is negated, in the past tense, or asks for a superlative.
    """

    kind: AnswerKind
    units: tuple[str, ...] | None
    noun: frozenset[str]
    words: tuple[QuestionWord, ...]
    forms: frozenset[str]
    negated: bool = False
    past: bool = False
    superlative: bool = False


@lru_cache(256)
def expected_answer(question: str) -> ExpectedAnswer:
    """The expected answer of a question, by its words.

    >>> answer = expected_answer("How many seats does the hall have?")
    >>> answer.kind, sorted(answer.noun), [word.stem for word in answer.words]
    ('count', ['seat'], ['seat', 'hall'])
    """
    text = strip_courtesy(question).strip()
    kind = next((kind for kind, expression in _answer_kinds() if expression.search(fold(text))), "thing")
    tokens = tokenize(text)
    opening = pattern("texts", "question_word").search(text) if kind != "yes_no" else None
    units, noun, spent = _units_and_noun(kind, tokens, opening.start() if opening else 0)
    if kind == "degree":
        kind = "amount"
    light = function_words() | language().words["filler"] | language().words["calling"]
    words = tuple(
        _question_word(token, first=i == 0)
        for i, token in enumerate(tokens)
        if token.norm not in light and i not in spent
    )
    forms = frozenset(form for token in tokens for form in (token.norm, token.lemma))
    past = any(token.norm in word_list("texts", "past_auxiliaries") for token in tokens)
    superlative = has_superlative_word(tokens)
    return ExpectedAnswer(cast(AnswerKind, kind), units, noun, words, forms, is_negated(fold(text)), past, superlative)


def expect_described_thing(clause: str) -> ExpectedAnswer:
    """The expected answer of a clause about a thing ("that has a library"): the thing."""
    return expected_answer(clause)._replace(kind="described", noun=frozenset(), units=None, negated=False)


def is_negated(text: str) -> bool:
    """Whether a folded text has an odd number of negations.

    >>> is_negated("dogs may come along"), is_negated("on all others they can't")
    (False, True)
    """
    negations = word_list("texts", "negating") | word_list("texts", "denying")
    return sum(word in negations for word in re.findall(r"[\w']+", text)) % 2 == 1


def has_superlative_word(tokens: Iterable[Token]) -> bool:
    """Whether one of the words is a superlative, or a word such as "most".

    >>> has_superlative_word(tokenize("the longest river")), has_superlative_word(tokenize("a long river"))
    (True, False)
    """
    known = word_list("texts", "superlative_words")
    return any(
        token.norm in known or ((own := gradable_adjective(token)) and own.degree == "superlative") for token in tokens
    )


def is_same_word(word: QuestionWord, token: Token) -> bool:
    """Whether a word of a text is a word of the question, by its form, a synonym or its stem."""
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


@cache
def _answer_kinds() -> tuple[tuple[str, re.Pattern[str]], ...]:
    kinds = phrase_map("texts", "answer_kinds").items()
    return tuple((kind, re.compile("|".join(expressions))) for kind, expressions in kinds)


def _question_word(token: Token, *, first: bool) -> QuestionWord:
    is_name = any(map(str.isdigit, token.text)) or (token.text[0].isupper() and not first)
    forms = frozenset((token.norm, token.lemma)) if is_name else synonyms(token.lemma) | {token.norm}
    return QuestionWord(forms, token.lemma, is_name)


def _units_and_noun(
    kind: str, tokens: list[Token], opening: int
) -> tuple[tuple[str, ...] | None, frozenset[str], set[int]]:
    """The units of the answer, the lemmas of its noun, and the words that only tell the kind of answer.

    `opening` is the place of the question word in characters.
    """
    at = next((i for i, token in enumerate(tokens) if token.start >= opening), 0)
    following = tokens[at + 1] if at + 1 < len(tokens) else None
    costing = word_list("texts", "costing")
    if kind in ("degree", "amount") and any(token.norm in costing for token in tokens):
        return ("currency",), frozenset(), {i for i, token in enumerate(tokens) if token.norm in costing}
    if following is None:
        return None, frozenset(), set()
    if kind == "degree":
        degree = gradable_adjective(following)
        concepts = degree.concepts if degree else ()
        return _units(concepts), frozenset((following.lemma, *concepts)), {at + 1}
    if kind in ("count", "amount") and tokens[at].norm == "how":
        return (("",) if kind == "count" else None), _lemmas(_noun_phrase(tokens, at + 2)), set()
    if kind == "name":
        lemmas = _lemmas(_noun_phrase(tokens, at + 1) or _attribute(tokens, at + 1))
        return _units(lemmas), lemmas, set()
    if kind == "person":
        return None, _lemmas(_attribute(tokens, at + 1)), set()
    if kind in ("date", "time", "place") and following.start and tokens[at].norm in ("what", "which"):
        return None, frozenset(), {at + 1}
    return None, frozenset(), set()


def _noun_phrase(tokens: Sequence[Token], start: int) -> Sequence[Token]:
    """The words from a place up to the next function word."""
    end = next((i for i in range(start, len(tokens)) if tokens[i].norm in function_words()), len(tokens))
    return tokens[start:end]


def _attribute(tokens: Sequence[Token], start: int) -> Sequence[Token]:
    """The noun phrase after a form of "to be" and an article: "is the price of"."""
    skipped = language().words["being"] | language().words["article"]
    at = start
    while at < len(tokens) and tokens[at].norm in skipped:
        at += 1
    return _noun_phrase(tokens, at) if at > start else []


def _lemmas(phrase: Sequence[Token]) -> frozenset[str]:
    return frozenset(token.lemma for token in phrase[:3])


def _units(concepts: Iterable[str]) -> tuple[str, ...] | None:
    """The units of measures; None if the concepts are no measures."""
    names = {concept.strip("-") for concept in concepts}
    units = [unit for unit, measures in phrase_map("texts", "measures_of_unit").items() if names & set(measures)]
    return tuple(units) or None
