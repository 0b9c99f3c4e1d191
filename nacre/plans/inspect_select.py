"""Find the variables and edges that parts of a select are about: Select -> names of variables, indexes of edges."""

from nacre.records.plan import (
    Aggregate,
    Ask,
    Attribute,
    Body,
    Combine,
    Compute,
    Filter,
    PlanTerm,
    Select,
    Variable,
    aggregated_value,
)


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
    found = {answer_variable(select)}
    for _ in select.edges:
        found |= {n for e in select.edges if {e.subject, e.object} & found for n in (e.subject, e.object)}
    return found


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
    """A select, or the one whose rows a yes-or-no question asks for; None for other plans.

    >>> asked_select(Ask(Select((), ()))) == asked_select(Select((), ()))
    True
    """
    select = body.select if isinstance(body, Ask) else body
    return select if isinstance(select, Select) else None


def named_variables(body: Body) -> list[Variable]:
    """The variables of a plan that name their things, in all of its selects.

    >>> named_variables(Select((), (Variable("a"), Variable("b", keys=("http://e.org/b",)))))[0].name
    'b'
    """
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
