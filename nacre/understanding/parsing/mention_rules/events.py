"""Rules for events named by a verb: ParseState + Link -> ParseStates ("bills not yet returned")."""

from collections.abc import Iterator

from nacre.language.base import language
from nacre.language.forms.nouns import is_participle, is_plural, wording_entry
from nacre.language.thesaurus import is_person
from nacre.understanding.parsing.state import ParseContext, ParseState, add_schema_node
from nacre.understanding.question.types import Condition, Link, Ref, Target

# how many words before a verb may say that it happened: "have not yet been"
MAX_WORDS_BEFORE = 4


def event_objects(state: ParseState, new: ParseState, link: Link, context: ParseContext) -> Iterator[ParseState]:
    """ "What did Ann order": what an event links to, other than who did it."""
    words, graph, node = context.question.tokens, context.graph, link.refs[0].node
    if state.targets or state.last != "value" or link.end - link.start > 1 or is_plural(words[link.end - 1].norm):
        return
    if not _asks_what_was_done(context) or graph.nodes[node].named:
        return
    doers = {ref.node for ref in state.nodes}
    verb = (words[link.end - 1].lemma,)
    if any(graph.words[step.predicate] == verb for doer in doers for step in graph.steps[doer]):
        # the verb names a link
        return
    for step in graph.steps[node]:
        other = graph.nodes[step.target]
        if step.forward and other.named and step.target not in doers and not is_person(other.label):
            target = Target(Ref(step.target))
            yield add_schema_node(new, target.ref, context).apply_rule(
                "object of event", 0.4, targets=(target,), hints=state.hints | {step.predicate}
            )


def _asks_what_was_done(context: ParseContext) -> bool:
    """Whether a question begins with "what did"."""
    words, known = context.question.tokens, language().words
    return len(words) > 1 and words[0].norm in known["asking_kind"] and words[1].norm in known["helping"]


def event_condition(
    state: ParseState, new: ParseState, link: Link, ref: Ref, context: ParseContext
) -> Iterator[ParseState]:
    """ "Employees that have left", "bills not yet returned": the date of an event is known, or is not."""
    words, known = context.question.tokens, language().words
    is_event = ref.predicate and is_participle(words[link.end - 1].norm) and context.graph.is_date(ref.predicate)
    if not is_event or state.comparison or state.pending_aggregates:
        return
    if any(token.norm in wording_entry("prepositions") for token in words[link.end : link.end + 1]):
        # "built by", "sold in" ask by whom and when, not whether
        return
    before = {token.norm for token in words[max(0, link.start - MAX_WORDS_BEFORE) : link.start]}
    if before & (known["being"] | known["helping"]):
        operator, rule = ("unknown", "has not happened") if state.negated else ("known", "has happened")
        conditions = (*state.conditions, Condition(ref, operator))
        yield new._replace(last="value").apply_rule(rule, 0.1, conditions=conditions, negated=False)
