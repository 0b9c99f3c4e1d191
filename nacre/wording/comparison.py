"""Compare two things, or two groups: members and others -> a table of what differs, and its words."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from nacre.language.data import word_list
from nacre.language.labels import none_value
from nacre.language.thesaurus import is_person
from nacre.language.tokens import fold
from nacre.language.word_forms import (
    Pronoun,
    count_phrase,
    is_plural,
    join_names,
    plural,
    singular,
    with_indefinite_article,
)
from nacre.plans.sql_joins import RunStatement
from nacre.records.evidence import EvidenceSentence, Rows, Table
from nacre.records.plan import Variable
from nacre.records.schema import Predicate, Schema
from nacre.stores.sqlite.triples import Triple
from nacre.wording.facts import PropertyFacts, WordedFact, is_part_of_name, link_facts, predicate_facts
from nacre.wording.group import DependentPart, NumberRange, find_part, is_possession, linking_class, number_ranges
from nacre.wording.labels import is_describable, predicate_label
from nacre.wording.nouns import (
    associated_noun,
    class_noun,
    is_plain_noun,
    is_temporal,
    nominal_label,
    other_links,
    strip_owner,
)
from nacre.wording.sentence import capitalise_first

MAX_PROPERTIES, MAX_LINK_ROWS = 30, 5

MAX_NAMES = 5  # names in a cell, and triples of a side and property
MAX_VALUE_WORDS, MAX_LIST_WORDS = 12, 60  # words of a cell with a value, and of a cell with a list
ALL_RANGES = 40  # number ranges of a part that are looked at

MAX_CITED_THINGS = 50
NOTHING = "–"


@dataclass(frozen=True)
class ComparisonSide:
    """The things on one side by IRI, their name together, and the variable that stands for them."""

    name: str
    things: tuple[str, ...]
    variable: Variable


@dataclass(frozen=True)
class _ComparedProperty:
    """A property of both sides: its label, a cell for each side, what both share as a clause, and the triples."""

    label: str
    cells: tuple[str, str]
    shared: str = ""
    triples: tuple[Triple, ...] = ()


def compare_sides(left: ComparisonSide, right: ComparisonSide, schema: Schema, run: RunStatement) -> Rows | None:
    """The properties of both sides as a table, what differs first; its `text` lists them. None without properties."""
    found = _compared_properties(left, right, schema, run)
    if not found:
        return None
    shown = sorted(found, key=lambda each: (fold(each.cells[0]) == fold(each.cells[1]), NOTHING in each.cells))
    shown = shown[:MAX_PROPERTIES]
    cells = tuple((each.label, *each.cells) for each in shown)
    names = sorted((left.name, right.name), key=lambda name: name.startswith("the ") and " called " in name)
    return Rows(
        "sql",
        0,
        Table(("property", left.name, right.name), cells, units=("", "", "")),
        text="; ".join(f"{each.label}: {each.cells[0]} against {each.cells[1]}" for each in shown),
        title=join_names(names),
        words=f"how {left.name} and {right.name} compare",
        keys=(*left.things, *right.things)[:MAX_CITED_THINGS],
        triples=tuple(triple for each in found for triple in each.triples),
    )


def shared_properties(
    left: ComparisonSide, right: ComparisonSide, schema: Schema, run: RunStatement
) -> list[EvidenceSentence]:
    """A sentence for each property of which both sides have a value."""
    both = join_names([left.name, right.name])
    keys = (*left.things, *right.things)[:MAX_CITED_THINGS]
    return [
        EvidenceSentence("sql", 0, text=f"{each.shared}.", title=both, keys=keys, triples=each.triples)
        for each in _compared_properties(left, right, schema, run)
        if each.shared
    ]


def _compared_properties(
    left: ComparisonSide, right: ComparisonSide, schema: Schema, run: RunStatement
) -> list[_ComparedProperty]:
    found: list[_ComparedProperty] = []
    for predicate in schema.predicates:
        if not is_describable(predicate, schema):
            continue
        sides = [predicate_facts(predicate, side.variable, schema, run) for side in (left, right)]
        if _repeats_names(predicate, sides, (left, right), schema):
            continue
        texts = [list(dict.fromkeys(fact.text for fact in facts)) for facts in sides]
        cells = tuple(
            _cell(facts, predicate, len(side.things), set(other), schema)
            for facts, side, other in zip(sides, (left, right), texts[::-1], strict=True)
        )
        most = MAX_LIST_WORDS if predicate.has_links else MAX_VALUE_WORDS
        if not any(cells) or any(len(cell.split()) > most for cell in cells):
            continue
        none = none_value(predicate)
        several = predicate.minimum is None and any(len(each) > 1 for each in texts)
        is_lack = none is not None and set(cells) == {none}
        label = f"has {nominal_label(predicate.iri, schema)}" if is_lack else _row_label(predicate, schema, several)
        shared = [fact for fact in sides[0] if fact.text in texts[1]]
        in_common = {fact.text for fact in shared}
        listed = (sorted(facts, key=lambda fact: fact.text not in in_common) for facts in sides)
        triples = tuple(fact.triple for facts in listed for fact in facts[:MAX_NAMES])
        filled = (cells[0] or NOTHING, cells[1] or NOTHING)
        clause = _shared_clause(predicate, shared, join_names([left.name, right.name]), schema) if shared else ""
        found.append(_ComparedProperty(label, filled, clause, triples))
    found = [*_drop_repeated(found), *_compared_links(left, right, schema, run)]
    parts = [find_part(side.variable, schema, run) for side in (left, right)]
    if parts[0] is not None and parts[1] is not None and parts[0].noun == parts[1].noun:
        found += _compared_parts(parts[0], parts[1], join_names([left.name, right.name]), schema, run)
    return found


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


def _compared_links(
    left: ComparisonSide, right: ComparisonSide, schema: Schema, run: RunStatement
) -> list[_ComparedProperty]:
    """How many things of each class link to either side, with the first links: "number of films", ("3", "5")."""
    found: list[_ComparedProperty] = []
    classes = set(left.variable.classes) & set(right.variable.classes)
    own = class_noun(replace(left.variable, classes=tuple(sorted(classes))), schema)
    for predicate in schema.predicates:
        if predicate.role != "fact" or not predicate.has_links or not set(predicate.ranges) & classes:
            continue
        if any(is_describable(schema.predicate_of[iri], schema) for iri in predicate.inverses):
            # a row in the other direction says it
            continue
        kind, noun = linking_class(predicate, schema)
        beyond = associated_noun(noun, own, other_links(predicate, kind, schema), schema)
        noun = beyond or strip_owner(noun, own, schema)
        is_counted = is_plain_noun(noun) and not f" {noun}".endswith(f" {own}")
        if not is_counted or not is_possession(predicate_label(predicate.iri, schema), own):
            # an "accelerator compatible browser" only joins browsers to something else
            continue
        sides = [link_facts(predicate, s.variable, schema, run, incoming=True, classes=kind) for s in (left, right)]
        first, second = (f"{len({f.triple[0] for f in facts}):,}" for facts in sides)
        if not any(sides) or ({first, second} == {"1"} and is_person(noun) and is_person(own)):
            continue
        links = tuple(f.triple for facts in sides for f in facts[:MAX_NAMES])
        label, cells = f"number of {plural(noun)}", (first, second)
        if {first, second} == {"0", "1"} and is_person(noun) and is_person(own):
            # a person with a row as a singer is a singer
            label, cells = f"is {with_indefinite_article(noun)}", ("yes", "no") if first == "1" else ("no", "yes")
        found.append(_ComparedProperty(label, cells, triples=links))
    return found[:MAX_LINK_ROWS]


def _compared_parts(
    left: DependentPart, right: DependentPart, both: str, schema: Schema, run: RunStatement
) -> list[_ComparedProperty]:
    ours = number_ranges(left, schema, run)
    only = {own.predicate.iri for own in ours}
    theirs = {other.predicate.iri: other for other in number_ranges(right, schema, run, ALL_RANGES, only)}
    is_plain, is_single = is_plain_noun(left.noun), left.count == right.count == 1

    def part_label(label: str) -> str:
        # the "savings balance" of a single savings account, the "price (cars)" of several cars
        if not is_plain or label.startswith(left.noun):
            return label
        # a "payment amount" of a "customer payment" is its amount
        rest = label.removeprefix(f"{left.noun.split()[-1]} ")
        noun = left.noun.removesuffix(" record")
        return f"{noun} {rest}" if is_single and " " not in noun else f"{rest} ({plural(left.noun)})"

    found = []
    for own in ours:
        other = theirs.get(own.predicate.iri)
        if other is not None:
            cells = own.phrase(schema), other.phrase(schema)
            name = predicate_label(own.predicate.iri, schema).one
            theirs_too = f"The {plural(left.noun)} of {both} have the same {name}: {cells[0]}"
            shared = theirs_too if cells[0] == cells[1] else ""
            found.append(_ComparedProperty(part_label(name), cells, shared, (*own.triples, *other.triples)))
    return found


def _shared_clause(predicate: Predicate, facts: Sequence[WordedFact], both: str, schema: Schema) -> str:
    """What both sides have in common: "Ann and Bo speak Danish", "Ann and Bo have the same age: 41"."""
    label = predicate_label(predicate.iri, schema)
    subject = Pronoun(both, "their", many=True)
    common = PropertyFacts(predicate, label, tuple(facts), is_temporal(predicate.iri, schema), subject).values
    if said := common.verb_clause():
        return said
    name = plural(label.one) if common.count > 1 else label.one
    have = f"share the {name}" if predicate.has_links else f"have the same {name}:"
    return f"{both} {have} {common.text}"


def _row_label(predicate: Predicate, schema: Schema, many: bool) -> str:
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
    """The value of a thing; of a group its range and mean, or its common values, those without the `other` first."""
    numbers = [f.number for f in facts if f.number is not None]
    if things > 1 and len(numbers) == len(facts) > 1:
        low, high, mean = min(numbers), max(numbers), sum(numbers) / len(numbers)
        span = NumberRange(predicate, low, high, mean, ())
        average = span.average(schema)
        return f"{span.phrase(schema)}, {average} on average" if average else span.phrase(schema)
    counts = Counter(fact.text for fact in facts)
    many = len(counts) > MAX_NAMES
    names = sorted(counts, key=lambda name: (many and name in other, -counts[name]))
    more = len(names) - MAX_NAMES
    return names[0] if len(names) == 1 else join_names([*names[:MAX_NAMES], f"{more} more"] if more > 0 else names)


def _drop_repeated(properties: Sequence[_ComparedProperty]) -> list[_ComparedProperty]:
    """The properties without those that repeat the cells of another under a label that shares a word."""
    found: list[_ComparedProperty] = []
    for each in properties:
        words = set(each.label.split())
        if not any(each.cells == other.cells and words & set(other.label.split()) for other in found):
            found.append(each)
    return found


MAX_NAMED_PROPERTIES = 5  # properties that a sentence names


def single_property_sentence(table: Table) -> str:
    """A comparison of one row as a sentence; "" for more rows, and for yes or no.

    >>> single_property_sentence(Table(("property", "Ann", "Bo"), (("price (shoes)", "5", "6"),)))
    'The price of the shoes of Ann is 5, and that of Bo is 6.'
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
        return f"{capitalise_first(left)} and {right} have {_number_with_noun(first, counted_kind)} each."
    if counted_kind != noun:
        own, other = _number_with_noun(first, counted_kind), _number_with_noun(second)
        return f"{capitalise_first(left)} has {own}, and {right} has {other}."
    if first == second:
        return f"{capitalise_first(left)} and {right} have the same {noun}: {first}."
    whose, be, that = f"the {kind} of {left}" if kind else left, "is", "that"
    if is_plural(noun):
        be, that = "are", "those"
    return f"The {noun} of {whose} {be} {first}, and {that} of {right} {be} {second}."


