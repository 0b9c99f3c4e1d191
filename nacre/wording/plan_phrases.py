"""Explain a plan in plain English, as a noun phrase that an answer can go on from: Plan -> words."""

from dataclasses import replace

from nacre.language.data import WORDS, phrase_list, word_map
from nacre.language.thesaurus import is_person
from nacre.language.tokens import split_name
from nacre.language.values import format_value
from nacre.language.word_forms import (
    count_phrase,
    is_participle,
    join_names,
    plural,
    possessive_phrase,
    singular,
    with_indefinite_article,
)
from nacre.plans.selects import (
    answer_variable,
    computed_edges,
    connected_variables,
    edges_at,
    filtered_variable,
    group_edges,
    is_from_earlier_turn,
    measure_parts,
    ordered_variable,
    variable_of,
)
from nacre.records.plan import (
    PERIODS,
    Aggregate,
    Ask,
    Attribute,
    Combine,
    Compute,
    Itself,
    Overview,
    Plan,
    PlanTerm,
    Profile,
    Select,
    Variable,
    aggregated_value,
)
from nacre.records.schema import Schema
from nacre.wording.clauses import (
    comparison_words,
    count_condition_phrase,
    filter_clause,
    merge_range_filters,
    pair_phrase,
    question_clause,
)
from nacre.wording.labels import predicate_label
from nacre.wording.link_clauses import negated_clause, thing_name
from nacre.wording.noun_phrase import SelectWording
from nacre.wording.nouns import class_noun, is_temporal, nominal_label
from nacre.wording.select_structure import superlative_adjective


def verbalise_plan(plan: Plan, schema: Schema, many: bool = True) -> str:
    """What the plan asks, in labels; with `many` off, a difference is one thing: "whose town is not Rome"."""
    body = plan.body
    if isinstance(body, Combine):
        left, right = verbalise_select(body.left, schema), verbalise_select(body.right, schema)
        if body.op == "difference" and (plain := negated_clause(right, f"{left} ")):
            return f"{verbalise_select(body.left, schema, many)} {plain}"
        conditions = tuple(f"{left} {start}" for start in phrase_list("wording", "difference_starts"))
        if body.op == "difference" and right.startswith(conditions):
            return f"{left} except those{right.removeprefix(left)}"
        conjunction = word_map("wording", "set_operations")[body.op]
        return f"{left} {conjunction} {right.removeprefix('the ') if body.op != 'union' else right}"
    if isinstance(body, Compute) and (statement := universal_statement(body, schema)):
        return f"whether {statement}"
    if isinstance(body, Compute):
        left, right = (verbalise_select(side, schema, many=False) for side in (body.left, body.right))
        comparisons = word_map("wording", "number_comparisons")
        if body.op in comparisons:
            return f"whether {left} {comparisons[body.op]} {right}"
        return word_map("wording", "calculations")[body.op].format(left, right)
    if isinstance(body, Ask):
        return f"whether {ask_statements(body.select, schema)[0]}"
    if isinstance(body, Profile):
        return verbalise_profile(body, schema)
    if isinstance(body, Overview):
        return "what this graph holds"
    return verbalise_select(body, schema) if isinstance(body, Select) else "what is asked"


def ask_statements(select: Select, schema: Schema) -> tuple[str, str]:
    """The statement that a yes-or-no question asks about, and its denial."""
    kind = class_question_parts(select, schema)
    if kind is not None:
        return f"{kind[0]} is {kind[1]}", f"{kind[0]} is not {kind[1]}"
    if subclass := _subclass_statements(select, schema):
        return subclass
    return existence_statements(select, schema)


def class_question_parts(select: Select, schema: Schema) -> tuple[str, str] | None:
    """The thing and the class with its article, if a question only asks whether a named thing is of a class."""
    thing = select.variables[0]
    if (
        len(select.variables) > 1
        or select.filters
        or not (thing.keys and (thing.classes or thing.any_of))
        or is_from_earlier_turn(thing)
    ):
        return None
    return thing.label, with_indefinite_article(select_wording(select, schema).noun(thing.name))


