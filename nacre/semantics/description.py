"""Describe one thing: its kind, its links, its values, what links to it -> at most six sentences with their triples."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from nacre.records.evidence import Sentence
from nacre.records.plan import Aggregate, Edge, Itself, Select, Variable
from nacre.records.schema import Predicate, Schema
from nacre.semantics.english import is_person, synonyms
from nacre.semantics.facts_of import Fact, Run, Triple, facts_of, links_of, without_kind
from nacre.semantics.flags import is_called_flag, said_by
from nacre.semantics.labels_said import Label, class_noun, flag, is_spoken, is_telling, is_time, label_of
from nacre.semantics.language.base import language
from nacre.semantics.nouns import article, belonging, counted, is_count, is_plural, joined, plural, singular, wording
from nacre.semantics.parts import Part, numbers_said, part_of, spans_of
from nacre.semantics.properties_said import preposition_of
from nacre.semantics.to_sql import to_sql
from nacre.semantics.values_said import is_number_name
from nacre.semantics.words import fold, tokens
from nacre.stores.triples import TYPE

# triples of one sentence (given: a citation has at most so many)
MOST_CITED = 200
SENTENCES = 6
# facts in one sentence, names in one fact, and words of a value that still reads as one
FACTS, NAMES, WORDS = 5, 5, 12
# a longer list has a sentence of its own, with at most so many names and words
LISTED, LIST_WORDS = 12, 40


_CODE = Label("noun", "code", "codes")


@dataclass(frozen=True)
class _Known:
    """All that a thing has under one predicate."""

    predicate: Predicate
    label: Label
    facts: tuple[Fact, ...]
    timed: bool = False
    person: bool = False

    @property
    def counts(self) -> bool:
        """Whether its numbers say how many of something there are."""
        return self.predicate.datatype == "integer" and not self.predicate.unit and is_count(self.label.one)

    @property
    def number(self) -> int:
        """How many values there are."""
        return len({f.said for f in self.facts})

    @property
    def shown(self) -> list[Fact]:
        """The facts that are said, each value once."""
        found = list({f.said: f for f in reversed(self.facts)}.values())[::-1]
        if len(found) <= NAMES:
            return found
        words = accumulate(len(f.said.split()) for f in found)
        return [f for f, so_far in zip(found, words, strict=True) if so_far <= LIST_WORDS][:LISTED] or found[:1]

    @property
    def said(self) -> str:
        return joined([f.said for f in self.shown])

    @property
    def _yes(self) -> bool | None:
        """What a property of yes or no says; None for others."""
        if self.predicate.datatype == "boolean":
            return self.said == "yes" if self.said in ("yes", "no") else None
        said_so = is_called_flag(self.predicate) or self.label.kind in ("state", "flag")
        return said_by(self.said, self.predicate) if said_so else None

    @property
    def is_tick(self) -> bool:
        """Whether it says yes or no under a noun, of which nobody knows whether the thing has that, or is it."""
        return self._yes is None and said_by(self.said, self.predicate) is not None

    def clause(self, owner: str = "") -> str:
        """ "its price is 5 EUR", "it borders Spain", of a person "they wrote"; with an `owner` its name instead."""
        they = self.person and not owner
        it, be_, whose = ("they", "are", "their") if they else (owner or "it", "is", "its")
        number = self.number
        if (yes := self._yes) is not None:
            return f"{it} {flag(self.label, yes)[they]}"
        if self.label.kind in ("verb", "past"):
            verb = self.label.many if they and self.label.kind == "verb" else self.label.one
            return f"{it} {verb} {self.said}"
        if self.label.kind in ("state", "flag"):
            be = self.label.be[they]
            if self.timed and self.label.kind == "state":
                be = ("has", "have")[they] + " been" if self.label.one.endswith(" since") else ("was", "were")[they]
            dated = self.predicate.datatype in ("date", "datetime")
            return f"{it} {be} {self.label.one}{preposition_of(self.label.one, dated, self.timed)} {self.said}"
        if self.label.kind == "role":
            return f"{it} {be_} {article(self.label.one)} of {self.said}"
        value = self.facts[0].number
        if value is not None and number == 1 and self.counts and float(value).is_integer():
            noun = singular(self.label.one) if value == 1 else self.label.one
            return f"{it} {'have' if they else 'has'} {'no' if value == 0 else self.said} {noun}"
        name = plural(self.label.one) if number > 1 else self.label.one
        many = number > 1 or is_plural(name)
        if number > 1 and not is_plural(name) and name == self.label.one:
            # "equipment" has no plural
            be = "includes"
        else:
            be = "include" if number > len(self.shown) else "are" if many else "is"
        return f"{f'the {belonging(name, owner)}' if owner else f'{whose} {name}'} {be} {self.said}"


def description(
    iri: str, name: str, thing: Variable, topic: set[str], schema: Schema, run: Run, *, told: bool = False
) -> list[Sentence]:
    """What the thing is (unless that was `told`), what it links to, what is part of it, its values, and what links to
    it, each fact once; with a `topic` what has to do with it."""
    noun = class_noun(thing, schema)
    person = bool(thing.classes) and is_person(noun)
    known = _once(
        _Known(p, label_of(p.iri, schema), tuple(without_kind(facts, p)), is_time(p.iri, schema), person)
        for p in schema.predicates
        if is_telling(p, schema)
        if (facts := tuple(f for f in facts_of(p, thing, schema, run) if fold(f.said) != fold(name)))
    )
    known = [k for k in known if len(k.facts[0].said.split()) <= WORDS and not _is_part_of_name(k, name)]
    # the "genre" of a genre is a code for it
    known = [replace(k, label=_CODE) if k.label.one == noun and not k.predicate.has_links else k for k in known]
    about = [k for k in known if topic & _lemmas(k.label.one)]
    known = sorted(
        about or known, key=lambda k: (-len(k.predicate.domains.keys() & set(thing.classes)), -k.predicate.subjects)
    )
    known = [_telling(k, topic, schema, run) if k.number > NAMES and k.predicate.has_links else k for k in known]
    linked = [k for k in known if k.predicate.has_links]
    valued = [k for k in known if not k.predicate.has_links]
    sentences: list[tuple[str, Sequence[Fact]]] = []
    # a room that is called "room 12" need not be said to be a room
    owner = name if name.startswith(f"{noun} ") else ""
    if thing.classes and not owner and not told:
        kind = Fact(iri, "", (iri, TYPE, min(thing.classes, key=lambda c: schema.class_of[c].count)))
        kind_of = noun.removeprefix("other ")
        is_a = f"is {kind_of if kind_of.split()[-1] in wording('mass') else article(kind_of)}"
        sentences.append((f"{_capital(name) if name.islower() else name} {is_a}.", (kind,)))
    sentences += _told(linked, 3, owner)
    ticks = [k for k in valued if k.is_tick]
    own = _told([k for k in valued if k not in ticks], 2, "" if linked else owner)
    if ticks:
        said_so = "; ".join(f"{k.label.one}: {k.said.lower()}" for k in ticks[:FACTS])
        own.append((f"{_capital(said_so)}.", [f for k in ticks[:FACTS] for f in k.shown]))
    sentences += own[:1]
    part = part_of(thing, schema, run) if not about else None
    across = parts_told("" if sentences else name, part, schema, run, person=person)
    sentences += [*across, *own[1:]]
    if not about:
        said = {fact.triple for k in known for fact in k.facts}
        # "across its 3 variants" says how many there are
        apart = {edge.predicate for edge in part.select.edges} if part is not None and across else set()
        sentences += _incoming(thing, schema, run, said, apart, noun)
    return [
        Sentence("sql", 0, text=text, title=name, keys=(iri,), triples=tuple(f.triple for f in facts))
        for text, facts in sentences[:SENTENCES]
    ]


def _is_part_of_name(known: _Known, name: str) -> bool:
    """Whether a value is a first or last name that the thing's name says."""
    words, kinds = language().words, set(known.label.one.split())
    naming = kinds & words["naming"] and kinds & (words["given"] | words["family"])
    return bool(naming) and set(fold(known.facts[0].said).split()) <= set(fold(name).split())


