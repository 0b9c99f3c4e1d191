"""Word a result: Plan + Table -> Verbalisation."""

from collections.abc import Sequence
from dataclasses import replace

from nacre.language.base import word_map
from nacre.language.forms.nouns import (
    is_plural,
    join_names,
    number_with_noun,
    place_phrase,
    plural,
    possessive_phrase,
    with_indefinite_article,
)
from nacre.language.thesaurus import is_person
from nacre.plans.inspect_select import variable_of
from nacre.records.evidence import Cell, Table
from nacre.records.plan import (
    Aggregate,
    Ask,
    Attribute,
    Combine,
    Compute,
    Itself,
    Plan,
    Select,
    Variable,
)
from nacre.records.schema import Schema
from nacre.wording.answers.computations import verbalise_computation
from nacre.wording.answers.counts import count_sentence, short_number_sentence
from nacre.wording.answers.grid import Grid, build_grid
from nacre.wording.answers.lists import is_plural_phrase, is_unwieldy_for, list_answer
from nacre.wording.answers.property_sentences import values_of
from nacre.wording.answers.sentence import (
    answer_sentence,
    capitalise_first,
    caption,
    join_first_names,
    sentence_about,
)
from nacre.wording.answers.tables import (
    captioned_table,
    columns_caption,
    groups_caption,
    number_clauses,
    single_group_sentence,
    single_owner_sentence,
    single_row_sentence,
    values_of_these,
)
from nacre.wording.answers.verbalisation import Verbalisation
from nacre.wording.labels.class_nouns import class_noun
from nacre.wording.labels.value_kinds import nominal_label
from nacre.wording.phrases.plan import ask_statements, verbalise_plan
from nacre.wording.phrases.select import select_wording, verbalise_select

# values of one thing in a sentence
MAX_VALUES_IN_SENTENCE = 3


def verbalise_result(plan: Plan, table: Table, schema: Schema, question: str) -> Verbalisation:
    """The answer in words and as data; an empty table gives empty words."""
    if not table.rows:
        return Verbalisation("")
    body = plan.body
    if isinstance(body, Ask):
        yes = bool(table.rows[0][0])
        statement = ask_statements(body.select, schema)[not yes]
        if table.kinds:
            own = min(table.kinds, key=lambda kind: schema.class_of[kind.iri].count)
            noun = class_noun(Variable("x", (own.iri,)), schema)
            statement = f"{statement} but {with_indefinite_article(noun)}"
        answer = "Yes" if yes else "No"
        text = f"{answer}." if is_unwieldy_for(statement, schema) else f"{answer}, {statement}."
        return Verbalisation(text, (yes,))
    if isinstance(body, Compute):
        return verbalise_computation(body, table, schema)
    if not isinstance(body, Select):
        # both sides have the columns of the first
        shown = build_grid(table, body.left, schema) if isinstance(body, Combine) else build_grid(table)
        return _table(shown, plan, schema) if len(shown.columns) > 1 else _list(shown, plan, schema)
    return _with_kinds(_verbalise_select_result(body, table, schema, question), table, schema)


def _with_kinds(answer: Verbalisation, table: Table, schema: Schema) -> Verbalisation:
    """The answer with the number of things of each class: "There are 5 rooms: 3 halls and 2 cellars."."""
    if not table.kinds or not answer.text:
        return answer
    nouns = [(kind.count, class_noun(Variable("x", (kind.iri,)), schema)) for kind in table.kinds]
    kinds = join_names([f"one {noun}" if n == 1 else number_with_noun(n, noun) for n, noun in nouns])
    if isinstance(table.rows[0][0], int) and len(table.rows) == 1:
        return replace(answer, text=f"{answer.text.removesuffix('.')}: {kinds}.")
    if len(table.rows) == 1:
        return answer
    parting = "\n\n" if "\n" in answer.text else " "
    everyone = "Both" if len(table.rows) == 2 else "All of them"
    they = f"They are {kinds}" if len(nouns) > 1 else f"{everyone} are {plural(nouns[0][1])}"
    return replace(answer, text=f"{answer.text}{parting}{they}.")


