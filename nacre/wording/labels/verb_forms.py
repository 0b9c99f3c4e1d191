"""Verbs in labels: word -> whether it is one, and its base form."""

from nacre.language.base import phrase_list
from nacre.language.forms.nouns import wording_entry


def is_link_verb(word: str) -> bool:
    """Whether a word is a verb in the third person that can label a link alone. Plural nouns are not."""
    return word in wording_entry("verbs")


def base_form(verb: str) -> str:
    """The base form of a verb in the third person.

    >>> [base_form(verb) for verb in ("has", "carries", "teaches", "makes")]
    ['have', 'carry', 'teach', 'make']
    """
    if verb == "has":
        return "have"
    if verb.endswith("ies"):
        return f"{verb[:-3]}y"
    return verb[:-2] if verb.endswith(phrase_list("wording", "es_endings")) else verb[:-1]
