"""The thesaurus of general English: synonyms, gradable adjectives, nouns by kind, function words."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain
from typing import Any, Literal, NamedTuple

from rapidfuzz import fuzz, process

from nacre.language.data import load_language_data
from nacre.language.tokens import Token, is_known, lemma, name_tokens, tokenize
from nacre.records.evidence import EvidenceSentence

Degree = Literal["positive", "comparative", "superlative"]

# letters of a misspelt superlative, and its likeness to a right one (0..100), at least
_MIN_LETTERS, _MIN_LIKENESS = 6, 90


class GradableAdjective(NamedTuple):
    """An adjective as a direction on properties: "cheapest" -> down on price, cost."""

    degree: Degree
    descending: bool
    concepts: tuple[str, ...]  # lemmas of names of properties, the best first; a "-" before one turns the direction


@cache
def english_data() -> dict[str, Any]:
    """General English for questions about any graph: the content of `en/english.yaml`."""
    return load_language_data("en/english.yaml")


@cache
def unit_words() -> frozenset[str]:
    """The words and signs for units and currencies."""
    return frozenset((*english_data()["units"], *english_data()["currencies"]))


@lru_cache(maxsize=4096)
def is_person(noun: str) -> bool:
    """Whether a noun phrase names persons, who are "they" and not "it"."""
    return is_noun_of_kind("persons", noun)


def is_noun_of_kind(kind: str, noun: str) -> bool:
    """Whether the head of a noun phrase is one of the nouns of a kind: "places", "bodies"."""
    words = noun.casefold().split()
    return bool(words) and lemma(words[-1]) in english_data()[kind]


@cache
def nouns_of_kind(kind: str) -> frozenset[str]:
    """The lemmas of the nouns of a kind: "persons", "places", "dates", "bodies"."""
    return frozenset(lemma(word) for word in english_data()[kind])


@cache
def _thesaurus() -> dict[str, Any]:
    return load_language_data("en/synonyms.yaml")


@cache
def function_words() -> frozenset[str]:
    """Words without a meaning of their own in a question; contractions also without their apostrophe."""
    words = frozenset(english_data()["function_words"].split())
    return words | {word.replace("'", "") for word in words if "'" in word[:-1]}


@cache
def _synonyms() -> dict[str, frozenset[str]]:
    by_word: dict[str, set[str]] = {}
    for line in _thesaurus()["synonyms"]:
        for word in line:
            by_word.setdefault(word, set()).update(line)
    return {word: frozenset(words) for word, words in by_word.items()}


def synonyms(word: str) -> frozenset[str]:
    """A lemma and its synonyms."""
    return _synonyms().get(word, frozenset()) | {word}


@cache
def concept_phrases() -> Mapping[tuple[str, ...], tuple[str, ...]]:
    """The lemmas of everyday expressions, with the concepts that each asks for, the best first.

    >>> concept_phrases()["in", "charge", "of"][:2], concept_phrases()["make", "of"][:2]
    (('head', 'lead'), ('material', 'ingredient'))
    """
    concepts_by_phrase = _thesaurus()["phrases"].items()
    return {tuple(lemma(word) for word in phrase.split()): tuple(concepts) for phrase, concepts in concepts_by_phrase}


@cache
def vocabulary() -> frozenset[str]:
    """All words of the synonyms and the everyday expressions."""
    return frozenset(_synonyms()) | {word for words in concept_phrases() for word in words}


@cache
def kind_synonyms() -> Mapping[str, frozenset[str]]:
    """Other nouns for the things of a kind, by the lemma of the kind."""
    data = load_language_data("en/kinds.yaml")
    by_kind: dict[str, set[str]] = {}
    narrow = [(word, kinds.split()) for word, kinds in data["said_of"].items()]
    wide = [(word, english_data()[kinds]) for kinds in ("persons", "bodies") for word in data[kinds].split()]
    for word, kinds in (*narrow, *wide):
        for kind in kinds:
            by_kind.setdefault(lemma(kind), set()).add(word)
    return {kind: frozenset(words - {kind}) for kind, words in by_kind.items()}


@cache
def kind_words() -> frozenset[str]:
    """The words for kinds of things, which several nouns stand for: "dish", "animal"."""
    return frozenset().union(*kind_synonyms().values())


@cache
def wide_words() -> Mapping[str, str]:
    """The lemmas of words for things of many classes, each with the kind of these things, the plainest word first."""
    by_kind = load_language_data("en/kinds.yaml")["wide"]
    return {lemma(word): kind for kind, words in by_kind.items() for word in words.split()}


@cache
def converse_roles() -> Mapping[tuple[str, ...], tuple[int, int]]:
    """The relation of a verb or noun, by its lemmas, and which of its two roles the word gives to its subject."""
    relations = _thesaurus()["converses"]
    return {
        tuple(map(lemma, phrase.split())): (number, role)
        for number, relation in enumerate(relations)
        for role, phrases in enumerate(relation)
        for phrase in phrases
    }


@lru_cache(maxsize=4096)
def antonyms(word: str) -> frozenset[str]:
    """The lemmas with the opposite meaning."""
    pairs = (pair for pair in english_data()["opposites"] if word in pair)
    return frozenset(other for pair in pairs for other in pair if other != word)


@cache
def superlative_spellings() -> dict[str, str]:
    """The possible spellings of superlatives with their adjectives, to correct misspelt ones."""
    spellings = {}
    for word in english_data()["measures"]:
        stem = word[:-1] if word.endswith(("e", "y")) else word
        for ending in ("est", word[-1] + "est", "iest"):
            spellings[stem + ending] = word
    return spellings


def adjective_concepts(word: str) -> tuple[str, ...]:
    """What an adjective in its positive degree measures; empty for other words."""
    _, *concepts = english_data()["measures"].get(word, ("",))
    return tuple(concepts)


@lru_cache(maxsize=1024)
def gradable_adjective(token: Token) -> GradableAdjective | None:
    """The measure and direction of an adjective or adverb; None for other words."""
    measures = english_data()["measures"]
    word, degree = _adjective_and_degree(token.norm)
    is_long = word not in measures and degree == "positive" and len(token.norm) >= _MIN_LETTERS
    if is_long and not is_known(token.norm, lang="en"):
        # a list, since rapidfuzz compares the values of a mapping
        spellings = list(superlative_spellings())
        near = process.extractOne(token.norm, spellings, scorer=fuzz.ratio, score_cutoff=_MIN_LIKENESS)
        word, degree = (superlative_spellings()[near[0]], "superlative") if near else (word, degree)
    if word not in measures:
        return None
    direction, *concepts = measures[word]
    return GradableAdjective(degree, direction == "up", tuple(concepts))


def _adjective_and_degree(word: str) -> tuple[str, Degree]:
    """The positive form of a word and its degree, as far as its ending shows them."""
    measures, irregular = english_data()["measures"], english_data()["irregular"]
    if word in irregular:
        adjective, degree = irregular[word]
        return adjective, degree
    if word in measures:
        return word, "positive"
    endings: tuple[tuple[str, Degree], ...] = (("est", "superlative"), ("er", "comparative"))
    for ending, degree in endings:
        if word.endswith(ending):
            stem = word[: -len(ending)]
            forms = (stem, stem + "e", stem[:-1], stem[:-1] + "y", lemma(word))
            return next((form for form in forms if form in measures), word), degree
    return word[:-2] if word.endswith("ly") and word[:-2] in measures else lemma(word), "positive"


def is_common_word(token: Token, *, is_first: bool = False) -> bool:
    """Whether a word is in the dictionary and not capitalised as a name, unless it is the first of a sentence."""
    if not token.norm.isalpha() or (token.text[0].isupper() and not is_first):
        return False
    return bool(is_known(token.norm, lang="en") or is_known(token.lemma, lang="en"))


# minimum score of a sentence as a share of the best score
MIN_SCORE_SHARE = 0.5


def rank_sentences(question: str, evidence: Sequence[EvidenceSentence], limit_words: int = 120) -> list[int]:
    """The indexes of the best sentences, each text once, with at most `limit_words` words in all.

    Rare words of the question weigh most; words in the title of a passage weigh half. Sentences without a word of the
    question are left out. Ties are broken by the score of the retrieval.
    """
    question_forms = _content_forms(question)
    wanted = frozenset[str]().union(*question_forms)
    bodies = [wanted & dictionary_forms(e.text) for e in evidence]
    titles = [wanted & dictionary_forms(e.title) for e in evidence]
    frequency = Counter(chain.from_iterable(bodies))
    total = len(evidence) + 1
    weights = [math.log(1 + total / (1 + max((frequency[f] for f in forms), default=0))) for forms in question_forms]

    def score(i: int) -> float:
        in_body, in_title = 0.0, 0.0
        for forms, weight in zip(question_forms, weights, strict=True):
            if not forms.isdisjoint(bodies[i]):
                in_body += weight
            elif not forms.isdisjoint(titles[i]):
                in_title += 0.5 * weight
        return (in_body + in_title) * (1.0 if in_body else 0.5)

    ranked = sorted((-score(i), -evidence[i].score, i) for i in range(len(evidence)))
    chosen: list[int] = []
    seen: set[str] = set()
    words = 0
    for loss, _, i in ranked:
        text = evidence[i].text
        length = len(text.split())
        if loss >= MIN_SCORE_SHARE * ranked[0][0] or text in seen or words + length > limit_words:
            continue
        chosen.append(i)
        seen.add(text)
        words += length
    return chosen


def word_coverage(question: str, evidence: Sequence[EvidenceSentence]) -> float:
    """The share of a question's content words that occur in some sentence or its title, 0..1."""
    question_forms = _content_forms(question)
    known = (
        set().union(*(dictionary_forms(e.text) | dictionary_forms(e.title) for e in evidence)) if evidence else set()
    )
    return sum(bool(forms & known) for forms in question_forms) / len(question_forms) if question_forms else 0.0


def _content_forms(question: str) -> list[frozenset[str]]:
    return [synonyms(t.lemma) for t in tokenize(question) if t.norm not in function_words()]


# the same sentences of a graph are ranked for many questions
@lru_cache(8192)
def dictionary_forms(text: str) -> frozenset[str]:
    """The words of a text and their dictionary forms."""
    norms = name_tokens(text)
    return frozenset((*norms, *map(lemma, norms)))
