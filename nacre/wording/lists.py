"""Word a list of names or values, a table or one property: Grid + Plan -> "The captains are Ann and Bo.", captions."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from nacre.language.data import WORDS, word_list
from nacre.language.thesaurus import is_person
from nacre.language.values import format_value
from nacre.language.word_forms import (
    Pronoun,
    VerbPhrase,
    active_verb,
    is_count_noun,
    is_participle,
    is_plural,
    join_names,
    plural,
    possessive_phrase,
    pronoun,
    singular,
    with_indefinite_article,
)
from nacre.plans.selects import is_from_earlier_turn, variable_of
from nacre.records.evidence import Cell
from nacre.records.plan import MEANS, Aggregate, Attribute, Body, Combine, Itself, Plan, Select, aggregated_value
from nacre.records.schema import Schema
from nacre.wording.clauses import PropertyValues
from nacre.wording.grid import Grid, GridColumn
from nacre.wording.labels import parse_label, predicate_label
from nacre.wording.link_clauses import thing_name
from nacre.wording.nouns import class_noun, is_amount, is_plain_noun, is_temporal, link_like_nouns, nominal_label
from nacre.wording.plan_phrases import (
    column_heading,
    order_phrase,
    property_phrase,
    select_wording,
    verbalise_plan,
    verbalise_select,
)
from nacre.wording.sentence import (
    MAX_LISTED_NAMES,
    answer_sentence,
    capitalise_first,
    caption,
    definite_phrase,
    is_question_clause,
    is_unwieldy,
    join_first_names,
    list_lead,
    sentence_about,
)

# names of a sentence; with more names than these or longer ones, each has a line of its own
MAX_SENTENCE_NAMES, MAX_SENTENCE_LETTERS = 10, 250

MAX_COMMA_NAMES = 2  # a sentence has fewer names with several commas


def list_answer(found: Grid, plan: Plan, schema: Schema, measured: Sequence[Cell]) -> str:
    """Names or values of one column; things at a place in an order with the number that puts them there."""
    column, body = found.columns[0], plan.body
    # things are counted, and not their names
    things = dict.fromkeys(zip(column.texts, column.keys or column.texts, strict=True))
    names = [name for name, _ in things if name]
    if not names:
        return ""
    is_one = len(names) == 1
    if isinstance(body, Select):
        linked = link_sentence(body, _counted_names(names), schema)
        if said := linked or (property_sentence(body, names, schema) if len(names) <= MAX_LISTED_NAMES else ""):
            return said
    if isinstance(body, Select):
        words = verbalise_select(body, schema, many=not is_one, tied=not is_one and body.limit == 1)
    else:
        words = verbalise_plan(plan, schema)
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
    is_plain = is_same or not measures
    items = _counted_names(names) if is_plain else [f"{n} ({m})" for n, m in zip(names, measures, strict=False)]
    values = join_first_names(items)
    if is_same:
        # "3 stars each", "both 38"
        quantifier = "both" if len(names) == 2 else "all"
        values += f" ({measures[0]} each)" if " " in measures[0] else f" ({quantifier} {measures[0]})"
    elif column.unit and column.is_amount and not is_one and len(names) < sum(map(bool, column.texts)):
        values += ", some of them repeatedly"
    if is_one:
        return _one_value(words, values, column, plan, schema)
    if is_unwieldy_for(words, schema):
        words = values_of_these(_named_select(body), schema) or words
    is_short = len(items) <= MAX_SENTENCE_NAMES or sum(map(len, items[:MAX_LISTED_NAMES])) <= MAX_SENTENCE_LETTERS
    if is_short and sum(name.count(",") > 1 for name in items) < MAX_COMMA_NAMES:
        return _several_values(words, values, column, body, schema, number=len(names))
    lead = caption(_lead(words, column, body, schema, number=len(names)))
    columns = [GridColumn(column.heading, "", tuple(items), tuple((name,) for name in items), column.is_number)]
    if not is_plain and isinstance(body, Select) and body.order is not None:
        columns[0] = replace(columns[0], texts=tuple(names), data=tuple((name,) for name in names))
        by = column_heading(body.order.by, body, schema)
        columns.append(GridColumn(by, "", tuple(measures), tuple((each,) for each in measures)))
    return captioned_table(lead, Grid(tuple(columns)), len(names))


def _counted_names(names: Sequence[str]) -> list[str]:
    """Each name once, with the number of things that have it.

    >>> _counted_names(["Ann", "Bo", "Ann"])
    ['Ann (2 of them)', 'Bo']
    """
    return [f"{name} ({n} of them)" if n > 1 else name for name, n in Counter(names).items()]


def is_unwieldy_for(words: str, schema: Schema) -> bool:
    """Whether a noun phrase is too long or nested to go on from, or has a class that is named like a link."""
    return is_unwieldy(words, link_like_nouns(schema))


def is_plural_phrase(words: str) -> bool:
    """Whether the head of a noun phrase is plural: "the total sales of shops"."""
    return is_plural(words.removeprefix("the "))


def _event_sentence(body: Select, words: str, names: list[str], schema: Schema, *, many: bool) -> str:
    """What happened when: "The mills whose town is Rome were built in 1961"; "" for nouns and unwieldy words."""
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
    return predicate.role == "name" or predicate_label(predicate.iri, schema).one in WORDS["naming"]


def _named_select(body: Body) -> Select:
    """The select whose things an answer of one column names."""
    select = body.left if isinstance(body, Combine) else body
    assert isinstance(select, Select)
    return select


def _several_values(words: str, values: str, column: GridColumn, body: Body, schema: Schema, *, number: int) -> str:
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


def _tells_things_apart(body: Body, schema: Schema) -> bool:
    """Whether the answers are things, names or groups, so that their measures may stand beside them."""
    last = body.answers[-1] if isinstance(body, Select) else None
    if not isinstance(last, Attribute) or (isinstance(body, Select) and last in body.by):
        return True
    return schema.predicate_of[last.predicate].role in ("name", "identifier")


def ranking_values(plan: Plan, measured: Sequence[Cell], schema: Schema, *, is_named: bool) -> list[str]:
    """Each thing's measure with its unit or noun ("12 concerts"), unless the answer names that (`is_named`)."""
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
    counted, rounded = is_amount(of.predicate, schema), isinstance(by, Aggregate) and by.function in MEANS
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


