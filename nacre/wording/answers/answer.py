"""Say a result in words: Plan + Table -> Verbalisation."""

from dataclasses import dataclass, replace

from nacre.language.base import word_map
from nacre.language.format_values import format_value
from nacre.language.forms.nouns import is_plural, join_names, place_phrase, plural, possessive_phrase
from nacre.language.thesaurus import is_person
from nacre.plans.durations import duration_sentence
from nacre.plans.inspect_select import variable_of
from nacre.records.answer import Value
from nacre.records.evidence import Cell, Table
from nacre.records.plan import (
    ELAPSED,
    Aggregate,
    Ask,
    Attribute,
    Combine,
    Compute,
    Itself,
    Plan,
    Select,
    aggregated_value,
)
from nacre.records.schema import Schema
from nacre.wording.answers.counts import count_sentence, short_number_sentence
from nacre.wording.answers.grid import Grid, build_grid, drop_zero_fraction
from nacre.wording.answers.lists import is_plural_phrase, is_unwieldy_for, list_answer
from nacre.wording.answers.property_sentences import noun_property_sentence, verb_property_sentence
from nacre.wording.answers.sentence import (
    MAX_LISTED_NAMES,
    answer_sentence,
    capitalise_first,
    caption,
    join_first_names,
    remaining_names,
)
from nacre.wording.answers.tables import (
    captioned_table,
    columns_caption,
    groups_caption,
    number_clauses,
    single_group_sentence,
    single_owner_sentence,
    single_row_sentence,
    values_caption,
)
from nacre.wording.labels.predicate_labels import predicate_label
from nacre.wording.labels.value_kinds import is_amount, nominal_label
from nacre.wording.phrases.plan import ask_statements, verbalise_plan
from nacre.wording.phrases.select import select_wording, verbalise_select

# values of one thing that are said in a sentence
MAX_VALUES_IN_SENTENCE = 3


@dataclass(frozen=True)
class Verbalisation:
    """`text` in plain English, the same data as `values`, and the unit that both use.

    Rows of more than one column are `columns` and `rows`, and `text` then ends with a Markdown table.
    """

    text: str
    values: tuple[Value, ...] = ()
    unit: str | None = None
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Value | None, ...], ...] = ()


def verbalise_result(plan: Plan, table: Table, schema: Schema, question: str) -> Verbalisation:
    """The answer in words and as data; an empty table gives an empty phrase."""
    if not table.rows:
        return Verbalisation("")
    body = plan.body
    if isinstance(body, Ask):
        yes = bool(table.rows[0][0])
        said = ask_statements(body.select, schema)[not yes]
        answer = "Yes" if yes else "No"
        return Verbalisation(f"{answer}." if is_unwieldy_for(said, schema) else f"{answer}, {said}.", (yes,))
    if isinstance(body, Compute):
        return _computed(body, table, schema)
    if not isinstance(body, Select):
        # both sides have the columns of the first
        shown = build_grid(table, body.left, schema) if isinstance(body, Combine) else build_grid(table)
        return _tabled(shown, plan, schema) if len(shown.columns) > 1 else _listed(shown, plan, schema)
    found = build_grid(table, body, schema)
    if len(found.columns) == len(body.answers) > 1 and (twice := _named_twice(found, body)):
        found = Grid(tuple(column for i, column in enumerate(found.columns) if i not in twice))
        body = replace(body, answers=tuple(each for i, each in enumerate(body.answers) if i not in twice))
        plan = replace(plan, body=body)
    if len(found.columns) == 1:
        last = body.answers[-1]
        if isinstance(last, Aggregate):
            return _number(found, plan, schema, question)
        return _listed(found, plan, schema, table.measured)
    owned = len(found.columns) == 2 and isinstance(body.answers[-1], Attribute) and isinstance(body.answers[0], Itself)
    if owned and not body.paired:
        return _owned(found, body, schema)
    return _tabled(found, plan, schema)


def _named_twice(found: Grid, body: Select) -> set[int]:
    """The columns of things whose names stand in another column as well."""
    columns = list(zip(body.answers, found.columns, strict=True))
    named = {(a.variable, column.said) for a, column in columns if isinstance(a, Attribute)}
    return {i for i, (a, c) in enumerate(columns) if isinstance(a, Itself) and (a.variable, c.said) in named}


def verbalise_rows(table: Table, lead: str = "") -> Verbalisation:
    """Rows in plain words, for what has no plan: a list of one column, or a table of several after its `lead`."""
    found = build_grid(table)
    if lead:
        # its columns are called after things, not after names of code
        named = zip(found.columns, table.columns, strict=True)
        found = Grid(tuple(replace(column, heading=name) for column, name in named))
    units = {column.unit for column in found.columns if column.unit}
    unit = units.pop() if len(units) == 1 else None
    if len(found.columns) == 1:
        said = list(dict.fromkeys(filter(None, found.columns[0].said)))
        return Verbalisation(f"{join_first_names(said)}." if said else "", found.values(), unit)
    return _columns(found, lead or caption(columns_caption(found)), unit)


