"""The forms of a predicate's label: PredicateLabel, and the clauses of a yes-or-no property."""

from dataclasses import dataclass
from typing import Literal

from nacre.language.forms.nouns import is_participle, is_plural, plural, with_indefinite_article, wording_entry
from nacre.language.forms.verbs import is_completed_action
from nacre.language.thesaurus import function_words, is_person
from nacre.wording.labels.verb_forms import base_form, is_link_verb

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

    @property
    def is_completed(self) -> bool:
        """Whether a state takes "was": "built by", "was sold"."""
        return self.was or (self.kind == "state" and is_completed_action(self.one))

    @property
    def be(self) -> tuple[str, str]:
        """The form of "be" before a state, of one thing and of several."""
        return ("was", "were") if self.is_completed else ("is", "are")


def flag_phrases(label: PredicateLabel, yes: bool) -> tuple[str, str]:
    """What a yes-or-no property says of one thing, and of several.

    >>> flag_phrases(PredicateLabel("noun", "roof", "roofs", True), True)
    ('has a roof', 'have a roof')
    >>> flag_phrases(PredicateLabel("noun", "includes lunch", "includes lunch"), False)
    ('does not include lunch', 'do not include lunch')
    >>> flag_phrases(PredicateLabel("flag", "open", "open"), False)
    ('is not open', 'are not open')
    >>> flag_phrases(PredicateLabel("flag", "sold", "sold", was=True), True)
    ('was sold', 'were sold')
    >>> flag_phrases(PredicateLabel("noun", "trainer", "trainers"), False)
    ('is not a trainer', 'are not trainers')
    >>> flag_phrases(PredicateLabel("flag", "climate controlled", "climate controlled"), True)
    ('is climate-controlled', 'are climate-controlled')
    """
    first, _, rest = label.one.partition(" ")
    if label.has:
        is_mass = label.one.split()[-1] in wording_entry("mass") or is_plural(label.one)
        base, first, rest = "have", "has", label.one if is_mass else with_indefinite_article(label.one)
    elif label.kind == "noun" and rest and first.endswith("s") and is_link_verb(first):
        base = base_form(first)
    else:
        # "is licensed", whenever that was done
        be, are = ("was", "were") if label.was else ("is", "are")
        no, (one, many) = "" if yes else "not ", _complements(label)
        return f"{be} {no}{one}", f"{are} {no}{many}"
    return (f"{first} {rest}", f"{base} {rest}") if yes else (f"does not {base} {rest}", f"do not {base} {rest}")


def _complements(label: PredicateLabel) -> tuple[str, str]:
    """What a thing is if a yes-or-no property holds, and what several are: "a trainer", "climate-controlled"."""
    first, _, last = label.one.rpartition(" ")
    if is_person(label.one) and not is_plural(label.one):
        return with_indefinite_article(label.one), plural(label.one)
    is_compound = first.isalpha() and is_participle(last) and last not in wording_entry("dated")
    if is_compound and not first.endswith("ly") and first not in wording_entry("adverbs") | function_words():
        return f"{first}-{last}", f"{first}-{last}"
    return label.one, label.one