def verbalise_rows(table: Table, lead: str = "") -> Verbalisation:
    """Rows without a plan in plain words: a list of one column, or a table of several after its `lead`."""
    found = build_grid(table)
    if lead:
        # the columns have the names of things, and no identifiers
        named = zip(found.columns, table.columns, strict=True)
        found = Grid(tuple(replace(column, heading=name) for column, name in named))
    if len(found.columns) == 1:
        names = list(dict.fromkeys(filter(None, found.columns[0].texts)))
        return Verbalisation(f"{join_first_names(names)}." if names else "", found.values(), _shared_unit(found))
    return _rows(found, lead or caption(columns_caption(found)))


def _verbalise_select_result(body: Select, table: Table, schema: Schema, question: str) -> Verbalisation:
    found = build_grid(table, body, schema)
    if len(found.columns) == len(body.answers) > 1 and (repeated := _repeated_columns(found, body)):
        found = Grid(tuple(column for i, column in enumerate(found.columns) if i not in repeated))
        body = replace(body, answers=tuple(each for i, each in enumerate(body.answers) if i not in repeated))
    last = body.answers[-1]
    if len(found.columns) == 1:
        if isinstance(last, Aggregate):
            return _number(found, body, last, schema, question)
        return _list(found, Plan(body), schema, table.measured)
    is_property = len(found.columns) == 2 and isinstance(last, Attribute) and isinstance(body.answers[0], Itself)
    if isinstance(last, Attribute) and is_property and not body.paired:
        return _owned_property(found, body, last, schema)
    return _table(found, Plan(body), schema)


def _repeated_columns(found: Grid, body: Select) -> set[int]:
    """The columns of things whose names another column repeats."""
    columns = list(zip(body.answers, found.columns, strict=True))
    named = {(a.variable, column.texts) for a, column in columns if isinstance(a, Attribute)}
    return {i for i, (a, c) in enumerate(columns) if isinstance(a, Itself) and (a.variable, c.texts) in named}


def _number(found: Grid, body: Select, term: Aggregate, schema: Schema, question: str) -> Verbalisation:
    """The sentence of one computed number, or of the numbers of several groups."""
    column, values = found.columns[0], found.values()
    if not values or not column.texts[0]:
        return Verbalisation("")
    numbers = join_names(list(dict.fromkeys(column.texts)))
    words, unit = verbalise_plan(Plan(body), schema), column.unit or None
    if is_unwieldy_for(words, schema):
        return Verbalisation(short_number_sentence(term, numbers, select_wording(body, schema)), values, unit)
    if len(values) == 1 and (sentence := count_sentence(body, values[0], schema, question)):
        return Verbalisation(sentence, values)
    many = len(values) > 1 or is_plural_phrase(words)
    return Verbalisation(answer_sentence(words, numbers, many), values, unit)


def _list(found: Grid, plan: Plan, schema: Schema, measured: Sequence[Cell] = ()) -> Verbalisation:
    text = list_answer(found, plan, schema, measured)
    return Verbalisation(text, found.values(), found.columns[0].unit or None) if text else Verbalisation("")


def _owned_property(found: Grid, body: Select, term: Attribute, schema: Schema) -> Verbalisation:
    """A property beside its things: the data are the values of the property alone."""
    things, column = found.columns
    is_known = any(v.keys for v in body.variables if v.name == term.variable)
    if things.texts == column.texts or not (things.is_named or (is_known and len(found.rows) == 1)):
        # the property is the name, or the things have only numbers for names
        return _list(Grid((column,)), Plan(replace(body, answers=body.answers[1:])), schema)
    texts = list(dict.fromkeys(filter(None, column.texts)))
    if not texts:
        return Verbalisation("")
    values, unit = found.values(1), column.unit or None
    names = list(dict.fromkeys(things.texts))
    name, is_owner_person = nominal_label(term.predicate, schema), is_person(things.heading)
    if len(names) == 1:
        owner = names[0] if things.is_named else f"{things.heading} {names[0]}"
        clause = values_of(term, texts, schema, things.heading).clause(owner)
        return Verbalisation(sentence_about(clause, owner if things.is_named else ""), values, unit)
    if len(texts) == 1:
        be = "are" if is_plural(name) else "is"
        whose = possessive_phrase(name, join_first_names(names), person=is_owner_person)
        return Verbalisation(f"The {whose} {be} {place_phrase(name, texts[0])}.", values, unit)
    rows = _rows(found, caption(verbalise_select(body, schema)))
    return replace(rows, values=values, unit=unit)


