"""Word the things of a select with all conditions on them: Select + Schema -> "the stadium with the most concerts"."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from nacre.language.thesaurus import is_person
from nacre.language.values import format_value
from nacre.language.word_forms import (
    BE,
    VerbPhrase,
    count_phrase,
    is_participle,
    plural,
    possessive_phrase,
    with_indefinite_article,
)
from nacre.plans.selects import (
    counted_edges,
    counted_for,
    counted_path,
    edges_at,
    filtered_variable,
    group_edges,
    is_from_earlier_turn,
    is_redundant_known,
    ordered_variable,
    variable_of,
)
from nacre.records.plan import Aggregate, Attribute, Edge, Filter, Itself, Select, Variable
from nacre.records.schema import Schema
from nacre.wording.clauses import (
    AVERAGE,
    Clause,
    comparison_words,
    count_condition_phrase,
    filter_clause,
    merge_range_filters,
    owning_clause,
    placed_clause,
    relative_clause,
)
from nacre.wording.labels import label_remainder, predicate_label
from nacre.wording.link_clauses import (
    KIND_SUFFIX,
    LinkEnd,
    aggregate_name,
    alternative_names,
    backward_link_clause,
    chain_clauses,
    excluded_value_clause,
    excluded_value_filter,
    forward_link_clause,
    membership_clause,
    person_clause,
    superlative_phrase,
    thing_name,
)
from nacre.wording.nouns import is_temporal, nominal_label, strip_owner
from nacre.wording.select_structure import (
    SelectStructure,
    attribute_measure,
    order_clause,
    ordinal,
    superlative_adjective,
)

MAX_DEPTH = 6  # links from the answer that are followed


@dataclass(frozen=True)
class SelectWording:
    """Words the things and numbers of one select."""

    select: Select
    schema: Schema
    inner: Callable[[Select, Schema, bool], str]  # words a whole select that stands in a condition
    tied: bool = False  # several things share the place that is asked for

    @cached_property
    def structure(self) -> SelectStructure:
        """The select with the meaning of its links."""
        return SelectStructure(self.select, self.schema)

    @cached_property
    def variables(self) -> dict[str, Variable]:
        """The variables by their names."""
        return self.structure.variables

    @cached_property
    def gives_numbers(self) -> bool:
        """Whether numbers are asked for, and not things."""
        return any(isinstance(answer, Aggregate) for answer in self.select.answers)

    def noun(self, variable: str) -> str:
        """The noun of a variable's things, in the singular."""
        return self.structure.noun(variable)

    def computed(self, term: Aggregate, *, short: bool = False) -> str:
        """A computed number: "average price of cars"; `short` leaves out the things."""
        of = term.of
        if isinstance(of, Itself):
            noun = plural(self.noun(of.variable))
            things = noun if short else self.things(of.variable, True, group_edges(self.select), 0)
            return f"number of {things.removeprefix('the ')}"
        label, predicate = predicate_label(of.predicate, self.schema), self.schema.predicate_of[of.predicate]
        own = count_phrase(self.own_name(of), counts=predicate.datatype == "integer" and not predicate.unit)
        name = f"number of different {label.many}"
        if term.function != "count":
            name = aggregate_name(term.function, own, is_date=is_temporal(of.predicate, self.schema))
        known = self.variables.get(of.variable)
        is_one_value = predicate.functional and predicate.shape in ("single", "period")
        if term.function != "count" and known is not None and len(known.keys) == 1 and is_one_value:
            # the average height of one person is the height
            name = own
        is_grouped = bool(self.select.group or self.select.by)
        if short or (is_grouped and is_participle(name.split()[-1])):
            # "the total amount paid for each buyer", and not "for the sales for each buyer"
            return name
        owners = self.owners(of.variable, group_edges(self.select))
        return possessive_phrase(name, owners, person=is_person(self.noun(of.variable)))

    def own_name(self, of: Attribute) -> str:
        """A property without the noun of its things: the "amount" of payments."""
        name, noun = nominal_label(of.predicate, self.schema), self.noun(of.variable)
        return label_remainder(name, noun) or name

    def owners(self, name: str, seen: frozenset[int] = frozenset()) -> str:
        """The things of a variable that have a property: "the cars that are red", "Emma", "those 4 cars"."""
        words, known = self.things(name, True, seen, 0), self.variables.get(name)
        is_named = known is not None and bool(known.label)
        return words if is_named or words.startswith("the ") or words[:1].isdigit() else f"the {words}"

    def things(self, name: str, many: bool, seen: frozenset[int], depth: int) -> str:
        """The things of a variable with all conditions on them, but for the edges `seen` elsewhere."""
        variable = self.variables.get(name)
        if variable is None:
            return "things" if many else "the thing"
        noun = self.noun(name)
        if variable.label and len(variable.keys) == 1:
            return thing_name(variable, noun)
        heading = self.structure.heading_link(name, seen) if not variable.label else None
        tail, is_one = "", False
        if heading is not None:
            noun, tail = heading.noun, heading.tail
            clauses = self.clauses(name, seen | {heading.edge}, depth)
            predicate = self.schema.predicate_of[self.select.edges[heading.edge].predicate]
            is_one = not self.gives_numbers and predicate.functional
        else:
            clauses = self.clauses(name, seen, depth)
            if len(clauses) == 1 and clauses[0].noun and clauses[0].one.startswith(f"that is the {clauses[0].noun} "):
                # not "people who are the singer with the most songs"
                return clauses[0].one.removeprefix("that is ")
            noun, clauses = (noun, clauses) if variable.label else _noun_of_role(noun, clauses)
        is_ordered = self.select.limit is not None and ordered_variable(self.select) == name
        order = self.select.order if is_ordered and not self.gives_numbers else None
        is_first = order is not None and self.select.limit == 1
        several = many and (self.tied or not is_first) and not is_one
        front = next((clause.front for clause in clauses if clause.front), "")
        if front:
            # the "car variant" of a model is its "variant"
            noun = noun.split()[-1]
        is_earlier = is_from_earlier_turn(variable)
        best = ""
        if order is not None and (is_earlier or not variable.label):
            # "second oldest"
            adjective = superlative_adjective(self.structure, order)
            best = f"{ordinal(self.select)}{adjective}" if adjective else ""
        adjectives = [clause.adjective for clause in clauses if clause.adjective and not variable.label]
        after = [c for c in clauses if (not c.front or c.front != front) and (not c.adjective or variable.label)]
        before = [front, best, *adjectives]
        words = _head_words(variable, noun, before, best, several=several, is_first=is_first) + tail
        texts = [clause.many if several else clause.one for clause in after]
        if order is not None:
            is_one = self.select.limit == 1 and not self.tied
            clause = order_clause(self.structure, order, self.measure(order.by), is_one=is_one)
            texts = texts if best else [clause, *texts]
            words = f"{self.select.limit} {words}" if (self.select.limit or 1) > 1 else words
        if is_person(noun):
            texts = [person_clause(text) for text in texts]
        if phrase := superlative_phrase(words, texts):
            return phrase
        words = " ".join(filter(None, [words, chain_clauses(texts)]))
        if is_earlier and not (many or depth or is_first or is_one) and texts:
            # the only one of several earlier things that meets the conditions
            return f"the one of {words}"
        is_definite = is_first if is_earlier else order is not None or not many or heading is not None or bool(front)
        return f"the {words}" if is_definite or " or " in variable.label else words

    def clauses(self, name: str, seen: frozenset[int], depth: int) -> list[Clause]:
        """The conditions on a variable's things; each edge once on the way."""
        if depth > MAX_DEPTH:
            return []
        if name in self.select.group or name == counted_for(self.select):
            seen = seen | counted_edges(self.select)
        found: list[Clause] = []
        for index, edge in enumerate(self.select.edges):
            is_open = index not in seen and name in (edge.subject, edge.object) and edge.subject != edge.object
            if is_open and not self.structure.is_given(edge, name):
                found.append(self._link_clause(edge, name, seen | {index} | edges_at(self.select, name), depth + 1))
        excluded = [excluded_value_filter(each) for each in self.select.filters]
        lacking = {each.left.predicate for each in excluded if each is not None and isinstance(each.left, Attribute)}
        for each in merge_range_filters(self.select.filters, self.schema):
            if isinstance(each.left, Attribute) and each.op == "known" and each.left.predicate in lacking:
                continue
            clause = self._filter_clause(each, name)
            if clause is not None:
                found.append(clause)
        return found

    def right(self, each: Filter) -> str | None:
        """The select or property that a condition compares with, in words; None for constants."""
        if isinstance(each.right, Select):
            if self.structure.is_class_average(each, each.right):
                return AVERAGE
            return self.inner(each.right, self.schema, False)
        if isinstance(each.right, Attribute):
            label = predicate_label(each.right.predicate, self.schema).one
            noun = self.noun(each.right.variable)
            if each.right.variable == filtered_variable(each):
                return f"{'their' if is_person(noun) else 'its'} {label}"
            return f"the {label} of the {noun}"
        return None

    def measure(self, by: Attribute | Aggregate | Itself) -> str:
        """What things are ordered by."""
        if isinstance(by, Itself):
            return "name"
        return self._counted(by) if isinstance(by, Aggregate) else attribute_measure(self.structure, by)

    def _filter_clause(self, each: Filter, name: str) -> Clause | None:
        """A condition on the things of a variable; None for conditions on others."""
        if isinstance(each.left, Aggregate):
            return self._group_clause(each, each.left) if name == counted_for(self.select) else None
        if each.left.variable != name:
            return None
        if isinstance(each.left, Itself):
            if not isinstance(each.right, Select):
                return None
            own = excluded_value_filter(each)
            clause = excluded_value_clause(own, self.schema) if own is not None else None
            clause = clause or self._membership_clause(each, each.right, name)
            return clause or membership_clause(each, self.inner(each.right, self.schema, True), self.noun(name))
        if is_redundant_known(self.select, each):
            return None
        clause = filter_clause(each, self.schema, self.right(each))
        if predicate_label(each.left.predicate, self.schema).one == self.noun(name):
            # not "the artist whose artist is Ann"
            lead = f"whose {self.noun(name)} is "
            one, many = clause.one.replace(lead, "called "), clause.many.replace(lead, "called ")
            return replace(clause, one=one, many=many)
        return clause

    def _membership_clause(self, each: Filter, members: Select, name: str) -> Clause | None:
        """That the things are, or are not, of those of their class of which one thing is said, by what they do or are:
        "that are not occupied by an animal". None for other members."""
        answer = members.answers[0]
        if not isinstance(answer, Itself) or members.group or members.order or members.limit or not members.edges:
            return None
        inner = SelectWording(members, self.schema, self.inner)
        said = inner.clauses(answer.variable, frozenset(), 0) if inner.noun(answer.variable) == self.noun(name) else []
        only = said[0] if len(said) == 1 else None
        if only is None or only.said.lack or only != relative_clause(only.said):
            return None
        return relative_clause(only.said.denial) if each.negated else only

    def _group_clause(self, each: Filter, left: Aggregate) -> Clause:
        """A condition on a computed number: "with at least 3 concerts"."""
        constant = each.right if not isinstance(each.right, tuple | Attribute | Select) else None
        value = self.right(each) or format_value(constant)
        many = each.right != 1
        if left.function == "count" and isinstance(left.of, Attribute):
            label = predicate_label(left.of.predicate, self.schema)
            if label.kind in ("noun", "role"):
                noun = label.many if many else label.one
            else:
                noun = f"{'values' if many else 'value'} of “{label.one}”"
            words = count_condition_phrase(each, noun, value if many else "one")
        elif left.function == "count":
            noun = self._counted(left, many=many).removeprefix("number of ")
            words = count_condition_phrase(each, noun, value if many else "one")
        else:
            no, compared = "not " if each.negated else "", comparison_words(each.op) or "of"
            words = " ".join(f"with {with_indefinite_article(self._counted(left))} {no}{compared} {value}".split())
        return owning_clause(words.removeprefix("with "))

    def _counted(self, term: Aggregate, *, many: bool = True) -> str:
        """The number that groups are ordered or chosen by, without the order and the choice themselves."""
        filters = tuple(each for each in self.select.filters if not isinstance(each.left, Aggregate))
        plain = replace(self.select, order=None, limit=None, offset=0, filters=filters)
        inner = SelectWording(plain, self.schema, self.inner)
        variable = variable_of(term)
        has_plain_path = bool(counted_path(self.select, variable))
        if many or not isinstance(term.of, Itself):
            is_total = isinstance(term.of, Itself) or term.function == "sum"
            return inner.computed(term, short=(has_plain_path and is_total) or variable in self.select.group)
        if has_plain_path:
            return f"number of {self.noun(variable)}"
        return f"number of {inner.things(variable, False, group_edges(plain), 0).removeprefix('the ')}"

    def _link_clause(self, edge: Edge, name: str, seen: frozenset[int], depth: int) -> Clause:
        other = edge.object if edge.subject == name else edge.subject
        variable = self.variables.get(other)
        is_named = variable is not None and len(variable.keys) == 1 and bool(variable.label)
        beyond = None if is_named else self.structure.link_beyond(other, name, seen)
        if beyond is not None:
            return self._clause_beyond(*beyond, name, depth)
        own, other_noun = self.noun(name), self.noun(other)
        label = predicate_label(edge.predicate, self.schema)
        text = self._any_thing(other, seen, depth)
        is_any = not is_named and text == with_indefinite_article(other_noun)
        if is_any:
            # not "customers without a customer payment"
            short = strip_owner(other_noun, own, self.schema)
            if short == other_noun:
                short = self.structure.association_noun(edge, other, own) or short
            text = with_indefinite_article(short)
        if is_named and label.one.split()[-1] == other_noun.split()[-1]:
            # not "whose line is the line Spelt"
            text = text.removeprefix(f"the {other_noun} ")
        if edge.subject == name:
            if label.kind == "noun" and f" {own}".endswith(f" {label.one}") and not is_named:
                # not "the song whose song's format is mp3", of its file
                label = replace(label, one=other_noun, many=plural(other_noun))
            is_narrow = variable is not None and self.structure.is_narrow(variable, edge.predicate)
            may_have_several = not self.schema.predicate_of[edge.predicate].functional
            end = LinkEnd(text, other_noun, is_named, is_any and not is_narrow, is_named and may_have_several)
            return forward_link_clause(label, end, own)
        if label.kind == "noun" and not is_named and self.structure.is_class_link(label.one, own, edge):
            if is_person(own) and is_person(other_noun):
                # a person with a row as a singer is a singer
                said = VerbPhrase(BE, text, self.things(other, True, seen, depth))
                return replace(relative_clause(said), noun=other_noun)
            return owning_clause(text, text.partition(" ")[2])
        return backward_link_clause(label, text, own)

    def _clause_beyond(self, far: str, seen: frozenset[int], name: str, depth: int) -> Clause:
        """A link to the thing beyond one that only joins two."""
        words, noun = self._any_thing(far, seen, depth), self.noun(far)
        known = self.variables[far]
        if len(known.keys) == 1 and known.label and is_person(noun) and not is_person(self.noun(name)):
            # "the order items of Ann", whose order is hers
            return placed_clause(f"of {words.removeprefix(f'the {noun} ')}")
        if words == known.label and not words.lower().startswith(noun):
            # the type of a restaurant, and not its "restaurant type"
            words = f"the {label_remainder(noun, self.noun(name)) or noun} {words}"
        return owning_clause(words, f"such {noun}")

    def _any_thing(self, name: str, seen: frozenset[int], depth: int) -> str:
        """A variable's thing after a link: by name, as the one of its class, or as any."""
        words = self.things(name, False, seen, depth)
        variable = self.variables.get(name)
        if variable is not None and is_from_earlier_turn(variable) and words.startswith("those "):
            return f"one of {words}"
        if variable is None or (len(variable.keys) == 1 and variable.label) or not words.startswith("the "):
            return words
        is_placed = self.select.limit is not None and ordered_variable(self.select) == name
        is_placed = is_placed or words.startswith(f"the {self.noun(name)} with the ")
        if is_placed or self.structure.heading_link(name, seen):
            return words
        return with_indefinite_article(words.removeprefix("the "))


