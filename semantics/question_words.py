"""What the question word itself says is asked for: "when", "where", "how tall", "how much" -> a property or a thing."""

from semantics.candidates import Candidate
from semantics.english import Measure, resource
from semantics.paths import Step
from semantics.units import convert
from semantics.words import fold, lemma
from semantics.work import Node, Target, Work


def measured(work: Work, measure: Measure) -> Target | None:
    """ "How tall is X": the property that is said besides ("how long does charging take"), else the one measured."""
    said = [p for p in work.attributes if not work.bounded(p)]
    said = [p for p in said if p.exact or work.graph.can_measure(p.predicate, measure)]
    if said:
        return Target(pick=max(said, key=lambda p: (p.score, -p.start)))
    found = work.measured(work.nodes[0], measure.concepts)
    if found is None:
        return None
    work.cost += found[2] * 0.5
    return Target(pick=work.as_pick(found[0], work.form.focus))


def dated(work: Work, pick: Candidate) -> Candidate | None:
    """ "In what year was it founded": the word only says which kind of property the other one is."""
    said = {work.tokens[i].lemma for i in pick.covered}
    if pick.exact or not said <= {"year", "date", "day", "month", "time"}:
        return None
    others = [p for p in work.attributes if p is not pick and not work.bounded(p)]
    found = next((p for p in others if _is_date(work, p.predicate)), None)
    work.used |= pick.covered if found else set()
    return found


def implied(work: Work, first: Candidate | Node) -> Target | None:
    """ "When did X ...", "how much is X": the question word alone says which kind of property is asked for."""
    if not isinstance(first, Node) or work.attributes or work.supers:
        return None
    if work.form.unit:
        return _in_unit(work, first)
    if work.form.asked == "amount":
        found = work.measured(first, ("price", "cost", "fee"))
        return Target(pick=work.as_pick(found[0], work.form.focus - 1)) if found else None
    if work.form.asked != "when":
        return None
    dates = [p.iri for p in work.schema.predicates if _is_date(work, p.iri)]
    ways = sorted((a.cost, iri) for iri in dates for a in work.graph.access(first.relations, iri)[:1])
    if not ways:
        return None
    work.cost += 0.4 + 0.4 * (len(ways) > 1)
    return Target(pick=work.as_pick(ways[0][1], work.form.focus - 1))


def _in_unit(work: Work, node: Node) -> Target | None:
    """ "How many minutes does X take": the property that is measured in that unit."""
    ways = sorted(
        (access.cost, predicate.iri)
        for predicate in work.schema.predicates
        if predicate.unit and convert(1.0, work.form.unit, predicate.unit) is not None
        for access in work.graph.access(node.relations, predicate.iri)[:1]
    )
    return Target(pick=work.as_pick(ways[0][1], work.form.focus - 1)) if ways else None


def when(work: Work) -> Target | None:
    """ "When was X built": the one date that is said."""
    said = [p for p in work.attributes if _is_date(work, p.predicate) and not work.bounded(p)]
    return Target(pick=said[0]) if work.nodes and len(said) == 1 else None


def place(work: Work) -> Target | None:
    """ "Where is X": what a link about places says of X; "where is the highest P" is P itself."""
    for pick in work.links:
        if work.noun_link(pick) and not any(n.start < pick.end for n in work.nodes):
            node = work.link_node(pick)
            if node:
                return Target(node=node)
    if not work.nodes:
        return None
    thing = work.nodes[0]
    for pick in work.links:
        if thing.relations & {end.subject for end in work.graph.ends[pick.predicate]}:
            node = work.link_node(pick)
            if node is not None:
                return Target(node=node)
    told = [p for p in work.attributes if work.schema.predicate_of[p.predicate].datatype == "text"]
    told = [p for p in told if work.schema.predicate_of[p.predicate].minimum is None]
    if told:
        return Target(pick=max(told, key=lambda p: (p.score, -p.start)))
    words = set(resource()["places"])
    best: tuple[float, Step] | None = None
    for relation in thing.relations:
        for step in work.graph.steps[relation]:
            if step.forward:
                names = set().union(*work.graph.words[step.predicate]) if work.graph.words[step.predicate] else set()
                names |= {lemma(w) for w in fold(step.target).split("_")}
                cost = 0.0 if names & words else 1.0
                if best is None or (cost, -step.triples) < (best[0], -best[1].triples):
                    best = cost, step
    if best is None or best[0] > 0.5:
        return None
    step = best[1]
    relations = frozenset(
        s.target for r in thing.relations for s in work.graph.steps[r] if s.predicate == step.predicate and s.forward
    )
    already = next((n for n in work.nodes[1:] if n.role == "class" and n.relations & relations), None)
    if already:
        return Target(node=already)
    classes, without = work.type_of(relations)
    node = Node(
        work.fresh("place"),
        work.form.focus - 1,
        work.form.focus,
        "link",
        relations,
        classes,
        without,
        predicate=step.predicate,
    )
    work.nodes.insert(0, node)
    return Target(node=node)


def _is_date(work: Work, predicate: str) -> bool:
    return work.schema.predicate_of[predicate].datatype in ("date", "datetime", "year")
