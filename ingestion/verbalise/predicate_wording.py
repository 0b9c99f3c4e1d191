"""The wording of predicates: Schema -> wordings, by number of the predicate."""

from collections.abc import Iterable
from typing import NamedTuple

from ingestion.verbalise.sentence_parts import be_form
from ingestion.vocabulary import is_other_name
from nacre.language.booleans import has_boolean_name, is_boolean_predicate
from nacre.language.forms.verb_phrase import VerbPhrase
from nacre.language.forms.verbs import is_link_verb
from nacre.records.schema import Predicate, Schema
from nacre.wording.labels.predicate_labels import predicate_label
from nacre.wording.labels.value_kinds import is_temporal
from nacre.wording.labels.years import has_measured_numbers

# the place of a sentence as one number: its level and, within it, the turn of its predicate
TEXTS, CLASSES, NAMES, FACTS, IDENTIFIERS, LINKS, THING = (level << 32 for level in range(7))


class LabelForm(NamedTuple):
    """A label as the verb after one subject ("is located in") and after several, or as a noun ("The ... of X is Y")."""

    text: str
    plural: str
    said: VerbPhrase | None = None


class PredicateWording(NamedTuple):
    """A sentence is `before` NAME `one` or `many` OBJECTS. `turn` orders predicates within a level, `place` orders
    facts."""

    turn: int
    place: int
    before: str
    one: str
    many: str
    is_name: bool
    is_text: bool
    is_flag: bool
    form: LabelForm
    predicate: Predicate


def predicate_wordings(schema: Schema, iris: Iterable[tuple[int, str]]) -> dict[int, PredicateWording]:
    """The wording of predicates, by their numbers; declarations of the schema have none."""
    known = schema.predicate_of
    said = [(n, known[iri]) for n, iri in iris if iri in known and known[iri].role not in ("type", "schema")]
    forms = {n: _form(p, schema) for n, p in said}
    said.sort(key=lambda each: (forms[each[0]].text, each[0]))
    return {n: _way(predicate, forms[n], turn) for turn, (n, predicate) in enumerate(said)}


def _form(predicate: Predicate, schema: Schema) -> LabelForm:
    label = predicate_label(predicate.iri, schema)
    is_verb = label.kind != "noun" or label.has or is_link_verb(label.one.split()[0])
    if is_boolean_predicate(predicate) and (is_verb or has_boolean_name(predicate)):
        said = label.flag()
    elif label.kind == "noun" or (has_measured_numbers(predicate) and " " not in label.one):
        return LabelForm(label.full, label.full)
    else:
        is_dated = predicate.datatype in ("date", "datetime")
        said = label.statement("", is_dated=is_dated, is_temporal=is_temporal(predicate.iri, schema))
    return LabelForm(said.words(), said.words(many=True), said)


def boolean_sentence(name: str, way: PredicateWording, true: bool) -> str:
    """The sentence for a boolean predicate."""
    said = way.form.said
    if said is None:
        return f"{way.before}{name}{way.one}{'true' if true else 'false'}."
    return f"{name} {(said if true else said.denial).words()}."


def _way(predicate: Predicate, form: LabelForm, turn: int) -> PredicateWording:
    if form.said is not None:
        before, one, many = "", f" {form.text} ", f" {form.text} "
    else:
        before, one, many = f"The {form.text} of ", f" {be_form(form.text, False)} ", f" {be_form(form.text, True)} "
    return PredicateWording(
        turn=turn,
        place=turn + (IDENTIFIERS if predicate.role == "identifier" else FACTS),
        before=before,
        one=one,
        many=many,
        is_name=predicate.role == "name" or is_other_name(predicate.iri),
        is_text=predicate.role == "text",
        is_flag=is_boolean_predicate(predicate) and form.said is not None,
        form=form,
        predicate=predicate,
    )
