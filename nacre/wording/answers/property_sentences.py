"""Word a property or link of one named thing: Attribute or Select + values -> "Emma was built in 1961"."""

from nacre.language.forms.pronouns import pronoun
from nacre.language.forms.verb_phrase import VerbPhrase
from nacre.language.forms.verbs import active_verb
from nacre.language.thesaurus import is_person
from nacre.plans.merge import is_from_earlier_turn
from nacre.records.plan import Attribute, Itself, Select
from nacre.records.schema import Schema
from nacre.wording.answers.sentence import join_first_names, sentence_about
from nacre.wording.clauses.join_clauses import thing_name
from nacre.wording.clauses.property_values import PropertyValues
from nacre.wording.labels.class_nouns import class_noun
from nacre.wording.labels.predicate_labels import predicate_label
from nacre.wording.labels.value_kinds import is_amount, is_temporal


def property_sentence(body: Select, names: list[str], schema: Schema) -> str:
    """The values of a property of one named thing; "" for other selects."""
    term, thing = body.answers[-1], body.variables[0]
    if not isinstance(term, Attribute) or len(body.variables) > 1 or body.filters or body.order is not None:
        return ""
    if len(thing.keys) != 1 or not thing.label or is_from_earlier_turn(thing) or term.part:
        return ""
    noun = class_noun(thing, schema)
    owner = thing_name(thing, noun)
    return sentence_about(values_of(term, names, schema, noun).clause(owner), owner if owner == thing.label else "")


def values_of(term: Attribute, names: list[str], schema: Schema, noun: str = "") -> PropertyValues:
    """The values of a property of a `noun`, the first 30 by name."""
    digits = names[0].replace(",", "")
    return PropertyValues(
        schema.predicate_of[term.predicate],
        predicate_label(term.predicate, schema),
        join_first_names(names),
        len(names),
        float(digits) if digits.isdigit() else None,
        is_temporal=not is_amount(term.predicate, schema) or is_temporal(term.predicate, schema),
        subject=pronoun(person=is_person(noun)),
    )


def link_sentence(body: Select, names: list[str], schema: Schema) -> str:
    """The link of a named thing: "Spain borders France and Portugal"; "" for other selects."""
    if len(body.edges) != 1 or body.filters or body.order is not None or len(body.variables) != 2:
        return ""
    edge, last = body.edges[0], body.answers[-1]
    subject = next((v for v in body.variables if v.name == edge.subject), None)
    is_only_known = sum(bool(v.keys) for v in body.variables) == 1
    if subject is None or len(subject.keys) != 1 or not subject.label or not is_only_known:
        return ""
    if not isinstance(last, Itself) or last.variable != edge.object:
        return ""
    label, values = predicate_label(edge.predicate, schema), join_first_names(names)
    if label.kind == "noun" and (len(names) > 1 or names[0].isdigit()):
        return ""
    noun = class_noun(subject, schema)
    name = thing_name(subject, noun)
    made = active_verb(label.one) if label.kind == "state" else None
    if made is not None:
        return f"{values} {VerbPhrase(made, name).words(len(names) > 1)}."
    predicate, is_one_person = schema.predicate_of[edge.predicate], pronoun(person=is_person(noun))
    clause = PropertyValues(predicate, label, values, len(names), subject=is_one_person).clause(name)
    return sentence_about(clause, subject.label)
