"""Describe a thing or a group by its facts: Profile -> sentences with their triples, the most telling first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from nacre.language.data import word_list
from nacre.language.sanitize import quote_line
from nacre.language.tokens import fold
from nacre.language.values import display_name, is_number_name
from nacre.language.word_forms import number_with_noun, plural
from nacre.plans.run import Engine, QueryRunner, run_body, tables_engine
from nacre.plans.sql_joins import RunStatement
from nacre.plans.to_sql import to_sql
from nacre.records.evidence import Evidence, EvidenceSentence, Query, Table
from nacre.records.plan import Attribute, Edge, Itself, Overview, Plan, Profile, Select, Variable
from nacre.records.schema import Predicate, Schema
from nacre.stores.sqlite.tables import Tables
from nacre.stores.sqlite.triples import StatedTriples
from nacre.wording.comparison import ComparisonSide, compare_sides, shared_properties
from nacre.wording.facts import word_senses
from nacre.wording.group import MemberGroup, describe_group
from nacre.wording.link_clauses import thing_name
from nacre.wording.nouns import class_noun
from nacre.wording.overview import overview_sentences
from nacre.wording.plan_phrases import verbalise_plan
from nacre.wording.thing import MAX_DESCRIPTION_SENTENCES, thing_sentences


def run_plan(
    plan: Plan, engine: Engine | Tables, *, round: int, words: str = "", is_alternative: bool = False
) -> tuple[Table | None, tuple[Query, ...], tuple[Evidence, ...]]:
    """A plan's rows, queries, and sentences of a description. Alternative readings get a smaller budget."""
    engine = tables_engine(engine) if isinstance(engine, Tables) else engine
    words = words or verbalise_plan(plan, engine.schema)
    body = plan.body
    if isinstance(body, Profile):
        if engine.tables is None:
            return None, (), engine.describe(body, round)
        described = QueryRunner(tables_engine(engine.tables), words, round, is_alternative)
        evidence = profile_sentences(body, engine.tables, described.run, round)
        return None, tuple(described.queries), tuple(evidence)
    if isinstance(body, Overview):
        return None, (), overview_sentences(body.wanted, engine, round)
    table, queries = run_body(body, engine, words=words, round=round, is_alternative=is_alternative)
    return table, queries, ()


MAX_WRITTEN = 2  # sentences of the texts about a thing
MAX_EACH = 3  # sentences about each of two things that have nothing to compare


@dataclass(frozen=True)
class _Members:
    """The things of one side of a profile, their names by IRI, and the variable of their class."""

    select: Select
    names: Mapping[str, str]
    variable: Variable

    @property
    def things(self) -> Variable:
        """A variable that stands for exactly these things."""
        return Variable("thing", self.variable.classes, self.variable.without, tuple(sorted(self.names)))

    @property
    def is_of_one_name(self) -> bool:
        return len(set(self.names.values())) == 1

    def group(self) -> MemberGroup:
        return MemberGroup(self.names, self.select, self.things)


def profile_sentences(profile: Profile, tables: Tables, run: RunStatement, round: int) -> Sequence[Evidence]:
    """Sentences about the members of a profile: what they are, texts about them, then their facts.

    With a second side: what both share if the topic asks for that, else what differs. Two things with nothing to
    compare are described one after the other.
    """
    schema = tables.schema
    definition = class_definition(profile.members, tables) if profile.against is None else []
    members = _members(profile.members, schema, run)
    if members is None:
        return _ranked(definition, round)
    others = _members(profile.against, schema, run) if profile.against else None
    topic = set(word_senses(profile.topic))
    if others is not None:
        return _two_sides(members, others, topic, schema, run, round)
    if len(members.names) == 1:
        return _described(members, topic, schema, run, round)
    if len(members.names) == 2 and members.is_of_one_name and not topic:
        compared = _namesakes(members, schema, run)
        if compared is not None:
            return [replace(compared, round=round)]
    facts = describe_group(members.group(), topic, schema, run)
    written = _written(members, schema, run, round)
    most = 1 if len(members.names) > MAX_WRITTEN else MAX_WRITTEN
    return _ranked([*definition, *facts[:1], *written[:most], *facts[1:]], round)


def _two_sides(
    members: _Members, others: _Members, topic: set[str], schema: Schema, run: RunStatement, round: int
) -> Sequence[Evidence]:
    sides = _side(members, schema), _side(others, schema)
    if topic & word_list("wording", "sharing_words"):
        return _ranked(shared_properties(*sides, schema, run), round)
    compared = compare_sides(*sides, schema, run)
    if compared is not None:
        return [replace(compared, round=round)]
    if len(members.names) > 1 or len(others.names) > 1:
        return []
    one, other = (_described(each, topic, schema, run, round) for each in (members, others))
    return _ranked([*one[:MAX_EACH], *other[:MAX_EACH]], round)


def _namesakes(members: _Members, schema: Schema, run: RunStatement) -> Evidence | None:
    """What tells apart two things of one name; None if nothing does."""
    first, second = (
        ComparisonSide(f"{label} ({place})", (iri,), replace(members.things, keys=(iri,)))
        for place, (iri, label) in enumerate(members.names.items(), 1)
    )
    compared = compare_sides(first, second, schema, run)
    if compared is None:
        return None
    label = next(iter(members.names.values()))
    return replace(compared, title=f"the two {plural(class_noun(members.variable, schema))} called {label}")


