"""Verb forms in English: completed actions, the active of a passive, agent nouns, gerunds."""

from dataclasses import dataclass

import simplemma

from nacre.language.base import word_list, word_map
from nacre.language.forms.nouns import is_participle
from nacre.language.tokens import lemma


@dataclass(frozen=True)
class ActiveForms:
    """The active of a passive: after a singular and a plural subject, the base form, and `do` for negations."""

    one: str
    many: str
    base: str
    do: tuple[str, str]


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


def active_forms(words: str) -> ActiveForms | None:
    """The active of a participle with "by"; None for other words.

    >>> active_forms("caused by").one, active_forms("owned by").one, active_forms("part of")
    ('caused', 'owns', None)
    >>> active_forms("written by").base, active_forms("designed by").base
    ('write', 'design')
    """
    participle, _, by = words.rpartition(" ")
    if by != "by" or not (is_participle(participle) or (participle.endswith("ed") and " " not in participle)):
        return None
    base = _base_form(participle)
    if is_completed_action(words):
        past = word_map("wording", "pasts").get(participle, participle)
        return ActiveForms(past, past, base, ("did", "did"))
    return ActiveForms(third_person(base), base, base, ("does", "do"))


def agent_noun(words: str) -> str:
    """The noun for who does something ("directed by" -> "director"); "" if English has none.

    >>> agent_noun("organized by"), agent_noun("directed by"), agent_noun("kept by"), agent_noun("part of")
    ('organizer', 'director', 'keeper', '')
    """
    active = active_forms(words)
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


def _base_form(participle: str) -> str:
    base = lemma(participle)
    if base != participle or not participle.endswith("ed"):
        return base
    return participle[:-2] if simplemma.is_known(participle[:-2], lang="en") else participle[:-1]
