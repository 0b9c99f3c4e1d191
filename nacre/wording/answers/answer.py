"""Say a result in words: Plan + Table -> Phrase."""

from dataclasses import dataclass, replace

from nacre.language.format_values import say
from nacre.language.forms.nouns import belonging, is_plural, joined, plural, seated
from nacre.language.thesaurus import is_person
from nacre.plans.durations import in_words
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
    value_of,
)
from nacre.records.schema import Schema
from nacre.wording.answers.counts import of_these, there_are
from nacre.wording.answers.grid import Grid, grid, whole
from nacre.wording.answers.lists import is_many, listed, winding
from nacre.wording.answers.property_sentences import stated, valued
from nacre.wording.answers.sentence import NAMED, answer_sentence, capital, caption, names_listed, rest_listed
from nacre.wording.answers.tables import (
    each_is,
    for_each,
    for_one,
    of_columns,
    one_row,
    one_with,
    under,
    values_of_these,
)
from nacre.wording.phrases.join_clauses import COMPUTED
from nacre.wording.phrases.plan import asked_of, to_words
from nacre.wording.phrases.predicate_labels import is_amount, label_of, nominal
from nacre.wording.phrases.select import select_words, wording_of

# values of one thing that are said in a sentence
MOST_SAID = 3


@dataclass(frozen=True)
class Phrase:
    """`text` in plain English, the same data as `values`, and the unit that both use.

    Rows of more than one column are `columns` and `rows`, and `text` then ends with a Markdown table.
    """

    text: str
    values: tuple[Value, ...] = ()
    unit: str | None = None
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Value | None, ...], ...] = ()


def phrase(plan: Plan, table: Table, schema: Schema, question: str) -> Phrase:
    """The answer in words and as data; an empty table gives an empty phrase."""
    if not table.rows:
        return Phrase("")
    body = plan.body
    if isinstance(body, Ask):
        yes = bool(table.rows[0][0])
        said = asked_of(body.select, schema)[not yes]
        answer = "Yes" if yes else "No"
        return Phrase(f"{answer}." if winding(said, schema) else f"{answer}, {said}.", (yes,))
    if isinstance(body, Compute):
        return _computed(body, table, schema)
    if not isinstance(body, Select):
        # both sides have the columns of the first
        shown = grid(table, body.left, schema) if isinstance(body, Combine) else grid(table)
        return _tabled(shown, plan, schema) if len(shown.columns) > 1 else _listed(shown, plan, schema)
    found = grid(table, body, schema)
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


def rows_said(table: Table, lead: str = "") -> Phrase:
    """Rows in plain words, for what has no plan: a list of one column, or a table of several after its `lead`."""
    found = grid(table)
    if lead:
        # its columns are called after things, not after names of code
        named = zip(found.columns, table.columns, strict=True)
        found = Grid(tuple(replace(column, heading=name) for column, name in named))
    units = {column.unit for column in found.columns if column.unit}
    unit = units.pop() if len(units) == 1 else None
    if len(found.columns) == 1:
        said = list(dict.fromkeys(filter(None, found.columns[0].said)))
        return Phrase(f"{names_listed(said)}." if said else "", found.values(), unit)
    return _columns(found, lead or caption(of_columns(found)), unit)


def _computed(body: Compute, table: Table, schema: Schema) -> Phrase:
    result, left, right = table.rows[0]
    if body.op in ELAPSED:
        return Phrase(capital(in_words(body, table, schema)), (whole(result),), table.units[0])  # type: ignore[arg-type]
    unit = table.units[-1]
    averaged = any(
        isinstance(s.answers[-1], Aggregate) and s.answers[-1].function == "avg" for s in (body.left, body.right)
    )
    of = [value_of(a) for a in (body.left.answers[-1], body.right.answers[-1])]
    counted = all(not isinstance(each, Attribute) or is_amount(each.predicate, schema) for each in of)
    a, b = (say(each, unit, counted=counted, rounded=averaged) for each in (left, right))
    if body.op in ("<", "<=", ">", ">=", "=", "!="):
        word = "higher" if left > right else "lower" if left < right else "equal"  # type: ignore[operator]
        first, second = (select_words(each, schema, many=False) for each in (body.left, body.right))
        told = f"both are {a}" if word == "equal" else f"{a} is {word} than {b}"
        if first != second and not winding(f"{first} {second}", schema):
            labels = [label_of(each.predicate, schema).one for each in of if isinstance(each, Attribute)]
            be = "are" if labels and is_plural(labels[0]) else "is"
            told = f"{first} {be} {a}, {word} {'to' if word == 'equal' else 'than'} {second} ({b})"
        return Phrase(f"{'Yes' if result else 'No'}, {told}.", (bool(result),))
    assert isinstance(result, int | float)
    if body.op == "-":
        text = f"The difference is {say(abs(result), unit, rounded=averaged)} ({a} against {b})."
        return Phrase(text, (whole(abs(result)),), unit or None)
    if body.op == "%":
        # of each the things are said, not that they are counted
        whole_of, part = (
            select_words(replace(each, answers=tuple(value_of(a) for a in each.answers)), schema)
            for each in (body.right, body.left)
        )
        share = say(result, "%", rounded=True)
        of_all = f"{share} of the {whole_of.removeprefix('the ')} ({a} of {b}) are {part}"
        told = f"{share} ({a} of {b})" if winding(of_all, schema) else of_all
        return Phrase(f"{told}.", (whole(result),), "%")
    words = to_words(Plan(body), schema)
    said = say(result, unit if body.op == "+" else "", rounded=body.op == "/" or averaged)
    return Phrase(f"{capital(words)} is {said}.", (whole(result),), (unit if body.op == "+" else "") or None)