def _subclass_statements(select: Select, schema: Schema) -> tuple[str, str] | None:
    """ "Ewes are sheep", or "some ewes ...", and the denial; None for other questions."""
    thing = select.variables[0]
    if len(select.variables) > 1 or select.filters or thing.keys or not (thing.classes and thing.noun):
        return None
    own, *wider = thing.classes
    nouns = [plural(class_noun(Variable("x", (iri,)), schema)) for iri in (own, *wider[:1])]
    kind = nouns[1] if wider else plural(thing.noun)
    groups = schema.groups_of_class
    within = [frozenset[str]().union(*(groups.get(iri, ()) for iri in each)) for each in (wider[:1], thing.any_of)]
    is_all = own in thing.any_of or any(groups.get(own, frozenset()) <= each for each in within if each)
    return f"{'' if is_all else 'some '}{nouns[0]} are {kind}", f"{nouns[0]} are not {kind}"


def verbalise_profile(profile: Profile, schema: Schema) -> str:
    """What a description or comparison is about."""
    members = verbalise_select(profile.members, schema)
    about = f", as to {profile.topic}" if profile.topic else ""
    if profile.against is not None:
        return f"how {members} and {verbalise_select(profile.against, schema)} compare{about}"
    return f"what is known of {members}{about}"


def predicate_words(iri: str, schema: Schema) -> str:
    """The label of a predicate as words."""
    return split_name(schema.predicate_of[iri].label)


def column_heading(term: PlanTerm, select: Select, schema: Schema) -> str:
    """The heading of an answer's column: the thing's noun, the property's label, or what is computed."""
    wording = select_wording(select, schema)
    if isinstance(term, Itself):
        return _link_heading(term, select, schema) or wording.noun(term.variable)
    if isinstance(term, Aggregate):
        return wording.computed(term, short=True)
    if isinstance(term, Attribute):
        # "year built" of "built in"
        full = predicate_label(term.predicate, schema).full or nominal_label(term.predicate, schema)
        return term.part if term.part in PERIODS else full
    return "value"


def _link_heading(term: Itself, select: Select, schema: Schema) -> str:
    """The link from a thing in an earlier column: the captain of a ship; "" if the class says it."""
    if term not in select.answers:
        return ""
    before = [a.variable for a in select.answers[: select.answers.index(term)] if isinstance(a, Itself)]
    edges = [e for e in select.edges if e.object == term.variable and e.subject in before]
    if len(edges) != 1:
        return ""
    label, words = predicate_label(edges[0].predicate, schema), select_wording(select, schema)
    if label.kind == "noun" or (label.kind == "state" and label.one.endswith(" by")):
        return label.one
    alike = words.noun(edges[0].subject) == words.noun(term.variable)
    return (f"{label.one} of" if label.kind == "role" else label.one) if alike else ""


def existence_statements(select: Select, schema: Schema) -> tuple[str, str]:
    """The select as a statement, and its denial: "Spain borders France", "there are no ..."."""
    wording = select_wording(select, schema)
    root = answer_variable(select)
    known = wording.variables.get(root)
    # of several things with one name it is enough that one meets the conditions
    is_named = known is not None and known.keys and known.label and " or " not in known.label
    if known is not None and is_named and not is_from_earlier_turn(known):
        clauses = wording.clauses(root, frozenset(), 0)
        name = thing_name(known, wording.noun(root))
        if clauses:
            true = join_names([clause.sentence(name) for clause in clauses])
            is_single = len(clauses) == 1
            false = clauses[0].sentence(name, denied=True) if is_single else f"it is not true that {true}"
            return true, false
    if statements := _possession_statements(select, wording) or _linked_thing_statements(select, wording):
        return statements
    things = wording.things(root, True, frozenset(), 0)
    if known is not None and is_from_earlier_turn(known):
        return f"there are some among {things}", f"there are none among {things}"
    return f"there are {things}", f"there are no {things.removeprefix('the ')}"


