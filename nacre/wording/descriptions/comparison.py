"""Compare two things, or two groups: members and others -> a table of their properties, what differs first."""

from dataclasses import dataclass, replace

from nacre.language.booleans import none_value
from nacre.language.forms.nouns import (
    count_phrase,
    join_names,
    plural,
    with_indefinite_article,
)
from nacre.language.thesaurus import is_person
from nacre.language.tokens import fold
from nacre.plans.statement import RunStatement
from nacre.records.evidence import Rows, Table
from nacre.records.plan import Variable
from nacre.records.schema import Predicate, Schema
from nacre.stores.sqlite.triples import Triple
from nacre.wording.descriptions.facts import WordedFact, link_facts, predicate_facts
from nacre.wording.descriptions.identifying_names import is_part_of_name
from nacre.wording.descriptions.part_statistics import (
    DependentPart,
    NumberRange,
    find_part,
    is_possession,
    linking_class,
    number_ranges,
)
from nacre.wording.labels.association_classes import associated_noun, other_links
from nacre.wording.labels.class_nouns import class_noun, is_plain_noun, strip_owner
from nacre.wording.labels.predicate_labels import is_describable, predicate_label
from nacre.wording.labels.value_kinds import nominal_label

MAX_PROPERTIES, MAX_LINK_ROWS = 30, 5
# names in a cell, and triples of a side and property
MAX_NAMES = 5
# words of a cell with a value, and of a cell with a list
MAX_VALUE_WORDS, MAX_LIST_WORDS = 12, 60
# number ranges of a part that are looked at
ALL_RANGES = 40
MAX_CITED_THINGS = 50
NOTHING = "–"


@dataclass(frozen=True)
class ComparisonSide:
    """The things on one side by IRI, their name together, and the variable that stands for them."""

    name: str
    things: tuple[str, ...]
    variable: Variable


def compare_sides(left: ComparisonSide, right: ComparisonSide, schema: Schema, run: RunStatement) -> Rows | None:
    """The properties of both sides as a table, what differs first; its `text` lists them. None without properties."""
    rows: list[tuple[str, str, str]] = []
    triples: list[tuple[str, str, str]] = []
    for predicate in schema.predicates:
        if not is_describable(predicate, schema):
            continue
        sides = [predicate_facts(predicate, side.variable, schema, run) for side in (left, right)]
        if _repeats_names(predicate, sides, (left, right), schema):
            continue
        others = [{fact.text for fact in facts} for facts in sides[::-1]]
        cells = [
            _cell(facts, predicate, len(side.things), other, schema)
            for facts, side, other in zip(sides, (left, right), others, strict=True)
        ]
        most = MAX_LIST_WORDS if predicate.has_links else MAX_VALUE_WORDS
        if any(cells) and all(len(cell.split()) <= most for cell in cells):
            several = predicate.minimum is None and any(len({f.text for f in facts}) > 1 for facts in sides)
            none = none_value(predicate)
            lack = none is not None and cells == [none, none]
            label = (
                f"has {nominal_label(predicate.iri, schema)}" if lack else _row_label(predicate, schema, many=several)
            )
            rows.append((label, cells[0] or NOTHING, cells[1] or NOTHING))
            triples += [f.triple for facts in sides for f in facts[:MAX_NAMES]]
    rows = _drop_repeated_rows(rows)
    for label, counts, links in _link_rows(left, right, schema, run):
        rows.append((label, *counts))
        triples += links
    parts = [find_part(side.variable, schema, run) for side in (left, right)]
    if parts[0] is not None and parts[1] is not None and parts[0].noun == parts[1].noun:
        rows += _part_rows(parts[0], parts[1], schema, run)
    if not rows:
        return None
    other = [row for row in rows if fold(row[1]) != fold(row[2])]
    rows = sorted(rows, key=lambda row: (row not in other, NOTHING in row))[:MAX_PROPERTIES]
    return Rows(
        "sql",
        0,
        Table(("property", left.name, right.name), tuple(rows), units=("", "", "")),
        text="; ".join(f"{row[0]}: {row[1]} against {row[2]}" for row in rows),
        title=join_names(
            sorted((left.name, right.name), key=lambda name: name.startswith("the ") and " called " in name)
        ),
        words=f"how {left.name} and {right.name} compare",
        keys=(*left.things, *right.things)[:MAX_CITED_THINGS],
        triples=tuple(triples),
    )


def _repeats_names(
    predicate: Predicate, sides: list[list[WordedFact]], named: tuple[ComparisonSide, ComparisonSide], schema: Schema
) -> bool:
    """Whether a property is a first or last name, which the names of the things say already."""
    label = predicate_label(predicate.iri, schema).one
    repeats = (
        len(side.things) == 1 and all(is_part_of_name(label, f.text, side.name) for f in facts)
        for facts, side in zip(sides, named, strict=True)
    )
    return any(sides) and all(repeats)


