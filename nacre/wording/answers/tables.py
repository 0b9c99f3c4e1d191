"""Word a table without the conditions of its plan: Grid + Plan -> captions, or a sentence of one row."""

import re
from collections.abc import Sequence

from nacre.language.base import word_list
from nacre.language.forms.measure_nouns import is_count_noun
from nacre.language.forms.nouns import (
    is_participle,
    is_plural,
    join_names,
    plural,
    possessive_phrase,
    singular,
    with_indefinite_article,
)
from nacre.language.thesaurus import is_person
from nacre.records.plan import Aggregate, Attribute, Body, Select
from nacre.records.schema import Schema
from nacre.wording.answers.grid import Grid, GridColumn
from nacre.wording.answers.sentence import MAX_LISTED_NAMES, capitalise_first
from nacre.wording.labels.class_nouns import is_plain_noun
from nacre.wording.labels.parse_label import parse_label
from nacre.wording.labels.predicate_labels import predicate_label
from nacre.wording.phrases.property_names import property_phrase
from nacre.wording.phrases.select import select_wording


def values_of_these(select: Select, schema: Schema, *, many: bool = True, of_many: bool = True) -> str:
    """Properties without the conditions on their things: "the names of these ships and the ages of these captains".

    With `many` and `of_many` off, of one thing: "the name of this ship". Empty if things are asked for.
    """
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
    """A row of values of one thing, not all numbers: "Emma has the captain Ann and the flag Malta"; "" for others.

    With `is_short`, "this ship" stands for the conditions on the thing.
    """
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


def single_group_sentence(found: Grid, body: Body) -> str:
    """The numbers of the only group: "For Oslo, the average age is 41."; "" for other tables."""
    groups, numbers = _group_and_number_columns(found, body)
    if not numbers or not groups or not all(c.texts[0] for c in (*groups, *numbers)):
        return ""
    group = join_names([c.texts[0] for c in groups])
    return f"For {group}, {join_names(number_clauses(numbers))}."


def number_clauses(numbers: Sequence[GridColumn]) -> list[str]:
    """A clause for each number: "the average age is 41"."""
    return [f"the {c.heading} {'are' if is_plural(c.heading) else 'is'} {c.texts[0]}" for c in numbers]


def _group_and_number_columns(found: Grid, body: Body) -> tuple[list[GridColumn], list[GridColumn]]:
    """The columns of the groups, and the columns of the numbers computed for them."""
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
    if any(
        c.heading.rpartition(" ")[2] in word_list("wording", "prepositions") or is_participle(c.heading) for c in rest
    ):
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
    """The caption of a table by its headings: "ships with their captain and year", "captains and years", or "ships and
    what they are named after"."""
    first, *rest = [column.heading for column in found.columns]
    if not (found.columns[0].is_named and rest):
        return join_names([plural(first), *map(plural, rest)])
    states = [each for each in rest if each.rpartition(" ")[2] in word_list("wording", "prepositions")]
    nouns = [each for each in rest if each not in states]
    things = f"{plural(first)} with their {join_names(nouns)}" if nouns else plural(first)
    return join_names([things, *(f"what they are {each}" for each in states)])


def captioned_table(lead: str, found: Grid) -> str:
    """A table of the first rows below a caption, with their number and how to see the rest."""
    words, number = capitalise_first(lead), f"{len(found.rows):,}"
    if len(found.rows) > MAX_LISTED_NAMES:
        total = "" if words.startswith(f"{number} ") else f"{number} in all; "
        words += f" ({total}the first are shown, ask with --json for the rest)"
    return f"{words}:\n\n{found.markdown(MAX_LISTED_NAMES)}"
