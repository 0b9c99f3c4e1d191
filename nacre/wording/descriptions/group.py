"""Describe a group of things: MemberGroup -> sentences with their number, shared values, and number ranges."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from nacre.language.format_values import is_number_name
from nacre.language.forms.nouns import is_plural, join_names, number_with_noun, plural
from nacre.plans.statement import RunStatement
from nacre.records.evidence import EvidenceSentence
from nacre.records.plan import Itself, Select, Variable
from nacre.records.schema import Predicate, Schema
from nacre.stores.sqlite.triples import TYPE
from nacre.wording.answers.sentence import capitalise_first
from nacre.wording.descriptions.facts import SentenceFacts, WordedFact, predicate_facts, strip_kind_prefix, word_senses
from nacre.wording.descriptions.part_statistics import (
    DependentPart,
    NumberRange,
    find_part,
    number_ranges,
    range_clauses,
)
from nacre.wording.labels.class_nouns import class_noun
from nacre.wording.labels.predicate_labels import is_describable, predicate_label
from nacre.wording.phrases.select import verbalise_select

# members that a sentence names; items and their words in a list
MAX_NAMED, MAX_ITEMS, MAX_ITEM_WORDS = 5, 10, 35
# lists, properties that all members share, and numbers of one sentence
MAX_LISTS, MAX_SHARED, MAX_NUMBERS = 1, 3, 4
MAX_CITED_TRIPLES = 50


@dataclass(frozen=True)
class MemberGroup:
    """Things by IRI with their names, the select that gives them, and the variable that stands for them."""

    members: Mapping[str, str]
    select: Select
    variable: Variable

    def name(self, schema: Schema) -> str:
        """The group in words: "3 towns whose country is Chile", "3 towns"."""
        answer = self.select.answers[0]
        variable = next(v for v in self.select.variables if isinstance(answer, Itself) and v.name == answer.variable)
        if not variable.keys:
            return f"{len(self.members):,} {verbalise_select(self.select, schema)}"
        names = set(self.members.values())
        called = f" called {names.pop()}" if len(names) == 1 < len(self.members) else ""
        return f"{number_with_noun(len(self.members), class_noun(variable, schema))}{called}"


@dataclass(frozen=True)
class GroupValue:
    """One value of a link: how many members have it, and their facts."""

    text: str
    members: int
    facts: tuple[WordedFact, ...]


@dataclass(frozen=True)
class _ValueList:
    """The first values of a predicate that some members have, and how many values there are."""

    predicate: Predicate
    values: list[GroupValue]
    number: int
    is_on_topic: bool


def describe_group(group: MemberGroup, topic: set[str], schema: Schema, run: RunStatement) -> list[EvidenceSentence]:
    """How many members there are and who, what all or most have, and the ranges of their numbers; each fact once."""
    sentences: list[SentenceFacts] = [
        (f"There are {group.name(schema)}{_listed_members(group)}.", _membership_facts(group))
    ]
    defining = {edge.predicate for edge in group.select.edges}
    shared: list[tuple[Predicate, list[GroupValue]]] = []
    lists: list[_ValueList] = []
    for predicate in schema.predicates:
        values = [] if predicate.iri in defining else _linked_values(predicate, group, schema, run)
        of_all = [value for value in values if value.members == len(group.members)]
        if of_all:
            shared.append((predicate, of_all[:MAX_ITEMS]))
        of_some = [value for value in values if value.members < len(group.members)]
        if of_some:
            is_on_topic = bool(topic & word_senses(predicate_label(predicate.iri, schema).one))
            lists.append(_ValueList(predicate, _best_values(of_some, topic), len(of_some), is_on_topic))
    if shared:
        sentences.append(_shared_sentence(shared, schema))
    sentences += [_range_sentence(ranges, part, schema) for ranges, part in _statistics(group, schema, run)]
    lists = sorted(lists, key=lambda each: (not each.is_on_topic, -each.number))
    sentences += [_list_sentence(each, schema) for each in lists[:MAX_LISTS]]
    title, keys = group.name(schema), tuple(group.members)[:MAX_CITED_TRIPLES]
    return [
        EvidenceSentence(
            "sql", 0, text=text, title=title, keys=keys, triples=tuple(f.triple for f in facts[:MAX_CITED_TRIPLES])
        )
        for text, facts in sentences
    ]


def _membership_facts(group: MemberGroup) -> list[WordedFact]:
    """The facts that make the members members: their class, and their links to known things."""
    answer = group.select.answers[0]
    name = answer.variable if isinstance(answer, Itself) else ""
    ends = {v.name: v.keys for v in group.select.variables}
    links = [(e.predicate, ends[e.object][0]) for e in group.select.edges if e.subject == name and ends.get(e.object)]
    conditions = [*((TYPE, class_) for class_ in group.variable.classes[:1]), *links]
    return [WordedFact(iri, "", (iri, predicate, end)) for predicate, end in conditions for iri in group.members]


def _statistics(
    group: MemberGroup, schema: Schema, run: RunStatement
) -> list[tuple[list[NumberRange], DependentPart | None]]:
    """The number ranges of the members, and those of their parts; empty ones are left out."""
    own = Select((Itself(group.variable.name),), (group.variable,))
    found: list[tuple[list[NumberRange], DependentPart | None]] = [
        (number_ranges(own, group.variable, len(group.members), schema, run, MAX_NUMBERS), None)
    ]
    part = find_part(group.variable, schema, run)
    if part is not None:
        found.append((number_ranges(part.select, part.variable, part.count, schema, run, MAX_NUMBERS), part))
    return [(ranges, part) for ranges, part in found if ranges]


def _linked_values(predicate: Predicate, group: MemberGroup, schema: Schema, run: RunStatement) -> list[GroupValue]:
    """What members link to by a predicate, the values of most members first."""
    if not predicate.has_links or not is_describable(predicate, schema):
        return []
    if predicate_label(predicate.iri, schema).kind != "noun" or (predicate.functional and predicate.pairs_off):
        # a value that each member has for itself says nothing about the group
        return []
    facts = strip_kind_prefix(predicate_facts(predicate, group.variable, schema, run), predicate)
    counts = Counter(text for text, _ in {(fact.text, fact.thing) for fact in facts})
    by_text: dict[str, list[WordedFact]] = {}
    for fact in facts:
        by_text.setdefault(fact.text, []).append(fact)
    ordered = sorted(counts.items(), key=lambda count: (-count[1], count[0]))
    return [GroupValue(text, members, tuple(by_text[text])) for text, members in ordered]


def _limit_values(values: Sequence[GroupValue]) -> list[GroupValue]:
    """The first values that fit into one sentence."""
    words = accumulate(len(value.text.split()) for value in values)
    fitting = [value for value, total in zip(values[:MAX_ITEMS], words, strict=False) if total <= MAX_ITEM_WORDS]
    return fitting or list(values[:1])


def _listed_members(group: MemberGroup) -> str:
    """The names of the members; "" if several share a name, or if names are numbers."""
    names = sorted(set(group.members.values()))
    is_numbered = all(is_number_name(name, (iri,)) for iri, name in group.members.items())
    if len(names) < len(group.members) or is_numbered:
        return ""
    if len(names) <= MAX_NAMED:
        return f": {join_names(names)}"
    return f", among them {join_names(names[: MAX_NAMED - 2])}"


def _shared_sentence(shared: Sequence[tuple[Predicate, list[GroupValue]]], schema: Schema) -> SentenceFacts:
    clauses = [
        f"the {_label(predicate, len(values), schema)} {join_names([value.text for value in values])}"
        for predicate, values in shared[:MAX_SHARED]
    ]
    facts = [fact for _, values in shared for value in values for fact in value.facts]
    return f"All of them have {join_names(clauses)}.", facts


def _range_sentence(ranges: Sequence[NumberRange], part: DependentPart | None, schema: Schema) -> SentenceFacts:
    facts = [WordedFact(triple[0], "", triple) for each in ranges for triple in each.triples]
    start = f"across their {number_with_noun(part.count, part.noun)}, " if part is not None else ""
    return capitalise_first(f"{start}{range_clauses(ranges, schema, average=True)}."), facts


def _list_sentence(found: _ValueList, schema: Schema) -> SentenceFacts:
    is_cut = found.number > len(found.values)
    label = _label(found.predicate, len(found.values), schema)
    if is_plural(label):
        be = "include" if is_cut else "are" if len(found.values) > 1 else "is"
    else:
        be = "includes" if is_cut else "is"
    facts = [fact for value in found.values for fact in value.facts]
    return f"Their {label} {be} {join_names([value.text for value in found.values])}.", facts


def _best_values(values: Sequence[GroupValue], topic: set[str]) -> list[GroupValue]:
    """The values of the topic, then those of most members."""
    return _limit_values(sorted(values, key=lambda value: (not topic & word_senses(value.text), -value.members)))


def _label(predicate: Predicate, number: int, schema: Schema) -> str:
    label = predicate_label(predicate.iri, schema).one
    return plural(label) if number > 1 else label
