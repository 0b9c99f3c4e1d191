"""Label predicates as people say them: IRI + Schema -> PredicateLabel, or a noun."""

from dataclasses import replace

from nacre.language.base import word_list, word_map
from nacre.language.booleans import is_boolean_predicate, strip_yes_no_suffix
from nacre.language.forms.nouns import interchangeable_words, is_participle, singular
from nacre.language.forms.verbs import is_link_verb
from nacre.language.thesaurus import is_person
from nacre.language.tokens import lemma
from nacre.records.schema import Predicate, Schema
from nacre.wording.labels.label import PredicateLabel
from nacre.wording.labels.parse_label import event_clause, event_verb, move_time_last, parse_label
from nacre.wording.labels.shorten_label import shorten_label
from nacre.wording.labels.years import has_measured_numbers, may_give_years


def predicate_label(iri: str, schema: Schema) -> PredicateLabel:
    """The label of a predicate in words, without the unit of its values; KeyError if the graph has none."""
    return schema.cache.get((predicate_label, iri), lambda: _predicate_label(schema.predicate_of[iri], schema))


def is_describable(predicate: Predicate, schema: Schema) -> bool:
    """Whether descriptions say a predicate: a fact that is no record number, and no link to things without a class."""
    if predicate.role != "fact" or (predicate.has_links and set(predicate.ranges) <= {""}):
        return False
    return predicate_label(predicate.iri, schema).one.split()[-1] not in word_list("wording", "identifiers")


def _predicate_label(predicate: Predicate, schema: Schema) -> PredicateLabel:
    words = shorten_label(predicate, schema)
    is_boolean = is_boolean_predicate(predicate)
    if (flag := strip_yes_no_suffix(words)) != words and is_boolean:
        return PredicateLabel("flag", flag, flag)
    # alone it denies
    words = "number" if words == "no" else words
    is_measured = has_measured_numbers(predicate)
    if predicate.datatype != "text" and not is_measured:
        words = move_time_last(words)
    label = _with_participle(_typed_label(words, predicate, is_boolean=is_boolean), predicate, schema)
    event = event_verb(label.one)
    if not event and predicate.datatype in ("date", "datetime") and (clause := event_clause(label.one)):
        verb, *rest = clause.split()
        return PredicateLabel("past", clause, " ".join([lemma(verb), *rest]))
    if event and predicate.datatype != "text" and not is_measured:
        return parse_label(event)
    if label.kind == "noun" and (predicate.datatype in ("date", "datetime") or may_give_years(predicate)):
        # "sale ends" is when it does
        label = replace(label, one=singular(label.one))
    # "members" links to one member at a time; numbers of "passengers" stay what they are
    has_owner = label.kind == "noun" and words.endswith(f" {label.one}") and not is_link_verb(words.split()[0])
    label = replace(label, full=words if has_owner else label.one)
    return replace(label, one=singular(label.one)) if predicate.has_links and label.kind == "noun" else label


def _with_participle(label: PredicateLabel, predicate: Predicate, schema: Schema) -> PredicateLabel:
    """A label that begins with the past of an irregular verb: what was "shown at" a fair, and who "sang at" it."""
    past, _, rest = label.one.partition(" ")
    participle = next((form for form, other in word_map("wording", "pasts").items() if other == past), "")
    if label.kind != "state" or participle in ("", past):
        return label
    if any(is_person(schema.class_of[each].label) for each in predicate.domains if each in schema.class_of):
        return PredicateLabel("past", label.one, f"{lemma(past)} {rest}")
    return replace(label, one=f"{participle} {rest}", many=f"{participle} {rest}")


def _typed_label(words: str, predicate: Predicate, *, is_boolean: bool) -> PredicateLabel:
    """The label by its form and by the values of the predicate."""
    label = parse_label("/".join(interchangeable_words(words.split())) or words)
    begins_with_verb = " " in words and is_link_verb(words.partition(" ")[0])
    if label.kind == "noun" and not label.has and predicate.datatype == "boolean" and begins_with_verb:
        # "requires booking" is what a thing does, or does not
        label = PredicateLabel("noun", words, words)
    if label.kind == "noun" and is_participle(words.split()[-1]) and is_boolean:
        # "food approved", which a thing is or not
        return PredicateLabel("flag", words, words)
    if label.kind == "state" and " " not in label.one and has_measured_numbers(predicate) and not is_boolean:
        # "won", of games: how many
        return PredicateLabel("noun", f"number {label.one}", f"numbers {label.one}")
    return label