def _table(found: Grid, plan: Plan, schema: Schema) -> Verbalisation:
    """Several columns: a sentence of one row if it can be worded, else a table."""
    body, words = plan.body, verbalise_plan(plan, schema)
    is_unwieldy = is_unwieldy_for(words, schema)
    select = body if isinstance(body, Select) and len(found.rows) == 1 else None
    if select is not None and (sentence := _numbers_sentence(found, select, schema, is_unwieldy=is_unwieldy)):
        return _with_data(sentence, found)
    if isinstance(body, Select) and isinstance(body.answers[0], Attribute):
        found = Grid(tuple(replace(column, is_named=False) for column in found.columns))
    if select is not None and (sentence := _values_sentence(found, select, schema, is_unwieldy=is_unwieldy)):
        return _with_data(sentence, found)
    if is_unwieldy:
        of_these = values_of_these(body, schema) if isinstance(body, Select) else ""
        words = groups_caption(found, body) or of_these or columns_caption(found)
    if len(found.rows) == 1 and not found.columns[0].is_named and (sentence := single_group_sentence(found, body)):
        return _with_data(sentence, found)
    return _rows(found, caption(words))


def _numbers_sentence(found: Grid, body: Select, schema: Schema, *, is_unwieldy: bool) -> str:
    """Several numbers of the same things as a sentence; "" for other answers."""
    numbers = [answer for answer in body.answers if isinstance(answer, Aggregate)]
    if len(numbers) != len(body.answers) or len({variable_of(number) for number in numbers}) != 1:
        return ""
    texts = [column.texts[0] for column in found.columns]
    adjectives = word_map("wording", "aggregate_adjectives")
    if is_unwieldy:
        clauses = number_clauses(found.columns)
    elif len({number.of for number in numbers}) == 1 < len(numbers) and all(n.function in adjectives for n in numbers):
        # "the highest price of the chairs is 20, the lowest 5 and the average 12"
        first = verbalise_select(replace(body, answers=body.answers[:1]), schema)
        rest = [
            f"the {adjectives[number.function]} {text}" for number, text in zip(numbers[1:], texts[1:], strict=True)
        ]
        clauses = [f"{first} is {texts[0]}", *rest]
    else:
        first = verbalise_select(replace(body, answers=body.answers[:1]), schema)
        be = "are" if is_plural(found.columns[0].heading) else "is"
        clauses = [f"{first} {be} {texts[0]}", *number_clauses(found.columns[1:])]
    return f"{capitalise_first(join_names(clauses))}."


def _values_sentence(found: Grid, body: Select, schema: Schema, *, is_unwieldy: bool) -> str:
    """A few values of one thing as a sentence: "The height and the year of the bridge are 20 m and 1961."."""
    texts = [column.texts[0] for column in found.columns]
    if not all(texts) or len(texts) > MAX_VALUES_IN_SENTENCE or not _has_only_values_of_one(body):
        return ""
    short = values_of_these(body, schema, many=False, of_many=False) if is_unwieldy else ""
    if sentence := single_owner_sentence(found, body, schema, is_short=bool(short)):
        return sentence
    return f"{capitalise_first(short or verbalise_select(body, schema, many=False))} are {join_names(texts)}."


def _has_only_values_of_one(body: Select) -> bool:
    """Whether all answers are properties of the same things."""
    return all(isinstance(a, Attribute) for a in body.answers) and len({variable_of(a) for a in body.answers}) == 1


def _rows(found: Grid, lead: str) -> Verbalisation:
    """One row as a sentence, several rows as a table of the first ones."""
    return _with_data(single_row_sentence(found) if len(found.rows) == 1 else captioned_table(lead, found), found)


def _with_data(text: str, found: Grid) -> Verbalisation:
    return Verbalisation(text, found.values(), _shared_unit(found), found.headings(), found.data())


def _shared_unit(found: Grid) -> str | None:
    """The unit of all columns with a unit, if it is the same."""
    units = {column.unit for column in found.columns if column.unit}
    return units.pop() if len(units) == 1 else None
