"""English wording of labels of predicates: label -> the pattern of a sentence, forms of verbs, lists of names."""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from nacre.language.base import phrase_list, word_list
from nacre.language.forms.nouns import is_participle, wording_entry
from nacre.language.forms.verbs import is_completed_action

PatternKind = Literal["noun", "verb"]


class LabelPattern(NamedTuple):
    """A "verb" follows the subject ("X is located in Y"); a "noun" is put into "The ... of X is Y"."""

    kind: PatternKind
    text: str
    plural: str


def label_pattern(label: str) -> LabelPattern:
    """The sentence pattern of a predicate, by the form of its label.

    >>> label_pattern("located in")
    LabelPattern(kind='verb', text='is located in', plural='are located in')
    >>> label_pattern("borders")
    LabelPattern(kind='verb', text='borders', plural='border')
    >>> [label_pattern(label).text for label in ("has part", "fuel type", "located at site", "born")]
    ['part', 'fuel type', 'is located at site', 'was born']
    """
    words = label.split() or ["value"]
    first, text = words[0].lower(), " ".join(words)
    if first in word_list("ingestion", "be_forms") and len(words) > 1:
        verb = {"are": "is", "were": "was"}.get(first, first)
        rest = " ".join(words[1:])
        return LabelPattern("verb", f"{verb} {rest}", f"{'are' if verb == 'is' else 'were'} {rest}")
    if first in ("has", "have") and len(words) > 1:
        return LabelPattern("noun", " ".join(words[1:]), " ".join(words[1:]))
    singular_endings = phrase_list("ingestion", "singular_endings")
    third_person = first.endswith("s") and not first.endswith(singular_endings)
    then = words[1].lower() if len(words) > 1 else ""
    if first in wording_entry("verbs") or (third_person and then in wording_entry("prepositions") - {"of"}):
        return LabelPattern("verb", text, " ".join([_plural_verb(words[0]), *words[1:]]))
    done = is_participle(first)
    if (len(words) > 1 and words[-1].lower() in wording_entry("prepositions")) or (
        done and (not then or then in wording_entry("prepositions"))
    ):
        one, many = ("was", "were") if done and is_completed_action(text.lower()) else ("is", "are")
        return LabelPattern("verb", f"{one} {text}", f"{many} {text}")
    return LabelPattern("noun", text, text)


def be_form(noun: str, many: bool) -> str:
    """The verb after "The NOUN of X".

    >>> be_form("fuel type", many=False), be_form("members", many=False), be_form("equipment", many=True)
    ('is', 'are', 'includes')
    """
    last = noun.rpartition(" ")[2].lower()
    endings = (*phrase_list("ingestion", "singular_endings"), *phrase_list("ingestion", "invariable_nouns"))
    plural = last.endswith("s") and not last.endswith(endings)
    return ("include" if plural else "includes") if many else ("are" if plural else "is")


def state_phrase(label: str) -> str | None:
    """What a true boolean predicate states, if its label is a verb phrase; else None.

    >>> state_phrase("is open to the public"), state_phrase("heritage site")
    ('is open to the public', None)
    """
    first, _, rest = label.partition(" ")
    return f"{first.lower()} {rest}" if rest and first.lower() in word_list("ingestion", "state_verbs") else None


def lower_first(text: str) -> str:
    """The text with a small first letter, unless the first word is an acronym or a single letter.

    >>> lower_first("Fuel type"), lower_first("WLTP range"), lower_first("iPhone")
    ('fuel type', 'WLTP range', 'iPhone')
    """
    return text[0].lower() + text[1:] if len(text) > 1 and text[1].islower() else text


def label_in_sentence(label: str, name: str) -> str:
    """A label in the middle of a sentence. If it is only the split `name` of the IRI, its capitals have no meaning.

    >>> label_in_sentence("fuel Type", "fuelType"), label_in_sentence("Nobel Prize", "award")
    ('fuel type', 'Nobel Prize')
    >>> label_in_sentence("WLTP Range", "WLTPRange")
    'WLTP range'
    """
    if label.replace(" ", "") == re.sub(r"[\W_]", "", name):
        return " ".join(lower_first(word) for word in label.split())
    proper = any(word[0].isupper() for word in label.split()[1:])
    return label if proper else lower_first(label)


def list_names(names: Sequence[str], more: int = 0) -> str:
    """Names as an English list, with the number of further ones.

    >>> list_names(["A", "B", "C"]), list_names(["A", "B"], 7), list_names(["seats, front", "doors"])
    ('A, B and C', 'A, B and 7 more', 'seats, front; and doors')
    """
    parts = [*names, f"{more:,} more"] if more else list(names)
    if len(parts) == 1:
        return parts[0]
    if any(", " in name for name in names):
        return f"{'; '.join(parts[:-1])}; and {parts[-1]}"
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def capitalise_sentence(text: str) -> str:
    """Capitalise a generated phrase at the start of a sentence; titles keep their first letter.

    >>> [capitalise_sentence(text) for text in ("the owner of Hamlet", "an unnamed thing", "iPhone")]
    ['The owner of Hamlet', 'An unnamed thing', 'iPhone']
    """
    return text[0].upper() + text[1:] if text.startswith(("the ", "an unnamed")) else text


def _plural_verb(word: str) -> str:
    if word == "has":
        return "have"
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(phrase_list("ingestion", "third_person_es")):
        return word[:-2]
    return word[:-1] if word.endswith("s") else word