def _told(known: list[_Known], most: int, owner: str = "") -> list[tuple[str, Sequence[Fact]]]:
    """Sentences of several facts each, at most so many; the first names the `owner`, if any."""
    long = [k for k in known if k.number > NAMES]
    short = [k for k in known if k.number <= NAMES]
    parts = [short[i : i + FACTS] for i in range(0, len(short), FACTS)]
    parts = [*parts[:1], *([k] for k in long), *parts[1:]][:most]
    known = [k for part in parts for k in part]
    return [
        (
            _capital(f"{_clauses([k.clause(owner if k is known[0] else '') for k in part])}."),
            [f for k in part for f in k.shown],
        )
        for part in parts
    ]


def _clauses(said: Sequence[str]) -> str:
    """Clauses as one sentence.

    >>> _clauses(["its grain is rye", "its seeds are flax, oat and poppy"])
    'its grain is rye, and its seeds are flax, oat and poppy'
    """
    if len(said) == 2 and any(", " in each for each in said):
        return f"{said[0]}, and {said[1]}"
    return joined(said)


def parts_told(
    name: str, part: Part | None, schema: Schema, run: Run, *, person: bool = False
) -> list[tuple[str, Sequence[Fact]]]:
    """The numbers of what hangs on the thing: "Across the 3 variants of X, the price is 5 to 7 EUR", "The price of the
    variant of X is 5 EUR"; "its 3 variants", of a person "their", where the name is ""."""
    if part is None:
        return []
    spans = spans_of(part.select, part.variable, part.count, schema, run)
    if not spans:
        return []
    facts = [Fact(t[0], "", t) for span in spans for t in span.triples]
    parts = part.noun if part.count == 1 else counted(part.count, part.noun)
    whose = f"the {parts} of {name}" if name else f"{'their' if person else 'its'} {parts}"
    if part.count == 1:
        return [(_capital(f"{numbers_said(spans, schema, of=whose)}."), facts)]
    return [(f"Across {whose}, {numbers_said(spans, schema)}.", facts)]


