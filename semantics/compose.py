"""Compose a plan from what the spans of a question name: picks + form -> drafts (after DCS: trees over the schema)."""

from dataclasses import replace

from records.plan import (
    Aggregate,
    Ask,
    Attribute,
    Body,
    Compute,
    Filter,
    Function,
    Itself,
    Select,
    Term,
    Variable,
)
from semantics.candidates import Candidate
from semantics.compared import comparison, than_what
from semantics.conditions import conditions
from semantics.emit import emit, walk
from semantics.order import ranking
from semantics.superlative_names import ranked_by_name, whose
from semantics.target import target
from semantics.things import make_nodes
from semantics.tree import grow
from semantics.work import Draft, Node, Parts, Work


def compose(work: Work) -> Draft | None:
    """The plan these picks allow; None where they do not hang together."""
    is_a = _is_a(work)
    if is_a is not None:
        return is_a
    make_nodes(work)
    ranked_by_name(work)
    body = comparison(work) or _yes_no(work) or _main(work)
    if body is None:
        return None
    body = _for_each(work, body)
    if "than" in work.words and work.form.comparatives and not work.compared:
        # a comparison was said and found no place
        work.dropped += 1
    if work.form.asked == "yesno" and not isinstance(body, Ask | Compute):
        # a property is no answer to "can it ..."
        work.dropped += 1
    return Draft(body, -work.cost, frozenset(work.used), work.dropped)


def _is_a(work: Work) -> Draft | None:
    """ "Is X a Y": whether a named thing is of a kind."""
    named = sorted((p for p in work.picks if p.kind in ("entity", "class")), key=lambda p: p.start)
    if work.form.asked != "yesno" or len(named) != 2 or len(named) != len(work.picks):
        return None
    thing, kind = named
    between = set(work.words[thing.end : kind.start])
    if thing.kind != "entity" or kind.kind != "class" or not between or not between <= {"a", "an", "one", "of", "the"}:
        return None
    if kind.end < len(work.words) or thing.start > 1 or not kind.classes:
        return None
    variable = Variable(work.fresh(thing.label), kind.classes, kind.without, thing.keys, thing.label)
    used = frozenset(work.used | thing.covered | kind.covered)
    # of several things of the name, one that is of the kind may be meant
    cost = 0.0 if thing.relations & kind.relations else 0.5
    return Draft(Ask(Select((Itself(variable.name),), (variable,))), -cost, used)


def _for_each(work: Work, body: Body) -> Body:
    """ "How many X per Y", "the average P of each Y": one number for each of them, where one for all was composed."""
    if not isinstance(body, Select) or body.group or body.order or len(body.answers) != 1:
        return body
    (answer,) = body.answers
    if not isinstance(answer, Aggregate):
        return body
    names = {variable.name for variable in body.variables}
    for node in work.nodes:
        before = [w for w in work.words[max(0, node.start - 2) : node.start] if w not in ("single", "one")]
        each = before[-1:] in (["per"], ["each"], ["every"]) and node.role == "class" and not node.keys
        if each and node.name in names and answer.of != Itself(node.name):
            return replace(body, answers=(Itself(node.name), answer), group=(node.name,))
    return body


def _main(work: Work) -> Body | None:
    wanted = target(work)
    if wanted is None:
        return None
    if wanted.pick is not None:
        return _attribute_plan(work, wanted.pick)
    return _node_plan(work, wanted.node, wanted.count) if wanted.node is not None else None


def _node_plan(work: Work, target: Node, count: bool) -> Body | None:
    than = than_what(work, target)
    besides = [] if count else [p for p in work.links if _said_beside(work, p)]
    work.links = [p for p in work.links if p not in besides]
    grow(work, target)
    if not count and target.relations <= work.graph.unnamed and not _noun(work, target):
        # a thing without a name tells nobody anything
        work.cost += 8.0
    if count and target.role == "entity":
        return None
    if target.role == "entity" and work.form.asked != "fragment" and work.words[-1] not in ("called", "named"):
        # what was named is not what was asked for
        return None
    parts = Parts()
    emit(work, target, parts)
    if target.role == "link" and not parts.edges:
        whose(work, target, parts)
    ranked = ranking(work, target, parts)
    group = ranked.group
    conditions(work, target, parts)
    if than is not None:
        attribute, access, op, other = than
        variable = walk(work, target.name, access.steps, parts)
        parts.filters.append(Filter(Attribute(variable, attribute), op, other))
    if any(isinstance(f.left, Aggregate) for f in parts.filters):
        group = (target.name,)
    beside: tuple[Term, ...] = () if count or group else _beside(work, target, parts)
    beside += tuple(term for pick in besides for term in _end(work, target, pick, parts))
    select = parts.select((Itself(target.name), *beside), group, ranked.order, ranked.limit, ranked.offset)
    averaged = ranked.order is not None and isinstance(ranked.order.by, Aggregate)
    for position, function in work.form.aggregates:
        if count and function == "sum":
            continue
        if not averaged and not any(position in p.covered for p in work.picks):
            work.used.discard(position)
            work.cost += 1.0
    if beside:
        select = replace(select, paired=True)
    if count and ranked.order is None and not group:
        return replace(select, answers=(Aggregate("count", Itself(target.name)),))
    if count:
        return Select(
            (Aggregate("count", Itself("counted")),),
            (Variable("counted", target.classes, target.without),),
            (),
            (Filter(Itself("counted"), "in", select),),
        )
    return select


def _noun(work: Work, node: Node) -> bool:
    """Is the class said as a noun of its own: "which loans", not "what was loaned"?"""
    said = any(p.kind == "class" and p.start <= node.start < p.end for p in work.picks)
    return said and not work.words[node.end - 1].endswith(("ed", "ing"))


