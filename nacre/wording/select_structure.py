"""What the links of a select mean by the schema: Select + Schema -> links that a noun phrase leaves out or merges."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

from nacre.language import word_forms
from nacre.language.data import WORDS, phrase_list, phrase_map
from nacre.language.thesaurus import is_person
from nacre.plans.selects import counted_path, edges_at, filtered_variable, ordered_variable, variable_of
from nacre.records.plan import Aggregate, Attribute, Edge, Filter, Itself, Order, Select, Variable
from nacre.records.schema import Schema
from nacre.wording.labels import label_remainder, may_give_years, predicate_label
from nacre.wording.link_clauses import thing_name
from nacre.wording.nouns import associated_noun, class_noun, is_temporal, nominal_label, other_links


@dataclass(frozen=True)
class HeadingLink:
    """A link that names a thing by its owner: "capital" + " of Spain", with the index of its edge."""

    noun: str
    tail: str
    edge: int


@dataclass(frozen=True)
class SelectStructure:
    """A select with the nouns of its variables."""

    select: Select
    schema: Schema

    @cached_property
    def variables(self) -> dict[str, Variable]:
        """The variables by their names."""
        return {v.name: v for v in self.select.variables}

    def noun(self, variable: str) -> str:
        """The noun of a variable's things, in the singular."""
        known = self.variables.get(variable)
        return class_noun(known, self.schema) if known else "thing"

    def heading_link(self, name: str, seen: Collection[int]) -> HeadingLink | None:
        """The link that says what a thing is to a named one: "the capital of Spain"; None without such a link."""
        for index, edge in enumerate(self.select.edges):
            owner = self.variables.get(edge.subject)
            label = predicate_label(edge.predicate, self.schema)
            if edge.object != name or index in seen or label.kind != "noun" or owner is None or edge.subject == name:
                continue
            if len(owner.keys) == 1 and owner.label:
                noun = self.noun(edge.subject)
                phrase = word_forms.possessive_phrase(label.one, thing_name(owner, noun), person=is_person(noun))
                return HeadingLink(label.one, phrase.removeprefix(label.one), index)
        return None

    def stands_for(self, edge: Edge) -> bool:
        """Whether a link leads from the role of a person to that person, of whom the select says nothing else."""
        ends = [self.variables.get(each) for each in (edge.subject, edge.object)]
        predicate = self.schema.predicate_of[edge.predicate]
        is_one_to_one = predicate.functional and predicate.pairs_off
        if not is_one_to_one or any(end is None or end.keys for end in ends):
            return False
        is_filtered = any(filtered_variable(each) == edge.object for each in self.select.filters)
        if is_filtered or len(edges_at(self.select, edge.object)) != 1:
            return False
        return all(is_person(self.noun(each)) for each in (edge.subject, edge.object))

    def is_given(self, edge: Edge, name: str) -> bool:
        """Whether a link from a variable need not be said: all its things have it, to any thing of a class."""
        if edge.subject == name and self.stands_for(edge):
            return True
        own, other = self.variables.get(name), self.variables.get(edge.object)
        if edge.subject != name or own is None or own.keys or other is None or other.keys:
            return False
        if all(isinstance(each, Itself) for each in self.select.answers):
            # these may be the things that others exclude
            return False
        is_filtered = any(filtered_variable(each) == edge.object for each in self.select.filters)
        shown = [*map(variable_of, self.select.answers), *self.select.group, ordered_variable(self.select)]
        if is_filtered or edge.object in shown or len(edges_at(self.select, edge.object)) > 1:
            return False
        predicate = self.schema.predicate_of[edge.predicate]
        all_have = any(predicate.domains.get(c, 0) >= self.schema.class_of[c].count for c in own.classes)
        return all_have and not self.is_narrow(other, edge.predicate)

    def is_narrow(self, variable: Variable, predicate: str) -> bool:
        """Whether a link also leads to things that are none of a variable's."""
        known = self.schema.predicate_of[predicate]
        return bool(variable.classes) and all(known.ranges.get(c, 0) < known.objects for c in variable.classes)

    def association_noun(self, edge: Edge, name: str, own: str) -> str:
        """What a thing without a name joins to an `own`, if its class is named after both; "" for others."""
        predicate = self.schema.predicate_of[edge.predicate]
        links = other_links(predicate, self.variables[name].classes, self.schema)
        return associated_noun(self.noun(name), own, links, self.schema)

    def is_class_link(self, label: str, own: str, edge: Edge) -> bool:
        """Whether a link to a thing, an `own`, says no more of it than its class. So does the only link between two
        classes, with more words ("lead singer") or if a thing may have several ("tourist" of visits)."""
        if f" {own}".endswith(f" {label}"):
            return True
        predicate = self.schema.predicate_of[edge.predicate]
        is_alike = is_person(own) or bool(set(label.split()) & set(own.split()))
        may_have_several = predicate.functional and not predicate.pairs_off and is_alike
        return (f" {label}".endswith(f" {own}") or may_have_several) and self._is_only_link(edge)

    def link_beyond(self, middle: str, name: str, seen: frozenset[int]) -> tuple[str, frozenset[int]] | None:
        """The variable beyond one that joins two and is named after both ("singer in concert"), with the edges seen.
        None if the middle says more, or leads elsewhere."""
        further = [(i, e) for i, e in enumerate(self.select.edges) if middle in (e.subject, e.object) and i not in seen]
        is_filtered = any(filtered_variable(each) == middle for each in self.select.filters)
        is_shown = any(variable_of(answer) == middle for answer in self.select.answers)
        if len(further) != 1 or is_filtered or is_shown or ordered_variable(self.select) == middle:
            return None
        index, edge = further[0]
        far = edge.object if edge.subject == middle else edge.subject
        words = set(self.noun(middle).split())
        ends = set(self.noun(name).split()), set(self.noun(far).split())
        return (far, seen | {index}) if all(words & end for end in ends) and far != name else None

    def is_class_average(self, each: Filter, inner: Select) -> bool:
        """Whether a property is compared with its mean over all things of the class."""
        answer = inner.answers[0]
        if not isinstance(each.left, Attribute) or not isinstance(answer, Aggregate) or answer.function != "avg":
            return False
        own = self.variables.get(each.left.variable)
        is_all = len(inner.variables) == 1 and not (inner.filters or inner.edges or inner.group or inner.by)
        is_same = isinstance(answer.of, Attribute) and answer.of.predicate == each.left.predicate
        return is_all and is_same and own is not None and own.classes == inner.variables[0].classes

    def _is_only_link(self, edge: Edge) -> bool:
        """Whether no other predicate links the classes of both ends."""
        first, last = (self.variables.get(n, Variable(n)) for n in (edge.subject, edge.object))
        one, other = set(first.classes), set(last.classes)
        return sum(bool(one & p.domains.keys() and other & p.ranges.keys()) for p in self.schema.predicates) == 1


