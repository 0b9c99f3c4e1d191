"""Put other things, values or earlier plans into a plan: Select -> Select.

The plan of a follow-up contains the keys of things that an earlier turn gave. `inline_earlier_plans` replaces the keys
by that turn's conditions, so that "and the drying room?" reaches the room that was asked for two turns ago.
"""

from collections.abc import Sequence
from dataclasses import replace

from nacre.plans.merge import free_name, is_from_earlier_turn, rename_edge, rename_filter
from nacre.records.plan import Attribute, Filter, Itself, Select, Variable, aggregated_value
from nacre.records.turn import EarlierTurn
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.names.name_candidate import NameCandidate

# Numbers that are years unless something else is said (given): from, and before.
YEAR_RANGE = (1000, 2100)


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
            other = Variable(f"{variable.name}_left_out", variable.classes, variable.without, thing.keys, thing.label)
            excluded = Select((Itself(other.name),), (other,))
            return replace(select, filters=(*select.filters, Filter(Itself(variable.name), "in", excluded, True)))
    return None


def _source_plan(variable: Variable, before: Sequence[EarlierTurn]) -> tuple[Select, Sequence[EarlierTurn]] | None:
    """The plan that gave a variable's things, and the turns before it. None if conditions alone do not give them."""
    for at in range(len(before) - 1, -1, -1):
        plan = before[at].plan
        body = plan.body if plan else None
        if isinstance(body, Select) and set(before[at].keys) == set(variable.keys):
            is_ranked = body.order is not None or body.limit is not None or body.offset
            owners = {aggregated_value(a).variable for a in body.answers}
            is_grouped = body.group or body.by or len(owners) > 1
            return None if is_ranked or is_grouped else (body, before[:at])
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
    kept = tuple(replace(own, name=v.name) if v is variable else v for v in select.variables)
    added = tuple(replace(v, name=names[v.name]) for v in source.variables if v is not own)
    edges = (rename_edge(e, names) for e in source.edges)
    filters = (rename_filter(f, names) for f in source.filters)
    return replace(
        select,
        variables=(*kept, *added),
        edges=tuple(dict.fromkeys((*select.edges, *edges))),
        filters=tuple(dict.fromkeys((*filters, *select.filters))),
    )
