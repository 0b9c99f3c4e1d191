"""Put conditions on properties into clauses: Filter + Schema -> Clause."""

from dataclasses import dataclass, replace
from functools import cached_property

from nacre.language.base import phrase_map, word_list, word_map
from nacre.language.booleans import alternative_values, has_boolean_name, none_value, parse_boolean
from nacre.language.dates import format_yearless_date
from nacre.language.forms.measure_nouns import is_count_noun
from nacre.language.forms.nouns import is_plural, place_phrase, singular, with_indefinite_article
from nacre.language.forms.pronouns import gender
from nacre.language.forms.verb_phrase import BE, Verb, VerbPhrase
from nacre.language.forms.verbs import third_person
from nacre.records.plan import Attribute, Filter
from nacre.records.schema import Predicate, Schema
from nacre.wording.clauses.clause import Clause, owning_clause, property_clause, relative_clause
from nacre.wording.clauses.comparison_words import (
    comparison_words,
    constant_words,
    count_condition_phrase,
    date_condition_words,
)
from nacre.wording.labels.label import PredicateLabel
from nacre.wording.labels.predicate_labels import predicate_label
from nacre.wording.labels.value_kinds import is_temporal, nominal_label

# what a property is compared with, if that is its mean over all things of the class
AVERAGE = "the average"


@dataclass(frozen=True)
class _Condition:
    """A condition on a property; `right` are the words of the select or property on its right side, else None."""

    filter: Filter
    schema: Schema
    right: str | None

    @cached_property
    def attribute(self) -> Attribute:
        assert isinstance(self.filter.left, Attribute)
        return self.filter.left

    @cached_property
    def predicate(self) -> Predicate:
        return self.schema.predicate_of[self.attribute.predicate]

    @cached_property
    def label(self) -> PredicateLabel:
        return predicate_label(self.attribute.predicate, self.schema)

    @cached_property
    def name(self) -> str:
        """The property as a noun."""
        return nominal_label(self.attribute.predicate, self.schema)

    @cached_property
    def is_dated(self) -> bool:
        return is_temporal(self.attribute.predicate, self.schema)

    @cached_property
    def is_equation(self) -> bool:
        return self.filter.op in ("=", "!=")

    @cached_property
    def is_denied(self) -> bool:
        """Whether an equation is denied, by its operator or by its negation."""
        return self.filter.negated != (self.filter.op == "!=")

    @cached_property
    def is_range(self) -> bool:
        """Whether the right side says both bounds of a number."""
        return self.filter.op == "in" and isinstance(self.filter.right, str) and not self.is_dated

    @cached_property
    def value(self) -> str:
        """The words of the right side."""
        if self.right is not None:
            return self.right
        return (
            str(self.filter.right) if self.is_range else constant_words(self.filter.right, self.schema, self.attribute)
        )

    @cached_property
    def yearless_date(self) -> str:
        """The words of a day or month of any year; "" for other conditions."""
        is_part = self.is_dated and self.filter.op == "contains"
        return format_yearless_date(str(self.filter.right)) if is_part else ""

    @cached_property
    def when(self) -> str:
        """The words of a condition on a date; "" for other conditions."""
        return self.yearless_date or (date_condition_words(self.filter, self.value) if self.is_dated else "")

    @cached_property
    def is_plain_text(self) -> bool:
        """Whether a property equals one text."""
        is_text = isinstance(self.filter.right, str) and self.right is None
        return is_text and self.filter.op == "=" and not self.filter.negated


def filter_clause(each: Filter, schema: Schema, right: str | None) -> Clause:
    """A condition on a property; `right` are the words of the select or property it is compared with, else None."""
    condition = _Condition(each, schema, right)
    return (
        _presence_clause(condition)
        or _boolean_clause(condition)
        or _event_clause(condition)
        or _number_clause(condition)
        or _text_clause(condition)
        or _comparison_clause(condition)
    )


def _presence_clause(condition: _Condition) -> Clause | None:
    """That a property has a value, or has none: "with a known height"; None for other conditions."""
    each, name = condition.filter, condition.name
    none = none_value(condition.predicate)
    if each.op not in ("known", "unknown") and (none is None or each.right != none or not condition.is_equation):
        return None
    is_known = (each.op in ("known", "!=")) != each.negated
    if condition.label.kind == "noun" and condition.predicate.datatype == "text" and not condition.attribute.part:
        is_bare = none is not None or is_plural(name) or name in word_list("wording", "mass")
        return owning_clause(name if is_bare else with_indefinite_article(name), name, has=is_known)
    clause = owning_clause(f"a known {name}", has=is_known)
    return replace(clause, subject=f"the {name} of {{}}", said=VerbPhrase(BE, "known", denied=not is_known))


