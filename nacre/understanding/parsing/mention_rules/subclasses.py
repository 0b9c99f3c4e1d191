"""Kinds of the things that are asked for: a class at hand + ParseState -> the same reading of the narrower kind."""

from collections.abc import Iterator

from nacre.language.base import language
from nacre.understanding.parsing.state import ParseContext, ParseState, add_link
from nacre.understanding.question.types import KIND_OPERATOR, Condition, Link, Ref

# how many words may stand between a kind and the narrower one: "which of the trees that are"
FAR = 4
NARROWER_KIND_RULE, OTHER_KIND_RULE = "narrower kind", "other kind"


def subclass_mention(state: ParseState, link: Link, context: ParseContext) -> Iterator[ParseState]:
    """ "Which trees are poplars": the things that are asked for are of the narrower kind; so are "poplar trees", and
    "the ones that are poplars"."""
    owner = state.owner
    follows = owner is not None and state.last == "class" and state.links[-1].end == link.start
    if owner is not None and follows and context.graph.is_subclass(owner.node, link.refs[0].node):
        yield add_link(state, link, context, owner).apply_rule(NARROWER_KIND_RULE, 0.4)
    words, being = context.question.tokens, language().words["being"]
    before = words[max(0, link.start - FAR) : link.start]
    narrow = link.refs[0].node
    things = [t.ref for t in state.targets if not t.ref.predicate]
    things = things or [x.refs[0] for x in state.links if x.match == "scope"]
    wide = next((ref for ref in things if context.graph.is_subclass(narrow, ref.node)), None)
    said = {t.lemma for t in words[link.start : link.end]}
    if wide is None or said <= set(context.graph.nodes[wide.node].words):
        # "courses" are no "lab courses"
        return
    before_it = state.conditions[-1] if state.conditions and state.last == "and" else None
    if state.negated or (before_it is not None and before_it.op == KIND_OPERATOR and before_it.negated):
        # "trees that are not poplars or willows", "all trees except poplars"
        other = Condition(wide, KIND_OPERATOR, (), True, inner=(Condition(Ref(narrow), "exists"),))
        new = add_link(state, link, context, wide)
        conditions = (*state.conditions, other)
        yield new.apply_rule(
            OTHER_KIND_RULE, 0.2, conditions=conditions, negated=False, join="and", last="class", mode="C"
        )
        return
    if not any(t.norm in being for t in before):
        return

    def of_kind(ref: Ref) -> Ref:
        same = (ref.node, ref.slot) == (wide.node, wide.slot)
        return ref._replace(node=narrow) if same else ref

    def told(condition: Condition) -> Condition:
        return condition._replace(ref=of_kind(condition.ref))

    new = add_link(state, link, context, wide)
    yield new.apply_rule(
        NARROWER_KIND_RULE, 0.2,
        targets=tuple(t._replace(ref=of_kind(t.ref)) for t in new.targets),
        conditions=tuple(told(c) for c in new.conditions),
        nodes=tuple(dict.fromkeys(of_kind(n) for n in new.nodes)),
        owner=of_kind(new.owner) if new.owner is not None else None,
        last="class", mode="C",
    )  # fmt: skip
