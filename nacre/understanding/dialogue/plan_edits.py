"""Change an earlier plan as a follow-up says: Select (+ Select of the follow-up) -> Select, or None if it cannot be.

The plan of a follow-up contains the keys of things that an earlier turn gave. `inline_earlier_plans` replaces the
keys by that turn's conditions, so that "and the drying room?" reaches the room that was asked for two turns ago.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from nacre.language.data import pattern
from nacre.plans.selects import free_name, gives_all, is_from_earlier_turn, merge_selects, with_names
from nacre.records.plan import (
    AGGREGATES,
    OF_NUMBERS,
    Aggregate,
    Ask,
    Attribute,
    Body,
    Comparison,
    Compute,
    Filter,
    Function,
    Itself,
    Order,
    PlanTerm,
    Select,
    Variable,
    aggregated_value,
)
from nacre.records.turn import EarlierTurn
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.understanding.linking.name_candidates import NameCandidate
from nacre.understanding.linking.schema_graph import SchemaGraph
from nacre.understanding.question.records import Cue, Link, Number, Question

EditKind = Literal["add", "order", "restrict", "exclude", "instead", "correct"]

_INEQUALITIES = frozenset(("<", "<=", ">", ">="))


def edit_plan(earlier: Select, new: Select, how: EditKind) -> Select | None:
    """The earlier plan with the columns, order or conditions of the new one. None if the new one has none of these.
    Things of the same class in both plans are the same things."""
    both = merge_selects(earlier, new)
    if both is None:
        return None
    base, added = both
    if how == "add":
        return _add_columns(base, added)
    if how == "order":
        return _reorder(base, added)
    if how == "correct":
        # the base with another rank or another requested value: "no, I meant the age"
        if added.order is not None and added.limit is not None:
            return replace(base, order=added.order, limit=added.limit, offset=added.offset, ties=added.ties)
        requested = tuple(a for a in added.answers if not isinstance(a, Itself))
        is_grouped = base.group or base.by or added.group or added.by
        return replace(base, answers=requested, paired=False) if requested and not is_grouped else None
    return _restrict(base, added, how)


def summarise_plan(earlier: Select, functions: Sequence[Function], keep_others: bool) -> Select | None:
    """Aggregates of the values that were shown last: "the average of them". With `keep_others` the aggregates before
    stay: "also the maximum". None if no value was shown."""
    values = [a for a in map(aggregated_value, earlier.answers) if isinstance(a, Attribute)]
    if not values or not functions:
        return None
    before = tuple(a for a in earlier.answers if isinstance(a, Aggregate)) if keep_others else ()
    answers = tuple(dict.fromkeys((*before, *(Aggregate(f, values[-1]) for f in functions))))
    return replace(earlier, answers=answers, order=None, limit=None, offset=0)


def count_plan(earlier: Select) -> Select | None:
    """The number of things that the earlier plan is about. None if it shows no things."""
    owner = next((a.variable for a in earlier.answers if not isinstance(a, Aggregate)), None)
    if owner is None or earlier.group or earlier.by or earlier.limit is not None:
        return None
    return replace(earlier, answers=(Aggregate("count", Itself(owner)),), order=None)


def list_plan(earlier: Select) -> Select | None:
    """The things that the earlier plan counted ("which ones?") or shows. None if it gives other numbers."""
    if not isinstance(earlier.answers[0], Aggregate):
        return earlier
    aggregate = earlier.answers[0]
    if len(earlier.answers) > 1 or aggregate.function != "count" or earlier.group or earlier.by:
        return None
    return replace(earlier, answers=(aggregate.of,), order=None, limit=None, offset=0)


def tested_select(body: Body) -> Select | None:
    """The things that a plan shows, or that meet what it tests: of one thing ("is A open?") or of all."""
    if isinstance(body, Compute):
        return list_plan(body.left) if body.op == "=" else None
    if isinstance(body, Ask):
        own = aggregated_value(body.select.answers[0]).variable
        variables = tuple(replace(v, keys=(), label="") if v.name == own else v for v in body.select.variables)
        return replace(body.select, variables=variables)
    return body if isinstance(body, Select) else None


def negate_last_condition(earlier: Select) -> Select | None:
    """The things that do not meet the last condition of the earlier plan: "and the others?". None if it has none."""
    if earlier.limit is not None or any(isinstance(f.left, Aggregate) for f in earlier.filters):
        return None
    if not earlier.filters:
        # The other things of the class that the earlier plan shows. None if it shows all, or something else
        answer = earlier.answers[0]
        if not earlier.edges or len(earlier.answers) > 1 or not isinstance(answer, Itself):
            return None
        own = next(v for v in earlier.variables if v.name == answer.variable)
        other = replace(own, name=f"{own.name}_other", keys=(), label="")
        return Select((Itself(other.name),), (other,), filters=(Filter(Itself(other.name), "in", earlier, True),))
    *others, last = earlier.filters
    is_boolean = last.op == "=" and isinstance(last.right, bool)
    negated = replace(last, right=not last.right) if is_boolean else replace(last, negated=not last.negated)
    return replace(earlier, filters=(*others, negated))


def reverse_last_bound(earlier: Select, op: Comparison) -> Select | None:
    """The earlier plan with another comparison in its last bound: "and below?". None if it has no bound."""
    bounds = [f for f in earlier.filters if f.op in _INEQUALITIES]
    if not bounds:
        return None
    filters = tuple(replace(f, op=op, negated=False) if f is bounds[-1] else f for f in earlier.filters)
    return replace(earlier, filters=filters)


def limit_plan(earlier: Select, by: PlanTerm, descending: bool) -> Select:
    """The first things of the earlier plan in an order, with ties. Numbers by group give the groups only."""
    things = tuple(a for a in earlier.answers if not isinstance(a, Aggregate))
    if things and isinstance(by, Aggregate) and by in earlier.answers:
        earlier = replace(earlier, answers=things)
    return replace(earlier, order=Order(by, descending), limit=1, offset=0, ties=True)


def compare_with_number(new: Select, stand_in: float, number: Select) -> Select | None:
    """The new plan with the plan of an earlier number in place of the `stand_in`. None if that is in no condition."""
    at = [f for f in new.filters if not isinstance(f.right, Select) and f.right == stand_in]
    if not at or any(isinstance(f.left, Aggregate) for f in at):
        # A count is compared with what is known before the query runs.
        return None
    return replace(new, filters=tuple(replace(f, right=number) if f in at else f for f in new.filters))


def _restrict(base: Select, added: Select, how: EditKind) -> Select | None:
    """The base with further conditions ("restrict"), their negation ("exclude"), or other conditions ("instead")."""
    has_condition = bool(added.filters or (added.order and added.limit) or any(v.keys for v in added.variables))
    bounds_groups = any(isinstance(f.left, Aggregate) for f in added.filters)
    groups_anew = any(isinstance(a, Aggregate) for a in added.answers) and added.group
    if not has_condition or (bounds_groups and not base.group) or groups_anew:
        return None
    if how == "exclude":
        if len(added.filters) != 1:
            return None
        added = replace(added, filters=(replace(added.filters[0], negated=not added.filters[0].negated),), order=None)
    if how == "instead":
        replaces = {f.left for f in added.filters} & {f.left for f in base.filters}
        base = replace(base, filters=base.filters if replaces else (), order=None, limit=None, offset=0)
    if how == "restrict" and base.limit == 1 and added.filters:
        # "Which are older than 20?" after the oldest chooses among all that it was chosen from.
        base = replace(base, order=None, limit=None, offset=0)
    restricted = {f.left for f in added.filters}
    kept = tuple(f for f in base.filters if f.left not in restricted and f not in added.filters)
    base = replace(base, filters=(*kept, *added.filters))
    if added.order is None or added.limit is None:
        return base
    # The first of the things that were counted.
    base = (list_plan(base) or base) if isinstance(added.answers[0], Itself) else base
    return replace(base, order=added.order, limit=added.limit, offset=added.offset, ties=added.ties)


def _add_columns(base: Select, added: Select) -> Select | None:
    new = [a for a in added.answers if a not in base.answers and not isinstance(a, Itself)]
    counts = [a for a in new if isinstance(a, Aggregate)]
    filters = tuple(dict.fromkeys((*base.filters, *added.filters)))
    if not new:
        return None
    if not counts:
        if added.by or added.group or added.order is not None or any(isinstance(a, Aggregate) for a in base.answers):
            return None
        paired = any(isinstance(a, Itself) for a in base.answers)
        return replace(base, answers=(*base.answers, *new), filters=filters, paired=paired)
    shown = [a for a in base.answers if not isinstance(a, Aggregate)]
    owners = list(dict.fromkeys(a.variable for a in shown))
    if not shown or base.limit is not None:
        return None
    changed = replace(base, answers=(*base.answers, *counts), filters=filters)
    if all(c.of.variable in owners for c in counts):
        # The things themselves are counted, for each value that was shown.
        values = tuple(a for a in shown if isinstance(a, Attribute))
        return replace(changed, by=values) if values else None
    return replace(changed, group=tuple(owners))


def _reorder(base: Select, added: Select) -> Select | None:
    """The base in the order of the follow-up, or by the value that it names: "sort the list by the owner's age"."""
    new = [a for a in added.answers if a not in base.answers and not isinstance(a, Itself)]
    if added.order is None and not new:
        return None
    order = added.order or Order(new[-1], isinstance(new[-1], Aggregate))
    base = replace(base, filters=tuple(dict.fromkeys((*base.filters, *added.filters))))
    if isinstance(order.by, Aggregate) and not (base.group or base.by):
        shown = [a for a in base.answers if not isinstance(a, Aggregate)]
        owners = tuple(dict.fromkeys(a.variable for a in shown))
        if not shown:
            return None
        if order.by.of.variable in owners:
            base = replace(base, by=tuple(a for a in shown if isinstance(a, Attribute)))
            if not base.by:
                return None
        else:
            base = replace(base, group=owners)
    # "with the oldest first" is not a limit.
    return replace(base, order=order, limit=added.limit if added.limit != 1 else None, offset=added.offset)


# Kinds of cues that can change a plan.
_CUES = frozenset((*AGGREGATES, "compare", "direction", "order", "most", "superlative", "open"))

# Changes that may ask for the first thing in an order, and for a bound.
_RANKING_CHANGES = frozenset(("first", "instead", "restrict", "summary"))

_BOUNDING_CHANGES = frozenset(("restrict", "instead"))


def edit_by_cues(
    question: Question, links: Sequence[Link], earlier: Select, how: str, graph: SchemaGraph
) -> Select | None:
    """The changed plan. None if the question has other content words, or its cues change nothing."""
    cues = [c for c in question.cues if c.kind in _CUES]
    numbers = [n for n in question.numbers if n.op and not n.date_start]
    bounds = [n._replace(until=None) for n in numbers]
    bounds += [n._replace(op="<=", value=n.until, until=None) for n in numbers if n.until is not None]
    spans = [(c.start, c.end) for c in cues] + [(n.start, n.end) for n in bounds]
    used = {i for start, end in spans for i in range(start, end)} | _shown_words(links, earlier, graph)
    result = pattern("dialogue", "result")
    unused = (t for i, t in enumerate(question.tokens) if i not in used and i not in question.stopwords)
    # Other words than those for the result ("list", "them"). "heavier than 90" says what is bounded.
    if any(not result.search(t.norm) for t in unused) or any(n.concepts for n in bounds):
        return None
    if bounds:
        return _add_bound(earlier, bounds, graph) if how in _BOUNDING_CHANGES else None
    comparison = _value_of(cues, "compare")
    if comparison:
        return reverse_last_bound(earlier, comparison) if how == "instead" else None  # type: ignore[arg-type]
    if how == "summary" and any(c.kind == "count" for c in cues):
        return count_plan(earlier)
    direction = _value_of(cues, "direction")
    if how == "order" or direction:
        by = _last_value(earlier, graph)
        return replace(earlier, order=Order(by, direction == "down"), limit=None, offset=0) if by is not None else None
    functions = tuple(dict.fromkeys(c.kind for c in sorted(cues) if c.kind in AGGREGATES and c.kind != "count"))
    shown = [value for answer in earlier.answers if isinstance(value := aggregated_value(answer), Attribute)]
    shows_number = bool(shown) and graph.is_numeric(shown[-1].predicate)
    if functions and how != "first" and (shows_number or not OF_NUMBERS & set(functions)):
        keep_others = how == "add" or bool(pattern("dialogue", "add").search(" ".join(t.norm for t in question.tokens)))
        return summarise_plan(earlier, functions, keep_others)  # type: ignore[arg-type]
    return _first_in_order(earlier, _value_of(cues, "most"), how, graph)


def _shown_words(links: Sequence[Link], earlier: Select, graph: SchemaGraph) -> frozenset[int]:
    """The tokens that name the classes and the shown properties of the earlier plan."""
    classes = {v.classes for v in earlier.variables}
    properties = {a.predicate for a in earlier.answers if isinstance(a, Attribute)}
    shown = (
        x
        for x in links
        if (x.kind == "class" and x.exact and graph.nodes[x.refs[0].node].classes in classes)
        or (x.kind == "property" and x.exact and x.refs[0].predicate in properties)
    )
    return frozenset(i for x in shown for i in range(x.start, x.end))


def _value_of(cues: Sequence[Cue], kind: str) -> str:
    return next((c.value for c in cues if c.kind == kind), "")


def _add_bound(earlier: Select, bounds: Sequence[Number], graph: SchemaGraph) -> Select | None:
    """The plan with a bare bound on the number that was bounded before, else on the last number shown, on what it is
    ordered by, or on the only number of the things shown that may be on both sides of the bound."""
    if len(bounds) != 1 or not bounds[0].op:
        return None
    by = earlier.order.by if earlier.order is not None else None
    shown = [a for a in (*earlier.answers, by) if isinstance(a, Attribute) and graph.is_numeric(a.predicate)]
    numbers = _bounded_numbers(earlier, graph) or shown or _numbers_around(earlier, bounds[0].value, graph)
    # "More than 20" after the best chooses among all that the best was chosen from.
    every = replace(earlier, order=None, limit=None, offset=0) if earlier.limit is not None else earlier
    if not numbers:
        return None
    # the bound replaces any other condition on the value
    kept = tuple(f for f in every.filters if f.left != numbers[-1])
    return replace(every, filters=(*kept, Filter(numbers[-1], bounds[0].op, bounds[0].value)))


def _numbers_around(earlier: Select, value: float, graph: SchemaGraph) -> list[Attribute]:
    """The number of the things that a plan shows that has lower and higher values. Empty if there are several."""
    answer = earlier.answers[0]
    if not isinstance(answer, Itself):
        return []
    own = next(v for v in earlier.variables if v.name == answer.variable)
    nodes = [n.index for n in graph.nodes if (n.classes, n.without) == (own.classes, own.without)]
    found = [
        Attribute(answer.variable, predicate)
        for node in nodes[:1]
        for predicate in graph.literals[node]
        if not graph.is_date(predicate) and graph.about(predicate).role != "identifier"
        if (low := graph.about(predicate).minimum) is not None and (high := graph.about(predicate).maximum) is not None
        if low < value < high
    ]
    return found if len(found) == 1 else []


def _first_in_order(earlier: Select, most: str, how: str, graph: SchemaGraph) -> Select | None:
    """The first things by what the plan is ordered by, shows or bounds; as a summary, the highest or lowest value."""
    if not most or how not in _RANKING_CHANGES:
        return None
    descending = most.startswith("up")
    if how == "summary" and earlier.limit is None:
        return summarise_plan(earlier, ("max" if descending else "min",), False)
    if earlier.order is not None:
        return limit_plan(earlier, earlier.order.by, descending)
    by = _last_value(earlier, graph) or next(iter(reversed(_bounded_numbers(earlier, graph))), None)
    is_code = isinstance(by, Attribute) and not (graph.is_numeric(by.predicate) or graph.is_date(by.predicate))
    return limit_plan(earlier, by, descending) if by is not None and not is_code else None


def _bounded_numbers(select: Select, graph: SchemaGraph) -> list[Attribute]:
    return [f.left for f in select.filters if isinstance(f.left, Attribute) and graph.is_numeric(f.left.predicate)]


def _last_value(select: Select, graph: SchemaGraph) -> PlanTerm | None:
    """What to order by if nothing is named: the last number that is shown, else the last value."""
    is_grouped = select.by or select.group
    values = [a for a in select.answers if isinstance(a, Attribute) or (isinstance(a, Aggregate) and is_grouped)]
    numbers = [a for a in values if isinstance(a, Aggregate) or graph.is_numeric(a.predicate)]
    found = numbers or values
    return found[-1] if found else None


YEAR_RANGE = (1000, 2100)  # Numbers that are years unless something else is said (given): from, and before.


def inline_earlier_plans(select: Select, before: Sequence[EarlierTurn]) -> Select:
    """The plan with the things of earlier turns described by the conditions that gave them, as far as possible."""
    for variable in select.variables:
        found = _source_plan(variable, before) if is_from_earlier_turn(variable) else None
        if found is not None:
            source, earlier = found
            select = _inline(select, variable, inline_earlier_plans(source, earlier))
    return select


def replace_thing(select: Select, thing: NameCandidate, lexicon: Lexicon) -> Select | None:
    """The plan about another thing of the same table. None if it names none."""
    for variable in reversed(select.variables):
        relations = {known.relation for key in variable.keys if (known := lexicon.thing(key))}
        if relations and relations <= thing.relations and set(variable.keys) != set(thing.keys):
            other = replace(variable, keys=thing.keys, label=thing.label)
            return replace(select, variables=tuple(other if v is variable else v for v in select.variables))
    return None


def replace_value(select: Select, value: NameCandidate) -> Select | None:
    """The plan with another value of the same property. None if it has no value of it."""
    for each in reversed(select.filters):
        if isinstance(each.left, Attribute) and each.left.predicate == value.predicate and each.op in ("=", "contains"):
            other = replace(each, right=value.value)
            return replace(select, filters=tuple(other if f is each else f for f in select.filters))
    return None


def replace_period(select: Select, first: str, after: str) -> Select | None:
    """The plan in another period, from the day `first` to the one before `after`. None if it has no single period."""
    bounded = {f.left for f in select.filters if f.op == ">="} & {f.left for f in select.filters if f.op == "<"}
    dated = {
        f.left
        for f in select.filters
        if (isinstance(f.right, str) and f.left in bounded)
        or (f.op == "=" and type(f.right) is int and YEAR_RANGE[0] <= f.right < YEAR_RANGE[1])
    }
    if len(dated) != 1:
        return None
    new: dict[str, str | int] = {">=": first, "<": after, "=": int(first[:4])}
    filters = tuple(replace(f, right=new[f.op]) if f.left in dated and f.op in new else f for f in select.filters)
    return replace(select, filters=filters) if filters != select.filters else None


def exclude_thing(select: Select, thing: NameCandidate, graph: SchemaGraph) -> Select | None:
    """The plan without one of the things that it answers with or is about. None if it has no things of that class."""
    answered = [aggregated_value(a).variable for a in select.answers]
    for variable in sorted(select.variables, key=lambda v: v.name not in answered):
        nodes = [n for n in graph.nodes if n.classes == variable.classes and n.without == variable.without]
        if any(thing.relations <= n.relations for n in nodes):
            return exclude_keys(select, variable, thing.keys, thing.label)
    return None


def exclude_keys(select: Select, own: Variable, keys: tuple[str, ...], label: str) -> Select:
    """A select without some things of one of its variables."""
    other = replace(own, name=f"{own.name}_left_out", keys=keys, label=label)
    excluded = Select((Itself(other.name),), (other,))
    return replace(select, filters=(*select.filters, Filter(Itself(own.name), "in", excluded, True)))


def _source_plan(variable: Variable, before: Sequence[EarlierTurn]) -> tuple[Select, Sequence[EarlierTurn]] | None:
    """The plan that gave a variable's things, and the turns before it. None if conditions alone do not give them."""
    for at in range(len(before) - 1, -1, -1):
        plan = before[at].plan
        body = plan.body if plan else None
        body = body.select if isinstance(body, Ask) else body
        if isinstance(body, Select) and set(before[at].keys) == set(variable.keys):
            return (body, before[:at]) if gives_all(body) else None
    return None


def _inline(select: Select, variable: Variable, source: Select) -> Select:
    """A plan in which the conditions of another one restrict one of its variables."""
    own = next(v for v in source.variables if v.name == aggregated_value(source.answers[0]).variable)
    taken = {v.name for v in select.variables}
    names = {own.name: variable.name}
    for each in source.variables:
        if each is not own:
            names[each.name] = free_name(each.name, taken)
            taken.add(names[each.name])
    renamed = with_names(source, names)
    restricted = {v.name: v for v in renamed.variables}
    kept = (restricted.pop(v.name) if v is variable else v for v in select.variables)
    return replace(
        select,
        variables=(*kept, *restricted.values()),
        edges=tuple(dict.fromkeys((*select.edges, *renamed.edges))),
        filters=tuple(dict.fromkeys((*renamed.filters, *select.filters))),
    )
