"""Compare two things, or two groups: members and others -> a table of their properties, what differs first."""

from dataclasses import dataclass, replace

from nacre.language.booleans import none_value
from nacre.language.forms.nouns import (
    count_phrase,
    is_plural,
    join_names,
    plural,
    singular,
    with_indefinite_article,
    wording_entry,
)
from nacre.language.thesaurus import is_person
from nacre.language.tokens import fold
from nacre.plans.statement import RunStatement
from nacre.records.evidence import Rows, Table
from nacre.records.plan import Variable
from nacre.records.schema import Predicate, Schema
from nacre.stores.sqlite.triples import Triple
from nacre.wording.answers.sentence import capitalise_first
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

PROPERTIES, NAMES, LISTED, WORDS, LIST_WORDS = 30, 5, 5, 12, 60
# numbers of what hangs on a thing that are looked at
ALL = 40


@dataclass(frozen=True)
class ComparisonSide:
    """The things on one side, by IRI, what they are called together, and the variable that stands for them."""

    name: str
    things: tuple[str, ...]
    variable: Variable


def compare_sides(left: ComparisonSide, right: ComparisonSide, schema: Schema, run: RunStatement) -> Rows | None:
    """The properties that either side has, as rows of a table, as evidence whose `text` says what differs."""
    rows: list[tuple[str, str, str]] = []
    triples: list[tuple[str, str, str]] = []
    for predicate in schema.predicates:
        if not is_describable(predicate, schema):
            continue
        sides = [predicate_facts(predicate, side.variable, schema, run) for side in (left, right)]
        if _names_only(predicate, sides, (left, right), schema):
            continue
        others = [{f.text for f in facts} for facts in sides[::-1]]
        said = [
            _said(facts, predicate, len(side.things), other, schema)
            for facts, side, other in zip(sides, (left, right), others, strict=True)
        ]
        listed = predicate.has_links
        if any(said) and all(len(cell.split()) <= (LIST_WORDS if listed else WORDS) for cell in said):
            several = predicate.minimum is None and any(len({f.text for f in facts}) > 1 for facts in sides)
            none = none_value(predicate)
            lack = none is not None and said == [none, none]
            label = (
                f"has {nominal_label(predicate.iri, schema)}" if lack else _property(predicate, schema, many=several)
            )
            rows.append((label, said[0] or "–", said[1] or "–"))
            triples += [f.triple for facts in sides for f in facts[:NAMES]]
    rows = _once(rows)
    for label, counts, links in _of_links(left, right, schema, run):
        rows.append((label, *counts))
        triples += links
    parts = [find_part(side.variable, schema, run) for side in (left, right)]
    if parts[0] is not None and parts[1] is not None and parts[0].noun == parts[1].noun:
        rows += _of_parts(parts[0], parts[1], schema, run)
    if not rows:
        return None
    other = [row for row in rows if fold(row[1]) != fold(row[2])]
    rows = sorted(rows, key=lambda row: (row not in other, "–" in row))[:PROPERTIES]
    return Rows(
        "sql",
        0,
        Table(("property", left.name, right.name), tuple(rows), units=("", "", "")),
        text="; ".join(f"{row[0]}: {row[1]} against {row[2]}" for row in rows),
        title=join_names(
            sorted((left.name, right.name), key=lambda name: name.startswith("the ") and " called " in name)
        ),
        words=f"how {left.name} and {right.name} compare",
        keys=(*left.things, *right.things)[:50],
        triples=tuple(triples),
    )


def _names_only(
    predicate: Predicate, sides: list[list[WordedFact]], named: tuple[ComparisonSide, ComparisonSide], schema: Schema
) -> bool:
    """Whether a property is a first or last name, which the things' names say already."""
    label = predicate_label(predicate.iri, schema).one
    said = (
        len(side.things) == 1 and all(is_part_of_name(label, f.text, side.name) for f in facts)
        for facts, side in zip(sides, named, strict=True)
    )
    return any(sides) and all(said)