def _link_rows(
    left: ComparisonSide, right: ComparisonSide, schema: Schema, run: RunStatement
) -> list[tuple[str, tuple[str, str], list[Triple]]]:
    """How many things of each class link to either side, with the first links: "number of films", ("3", "5")."""
    found: list[tuple[str, tuple[str, str], list[Triple]]] = []
    classes = set(left.variable.classes) & set(right.variable.classes)
    own = class_noun(replace(left.variable, classes=tuple(sorted(classes))), schema)
    for predicate in schema.predicates:
        if predicate.role != "fact" or not predicate.has_links or not set(predicate.ranges) & classes:
            continue
        if any(is_describable(schema.predicate_of[iri], schema) for iri in predicate.inverses):
            # a row in the other direction says it
            continue
        kind, noun = linking_class(predicate, schema)
        noun = associated_noun(noun, own, other_links(predicate, kind, schema), schema) or strip_owner(
            noun, own, schema
        )
        if (
            not is_possession(predicate_label(predicate.iri, schema), own)
            or not is_plain_noun(noun)
            or f" {noun}".endswith(f" {own}")
        ):
            # an "accelerator compatible browser" only joins browsers to something else
            continue
        sides = [link_facts(predicate, s.variable, schema, run, incoming=True, classes=kind) for s in (left, right)]
        first, second = (f"{len({f.triple[0] for f in facts}):,}" for facts in sides)
        if not any(sides) or ({first, second} == {"1"} and is_person(noun) and is_person(own)):
            continue
        links = [f.triple for facts in sides for f in facts[:MAX_NAMES]]
        if {first, second} == {"0", "1"} and is_person(noun) and is_person(own):
            # a person with a row as a singer is a singer
            found.append(
                (f"is {with_indefinite_article(noun)}", ("yes", "no") if first == "1" else ("no", "yes"), links)
            )
        else:
            found.append((f"number of {plural(noun)}", (first, second), links))
    return found[:MAX_LINK_ROWS]


def _part_rows(
    left: DependentPart, right: DependentPart, schema: Schema, run: RunStatement
) -> list[tuple[str, str, str]]:
    """The number ranges of the parts of either side."""
    theirs = {
        s.predicate.iri: s for s in number_ranges(right.select, right.variable, right.count, schema, run, ALL_RANGES)
    }
    is_plain, is_single = is_plain_noun(left.noun), left.count == right.count == 1

    def part_label(label: str) -> str:
        # the "savings balance" of a single savings account, the "price (cars)" of several cars
        if not is_plain or label.startswith(left.noun):
            return label
        # a "payment amount" of a "customer payment" is its amount
        rest = label.removeprefix(f"{left.noun.split()[-1]} ")
        noun = left.noun.removesuffix(" record")
        return f"{noun} {rest}" if is_single and " " not in noun else f"{rest} ({plural(left.noun)})"

    return [
        (
            part_label(predicate_label(s.predicate.iri, schema).one),
            s.phrase(schema),
            other.phrase(schema),
        )
        for s in number_ranges(left.select, left.variable, left.count, schema, run)
        if (other := theirs.get(s.predicate.iri)) is not None
    ]


def _row_label(predicate: Predicate, schema: Schema, *, many: bool) -> str:
    """The label of a row: a noun, in the plural for `many` values; "has" before what things may have."""
    label = predicate_label(predicate.iri, schema)
    if predicate.datatype == "boolean":
        return f"has {label.one}" if label.has else label.one
    name = nominal_label(predicate.iri, schema)
    if name.startswith("“"):
        return label.one
    # "the same number of masts", not the same masts
    return plural(name) if many else count_phrase(name, counts=predicate.datatype == "integer" and not predicate.unit)


def _cell(facts: list[WordedFact], predicate: Predicate, things: int, other: set[str], schema: Schema) -> str:
    """The value of a thing; of a group its number range and mean, or its most common values.

    Of many values, those that the `other` side does not have come first.
    """
    numbers = [f.number for f in facts if f.number is not None]
    if things > 1 and len(numbers) == len(facts) > 1:
        low, high, mean = min(numbers), max(numbers), sum(numbers) / len(numbers)
        span = NumberRange(predicate, low, high, mean, ())
        average = span.average(schema)
        return f"{span.phrase(schema)}, {average} on average" if average else span.phrase(schema)
    counts: dict[str, int] = {}
    for fact in facts:
        counts[fact.text] = counts.get(fact.text, 0) + 1
    many = len(counts) > MAX_NAMES
    names = sorted(counts, key=lambda name: (many and name in other, -counts[name]))
    more = len(names) - MAX_NAMES
    return names[0] if len(names) == 1 else join_names([*names[:MAX_NAMES], f"{more} more"] if more > 0 else names)


def _drop_repeated_rows(rows: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """The rows without those that repeat the cells of another under a label that shares a word."""
    found: list[tuple[str, str, str]] = []
    for row in rows:
        if not any(row[1:] == other[1:] and set(row[0].split()) & set(other[0].split()) for other in found):
            found.append(row)
    return found
