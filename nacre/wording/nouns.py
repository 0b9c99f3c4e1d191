"""Nouns for classes and values: Variable or Class + Schema -> a noun; IRI + Schema -> kind of its values.

A class that only joins two others is named by what it leads to: "coach" for a "player coach".
"""

from collections.abc import Sequence
from functools import cache

from nacre.language.data import WORDS, pattern, word_list
from nacre.language.labels import label_words
from nacre.language.thesaurus import english_data, nouns_of_kind
from nacre.language.tokens import lemma, split_name
from nacre.language.values import is_amount_label
from nacre.language.word_forms import (
    agent_noun,
    extreme_adjective,
    gerund,
    is_plural,
    plural,
    singular,
    strip_preposition,
)
from nacre.records.plan import Variable
from nacre.records.schema import Predicate, Schema
from nacre.wording.labels import FIRST_RECENT_YEAR, FIRST_YEAR, LAST_YEAR, label_remainder, predicate_label


def class_noun(variable: Variable, schema: Schema) -> str:
    """The noun for a thing of these classes, in the singular; "thing" without a class."""
    key = class_noun, variable.classes, variable.without
    return schema.cache.get(key, lambda: _class_noun(variable, schema)) or variable.noun or "thing"


def _class_noun(variable: Variable, schema: Schema) -> str:
    group = schema.group_of_classes.get((variable.classes, variable.without)) if variable.classes else None
    known = [schema.class_of[iri] for iri in variable.classes if iri in schema.class_of]
    if group is None and not known:
        return ""
    label = min(known, key=lambda c: c.count).label if group is None else group.label
    # A noun with the classes before its last word in the singular: "customer policies" of "customers policies"
    *before, last = label_words(label, schema.labels).split(" ")
    classes = _class_words(schema) if any(singular(word) != word for word in before) else frozenset[str]()
    words = " ".join((*(singular(word) if word in classes else word for word in before), last))
    return _singular_noun(_lookup_noun(words, variable, schema) or words, variable, schema)


def link_like_nouns(schema: Schema) -> frozenset[str]:
    """The nouns of classes that are named like a link between two things, in the singular and plural."""
    nouns = (noun for noun in class_nouns(schema) if not is_plain_noun(noun))
    return schema.cache.get(link_like_nouns, lambda: frozenset(each for noun in nouns for each in (noun, plural(noun))))


def class_nouns(schema: Schema) -> frozenset[str]:
    """The nouns of all classes of a graph, in the singular."""
    return schema.cache.get(
        class_nouns, lambda: frozenset(class_noun(Variable("x", (c.iri,)), schema) for c in schema.classes)
    )


def strip_owner(noun: str, own: str, schema: Schema) -> str:
    """ "Payments" for the "customer payments" of a customer, unless something else has the short name."""
    short = label_remainder(noun, own)
    taken = (predicate_label(p.iri, schema).one for p in schema.predicates if p.has_literals)
    return noun if not short or short in class_nouns(schema) or short in taken else short


def is_plain_noun(noun: str) -> bool:
    """Whether a class is named by a noun, and not like a link between two things: "trained in", "visits restaurant"."""
    first, *rest = noun.split()
    is_place = first in word_list("wording", "prepositions") and not rest[1:]
    if is_place or noun.split()[-1] in word_list("wording", "only_verbs"):
        return False
    return not rest or (rest[-1] not in word_list("wording", "prepositions") and not is_plural(first))


def _class_words(schema: Schema) -> frozenset[str]:
    labels = (c.label for c in schema.classes)
    return schema.cache.get(_class_words, lambda: frozenset(label_words(label, schema.labels) for label in labels))


def _lookup_noun(noun: str, variable: Variable, schema: Schema) -> str:
    """The noun of a table of codes, "colour" of "reference colours", or of a table that joins things of one class."""
    first, _, rest = noun.partition(" ")
    if not rest:
        return ""
    if first not in word_list("wording", "lookups"):
        return rest if _joins_same_class(first, singular(rest), variable, schema) else ""
    if any(p.label.casefold().endswith(" code") for p in schema.predicates_of(variable.classes)):
        return rest
    links = (p for p in schema.predicates if p.has_links and p.ranges.keys() & set(variable.classes))
    names = {singular(label_words(p.label, schema.labels)) for p in links}
    return rest if any(f" {singular(rest)}".endswith(f" {name}") for name in names) else ""


