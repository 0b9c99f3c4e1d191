"""Word a result: Plan + Table -> Verbalisation."""

import re
from collections.abc import Sequence
from dataclasses import replace

from nacre.language.data import word_list, word_map
from nacre.language.thesaurus import is_person, superlative_spellings
from nacre.language.tokens import ENGLISH, detect_language, tokenize
from nacre.language.values import format_value
from nacre.language.word_forms import (
    is_plural,
    join_names,
    number_with_noun,
    place_phrase,
    plural,
    possessive_phrase,
    singular,
    with_indefinite_article,
)
from nacre.plans.run import AGE_COLUMNS, UNIT_SECONDS, is_life_span
from nacre.plans.selects import is_from_earlier_turn, variable_of
from nacre.records.answer import Value
from nacre.records.evidence import Cell, Table
from nacre.records.plan import (
    ELAPSED,
    MEANS,
    Aggregate,
    Ask,
    Attribute,
    Body,
    Combine,
    Compute,
    Itself,
    Plan,
    Select,
    Variable,
    aggregated_value,
)
from nacre.records.schema import Schema
from nacre.wording.grid import Grid, GridColumn, Verbalisation, build_grid, drop_zero_fraction
from nacre.wording.labels import predicate_label
from nacre.wording.lists import (
    captioned_table,
    columns_caption,
    groups_caption,
    is_plural_phrase,
    is_unwieldy_for,
    list_answer,
    number_clauses,
    single_group_sentence,
    single_owner_sentence,
    single_row_sentence,
    values_of,
    values_of_these,
)
from nacre.wording.noun_phrase import SelectWording
from nacre.wording.nouns import class_noun, is_amount, is_plain_noun, nominal_label
from nacre.wording.plan_phrases import (
    ask_statements,
    select_wording,
    universal_statement,
    verbalise_plan,
    verbalise_select,
)
from nacre.wording.sentence import (
    answer_sentence,
    capitalise_first,
    caption,
    definite_phrase,
    is_question_clause,
    join_first_names,
    sentence_about,
)

MAX_VALUES_IN_SENTENCE = 3  # values of one thing in a sentence


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
    if len(found.columns) == len(body.answers) > 1:
        columns = list(zip(body.answers, found.columns, strict=True))
        named = {(a.variable, column.texts) for a, column in columns if isinstance(a, Attribute)}
        repeated = {i for i, (a, c) in enumerate(columns) if isinstance(a, Itself) and (a.variable, c.texts) in named}
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
    is_group = len(found.rows) == 1 and not found.columns[0].is_named
    if is_group and (sentence := single_group_sentence(found, body, schema)):
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
        return f"{capitalise_first(join_names(number_clauses(found.columns)))}."
    be, rest = "are" if is_plural(found.columns[0].heading) else "is", number_clauses(found.columns[1:])
    if len({number.of for number in numbers}) == 1 < len(numbers) and all(n.function in adjectives for n in numbers):
        # "the highest price of the chairs is 20, the lowest 5 and the average 12"
        be = "is"
        rest = [f"the {adjectives[n.function]} {text}" for n, text in zip(numbers[1:], texts[1:], strict=True)]
    first = verbalise_select(replace(body, answers=body.answers[:1]), schema)
    return f"{capitalise_first(join_names([f'{first} {be} {texts[0]}', *rest]))}."


def _values_sentence(found: Grid, body: Select, schema: Schema, *, is_unwieldy: bool) -> str:
    """A few values of one thing as a sentence: "The height and the year of the bridge are 20 m and 1961."."""
    texts = [column.texts[0] for column in found.columns]
    is_of_one = all(isinstance(a, Attribute) for a in body.answers) and len(set(map(variable_of, body.answers))) == 1
    if not all(texts) or len(texts) > MAX_VALUES_IN_SENTENCE or not is_of_one:
        return ""
    short = values_of_these(body, schema, many=False, of_many=False) if is_unwieldy else ""
    if sentence := single_owner_sentence(found, body, schema, is_short=bool(short)):
        return sentence
    return f"{capitalise_first(short or verbalise_select(body, schema, many=False))} are {join_names(texts)}."


