"""Describe one thing: its kind, its links, its values, what links to it -> at most six sentences with their triples."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from nacre.language.base import language
from nacre.language.booleans import has_boolean_name, none_value, parse_boolean
from nacre.language.format_values import is_number_name
from nacre.language.forms.nouns import (
    is_count_noun,
    is_plural,
    join_names,
    number_with_noun,
    place_phrase,
    plural,
    possessive_phrase,
    singular,
    with_indefinite_article,
    wording_entry,
)
from nacre.language.forms.pronouns import IT, Pronoun, gender, pronoun
from nacre.language.thesaurus import is_person, synonyms
from nacre.language.tokens import fold, tokenize
from nacre.plans.sql.to_sql import to_sql
from nacre.plans.statement import RunStatement
from nacre.records.evidence import EvidenceSentence
from nacre.records.plan import Aggregate, Edge, Itself, Select, Variable
from nacre.records.schema import Predicate, Schema
from nacre.stores.sqlite.triples import TYPE, Triple
from nacre.wording.answers.property_sentences import time_preposition
from nacre.wording.descriptions.facts import WordedFact, link_facts, predicate_facts, strip_kind_prefix
from nacre.wording.descriptions.identifying_names import is_part_of_name
from nacre.wording.descriptions.part_statistics import (
    DependentPart,
    find_part,
    is_possession,
    linking_class,
    number_ranges,
    range_clauses,
)
from nacre.wording.labels.association_classes import associated_noun, other_links
from nacre.wording.labels.class_nouns import class_noun, is_plain_noun, strip_owner
from nacre.wording.labels.label import PredicateLabel, flag_phrases
from nacre.wording.labels.predicate_labels import is_describable, predicate_label
from nacre.wording.labels.shorten_label import label_remainder
from nacre.wording.labels.value_kinds import is_temporal

# triples of one sentence (given: a citation has at most so many)
MOST_CITED = 200
MAX_DESCRIPTION_SENTENCES = 6
# facts in one sentence, names in one fact, and words of a value that still reads as one
FACTS, NAMES, WORDS = 5, 5, 12
# a longer list has a sentence of its own, with at most so many names and words
LISTED, LIST_WORDS = 12, 40


_CODE = PredicateLabel("noun", "code", "codes")


@dataclass(frozen=True)
class _Known:
    """All that a thing has under one predicate."""

    predicate: Predicate
    label: PredicateLabel
    facts: tuple[WordedFact, ...]
    timed: bool = False
    subject: Pronoun = IT

    @property
    def of_what(self) -> str:
        """What its numbers say how many there are of, "" where they say something else."""
        noun = self.label.one.removeprefix("number of ")
        whole = self.predicate.datatype == "integer" and not self.predicate.unit
        return noun if whole and is_count_noun(noun) else ""

    @property
    def number(self) -> int:
        """How many values there are."""
        return len({f.said for f in self.facts})

    @property
    def shown(self) -> list[WordedFact]:
        """The facts that are said, each value once."""
        found = list({f.said: f for f in reversed(self.facts)}.values())[::-1]
        if len(found) <= NAMES:
            return found
        words = accumulate(len(f.said.split()) for f in found)
        return [f for f, so_far in zip(found, words, strict=True) if so_far <= LIST_WORDS][:LISTED] or found[:1]

    @property
    def said(self) -> str:
        return join_names([f.said for f in self.shown])

    @property
    def _yes(self) -> bool | None:
        """What a property of yes or no says; None for others."""
        if self.predicate.datatype == "boolean":
            return self.said == "yes" if self.said in ("yes", "no") else None
        said_so = has_boolean_name(self.predicate) or self.label.kind in ("state", "flag")
        return parse_boolean(self.said, self.predicate) if said_so else None

    @property
    def is_tick(self) -> bool:
        """Whether it says yes or no under a noun, of which nobody knows whether the thing has that, or is it."""
        return self._yes is None and parse_boolean(self.said, self.predicate) is not None

    @property
    def gender(self) -> str:
        """Whether it says of somebody that they are male, or female."""
        return gender(self.label.one, self.said)

    @property
    def life(self) -> tuple[str, str]:
        """What somebody did when or where it says, and the rest: ("were born", "in Rome"); ("", "") for others."""
        verb, place = wording_entry("life").get(self.label.one, ("", ""))
        if not verb or self.subject == IT or self.number > 1:
            return "", ""
        alone = place == "on" and self.said.isdigit()
        return verb[self.subject.many], f"{'in' if alone else place} {self.said}"

    def clause(self, owner: str = "") -> str:
        """ "its price is 5 EUR", "it borders Spain", of a person "they wrote"; with an `owner` its name instead."""
        subject = self.subject._replace(it=owner, many=False) if owner else self.subject
        it, they = subject.it, subject.many
        if self.gender:
            return f"{it} {subject.be} {self.gender}"
        if all(self.life):
            return f"{it} {' '.join(self.life)}"
        number = self.number
        if (yes := self._yes) is not None:
            return f"{it} {flag_phrases(self.label, yes)[they]}"
        if self.label.kind == "noun" and self.said == none_value(self.predicate):
            return f"{it} {subject.have} no {self.label.one}"
        dated = self.predicate.datatype in ("date", "datetime")
        when = time_preposition(self.label.one, dated, self.timed)
        if self.label.kind in ("verb", "past"):
            verb = self.label.many if they and self.label.kind == "verb" else self.label.one
            return f"{it} {verb}{when} {self.said}"
        if self.label.kind in ("state", "flag"):
            be = self.label.be[they]
            if self.timed and self.label.kind == "state":
                be = ("has", "have")[they] + " been" if self.label.one.endswith(" since") else ("was", "were")[they]
            return f"{it} {be} {self.label.one}{when} {self.said}"
        if self.label.kind == "role":
            return f"{it} {subject.be} {with_indefinite_article(self.label.one)} of {self.said}"
        value = self.facts[0].number
        if self.label.one in wording_entry("years_old") and self.subject != IT and number == 1 and value is not None:
            return f"{it} {subject.be} {self.said} years old"
        if value is not None and number == 1 and self.of_what and float(value).is_integer():
            noun = singular(self.of_what) if value == 1 else self.of_what
            return f"{it} {subject.have} {'no' if value == 0 else self.said} {noun}"
        name = plural(self.label.one) if number > 1 else self.label.one
        many = number > 1 or is_plural(name)
        if number > 1 and not is_plural(name) and name == self.label.one:
            # "equipment" has no plural
            be = "includes"
        else:
            be = "include" if number > len(self.shown) else "are" if many else "is"
        whose = f"the {possessive_phrase(name, owner)}" if owner else f"{subject.whose} {name}"
        return f"{whose} {be} {place_phrase(name, self.said)}"


def thing_sentences(
    iri: str, name: str, thing: Variable, topic: set[str], schema: Schema, run: RunStatement, *, told: bool = False
) -> list[EvidenceSentence]:
    """What the thing is (unless that was `told`), what it links to, what is part of it, its values, and what links to
    it, each fact once; with a `topic` what has to do with it."""
    noun = class_noun(thing, schema)
    person = bool(thing.classes) and is_person(noun)
    known = _once(
        _Known(p, predicate_label(p.iri, schema), tuple(strip_kind_prefix(facts, p)), is_temporal(p.iri, schema))
        for p in schema.predicates
        if is_describable(p, schema)
        if (facts := tuple(f for f in predicate_facts(p, thing, schema, run) if fold(f.said) != fold(name)))
    )
    known = [
        k
        for k in known
        if len(k.facts[0].said.split()) <= WORDS and not is_part_of_name(k.label.one, k.facts[0].said, name)
    ]
    gendered = [k for k in known if person and k.number == 1 and k.gender][:1]
    subject = pronoun(person=person, male_or_female=gendered[0].gender if gendered else "")
    known = [replace(k, subject=subject) for k in known]
    # the "genre" of a genre is a code for it
    known = [replace(k, label=_CODE) if k.label.one == noun and not k.predicate.has_links else k for k in known]
    known = [replace(k, label=_own(k.label, noun)) for k in known]
    about = [k for k in known if topic & _lemmas(k.label.one)]
    known = sorted(
        about or known, key=lambda k: (-len(k.predicate.domains.keys() & set(thing.classes)), -k.predicate.subjects)
    )
    known = [_telling(k, topic, schema, run) if k.number > NAMES and k.predicate.has_links else k for k in known]
    # a room that is called "room 12" need not be said to be a room
    owner = name if name.startswith(f"{noun} ") else ""
    is_introduced = bool(thing.classes) and not owner and not told
    if is_introduced:
        known = [k for k in known if not (person and k.gender)]
    linked = [k for k in known if k.predicate.has_links]
    valued = [k for k in known if not k.predicate.has_links]
    sentences: list[tuple[str, Sequence[WordedFact]]] = []
    role = _role(thing, noun, schema, run) if is_introduced and not about and noun in wording_entry("anybody") else None
    if is_introduced:
        kind = WordedFact(iri, "", (iri, TYPE, min(thing.classes, key=lambda c: schema.class_of[c].count)))
        kind_of = noun.removeprefix("other ") if role is None else role.noun
        sex = "".join(k.gender for k in gendered)
        # "Ann is female", and not "a female person"
        kind_of = sex if sex and kind_of in wording_entry("anybody") else f"{sex} {kind_of}".strip()
        bare = kind_of == sex or kind_of.split()[-1] in wording_entry("mass")
        is_a = f"is {kind_of if bare else with_indefinite_article(kind_of)}"
        facts = (kind, *(f for k in gendered for f in k.facts), *(role.facts if role is not None else ()))
        sentences.append((f"{_capital(name) if name.islower() else name} {is_a}.", facts))
    sentences += _told(linked, 3, owner)
    ticks = [k for k in valued if k.is_tick]
    own = _told([k for k in valued if k not in ticks], 2, "" if linked else owner)
    if ticks:
        said_so = "; ".join(f"{k.label.one}: {k.said.lower()}" for k in ticks[:FACTS])
        own.append((f"{_capital(said_so)}.", [f for k in ticks[:FACTS] for f in k.shown]))
    sentences += own[:1]
    part = find_part(thing, schema, run) if not about else None
    # a bank that "has 123 customers" is not told by those that the graph knows
    numbered = {singular(k.of_what) for k in known if k.of_what}
    part = part if part is None or part.noun not in numbered else None
    if part is not None and part.count == 1 and _is_on_its_own(part, thing, name, schema, run):
        part = None
    across = part_sentences("" if sentences else name, part, schema, run, whose=subject.whose, own=noun)
    sentences += [*across, *own[1:]]
    if not about:
        said = {fact.triple for k in known for fact in k.facts}
        # "across its 3 variants" says how many there are
        apart = {edge.predicate for edge in part.select.edges} if part is not None and across else set()
        apart |= {role.predicate} if role is not None else set()
        sentences += _incoming(thing, schema, run, said, apart, noun, subject, numbered)
    return [
        EvidenceSentence("sql", 0, text=text, title=name, keys=(iri,), triples=tuple(f.triple for f in facts))
        for text, facts in sentences[:MAX_DESCRIPTION_SENTENCES]
    ]


@dataclass(frozen=True)
class _Role:
    """What a person is, as whom they have one row of their own that leads to nothing else."""

    noun: str
    predicate: str
    facts: tuple[WordedFact, ...]


def _role(thing: Variable, own: str, schema: Schema, run: RunStatement) -> _Role | None:
    """The only role of a person, an `own`: "singer" of who has a row as one; None for none, and for several."""
    found = []
    for predicate in schema.predicates:
        kind, noun = linking_class(predicate, schema)
        if not _is_role(predicate, thing, noun, own, schema) or other_links(predicate, kind, schema):
            continue
        facts = link_facts(predicate, thing, schema, run, incoming=True, classes=kind)
        found += [_Role(noun, predicate.iri, tuple(facts))] if len(facts) == 1 else []
    return found[0] if len(found) == 1 else None


def _is_role(predicate: Predicate, thing: Variable, noun: str, own: str, schema: Schema) -> bool:
    """Whether who links to a person, an `own`, by a predicate is what that person is."""
    leads = predicate.role == "fact" and predicate.has_links and bool(set(predicate.ranges) & set(thing.classes))
    return (
        leads and is_plain_noun(noun) and is_person(noun) and noun != predicate_label(predicate.iri, schema).one == own
    )


def _own(label: PredicateLabel, noun: str) -> PredicateLabel:
    """A label without what the thing is: the "email address" of a customer, where others have a "customer email"."""
    rest = label_remainder(label.one, noun) if label.kind == "noun" else ""
    return replace(label, one=rest, many=plural(rest)) if rest else label


def _is_on_its_own(part: DependentPart, thing: Variable, name: str, schema: Schema, run: RunStatement) -> bool:
    """Whether the one part of a thing has a name that says neither of what it is nor what kind it is: an employee is,
    the "offer of Fox" is not."""
    link = schema.predicate_of[part.select.edges[0].predicate]
    names = [(f.said, f.triple[0]) for f in link_facts(link, thing, schema, run, incoming=True)]
    own = (fold(part.noun.split()[-1]), fold(name))
    return bool(names) and not any(is_number_name(n, (key,)) or any(w in fold(n) for w in own) for n, key in names)


def _told(known: list[_Known], most: int, owner: str = "") -> list[tuple[str, Sequence[WordedFact]]]:
    """Sentences of several facts each, at most so many; the first names the `owner`, if any."""
    long = [k for k in known if k.number > NAMES]
    short = [k for k in known if k.number <= NAMES]
    parts = [short[i : i + FACTS] for i in range(0, len(short), FACTS)]
    parts = [*parts[:1], *([k] for k in long), *parts[1:]][:most]
    said = [(_in_clauses(part, owner if part is parts[0] else ""), part) for part in parts]
    return [(_capital(f"{_clauses(clauses)}."), [f for k in part for f in k.shown]) for clauses, part in said]


def _in_clauses(part: Sequence[_Known], owner: str) -> list[str]:
    """What is known, the first of the `owner`, if any; a measure in two units is one: "its length is 65 m (212 ft)"."""
    found: list[str] = []
    for before, each in zip((None, *part), part, strict=False):
        again = before is not None and before.label.one == each.label.one and before.predicate.unit
        if again and each.predicate.unit and each.number == 1:
            found[-1] += f" ({each.said})"
        elif before is not None and before.life[0] == each.life[0] != "":
            # "they were born on 3 May 1950 in Rome"
            found[-1] += f" {each.life[1]}"
        else:
            found.append(each.clause("" if found else owner))
    return _had_at_once(found, part[0].subject)


def _had_at_once(clauses: Sequence[str], subject: Pronoun) -> list[str]:
    """Clauses where how many there are of several stands in one.

    >>> _had_at_once(["its type is flat", "it has 1 bathroom", "it has 3 bedrooms"], IT)
    ['its type is flat', 'it has 1 bathroom and 3 bedrooms']
    """
    found: list[str] = []
    had: list[str] = []
    for clause in clauses:
        who, has, what = clause.partition(f" {subject.have} ")
        counts = bool(has) and what[:1].isdigit()
        if counts and had and who == subject.it:
            had.append(what)
            found[-1] = f"{found[-1].partition(has)[0]}{has}{join_names(had)}"
        else:
            had = [what] if counts else []
            found.append(clause)
    return found


def _clauses(said: Sequence[str]) -> str:
    """Clauses as one sentence.

    >>> _clauses(["its grain is rye", "its seeds are flax, oat and poppy"])
    'its grain is rye, and its seeds are flax, oat and poppy'
    """
    if len(said) == 2 and any(", " in each for each in said):
        return f"{said[0]}, and {said[1]}"
    return join_names(said)


def part_sentences(
    name: str, part: DependentPart | None, schema: Schema, run: RunStatement, *, whose: str = "its", own: str = ""
) -> list[tuple[str, Sequence[WordedFact]]]:
    """The numbers of what hangs on the thing: "Across the 3 variants of X, the price is 5 to 7 EUR", "The price of the
    variant of X is 5 EUR"; `whose` 3 variants ("its", "their") where the name is "". The "customer payments" of a
    customer, which is what the thing is (`own`), are payments."""
    if part is None:
        return []
    spans = number_ranges(part.select, part.variable, part.count, schema, run)
    if not spans:
        return []
    facts = [WordedFact(t[0], "", t) for span in spans for t in span.triples]
    noun = strip_owner(part.noun, own, schema)
    parts = noun if part.count == 1 else number_with_noun(part.count, noun)
    of = f"the {parts} of {name}" if name else f"{whose} {parts}"
    if part.count == 1:
        return [(_capital(f"{range_clauses(spans, schema, of=of, noun=part.noun)}."), facts)]
    return [(f"Across {of}, {range_clauses(spans, schema, noun=part.noun)}.", facts)]


def _telling(known: _Known, topic: set[str], schema: Schema, run: RunStatement) -> _Known:
    """The values in another order: first those of the topic, then those that few other things have."""
    ends = {f.triple[2] for f in known.facts}
    value, other = Variable("value", keys=tuple(sorted(ends))), Variable("other")
    edge = Edge(other.name, known.predicate.iri, value.name)
    count = Aggregate("count", Itself(other.name))
    rows = run(to_sql(Select((count,), (value, other), (edge,), group=(value.name,)), schema))
    having = {str(row[0]): int(row[1] or 0) for row in rows[0]} if rows else {}
    order = sorted(known.facts, key=lambda f: (not topic & _lemmas(f.said), having.get(f.triple[2], 0), f.said))
    return replace(known, facts=tuple(order))


def _incoming(
    thing: Variable,
    schema: Schema,
    run: RunStatement,
    said: Collection[Triple],
    apart: Collection[str],
    own: str,
    subject: Pronoun,
    numbered: Collection[str],
) -> list[tuple[str, Sequence[WordedFact]]]:
    """Who links to the thing, an `own`, counted by their kind, without links that were `said` in the other direction or
    that are told `apart`, and kinds of which another number was said (`numbered`)."""
    clauses, having, told = list[str](), list[str](), list[WordedFact]()
    person = subject != IT
    for predicate in schema.predicates:
        if predicate.iri in apart:
            continue
        if predicate.role != "fact" or not predicate.has_links or not set(predicate.ranges) & set(thing.classes):
            continue
        back = (predicate.iri, *predicate.inverses)
        kind, noun = linking_class(predicate, schema)
        facts = [
            f
            for f in link_facts(predicate, thing, schema, run, incoming=True, classes=kind)
            if not any((f.triple[2], iri, f.triple[0]) in said for iri in back)
        ]
        others = list(dict.fromkeys(f.said for f in facts))
        if not facts or any(f.triple[0] == f.triple[2] for f in facts):
            continue
        label = predicate_label(predicate.iri, schema)
        if not is_plain_noun(noun) or label.one == noun or any(f" {each}".endswith(f" {noun}") for each in numbered):
            continue
        nameless = all(is_number_name(f.said, (f.triple[0],)) for f in facts)
        named = f" ({join_names(others)})" if 1 < len(others) <= NAMES and not nameless else ""
        number = (
            number_with_noun(len(facts), noun)
            if len(facts) > 1
            else with_indefinite_article(noun)
            if nameless
            else others[0]
        )
        ends = other_links(predicate, kind, schema)
        if person and len(facts) == 1 and _is_role(predicate, thing, noun, own, schema) and not ends:
            # who has a row as a singer is one
            clauses.append(with_indefinite_article(noun))
            told += facts
        elif is_possession(label, own):
            if nameless:
                led = _led(facts, ends, schema, run)
                # a "player coach" only joins a player to a coach
                short = strip_owner(noun, own, schema)
                noun = short if short != noun else associated_noun(noun, own, ends, schema) or noun
                names = f" ({_of_all([f.said for f in led])})" if led else ""
                having.append(f"{'one ' + noun if len(facts) == 1 else number_with_noun(len(facts), noun)}{names}")
                told += [*facts[:MOST_CITED], *led]
            else:
                having.append(f"the {noun} {number}" if len(facts) == 1 else f"{number}{named}")
                told += facts[:MOST_CITED]
        elif label.kind == "noun" and label.one not in language().words["naming"]:
            clauses.append(f"the {possessive_phrase(label.one, number)}{named}")
            # what is counted can be counted again
            told += facts[:MOST_CITED]
    found = [
        f"{verb} {join_names(each[:FACTS])}" for verb, each in ((subject.have, having), (subject.be, clauses)) if each
    ]
    return [(_capital(f"{subject.it} {' and '.join(found)}."), told)] if found else []


def _of_all(names: Sequence[str]) -> str:
    """The names of several things, where these have one in common that of them all: "both Ann"."""
    once = list(dict.fromkeys(names))
    if len(once) > 1 or len(names) == 1:
        return join_names(once)
    return f"{'both' if len(names) == 2 else 'all'} {once[0]}"


def _led(facts: Sequence[WordedFact], ends: Sequence[Predicate], schema: Schema, run: RunStatement) -> list[WordedFact]:
    """What a few things without a name are told by: the names of what their only other link leads to, if these have
    some."""
    if len(ends) != 1 or len(facts) > NAMES:
        return []
    kind = class_noun(Variable("x", tuple(ends[0].ranges)[:1]), schema)
    rows = Variable("row", tuple(ends[0].domains)[:1], keys=tuple(f.triple[0] for f in facts))
    return [f for f in link_facts(ends[0], rows, schema, run) if not f.said.startswith(f"{kind} ")]


def _once(known: Iterable[_Known]) -> list[_Known]:
    """Without what is said a second time: the same value under a label that shares a word."""
    seen: dict[str, list[set[str]]] = defaultdict(list)
    found = []
    for each in known:
        words = _lemmas(each.label.one)
        value = each.facts[0]
        key = f"{value.number:g}" if value.number is not None and len(each.facts) == 1 else fold(each.said)
        if any(words & other for other in seen[key]):
            continue
        seen[key].append(words)
        found.append(each)
    return found


def _lemmas(text: str) -> set[str]:
    return {form for t in tokenize(text) for form in synonyms(t.lemma)}


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
