"""Finish a partial reading: ParseState -> Derivations, one for each way to settle what the words leave open."""

from collections.abc import Iterator
from itertools import islice

from nacre.language.base import language
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.schema.adjectives import measured_properties
from nacre.understanding.parsing.completion.columns import settle_columns
from nacre.understanding.parsing.completion.grouping import settle_grouping
from nacre.understanding.parsing.completion.nest import nest_conditions
from nacre.understanding.parsing.completion.question_words import (
    choose_first_or_last_date,
    opposite_end_refs,
    person_refs,
    place_or_date_refs,
)
from nacre.understanding.parsing.modifier_rules.dates import later_date_cost
from nacre.understanding.parsing.modifier_rules.numbers import COUNTING, upper_bound
from nacre.understanding.parsing.modifier_rules.ongoing import ongoing_conditions
from nacre.understanding.parsing.modifier_rules.ordering import apply_direction, apply_ordinal_rank
from nacre.understanding.parsing.modifier_rules.sums import amount_between, sum_targets
from nacre.understanding.parsing.state import UNSETTLED_COST, ParseContext, ParseState, drop_open_property
from nacre.understanding.question.types import Condition, Derivation, Ordering, Ref, Target

MOST_VARIANTS = 10


def finish_state(state: ParseState, context: ParseContext) -> list[Derivation]:
    """The derivations of a state, likeliest first."""
    state = drop_open_property(state)
    trace = list(state.trace)
    cost = 0.0
    targets = state.targets
    root = _root(state)
    if root is None:
        return []
    open_ = (
        (state.rank, "rank"),
        (state.comparison, "compare"),
        (state.next_role == "group", "group"),
        (state.pending_text, "text"),
    )
    for left, name in open_:
        if left:
            cost += UNSETTLED_COST
            trace.append(f"unsettled {name}")
    if state.pending_aggregates:
        if "count" in state.pending_aggregates and not any(t.function for t in targets):
            plain = [t for t in targets if not t.ref.predicate]
            if plain and not state.group:
                targets = tuple(Target(t.ref, "count") if t == plain[-1] else t for t in targets)
            else:
                targets = (*targets, Target(root.thing, "count"))
            trace.append("count at end")
        elif computed := sum_targets(state, root, context):
            targets = computed
            trace.append("aggregate of only measure")
        else:
            cost += UNSETTLED_COST
            trace.append("unsettled aggregate")
    where = (
        place_or_date_refs(state, root, context)
        if not state.group and not any(t.ref.predicate for t in targets)
        else []
    )
    who = person_refs(state, root, context) if not targets and not state.group else []
    if not targets:
        targets = tuple(Target(g) for g in state.group) or (Target(root.thing),)
        trace.append("default target")
        if any(c.op == "is" and c.ref == root for c in state.conditions):
            trace.append("default target is thing")
            cost += UNSETTLED_COST
    # of a yes or no nothing further is asked for
    first = context.question.tokens[0].norm if context.question.tokens else ""
    alone = not (state.targets or state.group or state.pending_aggregates or first in language().words["asking_yes_no"])
    others = opposite_end_refs(state, root, context) if alone else []
    whole = Derivation(
        targets, state.conditions, state.group, state.order, state.nodes or (root,), "", state.covered,
        state.score - cost, tuple(trace), state.links, state.hints,
    )  # fmt: skip
    found = []
    for ref in where:
        hints = whole.hints | {h for h in (ref.via,) if h}
        found.append(whole.apply_rule("place or time", 0.5 - _later(ref, context), targets=(Target(ref),), hints=hints))
    found += [whole.apply_rule("who", 0.4, targets=(Target(ref),), nodes=(*whole.nodes, ref)) for ref in who]
    found += [
        whole.apply_rule("other end", 0.5 + UNSETTLED_COST, targets=(Target(ref),), nodes=(*whole.nodes, ref))
        for ref in others
    ]
    found = [each for d in found for each in _combined(d)]
    amount = amount_between(state, context)
    if amount is not None:
        whole = whole.apply_rule("amount between", 0.5, targets=(amount,), nodes=(*whole.nodes, Ref(amount.ref.node)))
    elif state.degree and "aggregate of only measure" not in trace:
        whole = whole.apply_rule("unsettled degree", -UNSETTLED_COST)
    for settled in _settled(whole, state, root, context):
        for grouped in settle_grouping(settled, root, context):
            for shown in settle_columns(_ordered_inside(grouped), context):
                for inner in nest_conditions(shown, root):
                    for hung in _hung(inner, context.graph):
                        found += _combined(hung)
    dated = (choose_first_or_last_date(d, context) for d in found)
    ended = (
        _things_of_each(apply_ordinal_rank(apply_direction(x, context), context))
        for d in dated
        for x in ongoing_conditions(d, context)
    )
    return list(islice(ended, MOST_VARIANTS))


def _things_of_each(d: Derivation) -> Derivation:
    """With things counted for each value of a property, and not the different values that one value is: "each genre
    and the number of books of that genre"."""
    shown = {*d.group, *(t.ref for t in d.targets if not t.function)}
    if not any(t.distinct and t.function == "count" and t.ref in shown for t in d.targets):
        return d
    return d._replace(targets=tuple(t._replace(distinct=t.distinct and t.ref not in shown) for t in d.targets))


def _later(ref: Ref, context: ParseContext) -> float:
    """What a date costs that is seldom meant by when something was."""
    dated = bool(ref.predicate) and context.graph.is_date(ref.predicate)
    return later_date_cost(ref, context.graph) if dated else 0.0


