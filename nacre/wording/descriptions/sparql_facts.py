"""Describe things without tables: Profile + SparqlSource -> sentences with their triples."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence

from nacre.errors import ToolError
from nacre.language.forms.nouns import join_names
from nacre.plans.sparql.derived import derived_patterns, pattern_iris, write_statement
from nacre.plans.sparql.terms import format_iri
from nacre.plans.sparql.to_sparql import to_sparql
from nacre.plans.sparql.vocabulary import Vocabulary
from nacre.records.evidence import EvidenceSentence
from nacre.records.plan import Profile, Select
from nacre.records.schema import Schema
from nacre.stores.sparql.sparql_source import SparqlSource, SparqlTerm
from nacre.wording.answers.sentence import sentence_about
from nacre.wording.clauses.property_values import PropertyValues
from nacre.wording.descriptions.facts import word_senses
from nacre.wording.labels.predicate_labels import predicate_label
from nacre.wording.labels.value_kinds import is_temporal

# described things, facts that are read, sentences for each thing, and values in one
MOST_THINGS, MOST_FACTS, MOST_SENTENCES, MOST_VALUES = 3, 600, 12, 8
# derived properties that are read of things
MOST_DERIVED = 30
LabelLookup = Callable[[Collection[str]], Mapping[str, str]]


def sparql_profile_sentences(
    profile: Profile, source: SparqlSource, vocabulary: Vocabulary, labels: LabelLookup, *, round: int, seconds: float
) -> tuple[EvidenceSentence, ...]:
    """The texts about the things of both sides, then their values and links; those of the topic first.

    Raises ToolError `empty` without things.
    """
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
    found = [each for key in things for each in _of_thing(key, facts[key], named, topic, schema, round)]
    return tuple(found)


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
    order = sorted(
        telling,
        key=lambda p: (
            p.role != "text",
            not topic & word_senses(predicate_label(p.iri, schema).one),
            -p.subjects,
            p.iri,
        ),
    )
    found = []
    for number, predicate in enumerate(order[:MOST_SENTENCES]):
        values = sorted(named.get(term.value, term.value) for term in facts[predicate.iri])
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
