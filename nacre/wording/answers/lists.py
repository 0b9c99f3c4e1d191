"""Word a list of names or values, and the measures that order it: Grid of one column + Plan -> "The captains are Ann
and Bo."."""

from collections.abc import Sequence
from dataclasses import replace

from nacre.language.base import language
from nacre.language.format_values import format_value
from nacre.language.forms.measure_nouns import is_count_noun
from nacre.language.forms.nouns import is_plural, plural, singular
from nacre.language.forms.pronouns import Pronoun
from nacre.plans.inspect_select import variable_of
from nacre.records.evidence import Cell
from nacre.records.plan import Aggregate, Attribute, Body, Combine, Itself, Plan, Select, aggregated_value
from nacre.records.schema import Schema
from nacre.wording.answers.grid import Grid, GridColumn
from nacre.wording.answers.property_sentences import link_sentence, property_sentence, values_of
from nacre.wording.answers.sentence import (
    MAX_LISTED_NAMES,
    answer_sentence,
    capitalise_first,
    caption,
    definite_phrase,
    is_question_clause,
    is_unwieldy,
    join_first_names,
    list_lead,
)
from nacre.wording.answers.tables import captioned_table, values_of_these
from nacre.wording.labels.class_nouns import is_plain_noun, link_like_nouns
from nacre.wording.labels.predicate_labels import predicate_label
from nacre.wording.labels.value_kinds import is_amount, is_temporal
from nacre.wording.phrases.plan import column_heading, verbalise_plan
from nacre.wording.phrases.select import order_phrase, select_wording, verbalise_select

# names of a sentence; with more names than these or longer ones, each has a line of its own
MAX_SENTENCE_NAMES, MAX_SENTENCE_LETTERS = 10, 250
# a sentence has fewer names with several commas
MAX_COMMA_NAMES = 2


def list_answer(found: Grid, plan: Plan, schema: Schema, measured: Sequence[Cell]) -> str:
    """Names or values of one column; things at a place in an order with the number that puts them there."""
    column, body = found.columns[0], plan.body
    names = list(dict.fromkeys(filter(None, column.texts)))
    if not names:
        return ""
    is_one = len(names) == 1
    if isinstance(body, Select) and (sentence := _verb_sentence(body, names, schema)):
        return sentence
    words = _plan_words(plan, schema, is_one=is_one)
    if is_one and words == names[0] and isinstance(body, Select) and (classes := body.variables[0].classes):
        # a thing that is named by a code
        words = f"the {schema.class_of[classes[0]].label}" if classes[0] in schema.class_of else words
    if not column.is_named and is_one:
        names = [f"{column.heading} {names[0]}"]
    is_named = not is_unwieldy_for(words, schema)
    measures = ranking_values(plan, measured, schema, is_named=is_named) if _tells_things_apart(body, schema) else []
    if isinstance(body, Select) and (sentence := _event_sentence(body, words, names, schema, many=not is_one)):
        return sentence
    is_same = len(set(measures)) == 1 and len(measures) == len(names) > 1 and not is_ordered_by_date(body, schema)
    items = names if is_same or not measures else [f"{n} ({m})" for n, m in zip(names, measures, strict=False)]
    values = join_first_names(items) + (f" ({_shared_measure(measures[0], len(names))})" if is_same else "")
    if is_one:
        return _one_value(words, values, column, plan, schema)
    if is_unwieldy_for(words, schema):
        words = values_of_these(_named_select(body), schema) or words
    if _fits_sentence(items):
        return _several_values(words, values, column, body, schema, number=len(names))
    lines = GridColumn(column.heading, "", tuple(items), tuple((name,) for name in names), column.is_number)
    return captioned_table(caption(_lead(words, column, body, schema, number=len(names))), Grid((lines,)))


def is_unwieldy_for(words: str, schema: Schema) -> bool:
    """Whether a noun phrase is too long or nested to go on from, or has a class that is named like a link."""
    return is_unwieldy(words, link_like_nouns(schema))


def is_plural_phrase(words: str) -> bool:
    """Whether the head of a noun phrase is plural: "the total sales of shops"."""
    return is_plural(words.removeprefix("the "))


def _plan_words(plan: Plan, schema: Schema, *, is_one: bool) -> str:
    if not isinstance(plan.body, Select):
        return verbalise_plan(plan, schema)
    return verbalise_select(plan.body, schema, many=not is_one, tied=not is_one and plan.body.limit == 1)