def _said_beside(work: Work, pick: Candidate) -> bool:
    """ "... and who made them", "... and their makers": a link asked for beside the things themselves."""
    before = work.words[max(0, pick.start - 3) : pick.start]
    told = {"who", "their", "its", "his", "her", "where", "the"} & set(before)
    following = any(n.start >= pick.end for n in work.nodes)
    return "and" in before and bool(told) and not following


def _end(work: Work, target: Node, pick: Candidate, parts: Parts) -> tuple[Itself, ...]:
    """What a link of the things asked for leads to."""
    steps = [s for r in sorted(target.relations) for s in work.graph.steps[r] if s.predicate == pick.predicate]
    if not steps:
        return ()
    work.used |= pick.covered
    return (Itself(walk(work, target.name, (steps[0],), parts)),)


def _beside(work: Work, target: Node, parts: Parts) -> tuple[Attribute, ...]:
    """ "... and its price": a property asked for beside the thing itself."""
    for pick in work.attributes:
        before = set(work.words[max(0, pick.start - 5) : pick.start])
        ways = work.graph.access(target.relations, pick.predicate)
        of_it = "and" in before or ("with" in before and work.words[pick.start - 1] in ("its", "their"))
        ranks = any(s.end == pick.start for s in work.form.superlatives)
        if of_it and not ranks and ways and not work.bounded(pick):
            work.used |= pick.covered
            return (Attribute(walk(work, target.name, ways[0].steps, parts), pick.predicate),)
    return ()


def _attribute_plan(work: Work, pick: Candidate) -> Body | None:
    work.used |= pick.covered
    work.cost += 2.0 * (1 - pick.score) if pick.score < 0.6 else 0.0
    owner = _owner(work, pick)
    if owner is None:
        return None
    for other in [n for n in work.nodes if n is not owner and n.keys and owner.keys and n.relations == owner.relations]:
        # "the height of A and B": a property of several things
        owner.keys = tuple(dict.fromkeys((*owner.keys, *other.keys)))
        work.nodes.remove(other)
    grow(work, owner)
    parts = Parts()
    emit(work, owner, parts)
    ways = work.graph.access(owner.relations, pick.predicate)
    if not ways:
        return None
    access = ways[0]
    work.cost += access.cost
    variable = walk(work, owner.name, access.steps, parts)
    function = _function(work, pick)
    ranked = ranking(work, owner, parts, wanted=pick)
    conditions(work, owner, parts)
    attribute = Attribute(variable, pick.predicate)
    if any(f.op == "=" and f.left == attribute and isinstance(f.right, str) for f in parts.filters):
        # a value that is said is not asked for
        work.cost += 2.0
    if work.schema.predicate_of[pick.predicate].role == "name" and len(owner.keys) == 1 and not pick.exact:
        # nor is the name of what was named, in words that do not ask for a name
        work.cost += 4.0
        work.dropped += 1
    numeric = work.schema.predicate_of[pick.predicate].minimum is not None
    if work.form.asked == "count" and not numeric:
        function = "count"
    if function and (numeric or function == "count"):
        part = {"min": "low", "max": "high"}.get(function, "")
        if work.schema.predicate_of[pick.predicate].shape != "range":
            part = ""
        answers: tuple[Term, ...] = (Aggregate(function, replace(attribute, part=part)),)  # type: ignore[arg-type]
        return parts.select(answers)
    # several things, or many one step away: each value is said with what it belongs to
    backward = bool(access.steps) and not access.steps[0].forward
    shown = variable if backward or not owner.keys else owner.name
    answers = (Itself(shown), attribute)
    return parts.select(answers, ranked.group, ranked.order, ranked.limit, ranked.offset)


def _function(work: Work, pick: Candidate) -> Function | None:
    for position, function in work.form.aggregates:
        if position not in pick.covered:
            return function
    for marker in work.supers:
        if marker.end == pick.start and marker.measure is not None and marker.place == 1:
            work.supers.remove(marker)
            return "max" if marker.descending else "min"
    return None


def _owner(work: Work, pick: Candidate) -> Node | None:
    """The thing whose property is asked for: the nearest that has it, those after "of" first."""
    best: tuple[float, Node] | None = None
    for link in list(work.links):
        if link.start > pick.end and work.noun_between(link):
            work.link_node(link)
    for node in work.nodes:
        ways = work.graph.access(node.relations, pick.predicate)
        if not ways or work.beside_class(node) is not None:
            continue
        between = sum(
            1 for n in work.nodes if min(pick.end, node.end) <= n.start < max(pick.start, node.start) and n is not node
        )
        cost = ways[0].cost + 0.35 * between + (0.0 if node.start > pick.start else 0.15)
        if best is None or cost < best[0]:
            best = cost, node
    if best is not None:
        return best[1]
    if work.nodes:
        return None
    relations = sorted(((n, r) for (r, p), n in work.graph.facts.items() if p == pick.predicate), reverse=True)
    if not relations or work.form.asked in ("fragment",):
        return None
    only = frozenset((relations[0][1],))
    classes, without = work.type_of(only)
    node = Node(work.fresh(relations[0][1]), pick.end, pick.end, "class", only, classes, without)
    work.nodes.append(node)
    return node


def _yes_no(work: Work) -> Body | None:
    if work.form.asked != "yesno" or not work.nodes:
        return None
    root = work.nodes[0]
    grow(work, root)
    parts = Parts()
    emit(work, root, parts)
    conditions(work, root, parts)
    if len(parts.filters) + len(parts.edges) == 0:
        if root.keys:
            # that a thing is named says nothing about it
            return None
        work.cost += 0.8
    return Ask(parts.select((Itself(root.name),)))