def summarise_difference(table: Table, names: str = "") -> str:
    """What differs and what is the same, as a clause; `names` are the words for both sides.

    >>> summarise_difference(Table(("property", "A", "B"), (("price", "5", "6"), ("size", "2", "2"))))
    'A and B differ in price; they have the same size'
    """
    names = names or join_names(table.columns[1:])
    other = [str(row[0]) for row in table.rows if row[1] != row[2] and "–" not in row]
    same = [str(row[0]) for row in table.rows if row[1] == row[2]]
    flags = [str(row[0]) for row in table.rows if row[1] == row[2] and fold(str(row[1])) in ("yes", "no")]
    same = [label for label in same if label not in flags]
    parts = []
    if other:
        differ = _named_properties([label.removeprefix("has ") for label in other])
        parts.append(f"{names} differ in {differ}" if differ else f"{names} differ")
    if same and (shared := join_names(_noun_labels(same)[0])):
        parts.append(f"{'they' if other else names} have the same {shared}")
    true = {str(row[0]) for row in table.rows if fold(str(row[1])) == "yes"}
    parts += [_truth_of_both(label, yes=label in true) for label in flags[:MAX_NAMED_PROPERTIES]]
    return "; ".join(parts) or f"{names} have no property in common"


def _number_with_noun(number: object, kind: str = "") -> str:
    return f"{number} {singular(kind) if number == '1' else kind}".rstrip()