def attribute_measure(structure: SelectStructure, by: Attribute) -> str:
    """A property that things are ordered by, with its owner if that is another thing: "price of a car"."""
    name, noun = nominal_label(by.predicate, structure.schema), structure.noun(by.variable)
    own = label_remainder(name, noun) or name
    return (
        own
        if by.variable == ordered_variable(structure.select)
        else f"{own} of {word_forms.with_indefinite_article(noun)}"
    )


def superlative_adjective(structure: SelectStructure, order: Order) -> str:
    """The adjective for what comes first in an order: "oldest" by age; "" if English has none."""
    if not isinstance(order.by, Attribute):
        return ""
    ends = phrase_map("wording", "superlatives").get(attribute_measure(structure, order.by))
    return "" if ends is None else ends[not order.descending]


def ordinal(select: Select) -> str:
    """The place in the order that a select begins with: "second ", "" for the first place."""
    place = select.offset + 1
    ordinals = phrase_list("wording", "ordinals")
    if place == 1:
        return ""
    return f"{ordinals[place - 2]} " if place - 2 < len(ordinals) else f"{place}th "


def order_clause(structure: SelectStructure, order: Order, measure: str, *, is_one: bool) -> str:
    """What places things in an order: "with the second highest price". `is_one`: after a noun of one thing."""
    place, by = ordinal(structure.select), order.by
    if isinstance(by, Itself):
        return f"{place}{'last' if order.descending else 'first'} by name"
    most = "most" if order.descending else "fewest"
    if isinstance(by, Aggregate) and by.function == "count":
        verb = _verb_between_same_class(structure, variable_of(by), is_one=is_one)
        return f"{verb or 'with'} the {place}{most} {measure.removeprefix('number of ')}"
    if isinstance(by, Attribute) and (event := _event_clause(structure, order, by, place, is_one=is_one)):
        return event
    end = _order_end(structure, order)
    if measure.startswith("number of ") and end in ("highest", "lowest"):
        return f"with the {place}{most} {measure.removeprefix('number of ')}"
    if measure.startswith("total number of "):
        total = "most" if end == "highest" else "fewest"
        return f"with the {place}{total} {measure.removeprefix('total number of ')} in total"
    for lead, (farthest, nearest) in phrase_map("wording", "places").items():
        if measure.startswith(f"{lead} "):
            return f"{place}{farthest if order.descending else nearest} {measure.removeprefix(f'{lead} ')}"
    if not place and end in ("highest", "lowest", "most") and measure.split()[0].casefold() in WORDS[end]:
        return f"with the {measure}"
    if isinstance(by, Attribute) and end in ("highest", "lowest"):
        end = word_forms.extreme_adjective(measure, high=order.descending)
    return f"with the {place}{end} {measure}"


