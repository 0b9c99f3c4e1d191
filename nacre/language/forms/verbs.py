"""Verb forms as answers need them: participles, what still goes on, the active of a passive."""

from dataclasses import dataclass

import simplemma

from nacre.language.forms.nouns import is_participle, wording_entry
from nacre.language.tokens import lemma


@dataclass(frozen=True)
class ActiveForms:
    """What somebody does or did: after one, after several, and after "does", "do" or "did" (`do`) with "not"."""

    one: str
    many: str
    base: str
    do: tuple[str, str]


def is_completed_action(words: str) -> bool:
    """Whether words say what happened once ("built by"), and not what still holds ("owned by", "part of").

    >>> is_completed_action("built by"), is_completed_action("owned by"), is_completed_action("first flown"), is_completed_action("part of")
    (True, False, True, False)
    """
    first = next((w for w in words.split() if w not in wording_entry("adverbs")), "")
    return is_participle(first) and first not in wording_entry("enduring")


def strip_preposition(words: str) -> str:
    """What was done, without the preposition of its time or place.

    >>> strip_preposition("founded in"), strip_preposition("hired")
    ('founded', 'hired')
    """
    done, _, last = words.rpartition(" ")
    return done if done and last in wording_entry("prepositions") else words


def active_forms(words: str) -> ActiveForms | None:
    """What the one does by whom something is done; None for other words than a participle with "by".

    >>> active_forms("caused by").one, active_forms("owned by").one, active_forms("written by").base, active_forms("part of")
    ('caused', 'owns', 'write', None)
    >>> active_forms("designed by").base
    'design'
    """
    done, _, by = words.rpartition(" ")
    if by != "by" or not (is_participle(done) or (done.endswith("ed") and " " not in done)):
        return None
    base = _base_of(done)
    if is_completed_action(words):
        past = wording_entry("pasts").get(done, done)
        return ActiveForms(past, past, base, ("did", "did"))
    return ActiveForms(third_person(base), base, base, ("does", "do"))


def agent_noun(words: str) -> str:
    """Who does what is done by somebody; "" where English may have no noun for that.

    >>> agent_noun("organized by"), agent_noun("directed by"), agent_noun("kept by"), agent_noun("part of")
    ('organizer', 'director', 'keeper', '')
    """
    does = active_forms(words)
    if does is None or " " in does.base:
        return ""
    stem = does.base.removesuffix("e")
    return next((n for n in (f"{stem}or", f"{stem}er") if simplemma.is_known(n, lang="en")), "")


def _base_of(done: str) -> str:
    base = lemma(done)
    if base != done or not done.endswith("ed"):
        return base
    return done[:-2] if simplemma.is_known(done[:-2], lang="en") else done[:-1]


def gerund(base: str) -> str:
    """The form of a verb that is a noun.

    >>> gerund("become"), gerund("join"), gerund("see")
    ('becoming', 'joining', 'seeing')
    """
    return f"{base[:-1] if base.endswith('e') and not base.endswith('ee') else base}ing"


def third_person(base: str) -> str:
    """A verb after "it".

    >>> third_person("own"), third_person("teach"), third_person("carry"), third_person("play")
    ('owns', 'teaches', 'carries', 'plays')
    """
    if base.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{base}es"
    if base.endswith("y") and base[-2:-1] not in "aeiou":
        return f"{base[:-1]}ies"
    return f"{base}s"
