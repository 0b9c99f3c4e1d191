"""Word a select as a noun phrase: Select + Schema -> "the stadium with the most concerts", "the ages of singers"."""

from nacre.language.base import language, word_map
from nacre.language.forms.measure_nouns import count_phrase
from nacre.language.forms.nouns import is_participle, join_names, plural, possessive_phrase, singular
from nacre.language.thesaurus import is_person
from nacre.plans.inspect_select import (
    computed_edges,
    connected_variables,
    edges_at,
    filtered_variable,
    group_edges,
    variable_of,
)
from nacre.records.plan import Aggregate, Attribute, Itself, PlanTerm, Select
from nacre.records.schema import Schema
from nacre.wording.clauses.comparison_words import merge_range_filters
from nacre.wording.clauses.filter_clauses import filter_clause
from nacre.wording.labels.predicate_labels import predicate_label
from nacre.wording.labels.value_kinds import is_temporal
from nacre.wording.phrases.groups import filtered_group_phrase, group_noun, ranked_group_phrase
from nacre.wording.phrases.noun_phrase import SelectWording
from nacre.wording.phrases.property_names import is_superlative, property_phrase
from nacre.wording.phrases.question_clauses import pair_phrase, question_clause
from nacre.wording.phrases.superlatives import superlative_adjective


def verbalise_select(select: Select, schema: Schema, many: bool = True, tied: bool = False) -> str:
    """What a select gives, with its order and groups: with `many` several things, else the one.

    `tied`: several things share the place that is asked for ("the stadiums with the highest ...").
    """
    wording = select_wording(select, schema, tied)
    terms, order = _worded_terms(wording), select.order
    groups = _groups(wording)
    words = _answers(wording, terms, many)
    if groups:
        words += f" {'per' if is_participle(words.rpartition(' ')[2]) else 'for each'} {join_names(groups)}"
    words += _unconnected_conditions(wording)
    if tail := order_phrase(select, schema):
        words += f", {tail}"
    elif order is not None and groups and isinstance(order.by, Aggregate):
        end = "highest" if order.descending else "lowest"
        words += f", the {f'{select.limit} {end}' if (select.limit or 1) > 1 else end} only"
    return words


def order_phrase(select: Select, schema: Schema) -> str:
    """How all things or values of a select are ordered; "" if they are not.

    "ordered by age, oldest first" of things, "from highest to lowest" of the ages themselves.
    """
    if select.order is None or select.limit is not None:
        return ""
    wording, by, descending = select_wording(select, schema), select.order.by, select.order.descending
    predicate = schema.predicate_of[by.predicate] if isinstance(by, Attribute) else None
    is_dated = predicate is not None and is_temporal(predicate.iri, schema)
    is_by_name = isinstance(by, Itself) or (predicate is not None and predicate.datatype == "text" and not is_dated)
    if _is_only_answer(by, wording):
        ends = ("earliest", "latest") if is_dated else ("lowest", "highest")
        alphabetical = f"in {'reverse ' if descending else ''}alphabetical order"
        return alphabetical if is_by_name else f"from {ends[descending]} to {ends[not descending]}"
    counts = predicate is not None and predicate.datatype == "integer" and not predicate.unit
    measure = count_phrase(wording.measure(by), counts=counts)
    words = f"ordered by {'the ' if measure.startswith('number of ') else ''}{measure}"
    if best := superlative_adjective(wording.structure, select.order):
        return f"{words}, {best} first"
    last = "from Z to A" if is_by_name else "latest first" if is_dated else "highest first"
    return f"{words}, {last}" if descending else words


def _is_only_answer(by: Attribute | Aggregate | Itself, wording: SelectWording) -> bool:
    """Whether the order is by the only answer, by the only number, or by the name of the only things."""
    terms = _worded_terms(wording)
    terms = tuple(term for term in terms if isinstance(term, Aggregate)) or terms
    first = terms[0]
    is_name = isinstance(first, Attribute) and wording.schema.predicate_of[first.predicate].role == "name"
    is_by_name = isinstance(by, Itself) and is_name and variable_of(first) == by.variable
    return len(terms) == 1 and (first == by or is_by_name)


def select_wording(select: Select, schema: Schema, tied: bool = False) -> SelectWording:
    """The words for the things of a select; selects inside it are worded by `verbalise_select`."""
    return SelectWording(select, schema, verbalise_select, tied)


