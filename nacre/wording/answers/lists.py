"""Say a list of names or values: Grid of one column + Plan -> "The captains are Ann and Bo."."""

from nacre.language.base import language
from nacre.language.forms.nouns import is_plural, join_names, plural, possessive_phrase, wording_entry
from nacre.language.thesaurus import is_person
from nacre.records.evidence import Cell
from nacre.records.plan import Attribute, Body, Combine, Plan, Select
from nacre.records.schema import Schema
from nacre.wording.answers.grid import Grid, GridColumn
from nacre.wording.answers.property_sentences import link_sentence, property_sentence, verb_property_sentence
from nacre.wording.answers.rank_values import is_ordered_by_date, measure_number, ranking_values
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
from nacre.wording.answers.tables import captioned_table
from nacre.wording.labels.class_nouns import is_plain_noun, link_like_nouns
from nacre.wording.labels.predicate_labels import predicate_label
from nacre.wording.phrases.plan import verbalise_plan
from nacre.wording.phrases.property_names import property_phrase
from nacre.wording.phrases.select import order_phrase, select_wording, verbalise_select

# names of a sentence, and letters of all of them, beyond which they stand below each other
MOST, LONGEST = 10, 250
# names with several commas in them that a sentence bears
PARTED = 2


def list_answer(found: Grid, plan: Plan, schema: Schema, measured: tuple[Cell, ...]) -> str:
    """Names or values of one column; the best of its kind with the number that makes it the best."""
    column, body = found.columns[0], plan.body
    names = list(dict.fromkeys(filter(None, column.said)))
    if not names:
        return ""
    if isinstance(body, Select) and (told := _with_verb(body, names, schema)):
        return told
    one = len(names) == 1
    tied = not one and isinstance(body, Select) and body.limit == 1
    words = (
        verbalise_select(body, schema, many=not one, tied=tied)
        if isinstance(body, Select)
        else verbalise_plan(plan, schema)
    )
    if one and words == names[0] and isinstance(body, Select) and (kinds := body.variables[0].classes):
        # it was named by a code
        words = f"the {schema.class_of[kinds[0]].label}" if kinds[0] in schema.class_of else words
    if not column.is_named and one:
        names = [f"{column.heading} {names[0]}"]
    beside = ranking_values(plan, measured, schema) if _says_which(body, schema) else []
    if not is_unwieldy_for(words, schema):
        beside = [measure_number(each) for each in beside]
    if isinstance(body, Select) and (told := _done(body, words, names, schema, many=not one)):
        return told
    alike = len(set(beside)) == 1 and len(beside) == len(names) > 1 and not is_ordered_by_date(body, schema)
    apart = [f"{n} ({b})" for n, b in zip(names, beside, strict=False)] if not alike else []
    said = join_first_names(apart or names) + (f" ({_each(beside[0], len(names))})" if alike else "")
    if one:
        return _one(words, said, column, plan, schema)
    words = _not_again(words, body, schema)
    if _is_short(apart or names):
        return _several(words, said, column, body, schema, number=len(names))
    below = GridColumn(column.heading, "", tuple(apart or names), tuple((name,) for name in names), column.is_number)
    return captioned_table(caption(_lead(words, column, body, schema, number=len(names))), Grid((below,)))


def _each(number: str, many: int) -> str:
    """What is so of each of several things: "3 stars each", and of a bare number "both 38"."""
    return f"{number} each" if " " in number else f"{'both' if many == 2 else 'all'} {number}"


def is_unwieldy_for(words: str, schema: Schema) -> bool:
    """Whether a noun phrase is too long to go on from, or has a kind in it that is called like a link."""
    return is_unwieldy(words, link_like_nouns(schema))


def is_plural_phrase(words: str) -> bool:
    """Whether what a number is of is said in the plural: "the total sales of shops"."""
    return is_plural(words.removeprefix("the "))


def _with_verb(body: Select, names: list[str], schema: Schema) -> str:
    linked = link_sentence(body, join_first_names(names), schema, many=len(names) > 1)
    return linked or (property_sentence(body, names, schema) if len(names) <= MAX_LISTED_NAMES else "")


def _done(body: Select, words: str, names: list[str], schema: Schema, *, many: bool) -> str:
    """What things do, or when something was done to them: "The mills whose town is Rome were built in 1961"; "" where a
    property has a noun, and where that winds."""
    term = body.answers[-1]
    if (
        not is_question_clause(words)
        or is_unwieldy_for(words, schema)
        or len(names) > MAX_LISTED_NAMES
        or not isinstance(term, Attribute)
    ):
        return ""
    of = select_wording(body, schema)
    things = of.owners(term.variable) if many else of.things(term.variable, False, frozenset(), 0)
    return verb_property_sentence(capitalise_first(things), join_names(names), term, schema, many=many)


