"""A select as a noun phrase: Select + Schema -> "the stadium with the most concerts", "the ages of singers"."""

from dataclasses import replace

from nacre.language.base import language
from nacre.language.forms.nouns import (
    count_phrase,
    is_participle,
    join_names,
    plural,
    possessive_phrase,
    singular,
    with_indefinite_article,
)
from nacre.language.thesaurus import is_person
from nacre.plans.inspect_select import (
    answer_variable,
    computed_edges,
    connected_variables,
    edges_at,
    filtered_variable,
    group_edges,
    variable_of,
)
from nacre.plans.merge import is_from_earlier_turn
from nacre.records.plan import Aggregate, Attribute, Itself, PlanTerm, Select
from nacre.records.schema import Schema
from nacre.wording.labels.predicate_labels import predicate_label
from nacre.wording.labels.value_kinds import is_temporal
from nacre.wording.phrases.clauses import filter_clause, merge_range_filters
from nacre.wording.phrases.groups import filtered_group_phrase, group_noun, ranked_group_phrase
from nacre.wording.phrases.join_clauses import AGGREGATE_ADJECTIVES, thing_name
from nacre.wording.phrases.noun_phrase import SelectWording
from nacre.wording.phrases.property_names import is_superlative, property_phrase, short_property_name
from nacre.wording.phrases.question_clauses import pair_phrase, question_clause


def verbalise_select(select: Select, schema: Schema, many: bool = True, tied: bool = False) -> str:
    """What a select gives, with the order and the groups: several ("stadiums whose ..."), or with `many` off the one
    ("the stadium whose ..."); `tied` where several share the place that it asks for ("the stadiums with the highest
    ...")."""
    wording = select_wording(select, schema, tied)
    terms, order = _terms(wording), select.order
    each = _each(wording)
    said = _answers(wording, terms, many)
    if each:
        said += f" {'per' if is_participle(said.rpartition(' ')[2]) else 'for each'} {join_names(each)}"
    said += _beyond(wording)
    if tail := order_phrase(select, schema):
        said += f", {tail}"
    elif order is not None and each and isinstance(order.by, Aggregate):
        which = f"{select.limit} {'highest' if order.descending else 'lowest'}"
        said += f", the {which if (select.limit or 1) > 1 else which.split()[1]} only"
    return said


def order_phrase(select: Select, schema: Schema) -> str:
    """How all things or values of a select are ordered: "ordered by age, oldest first", of the ages themselves "from
    highest to lowest"; "" where they are not."""
    if select.order is None or select.limit is not None:
        return ""
    wording, by, down = select_wording(select, schema), select.order.by, select.order.descending
    about = schema.predicate_of[by.predicate] if isinstance(by, Attribute) else None
    timed = about is not None and is_temporal(about.iri, schema)
    by_name = isinstance(by, Itself) or (about is not None and about.datatype == "text" and not timed)
    if _is_asked(by, wording):
        ends = ("earliest", "latest") if timed else ("lowest", "highest")
        alphabetical = f"in {'reverse ' if down else ''}alphabetical order"
        return alphabetical if by_name else f"from {ends[down]} to {ends[not down]}"
    counts = about is not None and about.datatype == "integer" and not about.unit
    measure = count_phrase(wording.measure(by), counts=counts)
    said = f"ordered by {'the ' if measure.startswith('number of ') else ''}{measure}"
    if best := wording.best_by(select.order):
        return f"{said}, {best} first"
    last = "from Z to A" if by_name else "latest first" if timed else "highest first"
    return f"{said}, {last}" if down else said


def _is_asked(by: Attribute | Aggregate | Itself, wording: SelectWording) -> bool:
    """Whether what things are ordered by is all that is asked for, or the only number, as their name is of things."""
    terms = [t for t in _terms(wording) if isinstance(t, Aggregate)] or _terms(wording)
    named = isinstance(terms[0], Attribute) and wording.schema.predicate_of[terms[0].predicate].role == "name"
    of_name = isinstance(by, Itself) and named and variable_of(terms[0]) == by.variable
    return len(terms) == 1 and (terms[0] == by or of_name)


def select_wording(select: Select, schema: Schema, tied: bool = False) -> SelectWording:
    """What says the things of a select, and the selects inside it as `verbalise_select` does."""
    return SelectWording(select, schema, verbalise_select, tied)


def existence_statements(select: Select, schema: Schema) -> tuple[str, str]:
    """The select as something that is so, and the same denied: "Spain borders France", "there are no ..."."""
    wording = select_wording(select, schema)
    root = answer_variable(select)
    named = wording.variables.get(root)
    if (
        named is not None
        and named.keys
        and named.label
        and not is_from_earlier_turn(named)
        and " or " not in named.label
    ):
        # of several that have one name it is enough that one is so
        clauses = wording.clauses(root, frozenset(), 0)
        name = thing_name(named, wording.noun(root))
        if clauses:
            true = join_names([c.true.replace("{}", name) for c in clauses])
            false = clauses[0].false.replace("{}", name) if len(clauses) == 1 else f"it is not true that {true}"
            return true, false
    if said := _owned(select, wording) or _of_one(select, wording):
        return said
    things = wording.things(root, True, frozenset(), 0)
    if named is not None and is_from_earlier_turn(named):
        return f"there are some among {things}", f"there are none among {things}"
    return f"there are {things}", f"there are no {things.removeprefix('the ')}"


