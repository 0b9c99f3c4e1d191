"""Features of the plan: what it answers, groups, filters and joins: Candidate + Question -> features."""

from collections.abc import Sequence
from functools import lru_cache

from nacre.records.plan import Aggregate, Combine, Select
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.parsing.state import Candidate
from nacre.understanding.question.types import INEQUALITIES, Derivation, Link, Question, Ref, Target
from nacre.understanding.ranking.answer_features import question_word_features


def plan_features(candidate: Candidate, question: Question, graph: SchemaGraph) -> dict[str, float]:
    """The shape of the plan. Plans other than a select, or a combination of selects, have one feature: their kind."""
    d, body = candidate.derivation, candidate.body
    select = body.left if isinstance(body, Combine) else body
    if not isinstance(select, Select):
        return {f"body {body.kind}": 1.0}
    return {
        **_node_features(d),
        **_select_features(select, d),
        **_target_features(d, graph),
        "having": float(sum(bool(c.function) for c in d.conditions)),
        "filters": float(len(select.filters)),
        **_order_features([t.ref for t in d.targets], d.links, question),
        **question_word_features(d.targets, question, graph),
    }


def _node_features(d: Derivation) -> dict[str, float]:
    """How many of the nodes the question names, and how many the plan needs only for joins."""
    named = {x.refs[0].node for x in d.links if x.kind == "class"}
    targets = {t.ref.node for t in d.targets}
    used = targets | {c.ref.node for c in d.conditions} | {g.node for g in d.group}
    used |= {d.order.ref.node} if d.order is not None else set()
    return {
        "nodes unsaid": float(len(used - named)),
        "nodes only joined": float(len({n.node for n in d.nodes} - used)),
        "target nodes": float(len(targets)),
        "target node unsaid": float(len(targets - named)),
    }


def _select_features(select: Select, d: Derivation) -> dict[str, float]:
    aggregates = [a for a in select.answers if isinstance(a, Aggregate)]
    return {
        "variables": float(len(select.variables)),
        "aggregates": float(len(aggregates)),
        "plain beside aggregate": float(bool(aggregates) and len(aggregates) < len(select.answers)),
        "grouped twice": float(len(d.group) > 1),
        "grouped by value": float(bool(select.by)),
    }


def _target_features(d: Derivation, graph: SchemaGraph) -> dict[str, float]:
    """Answers that are rarely meant: repeated ones, codes, counts of measures, things without names."""
    refs = {t.ref for t in d.targets}
    equal = {c.ref for c in d.conditions if c.op == "="}
    inequalities = [c.ref.predicate for c in d.conditions if c.op in INEQUALITIES and c.ref.predicate]
    counted = [t.ref for t in d.targets if t.function == "count"]
    return {
        "same target twice": float(len(d.targets) - len(set(d.targets))),
        "target also condition": float(len({ref for ref in refs if ref.predicate} & equal)),
        "target also order": float(d.order is not None and not d.order.function and d.order.ref in refs),
        "condition on text by number": float(sum(not graph.is_numeric(p) for p in inequalities)),
        "sum or average of code": float(sum(_is_sum_of_code(t, graph) for t in d.targets)),
        "count of value": float(sum(bool(ref.predicate) for ref in counted)),
        "count of measure": float(sum(bool(r.predicate) and _is_measure(graph, r.predicate) for r in counted)),
        "count beside own measure": float(sum(not r.predicate and _has_own_measure(graph, r.node) for r in counted)),
        "nameless target": float(
            sum(not t.ref.predicate and not t.function and not graph.nodes[t.ref.node].named for t in d.targets)
        ),
        "code target": float(sum(bool(t.ref.predicate) and _is_code(graph, t.ref.predicate) for t in d.targets)),
    }


def _is_sum_of_code(target: Target, graph: SchemaGraph) -> bool:
    """Whether things or identifiers are added up."""
    predicate = target.ref.predicate
    return target.function in ("avg", "sum") and (not predicate or _is_code(graph, predicate))


@lru_cache(maxsize=4096)
def _is_code(graph: SchemaGraph, predicate: str) -> bool:
    return graph.about(predicate).role == "identifier"


@lru_cache(maxsize=4096)
def _is_measure(graph: SchemaGraph, predicate: str) -> bool:
    """Whether each thing has one number of it that is not a code."""
    return graph.is_numeric(predicate) and graph.about(predicate).functional and not _is_code(graph, predicate)


@lru_cache(maxsize=4096)
def _has_own_measure(graph: SchemaGraph, node: int) -> bool:
    """Whether things have a number with the name of their class: the "enrolment" of an enrolment."""
    return any(graph.words[p] == graph.nodes[node].words and _is_measure(graph, p) for p in graph.literals[node])


def _order_features(targets: Sequence[Ref], links: tuple[Link, ...], question: Question) -> dict[str, float]:
    """Where the question mentions the answers. In most questions answers come first and conditions last."""
    starts = [x.start for ref in targets for x in links if x.kind in ("class", "property") and x.refs[0] == ref]
    if not starts:
        return {"target unsaid": 1.0}
    classes = {x.start: x.refs[0].node for x in links if x.kind == "class" and x.exact}
    shown = {ref.node for ref in targets if not ref.predicate}
    # In "the high priority tickets" the priority says which tickets are asked for.
    property_ends = [x.end for ref in targets if ref.predicate for x in links if _is_property(x, ref)]
    # "movie ratings" are ratings.
    class_ends = [x.end for x in links if x.kind == "class" and x.refs[0].node in shown]
    size = max(1, len(question.tokens))
    found = {
        "first target at": min(starts) / size,
        "last target at": max(starts) / size,
        "target before kind": float(sum(end in classes and classes[end] not in shown for end in property_ends)),
        "kind before kind": float(sum(end in classes and classes[end] not in shown for end in class_ends)),
    }
    values = [x.start for x in links if x.kind in ("value", "entity")]
    return {**found, "target after value": float(max(starts) > min(values))} if values else found


def _is_property(link: Link, ref: Ref) -> bool:
    return link.kind == "property" and link.refs[0] == ref
