"""Inspect and merge selects: Select -> names of variables, indexes of edges; two Selects -> the same names; conditions
on values that are written in several ways: a plan -> the plan with all spellings, and what it joins."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from itertools import count
from typing import Any, Literal

from nacre.language.data import WORDS
from nacre.language.spellings import is_similar, is_variant, same_spellings, spelling_key
from nacre.records.evidence import OtherSpelling, Table
from nacre.records.plan import (
    EXTREMES,
    Aggregate,
    Ask,
    Attribute,
    Body,
    Combine,
    Compute,
    Edge,
    Filter,
    Itself,
    Order,
    Plan,
    PlanTerm,
    Select,
    Variable,
    aggregated_value,
)
from nacre.records.schema import DEPRECATED, Predicate, Schema


def answer_variable(select: Select) -> str:
    """The variable of the last answer; "" without answers."""
    return variable_of(select.answers[-1]) if select.answers else ""


def ordered_variable(select: Select) -> str:
    """The variable whose things are ordered; "" without an order."""
    order = select.order
    if order is None:
        return ""
    if isinstance(order.by, Aggregate):
        return select.group[0] if select.group else answer_variable(select)
    return order.by.variable if order.by.variable in connected_variables(select) else answer_variable(select)


def connected_variables(select: Select) -> set[str]:
    """The variables that edges connect with the answer."""
    return _reached(answer_variable(select), select.edges)


def edges_at(select: Select, name: str) -> frozenset[int]:
    """The edges that start or end at a variable."""
    return frozenset(i for i, e in enumerate(select.edges) if name in (e.subject, e.object))


def group_edges(select: Select) -> frozenset[int]:
    """The edges that lead to the groups, which "for each stadium" says."""
    ends = set(select.group) or {each.variable for each in select.by} - _computed(select)
    return frozenset(i for i, e in enumerate(select.edges) if {e.subject, e.object} & ends)


def computed_edges(select: Select) -> frozenset[int]:
    """The edges that lead to what is computed."""
    own = _computed(select) - set(select.group)
    return frozenset(i for i, e in enumerate(select.edges) if {e.subject, e.object} & own)


def _computed(select: Select) -> set[str]:
    return {variable_of(a) for a in select.answers if isinstance(a, Aggregate)}


def counted_edges(select: Select) -> frozenset[int]:
    """The edges to what groups are ordered or filtered by, which "with the most concerts" says."""
    order = select.order
    by = [order.by] if order is not None and isinstance(order.by, Aggregate) else []
    by += [f.left for f in select.filters if isinstance(f.left, Aggregate)]
    ends = {variable_of(each) for each in by} - {*select.group, counted_for(select)}
    direct = frozenset(i for i, e in enumerate(select.edges) if {e.subject, e.object} & ends)
    return direct.union(*(counted_path(select, end) for end in ends))


def branches(select: Select, root: str) -> list[frozenset[str]]:
    """The groups of variables that edges connect without a variable, in their order."""
    edges = [each for each in select.edges if root not in (each.subject, each.object)]
    others = (v.name for v in select.variables if v.name != root)
    return list(dict.fromkeys(frozenset(_reached(name, edges)) for name in others))


def measure_parts(select: Select) -> tuple[Select, ...]:
    """First the things that a select groups by, under the conditions on them alone, then for each branch of variables
    that it computes something over a select of its own: "the total amount of orders and the number of tickets for each
    customer" are two. None for other selects, whose groups have several things or are ranked.
    """
    root, of_groups = counted_for(select), [a for a in select.answers if not isinstance(a, Aggregate)]
    is_grouped = of_groups and {*of_groups} == {*map(Itself, select.group), *select.by}
    if (
        not is_grouped
        or len(of_groups) > 1
        or select.order
        or any(isinstance(f.left, Aggregate) for f in select.filters)
    ):
        return ()
    own = branches(select, root)
    computed: dict[frozenset[str], list[PlanTerm]] = {}
    for answer in select.answers:
        if isinstance(answer, Aggregate):
            branch = next((each for each in own if answer.of.variable in each), frozenset[str]())
            computed.setdefault(branch, []).append(answer)
    conditions = {root}.union(*(each for each in own if each not in computed))

    def part(answers: Sequence[PlanTerm], names: Collection[str]) -> Select:
        edges = (e for e in select.edges if {e.subject, e.object} <= {*names})
        filters = (f for f in select.filters if filtered_variable(f) in names)
        variables = (v for v in select.variables if v.name in names)
        kept = replace(select, answers=tuple(answers), zeros=False, variables=tuple(variables))
        return replace(kept, edges=tuple(edges), filters=tuple(filters))

    groups = replace(part(of_groups, conditions), group=(), by=())
    return (groups, *(part([*of_groups, *terms], conditions | branch) for branch, terms in computed.items()))


def join_measures(first: Select, second: Select) -> Select | None:
    """The numbers of two selects side by side, if they have the same groups. Branches that differ stay apart."""
    root = counted_for(first)
    groups, others = measure_parts(first)[:1], measure_parts(second)[:1]
    if not groups or groups != others:
        return None
    known = {branch: _branch_content(first, branch) for branch in branches(first, root)}
    taken, names = {v.name for v in first.variables}, {root: root}
    for branch in branches(second, root):
        is_same = known.get(branch) == _branch_content(second, branch)
        for name in sorted(branch):
            names[name] = name if is_same else free_name(name, taken)
            taken.add(names[name])
    added = with_names(second, names)
    return replace(
        first,
        answers=tuple(dict.fromkeys((*first.answers, *added.answers))),
        variables=tuple(dict.fromkeys((*first.variables, *added.variables))),
        edges=tuple(dict.fromkeys((*first.edges, *added.edges))),
        filters=tuple(dict.fromkeys((*first.filters, *added.filters))),
        zeros=first.zeros or second.zeros,
    )


def _branch_content(select: Select, branch: Collection[str]) -> frozenset[object]:
    """All that a select says of the variables of a branch."""
    edges = (e for e in select.edges if {e.subject, e.object} & {*branch})
    filters = (f for f in select.filters if filtered_variable(f) in branch)
    return frozenset((*edges, *filters, *(v for v in select.variables if v.name in branch)))


def _reached(name: str, edges: Sequence[Edge]) -> set[str]:
    found = {name}
    for _ in edges:
        found |= {end for e in edges if {e.subject, e.object} & found for end in (e.subject, e.object)}
    return found


def counted_for(select: Select) -> str:
    """The variable that things are counted for; "" without groups."""
    return select.group[0] if select.group else select.by[0].variable if select.by else ""


def counted_path(select: Select, name: str) -> frozenset[int]:
    """The edges from what is counted to what it is counted for; empty if anything on the path has a condition."""
    restricted = {filtered_variable(f) for f in select.filters if not isinstance(f.left, Aggregate)}
    restricted |= {variable_of(a) for a in select.answers} - {counted_for(select)}
    named = {v.name for v in select.variables if v.keys}
    path: list[int] = []
    current = name
    while current != counted_for(select):
        edges = [i for i, e in enumerate(select.edges) if i not in path and current in (e.subject, e.object)]
        if len(edges) != 1 or current in restricted or current in named:
            return frozenset()
        edge = select.edges[edges[0]]
        path.append(edges[0])
        current = edge.object if edge.subject == current else edge.subject
    return frozenset(path)


def asked_select(body: Body) -> Select | None:
    """A select, or the one whose rows a yes-or-no question asks for; None for other plans."""
    select = body.select if isinstance(body, Ask) else body
    return select if isinstance(select, Select) else None


def named_variables(body: Body) -> list[Variable]:
    """The variables of a plan that name their things, in all of its selects."""
    return [variable for select in selects_of(body) for variable in select.variables if variable.keys]


def selects_of(body: Body) -> list[Select]:
    """The selects of a plan, each before those in its filters. A description or an overview has none."""
    match body:
        case Select():
            inner = [f.right for f in body.filters if isinstance(f.right, Select)]
            return [body, *(each for select in inner for each in selects_of(select))]
        case Combine() | Compute():
            return [*selects_of(body.left), *selects_of(body.right)]
        case Ask():
            return selects_of(body.select)
    return []


def is_redundant_known(select: Select, each: Filter) -> bool:
    """Whether a filter only says that a value is known which another part of the select uses."""
    if each.op != "known" or each.negated:
        return False
    order = select.order
    others = [f.left for f in select.filters if f.op != "known"]
    terms = [*others, *select.answers, *([order.by] if order is not None else [])]
    return each.left in [aggregated_value(t) for t in terms]


def variable_of(term: PlanTerm) -> str:
    """The variable that a term is about."""
    return term.of.variable if isinstance(term, Aggregate) else term.variable


def filtered_variable(each: Filter) -> str:
    """The variable that a condition restricts."""
    return variable_of(each.left)


def predicates_of(select: Select) -> set[str]:
    """The predicates of a select and of its inner selects."""
    found = {edge.predicate for edge in select.edges}
    inner = [f.right for f in select.filters if isinstance(f.right, Select)]
    terms = [*select.answers, *select.by, *(f.left for f in select.filters), *(f.right for f in select.filters)]
    terms += [select.order.by] if select.order else []
    for term in terms:
        of = term.of if isinstance(term, Aggregate) else term
        found |= {of.predicate} if isinstance(of, Attribute) else set()
    return found.union(*(predicates_of(each) for each in inner))


def compared_predicates(body: Body) -> dict[str, None]:
    """The properties whose values a plan compares, sorts by or computes with."""
    terms: list[PlanTerm] = []
    for select in selects_of(body):
        terms += [each for each in select.answers if isinstance(body, Compute) or isinstance(each, Aggregate)]
        terms += [each.left for each in select.filters if each.op[0] in "<>"]
        terms += [select.order.by] if select.order is not None else []
    return {of.predicate: None for of in map(aggregated_value, terms) if isinstance(of, Attribute)}


def merge_selects(earlier: Select, new: Select) -> tuple[Select, Select] | None:
    """The earlier select with the variables of the new one, and the new one with the same names; or None."""
    owners = list(dict.fromkeys(aggregated_value(a).variable for a in earlier.answers))
    known = sorted(earlier.variables, key=lambda v: owners.index(v.name) if v.name in owners else len(owners))
    names: dict[str, str] = {}
    for variable in sorted(new.variables, key=lambda v: not v.keys):
        alike = (k for k in known if (k.classes, k.any_of) == (variable.classes, variable.any_of))
        same = next((k.name for k in alike if k.name not in names.values()), "")
        names |= {variable.name: same} if same else {}
    if not names:
        return None
    taken = {v.name for v in earlier.variables}
    variables = list(earlier.variables)
    for variable in new.variables:
        if variable.name in names:
            continue
        name = free_name(variable.name, taken)
        taken.add(name)
        names[variable.name] = name
        variables.append(replace(variable, name=name))
    renamed = with_names(new, names)
    edges = tuple(dict.fromkeys((*earlier.edges, *renamed.edges)))
    # things of an earlier turn are given by their conditions, not by their keys
    old = {v.name: v for v in earlier.variables}
    own = tuple(replace(v, keys=()) if v.name in old and is_from_earlier_turn(v) else v for v in renamed.variables)
    named = {v.name: v for v in own if v.keys}
    merged = tuple(replace(named.get(v.name, v), classes=v.classes, without=v.without) for v in variables)
    return replace(earlier, variables=merged, edges=edges), replace(renamed, variables=own)


# ends the label of a variable for things of an earlier turn (see understanding/dialogue/references/scope.py)
EARLIER_TURN_MARK = "of before)"


def is_from_earlier_turn(variable: Variable) -> bool:
    """Whether a variable stands for things of an earlier answer."""
    return variable.label.endswith(EARLIER_TURN_MARK)


def gives_all(body: Body | None) -> bool:
    """Whether the conditions of a plan alone give its things: it neither ranks nor groups them."""
    if not isinstance(body, Select) or body.order is not None or body.limit is not None or body.offset:
        return False
    return not (body.group or body.by or len({aggregated_value(a).variable for a in body.answers}) > 1)


def leaves_out_earlier(body: Body) -> bool:
    """Whether a plan asks for other things than those of earlier answers."""
    select = asked_select(body)
    left_out = (each.right for each in (select.filters if select is not None else ()) if each.negated)
    return any(isinstance(each, Select) and any(map(is_from_earlier_turn, each.variables)) for each in left_out)


def free_name(wanted: str, taken: Collection[str]) -> str:
    """The name, with a number if it is taken."""
    return next(n for k in count(1) if (n := f"{wanted}_{k}" if k > 1 else wanted) not in taken)


def with_names(select: Select, names: Mapping[str, str]) -> Select:
    """The select with renamed variables."""

    def renamed(term: Any) -> Any:
        if isinstance(term, Aggregate):
            return replace(term, of=renamed(term.of))
        return replace(term, variable=names[term.variable]) if isinstance(term, Attribute | Itself) else term

    return replace(
        select,
        answers=tuple(map(renamed, select.answers)),
        variables=tuple(replace(v, name=names[v.name]) for v in select.variables),
        edges=tuple(Edge(names[e.subject], e.predicate, names[e.object]) for e in select.edges),
        filters=tuple(replace(f, left=renamed(f.left), right=renamed(f.right)) for f in select.filters),
        group=tuple(names[g] for g in select.group),
        by=tuple(map(renamed, select.by)),
        order=None if select.order is None else replace(select.order, by=renamed(select.order.by)),
    )


UNKNOWN_TRUTH = Table(("yes",), ((None,),), ((),), ("",))  # neither yes nor no


def unstated_values(select: Select, schema: Schema) -> Iterator[Select]:
    """For each compared property of a named thing, the select that must have rows before "no" is certain."""
    named = {v.name: v for v in select.variables if v.keys}
    for condition in select.filters:
        left = condition.left
        if not isinstance(left, Attribute) or left.variable not in named or condition.op in ("known", "unknown"):
            continue
        if _states_no(condition, left.predicate, schema):
            thing = named[left.variable]
            yield Select((Itself(thing.name),), (thing,), filters=(Filter(left, "known"),), limit=1)


def is_unknown_truth(table: Table) -> bool:
    """Whether a table answers a yes-or-no question with "unknown"."""
    return table == UNKNOWN_TRUTH


def _states_no(condition: Filter, predicate: str, schema: Schema) -> bool:
    """Whether the graph states a "no" of this property; any other value counts as stated."""
    about = schema.predicate_of[predicate]
    values = {value.casefold() for value in about.values}
    flag = about.datatype == "boolean" or (bool(values) and values <= WORDS["holding"] | WORDS["lacking"])
    if not flag or condition.op != "=":
        return True
    return bool(values & WORDS["lacking"]) if values else about.objects > 1


def compare_periods(select: Select, schema: Schema, *, possible: bool = False) -> Select:
    """The select with its periods compared by the days that make a condition sure, or only `possible`: "before 1920"
    is what ends before. In an order, the newest thing is the one that surely is so new. A select that was changed
    stays as it is."""
    if not schema.periods:
        return select
    order = select.order
    if order is not None and isinstance(order.by, Attribute):
        end: Literal["low", "high"] = "low" if order.descending or select.limit is None else "high"
        order = replace(order, by=_period_end(order.by, end, schema))
    return replace(
        select, filters=tuple(f for each in select.filters for f in _compared(each, schema, possible)), order=order
    )


def extreme_period(select: Select, schema: Schema) -> Select:
    """The select with the earliest or latest of its periods as the first in an order; other selects unchanged."""
    answer = select.answers[0] if len(select.answers) == 1 else None
    if not isinstance(answer, Aggregate) or answer.function not in EXTREMES or select.group or select.by:
        return select
    if not isinstance(answer.of, Attribute) or answer.of.predicate not in schema.periods:
        return select
    return replace(select, answers=(answer.of,), order=Order(answer.of, answer.function == "max"), limit=1)


def _compared(each: Filter, schema: Schema, possible: bool) -> Iterator[Filter]:
    """A filter by the days that it has to be compared with; two if both ends have to be the same."""
    loose = possible != each.negated
    right = each.right
    if isinstance(right, Select):
        right = compare_periods(right, schema, possible=loose)
    upper = each.op.startswith("<")
    end: Literal["low", "high"] = "high" if upper != loose else "low"
    other: Literal["low", "high"] = "low" if end == "high" else "high"
    left = each.left
    if each.op in ("<", "<=", ">", ">="):
        if isinstance(left, Attribute):
            left = _period_end(left, end, schema)
        if isinstance(right, Attribute):
            right = _period_end(right, other, schema)
        if isinstance(right, Select):
            right = replace(right, answers=tuple(_answer_end(a, other, schema) for a in right.answers))
    if each.op in ("contains", "ends") and isinstance(left, Attribute) and left.predicate in schema.periods:
        # a month or day of any year
        yield replace(each, left=_period_end(left, "low", schema))
        if not loose:
            yield replace(each, left=_period_end(left, "high", schema))
        return
    yield replace(each, left=left, right=right)


def _answer_end(answer: PlanTerm, end: Literal["low", "high"], schema: Schema) -> PlanTerm:
    if isinstance(answer, Aggregate) and isinstance(answer.of, Attribute) and answer.function in EXTREMES:
        return replace(answer, of=_period_end(answer.of, end, schema))
    return _period_end(answer, end, schema) if isinstance(answer, Attribute) else answer


def _period_end(term: Attribute, end: Literal["low", "high"], schema: Schema) -> Attribute:
    return replace(term, part=end) if term.predicate in schema.periods and not term.part else term


def plan_elements(body: Body) -> frozenset[str]:
    """The IRIs of the classes and predicates of a plan."""
    found: set[str] = set()
    for each in plan_parts(body):
        if isinstance(each, Variable):
            found.update((*each.classes, *each.any_of))
        elif isinstance(each, Edge | Attribute):
            found.add(each.predicate)
    return frozenset(found)


def plan_parts(record: object) -> Iterator[object]:
    """All records of a plan, from outside in."""
    if isinstance(record, tuple):
        for each in record:
            yield from plan_parts(each)
    elif is_dataclass(record) and not isinstance(record, type):
        yield record
        for each in fields(record):
            yield from plan_parts(getattr(record, each.name))


# Conditions on values that are written in several ways. Spellings that differ by case, spaces, Unicode form or
# punctuation alone are one value. Variants are joined too, but named; values that may be misspellings are only named,
# and so are groups by values that may be one.
_NO = (("!=", True), ("=", False))

# spellings that are named
MAX_NAMED = 5


def join_spellings(body: Select | Combine | Ask | Compute, schema: Schema) -> Select | Combine | Ask | Compute:
    """The plan whose conditions on a value hold for all its spellings and variants."""
    if isinstance(body, Ask):
        return replace(body, select=_joined(body.select, schema))
    if isinstance(body, Select):
        return _joined(body, schema)
    return replace(body, left=_joined(body.left, schema), right=_joined(body.right, schema))


def other_spellings(
    select: Select, schema: Schema, things: Callable[[Select, str], tuple[Sequence[object], bool] | None]
) -> Iterator[OtherSpelling]:
    """The variants that were joined, and likely misspellings of named values, each with its number of things."""
    for place, each in enumerate(select.filters):
        value = _value(each)
        if value is None:
            continue
        known = _values(each.left, schema, value)
        same = same_spellings(value, known)
        variants = _variants(value, known)
        named = [(other, True) for other in variants if other not in same]
        near = [other for other in known if other not in same and other not in variants]
        named += [(other, False) for other in near if is_similar(value, other)]
        for other, is_joined in named[:MAX_NAMED]:
            filters = list(select.filters)
            filters[place] = replace(each, op="in", right=(other,), negated=False)
            one = replace(select, filters=tuple(filters), order=None, limit=None, offset=0)
            found = things(one, answer_variable(one))
            count = None if found is None or found[1] else len(found[0])
            yield OtherSpelling(value, other, count, is_joined)
    counted = [each.of for each in select.answers if isinstance(each, Aggregate) and each.function == "count"]
    for term in (*select.by, *counted):
        about = _texts(term, schema)
        left = list(about.values) if about else []
        for value, *others in about.spellings[:MAX_NAMED] if about else ():
            yield from (OtherSpelling(value, other, None, False) for other in others[:MAX_NAMED])
        while left:
            value, *others = left
            key, alike = spelling_key(value), list[str]()
            for other in others:
                if spelling_key(other) == key or is_variant(value, other) or is_similar(value, other):
                    alike.append(other)
            yield from (OtherSpelling(value, other, None, False) for other in alike[:MAX_NAMED])
            left = [other for other in others if other not in alike]


def _joined(select: Select, schema: Schema) -> Select:
    return replace(select, filters=tuple(_condition(each, schema) for each in select.filters))


def _condition(condition: Filter, schema: Schema) -> Filter:
    if isinstance(condition.right, Select):
        return replace(condition, right=_joined(condition.right, schema))
    left = condition.left
    if isinstance(left, Attribute) and left.predicate == DEPRECATED and (condition.op, condition.right) in _NO:
        # what is not deprecated does not say so
        return Filter(left, "unknown")
    value = _value(condition)
    if value is None:
        return condition
    found = _variants(value, _values(condition.left, schema, value))
    return replace(condition, op="in", right=found) if len(found) > 1 else condition


def _value(condition: Filter) -> str | None:
    right = condition.right[0] if isinstance(condition.right, tuple) and condition.right else condition.right
    is_text = isinstance(right, str) and isinstance(condition.left, Attribute) and condition.op in ("=", "in")
    return right if is_text and isinstance(right, str) else None


def _values(term: PlanTerm, schema: Schema, value: str) -> tuple[str, ...]:
    """The values of a property of texts, if they are few; of others those that are a value in other spellings."""
    about = _texts(term, schema)
    if about is None:
        return ()
    return about.values or next((group for group in about.spellings if value in group), ())


def _texts(term: PlanTerm, schema: Schema) -> Predicate | None:
    about = schema.predicate_of.get(term.predicate) if isinstance(term, Attribute) else None
    return about if about is not None and about.datatype == "text" else None


def _variants(value: str, known: tuple[str, ...]) -> tuple[str, ...]:
    """All ways in which a value is written among those of its property, itself first."""
    found = dict.fromkeys(same_spellings(value, known))
    for other in known:
        if other not in found and is_variant(value, other):
            found |= dict.fromkeys(same_spellings(other, known))
    return tuple(found)


def is_variant_plan(plan: Plan, other: Plan) -> bool:
    """Whether two plans differ only in conditions that one of them leaves out, or in that one adds up the values that
    the other lists, or whether the first gives all things of a class that the other is about in part."""
    one, two = plan.body, other.body
    if not isinstance(one, Select) or not isinstance(two, Select):
        return False
    gives_all, is_of_all = (
        not (each.edges or each.filters or each.order or any(variable.keys for variable in each.variables))
        for each in (one, two)
    )
    # the things are no variant of their number
    counts_all = is_of_all and all(isinstance(each, Aggregate) for each in two.answers)
    if gives_all and not counts_all and all(isinstance(each, Itself) for each in one.answers):
        return {each.classes for each in one.variables} <= {each.classes for each in two.variables}
    few, many = sorted((set(one.filters), set(two.filters)), key=len)
    listed = [
        tuple(a.of if isinstance(a, Aggregate) and a.function == "sum" else a for a in each.answers)
        for each in (one, two)
    ]
    same = replace(one, filters=(), answers=()) == replace(two, filters=(), answers=())
    return same and listed[0] == listed[1] and few <= many
