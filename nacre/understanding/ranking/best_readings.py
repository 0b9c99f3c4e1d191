"""The best readings of a question with what is believed of them: RankedReading + Question -> Readings, best first."""

from collections.abc import Sequence
from dataclasses import replace

from nacre.language.forms.nouns import is_plural
from nacre.records.plan import Attribute, Body, Itself, Plan, Select
from nacre.records.schema import Schema
from nacre.records.turn import Reading
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.parsing.candidate import Candidate
from nacre.understanding.parsing.mention_rules.subclasses import NARROWER_KIND_RULE, OTHER_KIND_RULE
from nacre.understanding.parsing.readers.ages import ELAPSED_RULE
from nacre.understanding.question.types import Link, Question
from nacre.understanding.ranking.calibrate import known_log_odds, log_odds_before_running, probability_before_running
from nacre.understanding.ranking.rank import RankedReading
from nacre.understanding.ranking.unheeded_words import (
    has_unheeded_bound,
    is_required_word,
    is_unrestricted,
    unheeded_words,
)
from nacre.wording.phrases.plan import verbalise_plan

MAX_READINGS = 6
# readings that are looked through for one that heeds all that is asked
MAX_READINGS_CHECKED = 12
# the least belief in a reading that comes before one which is believed more and heeds less (given)
MIN_SHARE = 0.02
# what a reading loses in log-odds that ignores a number which bounds, or gives all of a kind where a condition was
# said: it is never given as an answer (given)
LOST_CONDITION_LOG_ODDS = 8.0
# how likely the time between two dates is right of a thing whose whole name is said, each word used (given)
DATE_DIFFERENCE_PROBABILITY = 0.9


def best_readings(
    ranked: Sequence[RankedReading], question: Question, links: Sequence[Link], graph: SchemaGraph, schema: Schema
) -> tuple[list[RankedReading], tuple[Reading, ...]]:
    """The ranked readings in their order, and the best of them as others see them.

    What does nothing with a bound, a negation or a rank of the question comes after what does, of which no more is
    believed for that.
    """
    lost = [unheeded_words(r.candidate, question, graph) for r in ranked[:MAX_READINGS_CHECKED]]
    unlike = [i >= MAX_READINGS_CHECKED or bool(lost[i]) or r.share < MIN_SHARE for i, r in enumerate(ranked)]
    order = sorted(range(len(ranked)), key=lambda i: unlike[i])
    ordered, open_ = [ranked[i] for i in order], unlinked_tokens(links, question)
    best = (_reading(ranked[i], i, question, lost[i], open_, graph, schema) for i in order[:MAX_READINGS])
    return ordered, tuple(best)


def unlinked_tokens(links: Sequence[Link], question: Question) -> frozenset[int]:
    """The content words that no link accounts for."""
    named = 0
    for each in links:
        named |= each.covered | (((1 << (each.end - each.start)) - 1) << each.start if each.match == "slip" else 0)
    return frozenset(
        i
        for i, token in enumerate(question.tokens)
        if not (named >> i & 1 or i in question.stopwords or token.norm[:1].isdigit())
    )


def _reading(
    ranked: RankedReading,
    place: int,
    question: Question,
    lost: tuple[tuple[int, int], ...],
    open_: frozenset[int],
    graph: SchemaGraph,
    schema: Schema,
) -> Reading:
    """A reading with what is believed of it; `lost` are the stretches that it does nothing with, though it covers
    them, `open_` the tokens that name nothing."""
    conditions = lost or any(i in open_ and is_required_word(i, question) for i in ranked.unused)
    refused = has_unheeded_bound(lost, question) or (conditions and is_unrestricted(ranked.candidate.body))
    refused = refused or has_other_answer_class(ranked.candidate, question, graph)
    content = sum(i not in question.stopwords for i in range(len(question.tokens)))
    plan = Plan(show_things_beside_values(ranked.candidate.body))
    if ranked.candidate.derivation.trace == ELAPSED_RULE and not ranked.unused:
        odds = log_odds_before_running(DATE_DIFFERENCE_PROBABILITY)
        return Reading(
            plan, round(ranked.share, 4), 1.0, verbalise_plan(plan, schema), DATE_DIFFERENCE_PROBABILITY, (), odds
        )
    return Reading(
        plan,
        round(ranked.share, 4),
        round(1 - len(ranked.unused) / max(1, content), 3),
        verbalise_plan(plan, schema),
        round(probability_before_running(ranked, place), 4),
        _said(sorted([*lost, *((i, i + 1) for i in ranked.unused if not any(a <= i < b for a, b in lost))]), question),
        round(known_log_odds(ranked, place) - (LOST_CONDITION_LOG_ODDS if refused else 0.0), 4),
        _said(lost, question),
    )


def has_other_answer_class(candidate: Candidate, question: Question, graph: SchemaGraph) -> bool:
    """Whether a reading gives nothing of the things that a question begins with: "venues open on Monday" asks for no
    times, and "venues with the most seats" for no seats."""
    d = candidate.derivation
    first = next((i for i in range(len(question.tokens)) if i not in question.stopwords), None)
    if first is None or not is_plural(question.tokens[first].norm) or not isinstance(candidate.body, Select):
        return False
    if {NARROWER_KIND_RULE, OTHER_KIND_RULE} & set(d.trace):
        return False
    asked = [r.node for x in d.links if x.kind == "class" and x.exact and x.start == first for r in x.refs]
    given = {*(t.ref.node for t in d.targets), *(g.node for g in d.group)}
    kinds = {kind for node in given for kind in graph.nodes[node].classes}
    if any(not t.ref.predicate and not graph.nodes[t.ref.node].classes for t in d.targets):
        # what a link leads to may be of any kind
        return False
    return bool(asked) and not any(node in given or kinds & set(graph.nodes[node].classes) for node in asked)


def show_things_beside_values(body: Body) -> Body:
    """A plan that gives a property of several named things with the things beside it, so that nobody need guess whose
    each value is."""
    value = body.answers[0] if isinstance(body, Select) and len(body.answers) == 1 else None
    if not isinstance(body, Select) or not isinstance(value, Attribute) or body.group or body.by or body.order:
        return body
    thing = next((v for v in body.variables if v.name == value.variable), None)
    if thing is None or len(thing.keys) < 2 or len(thing.label.split(" or ")) != len(thing.keys):
        return body
    return replace(body, answers=(Itself(value.variable), value))


def _said(spans: Sequence[tuple[int, int]], question: Question) -> tuple[str, ...]:
    """Stretches of tokens as they were said."""
    words = question.tokens
    return tuple(question.text[words[start].start : words[end - 1].end] for start, end in spans)