def _worded_terms(wording: SelectWording) -> tuple[PlanTerm, ...]:
    """The answers that are worded: a thing before its own property is left out."""
    answers = tuple(_by_role(each, wording) for each in wording.select.answers)
    first = answers[0]
    if len(answers) == 2 and isinstance(first, Itself) and not wording.select.paired:
        other = answers[1]
        owner = wording.variables.get(first.variable)
        if isinstance(other, Attribute) and other.variable == first.variable:
            return answers[1:]
        if owner is not None and len(owner.keys) == 1 and isinstance(other, Itself):
            return answers[1:]
    return answers


def _by_role(term: PlanTerm, wording: SelectWording) -> PlanTerm:
    """A person beside a value of their role, as that role: "singers and their fees"."""
    if not isinstance(term, Itself):
        return term
    edges = [e for e in wording.select.edges if e.object == term.variable and wording.structure.stands_for(e)]
    with_values = {a.variable for a in wording.select.answers if isinstance(a, Attribute)}
    return Itself(edges[0].subject) if len(edges) == 1 and edges[0].subject in with_values else term


def _groups(wording: SelectWording) -> list[str]:
    """What each number is computed for: "town", "customer"."""
    if not wording.gives_numbers:
        return []
    edges = computed_edges(wording.select)
    words = [_each_thing(wording, variable, edges) for variable in wording.select.group]
    for term in wording.select.answers:
        if isinstance(term, Aggregate) or variable_of(term) in wording.select.group:
            continue
        if isinstance(term, Itself):
            words.append(wording.noun(term.variable))
            continue
        name = property_phrase(wording, term, False) if term.part else group_noun(wording, term)
        own_name = singular(wording.own_name(term))
        if own_name in language().words["naming"] and name != own_name:
            # "the number of orders for each customer"
            words.append(_each_thing(wording, term.variable, edges))
            continue
        owners = wording.owners(term.variable, edges) if wording.clauses(term.variable, edges, 0) else ""
        words.append(f"{name} of {owners}" if owners else name)
    return list(dict.fromkeys(words))


def _each_thing(wording: SelectWording, variable: str, seen: frozenset[int]) -> str:
    """One of the things of a variable after "each": "customer", "of those 3 doors"."""
    thing = wording.things(variable, False, seen, 0).removeprefix("the ")
    earlier = thing.removeprefix("one of ")
    return f"of {earlier}" if earlier.startswith("those ") else thing


def _answers(wording: SelectWording, terms: tuple[PlanTerm, ...], many: bool) -> str:
    numbers = [term for term in terms if isinstance(term, Aggregate)]
    if numbers:
        return _numbers(wording, numbers)
    if groups := ranked_group_phrase(wording, terms) or filtered_group_phrase(wording, terms, many):
        return groups
    values = [term for term in terms if isinstance(term, Attribute)]
    if len(terms) == len(values) == 1 and _is_name_of_things(wording, values[0]):
        thing = values[0].variable
        return wording.owners(thing) if many else wording.things(thing, False, frozenset(), 0)
    things = [term for term in terms if isinstance(term, Itself)]
    if values:
        return _values(wording, terms, values, many)
    pair = _pair(wording, things) if many else ""
    if pair:
        return pair
    first = wording.things(things[0].variable, many, frozenset(), 0)
    others = [plural(wording.noun(term.variable)) for term in things[1:]]
    return f"{first} and their {join_names(others)}" if others else first


def _values(wording: SelectWording, terms: tuple[PlanTerm, ...], values: list[Attribute], many: bool) -> str:
    """Properties of things, with or without the things: "the towns of the schools", "ships and their ages"."""
    owner = values[0].variable
    own = list(dict.fromkeys(property_phrase(wording, term, many) for term in values if term.variable == owner))
    shows_owner = any(isinstance(term, Itself) and term.variable == owner for term in terms)
    linked = _linked_owners(wording, terms, owner) if many and not shows_owner else {}
    if shows_owner:
        things = wording.things(owner, many, frozenset(), 0)
        words = f"{things} and {'their' if many else 'its'} {join_names(own)}"
    else:
        seen = frozenset(linked.values())
        owners = wording.owners(owner, seen) if many else wording.things(owner, False, frozenset(), 0)
        clause = question_clause(values[0].predicate, owners, wording.schema, many=_is_several(wording, owner, many))
        if len(terms) == 1 and clause and not values[0].part:
            words = clause
        else:
            is_owner_person = is_person(wording.noun(owner))
            words = f"the {possessive_phrase(join_names(own), owners, person=is_owner_person)}"
    for other in linked:
        theirs = [property_phrase(wording, term, True) for term in values if term.variable == other]
        words += f", and the {join_names(theirs)} of their {plural(wording.noun(other))}"
    for term in (each for each in terms if variable_of(each) not in (owner, *linked)):
        noun = wording.noun(variable_of(term))
        further = noun if isinstance(term, Itself) else f"{property_phrase(wording, term, False)} of the {noun}"
        words += f", with the {further}"
    return words


