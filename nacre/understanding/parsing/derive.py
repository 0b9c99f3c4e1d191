"""Derive the readings of a question with their plans: Question + Links -> Candidates.

The steps: beam search over the words, completion of partial readings, and lowering to plans.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from nacre.records.cancellation import Deadline, raise_if_cancelled
from nacre.records.plan import Body
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.parsing.beam import beam_search
from nacre.understanding.parsing.completion.finish import finish_state
from nacre.understanding.parsing.lowering.lower import LoweredPlan, lower_derivation
from nacre.understanding.parsing.state import Candidate, ParseContext, ParseState
from nacre.understanding.question.types import Derivation, Link, Question

# how many partial readings are finished, derivations turned into plans, paths tried for each, and readings kept
MAX_STATES, MAX_LOWERED, MAX_PATH_CHOICES = 40, 60, 3
MAX_CANDIDATES = 40
# what scores so much less than the best is left out: partial readings, derivations, readings
SCORE_MARGIN = 2.0
# what a reading loses by each path that is not the cheapest, and by the cost of its joins
OTHER_PATH_COST, JOIN_COST_SHARE = 0.3, 0.2

T = TypeVar("T")


def derive_candidates(context: ParseContext, deadline: Deadline) -> list[Candidate]:
    """Return all readings of a question, each plan once."""
    states = beam_search(context, context.links, deadline)
    return _lower_all(_derivations(states, context), context, deadline)


def likeliest_candidates(candidates: Sequence[Candidate], most: int = MAX_CANDIDATES) -> list[Candidate]:
    """Return the `most` likeliest readings by their prior, the best first."""
    return _within_margin(sorted(candidates, key=lambda each: -prior_score(each)), prior_score)[:most]


def prior_score(candidate: Candidate) -> float:
    """Return a first estimate that orders readings before they are ranked."""
    return candidate.derivation.prior - JOIN_COST_SHARE * candidate.join_cost


def parse_context(question: Question, links: Sequence[Link], graph: SchemaGraph) -> ParseContext:
    """Return the context in which a question is derived: without the cues and numbers that are parts of names."""
    return ParseContext(_without_parts_of_names(question, links), graph, links)


def _without_parts_of_names(question: Question, links: Sequence[Link]) -> Question:
    """The question without numbers and cues that are parts of names.

    Numbers are parts of codes ("8302-2"), and "number of" is a part of a property ("the phone numbers of the shops").
    """
    words = question.tokens
    codes = [
        link
        for link in links
        if link.kind in ("value", "entity") and link.exact and link.end - link.start > 1
        if len(question.text[words[link.start].start : words[link.end - 1].end].split()) == 1
    ]
    numbers = tuple(
        number
        for number in question.numbers
        if not any(code.start <= number.start and number.end <= code.end for code in codes)
    )
    properties = [link for link in links if link.kind == "property" and link.exact]
    cues = tuple(
        cue
        for cue in question.cues
        if cue.kind != "count"
        or not any(link.start < cue.start and link.covered >> cue.start & 1 for link in properties)
    )
    return question._replace(numbers=numbers, cues=cues)


def _derivations(states: Sequence[ParseState], context: ParseContext) -> list[Derivation]:
    """The derivations of the best partial readings, the likeliest first; of equal ones the likeliest."""
    best: dict[tuple[object, ...], Derivation] = {}
    for state in _within_margin(states, lambda state: state.score)[:MAX_STATES]:
        for derivation in finish_state(state, context):
            content = (
                *derivation[:4],
                frozenset(derivation.nodes),
                derivation.combine,
                derivation.hints,
                derivation.attachment,
            )
            known = best.get(content)
            if known is None or derivation.prior > known.prior:
                best[content] = derivation
    ordered = sorted(best.values(), key=lambda derivation: -derivation.prior)
    return _within_margin(ordered, lambda derivation: derivation.prior)[:MAX_LOWERED]


def _lower_all(derivations: Sequence[Derivation], context: ParseContext, deadline: Deadline) -> list[Candidate]:
    """The candidates of derivations, each plan once; at the deadline those that are ready."""
    best: dict[Body, Candidate] = {}
    loss_of = _name_losses(context.links)
    names = {link.covered for link in context.links if link.exact and link.end - link.start > 1}
    for derivation in derivations:
        raise_if_cancelled()
        if best and deadline.is_over():
            break
        name_loss = sum(loss_of[link.start, link.end] - link.score for link in derivation.links)
        split_names = sum(
            any(link.covered & name == link.covered != name for name in names) for link in derivation.links
        )
        for choice, lowered in enumerate(_lower(derivation, context)):
            if choice:
                derivation = derivation._replace(prior=derivation.prior - OTHER_PATH_COST)
            candidate = Candidate(derivation, *lowered, choice, name_loss, split_names)
            known = best.get(lowered.body)
            if known is None or prior_score(candidate) > prior_score(known):
                best[lowered.body] = candidate
    return list(best.values())


def _name_losses(links: Sequence[Link]) -> Mapping[tuple[int, int], float]:
    """The best score of a link for each range of tokens."""
    best: dict[tuple[int, int], float] = {}
    for link in links:
        best[link.start, link.end] = max(link.score, best.get((link.start, link.end), 0.0))
    return best


def _lower(derivation: Derivation, context: ParseContext) -> list[LoweredPlan]:
    """The plans of a derivation over the paths that are about as cheap."""
    plans: list[LoweredPlan] = []
    for choice in range(MAX_PATH_CHOICES):
        lowered = lower_derivation(derivation, context.graph, choice)
        if lowered is None:
            break
        plans.append(lowered)
        if lowered.ambiguous <= choice:
            break
    return plans


def _within_margin(ordered: Sequence[T], score: Callable[[T], float]) -> list[T]:
    """What scores at most the margin less than the first."""
    return [each for each in ordered if score(each) >= score(ordered[0]) - SCORE_MARGIN]
