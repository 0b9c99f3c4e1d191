"""Settle the direction and the first place of an order: Derivation -> Derivation ("the second oldest")."""

from collections.abc import Sequence

from nacre.language.base import language
from nacre.language.thesaurus import english_data
from nacre.understanding.parsing.state import ParseContext
from nacre.understanding.question.types import INEQUALITIES, Cue, Derivation, Ordering, Target, token_mask


def apply_direction(derivation: Derivation, context: ParseContext) -> Derivation:
    """Return the derivation sorted in the one direction that the question states.

    It is the direction of the order, or else of the number for each value, the number beside other columns, or the
    first column.
    """
    directions = _directions(context.question.cues)
    order = derivation.order
    if len(directions) != 1 or (order is not None and order.limit):
        return derivation
    down = directions == {"down"}
    if order is not None:
        return derivation._replace(order=order._replace(descending=down))
    by_name = any(token.norm in language().words["alphabetical"] for token in context.question.tokens)
    columns = _sortable_columns(derivation, by_name, context)
    # names are in alphabetical order by default
    if not columns or (by_name and not down):
        return derivation
    return derivation.apply_rule("order of column", order=Ordering(columns[0].ref, down, columns[0].function))


def _sortable_columns(derivation: Derivation, by_name: bool, context: ParseContext) -> Sequence[Target]:
    """What a result without an order may be sorted by, the most likely first."""
    graph = context.graph
    columns = [target for target in derivation.targets if not target.function]
    if by_name:
        return columns
    aggregates = [target for target in derivation.targets if target.function and derivation.group]
    values = [target for target in columns if target.ref.predicate]
    measures = [t for t in values if graph.is_numeric(t.ref.predicate) or graph.is_date(t.ref.predicate)]
    # "that take longer than an hour, longest first"
    bounded = [
        Target(condition.ref)
        for condition in derivation.conditions
        if condition.op in INEQUALITIES and condition.ref.predicate and not condition.function
    ]
    return aggregates or measures or bounded or values


def _directions(cues: Sequence[Cue]) -> set[str]:
    """The directions of the longest cues: "reverse alphabetical order" does not say "alphabetical order"."""
    directed = [cue for cue in cues if cue.kind in ("order", "direction") and cue.value]
    return {
        cue.value
        for cue in directed
        if not any(
            other.start <= cue.start and cue.end <= other.end and other.end - other.start > cue.end - cue.start
            for other in directed
        )
    }


def apply_ordinal_rank(derivation: Derivation, context: ParseContext) -> Derivation:
    """Return the derivation with the place that an ordinal before a superlative asks for: "the second oldest ship"."""
    words, ordinals = context.question.tokens, english_data()["ordinals"]
    superlatives = {cue.start for cue in context.question.cues if cue.kind in ("superlative", "most")}
    places = [
        i
        for i in range(len(words) - 1)
        if i + 1 in superlatives and not derivation.covered >> i & 1 and ordinals.get(words[i].norm, 1) > 1
    ]
    order = derivation.order if derivation.order is not None and derivation.order.limit == 1 else None
    inner = [condition for condition in derivation.conditions if condition.top is not None and condition.top.limit == 1]
    if len(places) != 1 or (order is not None) + len(inner) != 1:
        return derivation
    (place,) = places
    offset = ordinals[words[place].norm] - 1
    covered = derivation.covered | token_mask(place, place + 1)
    if order is not None:
        return derivation.apply_rule("place", 0.3, order=order._replace(offset=offset), covered=covered)
    conditions = tuple(
        condition._replace(top=condition.top._replace(offset=offset))
        if condition in inner and condition.top
        else condition
        for condition in derivation.conditions
    )
    return derivation.apply_rule("place", 0.3, conditions=conditions, covered=covered)
