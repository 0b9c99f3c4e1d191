"""The language of a question by its function words: text -> a code such as "de"; English where that is unclear."""

from functools import cache

import simplemma

from nacre.language.thesaurus import load_language_data

ENGLISH = "en"
MIN_FUNCTION_WORDS = 2
_MARGINS = "?!.,;:¿¡\"'“”„«»()।"


def detect_language(text: str, fewest: int = MIN_FUNCTION_WORDS) -> str:
    """The language with the most function words; another one than English needs `fewest`, more than English, and one
    that is no English word as well.

    >>> detect_language("Wie viele Inseln hat der See?"), detect_language("How many die in an accident?"), detect_language("Oslo?")
    ('de', 'en', 'en')
    >>> detect_language("top speed in miles per hour"), detect_language("no, in Spain")
    ('en', 'en')
    """
    # apostrophes tie words together in French and Italian
    words = {word.strip(_MARGINS) for word in text.casefold().replace("’", "'").replace("'", "' ").split()}
    found = {code: len(words & own) for code, own in language_function_words().items()}
    best = max(found, key=lambda code: (found[code], code == ENGLISH))
    if found[best] < fewest or found[best] <= found[ENGLISH]:
        return ENGLISH
    own = words & language_function_words()[best]
    return best if any(not simplemma.is_known(word, lang=ENGLISH) for word in own) else ENGLISH


def language_name(code: str) -> str:
    """What English calls a language; the code itself where it is not one of ours."""
    return language_names()[code] if code in language_function_words() else code


@cache
def language_names() -> dict[str, str]:
    """What English calls languages, by code (ISO 639-1)."""
    return load_language_data("resources/language_names.yaml")


def language_property(named: str, language: str) -> str:
    """The property that gives the names of things in one language alone, of a property that names them in several.

    >>> language_property("http://www.w3.org/2000/01/rdf-schema#label", "de")
    'http://www.w3.org/2000/01/rdf-schema#label@de'
    """
    # an IRI with a second "#" is none, and no SPARQL can speak of it
    return f"{named}@{language}"


def multilingual_property(predicate: str) -> str:
    """The property of whose names one gives those in one language, "" for others.

    >>> multilingual_property("http://www.w3.org/2000/01/rdf-schema#label@de"), multilingual_property("http://example.org/ns#width")
    ('http://www.w3.org/2000/01/rdf-schema#label', '')
    """
    # versions of a graph that were made earlier have "#" there
    named, _, language = predicate.rpartition("@" if "@" in predicate else "#")
    return named if language in language_names() else ""


@cache
def language_function_words() -> dict[str, frozenset[str]]:
    """The words by which questions are told apart by their languages, by code."""
    return {code: frozenset(words.split()) for code, words in load_language_data("resources/languages.yaml").items()}
