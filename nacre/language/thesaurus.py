"""The resources of general English: measures of adjectives, synonyms, phrases, function words."""

from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import simplemma
import yaml
from rapidfuzz import fuzz, process

from nacre.language.tokens import Token, lemma

Degree = Literal["positive", "comparative", "superlative"]


class GradableAdjective(NamedTuple):
    """An adjective as a direction on properties: "cheapest" -> down on price, cost."""

    degree: Degree
    descending: bool
    concepts: tuple[str, ...]


@cache
def english_data() -> dict[str, Any]:
    """The parsed resource file."""
    return load_language_data("en/english.yaml")


@cache
def unit_words() -> frozenset[str]:
    """The words and signs for units and currencies."""
    return frozenset((*english_data()["units"], *english_data()["currencies"]))


@lru_cache(maxsize=4096)
def is_person(noun: str) -> bool:
    """Whether a noun phrase names persons, who are "they" and not "it".

    >>> is_person("chief engineer"), is_person("engine")
    (True, False)
    """
    words = noun.casefold().split()
    return bool(words) and lemma(words[-1]) in nouns_of_kind("persons")


def is_noun_of_kind(kind: str, noun: str) -> bool:
    """Whether the last word of a noun phrase is one of a list of nouns: "places", "bodies".

    >>> is_noun_of_kind("places", "concert hall"), is_noun_of_kind("bodies", "concert hall")
    (True, False)
    """
    words = noun.casefold().split()
    return bool(words) and lemma(words[-1]) in english_data()[kind]


@cache
def nouns_of_kind(kind: str) -> frozenset[str]:
    """The lemmas of a list of nouns: "persons", "places", "dates", "bodies".

    >>> "keeper" in nouns_of_kind("persons"), "harbour" in nouns_of_kind("places")
    (True, True)
    """
    return frozenset(lemma(word) for word in english_data()[kind])


@cache
def _thesaurus() -> dict[str, Any]:
    return load_language_data("en/synonyms.yaml")


def load_language_data(name: str) -> dict[str, Any]:
    """The content of a YAML file of this package, such as `en/english.yaml`."""
    path = Path(__file__).parent / name
    data: dict[str, Any] = yaml.load(
        path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    )
    return data


@cache
def function_words() -> frozenset[str]:
    """Words that carry no meaning of their own in a question."""
    words = frozenset(english_data()["function_words"].split())
    return words | {word.replace("'", "") for word in words if "'" in word[:-1]}


@cache
def _synonyms() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in _thesaurus()["synonyms"]:
        for word in line:
            found.setdefault(word, set()).update(line)
    return {word: frozenset(words) for word, words in found.items()}


def synonyms(word: str) -> frozenset[str]:
    """The lemma itself and the lemmas that say the same.

    >>> "price" in synonyms("cost")
    True
    """
    return _synonyms().get(word, frozenset()) | {word}


@cache
def concept_phrases() -> Mapping[tuple[str, ...], tuple[str, ...]]:
    """The lemmas of everyday expressions, and the concepts that each asks for, best first.

    >>> concept_phrases()["in", "charge", "of"][:2], concept_phrases()["make", "of"][:2]
    (('head', 'lead'), ('material', 'ingredient'))
    """
    said = _thesaurus()["phrases"]
    return {tuple(lemma(word) for word in phrase.split()): tuple(concepts) for phrase, concepts in said.items()}


@cache
def vocabulary() -> frozenset[str]:
    """All words that this resource of English knows to say something about data."""
    return frozenset(_synonyms()) | {word for words in concept_phrases() for word in words}