def _boolean_clause(condition: _Condition) -> Clause | None:
    """A condition on a yes-or-no property: "that are open"; None for other properties."""
    each, label = condition.filter, condition.label
    value = parse_boolean(each.right, condition.predicate) if condition.is_equation else None
    is_boolean = isinstance(each.right, bool) or label.kind != "noun" or has_boolean_name(condition.predicate)
    if value is None or not is_boolean:
        return None
    return relative_clause(label.flag(value != condition.is_denied))


def _event_clause(condition: _Condition) -> Clause | None:
    """When something happened: "that were founded after 2000" of "founded in"; None for other properties."""
    label, each = condition.label, condition.filter
    if not condition.is_dated or condition.attribute.part or label.kind not in ("state", "past", "verb"):
        return None
    is_exact = condition.when == condition.value and each.op != "in" and not condition.yearless_date
    preposition = "on" if condition.predicate.datatype in ("date", "datetime") else "in"
    when = f"{preposition} {condition.value}" if is_exact else condition.when
    return relative_clause(replace(label.event(when), denied=each.negated))


def _number_clause(condition: _Condition) -> Clause | None:
    """A condition on a count or a measure with an adjective; None for other properties."""
    is_end = condition.attribute.part in ("low", "high")
    may_count = condition.right is None and not is_end and not condition.is_dated
    clause = _count_clause(condition) if may_count else None
    if clause is None and condition.right in (None, AVERAGE):
        return _adjective_clause(condition)
    return clause


def _count_clause(condition: _Condition) -> Clause | None:
    """A condition on how many of something a thing has: "with more than 3 stars"; None for what is no count."""
    each, noun = condition.filter, condition.name.removeprefix("number of ")
    is_number = isinstance(each.right, int | float) and not isinstance(each.right, bool)
    is_range = each.op == "in" and isinstance(each.right, str)
    if not (is_number or is_range) or each.negated or condition.predicate.unit or not is_count_noun(noun):
        return None
    noun = singular(noun) if each.right == 1 else noun
    is_exact = is_range or each.op == "="
    words = f"with {condition.value} {noun}" if is_exact else count_condition_phrase(each, noun, condition.value)
    return owning_clause(words.removeprefix("with "))


def _adjective_clause(condition: _Condition) -> Clause | None:
    """A condition on a number that has an adjective: "older than 30", "30 or older"; None for others."""
    each, value = condition.filter, condition.value
    more_less = phrase_map("wording", "comparatives").get(condition.name)
    if (
        more_less is None
        or each.negated
        or condition.attribute.part
        or each.op not in word_map("wording", "comparisons")
    ):
        return None
    adjective = more_less["<" in each.op]
    return relative_clause(VerbPhrase(BE, f"{value} or {adjective}" if "=" in each.op else f"{adjective} than {value}"))


def _text_clause(condition: _Condition) -> Clause | None:
    """A condition on a text that names a gender, an alternative or a state; None for other properties."""
    each, label = condition.filter, condition.label
    if condition.is_plain_text and (sex := gender(label.one, each.right)):
        return replace(property_clause(condition.name, VerbPhrase(BE, sex)), subject="{}", adjective=sex)
    if condition.is_equation and condition.right is None and each.right in alternative_values(condition.predicate):
        return relative_clause(VerbPhrase(BE, str(each.right).lower(), denied=condition.is_denied))
    if condition.is_plain_text and label.kind in ("state", "verb", "past") and not condition.is_dated:
        return relative_clause(label.phrase(condition.value))
    return None


def _comparison_clause(condition: _Condition) -> Clause:
    """A comparison of any property: "whose height is above 3 m"."""
    each = condition.filter
    name = {"low": "lowest ", "high": "highest "}.get(condition.attribute.part, "") + condition.name
    parts = word_map("wording", "text_parts")
    if each.op in parts and not condition.yearless_date:
        verb = Verb(third_person(parts[each.op]), parts[each.op], parts[each.op])
        preposition = "" if each.op == "contains" else "with "
        return property_clause(name, VerbPhrase(verb, f"{preposition}“{each.right}”", denied=each.negated))
    is_place = condition.is_equation and condition.right is None
    value = place_phrase(condition.name, condition.value) if is_place else condition.value
    compared = condition.when.removeprefix("on ") or " ".join(f"{comparison_words(each.op)} {value}".split())
    denied = condition.is_denied if condition.is_equation else each.negated
    return property_clause(name, VerbPhrase(BE, compared.removeprefix("not "), denied=denied))
