"""The forms of a predicate's label, and what it says of a thing: PredicateLabel -> VerbPhrase."""

from dataclasses import dataclass, replace
from typing import Literal

from nacre.language.base import word_list
from nacre.language.forms.nouns import is_participle, is_plural, plural, with_indefinite_article
from nacre.language.forms.verb_phrase import BE, HAVE, HAVE_BEEN, WAS, Verb, VerbPhrase, past_tense
from nacre.language.forms.verbs import base_form, is_completed_action, is_link_verb, strip_preposition
from nacre.language.thesaurus import function_words, is_person

LabelKind = Literal["noun", "verb", "state", "role", "flag", "past"]


@dataclass(frozen=True)
class PredicateLabel:
    """The words of a predicate, by the place they take in a sentence.

    A "noun" goes into "the NOUN of X", a "verb" after its subject ("borders"), a "state" after a form of "be" ("located
    in"), and so do a "role" ("variant", of something) and a "flag" ("open", yes or no). A "past" ("died in") stands
    after its subject too. `many` is the form for several things; of a "past" the form in denials ("die in"). `has`: the
    label began with "has" ("has roof"). `full` also has the words of the owner ("ship type" for the type of a ship).
    `was`: the label began with "was" ("was sold").
    """

    kind: LabelKind
    one: str
    many: str
    has: bool = False
    full: str = ""
    was: bool = False

    def phrase(self, other: str = "") -> VerbPhrase:
        """What a thing does or is to the `other` end, by a label that is no noun.

        >>> PredicateLabel("past", "died in", "die in").phrase("Rome").denial.words()
        'did not die in Rome'
        >>> PredicateLabel("role", "variant", "variants").phrase("Fox").words(many=True)
        'are variants of Fox'
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

        `is_temporal`: the values are years or dates; `is_dated`: they are dates.
        """
        ends_with_preposition = self.one.split()[-1] in word_list("wording", "prepositions")
        if is_temporal and is_dated and self.kind == "verb":
            return self.event(f"on {values}")
        if is_temporal and not ends_with_preposition:
            values = f"{'on' if is_dated else 'in'} {values}"
        phrase = self.phrase(values)
        if is_temporal and self.kind == "state":
            return replace(phrase, verb=HAVE_BEEN if self.one.endswith(" since") else WAS)
        return phrase

    def flag(self, yes: bool = True) -> VerbPhrase:
        """What a yes-or-no property says of a thing.

        >>> PredicateLabel("noun", "roof", "roofs", True).flag().words()
        'has a roof'
        >>> PredicateLabel("noun", "includes lunch", "includes lunch").flag(False).words(many=True)
        'do not include lunch'
        >>> PredicateLabel("flag", "sold", "sold", was=True).flag().words()
        'was sold'
        >>> PredicateLabel("noun", "trainer", "trainers").flag(False).words(many=True)
        'are not trainers'
        >>> PredicateLabel("flag", "climate controlled", "climate controlled").flag().words()
        'is climate-controlled'
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


def _complements(label: PredicateLabel) -> tuple[str, str]:
    """What a thing is if a yes-or-no property holds, and what several are: "a trainer", "climate-controlled"."""
    first, _, last = label.one.rpartition(" ")
    if is_person(label.one) and not is_plural(label.one):
        return with_indefinite_article(label.one), plural(label.one)
    is_compound = first.isalpha() and is_participle(last) and last not in word_list("wording", "dated")
    if is_compound and not first.endswith("ly") and first not in word_list("wording", "adverbs") | function_words():
        return f"{first}-{last}", f"{first}-{last}"
    return label.one, label.one
