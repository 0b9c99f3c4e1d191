"""How a predicate reads in a plain English sentence: label -> pattern; and how text falls into sentences."""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from nacre.language.forms.nouns import is_participle, wording_entry
from nacre.language.forms.verbs import is_completed_action

PatternKind = Literal["noun", "verb"]


class LabelPattern(NamedTuple):
    """`text` follows the subject when a "verb" ("is located in"), and goes into "The ... of X is Y" when a "noun"."""

    kind: PatternKind
    text: str
    plural: str


def label_pattern(label: str) -> LabelPattern:
    """How to say a predicate, from the form of its label alone.

    >>> label_pattern("located in")
    LabelPattern(kind='verb', text='is located in', plural='are located in')
    >>> label_pattern("borders")
    LabelPattern(kind='verb', text='borders', plural='border')
    >>> [label_pattern(label).text for label in ("has part", "fuel type", "located at site", "born")]
    ['part', 'fuel type', 'is located at site', 'was born']
    """
    words = label.split() or ["value"]
    first, text = words[0].lower(), " ".join(words)
    if first in ("is", "was", "are", "were") and len(words) > 1:
        verb = {"are": "is", "were": "was"}.get(first, first)
        rest = " ".join(words[1:])
        return LabelPattern("verb", f"{verb} {rest}", f"{'are' if verb == 'is' else 'were'} {rest}")
    if first in ("has", "have") and len(words) > 1:
        return LabelPattern("noun", " ".join(words[1:]), " ".join(words[1:]))
    third_person = first.endswith("s") and not first.endswith(("ss", "us", "is", "as"))
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
    plural = last.endswith("s") and not last.endswith(("ss", "us", "is", "as", "series", "species"))
    return ("include" if plural else "includes") if many else ("are" if plural else "is")


def state_phrase(label: str) -> str | None:
    """What is true of a thing when a boolean predicate is, if its label says it: "is major" -> "is major".

    >>> state_phrase("is open to the public"), state_phrase("heritage site")
    ('is open to the public', None)
    """
    first, _, rest = label.partition(" ")
    return f"{first.lower()} {rest}" if rest and first.lower() in ("is", "was", "has", "can") else None


def lower_first(text: str) -> str:
    """Without the capital of a first word, unless it is an acronym or a single letter.

    >>> lower_first("Fuel type"), lower_first("WLTP range"), lower_first("iPhone")
    ('fuel type', 'WLTP range', 'iPhone')
    """
    return text[0].lower() + text[1:] if len(text) > 1 and text[1].islower() else text


def label_in_sentence(label: str, name: str) -> str:
    """A label in the middle of a sentence. One that is only the `name` in an IRI, split, says nothing by its capitals.

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
    """Names as a phrase, with the number of those not named.

    >>> list_names(["A", "B", "C"]), list_names(["A", "B"], 7), list_names(["seats, front", "doors"])
    ('A, B and C', 'A, B and 7 more', 'seats, front; and doors')
    """
    parts = [*names, f"{more:,} more"] if more else list(names)
    if len(parts) == 1:
        return parts[0]
    if any(", " in name for name in names):
        return f"{'; '.join(parts[:-1])}; and {parts[-1]}"
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def clean_text(text: str) -> str:
    """The words of a text on one line: without control characters, marks of writing direction and doubled spaces.

    >>> clean_text("a\\u202eb\\n\\x07 c")
    'ab c'
    """
    if text.isprintable() and "  " not in text and text[:1] != " " != text[-1:]:
        return text
    return _SPACE.sub(" ", _HIDDEN.sub("", text)).strip() if _UNCLEAN.search(text) else text


def capitalise_sentence(text: str) -> str:
    """A sentence from the phrase it begins with: a title may begin with a small letter, a phrase made here must not.

    >>> [capitalise_sentence(text) for text in ("the owner of Hamlet", "an unnamed thing", "iPhone")]
    ['The owner of Hamlet', 'An unnamed thing', 'iPhone']
    """
    return text[0].upper() + text[1:] if text.startswith(("the ", "an unnamed")) else text


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Where the sentences of a text begin and end; a blank line always ends one.

    >>> text = "Dr. Who has 3.5 kg. Really? Yes."
    >>> [text[start:end] for start, end in sentence_spans(text)]
    ['Dr. Who has 3.5 kg.', 'Really?', 'Yes.']
    """
    spans, start = [], 0
    for match in _BREAK.finditer(text):
        if match.group(1) is not None and _ABBREVIATION.search(text[max(0, match.start() - 12) : match.start() + 1]):
            continue
        spans.append((start, match.start(0) + len(match.group(1) or "")))
        start = match.end()
    spans.append((start, len(text)))
    return [trimmed for span in spans if (trimmed := _trim(text, *span))]


def _plural_verb(word: str) -> str:
    if word == "has":
        return "have"
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes", "oes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") else word


def _trim(text: str, start: int, end: int) -> tuple[int, int] | None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if start < end else None


_HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]"
)
_SPACE = re.compile(r"\s+")
_UNCLEAN = re.compile(_HIDDEN.pattern + r"|[\t\n\r\u0085\u2028\u2029]|  |^\s|\s$")
_BREAK = re.compile(r"""((?:[.!?…]+["'”’)\]]*))\s+(?=["'“‘(\[]*[^\W_a-z])|\s*\n\s*\n\s*|(?<=[。！？])""")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:[A-Z]\.|(?:[A-Za-z]\.){2,}|(?:Dr|Mr|Mrs|Ms|Prof|St|Mt|No|Nr|vs|etc|cf|approx|incl|ca|Fig|Vol|Jr|Sr|Inc|Ltd|Co)\.)$"
)
