"""Describe one thing: its class, links, values, parts and what links to it -> at most six sentences with triples."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from nacre.language import word_forms
from nacre.language.data import WORDS, word_list
from nacre.language.thesaurus import is_person
from nacre.language.tokens import fold
from nacre.language.values import is_number_name
from nacre.plans.sql_joins import RunStatement
from nacre.plans.to_sql import to_sql
from nacre.records.evidence import EvidenceSentence
from nacre.records.plan import Aggregate, Edge, Itself, Select, Variable
from nacre.records.schema import Predicate, Schema
from nacre.stores.sqlite.triples import TYPE, Triple
from nacre.wording.facts import (
    MAX_FACTS,
    MAX_NAMES,
    PropertyFacts,
    SentenceFacts,
    WordedFact,
    drop_repeated,
    fact_sentences,
    is_part_of_name,
    link_facts,
    open_boolean_sentence,
    predicate_facts,
    strip_kind_prefix,
    word_senses,
)
from nacre.wording.group import DependentPart, find_part, is_possession, linking_class, number_ranges, range_clauses
from nacre.wording.labels import PredicateLabel, is_describable, label_remainder, predicate_label
from nacre.wording.nouns import associated_noun, class_noun, is_plain_noun, is_temporal, other_links, strip_owner
from nacre.wording.sentence import capitalise_first

MAX_DESCRIPTION_SENTENCES = 6

MAX_LINK_SENTENCES, MAX_VALUE_SENTENCES = 3, 2  # sentences about links and about values
MAX_VALUE_WORDS = 12  # words of a value that still reads as one

_CODE = PredicateLabel("noun", "code", "codes")


def thing_sentences(
    iri: str,
    name: str,
    thing: Variable,
    topic: set[str],
    schema: Schema,
    run: RunStatement,
    *,
    is_introduced: bool = False,
) -> list[EvidenceSentence]:
    """What the thing is, what it links to, its values, its parts and what links to it, each fact once. `is_introduced`:
    the reader knows already what the thing is. With a `topic` only properties that it names are given."""
    noun = class_noun(thing, schema)
    is_a_person = bool(thing.classes) and is_person(noun)
    properties = _properties(name, noun, thing, schema, run)
    gendered = [each for each in properties if is_a_person and each.number == 1 and each.values.gender][:1]
    subject = word_forms.pronoun(person=is_a_person, male_or_female=gendered[0].values.gender if gendered else "")
    properties = [replace(each, subject=subject) for each in properties]
    on_topic = [each for each in properties if topic & word_senses(each.label.one)]
    properties = _ranked(on_topic or properties, thing, topic, schema, run)
    # "room 12" says that the thing is a room
    owner = name if name.startswith(f"{noun} ") else ""
    introduces = bool(thing.classes) and not owner and not is_introduced
    if introduces:
        properties = [each for each in properties if not (is_a_person and each.values.gender)]
    sentences = [_introduction(iri, name, noun, thing, gendered, schema)] if introduces else []
    linked = [each for each in properties if each.predicate.has_links]
    sentences += fact_sentences(linked, MAX_LINK_SENTENCES, owner)
    own_values = [each for each in properties if not each.predicate.has_links]
    # yes and no under nouns have a sentence of their own
    open_booleans = [each for each in own_values if each.values.is_open_boolean]
    worded = [each for each in own_values if each not in open_booleans]
    values = fact_sentences(worded, MAX_VALUE_SENTENCES, "" if linked else owner)
    values += open_boolean_sentence(open_booleans)
    sentences += values[:1]
    counted = {word_forms.singular(each.values.counted_noun) for each in properties} - {""}
    part = _described_part(thing, name, counted, schema, run) if not on_topic else None
    parts = part_sentences("" if sentences else name, part, schema, run, whose=subject.whose, own=noun)
    sentences += [*parts, *values[1:]]
    if not on_topic:
        # "across its 3 variants" says how many there are
        left_out = {edge.predicate for edge in part.select.edges} if part is not None and parts else set()
        sentences += incoming_link_sentence(
            thing,
            noun,
            subject,
            schema,
            run,
            worded={fact.triple for each in properties for fact in each.facts},
            left_out=left_out,
            counted=counted,
        )
    return [
        EvidenceSentence("sql", 0, text=text, title=name, keys=(iri,), triples=tuple(fact.triple for fact in facts))
        for text, facts in sentences[:MAX_DESCRIPTION_SENTENCES]
    ]


def part_sentences(
    name: str, part: DependentPart | None, schema: Schema, run: RunStatement, *, whose: str = "its", own: str = ""
) -> list[SentenceFacts]:
    """The numbers of the parts of a thing, an `own`; empty without a part or numbers.

    "Across the 3 variants of X, the price is 5 to 7 EUR", "The price of the variant of X is 5 EUR". Without a name,
    `whose` stands before the parts ("its", "their").
    """
    if part is None:
        return []
    ranges = number_ranges(part, schema, run)
    if not ranges:
        return []
    facts = [WordedFact(triple[0], "", triple) for each in ranges for triple in each.triples]
    noun = strip_owner(part.noun, own, schema)
    parts = noun if part.count == 1 else word_forms.number_with_noun(part.count, noun)
    of = f"the {parts} of {name}" if name else f"{whose} {parts}"
    if part.count == 1:
        return [(capitalise_first(f"{range_clauses(ranges, schema, of=of, noun=part.noun)}."), facts)]
    return [(f"Across {of}, {range_clauses(ranges, schema, noun=part.noun)}.", facts)]


def _properties(name: str, noun: str, thing: Variable, schema: Schema, run: RunStatement) -> list[PropertyFacts]:
    """What the thing, a `noun`, has, without what repeats its name or another property."""
    found = []
    for predicate in schema.predicates:
        is_of_others = bool(thing.classes) and predicate.domains.keys().isdisjoint(thing.classes)
        if is_of_others or not is_describable(predicate, schema):
            continue
        facts = [fact for fact in predicate_facts(predicate, thing, schema, run) if fold(fact.text) != fold(name)]
        if facts:
            label, stripped = predicate_label(predicate.iri, schema), tuple(strip_kind_prefix(facts, predicate))
            found.append(PropertyFacts(predicate, label, stripped, is_temporal(predicate.iri, schema)))
    kept = []
    for each in drop_repeated(found):
        first = each.facts[0].text
        if len(first.split()) > MAX_VALUE_WORDS or is_part_of_name(each.label.one, first, name):
            continue
        # the "genre" of a genre is a code for it
        label = _CODE if each.label.one == noun and not each.predicate.has_links else each.label
        # the "email address" of a customer for "customer email address"
        rest = label_remainder(label.one, noun) if label.kind == "noun" else ""
        kept.append(replace(each, label=replace(label, one=rest, many=word_forms.plural(rest)) if rest else label))
    return kept


def _ranked(
    properties: Sequence[PropertyFacts], thing: Variable, topic: set[str], schema: Schema, run: RunStatement
) -> list[PropertyFacts]:
    """The properties of the thing's own classes and the frequent ones first, each with its best values first."""
    classes = set(thing.classes)
    ordered = sorted(properties, key=lambda p: (-len(p.predicate.domains.keys() & classes), -p.predicate.subjects))
    return [
        _rare_values_first(each, topic, schema, run) if each.number > MAX_NAMES and each.predicate.has_links else each
        for each in ordered
    ]