def _owned(select: Select, wording: SelectWording) -> tuple[str, str] | None:
    """What one named thing has, where a link says of what kind that is: "Ann has a policy", of its "customer"."""
    edge = select.edges[0] if len(select.edges) == 1 and len(select.variables) == 2 and not select.filters else None
    if edge is None or edge.subject != answer_variable(select):
        return None
    owner, known = wording.variables[edge.object], wording.variables[edge.subject]
    kind = wording.noun(edge.object)
    if (
        len(owner.keys) != 1
        or not owner.label
        or known.keys
        or predicate_label(edge.predicate, wording.schema).one != kind
    ):
        return None
    name, noun = thing_name(owner, kind), wording.noun(edge.subject)
    return f"{name} has {with_indefinite_article(noun)}", f"{name} has no {noun}"


def _of_one(select: Select, wording: SelectWording) -> tuple[str, str] | None:
    """What is so of the one thing that a link leads to from a named one: "the head of Sales is older than 50"."""
    root, schema = answer_variable(select), wording.schema
    owned = len(select.edges) == 1 and select.edges[0].object == root and not wording.variables[root].keys
    own = [each for each in select.filters if isinstance(each.left, Attribute) and each.left.variable == root]
    if not owned or len(own) != 1 or own != list(select.filters) or isinstance(own[0].right, Select):
        return None
    about = schema.predicate_of[select.edges[0].predicate]
    if not about.functional or len(wording.variables[select.edges[0].subject].keys) != 1:
        return None
    name = select_wording(replace(select, filters=()), schema).things(root, False, frozenset(), 0)
    clause = filter_clause(own[0], schema, None)
    return clause.true.replace("{}", name), clause.false.replace("{}", name)


def _terms(wording: SelectWording) -> tuple[PlanTerm, ...]:
    """The answers that are to be said: a thing whose property is given is named by it."""
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
    """A person who is asked for beside what their row as somebody says is told as that: "singers and their fees"."""
    if not isinstance(term, Itself):
        return term
    rows = [e.subject for e in wording.select.edges if e.object == term.variable and wording.stands_for(e)]
    beside = {a.variable for a in wording.select.answers if isinstance(a, Attribute)}
    return Itself(rows[0]) if len(rows) == 1 and rows[0] in beside else term


def _each(wording: SelectWording) -> list[str]:
    """The things that there is a number for each of."""
    if not wording.numbered:
        return []
    own = [a for a in wording.select.answers if not isinstance(a, Aggregate)]
    said = [
        wording.things(g, False, computed_edges(wording.select), 0).removeprefix("the ") for g in wording.select.group
    ]
    for term in own:
        variable = variable_of(term)
        if isinstance(term, Attribute) and variable not in wording.select.group:
            name = property_phrase(wording, term, False) if term.part else group_noun(wording, term)
            edges = computed_edges(wording.select)
            own_name = singular(short_property_name(wording, term))
            if own_name in language().words["naming"] and name != own_name:
                # "the number of orders for each customer"
                said.append(wording.things(variable, False, edges, 0).removeprefix("the "))
                continue
            of = wording.owners(variable, edges) if wording.clauses(variable, edges, 0) else ""
            said.append(f"{name} of {of}" if of else name)
        elif isinstance(term, Itself) and variable not in wording.select.group:
            said.append(wording.noun(variable))
    return list(dict.fromkeys(said))


def _answers(wording: SelectWording, terms: tuple[PlanTerm, ...], many: bool) -> str:
    numbers = [t for t in terms if isinstance(t, Aggregate)]
    if numbers:
        return _numbers(wording, numbers)
    things = [t for t in terms if isinstance(t, Itself)]
    values = [t for t in terms if isinstance(t, Attribute)]
    chosen = ranked_group_phrase(wording, terms) or filtered_group_phrase(wording, terms, many)
    if chosen:
        return chosen
    if len(terms) == len(values) == 1 and _names_itself(wording, values[0]):
        thing = values[0].variable
        return wording.owners(thing) if many else wording.things(thing, False, frozenset(), 0)
    if not values:
        pair = _pair(wording, things) if many else ""
        if pair:
            return pair
        first = wording.things(things[0].variable, many, frozenset(), 0)
        others = [plural(wording.noun(t.variable)) for t in things[1:]]
        return f"{first} and their {join_names(others)}" if others else first
    owner = values[0].variable
    own = list(dict.fromkeys(property_phrase(wording, t, many) for t in values if t.variable == owner))
    named = [t for t in things if t.variable == owner]
    beside = _beside(wording, terms, owner) if many and not named else {}
    if named:
        said = f"{wording.things(owner, many, frozenset(), 0)} and {'their' if many else 'its'} {join_names(own)}"
    else:
        seen = frozenset(beside.values())
        whose = wording.owners(owner, seen) if many else wording.things(owner, False, frozenset(), 0)
        clause = question_clause(values[0].predicate, whose, wording.schema, many=_several(wording, owner, many))
        alone = len(terms) == 1 and bool(clause) and not values[0].part
        said = (
            clause
            if alone
            else f"the {possessive_phrase(join_names(own), whose, person=is_person(wording.noun(owner)))}"
        )
    for other in beside:
        theirs = [property_phrase(wording, t, True) for t in values if t.variable == other]
        said += f", and the {join_names(theirs)} of their {plural(wording.noun(other))}"
    for term in (t for t in terms if variable_of(t) not in (owner, *beside)):
        noun = wording.noun(variable_of(term))
        beyond = noun if isinstance(term, Itself) else f"{property_phrase(wording, term, False)} of the {noun}"
        said += f", with the {beyond}"
    return said