def universal_statement(body: Compute, schema: Schema, numbers: tuple[int, int] | None = None) -> str:
    """Whether all things meet conditions, as a statement: "all of those 3 doors are open", or of the `numbers` of those
    that do and of all: "only 2 of those 3 doors are open". Empty for other comparisons."""
    count, all_of = body.left.answers[0], body.right
    is_count = isinstance(count, Aggregate) and count.function == "count" and body.left.answers == all_of.answers
    is_part = {*all_of.edges, *all_of.filters} < {*body.left.edges, *body.left.filters}
    if body.op != "=" or not is_count or not is_part:
        return ""
    name = aggregated_value(all_of.answers[0]).variable
    things = select_wording(all_of, schema).things(name, True, frozenset(), 0)
    edges, filters = body.left.edges, body.left.filters
    said = replace(body.left, edges=tuple(e for e in edges if e not in all_of.edges))
    said = replace(said, filters=tuple(f for f in filters if f not in all_of.filters))
    clauses = select_wording(said, schema).clauses(name, frozenset(), 0)
    is_class = not any(is_from_earlier_turn(v) for v in all_of.variables)
    meeting, every = numbers or (1, 1)
    those = f"the {every} {things}" if is_class and numbers else things
    many = f"all {things}" if is_class else f"all of {those}"
    if meeting < every:
        many = f"only {meeting} of {those}" if meeting else f"none of {those}"
    texts = [clause.one if meeting == 1 < every else clause.many for clause in clauses]
    leads = tuple(f"{word} " for word in WORDS["asking_who"] | {"that"})
    if all(text.startswith(leads) for text in texts):
        return f"{many} {join_names([text.partition(' ')[2] for text in texts])}"
    return f"this is true of {many}"


def _possession_statements(select: Select, wording: SelectWording) -> tuple[str, str] | None:
    """What one named thing has, if a link names its class: "Ann has a policy", of its "customer"; None for others."""
    if len(select.edges) != 1 or len(select.variables) != 2 or select.filters:
        return None
    edge = select.edges[0]
    if edge.subject != answer_variable(select):
        return None
    owner, owned = wording.variables[edge.object], wording.variables[edge.subject]
    owner_noun = wording.noun(edge.object)
    is_one = len(owner.keys) == 1 and owner.label and not owned.keys
    if not is_one or predicate_label(edge.predicate, wording.schema).one != owner_noun:
        return None
    name, noun = thing_name(owner, owner_noun), wording.noun(edge.subject)
    return f"{name} has {with_indefinite_article(noun)}", f"{name} has no {noun}"


def _linked_thing_statements(select: Select, wording: SelectWording) -> tuple[str, str] | None:
    """A condition on the one thing that a named thing links to: "the head of Sales is older than 50", or None."""
    root, schema = answer_variable(select), wording.schema
    if len(select.edges) != 1 or select.edges[0].object != root or wording.variables[root].keys:
        return None
    if len(select.filters) != 1 or isinstance(select.filters[0].right, Select):
        return None
    own = select.filters[0]
    if not isinstance(own.left, Attribute) or own.left.variable != root:
        return None
    edge = select.edges[0]
    if not schema.predicate_of[edge.predicate].functional or len(wording.variables[edge.subject].keys) != 1:
        return None
    name = select_wording(replace(select, filters=()), schema).things(root, False, frozenset(), 0)
    clause = filter_clause(own, schema, None)
    return clause.sentence(name), clause.sentence(name, denied=True)


def verbalise_select(select: Select, schema: Schema, many: bool = True, tied: bool = False) -> str:
    """What a select gives, with its order and groups: with `many` several things, else the one. `tied`: several things
    share the place that is asked for ("the stadiums with the highest ...")."""
    wording = select_wording(select, schema, tied)
    terms, order = _worded_terms(wording), select.order
    groups = _groups(wording)
    parts = [select_wording(each, schema, tied) for each in measure_parts(select)[1:]]
    words = _answers(wording, terms, many)
    if len(parts) > 1:
        words, groups = join_names([_answers(part, _worded_terms(part), many) for part in parts]), _groups(parts[0])
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
    """How a select is ordered, "" if it is not: "ordered by age, oldest first", "from highest to lowest"."""
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
        if own_name in WORDS["naming"] and name != own_name:
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
    is_naming = wording.own_name(term).casefold() in WORDS["naming"]
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


def group_noun(wording: SelectWording, term: Attribute) -> str:
    """What things are grouped by: "genre"; a name with the noun of its things, "customer name"."""
    counted = {variable_of(a) for a in wording.select.answers if isinstance(a, Aggregate)}
    name = singular(wording.own_name(term))
    bare = term.variable not in counted and name in WORDS["naming"] | WORDS["generic"]
    return f"{wording.noun(term.variable)} {name}" if bare else name