def _linked_owners(wording: SelectWording, terms: tuple[PlanTerm, ...], owner: str) -> dict[str, int]:
    """Variables one edge away from the owner of which only values are asked, with the edge.

    "the towns of the schools, and the nicknames of their details"
    """
    found: dict[str, int] = {}
    for other in dict.fromkeys(variable_of(term) for term in terms if variable_of(term) != owner):
        edges = sorted(edges_at(wording.select, other))
        known = wording.variables.get(other)
        has_only_values = all(isinstance(term, Attribute) for term in terms if variable_of(term) == other)
        is_filtered = any(filtered_variable(each) == other for each in wording.select.filters)
        if not has_only_values or is_filtered or known is None or known.keys or len(edges) != 1:
            continue
        edge = wording.select.edges[edges[0]]
        if {edge.subject, edge.object} == {owner, other}:
            found[other] = edges[0]
    return found


def _is_several(wording: SelectWording, variable: str, many: bool) -> bool:
    """Whether the things of a variable are worded in the plural."""
    known = wording.variables.get(variable)
    is_one = known is not None and len(known.keys) == 1 and bool(known.label)
    return many and not is_one and (wording.tied or not is_superlative(wording, variable))


def _pair(wording: SelectWording, things: list[Itself]) -> str:
    """Things with what one link leads to, without further conditions: "ships and their captains"; "" for others."""
    if len(things) != 2 or wording.select.order is not None:
        return ""
    first, second = (term.variable for term in things)
    between = [i for i, e in enumerate(wording.select.edges) if {e.subject, e.object} == {first, second}]
    known, other = wording.variables.get(first), wording.variables.get(second)
    if known is None or known.keys or other is None or other.keys or len(between) != 1:
        return ""
    filters = [each for each in wording.select.filters if not isinstance(each.left, Aggregate)]
    is_filtered = any(filtered_variable(each) == second for each in filters)
    if is_filtered or len(edges_at(wording.select, second)) != 1:
        return ""
    edge = wording.select.edges[between[0]]
    label, others = predicate_label(edge.predicate, wording.schema), plural(wording.noun(second))
    words = wording.things(first, True, frozenset(between), 0)
    return pair_phrase(label, words, others, backward=edge.object == first)


def _is_name_of_things(wording: SelectWording, term: Attribute) -> bool:
    """Whether a property only names its things: their name, the grape of a grape."""
    label = predicate_label(term.predicate, wording.schema).one.casefold()
    is_naming = wording.own_name(term).casefold() in language().words["naming"]
    is_name = is_naming and wording.schema.predicate_of[term.predicate].role == "name" and not term.part
    known = wording.variables.get(term.variable)
    return label == wording.noun(term.variable).casefold() or (is_name and known is not None and not known.keys)


def _numbers(wording: SelectWording, numbers: list[Aggregate]) -> str:
    of = {number.of for number in numbers}
    if len(of) == 1 and len(numbers) > 1 and isinstance(numbers[0].of, Attribute):
        adjectives = word_map("wording", "aggregate_adjectives")
        functions = join_names([adjectives.get(number.function, "number of") for number in numbers])
        label = predicate_label(numbers[0].of.predicate, wording.schema)
        name = plural(wording.own_name(numbers[0].of)) if label.kind == "noun" else label.one
        return f"the {functions} {name} of {wording.owners(numbers[0].of.variable, group_edges(wording.select))}"
    values = [number.of for number in numbers if isinstance(number.of, Attribute)]
    if 1 < len(values) == len(numbers) and len({value.variable for value in values}) == 1:
        # "the average height and the highest price of the chairs"
        words = join_names([f"the {wording.computed(number, short=True)}" for number in numbers])
        return f"{words} of {wording.owners(values[0].variable, group_edges(wording.select))}"
    return join_names([f"the {wording.computed(number)}" for number in numbers])


def _unconnected_conditions(wording: SelectWording) -> str:
    """Conditions on variables that no edge connects with the answer."""
    connected = connected_variables(wording.select)
    parts = []
    for each in merge_range_filters(wording.select.filters, wording.schema):
        if isinstance(each.left, Attribute) and each.left.variable not in connected:
            clause = filter_clause(each, wording.schema, wording.right(each))
            parts.append(clause.sentence(f"the {wording.noun(each.left.variable)}"))
    return f", where {join_names(parts)}" if parts else ""
