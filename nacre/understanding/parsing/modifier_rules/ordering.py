"""Rules for the order that all is shown in: "in descending order of age", "by number of members", "oldest first"."""

from collections.abc import Iterator, Sequence

from nacre.language.base import language
from nacre.language.thesaurus import english_data
from nacre.understanding.linking.schema.adjectives import is_reversed_measure, measured_properties
from nacre.understanding.parsing.state import ParseContext, ParseState, add_schema_node, drop_open_property
from nacre.understanding.question.types import INEQUALITIES, Cue, Derivation, Ordering, Target


def order(state: ParseState, found: Cue, context: ParseContext) -> Iterator[ParseState]:
    """ "sorted by": what comes next says by what."""
    want = "order down" if found.value == "down" else "order up"
    yield drop_open_property(state)._replace(
        next_role=want, last="order", pending_aggregates=(), shared_aggregates=(), trace=(*state.trace, "order cue")
    )


def direction(state: ParseState, found: Cue, context: ParseContext) -> Iterator[ParseState]:
    """ "descending": of an order that is said already, or waits for what it is by."""
    yield _turned(state, found.value == "down")


def _turned(state: ParseState, down: bool) -> ParseState:
    if state.order is not None:
        return state._replace(order=state.order._replace(descending=down))
    return state._replace(next_role="order down" if down and state.next_role.startswith("order") else state.next_role)


def ordered(state: ParseState, found: Cue, context: ParseContext) -> Iterator[ParseState]:
    """ "from the tallest to the shortest": by what both measure, or the direction of an order by something else."""
    towards, _, said = found.value.partition(" ")
    concepts, down = tuple(said.split("|")), towards == "down"
    if state.owner is not None and not state.next_role and (state.order is None or not state.order.function):
        for ref, reverse, cost in measured_properties(context.graph, state.owner.node, concepts)[:2]:
            if state.order is None or state.order.ref == ref:
                by = Ordering(ref, down != reverse)
                after = add_schema_node(drop_open_property(state), ref, context)
                yield after.apply_rule("order by measure", 0.3 - cost, order=by, last="order", mode="O")
    placed = state.order.ref.predicate if state.order is not None and not state.order.function else ""
    yield _turned(state, down != (bool(placed) and is_reversed_measure(context.graph, placed, concepts)))


def order_by_count(state: ParseState) -> Iterator[ParseState]:
    """ "ordered by count": by the number that is asked for."""
    counted = [t for t in state.targets if t.function == "count"]
    if state.next_role.startswith("order") and counted:
        by = Ordering(counted[-1].ref, state.next_role == "order down", "count")
        yield state.apply_rule("order by count", 0.3, order=by, next_role="", last="order", mode="O")


def apply_direction(d: Derivation, context: ParseContext) -> Derivation:
    """A reading in the one direction that is said, wherever that is: of its order, or else of the number for each
    value, the number beside other columns, or the first column."""
    said = _directions(context.question.cues)
    if len(said) != 1 or (d.order is not None and d.order.limit):
        return d
    down = said == {"down"}
    if d.order is not None:
        return d._replace(order=d.order._replace(descending=down))
    by_name = any(t.norm in language().words["alphabetical"] for t in context.question.tokens)
    numbers = [t for t in d.targets if t.function and d.group]
    columns = [t for t in d.targets if not t.function]
    graph, of = context.graph, [t for t in columns if t.ref.predicate]
    measures = [t for t in of if graph.is_numeric(t.ref.predicate) or graph.is_date(t.ref.predicate)]
    bounded = [c.ref for c in d.conditions if c.op in INEQUALITIES and c.ref.predicate and not c.function]
    # "that take longer than an hour, longest first": by what bounds them; names have their own word for it
    by = columns if by_name else numbers or measures or [Target(ref) for ref in bounded] or of
    # names come in the order of the alphabet as they are
    if not by or (by_name and not down):
        return d
    ordering = Ordering(by[0].ref, down, by[0].function)
    return d._replace(order=ordering, trace=(*d.trace, "order of column"))


def _directions(cues: Sequence[Cue]) -> set[str]:
    """What the longest words say: "reverse alphabetical order" is no alphabetical order."""
    directed = [c for c in cues if c.kind in ("order", "direction") and c.value]
    return {
        c.value
        for c in directed
        if not any(o.start <= c.start and c.end <= o.end and o.end - o.start > c.end - c.start for o in directed)
    }


def apply_ordinal_rank(d: Derivation, context: ParseContext) -> Derivation:
    """ "The second oldest ship": the place that an ordinal before a superlative asks for, instead of the first."""
    words, ordinals = context.question.tokens, english_data()["ordinals"]
    starts = {c.start for c in context.question.cues if c.kind in ("superlative", "most")}
    before = [i for i in range(len(words) - 1) if i + 1 in starts and not d.covered >> i & 1]
    said = [i for i in before if ordinals.get(words[i].norm, 1) > 1]
    placing = d.order is not None and d.order.limit == 1
    inner = [c for c in d.conditions if c.top is not None and c.top.limit == 1]
    if len(said) != 1 or placing + len(inner) != 1:
        return d
    offset, covered = ordinals[words[said[0]].norm] - 1, d.covered | 1 << said[0]
    if placing and d.order is not None:
        return d.apply_rule("place", 0.3, order=d.order._replace(offset=offset), covered=covered)
    placed = tuple(c._replace(top=c.top._replace(offset=offset)) if c in inner and c.top else c for c in d.conditions)
    return d.apply_rule("place", 0.3, conditions=placed, covered=covered)
