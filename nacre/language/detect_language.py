"""Detect the language of a question by its function words: text -> a code such as "de"; English if unclear."""

from functools import cache

import simplemma

from nacre.language.base import load_language_data

ENGLISH = "en"
MIN_FUNCTION_WORDS = 2
_PUNCTUATION = "?!.,;:¿¡\"'“”„«»()।"


def detect_language(text: str, fewest: int = MIN_FUNCTION_WORDS) -> str:
    """The language with the most function words in a text.

    Another language than English needs at least `fewest` of them, more than English has, and one that is no word of
    English.

    >>> [detect_language(text) for text in ("Wie viele Inseln hat der See?", "How many die in an accident?", "Oslo?")]
    ['de', 'en', 'en']
    >>> detect_language("top speed in miles per hour"), detect_language("no, in Spain")
    ('en', 'en')
    """
    # apostrophes join words in French and Italian
    words = {word.strip(_PUNCTUATION) for word in text.casefold().replace("’", "'").replace("'", "' ").split()}
    counts = {code: len(words & own) for code, own in language_function_words().items()}
    best = max(counts, key=lambda code: (counts[code], code == ENGLISH))
    if counts[best] < fewest or counts[best] <= counts[ENGLISH]:
        return ENGLISH
    own = words & language_function_words()[best]
    return best if any(not simplemma.is_known(word, lang=ENGLISH) for word in own) else ENGLISH


def language_name(code: str) -> str:
    """The English name of a language; an unsupported code stays as it is."""
    return language_names()[code] if code in language_function_words() else code


@cache
def language_names() -> dict[str, str]:
    """The English names of languages by code (ISO 639-1)."""
    return load_language_data("resources/language_names.yaml")


def language_property(predicate: str, language: str) -> str:
    """The property for the names in one language, of a property with names in several languages.

    >>> language_property("http://www.w3.org/2000/01/rdf-schema#label", "de")
    'http://www.w3.org/2000/01/rdf-schema#label@de'
    """
    # an IRI has no second "#", and SPARQL would reject it
    return f"{predicate}@{language}"


def multilingual_property(predicate: str) -> str:
    """The property behind a property for one language; "" for other properties.

    >>> multilingual_property("http://www.w3.org/2000/01/rdf-schema#label@de")
    'http://www.w3.org/2000/01/rdf-schema#label'
    >>> multilingual_property("http://example.org/ns#width")
    ''
    """
    # older versions of a graph have "#" in place of "@"
    base, _, language = predicate.rpartition("@" if "@" in predicate else "#")
    return base if language in language_names() else ""


@cache
def language_function_words() -> dict[str, frozenset[str]]:
    """The function words of the supported languages by code."""
    return {code: frozenset(words.split()) for code, words in load_language_data("resources/languages.yaml").items()}
