"""Characterise a thing or a group by its facts: Profile -> sentences with their triples, the most telling first."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from records.evidence import Cell, Evidence, Sentence
from records.plan import Attribute, Edge, Filter, Itself, Profile, Select, Variable
from records.schema import Predicate, Schema
from semantics.comparison import Side, comparison
from semantics.description import SENTENCES, description
from semantics.english import synonyms
from semantics.labels_said import class_noun, label_of
from semantics.nouns import article, counted, joined, plural
from semantics.select_words import name_of
from semantics.to_sql import Statement, to_sql
from semantics.to_words import predicate_words, select_words
from semantics.values_said import say, shown_name
from semantics.words import tokens
from stores.tables import Tables

Run = Callable[[Statement], tuple[list[tuple[Cell, ...]], bool] | None]
Triple = tuple[str, str, str]

ITEMS = 12
# sentences of what is written about a thing, beside its facts
WRITTEN = 2
LONGEST = 12
_SHARED = frozenset("share common both same alike similar similarity".split())


@dataclass(frozen=True)
class _Item:
    """One value that members have: how many of them, and how many things in all."""

    label: str
    members: int
    everywhere: int
    triples: tuple[Triple, ...]


def profile_sentences(profile: Profile, tables: Tables, run: Run, round: int) -> Sequence[Evidence]:
    """Sentences about the members of a profile: descriptions first, then what they have, the most telling first.

    With a second group: what both share if the topic asks for that, else what the second has not.
    """
    schema = tables.schema
    members = _members(profile.members, schema, run)
    if not members:
        return []
    others = _members(profile.against, schema, run) if profile.against else {}
    topic = {form for t in tokens(profile.topic) for form in synonyms(t.lemma)}
    shared = bool(topic & _SHARED)
    variable = _variable(profile.members)
    if others and not shared:
        sides = _side(profile.members, members, schema), _side(profile.against, others, schema)
        compared = comparison(*sides, schema, run)
        return [replace(compared, round=round)] if compared is not None else []
    if len(members) == 1:
        return _described(members, variable, topic, schema, run, round)
    told: list[Sentence] = []
    facts: list[tuple[float, Sentence]] = []
    for things, kind in [(members, variable), *_owners(members, variable, schema, run)]:
        name = select_words(profile.members, schema) if kind is variable else ""
        writer = _Writer(things, kind, topic, schema, run, round, _short(name or _name(list(things.values()))))
        told += writer.descriptions()[: 3 if len(things) > 1 else 4]
        facts += writer.facts(others, shared)
    facts.sort(key=lambda f: (-f[0], f[1].text))
    ordered = [*told[:4], *(e for _, e in facts)]
    return [replace(e, score=1.0 - i / 100) for i, e in enumerate(ordered[:SENTENCES])]


def _described(
    members: dict[str, str], variable: Variable, topic: set[str], schema: Schema, run: Run, round: int
) -> list[Sentence]:
    """One thing: what it is, the first sentences of what is written about it, then its facts."""
    (iri, label), *_ = members.items()
    name = _named(label, iri, variable, schema)
    facts = description(iri, name, _thing(members, variable), topic, schema, run)
    written: list[Sentence] = []
    for things, kind in [(members, variable), *_owners(members, variable, schema, run)]:
        written += _Writer(things, kind, topic, schema, run, round).descriptions()
    ordered = [*facts[:1], *written[:WRITTEN], *facts[1:]] if not topic else [*written[:WRITTEN], *facts]
    return [replace(e, round=round, score=1.0 - i / 100) for i, e in enumerate(ordered[:SENTENCES])]


def _named(label: str, iri: str, variable: Variable, schema: Schema) -> str:
    named = replace(variable, keys=(iri,), label=shown_name(label, (iri,)))
    return name_of(replace(named, label=label), class_noun(variable, schema)) if named.label == label else named.label


def _side(select: Select | None, members: dict[str, str], schema: Schema) -> Side:
    assert select is not None
    names = [_named(label, iri, _variable(select), schema) for iri, label in members.items()]
    name = names[0] if len(names) == 1 else select_words(select, schema)
    return Side(name, tuple(members), _thing(members, _variable(select)))


def _owners(
    members: dict[str, str], variable: Variable, schema: Schema, run: Run
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


def overview_sentences(schema: Schema, round: int) -> tuple[Sentence, ...]:
    """What the graph holds: its kinds of things with their numbers, and what is known of the largest."""
    groups = sorted(schema.groups, key=lambda g: (-g.count, g.label))
    if not groups:
        return ()
    kinds = [counted(g.count, class_noun(Variable("x", g.classes, g.without), schema)) for g in groups]
    more = len(kinds) - ITEMS
    listed = joined([*kinds[:ITEMS], f"{more} more kinds"] if more > 1 else kinds)
    text = f"This graph holds {schema.entities:,} things in {schema.triples:,} statements: {listed}."
    found = [Sentence("sql", round, text=text, title="this graph", score=1.0)]
    for group in groups[:4]:
        columns = {c.predicate for c in schema.relation_of[group.relation].columns}
        columns |= {p for p in schema.junctions if set(group.classes) & set(schema.predicate_of[p].domains)}
        known = [p for p in schema.predicates if p.iri in columns and p.role == "fact"]
        names = joined(list(dict.fromkeys(label_of(p.iri, schema).one for p in known))[:10])
        if names:
            noun = class_noun(Variable("x", group.classes, group.without), schema)
            said = f"What is known of {article(noun)}: {names}."
            found.append(Sentence("sql", round, text=said, title=group.label, score=0.9))
    return tuple(found)


@dataclass(frozen=True)
class _Writer:
    """Writes the sentences of one group of things."""

    members: dict[str, str]
    variable: Variable
    topic: set[str]
    schema: Schema
    run: Run
    round: int
    name: str = ""

    def descriptions(self) -> list[Sentence]:
        """What literals of whole sentences say."""
        return [
            e
            for p in self.schema.predicates
            if p.role == "text" and p.has_literals
            for e in _descriptions(p, self.members, self.variable, self.schema, self.run, self.round)
        ]

    def facts(self, others: dict[str, str], shared: bool) -> list[tuple[float, Sentence]]:
        """A sentence a predicate, with how telling it is."""
        name = self.name or _name(list(self.members.values()))
        found = []
        for predicate in self.schema.predicates:
            if predicate.role != "fact" or (predicate.has_links and set(predicate.ranges) <= {""}):
                # a link to something not described here ("homepage") characterises nothing
                continue
            if predicate.has_links:
                items = _linked(predicate, self.members, self.variable, self.schema, self.run)
                if others:
                    theirs = {i.label for i in _linked(predicate, others, self.variable, self.schema, self.run)}
                    items = [i for i in items if (i.label in theirs) == shared]
                evidence = _sentence(predicate, self.schema, items, self.members, name, self.topic, self.round)
            elif not shared:
                evidence = _value_sentence(
                    predicate, self.members, self.variable, self.schema, self.run, name, self.topic, self.round
                )
            else:
                continue
            if evidence is not None:
                found.append(evidence)
        return found


def _members(select: Select | None, schema: Schema, run: Run) -> dict[str, str]:
    rows = run(to_sql(select, schema)) if select is not None else None
    return {str(row[0]): str(row[1]) for row in rows[0]} if rows else {}


def _variable(select: Select) -> Variable:
    answer = select.answers[0]
    assert isinstance(answer, Itself)
    return next(v for v in select.variables if v.name == answer.variable)


def _name(labels: list[str]) -> str:
    return labels[0] if len(labels) == 1 else f"the {len(labels)} of them"


def _short(name: str) -> str:
    return name if name.startswith("the ") or len(name.split()) > LONGEST else f"the {name}"


def _thing(members: dict[str, str], variable: Variable) -> Variable:
    return Variable("thing", variable.classes, variable.without, tuple(sorted(members)))


def _descriptions(
    predicate: Predicate, members: dict[str, str], variable: Variable, schema: Schema, run: Run, round: int
) -> list[Sentence]:
    attribute = Attribute("thing", predicate.iri)
    rows = run(to_sql(Select((Itself("thing"), attribute), (_thing(members, variable),)), schema))
    return [
        Sentence(
            "sql",
            round,
            text=str(row[-1]).strip(),
            title=str(row[1]),
            keys=(str(row[0]),),
            triples=((str(row[0]), predicate.iri, str(row[-1])),),
        )
        for row in (rows[0] if rows else [])
    ]


def _linked(predicate: Predicate, members: dict[str, str], variable: Variable, schema: Schema, run: Run) -> list[_Item]:
    """The things that members link to, with how common each is among all that have the predicate."""
    select = Select(
        (Itself("thing"), Itself("value")),
        (_thing(members, variable), Variable("value")),
        (Edge("thing", predicate.iri, "value"),),
    )
    rows = run(to_sql(select, schema))
    if not rows or not rows[0]:
        return []
    having: dict[tuple[str, str], list[str]] = defaultdict(list)
    for thing, _, value, label in rows[0]:
        having[(str(value), str(label))].append(str(thing))
    keys = tuple(sorted({value for value, _ in having}))[:400]
    everywhere = _everywhere(predicate, keys, variable, schema, run)
    return [
        _Item(
            label,
            len(things),
            everywhere.get(value, len(things)),
            tuple((t, predicate.iri, value) for t in things[:20]),
        )
        for (value, label), things in having.items()
    ]


def _everywhere(
    predicate: Predicate, values: tuple[str, ...], variable: Variable, schema: Schema, run: Run
) -> dict[str, int]:
    kind = Variable("thing", variable.classes, variable.without)
    select = Select(
        (Itself("thing"), Itself("value")),
        (kind, Variable("value", keys=values)),
        (Edge("thing", predicate.iri, "value"),),
    )
    rows = run(to_sql(select, schema))
    counts: dict[str, int] = defaultdict(int)
    for row in rows[0] if rows else []:
        counts[str(row[2])] += 1
    return counts


def _sentence(
    predicate: Predicate,
    schema: Schema,
    items: list[_Item],
    members: dict[str, str],
    name: str,
    topic: set[str],
    round: int,
) -> tuple[float, Sentence] | None:
    if not items:
        return None
    many = len(members) > 1

    def telling(item: _Item) -> tuple[float, str]:
        share = item.members / len(members)
        lift = item.members / max(1, item.everywhere)
        return -(2.0 * bool(_lemmas(item.label) & topic) + share * (1.0 if many else 0.0) + lift), item.label

    chosen = sorted(items, key=telling)[:ITEMS]
    label = predicate_words(predicate.iri, schema)
    said = label_of(predicate.iri, schema)
    names, many_names = joined([i.label for i in chosen]), len(items) > 1
    verb = ("include" if len(chosen) < len(items) else "are") if many_names else "is"
    noun = said.one if said.kind == "noun" else f"“{said.one}”"
    text = f"The {plural(noun) if many_names and said.kind == 'noun' else noun} of {name} {verb} {names}."
    if said.kind == "verb":
        text = f"{name} {said.many if many else said.one} {names}."
        text = text[:1].upper() + text[1:]
    about = bool(_lemmas(label) & topic) + 0.5 * any(_lemmas(i.label) & topic for i in chosen)
    weight = about + min(1.0, len(items) / 5) + 0.3 * max(i.members / max(1, i.everywhere) for i in chosen)
    triples = tuple(t for i in chosen for t in i.triples[:3])
    return weight, Sentence("sql", round, text=text, title=name, keys=tuple(members)[:50], triples=triples)


def _value_sentence(
    predicate: Predicate,
    members: dict[str, str],
    variable: Variable,
    schema: Schema,
    run: Run,
    name: str,
    topic: set[str],
    round: int,
) -> tuple[float, Sentence] | None:
    attribute = Attribute("thing", predicate.iri)
    kind = _thing(members, variable)
    rows = run(to_sql(Select((Itself("thing"), attribute), (kind,), (), (Filter(attribute, "known"),)), schema))
    if not rows or not rows[0]:
        return None
    label = predicate_words(predicate.iri, schema)
    if predicate.minimum is not None and len(rows[0]) > 1:
        numbers = [row[3] for row in rows[0] if isinstance(row[3], (int, float))]
        if not numbers:
            return None
        said = f"from {say(min(numbers))} to {say(max(numbers), predicate.unit)}"
    else:
        said = joined([say(value) for value in dict.fromkeys(str(row[-1]) for row in rows[0])][:6])
    triples = tuple((str(row[0]), predicate.iri, str(row[-1])) for row in rows[0][:20])
    weight = 0.6 * bool(_lemmas(label) & topic) + 0.2
    name_of = label_of(predicate.iri, schema)
    noun = f"“{name_of.one}”" if name_of.kind != "noun" else name_of.one
    several = len(rows[0]) > 1 and name_of.kind == "noun" and not said.startswith("from ")
    verb = "ranges" if said.startswith("from ") else "are" if several else "is"
    text = f"The {plural(noun) if several else noun} of {name} {verb} {said}."
    return weight, Sentence("sql", round, text=text, title=name, keys=tuple(members)[:50], triples=triples)


def _lemmas(text: str) -> set[str]:
    return {t.lemma for t in tokens(text)}
