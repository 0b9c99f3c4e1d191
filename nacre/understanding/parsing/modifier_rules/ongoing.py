"""Rules for what still goes on or is over: ParseState + Cue -> ParseState, Derivation -> condition on the last day."""

from collections.abc import Iterator, Sequence

from nacre.language.base import language
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.parsing.state import ParseContext, ParseState
from nacre.understanding.question.types import Condition, Cue, Derivation, Ref, token_mask

# the rules of the cue by its value, and the rule of the condition that it makes
OPEN_RULE, OVER_RULE, BY_END_RULE = "still", "no longer", "by its end"
CUE_RULE_NAMES = {"open": OPEN_RULE, "over": OVER_RULE}


def ongoing_cue(state: ParseState, cue: Cue, context: ParseContext) -> Iterator[ParseState]:
    """ "Still", "currently", "no longer", with the words after it that add nothing: "in use", "running"."""
    words, idle = context.question.tokens, language().words["going_on"] | {"in"}
    end = cue.end
    while end < len(words) and words[end].norm in idle:
        end += 1
    yield state.apply_rule(CUE_RULE_NAMES[cue.value], covered=state.covered | token_mask(cue.end, end))


def ongoing_conditions(derivation: Derivation, context: ParseContext) -> Iterator[Derivation]:
    """Yield the reading with what "still" or "no longer" means.

    The last day is unknown, or known. If nothing ends, "still" adds nothing and "no longer" has no reading. "Still
    unpaid" needs no day: the property says what goes on.
    """
    rule = next((name for name in CUE_RULE_NAMES.values() if name in derivation.trace), "")
    end_date = end_date_ref(derivation.nodes, context.graph) if rule else None
    cue_ends = {cue.end for cue in context.question.cues if cue.kind == "now"} if rule else set()
    if any(link.kind == "property" and link.start in cue_ends for link in derivation.links):
        yield derivation.apply_rule(BY_END_RULE)
    elif end_date is not None:
        ended = Condition(end_date, "unknown" if rule == OPEN_RULE else "known")
        yield derivation.apply_rule(BY_END_RULE, 0.5, conditions=(*derivation.conditions, ended))
    elif rule != OVER_RULE:
        yield derivation


def end_date_ref(nodes: Sequence[Ref], graph: SchemaGraph) -> Ref | None:
    """Return the date by which things end, if some of them do not have it yet."""
    end_words = language().words["ended"]
    for node in nodes:
        dates = [
            predicate
            for predicate in graph.literals[node.node]
            if graph.about(predicate).datatype in ("date", "datetime", "year")
            and end_words & set(graph.words[predicate])
            and graph.value_counts[node.node, predicate] < graph.nodes[node.node].count
        ]
        if len(dates) == 1:
            return Ref(node.node, dates[0], node.slot)
    return None
