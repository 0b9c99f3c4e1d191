"""Verb forms in English: completed actions, the active of a passive, agent nouns, gerunds."""

import simplemma

from nacre.language.base import phrase_list, word_list, word_map
from nacre.language.forms.nouns import is_participle
from nacre.language.forms.verb_phrase import Verb, past_tense
from nacre.language.tokens import lemma


def is_link_verb(word: str) -> bool:
    """Whether a word is a verb in the third person that can label a link alone. Plural nouns are not."""
    return word in word_list("wording", "verbs")


def is_completed_action(words: str) -> bool:
    """Whether words are about a past event ("built by"), and not about a lasting state ("owned by", "part of").

    >>> [is_completed_action(words) for words in ("built by", "owned by", "first flown", "part of")]
    [True, False, True, False]
    """
    first = next((w for w in words.split() if w not in word_list("wording", "adverbs")), "")
    return is_participle(first) and first not in word_list("wording", "enduring")


def strip_preposition(words: str) -> str:
    """A participle without the preposition after it.

    >>> strip_preposition("founded in"), strip_preposition("hired")
    ('founded', 'hired')
    """
    done, _, last = words.rpartition(" ")
    return done if done and last in word_list("wording", "prepositions") else words


def active_verb(words: str) -> Verb | None:
    """The active of a participle with "by"; None for other words.

    >>> active_verb("caused by").one, active_verb("owned by").one, active_verb("part of")
    ('caused', 'owns', None)
    >>> active_verb("written by").base, active_verb("designed by").base
    ('write', 'design')
    """
    participle, _, by = words.rpartition(" ")
    if by != "by" or not (is_participle(participle) or (participle.endswith("ed") and " " not in participle)):
        return None
    base = _base_of_participle(participle)
    if is_completed_action(words):
        return past_tense(word_map("wording", "pasts").get(participle, participle), base)
    return Verb(third_person(base), base, base)


def agent_noun(words: str) -> str:
    """The noun for who does something ("directed by" -> "director"); "" if English has none.

    >>> agent_noun("organized by"), agent_noun("directed by"), agent_noun("kept by"), agent_noun("part of")
    ('organizer', 'director', 'keeper', '')
    """
    active = active_verb(words)
    if active is None or " " in active.base:
        return ""
    stem = active.base.removesuffix("e")
    return next((n for n in (f"{stem}or", f"{stem}er") if simplemma.is_known(n, lang="en")), "")


def gerund(base: str) -> str:
    """The "-ing" form of a verb.

    >>> gerund("become"), gerund("join"), gerund("see")
    ('becoming', 'joining', 'seeing')
    """
    return f"{base[:-1] if base.endswith('e') and not base.endswith('ee') else base}ing"


def third_person(base: str) -> str:
    """The form of a verb after "it".

    >>> third_person("own"), third_person("teach"), third_person("carry"), third_person("play")
    ('owns', 'teaches', 'carries', 'plays')
    """
    if base.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{base}es"
    if base.endswith("y") and base[-2:-1] not in "aeiou":
        return f"{base[:-1]}ies"
    return f"{base}s"


def base_form(verb: str) -> str:
    """The base form of a verb in the third person.

    >>> [base_form(verb) for verb in ("has", "carries", "lies", "teaches", "makes")]
    ['have', 'carry', 'lie', 'teach', 'make']
    """
    if verb == "has":
        return "have"
    if verb.endswith("ies") and len(verb) > len("lies"):
        return f"{verb[:-3]}y"
    return verb[:-2] if verb.endswith(phrase_list("wording", "es_endings")) else verb[:-1]


def _base_of_participle(participle: str) -> str:
    base = lemma(participle)
    if base != participle or not participle.endswith("ed"):
        return base
    return participle[:-2] if simplemma.is_known(participle[:-2], lang="en") else participle[:-1]
