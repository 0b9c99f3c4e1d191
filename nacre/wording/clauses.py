"""Put conditions on properties into clauses: Filter + Schema -> Clause, what it says after a noun and as a sentence."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from nacre.language.data import phrase_map, word_list, word_map
from nacre.language.labels import alternative_values, has_boolean_name, none_value, parse_boolean
from nacre.language.values import (
    format_date_bound,
    format_period,
    format_value,
    format_year_range,
    format_yearless_date,
)
from nacre.language.word_forms import (
    BE,
    HAVE,
    IT,
    THEY,
    Pronoun,
    Verb,
    VerbPhrase,
    active_verb,
    agent_noun,
    gender,
    is_count_noun,
    is_plural,
    join_names,
    place_phrase,
    plural,
    possessive_phrase,
    singular,
    third_person,
    with_indefinite_article,
)
from nacre.records.plan import Attribute, Constant, Filter
from nacre.records.schema import Predicate, Schema
from nacre.wording.labels import PredicateLabel, predicate_label
from nacre.wording.nouns import is_amount, is_temporal, nominal_label

AVERAGE = "the average"  # what a property is compared with, if that is its mean over all things of the class


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
        if self.right is None and not self.is_range:
            return constant_words(self.filter.right, self.schema, self.attribute)
        return str(self.filter.right) if self.right is None else self.right

    @cached_property
    def yearless_date(self) -> str:
        """The words of a day or month of any year; "" for other conditions."""
        is_part = self.is_dated and self.filter.op == "contains" and str(self.filter.right).startswith("-")
        return format_yearless_date(str(self.filter.right)) if is_part else ""

    @cached_property
    def when(self) -> str:
        """The words of a condition on a date; "" for other conditions."""
        return self.yearless_date or (date_condition_words(self.filter, self.value) if self.is_dated else "")

    @cached_property
    def is_plain_text(self) -> bool:
        is_text = isinstance(self.filter.right, str) and self.right is None
        return is_text and self.filter.op == "=" and not self.filter.negated


@dataclass(frozen=True)
class Clause:
    """What holds of a thing. {} in one of `subject`, `said` and `end` is the place of the thing in a sentence."""

    one: str  # after the noun of one thing
    many: str  # after the noun of several
    said: VerbPhrase
    subject: str = "{}"
    end: str = ""  # what follows in a sentence
    is_of_many: bool = False  # the subject is a plural
    front: str = ""  # goes before the noun instead: "BMW X5" of "BMW X5 variants"
    adjective: str = ""  # goes before the noun instead: "female"
    noun: str = ""  # replaces the noun of the thing: "singer"

    def sentence(self, name: str, *, denied: bool = False) -> str:
        """The clause as a sentence about the thing with a name, or its denial."""
        said = self.said.denial if denied else self.said
        words = " ".join(filter(None, (self.subject, said.words(self.is_of_many), self.end)))
        return words.replace("{}", name)


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
    return None if value is None or not is_boolean else relative_clause(label.flag(value != condition.is_denied))


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
    return _adjective_clause(condition) if clause is None and condition.right in (None, AVERAGE) else clause


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
    is_compared = each.op in word_map("wording", "comparisons") and not each.negated
    if more_less is None or not is_compared or condition.attribute.part:
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


def comparison_words(op: str, *, dated: bool = False) -> str:
    """An operator in words, without its verb."""
    return "not" if op == "!=" else word_map("wording", "date_comparisons" if dated else "comparisons").get(op, "")


def count_condition_phrase(each: Filter, noun: str, value: str) -> str:
    """A condition on a count, after the noun of what is grouped: "with at least 3 concerts"."""
    no = "not " if each.negated else ""
    return f"with {no}{word_map('wording', 'count_comparisons').get(each.op, each.op)} {value} {noun}"


def constant_words(right: object, schema: Schema, left: Attribute) -> str:
    """The constants that a property is compared with, joined by "or"."""
    values: tuple[Constant, ...] = right if isinstance(right, tuple) else (right,)
    predicate = schema.predicate_of.get(left.predicate)
    unit = predicate.unit if predicate else ""
    counted = is_amount(left.predicate, schema)
    words = [format_value(value, unit, counted=counted) for value in values]
    if left.part == "yearday":
        words = [format_yearless_date(word) or word for word in words]
    # a single letter needs quotation marks among words
    return join_names([f"“{each}”" if len(each) == 1 and each.isalpha() else each for each in words], "or")


def date_condition_words(each: Filter, value: str) -> str:
    """A condition on a date, without its verb: "before 3 May 2020"."""
    if each.op == "in" and isinstance(each.right, str):
        return each.right
    return format_date_bound(each.op, str(each.right)) or f"{comparison_words(each.op, dated=True)} {value}".strip()


def merge_range_filters(filters: Sequence[Filter], schema: Schema) -> list[Filter]:
    """The conditions, with both bounds of a range as one condition with the operator "in". Its constant is in words:
    whole days, months or years of a date, or "between 3 and 5" of a number."""
    merged: list[Filter] = []
    for each in filters:
        words = _range_words(merged[-1], each, schema) if merged else ""
        if words:
            merged[-1] = replace(merged[-1], op="in", right=words)
        else:
            merged.append(each)
    return merged


def _range_words(first: Filter, second: Filter, schema: Schema) -> str:
    """Both bounds of a range in words; "" for other conditions."""
    if not isinstance(first.left, Attribute) or first.left != second.left or first.negated or second.negated:
        return ""
    ops = (first.op, second.op)
    if not is_temporal(first.left.predicate, schema):
        is_numeric = all(isinstance(each.right, int | float) for each in (first, second))
        low, high = (constant_words(each.right, schema, first.left) for each in (first, second))
        return f"between {low} and {high}" if is_numeric and ops == (">=", "<=") else ""
    if ops == (">=", "<="):
        low, high = (constant_words(each.right, schema, first.left) for each in (first, second))
        is_yearless = first.left.part == "yearday"
        return f"between {low} and {high}" if is_yearless else format_year_range(first.right, second.right)
    return format_period(str(first.right), str(second.right)) if ops == (">=", "<") else ""


@dataclass(frozen=True)
class PropertyValues:
    """The values of a thing in words."""

    predicate: Predicate
    label: PredicateLabel
    text: str
    count: int = 1  # how many different ones there are
    number: float | None = None  # the value if it is one number
    is_cut: bool = False  # the words leave out some values
    is_temporal: bool = False  # they are years or dates
    subject: Pronoun = IT  # the pronoun for the thing

    @property
    def counted_noun(self) -> str:
        """What the values count; "" if they are no counts."""
        noun = self.label.one.removeprefix("number of ")
        is_whole = self.predicate.datatype == "integer" and not self.predicate.unit and not self.is_temporal
        return noun if is_whole and is_count_noun(noun) else ""

    @property
    def truth(self) -> bool | None:
        """The value of a yes-or-no property; None for others."""
        if self.predicate.datatype == "boolean":
            return self.text == "yes" if self.text in ("yes", "no") else None
        is_boolean = has_boolean_name(self.predicate) or self.label.kind in ("state", "flag")
        return parse_boolean(self.text, self.predicate) if is_boolean else None

    @property
    def is_open_boolean(self) -> bool:
        """Whether the value is yes or no under a noun, so that the thing may have or be what the noun says."""
        return self.truth is None and parse_boolean(self.text, self.predicate) is not None

    @property
    def gender(self) -> str:
        """The gender that the property states, "male" or "female"; "" for other properties."""
        return gender(self.label.one, self.text)

    @property
    def life_event(self) -> tuple[str, str]:
        """A birth or death as a verb with its time or place: ("were born", "in Rome"); ("", "") for others."""
        one, many, place = phrase_map("wording", "life").get(self.label.one, ("", "", ""))
        if not one or self.subject == IT or self.count > 1:
            return "", ""
        is_year = place == "on" and self.text.isdigit()
        return many if self.subject.many else one, f"{'in' if is_year else place} {self.text}"

    def clause(self, owner: str = "") -> str:
        """The values as a clause with the pronoun, or with the `owner` by name: "its price is 5 EUR"."""
        subject = self.subject._replace(it=owner, many=False) if owner else self.subject
        named = replace(self, subject=subject)
        return named._person_clause() or named.verb_clause() or named._noun_clause(owner)

    def verb_clause(self) -> str:
        """A property that takes a verb; "" for others."""
        subject = self.subject
        if (yes := self.truth) is not None:
            said = self.label.flag(yes)
        elif self.predicate.datatype == "boolean":
            # both yes and no
            return ""
        elif self.label.kind == "noun":
            is_none = self.text == none_value(self.predicate)
            return f"{subject.it} {subject.have} no {self.label.one}" if is_none else ""
        elif self.label.kind == "role":
            said = self.label.phrase(self.text)
        else:
            is_dated = self.predicate.datatype in ("date", "datetime")
            said = self.label.statement(self.text, is_dated=is_dated, is_temporal=self.is_temporal)
        # one person: "they are a member"
        said = replace(said, rest_of_many="") if subject.it == THEY.it else said
        return f"{subject.it} {said.words(subject.many)}"

    def _person_clause(self) -> str:
        """The gender, birth or death of a person; "" for other properties."""
        if self.gender:
            return f"{self.subject.it} {self.subject.be} {self.gender}"
        return f"{self.subject.it} {' '.join(self.life_event)}" if all(self.life_event) else ""

    def _noun_clause(self, owner: str) -> str:
        subject, value = self.subject, self.number if self.count == 1 else None
        is_person = subject.whose != IT.whose
        is_age = is_person and not owner and self.label.one in word_list("wording", "years_old")
        if value is not None and is_age:
            return f"{subject.it} {subject.be} {self.text} years old"
        if value is not None and self.counted_noun and float(value).is_integer():
            noun = singular(self.counted_noun) if value == 1 else self.counted_noun
            return f"{subject.it} {subject.have} {'no' if value == 0 else self.text} {noun}"
        is_located = self.count == 1 and self.label.one in word_list("wording", "located") and not is_person
        if is_located and not self.text[:1].isdigit():
            return f"{subject.it} {subject.be} in {self.text}"
        several = self.count > 1
        name = plural(self.label.one) if several else self.label.one
        if several and not is_plural(name) and name == self.label.one:
            # "equipment" has no plural
            be = "includes"
        else:
            be = "include" if self.is_cut else "are" if several or is_plural(name) else "is"
        whose = f"the {possessive_phrase(name, owner, person=is_person)}" if owner else f"{subject.whose} {name}"
        return f"{whose} {be} {place_phrase(name, self.text)}"


def question_clause(iri: str, things: str, schema: Schema, *, many: bool) -> str:
    """The question for a property without a noun: "when Emma was built", "whether ships are open"; else ""."""
    label = predicate_label(iri, schema)
    if schema.predicate_of[iri].datatype == "boolean":
        return f"whether {things} {label.flag().words(many)}"
    if label.kind in ("state", "past", "verb") and is_temporal(iri, schema):
        return f"when {things} {label.event().words(many)}"
    if label.kind in ("verb", "past") or (label.kind == "state" and not agent_noun(label.one)):
        return f"what {things} {label.phrase().words(many)}"
    return ""


def pair_phrase(label: PredicateLabel, things: str, others: str, *, backward: bool) -> str:
    """Things with what they link to: "ships and their captains"; or `backward` with what links to them."""
    if label.kind == "noun":
        theirs = f"the {others} whose {label.one} they are" if backward else f"their {label.many}"
        return f"{things} and {theirs}"
    if label.kind == "role":
        return ""
    made = active_verb(label.one) if backward and label.kind in ("state", "flag") else None
    if made is not None:
        return f"{things} and the {others} that they {made.many}"
    said = label.phrase().words(many=True)
    return f"{things} and the {others} that {f'{said} them' if backward else f'they {said}'}"


def relative_clause(said: VerbPhrase) -> Clause:
    """What the thing itself does or is: "that borders Spain"."""
    return Clause(f"that {said.words()}", f"that {said.words(many=True)}", said)


def object_clause(subject: str, said: VerbPhrase) -> Clause:
    """What another subject does to the thing: "that Spain borders"."""
    words = f"that {subject} {said.words()}"
    return Clause(words, words, said, subject, "{}")


def property_clause(name: str, said: VerbPhrase, *, of: str = "") -> Clause:
    """What a property of the thing is: "whose height is 3 m". `of` is the property with its owner, "height of {}"."""
    words = f"whose {name} {said.words(is_plural(name))}"
    return Clause(words, words, said, f"the {of or f'{name} of {{}}'}", is_of_many=is_plural(name))


def owning_clause(owned: str, lack: str = "", *, has: bool = True) -> Clause:
    """What the thing has, or has not: "with a garden", "without a garden"; the `lack` of it follows "no"."""
    words = f"{'with' if has else 'without'} {owned}"
    return Clause(words, words, VerbPhrase(HAVE, owned, denied=not has, lack=lack))


def placed_clause(words: str) -> Clause:
    """Words that follow the noun, or "is": "on the stage"."""
    return Clause(words, words, VerbPhrase(BE, words))