def _computed(body: Compute, table: Table, schema: Schema) -> Verbalisation:
    result, left, right = table.rows[0]
    if body.op in ELAPSED:
        sentence = capitalise_first(duration_sentence(body, table, schema))
        return Verbalisation(sentence, (drop_zero_fraction(result),), table.units[0])  # type: ignore[arg-type]
    unit = table.units[-1]
    averaged = any(
        isinstance(s.answers[-1], Aggregate) and s.answers[-1].function == "avg" for s in (body.left, body.right)
    )
    of = [aggregated_value(a) for a in (body.left.answers[-1], body.right.answers[-1])]
    counted = all(not isinstance(each, Attribute) or is_amount(each.predicate, schema) for each in of)
    a, b = (format_value(each, unit, counted=counted, rounded=averaged) for each in (left, right))
    if body.op in ("<", "<=", ">", ">=", "=", "!="):
        word = "higher" if left > right else "lower" if left < right else "equal"  # type: ignore[operator]
        first, second = (verbalise_select(each, schema, many=False) for each in (body.left, body.right))
        told = f"both are {a}" if word == "equal" else f"{a} is {word} than {b}"
        if first != second and not is_unwieldy_for(f"{first} {second}", schema):
            labels = [predicate_label(each.predicate, schema).one for each in of if isinstance(each, Attribute)]
            be = "are" if labels and is_plural(labels[0]) else "is"
            told = f"{first} {be} {a}, {word} {'to' if word == 'equal' else 'than'} {second} ({b})"
        return Verbalisation(f"{'Yes' if result else 'No'}, {told}.", (bool(result),))
    assert isinstance(result, int | float)
    if body.op == "-":
        text = f"The difference is {format_value(abs(result), unit, rounded=averaged)} ({a} against {b})."
        return Verbalisation(text, (drop_zero_fraction(abs(result)),), unit or None)
    if body.op == "%":
        # of each the things are said, not that they are counted
        whole_of, part = (
            verbalise_select(replace(each, answers=tuple(aggregated_value(a) for a in each.answers)), schema)
            for each in (body.right, body.left)
        )
        share = format_value(result, "%", rounded=True)
        of_all = f"{share} of the {whole_of.removeprefix('the ')} ({a} of {b}) are {part}"
        told = f"{share} ({a} of {b})" if is_unwieldy_for(of_all, schema) else of_all
        return Verbalisation(f"{told}.", (drop_zero_fraction(result),), "%")
    words = verbalise_plan(Plan(body), schema)
    said = format_value(result, unit if body.op == "+" else "", rounded=body.op == "/" or averaged)
    return Verbalisation(
        f"{capitalise_first(words)} is {said}.", (drop_zero_fraction(result),), (unit if body.op == "+" else "") or None
    )


def _number(found: Grid, plan: Plan, schema: Schema, question: str) -> Verbalisation:
    column = found.columns[0]
    values = found.values()
    if not values or not column.said[0]:
        return Verbalisation("")
    said = join_names(list(dict.fromkeys(column.said)))
    words = verbalise_plan(plan, schema)
    term = plan.body.answers[-1] if isinstance(plan.body, Select) else None
    if is_unwieldy_for(words, schema) and isinstance(term, Aggregate) and isinstance(plan.body, Select):
        return Verbalisation(
            short_number_sentence(term, said, select_wording(plan.body, schema)), values, column.unit or None
        )
    if len(values) == 1 and (there := count_sentence(plan.body, values[0], schema, question)):
        return Verbalisation(there, values)
    return Verbalisation(
        answer_sentence(words, said, len(values) > 1 or is_plural_phrase(words)), values, column.unit or None
    )


def _listed(found: Grid, plan: Plan, schema: Schema, measured: tuple[Cell, ...] = ()) -> Verbalisation:
    said = list_answer(found, plan, schema, measured)
    return Verbalisation(said, found.values(), found.columns[0].unit or None) if said else Verbalisation("")


