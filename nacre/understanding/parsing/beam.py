"""Read a question from left to right, keeping the likeliest partial readings: Question + Links -> States."""

from collections import defaultdict
from collections.abc import Sequence
from functools import cache

from nacre.language.base import language
from nacre.language.detect_language import language_names
from nacre.language.tokens import fold
from nacre.records.cancellation import Deadline, raise_if_cancelled
from nacre.understanding.parsing.mention_rules.mentions import apply_mention
from nacre.understanding.parsing.modifier_rules.cues import CUE_RULES, apply_cue
from nacre.understanding.parsing.modifier_rules.numbers import apply_number
from nacre.understanding.parsing.modifier_rules.ordinals import find_ordinals, ordinal_conditions
from nacre.understanding.parsing.modifier_rules.periods import group_by_period, is_period_word
from nacre.understanding.parsing.modifier_rules.ranking_cues import compare_with_own_aggregate
from nacre.understanding.parsing.state import (
    SKIPPED_COST,
    ParseContext,
    ParseState,
    drop_open_property,
    last_target_as_condition,
)
from nacre.understanding.question.types import Condition, Link, token_mask

WIDTH = 32
# what a word that points back is worth, as much as one that names something
SAID_BEFORE = 1.3
# a partial reading that is so far below the best at its place is not followed
MARGIN = 2.5


def beam_search(
    context: ParseContext, links: Sequence[Link], deadline: Deadline, width: int = WIDTH
) -> list[ParseState]:
    """The partial readings after the last word, best first; at the deadline the beam narrows to one."""
    question = context.question
    n = len(question.tokens)
    by_start: dict[int, list[Link]] = defaultdict(list)
    for link in links:
        by_start[link.start].append(link)
    cues = defaultdict(list)
    for found in question.cues:
        if found.kind in CUE_RULES:
            cues[found.start].append(found)
    numbers = {found.start: found for found in question.numbers}
    ordinals = find_ordinals(question)
    quoted = dict(question.quoted)
    agenda: list[dict[tuple[object, ...], ParseState]] = [{} for _ in range(n + 1)]
    _add(agenda[0], ParseState())
    for i in range(n):
        raise_if_cancelled()
        kept = sorted(agenda[i].values(), key=lambda s: -s.score)[: 1 if deadline.is_over() else width]
        kept = [s for s in kept if s.score >= kept[0].score - MARGIN]
        agenda[i] = {}
        token = question.tokens[i]
        skip = 0.0 if i in question.stopwords else SKIPPED_COST
        timed, pointing, name = is_period_word(token), _points_back(context, i), _is_name(token.text)
        for state in kept:
            _add(agenda[i + 1], state._replace(score=state.score - skip) if skip else state)
            for found in cues[i]:
                for new in apply_cue(state, found, context):
                    _add(agenda[found.end], new)
                    if found.kind == "avg" and new.comparison is not None:
                        for own in compare_with_own_aggregate(new):
                            _add(agenda[found.end], own)
            if timed:
                for new in group_by_period(state, context, i):
                    _add(agenda[i + 1], new)
            if pointing:
                for new in _said_before(state, context, i):
                    _add(agenda[i + 2], new)
            if i in numbers:
                for new in apply_number(state, numbers[i], context):
                    _add(agenda[numbers[i].end], new)
            if i in ordinals:
                for end_of_place, new in ordinal_conditions(state, ordinals[i], context):
                    _add(agenda[end_of_place], new)
            end = quoted.get(i, i + 1) if i in quoted or (state.text_match and token.norm) else 0
            end = end or (_other_value(state, context, i) if name else 0)
            if end:
                for new in _free_text(state, context, i, end):
                    _add(agenda[end], new)
            for link in by_start[i]:
                for new in apply_mention(state, link, context):
                    _add(agenda[link.end], new)
    return sorted(agenda[n].values(), key=lambda s: -s.score)


def _points_back(context: ParseContext, at: int) -> bool:
    """Whether a word points to what the next one names: "in that year", and not "museums that opened"."""
    words, known = context.question.tokens, language().words
    if not at or at + 1 >= len(words) or words[at].norm not in known["demonstrative"]:
        return False
    return words[at - 1].norm in known["pointing_after"]


def _said_before(state: ParseState, context: ParseContext, at: int) -> list[ParseState]:
    """ "every year, and the number of mills that opened in that year": a word that points back names nothing new."""
    words = context.question.tokens
    said = words[at + 1].lemma
    if not any(words[x.end - 1].lemma == said for x in state.links if x.kind in ("property", "class")):
        return []
    covered = state.covered | 0b11 << at
    return [drop_open_property(state).apply_rule("said before", SAID_BEFORE, covered=covered, last="value")]


def _other_value(state: ParseState, context: ParseContext, at: int) -> int:
    """Where a name ends that stands right after a property of texts and is none of its values, as the language of "who
    speaks Klingon"; 0 where there is none."""
    words, prop = context.question.tokens, state.pending_property
    if prop is None or not prop.predicate or not at or not state.links or state.links[-1].end != at:
        return 0
    about = context.graph.about(prop.predicate)
    if state.links[-1].kind != "property" or about.datatype != "text" or about.role != "fact" or not about.has_literals:
        return 0
    end = next((i for i in range(at, len(words)) if not _is_name(words[i].text)), len(words))
    said = fold(" ".join(t.text for t in words[at:end]))
    return end if said and said not in map(fold, about.values) else 0


@cache
def _languages() -> frozenset[str]:
    return frozenset(name.casefold() for name in language_names().values())


def _is_name(word: str) -> bool:
    """Whether a word is written as a name, or is the name of a language, which few people give its capital."""
    return word[:1].isupper() or word in _languages()


def _free_text(state: ParseState, context: ParseContext, start: int, end: int) -> list[ParseState]:
    """Text that the question gives for a property: in quotation marks, or after "starts with"."""
    question = context.question
    own = question.tokens[start:end]
    text = question.text[own[0].start : own[-1].end]
    mask = token_mask(start, end)
    prop = state.pending_property
    quoted = (start, end) in question.quoted
    if not quoted and start in question.stopwords and len(text) > 1:
        return []
    if prop is None and state.text_match and not state.pending_text:
        return [state.apply_rule("text waits", 0.0, pending_text=text, covered=state.covered | mask, last="value")]
    if prop is None or not prop.predicate:
        return []
    condition = Condition(prop, state.text_match or "=", (text,), state.negated, label=text)
    gain = 0.2 if state.text_match else -0.2
    return [
        state.apply_rule(
            "free text", gain + (0.5 * (end - start) if quoted else 0.3), conditions=(*state.conditions, condition),
            covered=state.covered | mask, pending_property=None, text_match="", negated=False, last="value", **last_target_as_condition(state),
        )
    ]  # fmt: skip


def _add(states: dict[tuple[object, ...], ParseState], state: ParseState) -> None:
    key = state[1:-3]
    known = states.get(key)
    if known is None or state.score > known.score:
        states[key] = state
