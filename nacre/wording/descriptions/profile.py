"""Characterise a thing or a group by its facts: Profile -> sentences with their triples, the most telling first."""

from collections.abc import Sequence
from dataclasses import replace

from nacre.language.format_values import display_name, is_number_name
from nacre.language.forms.nouns import join_names, number_with_noun, plural, with_indefinite_article
from nacre.language.thesaurus import synonyms
from nacre.language.tokens import fold, tokenize
from nacre.plans.sql.to_sql import to_sql
from nacre.plans.statement import RunStatement
from nacre.records.evidence import Evidence, EvidenceSentence
from nacre.records.plan import Attribute, Edge, Itself, Profile, Select, Variable
from nacre.records.schema import Group as Kind
from nacre.records.schema import Predicate, Schema
from nacre.stores.sqlite.tables import Tables
from nacre.wording.descriptions.comparison import ComparisonSide, compare_sides
from nacre.wording.descriptions.contrast import contrast_groups
from nacre.wording.descriptions.contrast import shared_properties as have_in_common
from nacre.wording.descriptions.group import MemberGroup, describe_group
from nacre.wording.descriptions.thing import MAX_DESCRIPTION_SENTENCES, thing_sentences
from nacre.wording.labels.class_nouns import class_noun
from nacre.wording.labels.predicate_labels import predicate_label
from nacre.wording.phrases.join_clauses import thing_name
from nacre.wording.phrases.select import verbalise_select

ITEMS = 12
# sentences of what is written about a thing, beside its facts
WRITTEN = 2
# sentences of each of two things that have nothing to compare
SENTENCES_EACH = 3
LONGEST = 12
_SHARED = frozenset("share common both same alike similar similarity".split())


def profile_sentences(profile: Profile, tables: Tables, run: RunStatement, round: int) -> Sequence[Evidence]:
    """Sentences about the members of a profile: descriptions first, then what they have, the most telling first.

    With a second group: what both share if the topic asks for that, else what the second has not; of two things with
    nothing to compare what each is.
    """
    schema = tables.schema
    members = _members(profile.members, schema, run)
    if not members:
        return []
    others = _members(profile.against, schema, run) if profile.against else {}
    topic = {form for t in tokenize(profile.topic) for form in synonyms(t.lemma)}
    shared = bool(topic & _SHARED)
    variable = _variable(profile.members)
    if others:
        assert profile.against is not None
        sides = _side(profile.members, members, schema), _side(profile.against, others, schema)
        groups = (
            MemberGroup(members, profile.members, sides[0].variable),
            MemberGroup(others, profile.against, sides[1].variable),
        )
        if shared:
            return _ranked(have_in_common(*groups, join_names([s.name for s in sides]), schema, run), round)
        # those of one name are told by what they have
        called = all(len(set(each.values())) == 1 for each in (members, others))
        if len(members) > 1 and len(others) > 1 and not called:
            return _ranked(contrast_groups(*groups, schema, run), round)
        compared = compare_sides(*sides, schema, run)
        if compared is not None:
            return [replace(compared, round=round)]
        if len(members) > 1 or len(others) > 1:
            return []
        other = _variable(profile.against)
        told, theirs = (_described(*each, topic, schema, run, round) for each in ((members, variable), (others, other)))
        nouns = {class_noun(each, schema) for each in (variable, other)}
        if len(told) == len(theirs) == len(nouns) == 1:
            return _ranked([_both(told[0], theirs[0], nouns.pop())], round)
        return _ranked([*told[:SENTENCES_EACH], *theirs[:SENTENCES_EACH]], round)
    if len(members) == 1:
        return _described(members, variable, topic, schema, run, round)
    if len(members) == 2 and len(set(members.values())) == 1 and not topic:
        # two of one name: what tells them apart
        first, second = (
            ComparisonSide(f"{label} ({place})", (iri,), _thing({iri: label}, variable))
            for place, (iri, label) in enumerate(members.items(), 1)
        )
        compared = compare_sides(first, second, schema, run)
        if compared is not None:
            both = f"the two {plural(class_noun(variable, schema))} called {next(iter(members.values()))}"
            return [replace(compared, round=round, title=both)]
    facts = describe_group(MemberGroup(members, profile.members, _thing(members, variable)), topic, schema, run)
    written = _written(members, variable, schema, run, round)
    return _ranked([*facts[:1], *written[: 1 if len(members) > WRITTEN else WRITTEN], *facts[1:]], round)


