"""All facts of a thing under one predicate as a clause: PropertyFacts -> "its price is 5 EUR"."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import accumulate

from nacre.language.booleans import has_boolean_name, none_value, parse_boolean
from nacre.language.forms.nouns import (
    is_count_noun,
    is_plural,
    join_names,
    place_phrase,
    plural,
    possessive_phrase,
    singular,
    wording_entry,
)
from nacre.language.forms.pronouns import IT, THEY, Pronoun, gender
from nacre.language.tokens import fold
from nacre.records.schema import Predicate
from nacre.wording.descriptions.facts import WordedFact, word_senses
from nacre.wording.labels.label import PredicateLabel

# names in a clause among others
MAX_NAMES = 5
# names and words of a longer list, which has a sentence of its own
MAX_LISTED_NAMES, MAX_LIST_WORDS = 12, 40


@dataclass(frozen=True)
class PropertyFacts:
    """All facts of a thing under one predicate; `subject` is the pronoun for the thing."""

    predicate: Predicate
    label: PredicateLabel
    facts: tuple[WordedFact, ...]
    is_temporal: bool = False
    subject: Pronoun = IT

    @property
    def counted_noun(self) -> str:
        """What the values count; "" if they are no counts."""
        noun = self.label.one.removeprefix("number of ")
        is_whole = self.predicate.datatype == "integer" and not self.predicate.unit
        return noun if is_whole and is_count_noun(noun) else ""

    @property
    def number(self) -> int:
        """How many different values there are."""
        return len({fact.text for fact in self.facts})

    @property
    def shown(self) -> list[WordedFact]:
        """The facts that the clause shows, each value once."""
        found = list({fact.text: fact for fact in reversed(self.facts)}.values())[::-1]
        if len(found) <= MAX_NAMES:
            return found
        words = accumulate(len(fact.text.split()) for fact in found)
        fitting = [fact for fact, total in zip(found, words, strict=True) if total <= MAX_LIST_WORDS]
        return fitting[:MAX_LISTED_NAMES] or found[:1]

    @property
    def text(self) -> str:
        """The values that the clause shows."""
        return join_names([fact.text for fact in self.shown])

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
        verb, place = wording_entry("life").get(self.label.one, ("", ""))
        if not verb or self.subject == IT or self.number > 1:
            return "", ""
        is_year = place == "on" and self.text.isdigit()
        return verb[self.subject.many], f"{'in' if is_year else place} {self.text}"

    def clause(self, owner: str = "") -> str:
        """The facts as a clause with the pronoun, or with the `owner` by name: "its price is 5 EUR", "they wrote X"."""
        subject = self.subject._replace(it=owner, many=False) if owner else self.subject
        return self._person_clause(subject) or self.verb_clause(subject) or self._noun_clause(subject, owner)

    def _person_clause(self, subject: Pronoun) -> str:
        """The gender, birth or death of a person; "" for other properties."""
        if self.gender:
            return f"{subject.it} {subject.be} {self.gender}"
        if all(self.life_event):
            return f"{subject.it} {' '.join(self.life_event)}"
        return ""

    def verb_clause(self, subject: Pronoun) -> str:
        """A property that takes a verb; "" for others."""
        if (yes := self.truth) is not None:
            said = self.label.flag(yes)
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

    def _noun_clause(self, subject: Pronoun, owner: str) -> str:
        value = self.facts[0].number
        is_age = self.label.one in wording_entry("years_old") and self.subject != IT
        if is_age and self.number == 1 and value is not None:
            return f"{subject.it} {subject.be} {self.text} years old"
        if value is not None and self.number == 1 and self.counted_noun and float(value).is_integer():
            noun = singular(self.counted_noun) if value == 1 else self.counted_noun
            return f"{subject.it} {subject.have} {'no' if value == 0 else self.text} {noun}"
        several = self.number > 1
        name = plural(self.label.one) if several else self.label.one
        if several and not is_plural(name) and name == self.label.one:
            # "equipment" has no plural
            be = "includes"
        else:
            be = "include" if self.number > len(self.shown) else "are" if several or is_plural(name) else "is"
        whose = f"the {possessive_phrase(name, owner)}" if owner else f"{subject.whose} {name}"
        return f"{whose} {be} {place_phrase(name, self.text)}"


def drop_repeated(properties: Iterable[PropertyFacts]) -> list[PropertyFacts]:
    """The properties without those that repeat a value under a label that shares a word."""
    seen: dict[str, list[frozenset[str]]] = defaultdict(list)
    kept = []
    for each in properties:
        words, value = word_senses(each.label.one), each.facts[0]
        key = f"{value.number:g}" if value.number is not None and len(each.facts) == 1 else fold(each.text)
        if not any(words & other for other in seen[key]):
            seen[key].append(words)
            kept.append(each)
    return kept
