"""Name things without a label: class + IRIs -> the values of the property that tells them apart."""

from collections.abc import Mapping, Sequence

from nacre.language.base import language
from nacre.language.tokens import fold
from nacre.plans.sql.to_sql import to_sql
from nacre.plans.statement import RunStatement
from nacre.records.plan import Attribute, Filter, Itself, Select, Variable
from nacre.records.schema import Predicate, Schema
from nacre.wording.labels.class_nouns import class_noun
from nacre.wording.labels.predicate_labels import predicate_label

# the smallest share of things with the property, and of its values that only one thing has (given)
MIN_KNOWN_SHARE, MIN_UNIQUE_SHARE = 0.9, 0.9
# longer texts describe a thing, and do not name it
WORDS = 8


def identifying_names(kind: str, iris: Sequence[str], schema: Schema, run: RunStatement) -> Mapping[str, str]:
    """The names of the things of a class by IRI; empty if no property tells them apart."""
    predicate = _naming_predicate(kind, schema)
    if predicate is None or not iris:
        return {}
    things = Variable("called", (kind,), keys=tuple(sorted(set(iris))))
    value = Attribute(things.name, predicate.iri)
    statement = to_sql(Select((Itself(things.name), value), (things,), (), (Filter(value, "known"),)), schema)
    found = run(statement)
    if found is None:
        return {}
    key = next(i for i, o in enumerate(statement.outputs) if o.role == "key")
    shown = [i for i, o in enumerate(statement.outputs) if o.role != "key"][-1]
    names = {str(row[key]): str(row[shown]) for row in found[0] if row[shown] is not None}
    if len(set(names.values())) < len(names) or any(len(name.split()) > WORDS for name in names.values()):
        return {}
    return names


def _naming_predicate(kind: str, schema: Schema) -> Predicate | None:
    """The text property that nearly each thing has its own value of: named like the class, a name, or any other."""
    if kind not in schema.class_of:
        return None
    count, noun, naming = (
        schema.class_of[kind].count,
        class_noun(Variable("x", (kind,)), schema),
        language().words["naming"],
    )
    own = [
        p
        for p in schema.predicates
        if p.has_literals and p.datatype == "text" and p.functional and p.role in ("fact", "name")
        if p.domains.get(kind, 0) >= MIN_KNOWN_SHARE * count and p.objects >= MIN_UNIQUE_SHARE * p.subjects
    ]
    return min(own, key=lambda p: _naming_rank(predicate_label(p.iri, schema).full, noun, naming), default=None)


def _naming_rank(label: str, noun: str, naming: frozenset[str]) -> tuple[bool, bool, str]:
    words = label.casefold().split()
    return (words[-1:] != noun.casefold().split()[-1:], not set(words) & naming, label)


def is_part_of_name(label: str, value: str, name: str) -> bool:
    """Whether a value is a first or last name that is part of a thing's name.

    >>> is_part_of_name("first name", "Ann", "Ann Rye"), is_part_of_name("middle name", "Jo", "Ann Rye")
    (True, False)
    """
    words, kinds = language().words, set(label.split())
    naming = kinds & words["naming"] and kinds & (words["given"] | words["family"])
    return bool(naming) and set(fold(value).split()) <= set(fold(name).split())
