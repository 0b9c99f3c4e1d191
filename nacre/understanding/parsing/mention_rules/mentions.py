"""Take a mention for what it may name: ParseState + Link -> ParseStates, one for each way."""

from collections.abc import Iterator

from nacre.understanding.linking.schema.quantity_nodes import QUANTITY
from nacre.understanding.parsing.mention_rules.class_mentions import class_mention
from nacre.understanding.parsing.mention_rules.entities_and_values import value_mention
from nacre.understanding.parsing.mention_rules.property_mentions import property_mention
from nacre.understanding.parsing.state import ParseContext, ParseState, add_schema_node
from nacre.understanding.question.types import Condition, Link, Ref


def apply_mention(state: ParseState, link: Link, context: ParseContext) -> Iterator[ParseState]:
    """Yield all ways to take a mention."""
    if link.kind == "class":
        yield from class_mention(state, link, context)
    elif link.match == QUANTITY:
        number, _ = link.refs
        yield from property_mention(_restrict_quantity(state, link, context), link, context, number)
    elif link.kind == "property":
        for ref in link.refs:
            if ref.predicate or ref.via:
                yield from property_mention(state, link, context, ref)
    else:
        yield from value_mention(state, link, context)


def _restrict_quantity(state: ParseState, link: Link, context: ParseContext) -> ParseState:
    """Restrict a number to one kind of quantity."""
    number, kind = link.refs
    if kind.predicate:
        restriction = Condition(kind, "=", (link.value,))
    else:
        restriction = Condition(Ref(kind.node), "is", (), False, link.keys, link.label)
        state = add_schema_node(add_schema_node(state, Ref(number.node), context), kind, context)
    return state.apply_rule(QUANTITY, conditions=(*state.conditions, restriction))
