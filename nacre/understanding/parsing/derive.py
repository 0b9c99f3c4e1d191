"""Derive the readings of a question with their plans: Question + Links -> Candidates.

A beam reads the question from left to right and keeps the best partial readings; each is finished and lowered.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple, TypeVar

from nacre.language.tokens import fold, language_names
from nacre.records.plan import MEANS, PERIODS, Body
from nacre.records.threads import Deadline, raise_if_cancelled
from nacre.understanding.linking.adjectives import QUANTITY
from nacre.understanding.linking.schema_graph import SchemaGraph
from nacre.understanding.parsing.class_rules import class_mention
from nacre.understanding.parsing.cue_rules import (
    CUE_RULES,
    apply_cue,
    compare_with_own_aggregate,
    order_by_name,
)
from nacre.understanding.parsing.entity_rules import value_mention
from nacre.understanding.parsing.finish import finish_state
from nacre.understanding.parsing.lower import LoweredPlan, lower_derivation
from nacre.understanding.parsing.number_rules import apply_number, group_by_period
from nacre.understanding.parsing.property_rules import property_mention
from nacre.understanding.parsing.state import (
    SKIPPED_COST,
    Candidate,
    ParseContext,
    ParseState,
    add_schema_node,
    last_target_as_condition,
)
from nacre.understanding.parsing.superlative_rules import OrdinalMention, find_ordinals, ordinal_conditions
from nacre.understanding.question.records import Condition, Cue, Derivation, Link, Number, Question, Ref, token_mask

# how many partial readings are finished, derivations turned into plans, paths tried for each, and readings kept
MAX_STATES, MAX_LOWERED, MAX_PATH_CHOICES = 40, 60, 3

MAX_CANDIDATES = 40

SCORE_MARGIN = 2.0  # what scores so much less than the best is left out: partial readings, derivations, readings

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
    """The question without numbers and cues inside names: "8302-2", "the phone numbers of the shops", "price per
    litre"."""
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
    properties = [link for link in links if link.kind == "property"]
    cues = tuple(
        cue
        for cue in question.cues
        if cue.kind not in ("count", "group")
        or not any(
            link.start < cue.start and link.covered >> cue.start & 1
            for link in properties
            # of "price per litre in euros" too
            if link.exact or cue.kind == "group"
        )
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
    # the best score of a link for each range of tokens
    best_scores: dict[tuple[int, int], float] = {}
    for link in context.links:
        best_scores[link.start, link.end] = max(link.score, best_scores.get((link.start, link.end), 0.0))
    names = {link.covered for link in context.links if link.exact and link.end - link.start > 1}
    for derivation in derivations:
        raise_if_cancelled()
        if best and deadline.is_over():
            break
        name_loss = sum(best_scores[link.start, link.end] - link.score for link in derivation.links)
        split_names = sum(
            any(link.covered & name == link.covered != name for name in names) for link in derivation.links
        )
        for choice, lowered in enumerate(_lower(derivation, context)):
            if choice:
                derivation = derivation._replace(prior=derivation.prior - OTHER_PATH_COST)
            candidate = Candidate(derivation, *lowered, choice, name_loss, split_names)
            known = best.get(lowered.body)
            if known is None or _fit(candidate) > _fit(known):
                best[lowered.body] = candidate
    return list(best.values())


def _fit(candidate: Candidate) -> tuple[int, float]:
    """Of derivations of one plan, the one in which the fewest aggregates became one fits best, then the likeliest."""
    return -sum(bool(target.function) for target in candidate.derivation.targets), prior_score(candidate)


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


BEAM_WIDTH = 32  # how many partial readings are continued from each token
BEAM_SCORE_MARGIN = 2.5  # a partial reading that scores so much less than the best at its token is not continued

# the partial readings that end at a token, the best one for each content
_Cell = dict[tuple[object, ...], ParseState]

# a partial reading with the token at which it goes on
_Step = tuple[int, ParseState]


class _Chart(NamedTuple):
    """What begins at each token."""

    links: Mapping[int, Sequence[Link]]
    cues: Mapping[int, Sequence[Cue]]
    numbers: Mapping[int, Number]
    ordinals: Mapping[int, OrdinalMention]
    quoted: Mapping[int, int]


def beam_search(context: ParseContext, links: Sequence[Link], deadline: Deadline) -> list[ParseState]:
    """Return the partial readings after the last word, the best first; at the deadline the beam narrows to one."""
    chart, length = _chart(context, links), len(context.question.tokens)
    cells: list[_Cell] = [{} for _ in range(length + 1)]
    _add(cells[0], ParseState())
    for at in range(length):
        raise_if_cancelled()
        best = sorted(cells[at].values(), key=lambda state: -state.score)[: 1 if deadline.is_over() else BEAM_WIDTH]
        for number, state in enumerate(best):
            if number and deadline.is_over():
                break
            if state.score >= best[0].score - BEAM_SCORE_MARGIN:
                for end, new in _steps(state, at, chart, context):
                    _add(cells[end], new)
        cells[at] = {}
    return sorted(cells[length].values(), key=lambda state: -state.score)


def _chart(context: ParseContext, links: Sequence[Link]) -> _Chart:
    question = context.question
    links_at: dict[int, list[Link]] = defaultdict(list)
    for link in links:
        links_at[link.start].append(link)
    cues_at: dict[int, list[Cue]] = defaultdict(list)
    for cue in question.cues:
        if cue.kind in CUE_RULES:
            cues_at[cue.start].append(cue)
    numbers = {number.start: number for number in question.numbers}
    return _Chart(links_at, cues_at, numbers, find_ordinals(question), dict(question.quoted))


def _add(cell: _Cell, state: ParseState) -> None:
    """Keep a partial reading if it is the best one with its content."""
    content = state[1:-3]
    known = cell.get(content)
    if known is None or state.score > known.score:
        cell[content] = state


def _steps(state: ParseState, at: int, chart: _Chart, context: ParseContext) -> Iterator[_Step]:
    """All ways to go on from a token: skip it, or take what begins at it."""
    question = context.question
    if state.covered >> at & 1 and question.tokens[at].norm.isdigit():
        # the year of a name before it
        yield at + 1, state
        return
    is_skipped_free = at in question.stopwords
    yield at + 1, state if is_skipped_free else state._replace(score=state.score - SKIPPED_COST)
    for cue in chart.cues.get(at, ()):
        for new in apply_cue(state, cue, context):
            yield cue.end, new
            if cue.kind in MEANS and new.comparison is not None:
                for compared in compare_with_own_aggregate(new):
                    yield cue.end, compared
    for new in order_by_name(state, context, at):
        yield at + 1, new
    if question.tokens[at].lemma in PERIODS:
        for new in group_by_period(state, context, at):
            yield at + 1, new
    if at in chart.numbers:
        for new in apply_number(state, chart.numbers[at], context):
            yield chart.numbers[at].end, new
    if at in chart.ordinals:
        yield from ordinal_conditions(state, chart.ordinals[at], context)
    yield from _free_text(state, at, chart, context)
    for link in chart.links.get(at, ()):
        for new in _apply_mention(state, link, context):
            yield link.end, new


def _free_text(state: ParseState, at: int, chart: _Chart, context: ParseContext) -> Iterator[_Step]:
    """Text of a property: in quotation marks, after "starts with", or a name that is no known value."""
    token = context.question.tokens[at]
    if at in chart.quoted:
        end = chart.quoted[at]
    elif state.text_match and token.norm:
        end = at + 1
    else:
        end = _unknown_value_end(state, context, at) if _is_name(token.text) else 0
    if end:
        new = _text_condition(state, context, at, end)
        if new is not None:
            yield end, new


def _unknown_value_end(state: ParseState, context: ParseContext, at: int) -> int:
    """The end of a name right after a property of texts that has other values: the language of "who speaks Klingon"."""
    words, ref = context.question.tokens, state.pending_values
    if ref is None or not at or not state.links or state.links[-1].end != at:
        return 0
    about = context.graph.about(ref.predicate)
    if state.links[-1].kind != "property" or about.datatype != "text" or about.role != "fact" or not about.has_literals:
        return 0
    end = next((i for i in range(at, len(words)) if not _is_name(words[i].text)), len(words))
    name = fold(" ".join(token.text for token in words[at:end]))
    return end if name and name not in map(fold, about.values) else 0


def _is_name(word: str) -> bool:
    """Whether a word is capitalised, or is the name of a language, which few people capitalise."""
    return word[:1].isupper() or word in _languages()


@cache
def _languages() -> frozenset[str]:
    return frozenset(name.casefold() for name in language_names().values())


def _text_condition(state: ParseState, context: ParseContext, start: int, end: int) -> ParseState | None:
    """The reading in which the pending property has or contains a text, or the text waits for its property."""
    question = context.question
    text = question.text[question.tokens[start].start : question.tokens[end - 1].end]
    covered = state.covered | token_mask(start, end)
    is_quoted = (start, end) in question.quoted
    if not is_quoted and start in question.stopwords and len(text) > 1:
        return None
    if state.pending_property is None and state.text_match and not state.pending_text:
        return state.apply_rule("text waits", pending_text=text, covered=covered, last="value")
    ref = state.pending_values
    if ref is None:
        return None
    condition = Condition(ref, state.text_match or "=", (text,), state.negated, label=text)
    gain = (0.2 if state.text_match else -0.2) + (0.5 * (end - start) if is_quoted else 0.3)
    changes = {"covered": covered, "pending_property": None, "text_match": "", **last_target_as_condition(state)}
    return state.add_conditions("free text", gain, condition, last="value", **changes)


def _apply_mention(state: ParseState, link: Link, context: ParseContext) -> Iterator[ParseState]:
    if link.kind == "class":
        yield from class_mention(state, link, context)
    elif link.match == QUANTITY:
        number, _ = link.refs
        yield from property_mention(_restrict_quantity(state, link, context), link, context, number)
    elif link.kind == "property":
        for ref in link.refs:
            if ref.predicate or ref.via:
                yield from property_mention(state, link, context, ref)
    else:
        yield from value_mention(state, link, context)


def _restrict_quantity(state: ParseState, link: Link, context: ParseContext) -> ParseState:
    number, kind = link.refs
    if kind.predicate:
        restriction = Condition(kind, "=", (link.value,))
    else:
        restriction = Condition(Ref(kind.node), "is", (), False, link.keys, link.label)
        state = add_schema_node(add_schema_node(state, Ref(number.node), context), kind, context)
    return state.apply_rule(QUANTITY, conditions=(*state.conditions, restriction))
