"""The best readings of a question with their probabilities: RankedReadings + Question -> Readings, best first."""

from collections.abc import Sequence
from dataclasses import replace

from nacre.language.forms.nouns import is_plural
from nacre.records.plan import Attribute, Body, Itself, Plan, Select
from nacre.records.schema import Schema
from nacre.records.turn import Reading
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.parsing.constraints.own_properties import looks_up_own
from nacre.understanding.parsing.mention_rules.subclasses import NARROWER_KIND_RULE, OTHER_KIND_RULE
from nacre.understanding.parsing.readers.ages import ELAPSED_RULE
from nacre.understanding.parsing.state import Candidate
from nacre.understanding.question.types import Link, Question, token_mask
from nacre.understanding.ranking.calibrate import known_log_odds, log_odds_before_running, probability_before_running
from nacre.understanding.ranking.rank import RankedReading
from nacre.understanding.ranking.unheeded_words import (
    TokenSpan,
    has_unheeded_bound,
    is_required_word,
    is_unrestricted,
    unheeded_words,
)
from nacre.wording.phrases.plan import verbalise_plan

# Readings that are returned, and readings among which one is sought that heeds everything the question asks.
MAX_READINGS, MAX_READINGS_CHECKED = 6, 12
# Minimum share of the belief of a reading that comes before a likelier one because it heeds more (given).
MIN_SHARE = 0.02
# What the log-odds of a reading lose if it ignores a bound, or gives all things although the question has a condition.
# Such a reading is never the answer (given).
LOST_CONDITION_LOG_ODDS = 8.0
# The probability that the time between two dates of a completely named thing is right, if each word is used (given).
DATE_DIFFERENCE_PROBABILITY = 0.9


def best_readings(
    ranked: Sequence[RankedReading], question: Question, links: Sequence[Link], graph: SchemaGraph, schema: Schema
) -> tuple[list[RankedReading], tuple[Reading, ...]]:
    """The ranked readings in their final order, and the best of them with their probabilities.

    A reading that ignores a bound, a negation or a rank comes after those that do not. This does not raise the
    probability of the others.
    """
    unheeded = [unheeded_words(r.candidate, question, graph) for r in ranked[:MAX_READINGS_CHECKED]]
    is_late = [i >= MAX_READINGS_CHECKED or bool(unheeded[i]) or r.share < MIN_SHARE for i, r in enumerate(ranked)]
    order = sorted(range(len(ranked)), key=lambda i: is_late[i])
    unlinked = unlinked_tokens(links, question)
    first = order[:MAX_READINGS]
    readings = (make_reading(ranked[i], i, question, unheeded[i], unlinked, graph, schema) for i in first)
    return [ranked[i] for i in order], tuple(readings)


def unlinked_tokens(links: Sequence[Link], question: Question) -> frozenset[int]:
    """The content words that no link covers. Numbers are not content words here."""
    linked = 0
    for link in links:
        linked |= link.covered | (token_mask(link.start, link.end) if link.match == "slip" else 0)
    return frozenset(
        i
        for i, token in enumerate(question.tokens)
        if not (linked >> i & 1 or i in question.stopwords or token.norm[:1].isdigit())
    )


def has_other_answer_class(candidate: Candidate, question: Question, graph: SchemaGraph) -> bool:
    """Whether a reading answers with none of the things that the question begins with: "venues open on Monday" does not
    ask for times, nor "venues with the most seats" for seats."""
    d = candidate.derivation
    first = next((i for i in range(len(question.tokens)) if i not in question.stopwords), None)
    if first is None or not is_plural(question.tokens[first].norm) or not isinstance(candidate.body, Select):
        return False
    if {NARROWER_KIND_RULE, OTHER_KIND_RULE} & set(d.trace):
        return False
    if any(not t.ref.predicate and not graph.nodes[t.ref.node].classes for t in d.targets):
        # The target of a link may be of any class.
        return False
    requested = [r.node for x in d.links if x.kind == "class" and x.exact and x.start == first for r in x.refs]
    answered = {*(t.ref.node for t in d.targets), *(g.node for g in d.group)}
    classes = {iri for node in answered for iri in graph.nodes[node].classes}
    return bool(requested) and not any(n in answered or classes & set(graph.nodes[n].classes) for n in requested)


def show_things_beside_values(body: Body) -> Body:
    """The plan, with the things as a column if it gives a property of several named things, so that the answer shows
    which value belongs to which."""
    value = body.answers[0] if isinstance(body, Select) and len(body.answers) == 1 else None
    if not isinstance(body, Select) or not isinstance(value, Attribute) or body.group or body.by or body.order:
        return body
    thing = next((v for v in body.variables if v.name == value.variable), None)
    if thing is None or len(thing.keys) < 2 or len(thing.label.split(" or ")) != len(thing.keys):
        return body
    return replace(body, answers=(Itself(value.variable), value))


def make_reading(
    ranked: RankedReading,
    place: int,
    question: Question,
    unheeded: tuple[TokenSpan, ...],
    unlinked: frozenset[int],
    graph: SchemaGraph,
    schema: Schema,
) -> Reading:
    """A reading with its probabilities. `unheeded` are the spans that it covers and ignores."""
    candidate = ranked.candidate
    plan = Plan(show_things_beside_values(candidate.body))
    words, share = verbalise_plan(plan, schema), round(ranked.share, 4)
    if candidate.derivation.trace == ELAPSED_RULE and not ranked.unused:
        odds = log_odds_before_running(DATE_DIFFERENCE_PROBABILITY)
        return Reading(plan, share, 1.0, words, DATE_DIFFERENCE_PROBABILITY, (), odds)
    has_conditions = bool(unheeded) or any(i in unlinked and is_required_word(i, question) for i in ranked.unused)
    is_refused = (
        has_unheeded_bound(unheeded, question)
        or (has_conditions and is_unrestricted(candidate.body))
        or has_other_answer_class(candidate, question, graph)
    )
    content = sum(i not in question.stopwords for i in range(len(question.tokens)))
    unused = [(i, i + 1) for i in ranked.unused if not any(a <= i < b for a, b in unheeded)]
    return Reading(
        plan,
        share,
        round(1 - len(ranked.unused) / max(1, content), 3),
        words,
        round(probability_before_running(ranked, place), 4),
        _texts(sorted([*unheeded, *unused]), question),
        round(known_log_odds(ranked, place) - (LOST_CONDITION_LOG_ODDS if is_refused else 0.0), 4),
        _texts(unheeded, question),
        own=looks_up_own(candidate, question, graph),
    )


def _texts(spans: Sequence[TokenSpan], question: Question) -> tuple[str, ...]:
    words = question.tokens
    return tuple(question.text[words[start].start : words[end - 1].end] for start, end in spans)