def _rows(found: Grid, lead: str) -> Verbalisation:
    is_one = len(found.rows) == 1 and any(column.texts[0] for column in found.columns)
    return _with_data(single_row_sentence(found) if is_one else captioned_table(lead, found), found)


def _with_data(text: str, found: Grid) -> Verbalisation:
    return Verbalisation(text, found.values(), _shared_unit(found), found.headings(), found.data())


def _shared_unit(found: Grid) -> str | None:
    units = {column.unit for column in found.columns if column.unit}
    return units.pop() if len(units) == 1 else None


def verbalise_computation(body: Compute, table: Table, schema: Schema) -> Verbalisation:
    """The result of a comparison or calculation with both numbers."""
    result, left, right = table.rows[0]
    if body.op in ELAPSED:
        sentence = capitalise_first(duration_sentence(body, table, schema))
        return Verbalisation(sentence, (drop_zero_fraction(result),), table.units[0])  # type: ignore[arg-type]
    unit = table.units[-1]
    numbers = [side.answers[-1] for side in (body.left, body.right)]
    is_mean = any(isinstance(number, Aggregate) and number.function in MEANS for number in numbers)
    terms = list(map(aggregated_value, numbers))
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
    names = [each.label for each in body.right.variables if each.label]
    unit, name = table.units[0], ", ".join(names)
    duration = format_value(result, unit.removesuffix("s") if result == 1 else unit)
    dates = f"from {format_value(first, counted=False)} to {format_value(last, counted=False)}"
    if body.left.variables[0].keys != body.right.variables[0].keys:
        return f"The difference is {duration}, {dates}."
    if body.op in UNIT_SECONDS and len(names) == 1:
        return f"{name} lasted {duration}, {dates}."
    if len(names) > 1 or (body.op == "years" and not is_life_span(body, schema)):
        # years of service are no age
        return f"{name}: {duration}, {dates}."
    return f"{name} {'is' if table.columns == AGE_COLUMNS else 'was'} {duration} old, {dates}."


def _comparison_sentence(body: Compute, row: tuple[Cell, ...], values: tuple[str, str], schema: Schema) -> str:
    result, left, right = row
    counts = (left, right) if isinstance(left, int) and isinstance(right, int) else None
    if counts and (all_of := universal_statement(body, schema, counts)):
        return f"{'Yes' if result else 'No'}, {all_of}."
    a, b = values
    more, less = ("later", "earlier") if isinstance(left, str) else ("higher", "lower")
    is_more = left > right  # type: ignore[operator]
    if isinstance(left, str) and body.op[0] in "<>":
        # dates in words have no order
        is_more = body.op.startswith(">") == bool(result)
    word = "equal" if left == right else more if is_more else less
    first, second = (verbalise_select(side, schema, many=False) for side in (body.left, body.right))
    reason = f"both are {a}" if word == "equal" else f"{a} is {word} than {b}"
    if first != second and not is_unwieldy_for(f"{first} {second}", schema):
        terms = [aggregated_value(side.answers[-1]) for side in (body.left, body.right)]
        labels = [predicate_label(term.predicate, schema).one for term in terms if isinstance(term, Attribute)]
        be = "are" if labels and is_plural(labels[0]) else "is"
        reason = f"{first} {be} {a}, {word} {'to' if word == 'equal' else 'than'} {second} ({b})"
    return f"{'Yes' if result else 'No'}, {reason}."


def _share_sentence(body: Compute, share: str, a: str, b: str, schema: Schema) -> str:
    whole, part = (
        verbalise_select(replace(side, answers=tuple(map(aggregated_value, side.answers))), schema)
        for side in (body.right, body.left)
    )
    # not "are owners who live in Oslo"
    own = part.removeprefix(f"{whole} that ").removeprefix(f"{whole} who ")
    said = own if own != part else f"are {part}"
    sentence = f"{share} of the {whole.removeprefix('the ')} ({a} of {b}) {said}"
    return f"{share} ({a} of {b})." if is_unwieldy_for(sentence, schema) else f"{sentence}."


