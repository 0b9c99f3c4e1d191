"""What the question's first word asks for where nothing else is named: ParseState -> references."""

from nacre.language.base import language
from nacre.language.thesaurus import nouns_of_kind
from nacre.understanding.parsing.modifier_rules.persons import persons_near
from nacre.understanding.parsing.state import ParseContext, ParseState
from nacre.understanding.question.types import Aggregation, Derivation, Ref

MOST = 3
# before this word stands what "where" and "when" ask for
FIRST = 4
# things of one kind in one question
MOST_SLOTS = 99


def place_or_date_refs(state: ParseState, root: Ref, context: ParseContext) -> list[Ref]:
    """What "where" and "when" ask for of a thing: its places or dates, links or literals."""
    asked = next((c.value for c in context.question.cues if c.kind == "open" and c.start <= 1 and c.value), "")
    if not asked:
        return []
    graph = context.graph
    first = min((x for x in state.links if x.kind == "class"), key=lambda x: x.start, default=None)
    if first is not None and first.start <= FIRST:
        # "where is the club that ...": of the kind that is named first
        root = next((n for n in state.nodes if n.node == first.refs[0].node), root)
    wanted = nouns_of_kind("places" if asked == "where" else "dates")
    found = [Ref(root.node, p) for p in graph.literals[root.node] if wanted & set(graph.words[p])]
    if asked == "when":
        found += [r for p in graph.literals[root.node] if graph.is_date(p) and (r := Ref(root.node, p)) not in found]
    else:
        found = [
            Ref(s.target, "", 1 if s.target == root.node else 0, s.predicate)
            for s in graph.steps[root.node]
            if s.forward and wanted & set(graph.words[s.predicate])
        ] + found
    return found[:MOST]


def choose_first_or_last_date(d: Derivation, context: ParseContext) -> Derivation:
    """ "When did the first book come out", "when was it last repaired": of several days the first, or the last."""
    if not any(c.value == "when" and c.kind == "open" and c.start <= 1 for c in context.question.cues):
        return d
    tokens, known = context.question.tokens, language().words
    ends = known["the_first"] | known["the_last"]
    said = [i for i, t in enumerate(tokens) if t.norm in ends and not d.covered >> i & 1]
    dates = [t for t in d.targets if t.ref.predicate and not t.function and context.graph.is_date(t.ref.predicate)]
    if len(said) != 1 or d.order is not None or d.group or len(dates) != len(d.targets):
        return d
    best: Aggregation = "min" if tokens[said[0]].norm in known["the_first"] else "max"
    targets = tuple(t._replace(function=best) for t in dates)
    return d.apply_rule("first or last day", 0.5, targets=targets, covered=d.covered | 1 << said[0])


def person_refs(state: ParseState, root: Ref, context: ParseContext) -> list[Ref]:
    """The kinds of persons that "who" may ask for besides what is named; none where things are spoken of that are
    persons themselves, and are not named."""
    asked = next((t.norm for t in context.question.tokens[:1] if t.norm in language().words["who"]), "")
    if not asked:
        return []
    found = persons_near(root, context)
    named = any(c.ref == root and c.op == "is" for c in state.conditions)
    return found if named else [r for r in found if not context.graph.is_subclass(root.node, r.node)]


def opposite_end_refs(state: ParseState, root: Ref, context: ParseContext) -> list[Ref]:
    """What stands at the other end of a link that is named beside a thing: "what hangs in the hall"."""
    graph = context.graph
    found = []
    named = {c.ref for c in state.conditions if c.op == "is" and not c.negated}
    for hint in sorted(state.hints):
        for source, target in graph.ends.get(hint, ()):
            for here, there in ((target, source), (source, target)):
                if here == there and root not in named:
                    # the thing that is asked for is one of the two already
                    continue
                if here == root.node and graph.widest_node(there) == there:
                    # of two things of one kind the one that is not named
                    ref = next(r for slot in range(MOST_SLOTS) if (r := Ref(there, "", slot)) not in named | {root})
                    if ref not in found:
                        found.append(ref)
    return found[:MOST]