def _head_words(variable: Variable, noun: str, before: list[str], best: str, *, several: bool, is_first: bool) -> str:
    """The noun of things with the words `before` it, or their names."""
    nouns = plural(noun) if several else noun
    if is_from_earlier_turn(variable):
        those = f"those {len(variable.keys)} {plural(noun)}"
        return f"{best or 'one'} of {those}" if is_first else those
    if not variable.label:
        return " ".join(filter(None, [*before, nouns]))
    if is_first and " or " in variable.label:
        return f"one of {alternative_names(variable)}"
    called = KIND_SUFFIX.sub("", variable.label)
    # several names, or one name of several things
    names = alternative_names(variable) if several else called
    named = f"{nouns} {names}" if " or " in called else f"{nouns} called {called}"
    return " ".join(filter(None, [before[0], named]))


def _noun_of_role(noun: str, clauses: list[Clause]) -> tuple[str, list[Clause]]:
    """Persons by their role, if a clause says it: "singers whose age is 30", not "people who are singers"."""
    for clause in clauses:
        one, many = f"that is {with_indefinite_article(clause.noun)}", f"that are {plural(clause.noun)}"
        if clause.noun and clause.one.startswith(one) and clause.many.startswith(many):
            rest_one, rest_many = clause.one.removeprefix(one).strip(), clause.many.removeprefix(many).strip()
            rest = replace(clause, one=rest_one, many=rest_many)
            return clause.noun, [e if e is not clause else rest for e in clauses if e is not clause or rest.one]
    return noun, clauses