def _telling(known: _Known, topic: set[str], schema: Schema, run: Run) -> _Known:
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
    thing: Variable, schema: Schema, run: Run, said: Collection[Triple], apart: Collection[str], own: str
) -> list[tuple[str, Sequence[Fact]]]:
    """Who links to the thing, an `own`, counted by their kind, without links that were `said` in the other direction or
    that are told `apart`."""
    clauses, having, told = list[str](), list[str](), list[Fact]()
    person = bool(thing.classes) and is_person(own)
    for predicate in schema.predicates:
        if predicate.iri in apart:
            continue
        if predicate.role != "fact" or not predicate.has_links or not set(predicate.ranges) & set(thing.classes):
            continue
        back = (predicate.iri, *predicate.inverses)
        facts = [
            f
            for f in links_of(predicate, thing, schema, run, incoming=True)
            if not any((f.triple[2], iri, f.triple[0]) in said for iri in back)
        ]
        others = list(dict.fromkeys(f.said for f in facts))
        if not facts or any(f.triple[0] == f.triple[2] for f in facts):
            continue
        kind = max((c for c in predicate.domains if c), key=lambda c: predicate.domains[c], default="")
        noun = class_noun(Variable("x", (kind,) if kind else ()), schema)
        label = label_of(predicate.iri, schema)
        if not is_spoken(noun):
            continue
        numbered = all(is_number_name(f.said, (f.triple[0],)) for f in facts)
        named = f" ({joined(others)})" if 1 < len(others) <= NAMES and not numbered else ""
        number = counted(len(facts), noun) if len(facts) > 1 else article(noun) if numbered else others[0]
        ends = [p for p in schema.predicates if p.has_links and kind in p.domains and p.iri != predicate.iri]
        if person and len(facts) == 1 and is_person(noun) and label.one == own and not ends:
            # who has a row as a singer is one
            clauses.append(article(noun))
            told += facts
        elif label.kind == "noun" and f" {own}".endswith(f" {label.one}"):
            # the "type" of 7 organisations, which is an organisation type, has them
            beyond = class_noun(Variable("x", tuple(ends[0].ranges)[:1]), schema) if len(ends) == 1 else ""
            if numbered and beyond and set(beyond.split()) & set(noun.split()) and set(own.split()) & set(noun.split()):
                # a "player coach" only joins a player to a coach
                noun, number = beyond, counted(len(facts), beyond)
            one = f"one {noun}" if numbered else f"the {noun} {number}"
            having.append(one if len(facts) == 1 else f"{number}{named}")
            told += facts[:MOST_CITED]
        elif label.kind == "noun":
            clauses.append(f"the {belonging(label.one, number)}{named}")
            # what is counted can be counted again
            told += facts[:MOST_CITED]
    has, is_ = ("have", "are") if person else ("has", "is")
    found = [f"{verb} {joined(each[:FACTS])}" for verb, each in ((has, having), (is_, clauses)) if each]
    return [(f"{'They' if person else 'It'} {' and '.join(found)}.", told)] if found else []


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
    return {form for t in tokens(text) for form in synonyms(t.lemma)}


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
