"""Attach every thing to the one it belongs to: nodes -> tree over the schema graph (least cost of way and distance)."""

from semantics.candidates import Candidate
from semantics.english import toward
from semantics.paths import Path
from semantics.words import lemma
from semantics.work import Node, Work


def grow(work: Work, root: Node) -> None:
    """Attach every node to the one it belongs to: the least cost of way, distance and words in between."""
    for pick in work.links:
        ranked = any(s.end == pick.start for s in work.supers)
        if pick.start not in work.spent_links and (ranked or work.noun_between(pick)):
            work.link_node(pick)
    placed, waiting = [root], [n for n in work.nodes if n is not root]
    while waiting:
        best: tuple[float, int, int, Node, Node, Path] | None = None
        for child in waiting:
            for parent in placed:
                way = _way(work, parent, child)
                if way is None:
                    continue
                cost = way.cost + _distance(work, parent, child, placed)
                key = (cost, child.start, -parent.start)
                if best is None or key < best[:3]:
                    best = (*key, parent, child, way)
        if best is None:
            work.cost += 1.5 * len(waiting)
            for node in waiting:
                work.used -= set(range(node.start, node.end))
            return
        cost, _, _, parent, child, way = best
        work.cost += way.cost
        child.parent = parent
        parent.children.append(child)
        work.ways[child.name] = way
        placed.append(child)
        waiting.remove(child)


def _way(work: Work, parent: Node, child: Node) -> Path | None:
    if child.role == "link":
        return _way_by(work, parent, child, child.predicate, forward=not child.backward)
    if (
        parent.role == "link"
        and parent.parent is None
        and not any(
            c.parent is parent
            for c in work.nodes
            if c.role != "x" and work.ways.get(c.name) and work.ways[c.name].steps[-1].predicate == parent.predicate
        )
    ):
        found = _way_by(work, parent, child, parent.predicate, forward=parent.backward)
        if found:
            return found
    ways = work.graph.paths(parent.relations, child.relations)
    if not ways:
        return None
    said = {p.predicate: p for p in work.links}
    best: tuple[float, Path] | None = None
    for way in ways:
        bonus = 0.0
        if any(step.predicate in work.avoided for step in way.steps):
            continue
        for step in way.steps:
            pick = said.get(step.predicate)
            if pick is not None:
                near = min(
                    abs(pick.start - child.end),
                    abs(child.start - pick.end),
                    abs(pick.start - parent.end),
                    abs(parent.start - pick.end),
                )
                bonus += 0.6 * pick.score if near <= 4 else 0.3 * pick.score
        between = {step.target for step in way.steps[:-1]}
        bonus += 0.8 * any((table, value.predicate) in work.graph.facts for table in between for value in work.values)
        cost = way.cost - bonus
        if best is None or cost < best[0]:
            best = cost, way
    if best is None:
        return None
    if best[1].cost - best[0] < 0.1:
        work.unsaid |= {s.predicate for s in best[1].steps}
    way = _oriented(work, best[1], parent, child, ways)
    return Path(way.steps, max(0.2, best[0]))


def _oriented(work: Work, way: Path, parent: Node, child: Node, ways: tuple[Path, ...]) -> Path:
    """Links between things of one table go both ways: the thing said first is the subject, unless "by" follows."""
    if len(way.steps) != 1 or not (parent.relations & child.relations):
        return way
    step = way.steps[0]
    pick = next((p for p in work.links if p.predicate == step.predicate), None)
    passive = pick is not None and pick.end < len(work.words) and work.words[pick.end] == "by"
    first, second = sorted((parent, child), key=lambda n: n.start)
    # "which services does X need": the subject follows the auxiliary
    inverted = bool(set(work.words[first.end : second.start]) & {"do", "does", "did"})
    forward = (parent is first) != (passive != (inverted != _names_the_doer(work, pick)))
    if step.forward == forward:
        return way
    return next(
        (
            w
            for w in ways
            if len(w.steps) == 1 and w.steps[0].predicate == step.predicate and w.steps[0].forward == forward
        ),
        way,
    )


def _names_the_doer(work: Work, pick: Candidate | None) -> bool:
    """Does a verb of the question use a link whose name is that of its object: "who trained X" of "trained by"?"""
    if pick is None:
        return False
    said = tuple(work.tokens[i].lemma for i in sorted(pick.covered))
    if said in toward():
        return False
    name = pick.label.lower().split()
    verb = work.words[pick.start] != lemma(work.words[pick.start]) or bool(
        {"do", "does", "did"} & set(work.words[: pick.start])
    )
    noun = len(name) == 1 and name[0] == lemma(name[0]) and name[0].endswith(("er", "or", "ee", "ian", "ist"))
    return name[-1] == "by" or (verb and noun)


def _way_by(work: Work, parent: Node, child: Node, predicate: str, forward: bool) -> Path | None:
    steps = [
        s
        for r in sorted(parent.relations)
        for s in work.graph.steps[r]
        if s.predicate == predicate and s.forward == forward and s.target in child.relations
    ]
    if steps:
        return Path((steps[0],), 0.3)
    if not forward:
        return _way_back(work, parent, child, predicate)
    # the owner of the link may lie one step further: "the capital of the country of X"
    for first in (s for r in sorted(parent.relations) for s in work.graph.steps[r]):
        for second in work.graph.steps[first.target]:
            if second.predicate == predicate and second.forward and second.target in child.relations:
                return Path((first, second), 1.5)
    return None


def _way_back(work: Work, parent: Node, child: Node, predicate: str) -> Path | None:
    """ "The borrower of X", where a loan lies between: back along the link, and on to what is said to have it."""
    for first in (s for r in sorted(parent.relations) for s in work.graph.steps[r]):
        if first.predicate == predicate and not first.forward:
            for second in work.graph.steps[first.target]:
                if second.target in child.relations and second.predicate != predicate:
                    return Path((first, second), 1.2)
    return None


def _distance(work: Work, parent: Node, child: Node, placed: list[Node]) -> float:
    between = [
        n
        for n in work.nodes
        if min(parent.end, child.end) <= n.start < max(parent.start, child.start) and n not in (parent, child)
    ]
    cost = 0.22 * len(between)
    head = work.beside_class(parent)
    if head is not None and parent.keys and child is not head and child.start > head.start:
        # what follows "X models" is said of the models, not of X
        cost += 1.5
    if parent.keys and child.keys:
        cost += 0.9
    if child.start < parent.start:
        cost += 0.1
    if _after_and(work, child):
        sibling = next(
            (n for n in reversed(placed) if n.end <= child.start and n.relations & child.relations and n is not child),
            None,
        )
        if sibling is not None and sibling.parent is parent:
            cost -= 0.5
    return cost


def _after_and(work: Work, node: Node) -> bool:
    return any(work.words[i] in ("and", "or", "both") for i in range(max(0, node.start - 4), node.start))
