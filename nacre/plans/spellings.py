"""Conditions on values that are written in several ways: a plan -> the plan with all spellings, and what it joins.

Spellings that differ by case, spaces, Unicode form or punctuation alone are one value. Variants are joined too, but
named; values that may be misspellings are only named, and so are groups by values that may be one.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from nacre.language.spellings import is_similar, is_variant, same_spellings, spelling_key
from nacre.plans.selects import answer_variable
from nacre.records.evidence import OtherSpelling
from nacre.records.plan import Aggregate, Ask, Attribute, Combine, Compute, Filter, PlanTerm, Select
from nacre.records.schema import DEPRECATED, Predicate, Schema

_NO = (("!=", True), ("=", False))

# spellings that are named
MAX_NAMED = 5


def join_spellings(body: Select | Combine | Ask | Compute, schema: Schema) -> Select | Combine | Ask | Compute:
    """The plan whose conditions on a value hold for all its spellings and variants."""
    if isinstance(body, Ask):
        return replace(body, select=_joined(body.select, schema))
    if isinstance(body, Select):
        return _joined(body, schema)
    return replace(body, left=_joined(body.left, schema), right=_joined(body.right, schema))


def other_spellings(
    select: Select, schema: Schema, things: Callable[[Select, str], tuple[Sequence[object], bool] | None]
) -> Iterator[OtherSpelling]:
    """The variants that were joined, and likely misspellings of named values, each with its number of things."""
    for place, each in enumerate(select.filters):
        value = _value(each)
        if value is None:
            continue
        known = _values(each.left, schema, value)
        same = same_spellings(value, known)
        variants = _variants(value, known)
        named = [(other, True) for other in variants if other not in same]
        near = [other for other in known if other not in same and other not in variants]
        named += [(other, False) for other in near if is_similar(value, other)]
        for other, is_joined in named[:MAX_NAMED]:
            filters = list(select.filters)
            filters[place] = replace(each, op="in", right=(other,), negated=False)
            one = replace(select, filters=tuple(filters), order=None, limit=None, offset=0)
            found = things(one, answer_variable(one))
            count = None if found is None or found[1] else len(found[0])
            yield OtherSpelling(value, other, count, is_joined)
    counted = [each.of for each in select.answers if isinstance(each, Aggregate) and each.function == "count"]
    for term in (*select.by, *counted):
        about = _texts(term, schema)
        left = list(about.values) if about else []
        for value, *others in about.spellings[:MAX_NAMED] if about else ():
            yield from (OtherSpelling(value, other, None, False) for other in others[:MAX_NAMED])
        while left:
            value, *others = left
            key, alike = spelling_key(value), list[str]()
            for other in others:
                if spelling_key(other) == key or is_variant(value, other) or is_similar(value, other):
                    alike.append(other)
            yield from (OtherSpelling(value, other, None, False) for other in alike[:MAX_NAMED])
            left = [other for other in others if other not in alike]


def _joined(select: Select, schema: Schema) -> Select:
    return replace(select, filters=tuple(_condition(each, schema) for each in select.filters))


def _condition(condition: Filter, schema: Schema) -> Filter:
    if isinstance(condition.right, Select):
        return replace(condition, right=_joined(condition.right, schema))
    left = condition.left
    if isinstance(left, Attribute) and left.predicate == DEPRECATED and (condition.op, condition.right) in _NO:
        # what is not deprecated does not say so
        return Filter(left, "unknown")
    value = _value(condition)
    if value is None:
        return condition
    found = _variants(value, _values(condition.left, schema, value))
    return replace(condition, op="in", right=found) if len(found) > 1 else condition


def _value(condition: Filter) -> str | None:
    right = condition.right[0] if isinstance(condition.right, tuple) and condition.right else condition.right
    is_text = isinstance(right, str) and isinstance(condition.left, Attribute) and condition.op in ("=", "in")
    return right if is_text and isinstance(right, str) else None


def _values(term: PlanTerm, schema: Schema, value: str) -> tuple[str, ...]:
    """The values of a property of texts, if they are few; of others those that are a value in other spellings."""
    about = _texts(term, schema)
    if about is None:
        return ()
    return about.values or next((group for group in about.spellings if value in group), ())


def _texts(term: PlanTerm, schema: Schema) -> Predicate | None:
    about = schema.predicate_of.get(term.predicate) if isinstance(term, Attribute) else None
    return about if about is not None and about.datatype == "text" else None


def _variants(value: str, known: tuple[str, ...]) -> tuple[str, ...]:
    """All ways in which a value is written among those of its property, itself first."""
    found = dict.fromkeys(same_spellings(value, known))
    for other in known:
        if other not in found and is_variant(value, other):
            found |= dict.fromkeys(same_spellings(other, known))
    return tuple(found)
