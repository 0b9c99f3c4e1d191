"""Label predicates as people say them: IRI + Schema -> PredicateLabel, or a noun."""

import re
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from nacre.language.data import WORDS, phrase_list, word_list, word_map
from nacre.language.labels import is_boolean_predicate, label_words, strip_yes_no_suffix
from nacre.language.quantities import magnitude_of_name
from nacre.language.thesaurus import english_data, function_words, is_person
from nacre.language.tokens import is_known, lemma, split_name
from nacre.language.word_forms import (
    BE,
    HAVE,
    HAVE_BEEN,
    WAS,
    Verb,
    VerbPhrase,
    base_form,
    head_noun,
    interchangeable_words,
    is_completed_action,
    is_link_verb,
    is_participle,
    is_plural,
    past_tense,
    plural,
    singular,
    strip_preposition,
    with_indefinite_article,
)
from nacre.records.schema import Class, Predicate, Schema

_DAY = re.compile(r"(?:about )?\d{1,2} |\d{4}-\d\d-\d\d|today")

LabelKind = Literal["noun", "verb", "state", "role", "flag", "past"]


@dataclass(frozen=True)
class PredicateLabel:
    """The words of a predicate, by the place they take in a sentence.

    A "noun" goes into "the NOUN of X", a "verb" after its subject ("borders"), a "state" after a form of "be" ("located
    in"), and so do a "role" ("variant", of something) and a "flag" ("open", yes or no); a "past" ("died in") as a verb.
    """

    kind: LabelKind
    one: str
    many: str  # for several things; of a "past" the form in denials ("die in")
    has: bool = False  # the label began with "has" ("has roof")
    full: str = ""  # with the words of the owner: "ship type" for the type of a ship
    was: bool = False  # the label began with "was" ("was sold")

    def phrase(self, other: str = "") -> VerbPhrase:
        """What a thing does or is to the `other` end, by a label that is no noun.

        >>> PredicateLabel("past", "died in", "die in").phrase("Rome").denial.words()
        'did not die in Rome'
        """
        if self.kind == "role":
            return VerbPhrase(BE, f"{with_indefinite_article(self.one)} of {other}", f"{self.many} of {other}")
        if self.kind in ("state", "flag"):
            is_past = self.was or (self.kind == "state" and is_completed_action(self.one))
            return VerbPhrase(WAS if is_past else BE, f"{self.one} {other}".rstrip())
        return VerbPhrase(self._verb(self.one, self.many), other)

    def event(self, when: str = "") -> VerbPhrase:
        """What happened to a thing, or what it did, without a preposition at the end: "was founded in 1961"."""
        one, many = strip_preposition(self.one), strip_preposition(self.many)
        if self.kind == "state":
            return VerbPhrase(WAS, f"{one} {when}".rstrip())
        return VerbPhrase(self._verb(one, many), when)

    def statement(self, values: str, *, is_dated: bool, is_temporal: bool) -> VerbPhrase:
        """The values of a property that is no noun: "was built in 1961", "starts on 5 May", "is open to adults".
        `is_temporal`: the values are years or dates; `is_dated`: they are dates."""
        ends_with_preposition = self.one.split()[-1] in word_list("wording", "prepositions")
        # the dates of some properties are months, years or longer
        is_day = is_dated and (not values or _DAY.match(values) is not None)
        if is_temporal and is_dated and self.kind == "verb":
            return self.event(f"{'on' if is_day else 'in'} {values}")
        if is_temporal and not ends_with_preposition:
            values = f"{'on' if is_day else 'in'} {values}"
        phrase = self.phrase(values)
        if is_temporal and self.kind == "state":
            return replace(phrase, verb=HAVE_BEEN if self.one.endswith(" since") else WAS)
        return phrase

    def flag(self, yes: bool = True) -> VerbPhrase:
        """What a yes-or-no property says of a thing.

        >>> PredicateLabel("noun", "roof", "roofs", True).flag().words()
        'has a roof'
        """
        first, _, rest = self.one.partition(" ")
        if self.has:
            is_mass = self.one.split()[-1] in word_list("wording", "mass") or is_plural(self.one)
            phrase = VerbPhrase(HAVE, self.one if is_mass else with_indefinite_article(self.one))
        elif self.kind == "noun" and rest and first.endswith("s") and is_link_verb(first):
            phrase = VerbPhrase(Verb(first, base_form(first), base_form(first)), rest)
        else:
            # "is licensed", whenever that was done
            phrase = VerbPhrase(WAS if self.was else BE, *_complements(self))
        return phrase if yes else phrase.denial

    def _verb(self, one: str, many: str) -> Verb:
        return past_tense(one, many) if self.kind == "past" else Verb(one, many, many)