def _beside(wording: SelectWording, terms: tuple[PlanTerm, ...], owner: str) -> dict[str, int]:
    """The things one link away from the first whose values alone are shown, and of which nothing else is said, with the
    edge that leads there: "the towns of the schools, and the nicknames of their details"."""
    found: dict[str, int] = {}
    for other in dict.fromkeys(variable_of(t) for t in terms if variable_of(t) != owner):
        edges = sorted(edges_at(wording.select, other))
        known = wording.variables.get(other)
        plain = all(isinstance(t, Attribute) for t in terms if variable_of(t) == other)
        told = any(filtered_variable(f) == other for f in wording.select.filters)
        if not plain or told or known is None or known.keys or len(edges) != 1:
            continue
        edge = wording.select.edges[edges[0]]
        if {edge.subject, edge.object} == {owner, other}:
            found[other] = edges[0]
    return found


def _several(wording: SelectWording, variable: str, many: bool) -> bool:
    """Whether the things of a variable are said in the plural."""
    known = wording.variables.get(variable)
    one = known is not None and len(known.keys) == 1 and bool(known.label)
    return many and not one and (wording.tied or not is_superlative(wording, variable))


def _pair(wording: SelectWording, things: list[Itself]) -> str:
    """Things beside what one link leads to from them, where nothing else is said of that: "ships and their
    captains"; "" for anything else."""
    if len(things) != 2 or wording.select.order is not None:
        return ""
    first, second = (t.variable for t in things)
    between = [i for i, e in enumerate(wording.select.edges) if {e.subject, e.object} == {first, second}]
    own = wording.variables.get(second)
    told = any(filtered_variable(f) == second for f in wording.select.filters if not isinstance(f.left, Aggregate))
    if len(between) != 1 or told or own is None or own.keys or len(edges_at(wording.select, second)) != 1:
        return ""
    edge = wording.select.edges[between[0]]
    label, others = predicate_label(edge.predicate, wording.schema), plural(wording.noun(second))
    known = wording.variables.get(first)
    if known is None or known.keys:
        return ""
    said = wording.things(first, True, frozenset(between), 0)
    return pair_phrase(label, said, others, backward=edge.object == first)


def _names_itself(wording: SelectWording, term: Attribute) -> bool:
    """Whether a property is what the things that have it are called: their name, the grape of a grape."""
    label = predicate_label(term.predicate, wording.schema).one.casefold()
    named = short_property_name(wording, term).casefold() in language().words["naming"]
    is_name = named and wording.schema.predicate_of[term.predicate].role == "name" and not term.part
    known = wording.variables.get(term.variable)
    return label == wording.noun(term.variable).casefold() or (is_name and known is not None and not known.keys)


def _numbers(wording: SelectWording, numbers: list[Aggregate]) -> str:
    of = {n.of for n in numbers}
    if len(of) == 1 and len(numbers) > 1 and isinstance(numbers[0].of, Attribute):
        words = join_names([AGGREGATE_ADJECTIVES.get(n.function, "number of") for n in numbers])
        label = predicate_label(numbers[0].of.predicate, wording.schema)
        own = wording.own_name(numbers[0].of)
        name = plural(own) if label.kind == "noun" else label.one
        return f"the {words} {name} of {wording.owners(numbers[0].of.variable, group_edges(wording.select))}"
    values = [n.of for n in numbers if isinstance(n.of, Attribute)]
    if 1 < len(values) == len(numbers) and len({v.variable for v in values}) == 1:
        # "the average height and the highest price of the chairs"
        words = join_names([f"the {wording.computed(n, short=True)}" for n in numbers])
        return f"{words} of {wording.owners(values[0].variable, group_edges(wording.select))}"
    return join_names([f"the {wording.computed(n)}" for n in numbers])


def _beyond(wording: SelectWording) -> str:
    """Conditions on what no edge connects with the answer."""
    reached = connected_variables(wording.select)
    parts = []
    for each in merge_range_filters(wording.select.filters, wording.schema):
        if isinstance(each.left, Attribute) and each.left.variable not in reached:
            clause = filter_clause(each, wording.schema, wording.right(each))
            parts.append(clause.true.replace("{}", f"the {wording.noun(each.left.variable)}"))
    return f", where {join_names(parts)}" if parts else ""