def _ranked(found: list[EvidenceSentence], round: int) -> list[EvidenceSentence]:
    """The first sentences, in this order."""
    return [replace(e, round=round, score=1.0 - i / 100) for i, e in enumerate(found[:MAX_DESCRIPTION_SENTENCES])]


def _both(one: EvidenceSentence, other: EvidenceSentence, noun: str) -> EvidenceSentence:
    """What is said of two things of which no more is known than what they are."""
    text = f"{one.title} and {other.title} are both {plural(noun)}; no more is known of either."
    return replace(one, text=text, keys=(*one.keys, *other.keys), triples=(*one.triples, *other.triples))


def _written(
    members: dict[str, str], variable: Variable, schema: Schema, run: RunStatement, round: int
) -> list[EvidenceSentence]:
    """What is written about the things, or about what they belong to."""
    return [
        each
        for things, kind in [(members, variable), *_owners(members, variable, schema, run)]
        for predicate in schema.predicates
        if predicate.role == "text" and predicate.has_literals
        for each in _descriptions(predicate, things, kind, schema, run, round)
    ]


def _described(
    members: dict[str, str], variable: Variable, topic: set[str], schema: Schema, run: RunStatement, round: int
) -> list[EvidenceSentence]:
    """One thing: what it is, the first sentences of what is written about it, then its facts."""
    (iri, label), *_ = members.items()
    name = _named(label, iri, variable, schema)
    written = _written(members, variable, schema, run, round)
    # a text that names the thing says what it is; any other is a remark, which may lack its subject
    told = any(fold(name) in fold(each.text) for each in written[:WRITTEN])
    written = [each if fold(name) in fold(each.text) else replace(each, text=f"“{each.text}”") for each in written]
    facts = thing_sentences(iri, name, _thing(members, variable), topic, schema, run, told=told)
    first = 0 if told or topic else 1
    return _ranked([*facts[:first], *written[:WRITTEN], *facts[first:]], round)


def _named(label: str, iri: str, variable: Variable, schema: Schema) -> str:
    """What a thing is called; by its other name, if it was asked for by that and has but a number else."""
    if variable.keys == (iri,) and variable.label and is_number_name(label, (iri,)):
        return thing_name(variable, class_noun(variable, schema))
    named = replace(variable, keys=(iri,), label=display_name(label, (iri,)))
    return (
        thing_name(replace(named, label=label), class_noun(variable, schema)) if named.label == label else named.label
    )


def _side(select: Select | None, members: dict[str, str], schema: Schema) -> ComparisonSide:
    assert select is not None
    names = [_named(label, iri, _variable(select), schema) for iri, label in members.items()]
    name = names[0] if len(names) == 1 else verbalise_select(select, schema)
    if len(names) > 1 and len(set(members.values())) == 1:
        # several are called so
        kind = class_noun(_variable(select), schema)
        name = f"the {number_with_noun(len(names), kind)} called {next(iter(members.values()))}"
    return ComparisonSide(name, tuple(members), _thing(members, _variable(select)))


