"""What the things of a superlative are placed by, in words: Plan + measured cells -> "7.8 %", "12 concerts"."""

from nacre.language.format_values import format_value
from nacre.language.forms.nouns import is_count_noun, singular
from nacre.records.evidence import Cell
from nacre.records.plan import Aggregate, Attribute, Itself, Plan, Select, aggregated_value
from nacre.records.schema import Schema
from nacre.wording.labels.predicate_labels import predicate_label
from nacre.wording.labels.value_kinds import is_amount, is_temporal
from nacre.wording.phrases.plan import column_heading
from nacre.wording.phrases.select import select_wording


def ranking_values(plan: Plan, measured: tuple[Cell, ...], schema: Schema) -> list[str]:
    """What each of the things is placed by, with its unit or noun: "7.8 %", "12 concerts"."""
    body = plan.body
    if not isinstance(body, Select) or body.order is None or any(m is None for m in measured):
        return []
    by = body.order.by
    if isinstance(by, Itself):
        return []
    if isinstance(by, Aggregate):
        if by.function == "count":
            noun = select_wording(body, schema).computed(by, short=True).removeprefix("number of ")
            return [
                f"{format_value(m)} {noun}" if m != 1 else f"1 {column_heading(Itself(by.of.variable), body, schema)}"
                for m in measured
            ]
        if not isinstance(by.of, Attribute):
            return []
    of = aggregated_value(by)
    assert isinstance(of, Attribute)
    predicate = schema.predicate_of[of.predicate]
    label = predicate_label(of.predicate, schema)
    counted = is_amount(of.predicate, schema)
    rounded = isinstance(by, Aggregate) and by.function == "avg"
    said = [format_value(m, predicate.unit, counted=counted, rounded=rounded) for m in measured]
    if (
        label.kind != "noun"
        or predicate.unit
        or is_ordered_by_date(body, schema)
        or not all(isinstance(m, int | float) for m in measured)
    ):
        return said
    what = label.one.removeprefix("number of ")
    if (predicate.datatype == "integer" and is_count_noun(label.one)) or what != label.one:
        return [f"{each} {singular(what) if m == 1 else what}" for each, m in zip(said, measured, strict=True)]
    return [f"{label.one} {each}" for each in said]


def is_ordered_by_date(body: object, schema: Schema) -> bool:
    """Whether things are placed by when something was."""
    order = body.order if isinstance(body, Select) else None
    return order is not None and isinstance(order.by, Attribute) and is_temporal(order.by.predicate, schema)


def measure_number(measure: str) -> str:
    """What a thing is placed by, where it was just named.

    >>> measure_number("credit score 20"), measure_number("7.8 %"), measure_number("12 concerts")
    ('20', '7.8 %', '12 concerts')
    """
    name, _, number = measure.rpartition(" ")
    return number if name[:1].isalpha() and number[:1].isdigit() else measure
