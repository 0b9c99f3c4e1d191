"""All facts of a thing under one predicate: PropertyFacts, and those that repeat no other."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate

from nacre.language.forms.nouns import join_names
from nacre.language.forms.pronouns import IT, Pronoun
from nacre.language.tokens import fold
from nacre.records.schema import Predicate
from nacre.wording.clauses.property_values import PropertyValues
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
    def values(self) -> PropertyValues:
        """The values in words."""
        shown = self.shown
        text, number = join_names([fact.text for fact in shown]), self.facts[0].number
        is_cut = self.number > len(shown)
        return PropertyValues(
            self.predicate, self.label, text, self.number, number, is_cut, self.is_temporal, self.subject
        )


def drop_repeated(properties: Iterable[PropertyFacts]) -> list[PropertyFacts]:
    """The properties without those that repeat a value under a label that shares a word."""
    seen: dict[str, list[frozenset[str]]] = defaultdict(list)
    kept = []
    for each in properties:
        words, value = word_senses(each.label.one), each.facts[0]
        key = f"{value.number:g}" if value.number is not None and len(each.facts) == 1 else fold(each.values.text)
        if not any(words & other for other in seen[key]):
            seen[key].append(words)
            kept.append(each)
    return kept