def _ranked(sentences: Sequence[EvidenceSentence], round: int) -> list[EvidenceSentence]:
    shown = sentences[:MAX_DESCRIPTION_SENTENCES]
    return [replace(each, round=round, score=1.0 - i / 100) for i, each in enumerate(shown)]


def _written(members: _Members, schema: Schema, run: RunStatement, round: int) -> list[EvidenceSentence]:
    """The texts about the things, or about what they belong to."""
    return [
        each
        for things in [members.things, *_described_owners(members, schema, run)]
        for predicate in schema.predicates
        if predicate.role == "text" and predicate.has_literals
        for each in _texts(predicate, things, schema, run, round)
    ]


def _described(
    members: _Members, topic: set[str], schema: Schema, run: RunStatement, round: int
) -> list[EvidenceSentence]:
    """One thing: what it is, the first sentences of the texts about it, then its facts."""
    (iri, label), *_ = members.names.items()
    name = _name(label, iri, members.variable, schema)
    written = _written(members, schema, run, round)
    # a text that names the thing says what it is; any other is a remark, which may lack its subject
    is_introduced = any(fold(name) in fold(each.text) for each in written[:MAX_WRITTEN])
    written = [each if fold(name) in fold(each.text) else replace(each, text=f"“{each.text}”") for each in written]
    facts = thing_sentences(iri, name, members.things, topic, schema, run, is_introduced=is_introduced)
    first = 0 if is_introduced or topic else 1
    return _ranked([*facts[:first], *written[:MAX_WRITTEN], *facts[first:]], round)


def _name(label: str, iri: str, variable: Variable, schema: Schema) -> str:
    """The name of a thing; the name it was asked for by if its own is a number."""
    noun = class_noun(variable, schema)
    if variable.keys == (iri,) and variable.label and is_number_name(label, (iri,)):
        return thing_name(variable, noun)
    shown = display_name(label, (iri,))
    return thing_name(replace(variable, keys=(iri,), label=label), noun) if shown == label else shown


def _side(members: _Members, schema: Schema) -> ComparisonSide:
    (iri, label), *others = members.names.items()
    if not others:
        name = _name(label, iri, members.variable, schema)
    elif members.is_of_one_name:
        name = f"the {number_with_noun(len(members.names), class_noun(members.variable, schema))} called {label}"
    else:
        name = members.group().name(schema)
    return ComparisonSide(name, tuple(members.names), members.things)


def _described_owners(members: _Members, schema: Schema, run: RunStatement) -> list[Variable]:
    """What the members belong to, if texts describe only that (the work of an edition)."""
    variable = members.variable
    described = [p for p in schema.predicates if p.role == "text" and p.has_literals]
    own = [p for p in described if set(variable.classes) & set(p.domains)]
    if not described or any(not set(variable.without) & set(p.domains) for p in own):
        return []
    for predicate in schema.predicates:
        if not (predicate.has_links and predicate.functional and predicate.role == "fact"):
            continue
        targets = [c for c in predicate.ranges if any(c in p.domains for p in described)]
        if targets and set(variable.classes) & set(predicate.domains):
            edge = Edge("thing", predicate.iri, "owner")
            rows = run(to_sql(Select((Itself("owner"),), (members.things, Variable("owner")), (edge,)), schema))
            if rows and rows[0]:
                rarest = min(targets, key=lambda c: (schema.class_of[c].count if c in schema.class_of else 0, c))
                return [Variable("thing", (rarest,), keys=tuple(sorted({str(row[0]) for row in rows[0]})))]
    return []


def _members(select: Select, schema: Schema, run: RunStatement) -> _Members | None:
    """The things of a select; None if it has none."""
    rows = run(to_sql(select, schema))
    if not rows or not rows[0]:
        return None
    answer = select.answers[0]
    assert isinstance(answer, Itself)
    variable = next(v for v in select.variables if v.name == answer.variable)
    return _Members(select, {str(row[0]): str(row[1]) for row in rows[0]}, variable)


def _texts(
    predicate: Predicate, things: Variable, schema: Schema, run: RunStatement, round: int
) -> list[EvidenceSentence]:
    """The texts of things under one predicate. A single word, such as an address, is no text."""
    select = Select((Itself(things.name), Attribute(things.name, predicate.iri)), (things,))
    rows = run(to_sql(select, schema))
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
        if row[-1] is not None and len(str(row[-1]).split()) > 1
    ]


def class_definition(select: Select, tables: Tables) -> list[EvidenceSentence]:
    """What the graph says of the class whose things a select gives without conditions; nothing without a comment."""
    known = tables.schema.class_of.get(_defined_class(select))
    if known is None or not known.comment or not tables.has_triples:
        return []
    begin = known.comment.rstrip("…. ")
    stated = [each for each in StatedTriples(tables).beside_tables(known.iri) if each[2].startswith(begin)]
    if not stated:
        return []
    noun = class_noun(select.variables[0], tables.schema)
    text = f"The graph describes “{noun}” as “{quote_line(known.comment)}”."
    return [EvidenceSentence("sql", 0, text=text, title=noun, keys=(known.iri,), triples=(stated[0],))]


def _defined_class(select: Select) -> str:
    """The one class whose things a select gives without conditions; "" for others."""
    is_plain = len(select.variables) == 1 and not (select.edges or select.filters or select.limit)
    thing = select.variables[0]
    return thing.classes[0] if is_plain and len(thing.classes) == 1 and not (thing.keys or thing.without) else ""