def predicate_label(iri: str, schema: Schema) -> PredicateLabel:
    """The label of a predicate in words, without the unit of its values; KeyError if the graph has none."""
    return schema.cache.get((predicate_label, iri), lambda: _predicate_label(schema.predicate_of[iri], schema))


def is_describable(predicate: Predicate, schema: Schema) -> bool:
    """Whether descriptions say a predicate: a fact that is no record number, and no link to things without a class."""
    if predicate.role != "fact" or (predicate.has_links and set(predicate.ranges) <= {""}):
        return False
    return predicate_label(predicate.iri, schema).one.split()[-1] not in word_list("wording", "identifiers")


def _predicate_label(predicate: Predicate, schema: Schema) -> PredicateLabel:
    words = shorten_label(predicate, schema)
    is_boolean = is_boolean_predicate(predicate)
    if (flag := strip_yes_no_suffix(words)) != words and is_boolean:
        return PredicateLabel("flag", flag, flag)
    # alone it denies
    words = "number" if words == "no" else words
    is_measured = has_measured_numbers(predicate)
    if predicate.datatype != "text" and not is_measured:
        words = move_time_last(words)
    label = _with_participle(_typed_label(words, predicate, is_boolean=is_boolean), predicate, schema)
    event = event_verb(label.one)
    if not event and predicate.datatype in ("date", "datetime") and (clause := event_clause(label.one)):
        verb, *rest = clause.split()
        return PredicateLabel("past", clause, " ".join([lemma(verb), *rest]))
    if event and predicate.datatype != "text" and not is_measured:
        return parse_label(event)
    if label.kind == "noun" and (predicate.datatype in ("date", "datetime") or may_give_years(predicate)):
        # "sale ends" is when it does
        label = replace(label, one=singular(label.one))
    # "members" links to one member at a time; numbers of "passengers" stay what they are
    has_owner = label.kind == "noun" and words.endswith(f" {label.one}") and not is_link_verb(words.split()[0])
    label = replace(label, full=words if has_owner else label.one)
    return replace(label, one=singular(label.one)) if predicate.has_links and label.kind == "noun" else label


def _with_participle(label: PredicateLabel, predicate: Predicate, schema: Schema) -> PredicateLabel:
    """A label that begins with the past of an irregular verb: what was "shown at" a fair, and who "sang at" it."""
    past, _, rest = label.one.partition(" ")
    participle = next((form for form, other in word_map("wording", "pasts").items() if other == past), "")
    if label.kind != "state" or participle in ("", past):
        return label
    if any(is_person(schema.class_of[each].label) for each in predicate.domains if each in schema.class_of):
        return PredicateLabel("past", label.one, f"{lemma(past)} {rest}")
    return replace(label, one=f"{participle} {rest}", many=f"{participle} {rest}")


def _typed_label(words: str, predicate: Predicate, *, is_boolean: bool) -> PredicateLabel:
    label = parse_label("/".join(interchangeable_words(words.split())) or words)
    begins_with_verb = " " in words and is_link_verb(words.partition(" ")[0])
    if label.kind == "noun" and not label.has and predicate.datatype == "boolean" and begins_with_verb:
        # "requires booking" is what a thing does, or does not
        label = PredicateLabel("noun", words, words)
    if label.kind == "noun" and is_participle(words.split()[-1]) and is_boolean:
        # "food approved", which a thing is or not
        return PredicateLabel("flag", words, words)
    if label.kind == "state" and " " not in label.one and has_measured_numbers(predicate) and not is_boolean:
        # "won", of games: how many
        return PredicateLabel("noun", f"number {label.one}", f"numbers {label.one}")
    return label


_BRACKET = re.compile(r"(?:(?<!\s)\s++)?\(([^()]*+)\)\s*+$")

_SPOKEN = re.compile("[a-z]{3}")  # a code has no three letters in a row