def _introduction(
    iri: str, name: str, noun: str, thing: Variable, gendered: Sequence[PropertyFacts], schema: Schema
) -> SentenceFacts:
    """What the thing is: "Ann is a singer."."""
    type_fact = WordedFact(iri, "", (iri, TYPE, min(thing.classes, key=lambda c: schema.class_of[c].count)))
    what = noun.removeprefix("other ")
    gender = "".join(each.values.gender for each in gendered)
    # "Ann is female", and not "a female person"
    what = gender if gender and what in word_list("wording", "anybody") else f"{gender} {what}".strip()
    is_bare = what == gender or what.split()[-1] in word_list("wording", "mass")
    facts = (type_fact, *(f for each in gendered for f in each.facts))
    subject = capitalise_first(name) if name.islower() else name
    return f"{subject} is {what if is_bare else word_forms.with_indefinite_article(what)}.", facts


def _described_part(
    thing: Variable, name: str, counted: set[str], schema: Schema, run: RunStatement
) -> DependentPart | None:
    """The parts whose numbers describe the thing; None if their number is a fact of its own (`counted`)."""
    part = find_part(thing, schema, run)
    # a bank that "has 123 customers" is not described by the few customers in the graph
    if part is None or part.noun in counted:
        return None
    return None if part.count == 1 and _has_own_name(part, thing, name, schema, run) else part


