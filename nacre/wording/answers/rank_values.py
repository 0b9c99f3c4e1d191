"""Word the measures that things are ordered by: Plan + measured cells -> "7.8 %", "12 concerts"."""

from collections.abc import Sequence

from nacre.language.format_values import format_value
from nacre.language.forms.measure_nouns import is_count_noun
from nacre.language.forms.nouns import singular
from nacre.records.evidence import Cell
from nacre.records.plan import Aggregate, Attribute, Itself, Plan, Select, aggregated_value
from nacre.records.schema import Schema
from nacre.wording.labels.predicate_labels import predicate_label
from nacre.wording.labels.value_kinds import is_amount, is_temporal
from nacre.wording.phrases.plan import column_heading
from nacre.wording.phrases.select import select_wording


def ranking_values(plan: Plan, measured: Sequence[Cell], schema: Schema, *, is_named: bool) -> list[str]:
    """The measure of each thing with its unit or noun: "7.8 %", "12 concerts"; empty without measures.

    `is_named`: the answer names the property already ("20", not "credit score 20").
    """
    body = plan.body
    if not isinstance(body, Select) or body.order is None or any(cell is None for cell in measured):
        return []
    by = body.order.by
    if isinstance(by, Aggregate) and by.function == "count":
        noun = select_wording(body, schema).computed(by, short=True).removeprefix("number of ")
        one = column_heading(Itself(by.of.variable), body, schema)
        return [f"{format_value(cell)} {noun}" if cell != 1 else f"1 {one}" for cell in measured]
    of = aggregated_value(by)
    if not isinstance(of, Attribute):
        return []
    predicate, label = schema.predicate_of[of.predicate], predicate_label(of.predicate, schema)
    counted, rounded = is_amount(of.predicate, schema), isinstance(by, Aggregate) and by.function == "avg"
    values = [format_value(cell, predicate.unit, counted=counted, rounded=rounded) for cell in measured]
    is_plain = label.kind != "noun" or predicate.unit or is_ordered_by_date(body, schema)
    if is_plain or not all(isinstance(cell, int | float) for cell in measured):
        return values
    noun = label.one.removeprefix("number of ")
    if (predicate.datatype == "integer" and is_count_noun(label.one)) or noun != label.one:
        return [f"{v} {singular(noun) if cell == 1 else noun}" for v, cell in zip(values, measured, strict=True)]
    return values if is_named else [f"{label.one} {value}" for value in values]


def is_ordered_by_date(body: object, schema: Schema) -> bool:
    """Whether things are ordered by a date."""
    order = body.order if isinstance(body, Select) else None
    return order is not None and isinstance(order.by, Attribute) and is_temporal(order.by.predicate, schema)
