"""Rules for what was done: a class or a date at hand, named by a verb + ParseState -> what is asked of it."""

from collections.abc import Iterator

from nacre.language.base import language
from nacre.language.forms.nouns import is_participle, is_plural, wording_entry
from nacre.language.thesaurus import is_person
from nacre.understanding.parsing.state import ParseContext, ParseState, add_schema_node
from nacre.understanding.question.types import Condition, Link, Ref, Target

# words before a verb that may say that it was done: "have not yet been"
BEFORE = 4


def event_objects(state: ParseState, new: ParseState, link: Link, context: ParseContext) -> Iterator[ParseState]:
    """ "What did Ann order": what a thing that was done leads to, besides who did it."""
    words, known = context.question.tokens, language().words
    asked = words[0].norm in known["asking_kind"] and words[1].norm in known["helping"] if len(words) > 1 else False
    verb = words[link.end - 1]
    if not asked or state.targets or state.last != "value" or link.end - link.start > 1 or is_plural(verb.norm):
        return
    graph, node = context.graph, link.refs[0].node
    if graph.nodes[node].named:
        return
    doing = {n.node for n in state.nodes}
    if any(graph.words[step.predicate] == (verb.lemma,) for here in doing for step in graph.steps[here]):
        # a link says so itself
        return
    for step in graph.steps[node]:
        other = graph.nodes[step.target]
        if step.forward and other.named and step.target not in doing and not is_person(other.label):
            target = Target(Ref(step.target))
            hints = state.hints | {step.predicate}
            yield add_schema_node(new, target.ref, context).apply_rule(
                "object of event", 0.4, targets=(target,), hints=hints
            )


def event_condition(
    state: ParseState, new: ParseState, link: Link, ref: Ref, context: ParseContext
) -> Iterator[ParseState]:
    """ "Employees that have left", "bills not yet returned": when it was is known, or is not."""
    words, known = context.question.tokens, language().words
    verb = words[link.end - 1]
    if not (ref.predicate and is_participle(verb.norm) and context.graph.is_date(ref.predicate)) or state.comparison:
        return
    before = {t.norm for t in words[max(0, link.start - BEFORE) : link.start]}
    if any(t.norm in wording_entry("prepositions") for t in words[link.end : link.end + 1]):
        # "built by", "sold in": by whom and when, not whether
        return
    if before & (known["being"] | known["helping"]) and not state.pending_aggregates:
        condition = Condition(ref, "unknown" if state.negated else "known")
        rule = "has not happened" if state.negated else "has happened"
        yield new._replace(last="value").apply_rule(rule, 0.1, conditions=(*state.conditions, condition), negated=False)