def _order_end(structure: SelectStructure, order: Order) -> str:
    """The word for the end of a measure that an order begins with: "highest", "latest", "most"."""
    if isinstance(order.by, Attribute):
        if is_temporal(order.by.predicate, structure.schema):
            return "latest" if order.descending else "earliest"
        predicate = structure.schema.predicate_of[order.by.predicate]
        if predicate.datatype == "integer" and word_forms.is_plural(attribute_measure(structure, order.by)):
            return "most" if order.descending else "fewest"
    return "highest" if order.descending else "lowest"


def _event_clause(structure: SelectStructure, order: Order, by: Attribute, place: str, *, is_one: bool) -> str:
    """What happened first or last: "founded first", "whose queen was born first"; "" for other properties."""
    label, end = predicate_label(by.predicate, structure.schema), "last" if order.descending else "first"
    owned, _, verb = label.one.rpartition(" ")
    has_dates, about = is_temporal(by.predicate, structure.schema), structure.schema.predicate_of[by.predicate]
    if label.kind == "noun" and owned and word_forms.is_participle(verb) and (has_dates or may_give_years(about)):
        return f"whose {owned} was {verb} {place}{end}"
    is_event = has_dates and label.kind in ("state", "past", "verb")
    if not is_event or by.variable != ordered_variable(structure.select):
        return ""
    verb = word_forms.strip_preposition(label.one if is_one or label.kind != "verb" else label.many)
    first, _, done = verb.partition(" ")
    if done and first in WORDS["the_last"]:
        # "checked last" of what was "last checked"
        verb, end = (done, end) if order.descending else (verb, "longest ago")
    that = "" if label.kind == "state" else "that "
    return f"{that}{verb} {place}{end}"


def _verb_between_same_class(structure: SelectStructure, counted: str, *, is_one: bool) -> str:
    """What things do to the things of their class that are counted: "that interact with"; "" for other classes."""
    ordered = ordered_variable(structure.select)
    path = [structure.select.edges[i] for i in counted_path(structure.select, counted)]
    if len(path) != 1 or path[0].subject != ordered or structure.noun(counted) != structure.noun(ordered):
        return ""
    label = predicate_label(path[0].predicate, structure.schema)
    return f"that {label.one if is_one else label.many}" if label.kind == "verb" else ""
