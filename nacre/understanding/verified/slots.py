"""The names, numbers and dates of a plan, and the plan with others in their place: Body -> PlanConstants; -> Body."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, TypeVar, cast

from nacre.records.plan import Attribute, Body, Edge, Filter, Itself, Select, Variable

T = TypeVar("T")
Number = int | float | str


@dataclass(frozen=True)
class PlanConstants:
    """What a plan says of single things and values: variables with keys, texts with their predicates, numbers and dates
    of conditions, and the numbers of rows it is limited to."""

    things: tuple[Variable, ...] = ()
    texts: tuple[tuple[str, str], ...] = ()
    numbers: tuple[Number, ...] = ()
    limits: tuple[int, ...] = ()


@dataclass(frozen=True)
class Substitution:
    """Other names and numbers: keys -> keys and label, (predicate, text) -> text, number or date -> the same."""

    things: Mapping[tuple[str, ...], tuple[tuple[str, ...], str]] = field(default_factory=dict)
    texts: Mapping[tuple[str, str], str] = field(default_factory=dict)
    numbers: Mapping[Number, Number] = field(default_factory=dict)
    limits: Mapping[int, int] = field(default_factory=dict)


def plan_constants(body: Body) -> PlanConstants:
    """The constants of a plan, each once, in their order in the plan."""
    parts = list(_parts(body))
    filters = [(each, constant) for each in parts if isinstance(each, Filter) for constant in _constants(each)]
    texts = [(_predicate(each), c) for each, c in filters if isinstance(c, str)]
    numbers = [c for _, c in filters if not isinstance(c, bool)]
    return PlanConstants(
        tuple(dict.fromkeys(each for each in parts if isinstance(each, Variable) and each.keys)),
        tuple(dict.fromkeys(texts)),
        tuple(dict.fromkeys(numbers)),
        tuple(dict.fromkeys(each.limit for each in parts if isinstance(each, Select) and each.limit is not None)),
    )


def plan_elements(body: Body) -> frozenset[str]:
    """The IRIs of the classes and predicates of a plan."""
    found: set[str] = set()
    for each in _parts(body):
        if isinstance(each, Variable):
            found.update((*each.classes, *each.any_of))
        elif isinstance(each, Edge | Attribute):
            found.add(each.predicate)
    return frozenset(found)


def asked_elements(body: Body, naming: Collection[str]) -> frozenset[str]:
    """The IRIs of what a plan shows, computes and compares: the classes of its things, and properties. What only joins
    them is left out, and names stand for their things; `naming` are the properties with names."""
    parts = list(_parts(body))
    attributes = [each for each in parts if isinstance(each, Attribute)]
    shown = {each.variable for each in parts if isinstance(each, Itself)}
    shown |= {each.variable for each in attributes if each.predicate in naming}
    classes = {iri for each in parts if isinstance(each, Variable) and each.name in shown for iri in each.classes}
    return frozenset(classes | {each.predicate for each in attributes} - frozenset(naming))


def substitute(body: T, others: Substitution) -> T:
    """The plan with other constants."""
    if isinstance(body, Variable) and body.keys in others.things:
        keys, label = others.things[body.keys]
        return replace(body, keys=keys, label=label)
    if isinstance(body, tuple):
        return tuple(substitute(each, others) for each in body)  # type: ignore[return-value]
    if not is_dataclass(body) or isinstance(body, type):
        return body
    changed: dict[str, Any] = {}
    for each in fields(body):
        value = getattr(body, each.name)
        other = substitute(value, others) if is_dataclass(value) or isinstance(value, tuple) else value
        if other != value:
            changed[each.name] = other
    if isinstance(body, Filter) and (constants := _constants(body)):
        right = tuple(_other(each, _predicate(body), others) for each in constants)
        changed["right"] = right if isinstance(body.right, tuple) else right[0]
    if isinstance(body, Select) and body.limit is not None and body.limit in others.limits:
        changed["limit"] = others.limits[body.limit]
    return replace(cast(Any, body), **changed) if changed else body


def _other(constant: Any, predicate: str, others: Substitution) -> Any:
    if isinstance(constant, bool):
        return constant
    if isinstance(constant, str) and (predicate, constant) in others.texts:
        return others.texts[predicate, constant]
    return others.numbers.get(constant, constant)


def _constants(condition: Filter) -> tuple[Any, ...]:
    right = condition.right
    if isinstance(right, tuple):
        return right
    return () if right is None or is_dataclass(right) else (right,)


def _predicate(condition: Filter) -> str:
    left = condition.left if isinstance(condition.left, Attribute | Itself) else condition.left.of
    return left.predicate if isinstance(left, Attribute) else ""


def _parts(record: object) -> Iterator[object]:
    """A record and all records inside it."""
    if isinstance(record, tuple):
        for each in record:
            yield from _parts(each)
    elif is_dataclass(record) and not isinstance(record, type):
        yield record
        for each in fields(record):
            yield from _parts(getattr(record, each.name))