def _number(found: Grid, plan: Plan, schema: Schema, question: str) -> Phrase:
    column = found.columns[0]
    values = found.values()
    if not values or not column.said[0]:
        return Phrase("")
    said = joined(list(dict.fromkeys(column.said)))
    words = to_words(plan, schema)
    term = plan.body.answers[-1] if isinstance(plan.body, Select) else None
    if winding(words, schema) and isinstance(term, Aggregate) and isinstance(plan.body, Select):
        return Phrase(of_these(term, said, wording_of(plan.body, schema)), values, column.unit or None)
    if len(values) == 1 and (there := there_are(plan.body, values[0], schema, question)):
        return Phrase(there, values)
    return Phrase(answer_sentence(words, said, len(values) > 1 or is_many(words)), values, column.unit or None)


def _listed(found: Grid, plan: Plan, schema: Schema, measured: tuple[Cell, ...] = ()) -> Phrase:
    said = listed(found, plan, schema, measured)
    return Phrase(said, found.values(), found.columns[0].unit or None) if said else Phrase("")


def _owned(found: Grid, body: Select, schema: Schema) -> Phrase:
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
        return Phrase("")
    term = body.answers[-1]
    assert isinstance(term, Attribute)
    name = nominal(term.predicate, schema)
    verb = name.startswith("“")
    sentence = ""
    if len(names) == 1 and len(said) <= NAMED:
        owner = names[0] if things.is_named else f"{things.heading} {names[0]}"
        sentence = stated(owner, joined(said), term, schema) or valued(owner, said, term, schema)
    if sentence:
        return Phrase(sentence if things.is_named else capital(sentence), values, unit)
    if len(names) == 1:
        if not things.is_named:
            names = [f"{things.heading} {names[0]}"]
        told = joined(said[:NAMED])
        many = len(said) > 1 or is_plural(name)
        noun = plural(name) if many and not verb else name
        whose = belonging(noun, names[0], person=is_person(things.heading))
        return Phrase(f"The {whose} {'are' if many else 'is'} {seated(name, told)}{rest_listed(said)}.", values, unit)
    if len(said) == 1:
        be = "are" if is_plural(name) else "is"
        whose = belonging(name, names_listed(names), person=is_person(things.heading))
        return Phrase(f"The {whose} {be} {seated(name, said[0])}.", values, unit)
    shown = _columns(found, caption(select_words(body, schema)), unit)
    return Phrase(shown.text, values, unit, shown.columns, shown.rows)


def _tabled(found: Grid, plan: Plan, schema: Schema) -> Phrase:
    units = {column.unit for column in found.columns if column.unit}
    unit = units.pop() if len(units) == 1 else None
    body, words = plan.body, to_words(plan, schema)
    if isinstance(body, Select) and len(found.rows) == 1:
        numbers = [a for a in body.answers if isinstance(a, Aggregate)]
        if len(numbers) == len(body.answers) and len({variable_of(a) for a in numbers}) == 1:
            said = [c.said[0] for c in found.columns]
            of_one = {a.of if a.function in COMPUTED else None for a in numbers}
            if winding(words, schema):
                told = joined(each_is(found.columns))
            elif of_one != {None} and len(of_one) == 1 and len(numbers) > 1:
                # "the highest price of the chairs is 20, the lowest 5 and the average 12"
                first = select_words(replace(body, answers=body.answers[:1]), schema)
                others = zip(numbers[1:], said[1:], strict=True)
                rest = [f"the {COMPUTED[a.function]} {value}" for a, value in others]
                told = joined([f"{first} is {said[0]}", *rest])
            else:
                first = select_words(replace(body, answers=body.answers[:1]), schema)
                be = "are" if is_plural(found.columns[0].heading) else "is"
                told = joined([f"{first} {be} {said[0]}", *each_is(found.columns[1:])])
            return Phrase(f"{capital(told)}.", found.values(), unit, found.headings(), found.data())
    if isinstance(body, Select) and isinstance(body.answers[0], Attribute):
        found = Grid(tuple(replace(c, is_named=False) for c in found.columns))
    cells = [c.said[0] for c in found.columns]
    short = len(found.rows) == 1 and all(cells) and len(cells) <= MOST_SAID
    if short and isinstance(body, Select) and _of_one_kind(body):
        # "the height and the year of the bridge are 20 m and 1961"
        one = values_of_these(body, schema, many=False) if winding(words, schema) else ""
        if told := one_with(found, body, schema, these=bool(one)):
            return Phrase(told, found.values(), unit, found.headings(), found.data())
        text = f"{capital(one or select_words(body, schema, many=False))} are {joined(cells)}."
        return Phrase(text, found.values(), unit, found.headings(), found.data())
    if winding(words, schema):
        words = for_each(found, body) or values_of_these(body, schema) or of_columns(found)
    if len(found.rows) == 1 and not found.columns[0].is_named and (text := for_one(found, body)):
        return Phrase(text, found.values(), unit, found.headings(), found.data())
    return _columns(found, caption(words), unit)


def _of_one_kind(body: Select) -> bool:
    """Whether nothing but values of things of one kind is shown, and not these things."""
    return all(isinstance(a, Attribute) for a in body.answers) and len({variable_of(a) for a in body.answers}) == 1


def _columns(found: Grid, lead: str, unit: str | None) -> Phrase:
    """Rows of several columns: one is a sentence, several are a table of the first rows."""
    columns, values = found.headings(), found.values()
    if len(found.rows) == 1:
        return Phrase(one_row(found), values, unit, columns, found.data())
    return Phrase(under(lead, found), values, unit, columns, found.data())
