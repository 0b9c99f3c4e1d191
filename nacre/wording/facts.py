"""The values and links of things under one predicate, in words and as triples: Variable + Predicate -> WordedFacts."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from nacre.errors import ToolError
from nacre.language.data import WORDS
from nacre.language.thesaurus import synonyms
from nacre.language.tokens import fold, name_order, split_name, tokenize
from nacre.language.values import append_unit, display_name, has_lowercase_name, is_number_name
from nacre.language.word_forms import IT, Pronoun, join_names
from nacre.plans.run import build_table
from nacre.plans.sparql_engine import LabelLookup
from nacre.plans.sparql_vocabulary import Vocabulary, derived_patterns, format_iri, pattern_iris, write_statement
from nacre.plans.sql_joins import RunStatement
from nacre.plans.to_sparql import to_sparql
from nacre.plans.to_sql import to_sql
from nacre.records.evidence import EvidenceSentence, Table
from nacre.records.plan import Attribute, Edge, Filter, Itself, Profile, Select, Variable
from nacre.records.schema import Predicate, Schema
from nacre.stores.sparql_source import SparqlSource, SparqlTerm
from nacre.stores.sqlite.triples import Triple
from nacre.wording.clauses import PropertyValues
from nacre.wording.grid import build_grid
from nacre.wording.labels import PredicateLabel, predicate_label
from nacre.wording.nouns import class_noun, is_temporal
from nacre.wording.sentence import capitalise_first, sentence_about


@dataclass(frozen=True)
class WordedFact:
    """One value or link of one thing in words; `number` if the value is one number."""

    thing: str
    text: str
    triple: Triple
    number: float | None = None


# a sentence and the facts behind it
SentenceFacts = tuple[str, Sequence[WordedFact]]


def word_senses(text: str) -> frozenset[str]:
    """The words of a text in their dictionary forms, with their synonyms."""
    return frozenset(form for token in tokenize(text) for form in synonyms(token.lemma))


def predicate_facts(predicate: Predicate, things: Variable, schema: Schema, run: RunStatement) -> list[WordedFact]:
    """The links of the things by the predicate, or their values if it has no links; none if their classes lack it."""
    if things.classes and not set(things.classes) & set(predicate.domains):
        return []
    return link_facts(predicate, things, schema, run) or value_facts(predicate, things, schema, run)


def value_facts(predicate: Predicate, things: Variable, schema: Schema, run: RunStatement) -> list[WordedFact]:
    """The literals of the things, in the order of their names."""
    if not predicate.has_literals:
        return []
    attribute = Attribute(things.name, predicate.iri)
    select = Select((Itself(things.name), attribute), (things,), (), (Filter(attribute, "known"),))
    table = _table(select, schema, run)
    if table is None:
        return []
    column = build_grid(table, select, schema).columns[-1]
    found = []
    for keys, said, data, row in zip(table.keys, column.texts, column.data, table.rows, strict=True):
        number = data[0] if len(data) == 1 and isinstance(data[0], int | float) else None
        text = append_unit(said, column.unit) if said.replace(",", "").replace(".", "").isdigit() else said
        if said:
            found.append(WordedFact(keys[0], text, (keys[0], predicate.iri, str(row[-1])), number))
    return found


def link_facts(
    predicate: Predicate,
    things: Variable,
    schema: Schema,
    run: RunStatement,
    *,
    incoming: bool = False,
    classes: tuple[str, ...] = (),
) -> list[WordedFact]:
    """What the things link to, or with `incoming` what links to them, in the order of names; only of some `classes`."""
    if not predicate.has_links:
        return []
    other = Variable("other" if things.name != "other" else "another", classes)
    ends = (other.name, things.name) if incoming else (things.name, other.name)
    edge = Edge(ends[0], predicate.iri, ends[1])
    table = _table(Select((Itself(things.name), Itself(other.name)), (things, other), (edge,)), schema, run)
    if table is None:
        return []
    found = []
    kind = max((c for c in predicate.ranges if c), key=lambda c: predicate.ranges[c], default="")
    noun = class_noun(Variable("x", (kind,)), schema) if kind in schema.class_of and not incoming else ""
    rows = list(zip(table.keys, table.rows, strict=True))
    shown = [(keys[-1:], display_name(str(row[-1]), keys[-1:])) for keys, row in rows]
    numbered = [key[0] for key, name in shown if is_number_name(name, key)]
    names = identifying_names(kind, numbered, schema, run) if noun else {}
    small = has_lowercase_name(row[-1] for row in table.rows)
    for keys, row in rows:
        own, far = keys[0], keys[-1]
        triple = (far, predicate.iri, own) if incoming else (own, predicate.iri, far)
        name = names.get(far) or display_name(str(row[-1]), (far,), small=small)
        found.append(WordedFact(own, f"{noun} {name}" if noun and is_number_name(name, (far,)) else name, triple))
    return found


def strip_kind_prefix(facts: Sequence[WordedFact], predicate: Predicate) -> list[WordedFact]:
    """The facts without the predicate's own label before a colon: "X" for "Feature: X" as a feature."""
    found = []
    for fact in facts:
        before, colon, rest = fact.text.partition(": ")
        same = colon and before.casefold() == split_name(predicate.label).casefold()
        found.append(replace(fact, text=rest) if same else fact)
    return found