@cache
def kind_synonyms() -> Mapping[str, frozenset[str]]:
    """Words that the things of a kind may be called by, by the lemma of the kind.

    >>> "vehicle" in kind_synonyms()["tram"], "company" in kind_synonyms()["brewery"], "person" in kind_synonyms()["pilot"]
    (True, True, True)
    """
    data = load_language_data("en/kinds.yaml")
    found: dict[str, set[str]] = {}
    said = {word: kinds.split() for word, kinds in data["said_of"].items()}
    wide = [(word, english_data()[kinds]) for kinds in ("persons", "bodies") for word in data[kinds].split()]
    for word, kinds in (*said.items(), *wide):
        for kind in kinds:
            found.setdefault(lemma(kind), set()).add(word)
    return {kind: frozenset(words - {kind}) for kind, words in found.items()}


@cache
def far_end_nouns() -> Mapping[tuple[str, ...], tuple[str, ...]]:
    """What stands at the far end of a link whose name says the near one: lemmas of the name -> lemmas.

    >>> far_end_nouns()["student", "of"][0]
    'teacher'
    """
    return {tuple(lemma(w) for w in words.split()): tuple(far) for words, far in _thesaurus()["ends"].items()}


@cache
def inverse_nouns() -> Mapping[str, tuple[str, ...]]:
    """What the one end of a link is to the other, by the lemma of the link's name.

    >>> inverse_nouns()["father"][0]
    'child'
    """
    return {word: tuple(others) for word, others in _thesaurus()["turned"].items()}


@cache
def _opposites() -> dict[str, frozenset[str]]:
    pairs = [tuple(pair) for pair in english_data()["opposites"]]
    both = [*pairs, *((b, a) for a, b in pairs)]
    return {one: frozenset(b for a, b in both if a == one) for one, _ in both}


def antonyms(word: str) -> frozenset[str]:
    """What a thing is or does that a lemma does not say of it.

    >>> sorted(antonyms("fail")), antonyms("tall")
    (['pass', 'succeed', 'successful'], frozenset())
    """
    return _opposites().get(word, frozenset())


@cache
def superlative_spellings() -> dict[str, str]:
    """How superlatives are spelt, for those that are spelt almost so."""
    forms = {}
    for word in english_data()["measures"]:
        stem = word[:-1] if word.endswith(("e", "y")) else word
        for ending in ("est", word[-1] + "est", "iest"):
            forms[stem + ending] = word
    return forms


def gradable_adjective(token: Token) -> GradableAdjective | None:
    """What an adjective or adverb measures, by its form; None for other words.

    >>> from nacre.language.tokens import tokenize
    >>> found = gradable_adjective(tokens("cheapest")[0])
    >>> found.degree, found.descending, found.concepts
    ('superlative', False, ('price', 'cost', 'fee', 'fare', 'rate', 'charge', 'tariff'))
    >>> gradable_adjective(tokens("expensivst")[0]).degree, gradable_adjective(tokens("populatd")[0])
    ('superlative', None)
    """
    measures, irregular = english_data()["measures"], english_data()["irregular"]
    word, degree = token.norm, "positive"
    if word in irregular:
        word, degree = irregular[word]
    elif word not in measures:
        for ending, found in (("est", "superlative"), ("er", "comparative")):
            if word.endswith(ending):
                stem = word[: -len(ending)]
                forms = (stem, stem + "e", stem[:-1], stem[:-1] + "y", lemma(word))
                word = next((f for f in forms if f in measures), word)
                degree = found
                break
        else:
            word = word[:-2] if word.endswith("ly") and word[:-2] in measures else lemma(word)
    if (
        word not in measures
        and degree == "positive"
        and len(token.norm) >= 6
        and not simplemma.is_known(token.norm, lang="en")
    ):
        # of a mapping its values would be compared
        near = process.extractOne(token.norm, list(superlative_spellings()), scorer=fuzz.ratio, score_cutoff=90)
        word, degree = (superlative_spellings()[near[0]], "superlative") if near else (word, degree)
    if word not in measures:
        return None
    direction, *concepts = measures[word]
    return GradableAdjective(degree, direction == "up", tuple(concepts))  # type: ignore[arg-type]
