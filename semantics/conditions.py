"""Conditions said of things: numbers, flags and values -> filters."""

from records.plan import Aggregate, Attribute, Comparison, Constant, Edge, Filter, Itself, Select, Variable
from semantics.bounds import Bound
from semantics.candidates import Candidate
from semantics.emit import walk
from semantics.english import function_words
from semantics.paths import Access
from semantics.periods import year
from semantics.units import convert
from semantics.work import Node, Parts, Work


def conditions(work: Work, target: Node, parts: Parts) -> None:
    """Add the filters that numbers, flags and values of the question set."""
    placed = [n for n in work.nodes if any(v.name == n.name for v in parts.variables)]
    for bound in work.form.bounds:
        _bound(work, bound, target, placed, parts)
    for flag in work.flags:
        owners = [n for n in placed if work.graph.access(n.relations, flag.predicate) and n.start >= flag.start] or [
            n for n in placed if work.graph.access(n.relations, flag.predicate)
        ]
        if owners:
            owner = min(owners, key=lambda n: abs(n.start - flag.end))
            if owner.keys and owner.role == "entity" and work.form.asked != "yesno":
                continue
            variable = walk(work, owner.name, work.graph.access(owner.relations, flag.predicate)[0].steps, parts)
            parts.filters.append(Filter(Attribute(variable, flag.predicate), "=", not work.negation_before(flag)))
            work.used |= flag.covered
    for pick in work.links + work.attributes:
        _existence(work, pick, placed, parts)
    same: dict[tuple[str, str], list[Candidate]] = {}
    for value in work.values:
        ranked = sorted(
            (
                (
                    work.graph.access(n.relations, value.predicate)[0].cost + abs(n.start - value.start) / 20,
                    n.start,
                    n,
                )
                for n in placed
                if work.graph.access(n.relations, value.predicate)
            ),
            key=lambda r: r[:2],
        )
        if ranked:
            same.setdefault((ranked[0][2].name, value.predicate), []).append(value)
    for (name, predicate), values in same.items():
        owner = next(n for n in placed if n.name == name)
        access = work.graph.access(owner.relations, predicate)[0]
        work.cost += access.cost * 0.5
        variable = walk(work, owner.name, access.steps, parts)
        right: Constant | tuple[Constant, ...] = values[0].value if len(values) == 1 else tuple(v.value for v in values)
        negated = work.negation_before(values[0])
        holds = Filter(Attribute(variable, predicate), "in" if len(values) > 1 else "=", right, negated)
        several = not work.schema.predicate_of[predicate].functional
        parts.filters.append(_none_of(owner, predicate, right) if negated and several and not access.steps else holds)
        for value in values:
            work.used |= value.covered
            # "the catalogue number 12-7": the value's property is said before it
            for pick in work.attributes:
                if pick.predicate == predicate and 0 <= value.start - pick.end <= 2:
                    work.used |= pick.covered


def _none_of(owner: Node, predicate: str, right: Constant | tuple[Constant, ...]) -> Filter:
    """ "Not on vinyl", where things come in several forms: none of theirs is it."""
    name = f"{owner.name}_with"
    holds = Filter(Attribute(name, predicate), "in" if isinstance(right, tuple) else "=", right)
    inner = Select((Itself(name),), (Variable(name, owner.classes, owner.without),), filters=(holds,))
    return Filter(Itself(owner.name), "in", inner, negated=True)


def _existence(work: Work, pick: Candidate, placed: list[Node], parts: Parts) -> None:
    """ "Without X", "have no X", "that have X": a property that must be known, or must not."""
    before = work.words[max(0, pick.start - 2) : pick.start]
    none = any(w in ("no", "without", "lack", "lacks", "lacking") for w in before)
    none = none or "never" in work.words[max(0, pick.start - 4) : pick.start]
    having = before[:-1] if before[-1:] and before[-1] in ("a", "an", "any") else before
    some = bool(having) and having[-1] in ("has", "have", "with", "having")
    if not (none or some) or pick.covered <= work.used or work.bounded(pick):
        return
    if any(s.end == pick.start for s in work.form.superlatives):
        return
    owner = next((n for n in placed if not n.keys and _has(work, n, pick.predicate)), None)
    if owner is None:
        return
    work.used |= pick.covered
    name = f"{owner.name}_with"
    variables = [Variable(name, owner.classes, owner.without)]
    if work.is_literal(pick.predicate):
        inner = Select((Itself(name),), tuple(variables), filters=(Filter(Attribute(name, pick.predicate), "known"),))
    else:
        variables.append(Variable(f"{name}_it"))
        edge = Edge(name, pick.predicate, f"{name}_it")
        inner = Select((Itself(name),), tuple(variables), (edge,))
    parts.filters.append(Filter(Itself(owner.name), "in", inner, negated=none))