def shorten_label(predicate: Predicate, schema: Schema) -> str:
    """The words of a predicate's label without what its owner, its range or its values say."""
    words = label_words(_strip_unit(predicate), schema.labels)
    words = _strip_domain(_strip_range(words, predicate, schema), predicate, schema)
    # A label without the class of its owner at its start: "price" of "product price"
    classes = (schema.class_of[iri] for iri in predicate.domains if iri in schema.class_of)
    nouns = (label_words(each.label, schema.labels) for each in classes)
    remainders = (label_remainder(words, singular(noun)) or label_remainder(words, noun) for noun in nouns)
    rest = next(remainders, "") if " " in words else ""
    # a predicate may have thousands of owners: the first that differs decides
    words = rest if rest and all(other == rest for other in remainders) else words
    # A label whose last word is a way to reach somebody, with what its values are: "phone number"
    before, space, last = _strip_code(words, predicate, schema).rpartition(" ")
    whole = last if predicate.has_links else word_map("wording", "completed").get(last, last)
    return f"{before}{space}{whole}"


def label_remainder(text: str, noun: str) -> str:
    """What follows a noun in a label, else "": "price" of "product price" for "product for hire"."""
    ends = (" ".join(words[at:]) for words in (noun.split(), head_noun(noun).split()) for at in range(len(words)))
    for before in ends:
        rest = text.removeprefix(f"{before} ")
        if rest != text and rest not in word_list("wording", "counting") and parse_label(rest).kind == "noun":
            return rest
    return ""


def _strip_range(text: str, predicate: Predicate, schema: Schema) -> str:
    """A label of a link without the class at its end: "part of" of "part of museum"."""
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


def _strip_code(text: str, predicate: Predicate, schema: Schema) -> str:
    """A label without its "code", if most values are words ("Credit Card") and the rest is no other label."""
    rest, values = text.removesuffix(" code"), predicate.values
    if rest == text or any(any(map(str.isdigit, value)) for value in values):
        return text
    if 2 * sum(bool(_SPOKEN.search(value)) for value in values) <= len(values):
        return text
    others = {label_words(p.label, schema.labels) for p in schema.predicates}
    return text if rest in others or predicate.label.removesuffix(" code") in others else rest


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


def parse_label(text: str) -> PredicateLabel:
    """The kind of a label by its form.

    >>> parse_label("borders").many, parse_label("is part of").one, parse_label("variant of").kind
    ('border', 'part of', 'role')
    """
    words, prepositions = text.split(), word_list("wording", "prepositions")
    first, last = words[0], words[-1]
    if first in ("has", "have") and len(words) > 1 and last not in prepositions:
        rest = " ".join(words[1:])
        if words[1] == "been":
            return PredicateLabel("flag", " ".join(words[2:]), " ".join(words[2:]))
        return PredicateLabel("noun", rest, plural(rest), True)
    if first in phrase_list("wording", "be_forms") and len(words) > 1:
        return _parse_state(first, words[1:])
    if len(words) > 1 and last in prepositions:
        return _parse_with_preposition(text, words)
    if first in word_list("wording", "intransitive") and len(words) == 1:
        return PredicateLabel("past", text, lemma(first))
    if first in prepositions or (is_participle(last) and word_list("wording", "adverbs").issuperset(words[:-1])):
        return PredicateLabel("state", text, text)
    if len(words) == 1 and is_link_verb(first):
        return PredicateLabel("verb", text, base_form(first))
    if is_link_verb(first) and words[1] in prepositions:
        return PredicateLabel("verb", text, " ".join([base_form(first), *words[1:]]))
    if is_link_verb(first) and not is_participle(last):
        # "speaks language": what is spoken
        rest = " ".join(words[1:])
        return PredicateLabel("noun", rest, plural(rest))
    return PredicateLabel("noun", text, plural(text))


def event_verb(label: str) -> str:
    """The verb of a label that says only when something was done; "" for other labels.

    >>> [event_verb(label) for label in ("built year", "date joined", "date paid", "date due", "sale date")]
    ['built', 'joined', 'paid', '', '']
    """
    first, _, last = label.partition(" ")
    for verb, time in ((first, last), (last, first)):
        if time in WORDS["time"] and (is_participle(verb) or verb in word_list("wording", "intransitive")):
            return verb
    return ""