def _truth_of_both(label: str, *, yes: bool) -> str:
    noun = label.removeprefix("has ")
    if noun == label:
        return f"{'both are' if yes else 'neither is'} {label}"
    mass = noun.split()[-1] in word_list("wording", "mass") or is_plural(noun)
    return f"{'both have' if yes else 'neither has'} {noun if mass else with_indefinite_article(noun)}"


def _named_properties(labels: list[str]) -> str:
    """The first of the labels that are nouns; "" without any: things differ in price, and not in "fired in"."""
    shown, rest = _noun_labels(labels)
    if len(shown) < MAX_NAMED_PROPERTIES:
        # "price (rooms)" is that of their rooms
        parts = [label.removesuffix(")").partition(" (") for label in labels if label.endswith(")")]
        theirs = [(kind, name) for name, _, kind in parts if is_plural(kind)][: MAX_NAMED_PROPERTIES - len(shown)]
        kinds = {kind: [name for other, name in theirs if other == kind] for kind, _ in theirs}
        own = [f"the {join_names(names)} of their {kind}" for kind, names in kinds.items()]
        words, rest = ", and in ".join([*([join_names(shown)] if shown else []), *own]), rest - len(theirs)
    else:
        words = join_names(shown)
    return f"{words}{', among other things' if words and rest else ''}"


def _noun_labels(labels: list[str]) -> tuple[list[str], int]:
    """The first of the labels that are nouns, and how many other labels there are."""
    nouns = [
        e
        for e in labels
        if e.split()[-1] not in word_list("wording", "prepositions") and not e.endswith(")") and not e.startswith("is ")
    ]
    shown = nouns if len(nouns) <= MAX_NAMED_PROPERTIES + 1 else nouns[:MAX_NAMED_PROPERTIES]
    return shown, len(labels) - len(shown)