def ranked_group_phrase(wording: SelectWording, terms: tuple[PlanTerm, ...]) -> str:
    """A value ranked by how many things have it, or by a number of these things; "" for other selects.

    "the county with the most farms", "the county with the highest average rent of the farms"
    """
    select, order = wording.select, wording.select.order
    if len(terms) != 1 or select.by != terms or order is None or select.limit is None or len(wording.variables) > 1:
        return ""
    by = order.by
    if not isinstance(by, Aggregate) or by.of.variable != variable_of(terms[0]):
        return ""
    several = select.limit > 1 or wording.tied
    things = replace(wording, select=replace(select, order=None, limit=None, by=()), tied=False)
    named = things.things(by.of.variable, True, frozenset(), 0).removeprefix("the ")
    most = "most" if order.descending else "fewest"
    if isinstance(by.of, Attribute):
        most = f"{'highest' if order.descending else 'lowest'} {things.computed(by, short=True)}"
        named = f"of the {named}"
    limit = f"{select.limit} " if select.limit > 1 else ""
    label = predicate_label(terms[0].predicate, wording.schema) if isinstance(terms[0], Attribute) else None
    value = label.full if label is not None and label.kind == "noun" else property_phrase(wording, terms[0], many=False)
    return f"the {limit}{plural(value) if several else singular(value)} with the {most} {named}"


def filtered_group_phrase(wording: SelectWording, terms: tuple[PlanTerm, ...], many: bool) -> str:
    """A value filtered by how many things have it, or by a number of these things; "" for other selects.

    "the counties with at least 2 farms", "the counties whose farms have an average rent above 80"
    """
    select = wording.select
    if len(terms) != 1 or select.by != terms or select.order is not None or len(wording.variables) > 1:
        return ""
    having = [f for f in select.filters if isinstance(f.left, Aggregate)]
    left = having[0].left if having else None
    if len(having) != 1 or not isinstance(left, Aggregate) or not isinstance(having[0].right, int | float):
        return ""
    own = variable_of(left) == variable_of(terms[0])
    if not own or (isinstance(left.of, Itself) != (left.function == "count")) or having[0].negated:
        return ""
    rest = tuple(f for f in select.filters if f is not having[0])
    things = replace(wording, select=replace(select, filters=rest, by=()), tied=False)
    several = having[0].right != 1 or isinstance(left.of, Attribute)
    named = things.things(variable_of(terms[0]), several, frozenset(), 0).removeprefix("the ")
    value = property_phrase(wording, terms[0], many)
    if isinstance(left.of, Attribute):
        bound = f"{comparison_words(having[0].op) or 'of'} {format_value(having[0].right)}"
        return f"the {value} whose {named} have {with_indefinite_article(things.computed(left, short=True))} {bound}"
    return (
        f"the {value} {count_condition_phrase(having[0], named, format_value(having[0].right) if several else 'one')}"
    )


def property_phrase(wording: SelectWording, term: Attribute | PlanTerm, many: bool) -> str:
    """A property of one thing or of `many`: "number of stories", "names"."""
    assert isinstance(term, Attribute)
    if term.part in PERIODS:
        return f"{term.part} of the {nominal_label(term.predicate, wording.schema)}"
    end = {"low": "lowest ", "high": "highest "}.get(term.part, "")
    owner = wording.variables.get(term.variable)
    one = (
        not many
        or (owner is not None and len(owner.keys) == 1)
        or (is_superlative(wording, term.variable) and not wording.tied)
    )
    name = wording.own_name(term)
    predicate = wording.schema.predicate_of[term.predicate]
    if one and not end and predicate.functional:
        # "the number of stories of the building", which is 12
        name = count_phrase(name, counts=predicate.datatype == "integer" and not predicate.unit)
    return f"{end}{name if one or name.startswith('“') else plural(name)}"


def is_superlative(wording: SelectWording, variable: str) -> bool:
    """Whether the select asks for the first thing of an order."""
    return wording.select.limit == 1 and ordered_variable(wording.select) == variable