def event_clause(label: str) -> str:
    """What somebody did to something, if a label says when: "joined staff" for "date joined staff"; "" for others."""
    first, _, rest = label.partition(" ")
    verb, _, what = rest.partition(" ")
    if first not in WORDS["time"] or verb not in _past_tenses():
        return ""
    if not what or what in word_list("wording", "prepositions"):
        return ""
    is_one = is_person(what) and what.split()[-1] not in word_list("wording", "collective")
    return f"{verb} {with_indefinite_article(what) if is_one else what}"


def move_time_last(label: str) -> str:
    """The label of a time with the word for the time at its end.

    >>> move_time_last("date incident start"), move_time_last("year join")
    ('incident start date', 'join year')
    """
    first, *rest = label.split()
    if not rest or first not in WORDS["time"]:
        return label
    verbs = _past_tenses() | word_map("wording", "pasts").keys() | word_list("wording", "prepositions")
    has_verb = any(word in verbs or is_participle(word) for word in rest)
    return label if has_verb else " ".join([*rest, first])


def _parse_state(verb: str, words: list[str]) -> PredicateLabel:
    """A label that began with a form of "be", by the words after it."""
    rest = " ".join(words)
    if role := _role_label(words):
        return role
    kind: LabelKind = "state" if words[-1] in word_list("wording", "prepositions") else "flag"
    return PredicateLabel(kind, rest, rest, was=verb in ("was", "were"))


def _parse_with_preposition(text: str, words: list[str]) -> PredicateLabel:
    first, last = words[0], words[-1]
    if role := _role_label(words):
        return role
    if is_link_verb(first) or (first.endswith("s") and base_form(first) == lemma(first) and last != "of"):
        return PredicateLabel("verb", text, " ".join([base_form(first), *words[1:]]))
    if first in word_list("wording", "intransitive") and last != "by":
        return PredicateLabel("past", text, " ".join([lemma(first), *words[1:]]))
    is_phrasal = " ".join(words[1:]) in word_list("wording", "particles")
    if is_phrasal and not is_participle(first) and lemma(first) == first:
        # when somebody checks in
        return PredicateLabel("noun", f"{first}-{last}", f"{first}-{last}s")
    return PredicateLabel("state", text, text)


def _role_label(words: list[str]) -> PredicateLabel | None:
    """The label of words that say what a thing is to another: "variant of", but not "composed of" or "part of"."""
    if words[-1] != "of" or len(words) < 2 or words[-2] in word_list("wording", "without_article"):
        return None
    role, noun = " ".join(words[:-1]), words[-2]
    is_noun = is_known(noun, lang="en") and (lemma(noun) == noun or noun.endswith("er"))
    return PredicateLabel("role", role, plural(role)) if is_noun else None


@cache
def _past_tenses() -> frozenset[str]:
    """Verbs in the past tense whose form alone does not make them participles."""
    return frozenset((*word_list("wording", "intransitive"), *word_map("wording", "pasts").values()))


def _complements(label: PredicateLabel) -> tuple[str, str]:
    """What a thing is if a yes-or-no property holds, and what several are: "a trainer", "climate-controlled"."""
    first, _, last = label.one.rpartition(" ")
    if is_person(label.one) and not is_plural(label.one):
        return with_indefinite_article(label.one), plural(label.one)
    is_compound = first.isalpha() and is_participle(last) and last not in word_list("wording", "dated")
    if is_compound and not first.endswith("ly") and first not in word_list("wording", "adverbs") | function_words():
        return f"{first}-{last}", f"{first}-{last}"
    return label.one, label.one


FIRST_YEAR, LAST_YEAR = 1000, 2100  # numbers of an event ("founded in") between these are years
FIRST_RECENT_YEAR = 1800  # whole numbers of anything else that all lie from here on may be years ("season")


def has_measured_numbers(predicate: Predicate) -> bool:
    """Whether a predicate counts or measures, and gives no years."""
    is_number = predicate.datatype in ("integer", "real") and None not in (predicate.minimum, predicate.maximum)
    return is_number and not may_give_years(predicate)


def may_give_years(predicate: Predicate) -> bool:
    """Whether all numbers of a predicate may be years."""
    low, high = predicate.minimum, predicate.maximum
    if low is None or high is None or predicate.datatype not in ("integer", "real", "year"):
        return False
    return FIRST_YEAR <= low <= high <= LAST_YEAR