def _table(select: Select, schema: Schema, run: RunStatement) -> Table | None:
    statement = to_sql(select, schema)
    found = run(statement)
    return build_table(statement, *found) if found is not None and found[0] else None


MAX_NAMES = 5  # names in a clause among others
MAX_LISTED_NAMES, MAX_LIST_WORDS = 12, 40  # names and words of a longer list, which has a sentence of its own


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


MAX_FACTS = 5  # facts in one sentence


def fact_sentences(properties: Sequence[PropertyFacts], most: int, owner: str = "") -> list[SentenceFacts]:
    """At most so many sentences of several facts each; the first names the `owner`, if any."""
    long = [each for each in properties if each.number > MAX_NAMES]
    short = [each for each in properties if each.number <= MAX_NAMES]
    parts = [short[i : i + MAX_FACTS] for i in range(0, len(short), MAX_FACTS)]
    parts = [*parts[:1], *([each] for each in long), *parts[1:]][:most]
    sentences: list[SentenceFacts] = []
    for part in parts:
        clauses = _merged_clauses(part, owner if part is parts[0] else "")
        text = capitalise_first(f"{_join_clauses(clauses)}.")
        sentences.append((text, [fact for each in part for fact in each.shown]))
    return sentences


def open_boolean_sentence(properties: Sequence[PropertyFacts]) -> list[SentenceFacts]:
    """Values of yes or no under nouns as a list: "Lunch: yes; parking: no."; empty without such properties."""
    shown = properties[:MAX_FACTS]
    if not shown:
        return []
    text = "; ".join(f"{each.label.one}: {each.values.text.lower()}" for each in shown)
    return [(f"{capitalise_first(text)}.", [fact for each in shown for fact in each.shown])]


def _merged_clauses(part: Sequence[PropertyFacts], owner: str) -> list[str]:
    """A clause for each property; two units ("65 m (212 ft)"), or time and place of an event, are in one."""
    clauses: list[str] = []
    for before, each in zip((None, *part), part, strict=False):
        is_same_measure = before is not None and before.label.one == each.label.one and before.predicate.unit
        if is_same_measure and each.predicate.unit and each.number == 1:
            clauses[-1] += f" ({each.values.text})"
        elif before is not None and before.values.life_event[0] == each.values.life_event[0] != "":
            # "they were born on 3 May 1950 in Rome"
            clauses[-1] += f" {each.values.life_event[1]}"
        else:
            clauses.append(each.values.clause("" if clauses else owner))
    return _merge_counts(clauses, part[0].subject)