def _one(words: str, said: str, column: GridColumn, plan: Plan, schema: Schema) -> str:
    body, named = plan.body, column.heading[:1].islower()
    if isinstance(body, Select):
        term = body.answers[-1]
        many = isinstance(term, Attribute) and is_plural(column.heading) and is_plural_phrase(words)
        if is_unwieldy_for(words, schema) and isinstance(term, Attribute) and named:
            predicate = schema.predicate_of[term.predicate]
            if such := _one_such(term, said, column, select_wording(body, schema).noun(term.variable), schema):
                return such
            words = _of_these(body, term, schema, many=False, of_many=False)
            if words == f"the {column.heading}" and column.heading in wording_entry("moments"):
                return f"That was {'on' if predicate.datatype in ('date', 'datetime') else 'in'} {said}."
        return answer_sentence(words, said, many)
    alone = verbalise_plan(plan, schema, many=False)
    if alone != words and not is_unwieldy_for(alone, schema):
        return answer_sentence(alone, said, many=False)
    if isinstance(body, Combine) and isinstance(asked := body.left.answers[-1], Attribute):
        noun = select_wording(body.left, schema).noun(asked.variable)
        if such := _one_such(asked, said, column, noun, schema, in_common=True):
            return such
        # what two selects have in common is of several things
        words = _of_these(body.left, asked, schema, many=False, of_many=True)
    elif named:
        words = f"the {column.heading}"
    return answer_sentence(words, said, is_plural(column.heading))


def _one_such(
    term: Attribute, said: str, column: GridColumn, noun: str, schema: Schema, *, in_common: bool = False
) -> str:
    """The one thing by its name, or the one text that things share as a rule, or have `in_common`: "There is one such
    mill: De Kat"; "" for other values."""
    predicate = schema.predicate_of[term.predicate]
    naming = predicate.role == "name" or predicate_label(predicate.iri, schema).one in language().words["naming"]
    if naming and noun != "thing" and is_plain_noun(noun):
        return f"There is one such {noun}: {said}."
    shared = predicate.datatype == "text" and (in_common or predicate.objects <= predicate.subjects / 2)
    return f"There is one such {column.heading}: {said}." if shared and not is_plural(column.heading) else ""


def _several(words: str, said: str, column: GridColumn, body: Body, schema: Schema, *, number: int) -> str:
    order = order_phrase(body, schema) if isinstance(body, Select) else ""
    things = words.removesuffix(f", {order}")
    if order and number <= MAX_LISTED_NAMES and ", " not in things and not is_unwieldy_for(things, schema):
        return f"{capitalise_first(order)}, {definite_phrase(things)} are {said}."
    if not words.startswith("the ") or ", " in words or is_unwieldy_for(words, schema) or number > MAX_LISTED_NAMES:
        return f"{_lead(words, column, body, schema, number=number)}: {said}."
    last = body.answers[-1] if isinstance(body, Select) else None
    # "the equipment is", but "the headquarters are"
    mass = isinstance(last, Attribute) and not (
        is_plural_phrase(words) or is_plural(plural(column.heading)) or column.heading.endswith("s")
    )
    return answer_sentence(words, said, not mass)


def _lead(words: str, column: GridColumn, body: Body, schema: Schema, *, number: int) -> str:
    if not is_unwieldy_for(words, schema):
        return list_lead(words, number, body)
    return f"There are {number:,} such {plural(column.heading)}"


def _not_again(words: str, body: Body, schema: Schema) -> str:
    """Words that do not say all of the things again whose property is asked for, where that is much."""
    asked = body.left if isinstance(body, Combine) else body
    if is_unwieldy_for(words, schema) and isinstance(asked, Select) and isinstance(asked.answers[-1], Attribute):
        return _of_these(asked, asked.answers[-1], schema, many=True, of_many=True)
    return words


def _is_short(names: list[str]) -> bool:
    parted = sum(name.count(",") > 1 for name in names)
    return parted < PARTED and (len(names) <= MOST or sum(map(len, names[:MAX_LISTED_NAMES])) <= LONGEST)


def _of_these(body: Select, term: Attribute, schema: Schema, *, many: bool, of_many: bool) -> str:
    """A property of what is not said again: "the names of these mills"; `many` values, or one `of_many` things."""
    of = select_wording(body, schema)
    name, noun = property_phrase(of, term, many), of.noun(term.variable)
    # of one thing that is named and others
    name = plural(name) if many else name
    if noun == "thing" or not is_plain_noun(noun):
        return f"the {name}"
    return (
        f"the {possessive_phrase(name, f'these {plural(noun)}' if of_many else f'this {noun}', person=is_person(noun))}"
    )


def _says_which(body: Body, schema: Schema) -> bool:
    """Whether an answer tells things apart, so that what they are placed by may stand beside it."""
    last = body.answers[-1] if isinstance(body, Select) else None
    if not isinstance(last, Attribute) or (isinstance(body, Select) and last in body.by):
        return True
    return schema.predicate_of[last.predicate].role in ("name", "identifier")