def count_sentence(body: Body, number: Value, schema: Schema, question: str) -> str:
    """A count as a sentence; "" for groups, other numbers and zero. "There are 3 mills whose town is Rome"."""
    term = body.answers[-1] if isinstance(body, Select) else None
    if not isinstance(body, Select) or not isinstance(term, Aggregate) or term.function != "count":
        return ""
    if body.group or body.by or not number:
        return ""
    wording, one = select_wording(body, schema), number == 1
    if isinstance(term.of, Attribute):
        words = _values(wording, term.of, schema, question, one=one)
        return f"There {'is only one' if one else f'are {format_value(number)} different'} {words}." if words else ""
    known = wording.variables.get(term.of.variable)
    if known is None or is_from_earlier_turn(known) or (known.keys and (len(known.keys) == 1 or not known.label)):
        return ""
    things = wording.things(term.of.variable, not one, frozenset(), 0).removeprefix("the ")
    return f"There {'is one' if one else f'are {format_value(number)}'} {things}."


def short_number_sentence(term: Aggregate, number: str, wording: SelectWording) -> str:
    """A number without the conditions on its things: "There are 3 such mills"."""
    noun = wording.noun(term.of.variable)
    if isinstance(term.of, Itself):
        return f"There is one such {noun}." if number == "1" else f"There are {number} such {plural(noun)}."
    name = wording.computed(term, short=True)
    of = f" of these {plural(noun)}" if noun != "thing" and is_plain_noun(noun) else ""
    return answer_sentence(f"the {name}{of}", number, is_plural(name))


def _values(wording: SelectWording, of: Attribute, schema: Schema, question: str, *, one: bool) -> str:
    """Different values of a property; with their owners if the question names them or the name is ambiguous."""
    label = predicate_label(of.predicate, schema)
    if label.kind != "noun":
        return ""
    name, owners = label.one if one else label.many, wording.owners(of.variable)
    noun = wording.noun(of.variable)
    plain = owners == f"the {plural(noun)}" and noun.split()[-1] not in {each.lemma for each in tokenize(question)}
    alike = [p for p in schema.predicates if predicate_label(p.iri, schema).one == label.one]
    return name if plain and len(alike) == 1 else f"{name} among {owners}"


_PARTS = re.compile(r"\W+|(?=jahr|jaar)")  # words, and the "year" that ends a compound of German or Dutch

MAX_SENTENCE_VALUES = 6  # more values than these follow a colon


def verbalise_meaning(meaning: str, table: Table, data: Verbalisation) -> Verbalisation:
    """The data in a sentence from their meaning ("the prices of the mills"), else from the headings."""
    words = " ".join(meaning.split()).rstrip(".?!")
    if table.columns[:1] == ("yes",) and table.rows:
        return Verbalisation(_truth(words, table), (bool(table.rows[0][0]),))
    parts = set(_PARTS.split(words.lower()))
    is_year = not parts.isdisjoint(word_list("wording", "year_words"))
    if len(table.columns) == 1 and (is_year or not parts.isdisjoint(word_list("wording", "year_headings"))):
        found = build_grid(replace(table, columns=(f"{table.columns[0]} {'year' if is_year else 'when'}",)))
        found = Grid((replace(found.columns[0], heading=build_grid(table).columns[0].heading),))
    else:
        found = build_grid(table)
    if len(found.columns) == 1:
        names = list(dict.fromkeys(filter(None, found.columns[0].texts)))
        heading = found.columns[0].heading
        is_counted = len(names) > 1 and heading not in word_list("wording", "blank_headings")
        text = _sentence(words or (plural(heading) if is_counted else heading), names) if names else ""
    elif len(found.rows) == 1:
        text = _row_sentence(words, found)
    else:
        text = captioned_table(caption(words), found) if words else data.text
    return replace(data, text=text or data.text)