def _owners(
    members: dict[str, str], variable: Variable, schema: Schema, run: RunStatement
) -> list[tuple[dict[str, str], Variable]]:
    """What the members belong to, where only that is described in words (the work of an edition)."""
    described = [p for p in schema.predicates if p.role == "text" and p.has_literals]
    if not described or any(set(variable.classes) & set(p.domains) and not _excluded(p, variable) for p in described):
        return []
    for predicate in schema.predicates:
        if predicate.has_links and predicate.functional and predicate.role == "fact":
            targets = [c for c in predicate.ranges if any(c in p.domains for p in described)]
            if targets and set(variable.classes) & set(predicate.domains):
                edge = Edge("thing", predicate.iri, "owner")
                select = Select((Itself("owner"),), (_thing(members, variable), Variable("owner")), (edge,))
                rows = run(to_sql(select, schema))
                if rows and rows[0]:
                    rarest = min(targets, key=lambda c: (schema.class_of[c].count if c in schema.class_of else 0, c))
                    return [({str(r[0]): str(r[1]) for r in rows[0]}, Variable("owner", (rarest,)))]
    return []


def _excluded(predicate: Predicate, variable: Variable) -> bool:
    return bool(set(variable.without) & set(predicate.domains))


def overview_sentences(schema: Schema, round: int) -> tuple[EvidenceSentence, ...]:
    """What the graph holds: its kinds of things with their numbers, and what is known of the largest."""
    groups = sorted(schema.groups, key=lambda g: (-g.count, g.label))
    if not groups:
        return ()
    kinds = [number_with_noun(g.count, class_noun(Variable("x", g.classes, g.without), schema)) for g in groups]
    more = len(kinds) - ITEMS
    listed = join_names([*kinds[:ITEMS], f"{more} more kinds"] if more > 1 else kinds)
    text = f"This graph holds {schema.entities:,} things in {schema.triples:,} statements: {listed}."
    found = [EvidenceSentence("sql", round, text=text, title="this graph", score=1.0)]
    for group in groups[:4]:
        known = [p for p in schema.predicates if p.iri in _had(group, schema) and p.role == "fact"]
        names = join_names(list(dict.fromkeys(predicate_label(p.iri, schema).one for p in known))[:10])
        if names:
            noun = class_noun(Variable("x", group.classes, group.without), schema)
            said = f"What is known of {with_indefinite_article(noun)}: {names}."
            found.append(EvidenceSentence("sql", round, text=said, title=group.label, score=0.9))
    return tuple(found)


def _had(group: Kind, schema: Schema) -> set[str]:
    """The predicates that the things of a group have; of an attached graph those of their classes."""
    of_classes = {p.iri for p in schema.predicates if set(group.classes) & set(p.domains)}
    if not schema.relations:
        return of_classes
    columns = {column.predicate for column in schema.relation_of[group.relation].columns}
    return columns | (of_classes & schema.junctions.keys())


def _members(select: Select | None, schema: Schema, run: RunStatement) -> dict[str, str]:
    rows = run(to_sql(select, schema)) if select is not None else None
    return {str(row[0]): str(row[1]) for row in rows[0]} if rows else {}


def _variable(select: Select) -> Variable:
    answer = select.answers[0]
    assert isinstance(answer, Itself)
    return next(v for v in select.variables if v.name == answer.variable)


def _thing(members: dict[str, str], variable: Variable) -> Variable:
    return Variable("thing", variable.classes, variable.without, tuple(sorted(members)))


def _descriptions(
    predicate: Predicate, members: dict[str, str], variable: Variable, schema: Schema, run: RunStatement, round: int
) -> list[EvidenceSentence]:
    attribute = Attribute("thing", predicate.iri)
    rows = run(to_sql(Select((Itself("thing"), attribute), (_thing(members, variable),)), schema))
    return [
        EvidenceSentence(
            "sql",
            round,
            text=str(row[-1]).strip(),
            title=str(row[1]),
            keys=(str(row[0]),),
            triples=((str(row[0]), predicate.iri, str(row[-1])),),
        )
        for row in (rows[0] if rows else [])
        # an address is no sentence
        if row[-1] is not None and len(str(row[-1]).split()) > 1
    ]
