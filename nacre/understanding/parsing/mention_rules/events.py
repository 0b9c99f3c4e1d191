"""Rules for events named by a verb: ParseState + Link -> ParseStates ("bills not yet returned")."""

from collections.abc import Iterator

from nacre.language.base import language, word_list
from nacre.language.forms.nouns import is_participle
from nacre.understanding.parsing.state import ParseContext, ParseState
from nacre.understanding.question.types import Condition, Link, Ref

# how many words before a verb may say that it happened: "have not yet been"
MAX_WORDS_BEFORE = 4


def event_condition(
    state: ParseState, new: ParseState, link: Link, ref: Ref, context: ParseContext
) -> Iterator[ParseState]:
    """ "Employees that have left", "bills not yet returned": the date of an event is known, or is not."""
    words, known = context.question.tokens, language().words
    is_event = ref.predicate and is_participle(words[link.end - 1].norm) and context.graph.is_date(ref.predicate)
    if not is_event or state.comparison or state.pending_aggregates:
        return
    if any(token.norm in word_list("wording", "prepositions") for token in words[link.end : link.end + 1]):
        # "built by", "sold in" ask by whom and when, not whether
        return
    before = {token.norm for token in words[max(0, link.start - MAX_WORDS_BEFORE) : link.start]}
    if before & (known["being"] | known["helping"]):
        operator, rule = ("unknown", "has not happened") if state.negated else ("known", "has happened")
        conditions = (*state.conditions, Condition(ref, operator))
        yield new._replace(last="value").apply_rule(rule, 0.1, conditions=conditions, negated=False)
