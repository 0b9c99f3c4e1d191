"""What still goes on and what is over: a word such as "still" + ParseState -> a condition on the day by which things end."""

from collections.abc import Iterator, Sequence

from nacre.language.base import language
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.parsing.state import ParseContext, ParseState
from nacre.understanding.question.types import Condition, Cue, Derivation, Ref

# rules: the cue, and the condition that answers to it
SAID, BY_END_RULE = {"open": "still", "over": "no longer"}, "by its end"


def now(state: ParseState, found: Cue, context: ParseContext) -> Iterator[ParseState]:
    """ "Still", "currently", "no longer", with words after it that say nothing else: "in use", "running"."""
    words, known = context.question.tokens, language().words
    covered, at = state.covered, found.end
    while at < len(words) and words[at].norm in known["going_on"] | {"in"}:
        covered |= 1 << at
        at += 1
    yield state._replace(covered=covered, trace=(*state.trace, SAID[found.value]))


def ongoing_conditions(d: Derivation, context: ParseContext) -> Iterator[Derivation]:
    """The reading with what is meant by "still": the day by which it ends is not known; as it is where nothing ends,
    but nothing is "no longer" so where nothing ends. "Still unpaid" says itself what goes on."""
    said = next((each for each in SAID.values() if each in d.trace), "")
    ends = end_date_ref(d.nodes, context.graph) if said else None
    after = {c.end for c in context.question.cues if c.kind == "now"} if said else set()
    if any(x.kind == "property" and x.start in after for x in d.links):
        yield d.apply_rule(BY_END_RULE)
    elif ends is not None:
        ended = Condition(ends, "unknown" if said == SAID["open"] else "known")
        yield d.apply_rule(BY_END_RULE, 0.5, conditions=(*d.conditions, ended))
    elif said != SAID["over"]:
        yield d


def end_date_ref(nodes: Sequence[Ref], graph: SchemaGraph) -> Ref | None:
    """The date by which things at hand end, which not all have."""
    known = language().words["ended"]
    for node in nodes:
        found = [
            p
            for p in graph.literals[node.node]
            if graph.about(p).datatype in ("date", "datetime", "year")
            and known & set(graph.words[p])
            and graph.value_counts[node.node, p] < graph.nodes[node.node].count
        ]
        if len(found) == 1:
            return Ref(node.node, found[0], node.slot)
    return None
