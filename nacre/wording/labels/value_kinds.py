"""What the values of a predicate are: IRI + Schema -> amounts, times, or a noun for the property."""

from functools import cache

from nacre.language.base import language, pattern, word_list
from nacre.language.format_values import is_amount_label
from nacre.language.forms.measure_nouns import extreme_adjective
from nacre.language.forms.verbs import agent_noun, gerund, strip_preposition
from nacre.language.thesaurus import english_data, nouns_of_kind
from nacre.language.tokens import lemma
from nacre.records.schema import Predicate, Schema
from nacre.wording.labels.predicate_labels import predicate_label
from nacre.wording.labels.years import FIRST_RECENT_YEAR, FIRST_YEAR, LAST_YEAR


def is_amount(iri: str, schema: Schema) -> bool:
    """Whether numbers of a predicate are amounts, written with thousands separators, and no years or codes."""
    predicate = schema.predicate_of.get(iri)
    if predicate is None:
        return True
    label = predicate_label(iri, schema)
    if extreme_adjective(label.one, high=True) != "highest":
        # a length, or a population
        return True
    low, high = predicate.minimum, predicate.maximum
    head = lemma(label.one.split()[-1])
    is_event = label.kind in ("state", "past") or lemma(label.one) != label.one or head in _year_nouns()
    first, last = (FIRST_YEAR, LAST_YEAR) if is_event else (FIRST_RECENT_YEAR, LAST_YEAR)
    is_whole = is_event or predicate.datatype == "integer"
    may_be_code = predicate.datatype == "integer" and not predicate.unit and _is_code(predicate)
    if may_be_code and not is_measure_noun(label.one):
        return False
    if is_whole and not predicate.unit and low is not None and high is not None and first <= low <= high <= last:
        return False
    return is_amount_label(label.one, predicate.datatype, predicate.role)


def is_measure_noun(label: str) -> bool:
    """Whether a label ends in what is measured: "monthly salary", "length of the hull"."""
    head = pattern("wording", "measure_complement").split(label)[0]
    return head.rpartition(" ")[2] in _measure_nouns()


def is_temporal(iri: str, schema: Schema) -> bool:
    """Whether the numbers or texts of a predicate are years or dates."""
    predicate, label = schema.predicate_of[iri], predicate_label(iri, schema)
    if predicate.datatype in ("date", "datetime", "year"):
        return True
    is_event = label.kind in ("state", "past") and predicate.minimum is not None
    return not is_amount(iri, schema) and (is_event or bool(word_list("wording", "calendar") & set(label.one.split())))


def nominal_label(iri: str, schema: Schema) -> str:
    """A property as a noun: "price", "year built" of "built in", "writer" of "written by"; else its label in quotes."""
    label = predicate_label(iri, schema)
    if label.kind == "noun":
        return label.one
    if label.kind in ("state", "past") and is_temporal(iri, schema):
        time = "date" if schema.predicate_of[iri].datatype in ("date", "datetime") else "year"
        event = strip_preposition(label.one)
        verb, _, rest = event.partition(" ")
        # the "date of becoming a customer" of who became one
        return f"{time} of {gerund(lemma(verb))} {rest}" if label.kind == "past" and rest else f"{time} {event}"
    if label.kind == "state" and (agent := agent_noun(label.one)):
        return agent
    return f"“{label.one}”"


@cache
def _year_nouns() -> frozenset[str]:
    """Nouns for a moment, whose numbers are years."""
    words = language().words
    return nouns_of_kind("dates") | words["life_start"] | words["life_end"] | words["year_nouns"]


@cache
def _measure_nouns() -> frozenset[str]:
    """Nouns for what is measured in units, or in money."""
    return frozenset(noun for group in english_data()["units_after"] for noun in group["measured"].split())


def _is_code(predicate: Predicate) -> bool:
    """Whether whole numbers look like numbers of things: all have the same four or more digits, and some are equal."""
    low, high = predicate.minimum, predicate.maximum
    is_fixed_length = low is not None and high is not None and len(f"{low:.0f}") == len(f"{high:.0f}")
    return is_fixed_length and low >= FIRST_YEAR and predicate.objects < predicate.subjects  # type: ignore[operator]
