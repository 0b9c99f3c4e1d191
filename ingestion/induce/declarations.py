"""What a graph declares about its classes and predicates: Facts -> labels, comments, parents, inverses.

Labels and comments are cut to the limits of a schema, which each question reads.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ingestion.induce.names import readable_name
from ingestion.meaning.draft import MAX_NEAREST, Closure, transitive_closure
from ingestion.meaning.spellings import SPELLING_REASON
from ingestion.read.facts import Facts, unique_counts
from ingestion.vocabulary import (
    ALTERNATIVE,
    COMMENT_PREDICATES,
    INVERSE,
    NOTATION,
    SCHEMA_PREDICATES,
    SCHEMA_TYPES,
    SKOS,
    SUBCLASS,
    SUBPROPERTY,
    TYPE,
    language_rank,
    local_name,
    name_rank,
    vocabulary_labels,
)
from nacre.language.data import word_list
from nacre.records.schema import Class, Predicate, Schema

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass
class Declarations:
    """The declarations of a graph. `is_schema[t]`: the term belongs to the schema and is not a thing of the data."""

    is_schema: "NDArray[np.bool_]"
    number_of: dict[str, int]
    classes: set[str]
    labels: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    comments: dict[str, str] = field(default_factory=dict)
    alternatives: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    class_parents: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    predicate_parents: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    inverses: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def label(self, iri: str) -> str:
        """The preferred label of a class or predicate, or ""."""
        return self.labels[iri][0][:MAX_LABEL] if self.labels.get(iri) else ""

    def other_labels(self, iri: str) -> tuple[str, ...]:
        """All other labels of a class or predicate."""
        others = [*self.labels.get(iri, [])[1:], *self.alternatives.get(iri, [])]
        return other_labels(others)

    def ancestors(self, iri: str) -> frozenset[str]:
        """The class and its ancestors, in large hierarchies the nearest ones; cycles are allowed."""
        return self._closure.ancestors.get(iri, frozenset()) | {iri}

    @property
    def limits(self) -> tuple[str, ...]:
        """What is not considered because it would be too much."""
        return () if self._closure.complete else (f"superclasses: only the {MAX_NEAREST} nearest of each class",)

    @cached_property
    def _closure(self) -> Closure:
        return transitive_closure(self.class_parents)


def read_declarations(facts: Facts) -> Declarations:
    """Separate declarations of classes and predicates from the data; if there is nothing else, they are the data."""
    texts = facts.texts
    number_of = {texts[n]: n for n in facts.predicates}
    type_number = number_of.get(TYPE, -1)
    type_rows = np.flatnonzero(facts.predicate == type_number)
    if (respelt := facts.aside.get(SPELLING_REASON)) is not None:
        type_rows = np.setdiff1d(type_rows, respelt)
    used_classes, _ = unique_counts(facts.object[type_rows])
    is_schema = _schema_terms(facts, number_of, type_rows, used_classes)
    if facts.things is not None:
        is_schema[facts.things] = False
    elif is_schema[facts.subject].all():
        is_schema[:] = False
    declared = {texts[n] for n in used_classes.tolist() if not facts.is_literal[n]} - SCHEMA_TYPES
    statements = Declarations(is_schema, number_of, declared)
    described = np.zeros(len(texts), dtype=bool)
    described[used_classes] = True
    described[list(number_of.values())] = True
    described |= is_schema
    if facts.memberships is not None:
        described[facts.memberships[:, 1]] = True
    for iri in (SUBCLASS, SUBPROPERTY, INVERSE):
        if iri in number_of:
            rows = facts.predicate == number_of[iri]
            described[facts.subject[rows]] = True
    _read(facts, np.flatnonzero(described[facts.subject]), statements)
    if facts.things is not None:
        statements.classes -= {texts[n] for n in facts.things.tolist()}
    return statements


def _schema_terms(
    facts: Facts, number_of: dict[str, int], type_rows: "NDArray[np.intp]", used_classes: "NDArray[np.int32]"
) -> "NDArray[np.bool_]":
    size = len(facts.texts)
    schema_types = np.zeros(size, dtype=bool)
    schema_types[[n for n in used_classes.tolist() if facts.texts[n] in SCHEMA_TYPES]] = True
    declared, other = np.zeros(size, dtype=bool), np.zeros(size, dtype=bool)
    of_schema = schema_types[facts.object[type_rows]]
    declared[facts.subject[type_rows[of_schema]]] = True
    other[facts.subject[type_rows[~of_schema]]] = True
    used = np.zeros(size, dtype=bool)
    used[list(number_of.values())] = True
    used[used_classes] = True
    for iri in SCHEMA_PREDICATES & number_of.keys():
        used[facts.subject[facts.predicate == number_of[iri]]] = True
    is_schema = (declared | used) & ~other
    is_schema &= ~facts.is_literal
    return _with_blank_parts(facts, is_schema, other)


def _with_blank_parts(facts: Facts, is_schema: "NDArray[np.bool_]", other: "NDArray[np.bool_]") -> "NDArray[np.bool_]":
    """Blank nodes that only schema statements lead to (lists, restrictions) also belong to the schema."""
    blank = facts.kinds("blank")
    links = np.flatnonzero(blank[facts.object])
    sources, targets = facts.subject[links], facts.object[links]
    while True:
        led = np.zeros(len(is_schema), dtype=bool)
        led[targets[is_schema[sources]]] = True
        led[targets[~is_schema[sources]]] = False
        new = led & ~is_schema & ~other
        if not new.any():
            return is_schema
        is_schema = is_schema | new


def _read(facts: Facts, rows: "NDArray[np.intp]", statements: Declarations) -> None:
    texts = facts.texts
    names: dict[str, list[tuple[int, tuple[int, str], str]]] = defaultdict(list)
    notations: dict[str, list[str]] = defaultdict(list)
    comments: dict[str, list[tuple[tuple[int, str], str]]] = defaultdict(list)
    for row in rows.tolist():
        predicate, number = texts[facts.predicate[row]], facts.object[row]
        kind, _, language = facts.sorts[facts.sort_of[number]]
        subject, value = texts[facts.subject[row]], texts[number]
        if kind == "literal":
            rank = name_rank(predicate)
            if rank is not None:
                names[subject].append((rank, language_rank(language, facts.languages), value))
            elif predicate == NOTATION:
                notations[subject].append(value)
            elif predicate == ALTERNATIVE:
                statements.alternatives[subject].append(value)
            elif predicate in COMMENT_PREDICATES:
                comments[subject].append((language_rank(language, facts.languages), value))
        elif kind == "iri":
            if predicate == SUBCLASS and value != subject:
                statements.class_parents[subject].append(value)
                statements.classes |= {subject, value}
            elif predicate == SUBPROPERTY and value != subject:
                statements.predicate_parents[subject].append(value)
            elif predicate == INVERSE:
                statements.inverses[subject].append(value)
                statements.inverses[value].append(subject)
            elif predicate == TYPE and value in SCHEMA_TYPES and value.endswith("Class"):
                statements.classes.add(subject)
    for subject, found in names.items():
        statements.labels[subject] = list(dict.fromkeys(value for _, _, value in sorted(found)))
    for subject in notations.keys() - names.keys():
        statements.labels[subject] = sorted(notations[subject])
    if facts.memberships is not None:
        used = statements.number_of.keys()
        # without other SKOS predicates, an alternative label is only another name
        alone = {ALTERNATIVE} if {iri for iri in used if iri.startswith(SKOS)} == {ALTERNATIVE} else set()
        for iri in vocabulary_labels().keys() & used - statements.labels.keys() - alone:
            statements.labels[iri] = list(vocabulary_labels()[iri])
    for iri in statements.number_of:
        if readable_name(local_name(iri)).lower() in word_list("ingestion", "alternative_name_labels"):
            statements.alternatives[iri] += vocabulary_labels()[ALTERNATIVE]
    statements.comments = {subject: min(found)[1][:MAX_COMMENT] for subject, found in comments.items()}
    for lists in (
        statements.alternatives,
        statements.class_parents,
        statements.predicate_parents,
        statements.inverses,
    ):
        for key, values in lists.items():
            lists[key] = sorted(set(values))


# characters of a label of a class or predicate, stated or from its IRI (given)
MAX_LABEL = 300

# other labels of a class or predicate (given)
MAX_OTHER_LABELS = 100

# characters of a comment; schema.org's longest one has 1,500 (given)
MAX_COMMENT = 2000

DescribedTerm = TypeVar("DescribedTerm", Class, Predicate)


def limit_schema(schema: Schema) -> Schema:
    """The schema with labels, other labels and comments within their limits."""
    return replace(
        schema,
        classes=tuple(_limit_texts(each) for each in schema.classes),
        groups=tuple(replace(each, label=each.label[:MAX_LABEL]) for each in schema.groups),
        predicates=tuple(_limit_texts(each) for each in schema.predicates),
    )


def other_labels(labels: Iterable[str]) -> tuple[str, ...]:
    """Distinct labels within their limits."""
    return tuple(dict.fromkeys(label[:MAX_LABEL] for label in labels))[:MAX_OTHER_LABELS]


def _limit_texts(each: DescribedTerm) -> DescribedTerm:
    return replace(
        each,
        label=each.label[:MAX_LABEL],
        comment=each.comment[:MAX_COMMENT],
        alt_labels=other_labels(each.alt_labels),
    )
