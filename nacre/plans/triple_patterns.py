"""Write a question as triples with placeholders: Plan + Schema -> QuestionTriples, and assertions about them.

The assertions are those of the validator of Chatty-KG (section 4.2).
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nacre.plans.selects import selects_of
from nacre.records.answer import Assertion
from nacre.records.plan import (
    ARITHMETIC,
    ELAPSED,
    Aggregate,
    Ask,
    Attribute,
    Compute,
    Filter,
    Itself,
    Plan,
    Profile,
    Select,
    aggregated_value,
)
from nacre.records.schema import Schema

IS_A, NUMBER_OF = "is a", "is the number of"

MOST_NAMES = 3  # names of a list that are shown


class QuestionTriples(NamedTuple):
    """The triples of a question."""

    triples: tuple[tuple[str, str, str], ...]
    truth: bool  # it asks for yes or no
    known: frozenset[str]  # the relations of the graph
    formed: bool  # all variables are introduced, or the query could be parsed
    things: tuple[str, ...] = ()  # the IRIs that a model's query names


def question_triples(plan: Plan, schema: Schema) -> QuestionTriples:
    """The triples that a plan asks for, without its order and limit."""
    body = plan.body
    bodies = [body] if not isinstance(body, Profile) else [body.members, *([body.against] if body.against else [])]
    selects = [select for each in bodies for select in selects_of(each)]
    found = [triple for place, select in enumerate(selects) for triple in _of_select(select, schema, "'" * place)]
    if isinstance(body, Profile):
        # a description asks for whatever is known
        found += [(name, "?property", "?value") for name in _names(body.members, "").values()]
    truth = isinstance(body, Ask) or (isinstance(body, Compute) and body.op not in ARITHMETIC | ELAPSED)
    return QuestionTriples(tuple(dict.fromkeys(found)), truth, known_relations(schema), all(map(_is_formed, selects)))


def known_relations(schema: Schema) -> frozenset[str]:
    """The relations that the triples of a question may have."""
    return frozenset((IS_A, NUMBER_OF, *schema.labels))


def validator_assertions(question: QuestionTriples) -> list[Assertion]:
    """The four assertions of Chatty-KG's validator."""
    ends = [end for subject, _, object_ in question.triples for end in (subject, object_)]
    whole = all(
        subject and object_ and (is_placeholder(name) or name.removeprefix("not ") in question.known)
        for subject, name, object_ in question.triples
    )
    return [
        Assertion(says="the query is well formed", holds=question.formed),
        Assertion(says="each triple has a subject, a known relation and an object", holds=whole),
        Assertion(says="a triple names what the graph knows", holds=any(not is_placeholder(end) for end in ends)),
        Assertion(
            says="something is unknown, or yes or no is asked", holds=question.truth or any(map(is_placeholder, ends))
        ),
    ]


def is_placeholder(end: str) -> bool:
    """Whether an end of a triple is a placeholder, for an answer or for a thing in between."""
    return end.startswith("?")


def _names(select: Select, mark: str) -> dict[str, str]:
    """The names of the variables: labels of known things, placeholders for others."""
    return {v.name: _named(v.label, v.keys) or f"?{v.name}{mark}" for v in select.variables}


def _of_select(select: Select, schema: Schema, mark: str) -> Iterator[tuple[str, str, str]]:
    names = _names(select, mark)
    for variable in select.variables:
        for iri in variable.classes[:1]:
            known = schema.class_of.get(iri)
            yield names[variable.name], IS_A, known.label if known else iri
        if variable.any_of:
            labels = (known.label if (known := schema.class_of.get(iri)) else iri for iri in variable.any_of)
            yield names[variable.name], IS_A, _named("", tuple(labels))
    for edge in select.edges:
        yield names.get(edge.subject, ""), _label(edge.predicate, schema), names.get(edge.object, "")
    for condition in select.filters:
        yield from _of_filter(condition, names, schema, mark)
    ordered = [select.order.by] if select.order else []
    for term in (*select.answers, *select.by, *ordered):
        value = aggregated_value(term)
        if isinstance(value, Attribute):
            yield _valued(value, names, schema, mark)
        elif isinstance(term, Aggregate):
            yield f"?count{mark}", NUMBER_OF, names.get(value.variable, "")


def _of_filter(condition: Filter, names: dict[str, str], schema: Schema, mark: str) -> Iterator[tuple[str, str, str]]:
    value = condition.left.of if isinstance(condition.left, Aggregate) else condition.left
    if not isinstance(value, Attribute):
        return
    subject, relation, unknown = _valued(value, names, schema, mark)
    right = condition.right
    if condition.op in ("=", "in") and condition.left is value and isinstance(right, str | int | float | tuple):
        values = right if isinstance(right, tuple) else (right,)
        yield subject, f"not {relation}" if condition.negated else relation, _named("", tuple(map(str, values)))
    else:
        yield subject, relation, unknown
    if isinstance(right, Attribute):
        yield _valued(right, names, schema, mark)


def _valued(value: Attribute, names: dict[str, str], schema: Schema, mark: str) -> tuple[str, str, str]:
    relation = _label(value.predicate, schema)
    return names.get(value.variable, ""), relation, f"?{relation.replace(' ', '_')}{mark}"


def _named(label: str, keys: Sequence[str]) -> str:
    more = f" or {len(keys) - MOST_NAMES} more" if len(keys) > MOST_NAMES else ""
    return label or " or ".join(keys[:MOST_NAMES]) + more


def _label(predicate: str, schema: Schema) -> str:
    known = schema.predicate_of.get(predicate)
    return known.label if known else predicate


def _is_formed(select: Select) -> bool:
    names = {variable.name for variable in select.variables}
    used = {name for edge in select.edges for name in (edge.subject, edge.object)} | set(select.group)
    ordered = [select.order.by] if select.order else []
    for term in (*select.answers, *select.by, *ordered, *(f.left for f in select.filters)):
        value = aggregated_value(term)
        used |= {value.variable} if isinstance(value, Attribute | Itself) else set()
    return used <= names
