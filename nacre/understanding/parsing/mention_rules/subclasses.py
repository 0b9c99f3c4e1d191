"""Rules for a narrower class: ParseState + Link -> ParseStates with things of it ("which trees are poplars")."""

from collections.abc import Iterator

from nacre.language.base import language
from nacre.understanding.parsing.state import ParseContext, ParseState, add_link
from nacre.understanding.question.types import KIND_OPERATOR, Condition, Link, Ref

# how many words may stand between a class and a narrower one: "which of the trees that are"
MAX_WORDS_BETWEEN = 4
NARROWER_KIND_RULE, OTHER_KIND_RULE = "narrower kind", "other kind"


def subclass_mention(state: ParseState, link: Link, context: ParseContext) -> Iterator[ParseState]:
    """ "Which trees are poplars", "poplar trees", "trees that are not poplars"."""
    owner, narrow = state.owner, link.refs[0].node
    is_adjacent = state.last == "class" and state.links[-1].end == link.start if owner is not None else False
    if owner is not None and is_adjacent and context.graph.is_subclass(owner.node, narrow):
        # "poplar trees"
        yield add_link(state, link, context, owner).apply_rule(NARROWER_KIND_RULE, 0.4)
    wide = _wider_thing(state, link, context)
    if wide is None:
        return
    if state.negated or _continues_exclusion(state):
        yield _excluded_class(state, link, wide, context)
        return
    before = context.question.tokens[max(0, link.start - MAX_WORDS_BETWEEN) : link.start]
    if any(token.norm in language().words["being"] for token in before):
        yield _narrowed(add_link(state, link, context, wide), wide, narrow)


def _wider_thing(state: ParseState, link: Link, context: ParseContext) -> Ref | None:
    """The things that are asked for if they are of a wider class, which the words do not only repeat."""
    graph = context.graph
    targets = [target.ref for target in state.targets if not target.ref.predicate]
    things = targets or [each.refs[0] for each in state.links if each.match == "scope"]
    wide = next((ref for ref in things if graph.is_subclass(link.refs[0].node, ref.node)), None)
    said = {token.lemma for token in context.question.tokens[link.start : link.end]}
    # "courses" are no "lab courses"
    return None if wide is None or said <= set(graph.nodes[wide.node].words) else wide


def _continues_exclusion(state: ParseState) -> bool:
    """ "Trees that are not poplars or willows"."""
    before = state.conditions[-1] if state.conditions and state.last == "and" else None
    return before is not None and before.op == KIND_OPERATOR and before.negated


def _excluded_class(state: ParseState, link: Link, wide: Ref, context: ParseContext) -> ParseState:
    """ "Trees that are not poplars", "all trees except poplars"."""
    narrow = Condition(Ref(link.refs[0].node), "exists")
    other = Condition(wide, KIND_OPERATOR, (), True, inner=(narrow,))
    return add_link(state, link, context, wide).apply_rule(
        OTHER_KIND_RULE,
        0.2,
        conditions=(*state.conditions, other),
        negated=False,
        join="and",
        last="class",
        mode="C",
    )


def _narrowed(state: ParseState, wide: Ref, narrow: int) -> ParseState:
    """The reading with things of the narrower class in the place of the wider one."""

    def narrowed(ref: Ref) -> Ref:
        return ref._replace(node=narrow) if (ref.node, ref.slot) == (wide.node, wide.slot) else ref

    return state.apply_rule(
        NARROWER_KIND_RULE,
        0.2,
        targets=tuple(target._replace(ref=narrowed(target.ref)) for target in state.targets),
        conditions=tuple(condition._replace(ref=narrowed(condition.ref)) for condition in state.conditions),
        nodes=tuple(dict.fromkeys(map(narrowed, state.nodes))),
        owner=narrowed(state.owner) if state.owner is not None else None,
        last="class",
        mode="C",
    )
