"""Say what links to a thing: DescribedThing + Schema -> "It has 3 variants and is the capital of Spain"."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from nacre.language.base import language
from nacre.language.format_values import is_number_name
from nacre.language.forms.nouns import (
    join_names,
    number_with_noun,
    possessive_phrase,
    with_indefinite_article,
)
from nacre.language.forms.pronouns import IT, Pronoun
from nacre.language.thesaurus import is_person
from nacre.plans.statement import RunStatement
from nacre.records.plan import Variable
from nacre.records.schema import Predicate, Schema
from nacre.stores.sqlite.triples import Triple
from nacre.wording.answers.sentence import capitalise_first
from nacre.wording.descriptions.fact_sentences import MAX_FACTS
from nacre.wording.descriptions.facts import SentenceFacts, WordedFact, link_facts
from nacre.wording.descriptions.part_statistics import is_possession, linking_class
from nacre.wording.descriptions.property_facts import MAX_NAMES
from nacre.wording.labels.association_classes import associated_noun, other_links
from nacre.wording.labels.class_nouns import class_noun, is_plain_noun, strip_owner
from nacre.wording.labels.predicate_labels import predicate_label

# triples of one sentence (given: the most that a citation has)
MAX_SENTENCE_TRIPLES = 200


@dataclass(frozen=True)
class DescribedThing:
    """A thing, its noun and its pronoun, for the links to it."""

    variable: Variable
    noun: str
    subject: Pronoun


@dataclass(frozen=True)
class _IncomingLink:
    """The facts of one predicate that link to a thing, and the noun of what links to it."""

    predicate: Predicate
    noun: str
    classes: tuple[str, ...]
    facts: tuple[WordedFact, ...]

    @property
    def names(self) -> list[str]:
        """The different names of what links to the thing."""
        return list(dict.fromkeys(fact.text for fact in self.facts))

    @property
    def is_nameless(self) -> bool:
        """Whether what links to the thing has only numbers for names."""
        return all(is_number_name(fact.text, (fact.triple[0],)) for fact in self.facts)

    @property
    def number(self) -> str:
        """How many there are, or the one by its name."""
        if len(self.facts) > 1:
            return number_with_noun(len(self.facts), self.noun)
        return with_indefinite_article(self.noun) if self.is_nameless else self.names[0]

    @property
    def listed(self) -> str:
        """The names of a few, in brackets; "" for many or nameless ones."""
        is_short = 1 < len(self.names) <= MAX_NAMES and not self.is_nameless
        return f" ({join_names(self.names)})" if is_short else ""


def incoming_link_sentence(
    thing: DescribedThing,
    schema: Schema,
    run: RunStatement,
    *,
    worded: Collection[Triple],
    left_out: Collection[str],
    counted: Collection[str],
) -> list[SentenceFacts]:
    """What links to the thing, counted by class; empty if nothing does.

    Links that are `worded` in the other direction, predicates that are `left_out`, and classes whose number another
    fact gives (`counted`) do not appear.
    """
    identities, possessions, facts = list[str](), list[str](), list[WordedFact]()
    for link in _incoming_links(thing.variable, schema, run, worded, left_out, counted):
        label = predicate_label(link.predicate.iri, schema)
        is_role = _is_role_link(link.predicate, thing.variable, link.noun, thing.noun, schema)
        is_one_person = thing.subject != IT and len(link.facts) == 1
        if is_one_person and is_role and not other_links(link.predicate, link.classes, schema):
            # a person with a row as a singer is a singer
            identities.append(with_indefinite_article(link.noun))
            facts += link.facts
        elif is_possession(label, thing.noun):
            phrase, further = _possession(link, thing.noun, schema, run)
            possessions.append(phrase)
            facts += [*link.facts[:MAX_SENTENCE_TRIPLES], *further]
        elif label.kind == "noun" and label.one not in language().words["naming"]:
            identities.append(f"the {possessive_phrase(label.one, link.number)}{link.listed}")
            # a reader can count again what is counted
            facts += link.facts[:MAX_SENTENCE_TRIPLES]
    subject = thing.subject
    parts = [
        f"{verb} {join_names(phrases[:MAX_FACTS])}"
        for verb, phrases in ((subject.have, possessions), (subject.be, identities))
        if phrases
    ]
    return [(capitalise_first(f"{subject.it} {' and '.join(parts)}."), facts)] if parts else []


def _incoming_links(
    thing: Variable,
    schema: Schema,
    run: RunStatement,
    worded: Collection[Triple],
    left_out: Collection[str],
    counted: Collection[str],
) -> Iterator[_IncomingLink]:
    for predicate in schema.predicates:
        if predicate.iri in left_out or predicate.role != "fact" or not predicate.has_links:
            continue
        if not set(predicate.ranges) & set(thing.classes):
            continue
        directions = (predicate.iri, *predicate.inverses)
        classes, noun = linking_class(predicate, schema)
        facts = tuple(
            fact
            for fact in link_facts(predicate, thing, schema, run, incoming=True, classes=classes)
            if not any((fact.triple[2], iri, fact.triple[0]) in worded for iri in directions)
        )
        if not facts or any(fact.triple[0] == fact.triple[2] for fact in facts):
            continue
        is_named_so = predicate_label(predicate.iri, schema).one == noun
        if is_plain_noun(noun) and not is_named_so and not any(f" {each}".endswith(f" {noun}") for each in counted):
            yield _IncomingLink(predicate, noun, classes, facts)


def _possession(link: _IncomingLink, own: str, schema: Schema, run: RunStatement) -> tuple[str, list[WordedFact]]:
    """What a thing, an `own`, has, with the facts that name it: "the ship Emma", "3 coaches (Ann, Bo and Cy)"."""
    if not link.is_nameless:
        is_one = len(link.facts) == 1
        return f"the {link.noun} {link.number}" if is_one else f"{link.number}{link.listed}", []
    ends = other_links(link.predicate, link.classes, schema)
    further = _names_by_only_link(link.facts, ends, schema, run)
    # a "player coach" only joins a player to a coach
    short = strip_owner(link.noun, own, schema)
    noun = short if short != link.noun else associated_noun(link.noun, own, ends, schema) or link.noun
    names = f" ({_shared_or_listed([fact.text for fact in further])})" if further else ""
    number = f"one {noun}" if len(link.facts) == 1 else number_with_noun(len(link.facts), noun)
    return f"{number}{names}", further


def _is_role_link(predicate: Predicate, thing: Variable, noun: str, own: str, schema: Schema) -> bool:
    """Whether the things that link to a person, an `own`, by a predicate are roles of that person."""
    links_to_thing = predicate.has_links and bool(set(predicate.ranges) & set(thing.classes))
    if predicate.role != "fact" or not links_to_thing or not is_plain_noun(noun) or not is_person(noun):
        return False
    return noun != predicate_label(predicate.iri, schema).one == own


def _shared_or_listed(names: Sequence[str]) -> str:
    """The names of several things, or the one name that all have: "both Ann"."""
    different = list(dict.fromkeys(names))
    if len(different) > 1 or len(names) == 1:
        return join_names(different)
    return f"{'both' if len(names) == 2 else 'all'} {different[0]}"


def _names_by_only_link(
    facts: Sequence[WordedFact], links: Sequence[Predicate], schema: Schema, run: RunStatement
) -> list[WordedFact]:
    """What the only other link of a few nameless things leads to, if that has names."""
    if len(links) != 1 or len(facts) > MAX_NAMES:
        return []
    noun = class_noun(Variable("x", tuple(links[0].ranges)[:1]), schema)
    rows = Variable("row", tuple(links[0].domains)[:1], keys=tuple(fact.triple[0] for fact in facts))
    return [fact for fact in link_facts(links[0], rows, schema, run) if not fact.text.startswith(f"{noun} ")]