def _of_links(
    left: ComparisonSide, right: ComparisonSide, schema: Schema, run: RunStatement
) -> list[tuple[str, tuple[str, str], list[Triple]]]:
    """How many things of each kind either side has, with the first links: "number of films", ("3", "5")."""
    found: list[tuple[str, tuple[str, str], list[Triple]]] = []
    classes = set(left.variable.classes) & set(right.variable.classes)
    own = class_noun(replace(left.variable, classes=tuple(sorted(classes))), schema)
    for predicate in schema.predicates:
        if predicate.role != "fact" or not predicate.has_links or not set(predicate.ranges) & classes:
            continue
        if any(is_describable(schema.predicate_of[iri], schema) for iri in predicate.inverses):
            # said in the other direction
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
        links = [f.triple for facts in sides for f in facts[:NAMES]]
        if {first, second} == {"0", "1"} and is_person(noun) and is_person(own):
            # who has a row as a singer is one
            found.append(
                (f"is {with_indefinite_article(noun)}", ("yes", "no") if first == "1" else ("no", "yes"), links)
            )
        else:
            found.append((f"number of {plural(noun)}", (first, second), links))
    return found[:LISTED]


def _of_parts(
    left: DependentPart, right: DependentPart, schema: Schema, run: RunStatement
) -> list[tuple[str, str, str]]:
    """The numbers of what hangs on either side."""
    theirs = {s.predicate.iri: s for s in number_ranges(right.select, right.variable, right.count, schema, run, ALL)}
    spoken, alone = is_plain_noun(left.noun), left.count == right.count == 1

    def called(label: str) -> str:
        # the "savings balance" of who has one savings account, the "price (cars)" of who has several
        if not spoken or label.startswith(left.noun):
            return label
        # a "payment amount" of a "customer payment" is its amount
        rest = label.removeprefix(f"{left.noun.split()[-1]} ")
        noun = left.noun.removesuffix(" record")
        return f"{noun} {rest}" if alone and " " not in noun else f"{rest} ({plural(left.noun)})"

    return [
        (
            called(predicate_label(s.predicate.iri, schema).one),
            s.phrase(schema),
            other.phrase(schema),
        )
        for s in number_ranges(left.select, left.variable, left.count, schema, run)
        if (other := theirs.get(s.predicate.iri)) is not None
    ]


def single_property_sentence(table: Table) -> str:
    """A comparison of one row as a sentence, "" where it has more, or says only yes or no.

    >>> single_property_sentence(Table(("property", "Ann", "Bo"), (("price (shoes)", "5", "6"),)))
    'The price of the shoes of Ann is 5, and that of Bo is 6.'
    >>> single_property_sentence(Table(("property", "Ann", "Bo"), (("details", "x", "x"),)))
    'Ann and Bo have the same details: x.'
    >>> single_property_sentence(Table(("property", "Ann", "Bo"), (("price (net)", "5", "6"),)))
    'The price (net) of Ann is 5, and that of Bo is 6.'
    >>> single_property_sentence(Table(("property", "Ann", "Bo"), (("number of cars", "1", "0"),)))
    'Ann has 1 car, and Bo has 0.'
    >>> single_property_sentence(Table(("property", "Ann", "Bo"), (("number of cars", "2", "2"),)))
    'Ann and Bo have 2 cars each.'
    """
    (label, first, second), *others = table.rows
    if others or first in ("yes", "no"):
        return ""
    noun, _, kind = str(label).removesuffix(")").partition(" (")
    if not is_plural(kind):
        # a bracket of the property's own name
        noun, kind = str(label), ""
    left, right = table.columns[1:]
    counted_kind = noun.removeprefix("number of ")
    if counted_kind != noun and first == second:
        return f"{capitalise_first(left)} and {right} have {_how_many(first, counted_kind)} each."
    if counted_kind != noun:
        return f"{capitalise_first(left)} has {_how_many(first, counted_kind)}, and {right} has {_how_many(second)}."
    if first == second:
        return f"{capitalise_first(left)} and {right} have the same {noun}: {first}."
    whose, be, that = f"the {kind} of {left}" if kind else left, "is", "that"
    if is_plural(noun):
        be, that = "are", "those"
    return f"The {noun} of {whose} {be} {first}, and {that} of {right} {be} {second}."


def _how_many(number: object, kind: str = "") -> str:
    return f"{number} {singular(kind) if number == '1' else kind}".rstrip()