def _merge_counts(clauses: Sequence[str], subject: Pronoun) -> list[str]:
    """The clauses, with counts that follow each other in one clause.

    >>> from nacre.language.word_forms import IT
    >>> _merge_counts(["its type is flat", "it has 1 bathroom", "it has 3 bedrooms"], IT)
    ['its type is flat', 'it has 1 bathroom and 3 bedrooms']
    """
    merged: list[str] = []
    counts: list[str] = []
    for clause in clauses:
        who, has, what = clause.partition(f" {subject.have} ")
        is_count = bool(has) and what[:1].isdigit()
        if is_count and counts and who == subject.it:
            counts.append(what)
            merged[-1] = f"{merged[-1].partition(has)[0]}{has}{join_names(counts)}"
        else:
            counts = [what] if is_count else []
            merged.append(clause)
    return merged


def _join_clauses(clauses: Sequence[str]) -> str:
    """The clauses as one sentence.

    >>> _join_clauses(["its grain is rye", "its seeds are flax, oat and poppy"])
    'its grain is rye, and its seeds are flax, oat and poppy'
    """
    if len(clauses) == 2 and any(", " in each for each in clauses):
        return f"{clauses[0]}, and {clauses[1]}"
    return join_names(clauses)


# the smallest share of things with the property, and of its values that only one thing has (given)
MIN_KNOWN_SHARE, MIN_UNIQUE_SHARE = 0.9, 0.9

MAX_NAMING_WORDS = 8  # longer texts describe a thing, and do not name it


def identifying_names(kind: str, iris: Sequence[str], schema: Schema, run: RunStatement) -> Mapping[str, str]:
    """The names of the things of a class by IRI; empty if no property tells them apart."""
    predicate = _naming_predicate(kind, schema)
    if predicate is None or not iris:
        return {}
    things = Variable("called", (kind,), keys=tuple(sorted(set(iris))))
    value = Attribute(things.name, predicate.iri)
    table = _table(Select((Itself(things.name), value), (things,), (), (Filter(value, "known"),)), schema, run)
    if table is None:
        return {}
    rows = zip(table.keys, table.rows, strict=True)
    names = {keys[0]: str(row[-1]) for keys, row in rows if row[-1] is not None}
    if len(set(names.values())) < len(names) or any(len(name.split()) > MAX_NAMING_WORDS for name in names.values()):
        return {}
    return names


def _naming_predicate(kind: str, schema: Schema) -> Predicate | None:
    """The text property that nearly each thing has its own value of: named like the class, a name, or any other."""
    if kind not in schema.class_of:
        return None
    noun, naming = class_noun(Variable("x", (kind,)), schema), WORDS["naming"]
    least = MIN_KNOWN_SHARE * schema.class_of[kind].count
    own = [
        p
        for p in schema.predicates
        if p.has_literals and p.datatype == "text" and p.functional and p.role in ("fact", "name")
        if p.domains.get(kind, 0) >= least and p.objects >= MIN_UNIQUE_SHARE * p.subjects
    ]
    return min(own, key=lambda p: _naming_rank(predicate_label(p.iri, schema).full, noun, naming), default=None)


def _naming_rank(label: str, noun: str, naming: frozenset[str]) -> tuple[bool, bool, str]:
    words = label.casefold().split()
    return (words[-1:] != noun.casefold().split()[-1:], not set(words) & naming, label)


def is_part_of_name(label: str, value: str, name: str) -> bool:
    """Whether a value is a first or last name that is part of a thing's name."""
    kinds = set(label.split())
    naming = kinds & WORDS["naming"] and kinds & (WORDS["given"] | WORDS["family"])
    return bool(naming) and set(fold(value).split()) <= set(fold(name).split())


# described things, facts that are read, sentences for each thing, and values in one
MOST_THINGS, MOST_FACTS, MOST_SENTENCES, MOST_VALUES = 3, 600, 12, 8

MOST_DERIVED = 30  # derived properties that are read of things


