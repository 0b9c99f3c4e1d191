"""Take from a label what is said with it anyway: Predicate + Schema -> words without owner, range, code and unit."""

import re

from nacre.language.base import word_list, word_map
from nacre.language.forms.nouns import head_noun, singular
from nacre.language.forms.verbs import is_link_verb
from nacre.language.quantities.units import magnitude_of_name
from nacre.language.split_labels import label_words
from nacre.language.thesaurus import english_data, is_person
from nacre.language.tokens import lemma, split_name
from nacre.records.schema import Class, Predicate, Schema
from nacre.wording.labels.parse_label import parse_label

_BRACKET = re.compile(r"(?:(?<!\s)\s++)?\(([^()]*+)\)\s*+$")
# a code has no three letters in a row
_SPOKEN = re.compile("[a-z]{3}")


def shorten_label(predicate: Predicate, schema: Schema) -> str:
    """The words of a predicate's label without what its owner, its range or its values say."""
    words = label_words(_strip_unit(predicate), schema.labels)
    words = _strip_domain(_strip_range(words, predicate, schema), predicate, schema)
    words = _strip_owner_noun(words, predicate, schema)
    return _complete_contact(_strip_code(words, predicate, schema), predicate)


def label_remainder(text: str, noun: str) -> str:
    """The words of a label after the last words of a noun; "" if it does not begin so.

    "code" of "channel code" for "contact channel", "price" of "product price" for "product for hire".
    """
    ends = (" ".join(words[at:]) for words in (noun.split(), head_noun(noun).split()) for at in range(len(words)))
    for before in ends:
        rest = text.removeprefix(f"{before} ")
        if rest != text and rest not in word_list("wording", "counting") and parse_label(rest).kind == "noun":
            return rest
    return ""


def _strip_range(text: str, predicate: Predicate, schema: Schema) -> str:
    """A label of a link without the class at its end.

    "on" of "on island", "part of" of "part of museum", "speaks" of "speaks language", "driver" of "driver employee".
    """
    if not predicate.has_links or " " not in text:
        return text
    for iri in predicate.ranges:
        noun = _class_words(schema.class_of.get(iri), schema)
        before = text.removesuffix(f" {noun}")
        last = before.split()[-1] if noun and before != text else ""
        if last in word_list("wording", "prepositions") or (is_link_verb(before) and last != "has"):
            return before
        if last and is_person(before) and is_person(noun):
            # the "driver employee" of a van is its driver
            return before
    return text


def _strip_domain(text: str, predicate: Predicate, schema: Schema) -> str:
    """A label without the class of its owner at its end: "head" of "head of department"."""
    for iri in predicate.domains if " of " in text else ():
        noun = _class_words(schema.class_of.get(iri), schema)
        before = text.removesuffix(f" of {noun}")
        if noun and before != text and iri not in predicate.ranges and not before.startswith(("is ", "has ")):
            return before
    return text


def _strip_owner_noun(text: str, predicate: Predicate, schema: Schema) -> str:
    """A label without the class of its owner at its start: "price" of "product price"."""
    classes = (schema.class_of[iri] for iri in predicate.domains if iri in schema.class_of)
    nouns = (label_words(each.label, schema.labels) for each in classes)
    remainders = (label_remainder(text, singular(noun)) or label_remainder(text, noun) for noun in nouns)
    rest = next(remainders, "") if " " in text else ""
    # a predicate may have thousands of owners: the first that differs decides
    return rest if rest and all(other == rest for other in remainders) else text


def _strip_code(text: str, predicate: Predicate, schema: Schema) -> str:
    """A label without its "code", if most values are words ("Credit Card") and the rest is no other label."""
    rest, values = text.removesuffix(" code"), predicate.values
    if rest == text or any(any(map(str.isdigit, value)) for value in values):
        return text
    if 2 * sum(bool(_SPOKEN.search(value)) for value in values) <= len(values):
        return text
    others = {label_words(p.label, schema.labels) for p in schema.predicates}
    return text if rest in others or predicate.label.removesuffix(" code") in others else rest


def _complete_contact(text: str, predicate: Predicate) -> str:
    """A label whose last word is a way to reach somebody, with what its values are: "phone number"."""
    before, space, last = text.rpartition(" ")
    whole = last if predicate.has_links else word_map("wording", "completed").get(last, last)
    return f"{before}{space}{whole}"


def _strip_unit(predicate: Predicate) -> str:
    """A label without its unit, in brackets or as the last word ("in minutes"): each value is shown with it."""
    if not predicate.unit:
        return predicate.label
    magnitude = magnitude_of_name(predicate.label)
    if magnitude is not None and magnitude[1] == predicate.unit:
        return magnitude[0]
    data = english_data()
    units = {**data["units_in_names"], **data["units"], **{c: c for c in data["currencies"]}}
    *words, last = split_name(predicate.label).split() or [""]
    unit = units.get(last.casefold()) or units.get(lemma(last.casefold())) if words and len(last) > 1 else None
    if unit is not None and unit in (predicate.unit, units.get(predicate.unit.casefold())):
        return " ".join(words[:-1] if words[-1:] == ["in"] and len(words) > 1 else words)
    bracket = _BRACKET.search(predicate.label)
    if bracket is None:
        return predicate.label
    own, other = predicate.unit.casefold(), bracket[1].casefold()
    is_same = own == other or units.get(own, own) == units.get(other, other)
    return predicate.label[: bracket.start()] if is_same and bracket.start() else predicate.label


def _class_words(known: Class | None, schema: Schema) -> str:
    return singular(label_words(known.label, schema.labels)) if known is not None else ""
