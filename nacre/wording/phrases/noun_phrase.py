"""The things of a select with all that is said of them: Select + Schema -> "the stadium with the most concerts"."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from nacre.language.base import language
from nacre.language.format_values import format_value
from nacre.language.forms.nouns import (
    count_phrase,
    extreme_adjective,
    is_participle,
    is_plural,
    plural,
    possessive_phrase,
    with_indefinite_article,
    wording_entry,
)
from nacre.language.forms.verbs import strip_preposition
from nacre.language.thesaurus import is_person
from nacre.plans.inspect_select import (
    counted_edges,
    counted_for,
    counted_path,
    edges_at,
    filtered_variable,
    group_edges,
    is_redundant_known,
    ordered_variable,
    variable_of,
)
from nacre.plans.merge import is_from_earlier_turn
from nacre.records.plan import Aggregate, Attribute, Edge, Filter, Itself, Order, Select, Variable
from nacre.records.schema import Schema
from nacre.wording.labels.association_classes import associated_noun, other_links
from nacre.wording.labels.class_nouns import class_noun, strip_owner
from nacre.wording.labels.predicate_labels import predicate_label
from nacre.wording.labels.shorten_label import label_remainder
from nacre.wording.labels.value_kinds import is_temporal, nominal_label
from nacre.wording.phrases.clauses import (
    AVERAGE,
    Clause,
    backward_link_clause,
    comparison_words,
    count_condition_phrase,
    excluded_value_clause,
    excluded_value_filter,
    filter_clause,
    forward_link_clause,
    membership_clause,
    merge_range_filters,
)
from nacre.wording.phrases.join_clauses import (
    KIND_SUFFIX,
    aggregate_name,
    alternative_names,
    chain_clauses,
    person_clause,
    superlative_phrase,
    thing_name,
)

_PLACES = ("", "", "second ", "third ", "fourth ", "fifth ", "sixth ", "seventh ", "eighth ", "ninth ", "tenth ")
_DEEPEST = 6


@dataclass(frozen=True)
class SelectWording:
    """Says the things and numbers of one select; `inner` says a whole select that stands in a condition, `tied` is set
    where several things share the place that is asked for."""

    select: Select
    schema: Schema
    inner: Callable[[Select, Schema, bool], str]
    tied: bool = False

    @cached_property
    def variables(self) -> dict[str, Variable]:
        return {v.name: v for v in self.select.variables}

    @cached_property
    def numbered(self) -> bool:
        """Whether numbers are asked for, and not things."""
        return any(isinstance(a, Aggregate) for a in self.select.answers)

    def noun(self, variable: str) -> str:
        """The kind of a variable's things, in the singular."""
        known = self.variables.get(variable)
        return class_noun(known, self.schema) if known else "thing"

    def computed(self, term: Aggregate, short: bool = False) -> str:
        """A computed number: "average price of cars"; `short` leaves out of what."""
        of = term.of
        if isinstance(of, Itself):
            noun = plural(self.noun(of.variable))
            things = noun if short else self.things(of.variable, True, group_edges(self.select), 0)
            return f"number of {things.removeprefix('the ')}"
        label = predicate_label(of.predicate, self.schema)
        own = count_phrase(self.own_name(of), counts=self._counts(of.predicate))
        name = f"number of different {label.many}" if term.function == "count" else aggregate_name(term.function, own)
        known = self.variables.get(of.variable)
        if term.function != "count" and known is not None and len(known.keys) == 1 and self._has_one(of.predicate):
            # the average height of one person is the height
            name = own
        grouped = bool(self.select.group or self.select.by)
        if short or (grouped and is_participle(name.split()[-1])):
            # "the total amount paid for each buyer", and not "for the sales for each buyer"
            return name
        return possessive_phrase(
            name, self.owners(of.variable, group_edges(self.select)), person=is_person(self.noun(of.variable))
        )

    def own_name(self, of: Attribute) -> str:
        """What a property is called without the kind of its things: the "amount" of payments."""
        named, noun = nominal_label(of.predicate, self.schema), self.noun(of.variable)
        return label_remainder(named, noun) or named.removeprefix(f"{noun} ")

    def owners(self, name: str, seen: frozenset[int] = frozenset()) -> str:
        """The things of a variable whose property is said: "the cars that are red", "Emma", "those 4 cars"."""
        said, known = self.things(name, True, seen, 0), self.variables.get(name)
        named = known is not None and bool(known.label)
        return said if named or said.startswith("the ") or said[:1].isdigit() else f"the {said}"

    def _has_one(self, predicate: str) -> bool:
        """Whether nothing has several values of a property, that are one number each."""
        known = self.schema.predicate_of[predicate]
        return known.functional and known.shape == "single"

    def _counts(self, predicate: str) -> bool:
        """Whether the numbers of a property may say how many things there are."""
        known = self.schema.predicate_of[predicate]
        return known.datatype == "integer" and not known.unit

    def _counted(self, term: Aggregate, many: bool = True) -> str:
        """What groups are ordered or chosen by, without the order and the choice themselves."""
        filters = tuple(f for f in self.select.filters if not isinstance(f.left, Aggregate))
        inner = SelectWording(
            replace(self.select, order=None, limit=None, offset=0, filters=filters), self.schema, self.inner
        )
        alone = bool(counted_path(self.select, variable_of(term)))
        if many or not isinstance(term.of, Itself):
            totals = isinstance(term.of, Itself) or term.function == "sum"
            return inner.computed(term, short=(alone and totals) or variable_of(term) in self.select.group)
        if alone:
            return f"number of {self.noun(term.of.variable)}"
        return f"number of {inner.things(term.of.variable, False, group_edges(inner.select), 0).removeprefix('the ')}"

    def things(self, name: str, many: bool, seen: frozenset[int], depth: int) -> str:
        """The things of a variable with all that is said of them; with "the" where they are named or ordered."""
        variable = self.variables.get(name)
        if variable is None:
            return "things" if many else "the thing"
        noun = self.noun(name)
        if variable.label and len(variable.keys) == 1:
            return thing_name(variable, noun)
        limit = self.select.limit
        ordered = limit is not None and ordered_variable(self.select) == name and not self.numbered
        clauses = self.clauses(name, seen, depth)
        head = self._headed(name, seen) if not variable.label else None
        if head is not None:
            noun, edge, owner = head
            clauses = self.clauses(name, seen | {edge}, depth)
            person = is_person(self.noun(self.select.edges[edge].subject))
            tail = possessive_phrase(noun, owner, person=person).removeprefix(noun)
        else:
            tail = ""
            if len(clauses) == 1 and clauses[0].kind and clauses[0].one.startswith(f"that is the {clauses[0].kind} "):
                # "people who are the singer with the most songs"
                return clauses[0].one.removeprefix("that is ")
            noun, clauses = (noun, clauses) if variable.label else _of_kind(noun, clauses)
        one = (
            head is not None
            and not self.numbered
            and self.schema.predicate_of[self.select.edges[head[1]].predicate].functional
        )
        several = many and (self.tied or not (ordered and limit == 1)) and not one
        front = next((c.front for c in clauses if c.front), "")
        if front:
            # "car variant" of a model is its "variant"
            noun = noun.split()[-1]
        clauses = [c for c in clauses if not c.front or c.front != front]
        before_noun = [c for c in clauses if c.adjective and not variable.label]
        clauses = [c for c in clauses if c not in before_noun]
        before = is_from_earlier_turn(variable)
        best = self._best() if ordered and (before or not variable.label) else ""
        adjectives = [*filter(None, [best]), *(c.adjective for c in before_noun)]
        said = " ".join(filter(None, [front, *adjectives, plural(noun) if several else noun])) + tail
        if variable.label and len(variable.keys) != 1:
            called = KIND_SUFFIX.sub("", variable.label)
            kind = plural(noun) if several else noun
            # of one name, or of several names
            names = alternative_names(variable) if several else called
            said = f"{kind} {names}" if " or " in called else f"{kind} called {called}"
            said = " ".join(filter(None, [front, said]))
            if ordered and limit == 1 and " or " in variable.label:
                said = f"one of {alternative_names(variable)}"
        if before:
            those = f"those {len(variable.keys)} {plural(noun)}"
            said = f"{best or 'one'} of {those}" if ordered and limit == 1 else those
        texts = [c.many if several else c.one for c in clauses]
        if ordered and self.select.order is not None:
            texts = texts if best else [self._placed(self.select.order), *texts]
            if (limit or 1) > 1:
                said = f"{limit} {said}"
        if is_person(noun):
            texts = [person_clause(text) for text in texts]
        first = superlative_phrase(said, texts)
        if first:
            return first
        said = " ".join(filter(None, [said, chain_clauses(texts)]))
        definite = ordered and limit == 1 if before else ordered or not many or head is not None or bool(front)
        definite = definite or " or " in variable.label
        return f"the {said}" if definite else said

    def _headed(self, name: str, seen: frozenset[int]) -> tuple[str, int, str] | None:
        """The link that says what a thing is to another: "capital" of "the capital of Spain", its edge, its owner."""
        for i, edge in enumerate(self.select.edges):
            other = self.variables.get(edge.subject)
            label = predicate_label(edge.predicate, self.schema)
            if edge.object != name or i in seen or label.kind != "noun" or other is None or edge.subject == name:
                continue
            if len(other.keys) == 1 and other.label:
                return label.one, i, thing_name(other, self.noun(edge.subject))
        return None

    def clauses(self, name: str, seen: frozenset[int], depth: int) -> list[Clause]:
        """What is said of a variable's things; each edge once on the way."""
        found: list[Clause] = []
        if name in self.select.group or name == counted_for(self.select):
            seen = seen | counted_edges(self.select)
        if depth > _DEEPEST:
            return found
        for i, edge in enumerate(self.select.edges):
            at = i not in seen and name in (edge.subject, edge.object) and edge.subject != edge.object
            if at and not self._is_given(edge, name):
                found.append(self._link(edge, i, name, seen | {i} | edges_at(self.select, name), depth + 1))
        lacking = {
            f.left.predicate
            for each in self.select.filters
            if (f := excluded_value_filter(each)) and isinstance(f.left, Attribute)
        }
        for each in merge_range_filters(self.select.filters, self.schema):
            if isinstance(each.left, Attribute) and each.op == "known" and each.left.predicate in lacking:
                continue
            if (
                isinstance(each.left, Attribute)
                and each.left.variable == name
                and not is_redundant_known(self.select, each)
            ):
                told = filter_clause(each, self.schema, self.right(each))
                if predicate_label(each.left.predicate, self.schema).one == self.noun(name):
                    # "the artist whose artist is Ann"
                    lead = f"whose {self.noun(name)} is "
                    told = replace(told, one=told.one.replace(lead, "called "), many=told.many.replace(lead, "called "))
                found.append(told)
            elif isinstance(each.left, Itself) and each.left.variable == name and isinstance(each.right, Select):
                own = excluded_value_filter(each)
                said = excluded_value_clause(own, self.schema) if own is not None else None
                found.append(
                    said or membership_clause(each, self.inner(each.right, self.schema, True), self.noun(name))
                )
            elif isinstance(each.left, Aggregate) and name == counted_for(self.select):
                found.append(self._having(each))
        return found

    def stands_for(self, edge: Edge) -> bool:
        """Whether a link leads from a row that says what somebody is to that person, of whom nothing else is said."""
        ends = [self.variables.get(each) for each in (edge.subject, edge.object)]
        about = self.schema.predicate_of[edge.predicate]
        one = about.functional and about.pairs_off and all(end is not None and not end.keys for end in ends)
        told = any(filtered_variable(f) == edge.object for f in self.select.filters)
        alone = len(edges_at(self.select, edge.object)) == 1 and not told
        return one and alone and all(is_person(self.noun(each)) for each in (edge.subject, edge.object))

    def _is_given(self, edge: Edge, name: str) -> bool:
        """Whether a link to any thing of a kind says nothing of things that all have it."""
        if edge.subject == name and self.stands_for(edge):
            return True
        own, other = self.variables.get(name), self.variables.get(edge.object)
        if edge.subject != name or own is None or own.keys or other is None or other.keys:
            return False
        if all(isinstance(each, Itself) for each in self.select.answers):
            # these may be those that others are not
            return False
        told = [v for f in self.select.filters if (v := filtered_variable(f)) == edge.object]
        asked = [*map(variable_of, self.select.answers), *self.select.group, ordered_variable(self.select)]
        if told or edge.object in asked or len(edges_at(self.select, edge.object)) > 1:
            return False
        about = self.schema.predicate_of[edge.predicate]
        all_have = any(about.domains.get(c, 0) >= self.schema.class_of[c].count for c in own.classes)
        return all_have and not self._is_narrow(other, edge.predicate)

    def _link(self, edge: Edge, place: int, name: str, seen: frozenset[int], depth: int) -> Clause:
        label = predicate_label(edge.predicate, self.schema)
        other = edge.object if edge.subject == name else edge.subject
        variable = self.variables.get(other)
        named = variable is not None and len(variable.keys) == 1 and bool(variable.label)
        between = None if named else self._between(other, name, seen)
        if between is not None:
            far, rest = between
            beyond, noun = self._some(far, rest, depth), self.noun(far)
            told = self.variables[far]
            if len(told.keys) == 1 and told.label and is_person(noun) and not is_person(self.noun(name)):
                # "the order items of Ann", whose order is hers
                owned = f"of {beyond.removeprefix(f'the {noun} ')}"
                return Clause(owned, owned, f"{{}} is {owned}", f"{{}} is not {owned}")
            if beyond == self.variables[far].label and not beyond.lower().startswith(noun):
                # the type of a restaurant, and not its "restaurant type"
                beyond = f"the {label_remainder(noun, self.noun(name)) or noun} {beyond}"
            return Clause(f"with {beyond}", f"with {beyond}", f"{{}} has {beyond}", f"{{}} has no such {noun}")
        own = self.noun(name)
        text = self._some(other, seen, depth)
        bare = not named and text == with_indefinite_article(self.noun(other))
        if bare:
            # "customers without a payment", and not without a "customer payment"
            short = strip_owner(self.noun(other), own, self.schema)
            text = with_indefinite_article(
                short if short != self.noun(other) else self._joined(edge, other, own) or short
            )
        if named and label.one.split()[-1] == self.noun(other).split()[-1]:
            # "whose line is the line Spelt" says the kind twice
            text = text.removeprefix(f"the {self.noun(other)} ")
        if edge.subject == name:
            if label.kind == "noun" and f" {own}".endswith(f" {label.one}") and not named:
                # "the song whose song's format is mp3", of its file
                label = replace(label, one=self.noun(other), many=plural(self.noun(other)))
            bare = bare and not (variable is not None and self._is_narrow(variable, edge.predicate))
            several = named and not self.schema.predicate_of[edge.predicate].functional
            return forward_link_clause(label, text, own, self.noun(other), named=named, bare=bare, several=several)
        if label.kind == "noun" and not named and self._is_of_kind(label.one, own, edge):
            if is_person(own) and is_person(self.noun(other)):
                # who has a row as a singer is one
                many = self.things(other, True, seen, depth)
                true, false = f"{{}} is {text}", f"{{}} is not {text}"
                return Clause(f"that is {text}", f"that are {many}", true, false, kind=self.noun(other))
            return Clause(f"with {text}", f"with {text}", f"{{}} has {text}", f"{{}} has no {text.partition(' ')[2]}")
        return backward_link_clause(label, text, own)

    def _joined(self, edge: Edge, name: str, own: str) -> str:
        """What a thing without a name joins an `own` to, where it is called after both; "" for others."""
        predicate = self.schema.predicate_of[edge.predicate]
        ends = other_links(predicate, self.variables[name].classes, self.schema)
        return associated_noun(self.noun(name), own, ends, self.schema)

    def _is_of_kind(self, label: str, own: str, edge: Edge) -> bool:
        """Whether a link that leads to a thing says no more of it than its kind, as the only one from these to those
        does with more words ("lead singer"), or where a thing may have several ("tourist" of visits)."""
        if f" {own}".endswith(f" {label}"):
            return True
        about = self.schema.predicate_of[edge.predicate]
        alike = is_person(own) or bool(set(label.split()) & set(own.split()))
        several = about.functional and not about.pairs_off and alike
        return (f" {label}".endswith(f" {own}") or several) and self._is_only_way(edge)

    def _is_only_way(self, edge: Edge) -> bool:
        """Whether no other property leads from the kinds at one end of a link to those at the other."""
        first, last = (self.variables.get(n, Variable(n)) for n in (edge.subject, edge.object))
        one, other = set(first.classes), set(last.classes)
        return sum(bool(one & p.domains.keys() and other & p.ranges.keys()) for p in self.schema.predicates) == 1

    def _is_narrow(self, variable: Variable, predicate: str) -> bool:
        """Whether some of what a link leads to is none of the things of a variable."""
        about = self.schema.predicate_of[predicate]
        return bool(variable.classes) and all(about.ranges.get(c, 0) < about.objects for c in variable.classes)

    def _some(self, name: str, seen: frozenset[int], depth: int) -> str:
        """A variable's thing after a link: by name, as the one of its kind, or as any."""
        said = self.things(name, False, seen, depth)
        variable = self.variables.get(name)
        if variable is not None and is_from_earlier_turn(variable) and said.startswith("those "):
            return f"one of {said}"
        if variable is None or (len(variable.keys) == 1 and variable.label) or not said.startswith("the "):
            return said
        placed = self.select.limit is not None and ordered_variable(self.select) == name
        placed = placed or said.startswith(f"the {self.noun(name)} with the ")
        return said if placed or self._headed(name, seen) else with_indefinite_article(said.removeprefix("the "))

    def _between(self, middle: str, name: str, seen: frozenset[int]) -> tuple[str, frozenset[int]] | None:
        """The thing beyond one that only joins two, and is called after both ("singer in concert")."""
        edges = [(i, e) for i, e in enumerate(self.select.edges) if middle in (e.subject, e.object)]
        further = [(i, e) for i, e in edges if i not in seen]
        asked = any(filtered_variable(f) == middle for f in self.select.filters) or any(
            variable_of(a) == middle for a in self.select.answers
        )
        if len(further) != 1 or asked or ordered_variable(self.select) == middle:
            return None
        i, edge = further[0]
        far = edge.object if edge.subject == middle else edge.subject
        words = set(self.noun(middle).split())
        ends = set(self.noun(name).split()), set(self.noun(far).split())
        return (far, seen | {i}) if all(words & end for end in ends) and far != name else None

    def _having(self, each: Filter) -> Clause:
        assert isinstance(each.left, Aggregate)
        value = self.right(each) or format_value(
            each.right if not isinstance(each.right, tuple | Attribute | Select) else None
        )
        if each.left.function == "count" and isinstance(each.left.of, Attribute):
            label = predicate_label(each.left.of.predicate, self.schema)
            named, many = label.kind in ("noun", "role"), each.right != 1
            noun = (label.many if many else label.one) if named else f"{'values' if many else 'value'} of “{label.one}”"
            said = count_condition_phrase(each, noun, value if many else "one")
        elif each.left.function == "count":
            noun = self._counted(each.left, many=each.right != 1).removeprefix("number of ")
            said = count_condition_phrase(each, noun, "one" if each.right == 1 else value)
        else:
            no = "not " if each.negated else ""
            said = " ".join(
                (
                    f"with {with_indefinite_article(self._counted(each.left))} "
                    f"{no}{comparison_words(each.op) or 'of'} {value}"
                ).split()
            )
        return Clause(said, said, f"{{}} {said}", f"{{}} not {said}")

    def right(self, each: Filter) -> str | None:
        """What a condition compares with, where that is a select or a property; None for constants."""
        if isinstance(each.right, Select):
            if self._is_their_average(each, each.right):
                return AVERAGE
            return self.inner(each.right, self.schema, False)
        if isinstance(each.right, Attribute):
            label = predicate_label(each.right.predicate, self.schema).one
            same = each.right.variable == filtered_variable(each)
            return (
                f"{'their' if is_person(self.noun(each.right.variable)) else 'its'} {label}"
                if same
                else f"the {label} of the {self.noun(each.right.variable)}"
            )
        return None

    def _is_their_average(self, each: Filter, inside: Select) -> bool:
        """Whether a property is compared with its average over all things of the kind."""
        of = inside.answers[0]
        if not isinstance(each.left, Attribute) or not isinstance(of, Aggregate) or of.function != "avg":
            return False
        own = self.variables.get(each.left.variable)
        plain = len(inside.variables) == 1 and not (inside.filters or inside.edges or inside.group or inside.by)
        same = isinstance(of.of, Attribute) and of.of.predicate == each.left.predicate
        return plain and same and own is not None and own.classes == inside.variables[0].classes

    def _best(self) -> str:
        """The adjective for what is placed first by a measure that has one: "oldest"; "" for others."""
        best = self.best_by(self.select.order) if self.select.order is not None else ""
        return f"{self._place()}{best}" if best else ""

    def best_by(self, order: Order) -> str:
        """The adjective for what comes first in an order: "oldest" by age; "" where English has none."""
        ends: tuple[str, str] | None = None
        if isinstance(order.by, Attribute):
            ends = wording_entry("superlatives").get(self.measure(order.by))
        return "" if ends is None else ends[not order.descending]

    def _place(self) -> str:
        """The place in the order that is asked for: "second ", "" for the first."""
        at = self.select.offset + 1
        return "" if at == 1 else _PLACES[at] if at < len(_PLACES) else f"{at}th "

    def _placed(self, order: Order) -> str:
        """What places the things: "with the most concerts", "with the second highest price"."""
        place = self._place()
        by, end = order.by, "highest" if order.descending else "lowest"
        if isinstance(by, Itself):
            return f"{place}{'last' if order.descending else 'first'} by name"
        if isinstance(by, Aggregate) and by.function == "count":
            most = "most" if order.descending else "fewest"
            verb = self._between_alike(variable_of(by))
            return f"{verb or 'with'} the {place}{most} {self._counted(by).removeprefix('number of ')}"
        if isinstance(by, Attribute):
            label = predicate_label(by.predicate, self.schema)
            event = is_temporal(by.predicate, self.schema) and label.kind in ("state", "past", "verb")
            if event and by.variable == ordered_variable(self.select):
                one = self.select.limit == 1 and not self.tied
                done = strip_preposition(label.one if one or label.kind != "verb" else label.many)
                that = "" if label.kind == "state" else "that "
                return f"{that}{done} {place}{'last' if order.descending else 'first'}"
            if is_temporal(by.predicate, self.schema):
                end = "latest" if order.descending else "earliest"
            elif is_plural(self.measure(by)) and self.schema.predicate_of[by.predicate].datatype == "integer":
                end = "most" if order.descending else "fewest"
        measure = self.measure(by)
        if measure.startswith("number of ") and end in ("highest", "lowest"):
            return f"with the {place}{'most' if end == 'highest' else 'fewest'} {measure.removeprefix('number of ')}"
        if measure.startswith("total number of "):
            most = "most" if end == "highest" else "fewest"
            return f"with the {place}{most} {measure.removeprefix('total number of ')} in total"
        for lead, (farthest, nearest) in wording_entry("places").items():
            if measure.startswith(f"{lead} "):
                return f"{place}{farthest if order.descending else nearest} {measure.removeprefix(f'{lead} ')}"
        if not place and measure.split()[0].casefold() in language().words.get(end, ()):
            return f"with the {measure}"
        if isinstance(by, Attribute) and end in ("highest", "lowest"):
            end = extreme_adjective(measure, high=order.descending)
        return f"with the {place}{end} {measure}"

    def _between_alike(self, counted: str) -> str:
        """What things do to others of their kind that are counted: "that interact with"; "" for other kinds."""
        placed = ordered_variable(self.select)
        way = [self.select.edges[i] for i in counted_path(self.select, counted)]
        if len(way) != 1 or way[0].subject != placed or self.noun(counted) != self.noun(placed):
            return ""
        label = predicate_label(way[0].predicate, self.schema)
        one = self.select.limit == 1 and not self.tied
        return f"that {label.one if one else label.many}" if label.kind == "verb" else ""

    def measure(self, by: Attribute | Aggregate | Itself) -> str:
        """What things are ordered by."""
        if isinstance(by, Itself):
            return "name"
        if isinstance(by, Aggregate):
            return self._counted(by)
        name, noun = nominal_label(by.predicate, self.schema), self.noun(by.variable)
        own = label_remainder(name, noun) or name
        return own if by.variable == ordered_variable(self.select) else f"{own} of {with_indefinite_article(noun)}"


def _of_kind(noun: str, clauses: list[Clause]) -> tuple[str, list[Clause]]:
    """Persons by what they are, where something says it: "singers whose age is 30", and not "people who are singers
    whose age is 30"."""
    for clause in clauses:
        one, many = f"that is {with_indefinite_article(clause.kind)}", f"that are {plural(clause.kind)}"
        if clause.kind and clause.one.startswith(one) and clause.many.startswith(many):
            rest_one, rest_many = clause.one.removeprefix(one).strip(), clause.many.removeprefix(many).strip()
            rest = replace(clause, one=rest_one, many=rest_many)
            return clause.kind, [c if c is not clause else rest for c in clauses if c is not clause or rest.one]
    return noun, clauses
