"""Labels and names inside the sentences of passages: label -> its form in a sentence, forms of "be", lists."""

import re
from collections.abc import Sequence

from nacre.language.base import phrase_list


def be_form(noun: str, many: bool) -> str:
    """The verb after "The NOUN of X".

    >>> be_form("fuel type", many=False), be_form("members", many=False), be_form("equipment", many=True)
    ('is', 'are', 'includes')
    """
    last = noun.rpartition(" ")[2].lower()
    endings = (*phrase_list("ingestion", "singular_endings"), *phrase_list("ingestion", "invariable_nouns"))
    plural = last.endswith("s") and not last.endswith(endings)
    return ("include" if plural else "includes") if many else ("are" if plural else "is")


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
