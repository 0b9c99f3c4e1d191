"""All values of a thing under one predicate as a clause: PropertyValues -> "its price is 5 EUR", "Emma is open"."""

from dataclasses import dataclass, replace

from nacre.language.base import phrase_map, word_list
from nacre.language.booleans import has_boolean_name, none_value, parse_boolean
from nacre.language.forms.measure_nouns import is_count_noun
from nacre.language.forms.nouns import is_plural, place_phrase, plural, possessive_phrase, singular
from nacre.language.forms.pronouns import IT, THEY, Pronoun, gender
from nacre.records.schema import Predicate
from nacre.wording.labels.label import PredicateLabel


@dataclass(frozen=True)
class PropertyValues:
    """The values of a thing in words, how many different ones there are, and the value if it is one number.

    `subject` is the pronoun for the thing; `is_cut`: the words leave out some values; `is_temporal`: they are years or
    dates.
    """

    predicate: Predicate
    label: PredicateLabel
    text: str
    count: int = 1
    number: float | None = None
    is_cut: bool = False
    is_temporal: bool = False
    subject: Pronoun = IT

    @property
    def counted_noun(self) -> str:
        """What the values count; "" if they are no counts."""
        noun = self.label.one.removeprefix("number of ")
        is_whole = self.predicate.datatype == "integer" and not self.predicate.unit and not self.is_temporal
        return noun if is_whole and is_count_noun(noun) else ""

    @property
    def truth(self) -> bool | None:
        """The value of a yes-or-no property; None for others."""
        if self.predicate.datatype == "boolean":
            return self.text == "yes" if self.text in ("yes", "no") else None
        is_boolean = has_boolean_name(self.predicate) or self.label.kind in ("state", "flag")
        return parse_boolean(self.text, self.predicate) if is_boolean else None

    @property
    def is_open_boolean(self) -> bool:
        """Whether the value is yes or no under a noun, so that the thing may have or be what the noun says."""
        return self.truth is None and parse_boolean(self.text, self.predicate) is not None

    @property
    def gender(self) -> str:
        """The gender that the property states, "male" or "female"; "" for other properties."""
        return gender(self.label.one, self.text)

    @property
    def life_event(self) -> tuple[str, str]:
        """A birth or death as a verb with its time or place: ("were born", "in Rome"); ("", "") for others."""
        one, many, place = phrase_map("wording", "life").get(self.label.one, ("", "", ""))
        if not one or self.subject == IT or self.count > 1:
            return "", ""
        is_year = place == "on" and self.text.isdigit()
        return many if self.subject.many else one, f"{'in' if is_year else place} {self.text}"

    def clause(self, owner: str = "") -> str:
        """The values as a clause with the pronoun, or with the `owner` by name: "its price is 5 EUR"."""
        subject = self.subject._replace(it=owner, many=False) if owner else self.subject
        named = replace(self, subject=subject)
        return named._person_clause() or named.verb_clause() or named._noun_clause(owner)

    def verb_clause(self) -> str:
        """A property that takes a verb; "" for others."""
        subject = self.subject
        if (yes := self.truth) is not None:
            said = self.label.flag(yes)
        elif self.predicate.datatype == "boolean":
            # both yes and no
            return ""
        elif self.label.kind == "noun":
            is_none = self.text == none_value(self.predicate)
            return f"{subject.it} {subject.have} no {self.label.one}" if is_none else ""
        elif self.label.kind == "role":
            said = self.label.phrase(self.text)
        else:
            is_dated = self.predicate.datatype in ("date", "datetime")
            said = self.label.statement(self.text, is_dated=is_dated, is_temporal=self.is_temporal)
        # one person: "they are a member"
        said = replace(said, rest_of_many="") if subject.it == THEY.it else said
        return f"{subject.it} {said.words(subject.many)}"

    def _person_clause(self) -> str:
        """The gender, birth or death of a person; "" for other properties."""
        if self.gender:
            return f"{self.subject.it} {self.subject.be} {self.gender}"
        return f"{self.subject.it} {' '.join(self.life_event)}" if all(self.life_event) else ""

    def _noun_clause(self, owner: str) -> str:
        subject, value = self.subject, self.number if self.count == 1 else None
        is_person = subject.whose != IT.whose
        is_age = is_person and not owner and self.label.one in word_list("wording", "years_old")
        if value is not None and is_age:
            return f"{subject.it} {subject.be} {self.text} years old"
        if value is not None and self.counted_noun and float(value).is_integer():
            noun = singular(self.counted_noun) if value == 1 else self.counted_noun
            return f"{subject.it} {subject.have} {'no' if value == 0 else self.text} {noun}"
        is_located = self.count == 1 and self.label.one in word_list("wording", "located") and not is_person
        if is_located and not self.text[:1].isdigit():
            return f"{subject.it} {subject.be} in {self.text}"
        several = self.count > 1
        name = plural(self.label.one) if several else self.label.one
        if several and not is_plural(name) and name == self.label.one:
            # "equipment" has no plural
            be = "includes"
        else:
            be = "include" if self.is_cut else "are" if several or is_plural(name) else "is"
        whose = f"the {possessive_phrase(name, owner, person=is_person)}" if owner else f"{subject.whose} {name}"
        return f"{whose} {be} {place_phrase(name, self.text)}"
