"""Say a result in words: Plan + Table -> Phrase."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nacre.records.answer import Value
from nacre.records.evidence import Cell, Table
from nacre.records.plan import (
    ELAPSED,
    Aggregate,
    Ask,
    Attribute,
    Body,
    Combine,
    Compute,
    Itself,
    Plan,
    Select,
    value_of,
)
from nacre.records.schema import Schema
from nacre.semantics.elapsed import in_words
from nacre.semantics.english import is_person
from nacre.semantics.grid import Grid, grid, whole
from nacre.semantics.labels_said import is_amount, is_spoken, label_of, nominal, unspoken
from nacre.semantics.leads import NAMED, answer_sentence, capital, list_lead, names_listed, rest_listed, winds
from nacre.semantics.nouns import belonging, counted, is_plural, joined, plural
from nacre.semantics.placed_by import is_dated, number_of, placed_by
from nacre.semantics.properties_said import linked_to, of_one, stated, valued
from nacre.semantics.property_words import property_words
from nacre.semantics.select_shape import variable_of
from nacre.semantics.select_words import select_words, wording_of
from nacre.semantics.tables_said import for_each, for_one, of_columns, one_row, values_of_these
from nacre.semantics.to_words import asked_of, to_words
from nacre.semantics.values_said import say

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
        return Phrase(f"{answer}." if _winds(said, schema) else f"{answer}, {said}.", (yes,))
    if isinstance(body, Compute):
        return _computed(body, table, schema)
    if not isinstance(body, Select):
        shown = grid(table)
        return _tabled(shown, plan, schema) if len(shown.columns) > 1 else _listed(shown, plan, schema, ())
    found = grid(table, body, schema)
    if len(found.columns) == 1:
        last = body.answers[-1]
        if isinstance(last, Aggregate):
            return _number(found, plan, schema)
        return _listed(found, plan, schema, table.measured)
    owned = len(found.columns) == 2 and isinstance(body.answers[-1], Attribute) and isinstance(body.answers[0], Itself)
    if owned and not body.paired:
        return _owned(found, body, schema)
    return _tabled(found, plan, schema)


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
    return _columns(found, lead or of_columns(found), unit)


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
        if first != second and not _winds(f"{first} {second}", schema):
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
        told = f"{share} ({a} of {b})" if _winds(of_all, schema) else of_all
        return Phrase(f"{told}.", (whole(result),), "%")
    words = to_words(Plan(body), schema)
    said = say(result, unit if body.op == "+" else "", rounded=body.op == "/" or averaged)
    return Phrase(f"{capital(words)} is {said}.", (whole(result),), (unit if body.op == "+" else "") or None)


def _number(found: Grid, plan: Plan, schema: Schema) -> Phrase:
    column = found.columns[0]
    values = found.values()
    if not values or not column.said[0]:
        return Phrase("")
    said = joined(list(dict.fromkeys(column.said)))
    words = to_words(plan, schema)
    term = plan.body.answers[-1] if isinstance(plan.body, Select) else None
    if _winds(words, schema) and isinstance(term, Aggregate) and isinstance(plan.body, Select):
        wording = wording_of(plan.body, schema)
        if isinstance(term.of, Itself):
            noun = wording.noun(term.of.variable)
            be, many = ("is", noun) if said == "1" else ("are", plural(noun))
            return Phrase(f"There {be} {said} such {many}.", values, column.unit or None)
        words = f"the {wording.computed(term, short=True)}"
    if isinstance(term, Aggregate) and (there := _there_are(plan.body, term, values, schema)):
        return Phrase(there, values)
    return Phrase(answer_sentence(words, said, len(values) > 1 or _is_many(words)), values, column.unit or None)


def _there_are(body: Body, term: Aggregate, values: Sequence[Value], schema: Schema) -> str:
    """ "There are 3 mills whose town is Rome": a number of things of which something is said; "" for others."""
    if not isinstance(body, Select) or body.group or body.by or len(values) != 1 or not values[0]:
        return ""
    if term.function != "count" or not isinstance(term.of, Itself):
        return ""
    one = values[0] == 1
    things = wording_of(body, schema).things(term.of.variable, not one, frozenset(), 0).removeprefix("the ")
    return f"There {'is' if one else 'are'} {say(values[0])} {things}." if " whose " in things else ""


def _listed(found: Grid, plan: Plan, schema: Schema, measured: tuple[Cell, ...]) -> Phrase:
    """Names or values of one column; the best of its kind with the number that makes it the best."""
    column = found.columns[0]
    names = list(dict.fromkeys(filter(None, column.said)))
    if not names:
        return Phrase("")
    values, body = found.values(), plan.body
    linked = linked_to(body, names_listed(names), schema, many=len(names) > 1) if isinstance(body, Select) else ""
    if linked:
        return Phrase(linked, values, column.unit or None)
    one = len(names) == 1
    told = of_one(body, names, schema) if isinstance(body, Select) and len(names) <= NAMED else ""
    if told:
        return Phrase(told, values, column.unit or None)
    tied = not one and isinstance(body, Select) and body.limit == 1
    words = select_words(body, schema, many=not one, tied=tied) if isinstance(body, Select) else to_words(plan, schema)
    if one and words == names[0] and isinstance(body, Select) and (kinds := body.variables[0].classes):
        # it was named by a code
        words = f"the {schema.class_of[kinds[0]].label}" if kinds[0] in schema.class_of else words
    if not column.is_named and one:
        names = [f"{column.heading} {names[0]}"]
    beside = placed_by(plan, measured, schema) if _says_which(body, schema) else []
    if not _winds(words, schema):
        beside = [number_of(each) for each in beside]
    alike = len(set(beside)) == 1 and len(beside) == len(names) > 1 and not is_dated(body, schema)
    apart = [f"{n} ({b})" for n, b in zip(names, beside, strict=False)] if not alike else []
    said = names_listed(apart or names)
    said += f" ({beside[0]} each)" if alike else ""
    if not isinstance(body, Select) and one:
        alone = to_words(plan, schema, many=False)
        if alone != words and not _winds(alone, schema):
            return Phrase(answer_sentence(alone, said, many=False), values, column.unit or None)
        words = f"the {column.heading}" if column.heading[:1].islower() else words
        return Phrase(answer_sentence(words, said, is_plural(column.heading)), values, column.unit or None)
    if isinstance(body, Select) and one:
        many = isinstance(body.answers[-1], Attribute) and is_plural(column.heading) and _is_many(words)
        if _winds(words, schema) and isinstance(body.answers[-1], Attribute) and column.heading[:1].islower():
            words = _of_these(body, body.answers[-1], schema, many=False)
        return Phrase(answer_sentence(words, said, many), values, column.unit or None)
    asked = body.left if isinstance(body, Combine) else body
    if _winds(words, schema) and isinstance(asked, Select) and isinstance(asked.answers[-1], Attribute):
        words = _of_these(asked, asked.answers[-1], schema, many=True)
    short = _winds(words, schema)
    as_sentence = words.startswith("the ") and ", " not in words and not short
    if as_sentence and len(names) <= NAMED:
        last = body.answers[-1] if isinstance(body, Select) else None
        # "the equipment is", but "the headquarters are"
        mass = isinstance(last, Attribute) and not (
            _is_many(words) or is_plural(plural(column.heading)) or column.heading.endswith("s")
        )
        return Phrase(answer_sentence(words, said, not mass), values, column.unit or None)
    lead = counted(len(names), column.heading) if short else list_lead(words, len(names), body)
    return Phrase(f"{lead}: {said}.", values, column.unit or None)


def _of_these(body: Select, term: Attribute, schema: Schema, *, many: bool) -> str:
    """A property of what is not said again: "the names of these mills"; one value may be that of one or of several."""
    wording = wording_of(body, schema)
    name, noun = property_words(wording, term, many), wording.noun(term.variable)
    of_one = schema.predicate_of[term.predicate].role in ("name", "identifier")
    if noun == "thing" or not is_spoken(noun) or not (many or of_one):
        return f"the {name}"
    return f"the {belonging(name, f'these {plural(noun)}' if many else f'this {noun}', person=is_person(noun))}"


def _winds(words: str, schema: Schema) -> bool:
    return winds(words, unspoken(schema))


def _says_which(body: object, schema: Schema) -> bool:
    """Whether an answer tells things apart, so that what they are placed by may stand beside it."""
    last = body.answers[-1] if isinstance(body, Select) else None
    if not isinstance(last, Attribute) or (isinstance(body, Select) and last in body.by):
        return True
    return schema.predicate_of[last.predicate].role in ("name", "identifier")


def _is_many(words: str) -> bool:
    """Whether what a number is of is said in the plural: "the total sales of shops"."""
    return is_plural(words.removeprefix("the "))


def _owned(found: Grid, body: Select, schema: Schema) -> Phrase:
    """A property of things: the values are those of the property alone."""
    things, column = found.columns
    values, unit = found.values(1), column.unit or None
    named = any(v.keys for v in body.variables if v.name == body.answers[-1].variable)  # type: ignore[union-attr]
    if things.said == column.said or not (things.is_named or (named and len(found.rows) == 1)):
        # the property is the name, or there is no name but a number to tell things apart by
        return _listed(Grid((column,)), Plan(replace(body, answers=body.answers[1:])), schema, ())
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
        return Phrase(sentence, values, unit)
    if len(names) == 1:
        if not things.is_named:
            names = [f"{things.heading} {names[0]}"]
        told = joined(said[:NAMED])
        many = len(said) > 1 or is_plural(name)
        noun = plural(name) if many and not verb else name
        whose = belonging(noun, names[0], person=is_person(things.heading))
        return Phrase(f"The {whose} {'are' if many else 'is'} {told}{rest_listed(said)}.", values, unit)
    if len(said) == 1:
        be = "are" if is_plural(name) else "is"
        whose = belonging(name, names_listed(names), person=is_person(things.heading))
        return Phrase(f"The {whose} {be} {said[0]}.", values, unit)
    lead = capital(select_words(body, schema))
    shown = _columns(found, lead, unit)
    return Phrase(shown.text, values, unit, shown.columns, shown.rows)


def _tabled(found: Grid, plan: Plan, schema: Schema) -> Phrase:
    units = {column.unit for column in found.columns if column.unit}
    unit = units.pop() if len(units) == 1 else None
    body, words = plan.body, to_words(plan, schema)
    if isinstance(body, Select) and len(found.rows) == 1:
        numbers = [a for a in body.answers if isinstance(a, Aggregate)]
        if len(numbers) == len(body.answers) and len({variable_of(a) for a in numbers}) == 1:
            said = joined([c.said[0] for c in found.columns])
            words = f"the {joined([c.heading for c in found.columns])}" if _winds(words, schema) else words
            return Phrase(f"{capital(words)} are {said}.", found.values(), unit, found.headings(), found.data())
    if isinstance(body, Select) and isinstance(body.answers[0], Attribute):
        found = Grid(tuple(replace(c, is_named=False) for c in found.columns))
    cells = [c.said[0] for c in found.columns]
    short = len(found.rows) == 1 and all(cells) and len(cells) <= MOST_SAID and not _winds(words, schema)
    if short and isinstance(body, Select) and _of_one_kind(body):
        # "the height and the year of the bridge are 20 m and 1961"
        text = f"{capital(select_words(body, schema, many=False))} are {joined(cells)}."
        return Phrase(text, found.values(), unit, found.headings(), found.data())
    if _winds(words, schema):
        words = for_each(found, body) or values_of_these(body, schema) or of_columns(found)
    if len(found.rows) == 1 and not found.columns[0].is_named and (text := for_one(found, body)):
        return Phrase(text, found.values(), unit, found.headings(), found.data())
    return _columns(found, words, unit)


def _of_one_kind(body: Select) -> bool:
    """Whether nothing but values of things of one kind is shown, and not these things."""
    return all(isinstance(a, Attribute) for a in body.answers) and len({variable_of(a) for a in body.answers}) == 1


def _columns(found: Grid, lead: str, unit: str | None) -> Phrase:
    """Rows of several columns: one is a sentence, several are a table of the first rows."""
    columns, values = found.headings(), found.values()
    if len(found.rows) == 1:
        return Phrase(one_row(found), values, unit, columns, found.data())
    said = capital(lead)
    if len(found.rows) > NAMED:
        number = f"{len(found.rows):,}"
        total = "" if said.startswith(f"{number} ") else f"{number} in all; "
        said += f" ({total}the first are shown, ask with --json for the rest)"
    return Phrase(f"{said}:\n\n{found.markdown(NAMED)}", values, unit, columns, found.data())
