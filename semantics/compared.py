"""Comparisons of things: work -> a plan of two sides, or what the things asked for are compared with."""

from records.plan import Aggregate, Attribute, Body, Comparison, Compute, Function, Select, Variable
from semantics.candidates import Candidate
from semantics.emit import emit, walk
from semantics.markers import Comparative
from semantics.paths import Access
from semantics.tree import grow
from semantics.work import Node, Parts, Work


def comparison(work: Work) -> Body | None:
    """Two things compared by one measure ("is A longer than B", "how much more is A than B")."""
    marks = [c for c in work.form.comparatives if c.measure or work.form.asked == "amount" or work.attributes]
    than = next((i for i, w in enumerate(work.words) if w in ("than", "before", "after")), None)
    if than is None and "difference" in work.words and "between" in work.words:
        after = work.words.index("between")
        than = next((i for i, w in enumerate(work.words) if w == "and" and i > after), None)
    if than is None or work.form.asked not in ("yesno", "amount"):
        return None
    timed = work.words[than] in ("before", "after")
    if (
        (timed and marks)
        or (not timed and not marks and work.words[than] == "than")
        or (timed and not any(n.start > than and n.keys for n in work.nodes))
    ):
        return None
    mark = marks[0] if marks else Comparative(than, than + 1, work.words[than] == "after", None)
    concepts: tuple[str, ...] = ("year", "date") if timed else ("price", "cost")
    concepts = mark.measure.concepts if mark.measure else concepts
    pick = next(iter(work.attributes), None)
    sides = []
    for nodes in ([n for n in work.nodes if n.start < than], [n for n in work.nodes if n.start > than]):
        side = _side(work, nodes, pick, concepts)
        if side is None:
            return None
        sides.append(side)
    work.compared = True
    if work.form.asked == "amount":
        left, right = sides if mark.descending else sides[::-1]
        return Compute("-", left, right)
    return Compute(">" if mark.descending != work.reversed else "<", sides[0], sides[1])


def _side(work: Work, nodes: list[Node], pick: Candidate | None, concepts: tuple[str, ...]) -> Select | None:
    """The average of the compared property over one side's things."""
    if not nodes:
        return None
    root = nodes[-1] if nodes[-1].role == "class" else nodes[0]
    everything, work.nodes = work.nodes, nodes
    grow(work, root)
    work.nodes = everything
    if pick is not None and work.graph.access(root.relations, pick.predicate):
        predicate, access = pick.predicate, work.graph.access(root.relations, pick.predicate)[0]
        work.used |= pick.covered
    else:
        found = work.measured(root, concepts)
        if found is None:
            return None
        predicate, access, cost = found
        work.reversed = access.reversed
        work.cost += 0.3 * cost
    parts = Parts()
    emit(work, root, parts)
    variable = walk(work, root.name, access.steps, parts)
    return parts.select((Aggregate("avg", Attribute(variable, predicate)),))


def than_what(work: Work, target: Node) -> tuple[str, Access, Comparison, Select] | None:
    """ "Things longer than <thing>", "than the average": the property compared, its way, and the other's value."""
    if "than" not in work.words or not work.form.comparatives:
        return None
    at = work.words.index("than")
    mark = next((c for c in work.form.comparatives if c.end <= at), None)
    others = [n for n in work.nodes if n.start > at and n.keys and n is not target]
    averaged = any(position > at and function == "avg" for position, function in work.form.aggregates)
    if mark is None or not (others or averaged):
        return None
    said = next((p for p in work.attributes if work.graph.access(target.relations, p.predicate)), None)
    if said is not None and mark.measure is None:
        predicate, access = said.predicate, work.graph.access(target.relations, said.predicate)[0]
        work.used |= said.covered
    else:
        found = work.measured(target, mark.measure.concepts) if mark.measure else None
        if found is None:
            return None
        predicate, access, cost = found
        work.cost += 0.3 * cost
    descending = mark.descending != access.reversed
    if averaged:
        inner = Parts(variables=[Variable(target.name + "_all", target.classes, target.without)])
        end = walk(work, target.name + "_all", access.steps, inner)
        work.used |= {position for position, _ in work.form.aggregates}
        function: Function = "avg"
    else:
        other = others[0]
        if not work.graph.access(other.relations, predicate):
            return None
        work.nodes.remove(other)
        work.used |= set(range(other.start, other.end))
        inner = Parts(variables=[Variable(other.name, other.classes, other.without, other.keys, other.label)])
        end = walk(work, other.name, work.graph.access(other.relations, predicate)[0].steps, inner)
        function = "max" if descending else "min"
    value = inner.select((Aggregate(function, Attribute(end, predicate)),))
    work.compared = True
    return predicate, access, ">" if descending else "<", value