def summarise_difference(table: Table, names: str = "") -> str:
    """What a comparison shows, in a sentence: what differs, and what is the same; `names` are those of both sides.

    >>> summarise_difference(Table(("property", "A", "B"), (("price", "5", "6"), ("size", "2", "2"))))
    'A and B differ in price; they have the same size'
    >>> summarise_difference(Table(("property", "A", "B"), (("food safe", "yes", "yes"), ("has siren", "no", "no"))))
    'both are food safe; neither has a siren'
    >>> summarise_difference(Table(("property", "A", "B"), (("price", "5", "6"), ("fired in", "K", "L"))))
    'A and B differ in price, among other things'
    """
    names = names or join_names(table.columns[1:])
    other = [str(row[0]) for row in table.rows if row[1] != row[2] and "–" not in row]
    same = [str(row[0]) for row in table.rows if row[1] == row[2]]
    flags = [str(row[0]) for row in table.rows if row[1] == row[2] and fold(str(row[1])) in ("yes", "no")]
    same = [label for label in same if label not in flags]
    parts = []
    if other:
        differ = _some([label.removeprefix("has ") for label in other])
        parts.append(f"{names} differ in {differ}" if differ else f"{names} differ")
    if same and (shared := join_names(_nouns(same)[0])):
        parts.append(f"{'they' if other else names} have the same {shared}")
    true = {str(row[0]) for row in table.rows if fold(str(row[1])) == "yes"}
    parts += [_of_both(label, yes=label in true) for label in flags[:LISTED]]
    return "; ".join(parts) or f"{names} have no property in common"


def _property(predicate: Predicate, schema: Schema, *, many: bool) -> str:
    """What a row is of: a noun where there is one, in the plural for `many` values; what things have or not with
    "has"."""
    label = predicate_label(predicate.iri, schema)
    if predicate.datatype == "boolean":
        return f"has {label.one}" if label.has else label.one
    name = nominal_label(predicate.iri, schema)
    if name.startswith("“"):
        return label.one
    # "the same number of masts", not the same masts
    return plural(name) if many else count_phrase(name, counts=predicate.datatype == "integer" and not predicate.unit)


def _of_both(label: str, *, yes: bool) -> str:
    noun = label.removeprefix("has ")
    if noun == label:
        return f"{'both are' if yes else 'neither is'} {label}"
    mass = noun.split()[-1] in wording_entry("mass") or is_plural(noun)
    return f"{'both have' if yes else 'neither has'} {noun if mass else with_indefinite_article(noun)}"


def _some(labels: list[str]) -> str:
    """The first of those labels that are nouns, "" where none is: things differ in price, and not in "fired in"."""
    shown, rest = _nouns(labels)
    if len(shown) < LISTED:
        # "price (rooms)" is that of their rooms
        parts = [label.removesuffix(")").partition(" (") for label in labels if label.endswith(")")]
        theirs = [(kind, name) for name, _, kind in parts if is_plural(kind)][: LISTED - len(shown)]
        kinds = {kind: [name for other, name in theirs if other == kind] for kind, _ in theirs}
        own = [f"the {join_names(names)} of their {kind}" for kind, names in kinds.items()]
        said, rest = ", and in ".join([*([join_names(shown)] if shown else []), *own]), rest - len(theirs)
    else:
        said = join_names(shown)
    return f"{said}{', among other things' if said and rest else ''}"


def _nouns(labels: list[str]) -> tuple[list[str], int]:
    """The first of those labels that are nouns, and how many others there are."""
    nouns = [
        each
        for each in labels
        if each.split()[-1] not in wording_entry("prepositions")
        and not each.endswith(")")
        and not each.startswith("is ")
    ]
    shown = nouns if len(nouns) <= LISTED + 1 else nouns[:LISTED]
    return shown, len(labels) - len(shown)


def _said(facts: list[WordedFact], predicate: Predicate, things: int, other: set[str], schema: Schema) -> str:
    """The value of a thing; of a group the average and the ends of its numbers, or its most common values; of many
    those first that the `other` side has not."""
    numbers = [f.number for f in facts if f.number is not None]
    if things > 1 and len(numbers) == len(facts) > 1:
        low, high, mean = min(numbers), max(numbers), sum(numbers) / len(numbers)
        span = NumberRange(predicate, low, high, mean, ())
        average = span.average(schema)
        return f"{span.phrase(schema)}, {average} on average" if average else span.phrase(schema)
    counts: dict[str, int] = {}
    for fact in facts:
        counts[fact.text] = counts.get(fact.text, 0) + 1
    many = len(counts) > NAMES
    names = sorted(counts, key=lambda name: (many and name in other, -counts[name]))
    more = len(names) - NAMES
    return names[0] if len(names) == 1 else join_names([*names[:NAMES], f"{more} more"] if more > 0 else names)


def _once(rows: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Without rows that repeat another: the same cells under a label that shares a word."""
    found: list[tuple[str, str, str]] = []
    for row in rows:
        if not any(row[1:] == other[1:] and set(row[0].split()) & set(other[0].split()) for other in found):
            found.append(row)
    return found
