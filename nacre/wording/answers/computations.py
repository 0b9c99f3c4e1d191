"""Word a comparison or calculation of two numbers: Compute + Table -> "The difference is 5 m (9 m against 4 m)."."""

from dataclasses import replace

from nacre.language.format_values import format_value
from nacre.language.forms.nouns import is_plural
from nacre.plans.durations import AGE_COLUMNS, UNIT_SECONDS, is_life_span
from nacre.records.evidence import Cell, Table
from nacre.records.plan import ELAPSED, Aggregate, Attribute, Compute, Plan, aggregated_value
from nacre.records.schema import Schema
from nacre.wording.answers.grid import drop_zero_fraction
from nacre.wording.answers.lists import is_unwieldy_for
from nacre.wording.answers.sentence import capitalise_first
from nacre.wording.answers.verbalisation import Verbalisation
from nacre.wording.labels.predicate_labels import predicate_label
from nacre.wording.labels.value_kinds import is_amount
from nacre.wording.phrases.plan import verbalise_plan
from nacre.wording.phrases.select import verbalise_select
from nacre.wording.phrases.statements import universal_statement


def verbalise_computation(body: Compute, table: Table, schema: Schema) -> Verbalisation:
    """The result of a comparison or calculation with both numbers."""
    result, left, right = table.rows[0]
    if body.op in ELAPSED:
        sentence = capitalise_first(duration_sentence(body, table, schema))
        return Verbalisation(sentence, (drop_zero_fraction(result),), table.units[0])  # type: ignore[arg-type]
    unit = table.units[-1]
    is_mean = any(
        isinstance(side.answers[-1], Aggregate) and side.answers[-1].function == "avg"
        for side in (body.left, body.right)
    )
    terms = [aggregated_value(side.answers[-1]) for side in (body.left, body.right)]
    counted = all(not isinstance(term, Attribute) or is_amount(term.predicate, schema) for term in terms)
    a, b = (format_value(number, unit, counted=counted, rounded=is_mean) for number in (left, right))
    if body.op in ("<", "<=", ">", ">=", "=", "!="):
        return Verbalisation(_comparison_sentence(body, table.rows[0], (a, b), schema), (bool(result),))
    assert isinstance(result, int | float)
    if body.op == "-":
        text = f"The difference is {format_value(abs(result), unit, rounded=is_mean)} ({a} against {b})."
        return Verbalisation(text, (drop_zero_fraction(abs(result)),), unit or None)
    if body.op == "%":
        share = format_value(result, "%", rounded=True)
        return Verbalisation(_share_sentence(body, share, a, b, schema), (drop_zero_fraction(result),), "%")
    words = verbalise_plan(Plan(body), schema)
    result_unit = unit if body.op == "+" else ""
    value = format_value(result, result_unit, rounded=body.op == "/" or is_mean)
    return Verbalisation(f"{capitalise_first(words)} is {value}.", (drop_zero_fraction(result),), result_unit or None)


def duration_sentence(body: Compute, table: Table, schema: Schema) -> str:
    """A row of `elapsed_time` as a sentence: how old something is or was, or how long it lasted, with both dates."""
    result, last, first = table.rows[0]
    unit, name = table.units[0], body.right.variables[0].label
    duration = format_value(result, unit.removesuffix("s") if result == 1 else unit)
    dates = f"from {format_value(first, counted=False)} to {format_value(last, counted=False)}"
    if body.op in UNIT_SECONDS:
        return f"{name} lasted {duration}, {dates}."
    if body.op == "years" and not is_life_span(body, schema):
        # years of service are no age
        return f"{name}: {duration}, {dates}."
    return f"{name} {'is' if table.columns == AGE_COLUMNS else 'was'} {duration} old, {dates}."


def _comparison_sentence(body: Compute, row: tuple[Cell, ...], values: tuple[str, str], schema: Schema) -> str:
    """Yes or no, and both numbers."""
    result, left, right = row
    if (
        isinstance(left, int)
        and isinstance(right, int)
        and (all_of := universal_statement(body, schema, (left, right)))
    ):
        return f"{'Yes' if result else 'No'}, {all_of}."
    a, b = values
    more, less = ("later", "earlier") if isinstance(left, str) else ("higher", "lower")
    word = more if left > right else less if left < right else "equal"  # type: ignore[operator]
    first, second = (verbalise_select(side, schema, many=False) for side in (body.left, body.right))
    reason = f"both are {a}" if word == "equal" else f"{a} is {word} than {b}"
    if first != second and not is_unwieldy_for(f"{first} {second}", schema):
        terms = [aggregated_value(side.answers[-1]) for side in (body.left, body.right)]
        labels = [predicate_label(term.predicate, schema).one for term in terms if isinstance(term, Attribute)]
        be = "are" if labels and is_plural(labels[0]) else "is"
        reason = f"{first} {be} {a}, {word} {'to' if word == 'equal' else 'than'} {second} ({b})"
    return f"{'Yes' if result else 'No'}, {reason}."


def _share_sentence(body: Compute, share: str, a: str, b: str, schema: Schema) -> str:
    """A percentage of things, worded by the things and not by their counts."""
    whole, part = (
        verbalise_select(replace(side, answers=tuple(map(aggregated_value, side.answers))), schema)
        for side in (body.right, body.left)
    )
    # not "are owners who live in Oslo"
    own = part.removeprefix(f"{whole} that ").removeprefix(f"{whole} who ")
    said = own if own != part else f"are {part}"
    sentence = f"{share} of the {whole.removeprefix('the ')} ({a} of {b}) {said}"
    return f"{share} ({a} of {b})." if is_unwieldy_for(sentence, schema) else f"{sentence}."
