"""What the first word of a question asks for if nothing else is named: ParseState -> references ("where", "who")."""

from nacre.language.base import language
from nacre.language.thesaurus import nouns_of_kind
from nacre.understanding.parsing.modifier_rules.persons import persons_near
from nacre.understanding.parsing.state import ParseContext, ParseState
from nacre.understanding.question.types import Aggregation, Derivation, Ref, token_mask

# the rules by which question words ask for a place or a date, for a person, and for what a link leads to
PLACE_OR_TIME_RULE, WHO_RULE, OTHER_END_RULE = "place or time", "who", "other end"
QUESTION_WORD_RULES = frozenset((PLACE_OR_TIME_RULE, WHO_RULE, OTHER_END_RULE))
# how many references are tried
MAX_REFS = 3
# a class before this token is what "where" and "when" ask about
MAX_CLASS_START = 4
# how many things of one class a question may have
MAX_SLOTS = 99


def place_or_date_refs(state: ParseState, root: Ref, context: ParseContext) -> list[Ref]:
    """Return what "where" and "when" ask for of a thing: its places or dates, as links or values."""
    question, graph = context.question, context.graph
    asked = next((cue.value for cue in question.cues if cue.kind == "open" and cue.start <= 1 and cue.value), "")
    if not asked:
        return []
    first = min((link for link in state.links if link.kind == "class"), key=lambda link: link.start, default=None)
    if first is not None and first.start <= MAX_CLASS_START:
        # "where is the club that ...": of the class that is named first
        root = next((node for node in state.nodes if node.node == first.refs[0].node), root)
    nouns = nouns_of_kind("places" if asked == "where" else "dates")
    named = [
        Ref(root.node, predicate) for predicate in graph.literals[root.node] if nouns & set(graph.words[predicate])
    ]
    if asked == "when":
        dates = (Ref(root.node, predicate) for predicate in graph.literals[root.node] if graph.is_date(predicate))
        return [*named, *(ref for ref in dates if ref not in named)][:MAX_REFS]
    linked = [
        Ref(step.target, "", 1 if step.target == root.node else 0, step.predicate)
        for step in graph.steps[root.node]
        if step.forward and nouns & set(graph.words[step.predicate])
    ]
    return (linked + named)[:MAX_REFS]


def choose_first_or_last_date(derivation: Derivation, context: ParseContext) -> Derivation:
    """Return the derivation with the first or the last of several dates.

    "When did the first book come out", "when was it last repaired".
    """
    question, known = context.question, language().words
    if not any(cue.value == "when" and cue.kind == "open" and cue.start <= 1 for cue in question.cues):
        return derivation
    ends = known["the_first"] | known["the_last"]
    places = [i for i, token in enumerate(question.tokens) if token.norm in ends and not derivation.covered >> i & 1]
    dates = [
        target
        for target in derivation.targets
        if target.ref.predicate and not target.function and context.graph.is_date(target.ref.predicate)
    ]
    is_plain = derivation.order is None and not derivation.group and len(dates) == len(derivation.targets)
    if len(places) != 1 or not is_plain:
        return derivation
    (place,) = places
    function: Aggregation = "min" if question.tokens[place].norm in known["the_first"] else "max"
    targets = tuple(target._replace(function=function) for target in dates)
    covered = derivation.covered | token_mask(place, place + 1)
    return derivation.apply_rule("first or last day", 0.5, targets=targets, covered=covered)


def person_refs(state: ParseState, root: Ref, context: ParseContext) -> list[Ref]:
    """Return the classes of persons that "who" may ask for beside what is named.

    None if the reading is about persons already who are not named.
    """
    if not any(token.norm in language().words["who"] for token in context.question.tokens[:1]):
        return []
    persons = persons_near(root, context)
    if any(condition.ref == root and condition.op == "is" for condition in state.conditions):
        return persons
    return [ref for ref in persons if not context.graph.is_subclass(root.node, ref.node)]


def opposite_end_refs(state: ParseState, root: Ref, context: ParseContext) -> list[Ref]:
    """Return what stands at the other end of a link that is named beside a thing: "what hangs in the hall"."""
    graph = context.graph
    named = {condition.ref for condition in state.conditions if condition.op == "is" and not condition.negated}
    found: list[Ref] = []
    for hint in sorted(state.hints):
        for source, target in graph.ends.get(hint, ()):
            for own, other in ((target, source), (source, target)):
                if own == other and root not in named:
                    # the thing that is asked for is one of the two already
                    continue
                if own == root.node and graph.widest_node(other) == other:
                    # of two things of one class the one that is not named
                    refs = (Ref(other, "", slot) for slot in range(MAX_SLOTS))
                    ref = next(each for each in refs if each not in named | {root})
                    if ref not in found:
                        found.append(ref)
    return found[:MAX_REFS]