def values_of_these(select: Select, schema: Schema, *, many: bool = True, of_many: bool = True) -> str:
    """Properties without the conditions on their things: "the names of these ships and the ages of these captains".
    With `many` and `of_many` off, of one thing: "the name of this ship". Empty if things are asked for."""
    terms = [a for a in select.answers if isinstance(a, Attribute)]
    if len(terms) != len(select.answers):
        return ""
    of, words = select_wording(select, schema), []
    for each in dict.fromkeys(t.variable for t in terms):
        noun = of.noun(each)
        name = join_names([property_phrase(of, t, many) for t in terms if t.variable == each])
        owners = f"these {plural(noun)}" if of_many else f"this {noun}"
        has_noun = noun != "thing" and is_plain_noun(noun)
        words.append(f"the {possessive_phrase(name, owners, person=is_person(noun)) if has_noun else name}")
    return join_names(words)


def single_owner_sentence(found: Grid, select: Select, schema: Schema, *, is_short: bool) -> str:
    """A row of values of one thing, not all numbers: "Emma has the captain Ann and the flag Malta"; "" for others. With
    `is_short`, "this ship" stands for the conditions on the thing."""
    terms = [a for a in select.answers if isinstance(a, Attribute)]
    of, numbers = select_wording(select, schema), all(c.is_number for c in found.columns)
    if numbers or not all(predicate_label(t.predicate, schema).kind == "noun" for t in terms):
        return ""
    variable = terms[0].variable
    noun = of.noun(variable)
    owner = f"this {noun}" if is_short else of.things(variable, False, frozenset(), 0)
    named = ((property_phrase(of, t, False), c) for t, c in zip(terms, found.columns, strict=True))
    return f"{capitalise_first(owner)} has {join_names([_possession(name, c) for name, c in named])}."