def _truth(words: str, table: Table) -> str:
    """Yes or no with the statement and the values that decide it."""
    yes = bool(table.rows[0][0])
    rest = replace(table, columns=table.columns[1:], rows=tuple(row[1:] for row in table.rows), units=table.units[1:])
    further = build_grid(rest)
    statement = words.removeprefix("whether ")
    said = {token.norm for token in tokenize(statement)} if yes else set()
    # what the statement says already is not said again
    deciding = [each for each in further.columns if not {token.norm for token in tokenize(each.texts[0])} <= said]
    values = join_names([_clause(column) for column in deciding])
    if statement == words:
        about = f", as to {words}" if words else ""
        return f"{'Yes' if yes else 'No'}{about}{f': {values}' if values else ''}."
    if yes:
        return f"Yes, {statement}{f': {values}' if values else ''}."
    return f"No: {values}." if values else f"No, it is not the case that {statement}."


def _sentence(words: str, names: list[str]) -> str:
    """What is asked for with its values. "The variants are A and B.", "The only variant is A."."""
    values = join_first_names(names)
    if not words or words.lower() in word_list("wording", "blank_headings"):
        return f"The answer is {values}." if len(names) == 1 else f"There are {len(names):,}: {values}."
    if is_question_clause(words) or detect_language(words) != ENGLISH:
        return f"{capitalise_first(words)}: {values}."
    phrase, is_many = definite_phrase(words), _is_plural(words)
    if is_many and len(names) == 1 and phrase.startswith("the ") and not names[0][:1].isdigit():
        return f"{_single(phrase)} is {values}."
    if not is_many and len(names) > 1:
        if (several := plural(phrase)) == phrase or len(names) > MAX_SENTENCE_VALUES:
            return f"{capitalise_first(phrase)}: {values}."
        phrase, is_many = several, True
    return f"{capitalise_first(phrase)} {'are' if is_many else 'is'} {values}."


def _single(phrase: str) -> str:
    """The subject of a sentence about the one thing that a plural phrase turned out to name.

    >>> _single("the mills with the lowest price"), _single("the mills of Hay"), _single("the mills that grind rye")
    ('The mill with the lowest price', 'The only mill of Hay', 'The only one of the mills that grind rye')
    """
    noun = phrase.removeprefix("the ")
    one, words = singular(noun), noun.split()
    if one == noun or noun[:1].isdigit() or not word_list("wording", "relative_pronouns").isdisjoint(words):
        return f"The only one of {phrase}"
    ranks = superlative_spellings().keys() | word_list("texts", "superlative_words")
    return f"The {'only ' if ranks.isdisjoint(words) else ''}{one}"


def _is_plural(words: str) -> bool:
    """Whether the noun before a clause is plural: "the mills that are old"."""
    clauses = (words.find(f" {word} ") for word in word_list("wording", "relative_pronouns"))
    return is_plural_phrase(words[: min((at for at in clauses if at > 0), default=len(words))])


def _row_sentence(words: str, found: Grid) -> str:
    """Several values of one row: "The cheapest mill is A, and its price is 5 euro."; other rows after a colon."""
    shown = [column for column in found.columns if column.texts[0]]
    if not words or not shown:
        return ""
    if words.lower().startswith("where "):
        # "where the mill is" is one place, however many columns describe it
        return f"{capitalise_first(words)}: {', '.join(column.texts[0] for column in shown)}."
    phrase = capitalise_first(definite_phrase(words))
    first, _, second = phrase.partition(" and its ")
    if second and len(shown) == len(found.columns) == 2:
        return f"{first} is {shown[0].texts[0]}, and its {second} is {shown[1].texts[0]}."
    if " and " in words and len(shown) == len(found.columns) == 2 and not is_question_clause(words):
        return f"{phrase} are {join_names([column.texts[0] for column in shown])}."
    return f"{phrase}: {join_names([f'{column.heading} {column.texts[0]}'.strip() for column in shown])}."


def _clause(column: GridColumn) -> str:
    """The value of a column as a clause: "the height of the mill is 20 m"."""
    phrase = definite_phrase(column.heading)
    return f"{phrase} {'are' if is_plural_phrase(phrase) else 'is'} {column.texts[0]}"
