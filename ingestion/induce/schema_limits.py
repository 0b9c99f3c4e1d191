"""Limits of the texts of a schema, which each question reads: Schema -> the same with labels and comments cut."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from nacre.records.schema import Class, Predicate, Schema

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
