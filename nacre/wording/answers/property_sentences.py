"""Word a property or link of one named thing: Attribute or Select + values -> "Emma was built in 1961"."""

from collections.abc import Iterable

from nacre.language.booleans import has_boolean_name, parse_boolean
from nacre.language.forms.nouns import (
    is_count_noun,
    is_plural,
    join_names,
    place_phrase,
    plural,
    possessive_phrase,
    singular,
    wording_entry,
)
from nacre.language.forms.verbs import active_verb
from nacre.language.thesaurus import is_person
from nacre.plans.merge import is_from_earlier_turn
from nacre.records.plan import Attribute, Itself, Select, Variable
from nacre.records.schema import Schema
from nacre.wording.answers.sentence import capitalise_first
from nacre.wording.clauses.join_clauses import thing_name
from nacre.wording.labels.class_nouns import class_noun
from nacre.wording.labels.label import PredicateLabel
from nacre.wording.labels.predicate_labels import predicate_label
from nacre.wording.labels.value_kinds import is_amount, is_temporal
from nacre.wording.phrases.select import select_wording


def property_sentence(body: Select, names: list[str], schema: Schema) -> str:
    """The values of a property of one named thing; "" for other selects."""
    term, thing = body.answers[-1], body.variables[0]
    if not isinstance(term, Attribute) or len(body.variables) > 1 or body.filters or body.order is not None:
        return ""
    if len(thing.keys) != 1 or not thing.label or is_from_earlier_turn(thing) or term.part:
        return ""
    owner = thing_name(thing, class_noun(thing, schema))
    sentence = verb_property_sentence(owner, join_names(names), term, schema) or noun_property_sentence(
        owner, names, term, schema
    )
    return sentence if owner == thing.label else capitalise_first(sentence)


def noun_property_sentence(owner: str, names: list[str], term: Attribute, schema: Schema) -> str:
    """The values of a property with a noun: "The colours of Emma are red and blue", "Emma has 12 passengers"."""
    label, predicate = predicate_label(term.predicate, schema), schema.predicate_of[term.predicate]
    if label.kind != "noun":
        return ""
    whole = names[0].replace(",", "").isdigit() and predicate.datatype == "integer" and not predicate.unit
    what = label.one.removeprefix("number of ")
    counts = what != label.one or (is_count_noun(label.one) and is_amount(term.predicate, schema))
    if len(names) == 1 and whole and counts and is_plural(what):
        noun = singular(what) if names[0] == "1" else what
        return f"{owner} has {'no' if names[0] == '0' else names[0]} {noun}."
    if len(names) == 1:
        return _located(owner, join_names(names), label, schema, predicate.domains)
    person = is_person(class_noun(Variable("x", tuple(predicate.domains)[:1]), schema)) if predicate.domains else False
    noun = possessive_phrase(plural(label.one), owner, person=person)
    return f"The {noun} {'are' if is_plural(plural(label.one)) else 'is'} {place_phrase(label.one, join_names(names))}."


def _located(name: str, place: str, label: PredicateLabel, schema: Schema, classes: Iterable[str]) -> str:
    """The place of a thing that is no person: "the mill is in Oslo"; "" for other properties."""
    persons = any(is_person(class_noun(Variable("x", (each,)), schema)) for each in classes)
    located = label.one in wording_entry("located") and not persons and not place[:1].isdigit()
    return f"{capitalise_first(name)} is in {place}." if located else ""


def verb_property_sentence(name: str, values: str, term: object, schema: Schema, *, many: bool = False) -> str:
    """A property with a verb: "Emma is open", of `many` things "the mills were founded in 1961"; "" for nouns."""
    assert isinstance(term, Attribute)
    label, predicate = predicate_label(term.predicate, schema), schema.predicate_of[term.predicate]
    if predicate.datatype == "boolean" and values in ("yes", "no"):
        return f"{name} {label.flag(values == 'yes').words(many)}."
    if has_boolean_name(predicate) and (yes := parse_boolean(values, predicate)) is not None:
        return f"{name} {label.flag(yes).words(many)}."
    if label.kind not in ("past", "verb", "state"):
        return ""
    is_dated = predicate.datatype in ("date", "datetime")
    said = label.statement(values, is_dated=is_dated, is_temporal=is_temporal(term.predicate, schema))
    return f"{name} {said.words(many)}."


def link_sentence(body: Select, values: str, schema: Schema, *, many: bool) -> str:
    """The link of a named thing with a verb: "Spain borders France and Portugal"; "" for other selects."""
    if len(body.edges) != 1 or body.filters or body.order is not None or len(body.variables) != 2:
        return ""
    edge = body.edges[0]
    subject = next((v for v in body.variables if v.name == edge.subject), None)
    label = predicate_label(edge.predicate, schema)
    last = body.answers[-1]
    if subject is None or len(subject.keys) != 1 or not subject.label:
        return ""
    if not isinstance(last, Itself) or last.variable != edge.object:
        return ""
    name = thing_name(subject, select_wording(body, schema).noun(subject.name))
    if label.kind == "noun":
        return "" if many else _located(name, values, label, schema, subject.classes)
    made = active_verb(label.one) if label.kind == "state" else None
    if made is not None:
        return f"{values} {made.many if many else made.one} {name}."
    text = f"{name} {label.phrase(values).words()}."
    return text if name == subject.label else capitalise_first(text)
