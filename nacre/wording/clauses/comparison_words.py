"""Put comparisons into words: Filter -> "above 30", "with at least 3 concerts", and ranges as one condition."""

from collections.abc import Sequence
from dataclasses import replace

from nacre.language.base import word_map
from nacre.language.dates import format_date_bound, format_period, format_year_range
from nacre.language.format_values import format_value
from nacre.language.forms.nouns import join_names
from nacre.records.plan import Attribute, Constant, Filter
from nacre.records.schema import Schema
from nacre.wording.labels.value_kinds import is_amount, is_temporal


def comparison_words(op: str, *, dated: bool = False) -> str:
    """An operator in words, without its verb.

    >>> comparison_words(">"), comparison_words("="), comparison_words("<", dated=True)
    ('above', '', 'before')
    """
    return "not" if op == "!=" else word_map("wording", "date_comparisons" if dated else "comparisons").get(op, "")


def count_condition_phrase(each: Filter, noun: str, value: str) -> str:
    """A condition on a count, after the noun of what is grouped: "with at least 3 concerts".

    >>> from nacre.records.plan import Aggregate, Itself
    >>> count_condition_phrase(Filter(Aggregate("count", Itself("y")), ">=", 3), "concerts", "3")
    'with at least 3 concerts'
    """
    no = "not " if each.negated else ""
    return f"with {no}{word_map('wording', 'count_comparisons').get(each.op, each.op)} {value} {noun}"


def constant_words(right: object, schema: Schema, left: Attribute) -> str:
    """The constants that a property is compared with, joined by "or"."""
    values: tuple[Constant, ...] = right if isinstance(right, tuple) else (right,)
    predicate = schema.predicate_of.get(left.predicate)
    unit = predicate.unit if predicate else ""
    counted = is_amount(left.predicate, schema)
    words = [format_value(value, unit, counted=counted) for value in values]
    # a single letter needs quotation marks among words
    return join_names([f"“{each}”" if len(each) == 1 and each.isalpha() else each for each in words], "or")


def date_condition_words(each: Filter, value: str) -> str:
    """A condition on a date, without its verb: "before 3 May 2020"."""
    if each.op == "in" and isinstance(each.right, str):
        return each.right
    return format_date_bound(each.op, str(each.right)) or f"{comparison_words(each.op, dated=True)} {value}".strip()


def merge_range_filters(filters: Sequence[Filter], schema: Schema) -> list[Filter]:
    """The conditions, with both bounds of a range as one condition with the operator "in".

    Its constant is in words: whole days, months or years of a date, or "between 3 and 5" of a number.
    """
    merged: list[Filter] = []
    for each in filters:
        words = _range_words(merged[-1], each, schema) if merged else ""
        if words:
            merged[-1] = replace(merged[-1], op="in", right=words)
        else:
            merged.append(each)
    return merged


def _range_words(first: Filter, second: Filter, schema: Schema) -> str:
    """Both bounds of a range in words; "" for other conditions."""
    if not isinstance(first.left, Attribute) or first.left != second.left or first.negated or second.negated:
        return ""
    ops = (first.op, second.op)
    if not is_temporal(first.left.predicate, schema):
        is_numeric = all(isinstance(each.right, int | float) for each in (first, second))
        low, high = (constant_words(each.right, schema, first.left) for each in (first, second))
        return f"between {low} and {high}" if is_numeric and ops == (">=", "<=") else ""
    if ops == (">=", "<="):
        return format_year_range(first.right, second.right)
    return format_period(str(first.right), str(second.right)) if ops == (">=", "<") else ""