def groups_caption(found: Grid, body: Body) -> str:
    """The caption of numbers for groups: "the number of such rooms for each floor"; "" for other tables."""
    groups, numbers = _group_and_number_columns(found, body)
    if not numbers or not groups:
        return ""
    chosen = isinstance(body, Select) and (bool(body.filters) or any(v.keys for v in body.variables))
    such = "number of such " if chosen else "number of "
    words = [re.sub("^number of ", such, c.heading) for c in numbers]
    return f"the {join_names(words)} for each {join_names([c.heading for c in groups])}"


def single_group_sentence(found: Grid, body: Body, schema: Schema) -> str:
    """The numbers of the only group: "For Oslo, the average age is 41.", "For 2025 (date
    sold), the number of lots is 9."; "" for other tables."""
    groups, numbers = _group_and_number_columns(found, body)
    if not numbers or not groups or not all(c.texts[0] for c in (*groups, *numbers)):
        return ""
    terms = (term for term in body.answers if not isinstance(term, Aggregate)) if isinstance(body, Select) else ()
    dates = (f" ({nominal_label(t.predicate, schema)})" if isinstance(t, Attribute) and t.part else "" for t in terms)
    group = join_names([f"{c.texts[0]}{date}" for c, date in zip(groups, dates, strict=True)])
    return f"For {group}, {join_names(number_clauses(numbers))}."


def number_clauses(numbers: Sequence[GridColumn]) -> list[str]:
    """A clause for each number: "the average age is 41"."""
    return [f"the {c.heading} {'are' if is_plural(c.heading) else 'is'} {c.texts[0]}" for c in numbers]


def _group_and_number_columns(found: Grid, body: Body) -> tuple[list[GridColumn], list[GridColumn]]:
    terms = body.answers if isinstance(body, Select) and len(body.answers) == len(found.columns) else ()
    parts = list(zip(found.columns, terms, strict=False))
    groups = [column for column, term in parts if not isinstance(term, Aggregate)]
    return groups, [column for column, term in parts if isinstance(term, Aggregate)]


def single_row_sentence(found: Grid) -> str:
    """One row as a sentence: "Emma has the captain Ann and 3 masts"."""
    first, *others = [c for c in found.columns if c.texts[0]]
    rest = [c for c in others if c.texts != first.texts]
    if first.is_named and others and not rest:
        return f"There is one such {first.heading}: {first.texts[0]}."
    if not first.is_named or first.is_number or not rest or first.heading == rest[0].heading:
        return f"{capitalise_first('; '.join(f'{c.heading}: {c.texts[0]}' for c in (first, *rest)))}."
    prepositions = word_list("wording", "prepositions")
    if any(c.heading.rpartition(" ")[2] in prepositions or is_participle(c.heading) for c in rest):
        # "fired in" is nothing that a thing has
        labels = [parse_label(c.heading) for c in rest]
        if all(label.kind == "state" for label in labels):
            said = [label.phrase(c.texts[0]).words() for label, c in zip(labels, rest, strict=True)]
            return f"{first.texts[0]} {join_names(said)}."
        return f"{first.texts[0]}: {join_names([f'{c.heading} {c.texts[0]}' for c in rest])}."
    return f"{first.texts[0]} has {join_names([_possession(c.heading, c) for c in rest])}."


