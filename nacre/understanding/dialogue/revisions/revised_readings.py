"""Readings of a follow-up that revises the plan before it: ranked candidates + Scope -> Readings, best first."""

import math
from collections.abc import Sequence
from dataclasses import replace

from nacre.records.plan import Body, Plan
from nacre.records.schema import Schema
from nacre.records.turn import Reading, Scope
from nacre.understanding.dialogue.revisions.follow_up import changed_plans
from nacre.understanding.linking.linker import Linker
from nacre.understanding.question.types import Link, Question
from nacre.understanding.ranking.calibrate import log_odds_before_running
from nacre.understanding.ranking.rank import RankedReading
from nacre.wording.phrases.plan import verbalise_plan

# Parser rules that link a word but do not use it.
IDLE_RULES = frozenset(("dangling", "group dropped"))
# Revised plans of one follow-up, at most.
MAX_REVISIONS = 2
# The probability that the first of them is right if the plan before it was right (measured over conversations about
# four graphs to learn from, 32 and 45 follow-ups).
REVISION_PROBABILITY = 0.84


def revised_readings(
    ranked: Sequence[RankedReading],
    links: Sequence[Link],
    question: Question,
    scope: Scope | None,
    linker: Linker,
    schema: Schema,
) -> tuple[Reading, ...]:
    """The plan of the scope, changed by what the follow-up says. Empty unless the scope says what to change."""
    if scope is None or not scope.how:
        return ()
    # A change that uses more of the follow-up's words is more likely.
    bodies = [r.candidate.body for r in sorted(ranked, key=_count_unused_words)]
    revised = changed_plans(question, links, bodies, scope, linker.index.graph)[:MAX_REVISIONS]
    first = REVISION_PROBABILITY * scope.confidence
    return tuple(_reading(body, first / (place + 1), schema) for place, body in enumerate(revised))


def merge_readings(revised: tuple[Reading, ...], readings: tuple[Reading, ...], most: int) -> tuple[Reading, ...]:
    """The revised readings, then the others with the remaining probability."""
    if not revised:
        return readings
    left = 1 - revised[0].score
    plans = {r.plan for r in revised}
    others = (
        replace(r, score=r.score * left, probability=(r.probability or 0.0) * left, odds=r.odds + math.log(left))
        for r in readings
        if r.plan not in plans
    )
    return (*revised, *others)[:most]


def _reading(body: Body, probability: float, schema: Schema) -> Reading:
    plan = Plan(body)
    words = verbalise_plan(plan, schema)
    return Reading(plan, probability, 1.0, words, probability, (), log_odds_before_running(probability))


def _count_unused_words(ranked: RankedReading) -> int:
    """How many words a candidate leaves out, or links and does not use."""
    return len(ranked.unused) + sum(rule in IDLE_RULES for rule in ranked.candidate.derivation.trace)
