"""A select as a noun phrase: Select + Schema -> "the stadium with the most concerts", "the ages of singers"."""

from dataclasses import dataclass, replace
from functools import cached_property

from nacre.records.plan import Aggregate, Attribute, Edge, Filter, Itself, Order, Select, Term, Variable, value_of
from nacre.records.schema import Schema
from nacre.semantics.asked_said import clause_asked, pairs_asked
from nacre.semantics.chained import COMPUTED, chained, computed_once, first_alone, name_of
from nacre.semantics.clauses import Clause, backward, compared, condition, forward, how_many, spans
from nacre.semantics.dialogue.names import of_before
from nacre.semantics.english import is_person
from nacre.semantics.labels_said import class_noun, is_time, label_of, nominal
from nacre.semantics.nouns import article, belonging, is_plural, joined, number_of, plural, wording
from nacre.semantics.values_said import say
from nacre.semantics.verbs import without_preposition

_PLACES = ("", "", "second ", "third ", "fourth ", "fifth ", "sixth ", "seventh ", "eighth ", "ninth ", "tenth ")
_DEEPEST = 6


@dataclass(frozen=True)
class Wording:
    """Says one select; `tied` where several things share the place that it asks for."""

    select: Select
    schema: Schema
    tied: bool = False

    @cached_property
    def variables(self) -> dict[str, Variable]:
        return {v.name: v for v in self.select.variables}

    @cached_property
    def _numbered(self) -> bool:
        """Whether numbers are asked for, and not things."""
        return any(isinstance(a, Aggregate) for a in self.select.answers)

    def noun(self, variable: str) -> str:
        """The kind of a variable's things, in the singular."""
        known = self.variables.get(variable)
        return class_noun(known, self.schema) if known else "thing"

    def text(self, many: bool) -> str:
        """What the select gives, with the order and the groups."""
        select, terms = self.select, self._terms()
        order = select.order
        each = self._each()
        said = self._answers(terms, many)
        if each:
            said += f" for each {joined(each)}"
        said += self._beyond()
        if order is not None and select.limit is None:
            said += f", ordered by {self._measure(order.by)}{', highest first' if order.descending else ''}"
        elif order is not None and each and isinstance(order.by, Aggregate):
            which = f"{select.limit} {'highest' if order.descending else 'lowest'}"
            said += f", the {which if (select.limit or 1) > 1 else which.split()[1]} only"
        return said

    def statement(self) -> tuple[str, str]:
        """The select as something that is so, and the same denied: "Spain borders France", "there are no ..."."""
        root = self._root()
        named = self.variables.get(root)
        if named is not None and len(named.keys) == 1 and named.label:
            clauses = self._clauses(root, frozenset(), 0)
            name = name_of(named, self.noun(root))
            if clauses:
                true = joined([c.true.replace("{}", name) for c in clauses])
                false = clauses[0].false.replace("{}", name) if len(clauses) == 1 else f"it is not true that {true}"
                return true, false
        things = self._things(root, True, frozenset(), 0)
        if named is not None and of_before(named):
            return f"there are some among {things}", f"there are none among {things}"
        return f"there are {things}", f"there are no {things.removeprefix('the ')}"

    def computed(self, term: Aggregate, short: bool = False) -> str:
        """A computed number: "average price of cars"; `short` leaves out of what."""
        of = term.of
        if isinstance(of, Itself):
            noun = plural(self.noun(of.variable))
            things = noun if short else self._things(of.variable, True, self._grouped(), 0)
            return f"number of {things.removeprefix('the ')}"
        label = label_of(of.predicate, self.schema)
        own = number_of(nominal(of.predicate, self.schema), counts=self._counts(of.predicate))
        name = f"number of different {label.many}" if term.function == "count" else computed_once(term.function, own)
        if short:
            return name
        whose = self._things(of.variable, True, self._grouped(), 0)
        return belonging(name, whose, person=is_person(self.noun(of.variable)))

    def _counts(self, predicate: str) -> bool:
        """Whether the numbers of a property may say how many things there are."""
        known = self.schema.predicate_of[predicate]
        return known.datatype == "integer" and not known.unit

    def _counted(self, term: Aggregate, many: bool = True) -> str:
        """What groups are ordered or chosen by, without the order and the choice themselves."""
        filters = tuple(f for f in self.select.filters if not isinstance(f.left, Aggregate))
        inner = Wording(replace(self.select, order=None, limit=None, offset=0, filters=filters), self.schema)
        alone = isinstance(term.of, Itself) and bool(self._way(term.of.variable))
        if many or not isinstance(term.of, Itself):
            return inner.computed(term, short=alone or _variable(term) in self.select.group)
        if alone:
            return f"number of {self.noun(term.of.variable)}"
        return f"number of {inner._things(term.of.variable, False, inner._grouped(), 0).removeprefix('the ')}"

    def _owner(self) -> str:
        """The variable that things are counted for; "" where nothing is."""
        select = self.select
        return select.group[0] if select.group else select.by[0].variable if select.by else ""

    def _way(self, name: str) -> frozenset[int]:
        """The edges from what is counted to what it is counted for, where nothing is said of anything on that way."""
        told = {_of(f) for f in self.select.filters if not isinstance(f.left, Aggregate)}
        told |= {_variable(a) for a in self.select.answers} - {self._owner()}
        way: list[int] = []
        here = name
        while here != self._owner():
            on = [i for i, e in enumerate(self.select.edges) if i not in way and here in (e.subject, e.object)]
            known = self.variables.get(here)
            if len(on) != 1 or here in told or (known is not None and known.keys):
                return frozenset()
            edge = self.select.edges[on[0]]
            way.append(on[0])
            here = edge.object if edge.subject == here else edge.subject
        return frozenset(way)

    def _terms(self) -> tuple[Term, ...]:
        """The answers that are to be said: a thing whose property is given is named by it."""
        answers = self.select.answers
        first = answers[0]
        if len(answers) == 2 and isinstance(first, Itself) and not self.select.paired:
            other = answers[1]
            owner = self.variables.get(first.variable)
            if isinstance(other, Attribute) and other.variable == first.variable:
                return answers[1:]
            if owner is not None and len(owner.keys) == 1 and isinstance(other, Itself):
                return answers[1:]
        return answers

    def _each(self) -> list[str]:
        """The things that there is a number for each of."""
        if not self._numbered:
            return []
        own = [a for a in self.select.answers if not isinstance(a, Aggregate)]
        said = [self._things(g, False, self._computed_edges(), 0).removeprefix("the ") for g in self.select.group]
        for term in own:
            variable = _variable(term)
            if isinstance(term, Attribute) and variable not in self.select.group:
                said.append(self._property(term, False) if term.part else nominal(term.predicate, self.schema))
            elif isinstance(term, Itself) and variable not in self.select.group:
                said.append(self.noun(variable))
        return list(dict.fromkeys(said))

    def _answers(self, terms: tuple[Term, ...], many: bool) -> str:
        numbers = [t for t in terms if isinstance(t, Aggregate)]
        if numbers:
            return self._numbers(numbers)
        things = [t for t in terms if isinstance(t, Itself)]
        values = [t for t in terms if isinstance(t, Attribute)]
        frequent = self._frequent(terms, many)
        if frequent:
            return frequent
        if len(terms) == len(values) == 1 and self._names_itself(values[0]):
            return self._things(values[0].variable, many, frozenset(), 0)
        if not values:
            pair = self._pair(things) if many else ""
            if pair:
                return pair
            first = self._things(things[0].variable, many, frozenset(), 0)
            others = [plural(self.noun(t.variable)) for t in things[1:]]
            return f"{first} and their {joined(others)}" if others else first
        owner = values[0].variable
        own = list(dict.fromkeys(self._property(t, many) for t in values if t.variable == owner))
        named = [t for t in things if t.variable == owner]
        if named:
            said = f"{self._things(owner, many, frozenset(), 0)} and {'their' if many else 'its'} {joined(own)}"
        else:
            whose = self._things(owner, many, frozenset(), 0)
            clause = clause_asked(values[0].predicate, whose, self.schema, many=self._several(owner, many))
            alone = len(terms) == 1 and bool(clause) and not values[0].part
            said = clause if alone else f"the {belonging(joined(own), whose, person=is_person(self.noun(owner)))}"
        for term in (t for t in terms if _variable(t) != owner):
            noun = self.noun(_variable(term))
            said += f", with the {noun}" if isinstance(term, Itself) else f", with the {self._property(term, False)}"
            said += "" if isinstance(term, Itself) else f" of the {noun}"
        return said

    def _several(self, variable: str, many: bool) -> bool:
        """Whether the things of a variable are said in the plural."""
        known = self.variables.get(variable)
        one = known is not None and len(known.keys) == 1 and bool(known.label)
        return many and not one and (self.tied or not self._superlative(variable))

    def _pair(self, things: list[Itself]) -> str:
        """Things beside what one link leads to from them, where nothing else is said of that: "ships and their
        captains"; "" for anything else."""
        if len(things) != 2 or self.select.order is not None:
            return ""
        first, second = (t.variable for t in things)
        between = [i for i, e in enumerate(self.select.edges) if {e.subject, e.object} == {first, second}]
        own = self.variables.get(second)
        told = any(_of(f) == second for f in self.select.filters if not isinstance(f.left, Aggregate))
        if len(between) != 1 or told or own is None or own.keys or len(self._edges_of(second)) != 1:
            return ""
        edge = self.select.edges[between[0]]
        label, others = label_of(edge.predicate, self.schema), plural(self.noun(second))
        known = self.variables.get(first)
        if known is None or known.keys:
            return ""
        said = self._things(first, True, frozenset(between), 0)
        return pairs_asked(label, said, others, backward=edge.object == first)

    def _names_itself(self, term: Attribute) -> bool:
        """Whether a property is called like the things that have it: the grape of a grape."""
        return label_of(term.predicate, self.schema).one.casefold() == self.noun(term.variable).casefold()

    def _frequent(self, terms: tuple[Term, ...], many: bool) -> str:
        """A value by how many things have it: "the county with the most farms"; "" for anything else."""
        select, order = self.select, self.select.order
        if len(terms) != 1 or select.by != terms or order is None or select.limit is None or len(self.variables) > 1:
            return ""
        counted = order.by if isinstance(order.by, Aggregate) and order.by.function == "count" else None
        if counted is None or not isinstance(counted.of, Itself) or counted.of.variable != _variable(terms[0]):
            return ""
        several = select.limit > 1 or self.tied
        most = f"{'most' if order.descending else 'fewest'}"
        things = Wording(replace(select, order=None, limit=None, by=()), self.schema)
        named = things._things(counted.of.variable, True, frozenset(), 0).removeprefix("the ")
        limit = f"{select.limit} " if select.limit > 1 else ""
        label = label_of(terms[0].predicate, self.schema) if isinstance(terms[0], Attribute) else None
        value = label.full if label is not None and label.kind == "noun" else self._property(terms[0], many=False)
        return f"the {limit}{plural(value) if several else value} with the {most} {named}"

    def _numbers(self, numbers: list[Aggregate]) -> str:
        of = {n.of for n in numbers}
        if len(of) == 1 and len(numbers) > 1 and isinstance(numbers[0].of, Attribute):
            words = joined([COMPUTED.get(n.function, "number of") for n in numbers])
            label = label_of(numbers[0].of.predicate, self.schema).one
            return f"the {words} {label} of {self._things(numbers[0].of.variable, True, self._grouped(), 0)}"
        return joined([f"the {self.computed(n)}" for n in numbers])

    def _property(self, term: Attribute | Term, many: bool) -> str:
        assert isinstance(term, Attribute)
        if term.part in ("year", "month"):
            return f"{term.part} of the {nominal(term.predicate, self.schema)}"
        end = {"low": "lowest ", "high": "highest "}.get(term.part, "")
        owner = self.variables.get(term.variable)
        one = (
            not many
            or (owner is not None and len(owner.keys) == 1)
            or (self._superlative(term.variable) and not self.tied)
        )
        name = nominal(term.predicate, self.schema)
        return f"{end}{name if one or name.startswith('“') else plural(name)}"

    def _superlative(self, variable: str) -> bool:
        return self.select.limit == 1 and self._ordered() == variable

    def _things(self, name: str, many: bool, seen: frozenset[int], depth: int) -> str:
        """The things of a variable with all that is said of them; with "the" where they are named or ordered."""
        variable = self.variables.get(name)
        if variable is None:
            return "things" if many else "the thing"
        noun = self.noun(name)
        if variable.label and len(variable.keys) == 1:
            return name_of(variable, noun)
        limit = self.select.limit
        ordered = limit is not None and self._ordered() == name and not self._numbered
        clauses = self._clauses(name, seen, depth)
        head = self._headed(name, seen) if not variable.label else None
        if head is not None:
            noun, edge, owner = head
            clauses = self._clauses(name, seen | {edge}, depth)
            person = is_person(self.noun(self.select.edges[edge].subject))
            tail = belonging(noun, owner, person=person).removeprefix(noun)
        else:
            tail = ""
        one = (
            head is not None
            and not self._numbered
            and self.schema.predicate_of[self.select.edges[head[1]].predicate].functional
        )
        several = many and (self.tied or not (ordered and limit == 1)) and not one
        front = next((c.front for c in clauses if c.front), "")
        if front:
            # "car variant" of a model is its "variant"
            noun = noun.split()[-1]
        clauses = [c for c in clauses if not c.front or c.front != front]
        said = " ".join(filter(None, [front, variable.label, plural(noun) if several else noun])) + tail
        if variable.label and len(variable.keys) != 1:
            said = " ".join(filter(None, [front, variable.label, plural(noun) if several else noun]))
        before = of_before(variable)
        if before:
            those = f"those {len(variable.keys)} {plural(noun)}"
            said = f"one of {those}" if ordered and limit == 1 else those
        texts = [c.many if several else c.one for c in clauses]
        if ordered and self.select.order is not None:
            texts.insert(0, self._placed(self.select.order))
            if (limit or 1) > 1:
                said = f"{limit} {said}"
        first = first_alone(said, texts)
        if first:
            return first
        said = " ".join(filter(None, [said, chained(texts)]))
        definite = ordered and limit == 1 if before else ordered or not many or head is not None or bool(front)
        return f"the {said}" if definite else said

    def _headed(self, name: str, seen: frozenset[int]) -> tuple[str, int, str] | None:
        """The link that says what a thing is to another: "capital" of "the capital of Spain", its edge, its owner."""
        for i, edge in enumerate(self.select.edges):
            other = self.variables.get(edge.subject)
            label = label_of(edge.predicate, self.schema)
            if edge.object != name or i in seen or label.kind != "noun" or other is None or edge.subject == name:
                continue
            if len(other.keys) == 1 and other.label:
                return label.one, i, name_of(other, self.noun(edge.subject))
        return None

    def _clauses(self, name: str, seen: frozenset[int], depth: int) -> list[Clause]:
        """What is said of a variable's things; each edge once on the way."""
        found: list[Clause] = []
        if name in self.select.group or name == self._owner():
            seen = seen | self._counted_edges()
        if depth > _DEEPEST:
            return found
        for i, edge in enumerate(self.select.edges):
            if i not in seen and name in (edge.subject, edge.object) and edge.subject != edge.object:
                found.append(self._link(edge, i, name, seen | {i} | self._edges_of(name), depth + 1))
        for each in spans(self.select.filters, self.schema):
            if isinstance(each.left, Attribute) and each.left.variable == name and not self._goes_without(each):
                found.append(condition(each, self.schema, self._right(each)))
            elif isinstance(each.left, Itself) and each.left.variable == name and isinstance(each.right, Select):
                inner = Wording(each.right, self.schema).text(True)
                among = inner if inner.startswith("the ") else f"the {inner}"
                no, other = ("not ", "") if each.negated else ("", "not ")
                alone = each.right.variables if len(each.right.variables) == 1 and not each.right.filters else ()
                if alone and alone[0].label and len(alone[0].keys) == 1:
                    found.append(
                        Clause(
                            f"that is {no}{inner}",
                            f"that are {no}{inner}",
                            f"{{}} is {no}{inner}",
                            f"{{}} is {other}{inner}",
                        )
                    )
                    continue
                true, false = f"{{}} is {no}among {among}", f"{{}} is {other}among {among}"
                own = f"the {plural(self.noun(name))} with "
                if each.negated and among.startswith(own):
                    lack = f"without {among.removeprefix(own)}"
                    found.append(Clause(lack, lack, true, false))
                elif each.right.limit == 1 and among.startswith(f"the {self.noun(name)} "):
                    several = among.replace(self.noun(name), plural(self.noun(name)), 1)
                    one, true = f"that is {no}{among}", f"{{}} is {no}{among}"
                    found.append(Clause(one, f"that are {no}among {several}", true, f"{{}} is {other}{among}"))
                else:
                    found.append(Clause(f"that is {no}among {among}", f"that are {no}among {among}", true, false))
            elif isinstance(each.left, Aggregate) and name == self._owner():
                found.append(self._having(each))
        return found

    def _goes_without(self, each: Filter) -> bool:
        """Whether it says only that a value is known that something else is said of."""
        if each.op != "known" or each.negated:
            return False
        order = self.select.order
        others = [f.left for f in self.select.filters if f.op != "known"]
        terms = [*others, *self.select.answers, *([order.by] if order is not None else [])]
        return each.left in [value_of(t) for t in terms]

    def _link(self, edge: Edge, place: int, name: str, seen: frozenset[int], depth: int) -> Clause:
        label = label_of(edge.predicate, self.schema)
        other = edge.object if edge.subject == name else edge.subject
        variable = self.variables.get(other)
        named = variable is not None and len(variable.keys) == 1 and bool(variable.label)
        between = None if named else self._between(other, name, seen)
        if between is not None:
            far, rest = between
            said = f"with {self._some(far, rest, depth)}"
            return Clause(said, said, f"{{}} has {self._some(far, rest, depth)}", f"{{}} has no such {self.noun(far)}")
        own = self.noun(name)
        text = self._some(other, seen, depth)
        bare = not named and text == article(self.noun(other))
        if edge.subject == name:
            return forward(label, text, own, self.noun(other), named=named, bare=bare)
        if label.kind == "noun" and f" {own}".endswith(f" {label.one}") and not named:
            return Clause(f"with {text}", f"with {text}", f"{{}} has {text}", f"{{}} has no {text.partition(' ')[2]}")
        return backward(label, text, own)

    def _some(self, name: str, seen: frozenset[int], depth: int) -> str:
        """A variable's thing after a link: by name, as the one of its kind, or as any."""
        said = self._things(name, False, seen, depth)
        variable = self.variables.get(name)
        if variable is not None and of_before(variable) and said.startswith("those "):
            return f"one of {said}"
        if variable is None or (len(variable.keys) == 1 and variable.label) or not said.startswith("the "):
            return said
        placed = self.select.limit is not None and self._ordered() == name
        placed = placed or said.startswith(f"the {self.noun(name)} with the ")
        return said if placed or self._headed(name, seen) else article(said.removeprefix("the "))

    def _between(self, middle: str, name: str, seen: frozenset[int]) -> tuple[str, frozenset[int]] | None:
        """The thing beyond one that only joins two, and is called after both ("singer in concert")."""
        edges = [(i, e) for i, e in enumerate(self.select.edges) if middle in (e.subject, e.object)]
        further = [(i, e) for i, e in edges if i not in seen]
        asked = any(_of(f) == middle for f in self.select.filters) or any(
            _variable(a) == middle for a in self.select.answers
        )
        if len(further) != 1 or asked or self._ordered() == middle:
            return None
        i, edge = further[0]
        far = edge.object if edge.subject == middle else edge.subject
        words = set(self.noun(middle).split())
        ends = set(self.noun(name).split()), set(self.noun(far).split())
        return (far, seen | {i}) if all(words & end for end in ends) and far != name else None

    def _having(self, each: Filter) -> Clause:
        assert isinstance(each.left, Aggregate)
        value = self._right(each) or say(each.right if not isinstance(each.right, tuple | Attribute | Select) else None)
        if each.left.function == "count":
            noun = self._counted(each.left, many=each.right != 1).removeprefix("number of ")
            said = how_many(each, noun, "one" if each.right == 1 else value)
        else:
            no = "not " if each.negated else ""
            said = " ".join(f"with {article(self._counted(each.left))} {no}{compared(each.op) or 'of'} {value}".split())
        return Clause(said, said, f"{{}} {said}", f"{{}} not {said}")

    def _right(self, each: Filter) -> str | None:
        if isinstance(each.right, Select):
            return Wording(each.right, self.schema).text(False)
        if isinstance(each.right, Attribute):
            label = label_of(each.right.predicate, self.schema).one
            same = each.right.variable == _of(each)
            return (
                f"{'their' if is_person(self.noun(each.right.variable)) else 'its'} {label}"
                if same
                else f"the {label} of the {self.noun(each.right.variable)}"
            )
        return None

    def _placed(self, order: Order) -> str:
        """What places the things: "with the most concerts", "with the second highest price"."""
        place = (
            _PLACES[self.select.offset + 1] if self.select.offset + 1 < len(_PLACES) else f"{self.select.offset + 1}th "
        )
        place = place if self.select.offset else ""
        by, end = order.by, "highest" if order.descending else "lowest"
        if isinstance(by, Itself):
            return f"{place}{'last' if order.descending else 'first'} by name"
        if isinstance(by, Aggregate) and by.function == "count":
            most = "most" if order.descending else "fewest"
            return f"with the {place}{most} {self._counted(by).removeprefix('number of ')}"
        if isinstance(by, Attribute):
            label = label_of(by.predicate, self.schema)
            event = is_time(by.predicate, self.schema) and label.kind in ("state", "past")
            if event and by.variable == self._ordered():
                that = "that " if label.kind == "past" else ""
                return f"{that}{without_preposition(label.one)} {place}{'last' if order.descending else 'first'}"
            if is_time(by.predicate, self.schema):
                end = "latest" if order.descending else "earliest"
            elif is_plural(self._measure(by)) and self.schema.predicate_of[by.predicate].datatype == "integer":
                end = "most" if order.descending else "fewest"
        measure = self._measure(by)
        if measure.startswith("number of ") and end in ("highest", "lowest"):
            return f"with the {place}{'most' if end == 'highest' else 'fewest'} {measure.removeprefix('number of ')}"
        same = not place and measure.split()[0].casefold() in wording("computed").get(end, "").split()
        return f"with the {measure}" if same else f"with the {place}{end} {measure}"

    def _measure(self, by: Attribute | Aggregate | Itself) -> str:
        if isinstance(by, Itself):
            return "name"
        if isinstance(by, Aggregate):
            return self._counted(by)
        name = nominal(by.predicate, self.schema)
        owner = self._ordered()
        return name if by.variable == owner else f"{name} of {article(self.noun(by.variable))}"

    def _ordered(self) -> str:
        """The variable that is the highest of its kind."""
        order = self.select.order
        if order is None:
            return ""
        if isinstance(order.by, Aggregate):
            return self.select.group[0] if self.select.group else self._root()
        return order.by.variable if order.by.variable in self._reached() else self._root()

    def _root(self) -> str:
        return _variable(self.select.answers[-1]) if self.select.answers else ""

    def _grouped(self) -> frozenset[int]:
        """Edges that lead to the groups: "the number of concerts for each stadium" says them."""
        ends = set(self.select.group)
        return frozenset(i for i, e in enumerate(self.select.edges) if {e.subject, e.object} & ends)

    def _computed_edges(self) -> frozenset[int]:
        """Edges that are said with what is computed."""
        own = {_variable(a) for a in self.select.answers if isinstance(a, Aggregate)} - set(self.select.group)
        return frozenset(i for i, e in enumerate(self.select.edges) if {e.subject, e.object} & own)

    def _counted_edges(self) -> frozenset[int]:
        """Edges to what the groups are ordered or chosen by: "with the most concerts" says them."""
        order = self.select.order
        by = [order.by] if order is not None and isinstance(order.by, Aggregate) else []
        by += [f.left for f in self.select.filters if isinstance(f.left, Aggregate)]
        ends = {_variable(each) for each in by} - {*self.select.group, self._owner()}
        direct = frozenset(i for i, e in enumerate(self.select.edges) if {e.subject, e.object} & ends)
        return direct.union(*(self._way(end) for end in ends))

    def _edges_of(self, name: str) -> frozenset[int]:
        return frozenset(i for i, e in enumerate(self.select.edges) if name in (e.subject, e.object))

    def _reached(self) -> set[str]:
        """The variables that edges connect with the answer."""
        found = {self._root()}
        for _ in self.select.edges:
            found |= {n for e in self.select.edges if {e.subject, e.object} & found for n in (e.subject, e.object)}
        return found

    def _beyond(self) -> str:
        """Conditions on what no edge connects with the answer."""
        reached = self._reached()
        parts = []
        for each in spans(self.select.filters, self.schema):
            if isinstance(each.left, Attribute) and each.left.variable not in reached:
                clause = condition(each, self.schema, self._right(each))
                parts.append(clause.true.replace("{}", f"the {self.noun(each.left.variable)}"))
        return f", where {joined(parts)}" if parts else ""


def _variable(term: Term) -> str:
    return term.of.variable if isinstance(term, Aggregate) else term.variable


def _of(each: Filter) -> str:
    return _variable(each.left)
