"""Find the values that a yes-or-no question needs and the graph may not state: Select -> selects of those values."""

from collections.abc import Iterator

from nacre.language.base import language
from nacre.records.evidence import Table
from nacre.records.plan import Attribute, Filter, Itself, Select, Variable
from nacre.records.schema import Schema

# neither yes nor no
UNKNOWN_TRUTH = Table(("yes",), ((None,),), ((),), ("",))


def unstated_values(select: Select, schema: Schema) -> Iterator[Select]:
    """For each compared property of a named thing, the select that must have rows before the answer is "no".

    A missing yes-or-no value means no if the graph never states a "no" of that property.
    """
    named = {v.name: v for v in select.variables if v.keys}
    for condition in select.filters:
        left = condition.left
        if not isinstance(left, Attribute) or left.variable not in named or condition.op in ("known", "unknown"):
            continue
        if _states_no(condition, left.predicate, schema):
            yield _values(named[left.variable], left)


def is_unknown_truth(table: Table) -> bool:
    """Whether a table answers a yes-or-no question with "unknown"."""
    return table == UNKNOWN_TRUTH


def _values(thing: Variable, of: Attribute) -> Select:
    return Select((Itself(thing.name),), (thing,), filters=(Filter(of, "known"),), limit=1)


def _states_no(condition: Filter, predicate: str, schema: Schema) -> bool:
    """Whether the graph states a "no" of this property; any other value counts as stated."""
    about = schema.predicate_of[predicate]
    words = language().words
    values = {value.casefold() for value in about.values}
    flag = about.datatype == "boolean" or (bool(values) and values <= words["holding"] | words["lacking"])
    if not flag or condition.op != "=":
        return True
    return bool(values & words["lacking"]) if values else about.objects > 1