def _has(work: Work, node: Node, predicate: str) -> bool:
    if any(not a.steps for a in work.graph.access(node.relations, predicate)):
        return True
    return any(s.predicate == predicate and s.forward for r in node.relations for s in work.graph.steps[r])


def _bound(work: Work, bound: Bound, target: Node, placed: list[Node], parts: Parts) -> None:
    following = next((n for n in placed if n is not target and 0 <= n.start - bound.end <= 2), None)
    if following is not None and not bound.quantity.unit:
        parts.filters.append(Filter(Aggregate("count", Itself(following.name)), bound.op, int(bound.quantity.value)))
        return
    choice = _bound_predicate(work, bound, placed)
    if choice is None:
        work.cost += 0.7
        work.dropped += 1
        work.used -= set(range(bound.start, bound.end))
        return
    owner, predicate, access, value = choice
    variable = walk(work, owner.name, access.steps, parts)
    shape = work.schema.predicate_of[predicate].shape
    part = {"<": "high", "<=": "high", ">": "low", ">=": "low"}.get(bound.op, "") if shape == "range" else ""
    attribute = Attribute(variable, predicate, part)  # type: ignore[arg-type]
    if work.schema.predicate_of[predicate].datatype in ("date", "datetime"):
        period = (bound.period.first, bound.period.after) if bound.period else year(int(value))
        parts.filters += _in_period(attribute, bound.op, *period)
    else:
        parts.filters.append(Filter(attribute, bound.op, value))


def _in_period(attribute: Attribute, op: Comparison, first: str, after: str) -> list[Filter]:
    """A stretch of time as a condition on ISO dates, which compare as texts."""
    return {
        ">": [Filter(attribute, ">=", after)],
        ">=": [Filter(attribute, ">=", first)],
        "<": [Filter(attribute, "<", first)],
        "<=": [Filter(attribute, "<", after)],
    }.get(op, [Filter(attribute, ">=", first), Filter(attribute, "<", after)])


def _bound_predicate(work: Work, bound: Bound, placed: list[Node]) -> tuple[Node, str, Access, float] | None:
    unit = bound.quantity.unit
    best: tuple[float, Node, str, Access, float] | None = None
    concepts = bound.measure.concepts if bound.measure else ("price", "cost") if unit == "currency" else ()
    said = {p.predicate: p for p in work.attributes if min(abs(p.end - bound.start), abs(bound.end - p.start)) <= 4}
    near = {t.lemma for t in work.tokens[max(0, bound.start - 3) : bound.start] if t.norm not in function_words()}
    for node in placed:
        ways = work.graph.measuring(node.relations, concepts) if concepts else []
        measured = {predicate: cost for predicate, access, cost in ways if not access.reversed}
        for predicate in work.schema.predicates:
            dated = predicate.datatype in ("year", "date", "datetime") or any(
                "year" in words for words in work.graph.words[predicate.iri]
            )
            in_time = dated and not unit and 1000 <= bound.quantity.value <= 2200
            named = predicate.iri in said or predicate.iri in measured or in_time or bool(unit and predicate.unit)
            if (predicate.minimum is None and not in_time) or not named:
                continue
            accesses = work.graph.access(node.relations, predicate.iri)
            if not accesses:
                continue
            value: float | None = bound.quantity.value
            if unit and unit != "currency":
                value = convert(bound.quantity.value, unit, predicate.unit) if predicate.unit else None
            elif unit == "currency" and predicate.unit:
                value = None
            if value is None:
                continue
            cost = accesses[0].cost + (
                0.0 if predicate.iri in said else 0.3 + measured[predicate.iri] if predicate.iri in measured else 1.0
            )
            if any(words & near for words in work.graph.words[predicate.iri]):
                cost -= 0.5
            # a condition on a thing that is named says nothing
            cost += 1.0 if node.keys and node.role == "entity" else 0.0
            if best is None or cost < best[0]:
                best = cost, node, predicate.iri, accesses[0], value
    if best is None:
        return None
    if best[2] in said:
        work.used |= said[best[2]].covered
    work.cost += 0.3 * best[0]
    return best[1:]