def _root(state: ParseState) -> Ref | None:
    for ref in (
        *(t.ref for t in state.targets),
        *state.group,
        *state.nodes,
        *(c.ref for c in state.conditions),
    ):
        return ref.thing
    return None


def _settled(d: Derivation, state: ParseState, root: Ref, context: ParseContext) -> Iterator[Derivation]:
    """What a superlative or a number that found nothing after it is about: something said before."""
    graph = context.graph
    if state.rank is not None:
        limit = state.limit or 1
        rank = state.rank
        for node in list(dict.fromkeys((root, *d.nodes)))[:3] if rank.concepts else []:
            for ref, reverse, cost in measured_properties(graph, node.node, rank.concepts)[:2]:
                order = Ordering(ref, rank.descending != reverse, "", limit)
                yield d.apply_rule("rank settled", 0.5 - cost, order=order)
        if not rank.concepts:
            last = next((t.ref for t in reversed(d.targets) if t.ref.predicate and not t.function), None)
            if last is not None:
                order = Ordering(Ref(last.node), rank.descending, "count", limit)
                yield d.apply_rule("most frequent at end", 0.5, order=order, group=(last,))
                if graph.is_numeric(last.predicate):
                    placed = Ordering(last, rank.descending, "", limit)
                    yield d.apply_rule("ranked at end", 0.4, order=placed)
                    others = tuple(t for t in d.targets if t.ref != last)
                    if others and max(d.links, key=lambda x: x.start).refs[0] == last:
                        # "which film earned the most"
                        yield d.apply_rule("others ranked at end", 0.4, order=placed, targets=others)
            counted = [n for n in d.nodes if n != root]
            backward = sorted(
                (s for s in graph.steps[root.node] if not s.forward), key=lambda s: -graph.nodes[s.target].count
            )
            # "the most interactions": what the link that is named leads to
            named = [s for s in graph.steps[root.node] if s.predicate in d.hints]
            linked = [Ref(n.node) for n in counted] or [
                Ref(s.target, "", int(s.target == root.node)) for s in (named or backward)[:2]
            ]
            for other in linked:
                order = Ordering(other, rank.descending, "count", limit)
                yield d.apply_rule("most linked at end", 0.4, order=order, group=(root,))
    elif state.comparison is not None and state.comparison[1] is not None and state.unit in COUNTING:
        for other in reversed([n for n in d.nodes if n != root][-2:]):
            condition = Condition(other, state.comparison[0], (state.comparison[1],), function="count")
            bounds = (condition, *upper_bound(condition, state.until))
            yield d.apply_rule("count settled", 0.5, conditions=(*d.conditions, *bounds))
    yield d


def _hung(d: Derivation, graph: SchemaGraph) -> Iterator[Derivation]:
    """What is said after another thing of one kind: of that thing, or of whichever is nearest."""
    others = [n for n in d.nodes if n.slot and any((n.node, n.node) in graph.ends.get(h, ()) for h in d.hints)]
    after = bool(others) and d.nodes.index(others[0]) < len(d.nodes) - 1
    named = [c for c in d.conditions if c.ref in others and c.op == "is"]
    if len(named) > 1:
        # "that border Colorado and border New Mexico"
        yield d.apply_rule("each of the first", 0.1, hung="first")
    elif after or (named and len(d.nodes) > 2):
        yield d.apply_rule("of the last", 0.1, hung="last")
    yield d


def _ordered_inside(d: Derivation) -> Derivation:
    """An order of things that end up in one number is a condition: "how many states does the shortest river cross"."""
    if d.order is None or d.order.function or d.group or not all(t.function for t in d.targets):
        return d
    top = Condition(d.order.ref.thing, "top", top=d.order)
    return d.apply_rule("order inside", conditions=(*d.conditions, top), order=None)


def _combined(d: Derivation) -> Iterator[Derivation]:
    """Two values of one property: any of them, or things that have both."""
    if d.combine:
        yield d
        return
    merged, rest = _merged(d.conditions)
    if merged:
        yield d.apply_rule("any of values", 0.1, conditions=rest)
    positive = [c for c in d.conditions if not c.function]
    if len(positive) >= 2 and "both" in d.trace:
        yield d.apply_rule("both", 0.3, combine="intersection")
    elif merged and not _is_two_at_once(d):
        yield d.apply_rule("both of values", 0.0, combine="intersection")
    if any(c.join == "or" for c in d.conditions) and not merged and len(positive) >= 2:
        yield d.apply_rule("either", 0.3, combine="union")
    if not merged:
        yield d


def _is_two_at_once(d: Derivation) -> bool:
    """Whether what is asked for would have to be several named things at once."""
    named = [c.ref for c in d.conditions if c.op == "is" and not c.negated]
    return any(named.count(t.ref.thing) > 1 for t in d.targets)


def _merged(conditions: tuple[Condition, ...]) -> tuple[bool, tuple[Condition, ...]]:
    """Equal conditions on one property (or thing) joined into one; whether there were any."""
    found: list[Condition] = []
    merged = False
    for condition in conditions:
        last = next(
            (
                i
                for i, c in enumerate(found)
                if c.ref == condition.ref and c.op == condition.op and c.op in ("=", "is") and not c.function
                and c.negated == condition.negated and not c.against
            ),
            None,
        )  # fmt: skip
        if last is None:
            found.append(condition)
        else:
            merged = True
            before = found[last]
            found[last] = before._replace(
                values=(*before.values, *condition.values),
                keys=(*before.keys, *condition.keys),
                label=_either(before.label, condition.label),
            )
    return merged, tuple(found)


def _either(first: str, second: str) -> str:
    """What things of either name are called."""
    return f"{first} or {second}" if first and second and first != second else first or second