def sparql_profile_sentences(
    profile: Profile, source: SparqlSource, vocabulary: Vocabulary, labels: LabelLookup, *, round: int, seconds: float
) -> tuple[EvidenceSentence, ...]:
    """The texts about the things of both sides, then their values and links; those of the topic first. Raises ToolError
    `empty` without things."""
    schema = vocabulary.schema
    sides = [side for side in (profile.members, profile.against) if side]
    things = [key for side in sides for key in _keys(side, source, vocabulary, seconds)]
    if not things:
        raise ToolError("empty", "No thing to describe.")
    query = f"SELECT ?s ?p ?o {{ {_facts_pattern(things, schema)} }} LIMIT {MOST_FACTS}"
    facts: dict[str, dict[str, list[SparqlTerm]]] = defaultdict(lambda: defaultdict(list))
    for subject, predicate, value in source.select(query, limit=MOST_FACTS, seconds=seconds).rows:
        if subject and predicate and value and predicate.value in schema.predicate_of:
            facts[subject.value][predicate.value].append(value)
    all_terms = [term for terms_of in facts.values() for terms in terms_of.values() for term in terms]
    linked = {term.value for term in all_terms if term.kind == "iri"}
    named = labels([*things, *linked])
    topic = word_senses(profile.topic)
    return tuple(each for key in things for each in _of_thing(key, facts[key], named, topic, schema, round))


def _facts_pattern(things: Sequence[str], schema: Schema) -> str:
    """The triples of the things, and what is derived from them where nothing derived is stored."""
    values = f"VALUES ?s {{ {' '.join(map(format_iri, things))} }}"
    derived = [p.iri for p in schema.shown_predicates if derived_patterns(schema, p.iri)][:MOST_DERIVED]
    if not derived:
        return f"{values} ?s ?p ?o"
    parts = [f"{{ {values} ?s ?p ?o }}"]
    for i, iri in enumerate(derived):
        statement = write_statement(schema, iri, "?s", "?o", f"?d{i}_")
        parts.append(f"{{ {values} {statement} BIND({format_iri(iri)} AS ?p) }}")
    return " UNION ".join(parts)


def _keys(side: Select, source: SparqlSource, vocabulary: Vocabulary, seconds: float) -> list[str]:
    known = [key for variable in side.variables for key in variable.keys]
    if len(side.variables) == 1 and known:
        return known[:MOST_THINGS]
    query = to_sparql(side, vocabulary)
    rows = source.select(query.text, limit=MOST_THINGS, seconds=seconds).rows
    return [row[0].value for row in rows if row[0] is not None]


def _of_thing(
    key: str,
    facts: Mapping[str, Sequence[SparqlTerm]],
    named: Mapping[str, str],
    topic: frozenset[str],
    schema: Schema,
    round: int,
) -> list[EvidenceSentence]:
    name = named.get(key, key)
    known = [schema.predicate_of[predicate] for predicate in facts]
    telling = [p for p in known if p.role in ("fact", "text") and not p.hidden]
    on_topic = {p.iri for p in telling if topic & word_senses(predicate_label(p.iri, schema).one)}
    order = sorted(telling, key=lambda p: (p.role != "text", p.iri not in on_topic, -p.subjects, p.iri))
    found = []
    for number, predicate in enumerate(order[:MOST_SENTENCES]):
        values = sorted((named.get(term.value, term.value) for term in facts[predicate.iri]), key=name_order)
        patterns = derived_patterns(schema, predicate.iri)
        read = [iri for pattern in patterns for iri in pattern_iris(pattern) if iri in facts] or [predicate.iri]
        read = [iri for iri in read if iri != predicate.iri or not patterns]
        triples = tuple((key, iri, term.value) for iri in read for term in sorted(facts[iri])[:MOST_VALUES])
        more = [f"{len(values) - MOST_VALUES} more"] if len(values) > MOST_VALUES else []
        listed = join_names([*values[:MOST_VALUES], *more])
        label, is_date = predicate_label(predicate.iri, schema), is_temporal(predicate.iri, schema)
        worded = PropertyValues(predicate, label, listed, len(values), is_cut=bool(more), is_temporal=is_date)
        text = values[0] if predicate.role == "text" else sentence_about(worded.clause(name), name)
        found.append(
            EvidenceSentence(
                "sparql", round, text=text, title=name, score=1 - number / 100, keys=(key,), triples=triples
            )
        )
    return found