def _joins_same_class(noun: str, role: str, variable: Variable, schema: Schema) -> bool:
    """Whether the things of a variable join two things of one class, one of which has that role."""
    links = [p for p in schema.predicates_of(variable.classes) if p.has_links]
    by_role = [p for p in links if p.label.casefold() == role]
    ends = {c for p in by_role for c in p.ranges if c in schema.class_of}
    is_same = any(singular(label_words(schema.class_of[c].label, schema.labels)) == noun for c in ends)
    return is_same and len(links) == 2 and links[0].ranges.keys() == links[1].ranges.keys()


def _singular_noun(noun: str, variable: Variable, schema: Schema) -> str:
    """One of the things of a noun: "staff member", "piece of equipment", "checking record"; else the singular."""
    last = noun.split()[-1]
    if last in word_list("wording", "pieces"):
        return f"piece of {noun}"
    if last.endswith("ing") and last not in word_list("wording", "countable_ing") | word_list("wording", "mass"):
        return f"{noun} record"
    if last not in word_list("wording", "collective"):
        return singular(noun)
    if last in word_list("wording", "unchanged"):
        # a crew or a faculty may be one thing
        return f"{noun} member"
    names = WORDS["given"] | WORDS["family"]
    own = schema.predicates_of(variable.classes)
    has_names = any(names & set(split_name(p.label).split()) for p in own)
    return f"{noun} member" if has_names else singular(noun)


def is_amount(iri: str, schema: Schema) -> bool:
    """Whether numbers of a predicate are amounts, written with thousands separators, and no years or codes."""
    predicate = schema.predicate_of.get(iri)
    return predicate is None or schema.cache.get((is_amount, iri), lambda: _is_amount(predicate, schema))


def _is_amount(predicate: Predicate, schema: Schema) -> bool:
    label = predicate_label(predicate.iri, schema)
    if extreme_adjective(label.one, high=True) != "highest":
        # a length, or a population
        return True
    low, high = predicate.minimum, predicate.maximum
    head = lemma(label.one.split()[-1])
    is_event = label.kind in ("state", "past") or lemma(label.one) != label.one or head in _year_nouns()
    first, last = (FIRST_YEAR, LAST_YEAR) if is_event else (FIRST_RECENT_YEAR, LAST_YEAR)
    is_whole = is_event or predicate.datatype == "integer"
    may_be_code = predicate.datatype == "integer" and not predicate.unit and _is_code(predicate)
    measured = pattern("wording", "measure_complement").split(label.one)[0].rpartition(" ")[2]
    if may_be_code and measured not in _measure_nouns():
        return False
    if is_whole and not predicate.unit and low is not None and high is not None and first <= low <= high <= last:
        return False
    return is_amount_label(label.one, predicate.datatype, predicate.role)


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
    return nouns_of_kind("dates") | WORDS["life_start"] | WORDS["life_end"] | WORDS["year_nouns"]


@cache
def _measure_nouns() -> frozenset[str]:
    """Nouns for what is measured in units, or in money."""
    return frozenset(noun for group in english_data()["units_after"] for noun in group["measured"].split())


def _is_code(predicate: Predicate) -> bool:
    """Whether whole numbers look like numbers of things: all have the same four or more digits, and some are equal."""
    low, high = predicate.minimum, predicate.maximum
    is_fixed_length = low is not None and high is not None and len(f"{low:.0f}") == len(f"{high:.0f}")
    return is_fixed_length and low >= FIRST_YEAR and predicate.objects < predicate.subjects  # type: ignore[operator]


def other_links(predicate: Predicate, classes: Sequence[str], schema: Schema) -> list[Predicate]:
    """The other links of the things of some classes that link to something by a predicate."""
    own = set(classes)
    return [p for p in schema.predicates if p.has_links and p.domains.keys() & own and p.iri != predicate.iri]


def associated_noun(noun: str, own: str, links: Sequence[Predicate], schema: Schema) -> str:
    """What an `own` is joined to by a class that is named after both; "" for other classes. "coach" by a "player
    coach", "event" by "party in events". `links` are the further links of the class."""
    if len(links) != 1:
        return ""
    beyond = class_noun(Variable("x", tuple(iri for iri in links[0].ranges if iri)[:1]), schema)
    words = {singular(word) for word in noun.split()}
    return beyond if words & set(own.split()) and words & set(beyond.split()) else ""
