"""The wording of predicates: Schema -> wordings, by number of the predicate."""

from collections.abc import Iterable
from typing import NamedTuple

from ingestion.verbalise.label_patterns import LabelPattern, be_form, label_in_sentence, label_pattern, state_phrase
from ingestion.verbalise.split_sentences import clean_text
from ingestion.vocabulary import is_other_name, local_name
from nacre.language.booleans import has_boolean_name, is_boolean_predicate
from nacre.language.forms.nouns import wording_entry
from nacre.records.schema import Predicate, Schema
from nacre.wording.labels.years import FIRST_YEAR, LAST_YEAR

# the place of a sentence as one number: its level and, within it, the turn of its predicate
TEXTS, CLASSES, NAMES, FACTS, IDENTIFIERS, LINKS, THING = (level << 32 for level in range(7))


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
    form: LabelPattern
    predicate: Predicate


def predicate_wordings(schema: Schema, iris: Iterable[tuple[int, str]]) -> dict[int, PredicateWording]:
    """The wording of predicates, by their numbers; declarations of the schema have none."""
    known = schema.predicate_of
    said = [(n, known[iri]) for n, iri in iris if iri in known and known[iri].role not in ("type", "schema")]
    forms = {n: _form(p) for n, p in said}
    said.sort(key=lambda each: (forms[each[0]].text, each[0]))
    return {n: _way(predicate, forms[n], turn) for turn, (n, predicate) in enumerate(said)}


def _form(predicate: Predicate) -> LabelPattern:
    label = label_in_sentence(clean_text(predicate.label), local_name(predicate.iri))
    if predicate.datatype in ("integer", "real", "boolean") and " " not in label and not _are_years(predicate):
        # "won", of games
        return label_pattern(label) if label in wording_entry("verbs") else LabelPattern("noun", label, label)
    return label_pattern(label)


def _are_years(predicate: Predicate) -> bool:
    low, high = predicate.minimum, predicate.maximum
    return low is not None and high is not None and FIRST_YEAR <= low <= high <= LAST_YEAR


def boolean_sentence(name: str, way: PredicateWording, true: bool) -> str:
    """The sentence for a boolean predicate."""
    state = state_phrase(way.form.text)
    if state is None:
        return f"{way.before}{name}{way.one}{'true' if true else 'false'}."
    verb, _, rest = state.partition(" ")
    return f"{name} {verb} {rest}." if true else f"{name} {verb} not {rest}."


def _way(predicate: Predicate, form: LabelPattern, turn: int) -> PredicateWording:
    if form.kind == "verb":
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
        is_flag=is_boolean_predicate(predicate) and has_boolean_name(predicate),
        form=form,
        predicate=predicate,
    )
