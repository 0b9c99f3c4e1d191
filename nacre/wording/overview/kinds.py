"""The main kinds of things of a graph: Schema -> MainKinds, the largest first."""

from dataclasses import dataclass
from math import log

from nacre.language.forms.nouns import join_names, number_with_noun, plural
from nacre.records.plan import Variable
from nacre.records.schema import Class, Group, Predicate, Schema
from nacre.wording.labels.class_nouns import class_noun
from nacre.wording.labels.predicate_labels import is_describable

# Kinds that a sentence lists, and tables that are looked at for them (given).
MAX_KINDS, MAX_GROUPS = 8, 32
# Kinds that say what a graph is about (given).
MAX_SUBJECTS = 3
# Letters of a noun that a sentence may have (given).
MAX_NOUN = 50
# Share of the things of a class that have its usual properties (given).
MIN_SHARE = 0.5


@dataclass(frozen=True)
class MainKind:
    """A kind of things: its noun, its number of things, and its most specific class (None for things without one)."""

    noun: str
    count: int
    own: Class | None

    @property
    def many(self) -> str:
        """The noun for several."""
        return plural(self.noun)


@dataclass(frozen=True)
class Subject:
    """A class that a graph is about, with its noun and the properties that most of its things have."""

    own: Class
    noun: str
    usual: tuple[Predicate, ...]

    @property
    def many(self) -> str:
        """The noun for several."""
        return plural(self.noun)


def main_kinds(schema: Schema) -> tuple[MainKind, ...]:
    """The kinds that hold most things. Tables of one noun count as one kind; hidden ones and unwieldy nouns are left
    out."""
    return schema.cache.get(main_kinds, lambda: _main_kinds(schema))


def subjects(schema: Schema) -> tuple[Subject, ...]:
    """The classes of the main kinds that a graph is about: those of many things with many properties come first."""
    return schema.cache.get(subjects, lambda: _subjects(schema))


def about_sentence(schema: Schema) -> str:
    """What a graph is about, in one short sentence; a graph without things says how it gets some."""
    kinds = main_kinds(schema)
    return f"This graph is about {_about(schema)}." if kinds else kinds_sentence(schema)


def kinds_sentence(schema: Schema) -> str:
    """What a graph is about, in one sentence; a graph without things says how it gets some."""
    kinds = main_kinds(schema)
    if not kinds:
        if schema.entities:
            return (
                f"This graph holds {number_with_noun(schema.entities, 'thing')} in "
                f"{number_with_noun(schema.triples, 'statement')}, and it does not say what kinds of things they are."
            )
        return (
            "This graph holds no things and no statements yet, so there is nothing in it to ask about; "
            "it can be filled by reading in a file of data."
        )
    about = _about(schema)
    more = _number_of_groups(schema) - len(kinds)
    listed = [number_with_noun(kind.count, kind.noun) for kind in kinds]
    listed += [f"{more:,} more kinds of things" if more > 1 else "another kind of things"] if more > 0 else []
    whole = f"{number_with_noun(schema.entities, 'thing')} in {number_with_noun(schema.triples, 'statement')}"
    if len(listed) == 1:
        return (
            f"This graph is about {about}: it holds {listed[0]}, with {number_with_noun(schema.triples, 'statement')}."
        )
    return f"This graph is about {about}. It holds {join_names(listed)}: {whole} in all."


def _about(schema: Schema) -> str:
    nouns = [subject.many for subject in subjects(schema)] or [kind.many for kind in main_kinds(schema)]
    return join_names(nouns[:MAX_SUBJECTS])


def _subjects(schema: Schema) -> tuple[Subject, ...]:
    found: dict[str, Subject] = {}
    for own in dict.fromkeys(kind.own for kind in main_kinds(schema) if kind.own is not None):
        noun = class_noun(Variable("thing", (own.iri,)), schema)
        usual = [p for p in shown_facts(schema) if p.domains.get(own.iri, 0) >= MIN_SHARE * own.count]
        usual.sort(key=lambda p: (-p.domains[own.iri], p.iri))
        if noun and len(noun) <= MAX_NOUN:
            found.setdefault(noun, Subject(own, noun, tuple(usual)))
    return tuple(sorted(found.values(), key=lambda s: (-log(1 + s.own.count) * (1 + len(s.usual)), s.noun)))


def shown_facts(schema: Schema) -> list[Predicate]:
    """The predicates that an overview may mention."""
    return schema.cache.get(shown_facts, lambda: [p for p in schema.shown_predicates if is_describable(p, schema)])


def _main_kinds(schema: Schema) -> tuple[MainKind, ...]:
    found: dict[str, MainKind] = {}
    for group in _shown_groups(schema)[:MAX_GROUPS]:
        noun = class_noun(Variable("thing", group.classes, group.without), schema)
        if not noun or len(noun) > MAX_NOUN:
            continue
        earlier = found.get(noun)
        count = group.count + (earlier.count if earlier else 0)
        found[noun] = MainKind(noun, count, earlier.own if earlier else schema.smallest_class(group.classes))
    return tuple(sorted(found.values(), key=lambda kind: (-kind.count, kind.noun)))[:MAX_KINDS]


def _number_of_groups(schema: Schema) -> int:
    return len({group.label for group in _shown_groups(schema)})


def _shown_groups(schema: Schema) -> list[Group]:
    hidden = {c.iri for c in schema.classes if c.hidden}
    shown = [
        group
        for group in schema.groups
        if group.count and group.classes and group.relation not in schema.hidden_relations
        if not hidden.intersection(group.classes)
    ]
    return sorted(shown, key=lambda group: (-group.count, group.label, group.relation))