def _shared_measure(measure: str, many: int) -> str:
    """A measure that several things share: "3 stars each", "both 38"."""
    return f"{measure} each" if " " in measure else f"{'both' if many == 2 else 'all'} {measure}"


def _verb_sentence(body: Select, names: list[str], schema: Schema) -> str:
    """A link or property of one named thing as a sentence; "" for other selects."""
    linked = link_sentence(body, names, schema)
    return linked or (property_sentence(body, names, schema) if len(names) <= MAX_LISTED_NAMES else "")


def _event_sentence(body: Select, words: str, names: list[str], schema: Schema, *, many: bool) -> str:
    """What things do, or when it happened to them: "The mills whose town is Rome were built in 1961".

    "" for a property with a noun, and for unwieldy words.
    """
    term = body.answers[-1]
    if not isinstance(term, Attribute) or len(names) > MAX_LISTED_NAMES:
        return ""
    if not is_question_clause(words) or is_unwieldy_for(words, schema):
        return ""
    wording = select_wording(body, schema)
    things = wording.owners(term.variable) if many else wording.things(term.variable, False, frozenset(), 0)
    said = replace(values_of(term, names, schema), subject=Pronoun(things, "", many)).verb_clause()
    return f"{capitalise_first(said)}." if said else ""


def _one_value(words: str, value: str, column: GridColumn, plan: Plan, schema: Schema) -> str:
    """The sentence of a single name or value."""
    select = _named_select(plan.body)
    term = select.answers[-1]
    one = words if isinstance(plan.body, Select) else verbalise_plan(plan, schema, many=False)
    # the words for two sets of values have no singular
    if is_unwieldy_for(one, schema) or (one == words and select is not plan.body):
        noun = select_wording(select, schema).noun(variable_of(term))
        if noun != "thing" and (not isinstance(term, Attribute) or _is_name(term, schema)):
            return f"There is one such {noun if is_plain_noun(noun) else column.heading}: {value}."
        one = values_of_these(select, schema, many=False, of_many=select is not plan.body) or one
    many = isinstance(term, Attribute) and is_plural(column.heading) and is_plural_phrase(one)
    return answer_sentence(one, value, many)


def _is_name(term: Attribute, schema: Schema) -> bool:
    predicate = schema.predicate_of[term.predicate]
    return predicate.role == "name" or predicate_label(predicate.iri, schema).one in language().words["naming"]


def _named_select(body: Body) -> Select:
    """The select whose things an answer of one column names."""
    select = body.left if isinstance(body, Combine) else body
    assert isinstance(select, Select)
    return select


def _several_values(words: str, values: str, column: GridColumn, body: Body, schema: Schema, *, number: int) -> str:
    """The sentence of several names or values."""
    order = order_phrase(body, schema) if isinstance(body, Select) else ""
    things = words.removesuffix(f", {order}")
    if order and number <= MAX_LISTED_NAMES and ", " not in things and not is_unwieldy_for(things, schema):
        return f"{capitalise_first(order)}, {definite_phrase(things)} are {values}."
    if not words.startswith("the ") or ", " in words or is_unwieldy_for(words, schema) or number > MAX_LISTED_NAMES:
        return f"{_lead(words, column, body, schema, number=number)}: {values}."
    last = body.answers[-1] if isinstance(body, Select) else None
    # "the equipment is", but "the headquarters are"
    may_be_plural = is_plural_phrase(words) or is_plural(plural(column.heading)) or column.heading.endswith("s")
    return answer_sentence(words, values, not isinstance(last, Attribute) or may_be_plural)


def _lead(words: str, column: GridColumn, body: Body, schema: Schema, *, number: int) -> str:
    if not is_unwieldy_for(words, schema):
        return list_lead(words, number, body)
    return f"There are {number:,} such {plural(column.heading)}"


def _fits_sentence(names: list[str]) -> bool:
    with_commas = sum(name.count(",") > 1 for name in names)
    is_short = sum(map(len, names[:MAX_LISTED_NAMES])) <= MAX_SENTENCE_LETTERS
    return with_commas < MAX_COMMA_NAMES and (len(names) <= MAX_SENTENCE_NAMES or is_short)


def _tells_things_apart(body: Body, schema: Schema) -> bool:
    """Whether the answers are things, names or groups, so that their measures may stand beside them."""
    last = body.answers[-1] if isinstance(body, Select) else None
    if not isinstance(last, Attribute) or (isinstance(body, Select) and last in body.by):
        return True
    return schema.predicate_of[last.predicate].role in ("name", "identifier")


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
