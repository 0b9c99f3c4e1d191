"""Word a count: Select + number -> "There are 3 mills whose town is Rome"."""

from nacre.language.format_values import format_value
from nacre.language.forms.nouns import is_plural, plural
from nacre.language.tokens import tokenize
from nacre.plans.merge import is_from_earlier_turn
from nacre.records.answer import Value
from nacre.records.plan import Aggregate, Attribute, Body, Itself, Select
from nacre.records.schema import Schema
from nacre.wording.answers.sentence import answer_sentence
from nacre.wording.labels.class_nouns import is_plain_noun
from nacre.wording.labels.predicate_labels import predicate_label
from nacre.wording.phrases.noun_phrase import SelectWording
from nacre.wording.phrases.select import select_wording


def count_sentence(body: Body, number: Value, schema: Schema, question: str) -> str:
    """A count of things or values as a sentence; "" for groups, for other numbers and for zero.

    "There are 3 mills whose town is Rome", "There are 4 different payment methods".
    """
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