def _owned(found: Grid, body: Select, schema: Schema) -> Verbalisation:
    """A property of things: the values are those of the property alone."""
    things, column = found.columns
    values, unit = found.values(1), column.unit or None
    named = any(v.keys for v in body.variables if v.name == body.answers[-1].variable)  # type: ignore[union-attr]
    if things.said == column.said or not (things.is_named or (named and len(found.rows) == 1)):
        # the property is the name, or there is no name but a number to tell things apart by
        return _listed(Grid((column,)), Plan(replace(body, answers=body.answers[1:])), schema)
    names = list(dict.fromkeys(things.said))
    said = list(dict.fromkeys(filter(None, column.said)))
    if not said:
        return Verbalisation("")
    term = body.answers[-1]
    assert isinstance(term, Attribute)
    name = nominal_label(term.predicate, schema)
    verb = name.startswith("“")
    sentence = ""
    if len(names) == 1 and len(said) <= MAX_LISTED_NAMES:
        owner = names[0] if things.is_named else f"{things.heading} {names[0]}"
        sentence = verb_property_sentence(owner, join_names(said), term, schema) or noun_property_sentence(
            owner, said, term, schema
        )
    if sentence:
        return Verbalisation(sentence if things.is_named else capitalise_first(sentence), values, unit)
    if len(names) == 1:
        if not things.is_named:
            names = [f"{things.heading} {names[0]}"]
        told = join_names(said[:MAX_LISTED_NAMES])
        many = len(said) > 1 or is_plural(name)
        noun = plural(name) if many and not verb else name
        whose = possessive_phrase(noun, names[0], person=is_person(things.heading))
        return Verbalisation(
            f"The {whose} {'are' if many else 'is'} {place_phrase(name, told)}{remaining_names(said)}.", values, unit
        )
    if len(said) == 1:
        be = "are" if is_plural(name) else "is"
        whose = possessive_phrase(name, join_first_names(names), person=is_person(things.heading))
        return Verbalisation(f"The {whose} {be} {place_phrase(name, said[0])}.", values, unit)
    shown = _columns(found, caption(verbalise_select(body, schema)), unit)
    return Verbalisation(shown.text, values, unit, shown.columns, shown.rows)


def _tabled(found: Grid, plan: Plan, schema: Schema) -> Verbalisation:
    units = {column.unit for column in found.columns if column.unit}
    unit = units.pop() if len(units) == 1 else None
    body, words = plan.body, verbalise_plan(plan, schema)
    if isinstance(body, Select) and len(found.rows) == 1:
        numbers = [a for a in body.answers if isinstance(a, Aggregate)]
        if len(numbers) == len(body.answers) and len({variable_of(a) for a in numbers}) == 1:
            said = [c.said[0] for c in found.columns]
            of_one = {a.of if a.function in word_map("wording", "aggregate_adjectives") else None for a in numbers}
            if is_unwieldy_for(words, schema):
                told = join_names(number_clauses(found.columns))
            elif of_one != {None} and len(of_one) == 1 and len(numbers) > 1:
                # "the highest price of the chairs is 20, the lowest 5 and the average 12"
                first = verbalise_select(replace(body, answers=body.answers[:1]), schema)
                others = zip(numbers[1:], said[1:], strict=True)
                rest = [f"the {word_map('wording', 'aggregate_adjectives')[a.function]} {value}" for a, value in others]
                told = join_names([f"{first} is {said[0]}", *rest])
            else:
                first = verbalise_select(replace(body, answers=body.answers[:1]), schema)
                be = "are" if is_plural(found.columns[0].heading) else "is"
                told = join_names([f"{first} {be} {said[0]}", *number_clauses(found.columns[1:])])
            return Verbalisation(f"{capitalise_first(told)}.", found.values(), unit, found.headings(), found.data())
    if isinstance(body, Select) and isinstance(body.answers[0], Attribute):
        found = Grid(tuple(replace(c, is_named=False) for c in found.columns))
    cells = [c.said[0] for c in found.columns]
    short = len(found.rows) == 1 and all(cells) and len(cells) <= MAX_VALUES_IN_SENTENCE
    if short and isinstance(body, Select) and _of_one_kind(body):
        # "the height and the year of the bridge are 20 m and 1961"
        one = values_caption(body, schema, many=False) if is_unwieldy_for(words, schema) else ""
        if told := single_owner_sentence(found, body, schema, these=bool(one)):
            return Verbalisation(told, found.values(), unit, found.headings(), found.data())
        text = f"{capitalise_first(one or verbalise_select(body, schema, many=False))} are {join_names(cells)}."
        return Verbalisation(text, found.values(), unit, found.headings(), found.data())
    if is_unwieldy_for(words, schema):
        words = groups_caption(found, body) or values_caption(body, schema) or columns_caption(found)
    if len(found.rows) == 1 and not found.columns[0].is_named and (text := single_group_sentence(found, body)):
        return Verbalisation(text, found.values(), unit, found.headings(), found.data())
    return _columns(found, caption(words), unit)


def _of_one_kind(body: Select) -> bool:
    """Whether nothing but values of things of one kind is shown, and not these things."""
    return all(isinstance(a, Attribute) for a in body.answers) and len({variable_of(a) for a in body.answers}) == 1


def _columns(found: Grid, lead: str, unit: str | None) -> Verbalisation:
    """Rows of several columns: one is a sentence, several are a table of the first rows."""
    columns, values = found.headings(), found.values()
    if len(found.rows) == 1:
        return Verbalisation(single_row_sentence(found), values, unit, columns, found.data())
    return Verbalisation(captioned_table(lead, found), values, unit, columns, found.data())
