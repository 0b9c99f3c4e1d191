"""What a yes/no question checks of a named thing and the graph may not state: Select -> selects of those values."""

from collections.abc import Iterator

from nacre.language.base import language
from nacre.records.evidence import Table
from nacre.records.plan import Attribute, Filter, Itself, Select, Variable
from nacre.records.schema import Schema

# neither yes nor no
UNKNOWN_TRUTH = Table(("yes",), ((None,),), ((),), ("",))


def unstated_values(asked: Select, schema: Schema) -> Iterator[Select]:
    """For each value that is compared, what must have rows for a "no": the values of that property of the named thing.

    That a thing lacks a flag says no where only those that have it are marked, and so where no "no" is stated at all.
    """
    named = {v.name: v for v in asked.variables if v.keys}
    for condition in asked.filters:
        left = condition.left
        if not isinstance(left, Attribute) or left.variable not in named or condition.op in ("known", "unknown"):
            continue
        if _says_no(condition, left.predicate, schema):
            yield _values(named[left.variable], left)


def is_unknown_truth(table: Table) -> bool:
    """Whether a yes/no question was asked and the graph does not say."""
    return table == UNKNOWN_TRUTH


def _values(thing: Variable, of: Attribute) -> Select:
    return Select((Itself(thing.name),), (thing,), filters=(Filter(of, "known"),), limit=1)


def _says_no(condition: Filter, predicate: str, schema: Schema) -> bool:
    """Whether a "no" of this property is stated of some thing, as it is of any that has no flag."""
    about = schema.predicate_of[predicate]
    words = language().words
    values = {value.casefold() for value in about.values}
    flag = about.datatype == "boolean" or (bool(values) and values <= words["holding"] | words["lacking"])
    if not flag or condition.op != "=":
        return True
    return bool(values & words["lacking"]) if values else about.objects > 1