def _possession(name: str, column: GridColumn) -> str:
    """The value of a column as what a thing has: "the captain Ann", "3 masts", "a price of 5"."""
    words, noun = column.texts[0], name.removeprefix("number of ")
    if noun != name or (column.is_number and is_count_noun(noun) and not column.unit):
        return f"{'no' if words == '0' else words} {singular(noun) if words == '1' else noun}"
    if column.is_number and column.is_amount:
        return f"{name if is_plural(name) else with_indefinite_article(name)} of {words}"
    return f"the {name} {words}"


def columns_caption(found: Grid) -> str:
    """The caption of a table by its headings: "ships with their captain and year", "captains and years"."""
    first, *rest = [column.heading for column in found.columns]
    if not (found.columns[0].is_named and rest):
        return join_names([plural(first), *map(plural, rest)])
    states = [each for each in rest if each.rpartition(" ")[2] in word_list("wording", "prepositions")]
    nouns = [each for each in rest if each not in states]
    things = f"{plural(first)} with their {join_names(nouns)}" if nouns else plural(first)
    return join_names([things, *(f"what they are {each}" for each in states)])


def captioned_table(lead: str, found: Grid, things: int = 0) -> str:
    """A table of the first rows below a caption, with their number (or that of its things) and how to see the rest."""
    words, number = capitalise_first(lead), f"{things or len(found.rows):,}"
    if len(found.rows) > MAX_LISTED_NAMES:
        total = "" if words.startswith(f"{number} ") else f"{number} in all; "
        words += f" ({total}the first are shown, ask with --json for the rest)"
    return f"{words}:\n\n{found.markdown(MAX_LISTED_NAMES)}"


def property_sentence(body: Select, names: list[str], schema: Schema) -> str:
    """The values of a property of one named thing; "" for other selects."""
    term, thing = body.answers[-1], body.variables[0]
    if not isinstance(term, Attribute) or len(body.variables) > 1 or body.filters or body.order is not None:
        return ""
    if len(thing.keys) != 1 or not thing.label or is_from_earlier_turn(thing) or term.part:
        return ""
    noun = class_noun(thing, schema)
    owner = thing_name(thing, noun)
    return sentence_about(values_of(term, names, schema, noun).clause(owner), owner if owner == thing.label else "")


def values_of(term: Attribute, names: list[str], schema: Schema, noun: str = "") -> PropertyValues:
    """The values of a property of a `noun`, the first 30 by name."""
    digits = names[0].replace(",", "")
    return PropertyValues(
        schema.predicate_of[term.predicate],
        predicate_label(term.predicate, schema),
        join_first_names(names),
        len(names),
        float(digits) if digits.isdigit() else None,
        is_temporal=not is_amount(term.predicate, schema) or is_temporal(term.predicate, schema),
        subject=pronoun(person=is_person(noun)),
    )


def link_sentence(body: Select, names: list[str], schema: Schema) -> str:
    """The link of a named thing: "Spain borders France and Portugal"; "" for other selects."""
    if len(body.edges) != 1 or body.filters or body.order is not None or len(body.variables) != 2:
        return ""
    edge, last = body.edges[0], body.answers[-1]
    subject = next((v for v in body.variables if v.name == edge.subject), None)
    is_only_known = sum(bool(v.keys) for v in body.variables) == 1
    if subject is None or len(subject.keys) != 1 or not subject.label or not is_only_known:
        return ""
    if not isinstance(last, Itself) or last.variable != edge.object:
        return ""
    label, values = predicate_label(edge.predicate, schema), join_first_names(names)
    if label.kind == "noun" and (len(names) > 1 or names[0].isdigit()):
        return ""
    noun = class_noun(subject, schema)
    name = thing_name(subject, noun)
    made = active_verb(label.one) if label.kind == "state" else None
    if made is not None:
        return f"{values} {VerbPhrase(made, name).words(len(names) > 1)}."
    predicate, is_one_person = schema.predicate_of[edge.predicate], pronoun(person=is_person(noun))
    clause = PropertyValues(predicate, label, values, len(names), subject=is_one_person).clause(name)
    return sentence_about(clause, subject.label)