def _has_own_name(part: DependentPart, thing: Variable, name: str, schema: Schema, run: RunStatement) -> bool:
    """Whether a thing's only part has a name of its own, unlike the "offer of Fox"."""
    link = schema.predicate_of[part.select.edges[0].predicate]
    names = [(fact.text, fact.triple[0]) for fact in link_facts(link, thing, schema, run, incoming=True)]
    own = (fold(part.noun.split()[-1]), fold(name))
    return bool(names) and not any(is_number_name(n, (key,)) or any(w in fold(n) for w in own) for n, key in names)


def _rare_values_first(properties: PropertyFacts, topic: set[str], schema: Schema, run: RunStatement) -> PropertyFacts:
    """The facts in another order: values of the topic first, then values that few other things have."""
    value = Variable("value", keys=tuple(sorted({fact.triple[2] for fact in properties.facts})))
    other = Variable("other")
    edge = Edge(other.name, properties.predicate.iri, value.name)
    count = Aggregate("count", Itself(other.name))
    rows = run(to_sql(Select((count,), (value, other), (edge,), group=(value.name,)), schema))
    counts = {str(row[0]): int(row[1] or 0) for row in rows[0]} if rows else {}
    order = sorted(
        properties.facts,
        key=lambda fact: (not topic & word_senses(fact.text), counts.get(fact.triple[2], 0), fact.text),
    )
    return replace(properties, facts=tuple(order))


MAX_SENTENCE_TRIPLES = 200  # triples of one sentence (given: the most that a citation has)


@dataclass(frozen=True)
class _IncomingLink:
    """The facts of one predicate that link to a thing, and the noun of what links to it."""

    predicate: Predicate
    noun: str
    classes: tuple[str, ...]
    facts: tuple[WordedFact, ...]

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(fact.text for fact in self.facts))

    @property
    def is_nameless(self) -> bool:
        return all(is_number_name(fact.text, (fact.triple[0],)) for fact in self.facts)

    @property
    def number(self) -> str:
        """How many there are, or the one by its name."""
        if len(self.facts) > 1:
            return word_forms.number_with_noun(len(self.facts), self.noun)
        return word_forms.with_indefinite_article(self.noun) if self.is_nameless else self.names[0]

    @property
    def listed(self) -> str:
        """The names of a few, in brackets; "" for many or nameless ones."""
        is_short = 1 < len(self.names) <= MAX_NAMES and not self.is_nameless
        return f" ({word_forms.join_names(self.names)})" if is_short else ""


def incoming_link_sentence(
    thing: Variable,
    own: str,
    subject: word_forms.Pronoun,
    schema: Schema,
    run: RunStatement,
    *,
    worded: Collection[Triple],
    left_out: Collection[str],
    counted: Collection[str],
) -> list[SentenceFacts]:
    """What links to the thing, an `own`, counted by class; empty if nothing does. Links that are `worded` in the other
    direction, predicates `left_out`, and classes whose number another fact gives (`counted`) do not appear."""
    identities, possessions, facts = list[str](), list[str](), list[WordedFact]()
    for link in _incoming_links(thing, schema, run, worded, left_out, counted):
        label = predicate_label(link.predicate.iri, schema)
        is_role = _is_role_link(link.predicate, thing, link.noun, own, schema)
        is_one_person = subject != word_forms.IT and len(link.facts) == 1
        if is_one_person and is_role and not other_links(link.predicate, link.classes, schema):
            # a person with a row as a singer is a singer
            identities.append(word_forms.with_indefinite_article(link.noun))
            facts += link.facts
        elif is_possession(label, own):
            phrase, further = _possession(link, own, schema, run)
            possessions.append(phrase)
            facts += [*link.facts[:MAX_SENTENCE_TRIPLES], *further]
        elif label.kind == "noun" and label.one not in WORDS["naming"]:
            identities.append(f"the {word_forms.possessive_phrase(label.one, link.number)}{link.listed}")
            # a reader can count again what is counted
            facts += link.facts[:MAX_SENTENCE_TRIPLES]
    parts = [
        f"{verb} {word_forms.join_names(phrases[:MAX_FACTS])}"
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
    number = f"one {noun}" if len(link.facts) == 1 else word_forms.number_with_noun(len(link.facts), noun)
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
        return word_forms.join_names(different)
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
