"""The readings that a follow-up makes of the plan before it, beside those of its own words: plans -> Readings."""

import math
from collections.abc import Sequence
from dataclasses import replace

from nacre.records.plan import Plan
from nacre.records.schema import Schema
from nacre.records.turn import Reading, Scope
from nacre.understanding.dialogue.revisions.follow_up import changed_plans
from nacre.understanding.linking.linker import Linker
from nacre.understanding.question.types import Link, Question
from nacre.understanding.ranking.rank import RankedReading
from nacre.wording.phrases.plan import verbalise_plan

# rules that link a word and do nothing with it
IDLE_RULES = frozenset(("dangling", "group dropped"))
# plans that a follow-up makes of the one before it
MAX_REVISIONS = 2
# the probability that the first of these is right where the plan before was right, and what running it adds to its
# log-odds on average (measured over conversations about four graphs to learn from, 32 and 45 follow-ups)
REVISION_PROBABILITY = 0.84
RUNNING_LOG_ODDS = 0.68


def revised_readings(
    ranked: Sequence[RankedReading],
    links: Sequence[Link],
    question: Question,
    scope: Scope | None,
    linker: Linker,
    schema: Schema,
) -> tuple[Reading, ...]:
    """The readings that a follow-up makes of the plan before it."""
    if scope is None or not scope.how:
        return ()
    # a change that leaves words of the follow-up out is less likely than one that does not
    bodies = [r.candidate.body for r in sorted(ranked, key=_left_out)]
    found = changed_plans(question, links, bodies, scope, linker.index.graph)[:MAX_REVISIONS]
    first = REVISION_PROBABILITY * scope.confidence
    readings = []
    for place, body in enumerate(found):
        plan, share = Plan(body), first / (place + 1)
        readings.append(
            Reading(plan, share, 1.0, verbalise_plan(plan, schema), share, (), log_odds_before_running(share))
        )
    return tuple(readings)


def merge_readings(changed: tuple[Reading, ...], readings: tuple[Reading, ...], most: int) -> tuple[Reading, ...]:
    """Changed plans first, the others with what belief is left."""
    if not changed:
        return readings
    left = 1 - changed[0].score
    plans = {c.plan for c in changed}
    others = (
        replace(r, score=r.score * left, probability=(r.probability or 0.0) * left, odds=r.odds + math.log(left))
        for r in readings
        if r.plan not in plans
    )
    return (*changed, *others)[:most]


def log_odds_before_running(share: float) -> float:
    """The log-odds before running that make a probability after it, on average."""
    return math.log(share / (1 - share)) - RUNNING_LOG_ODDS


def _left_out(ranked: RankedReading) -> int:
    """How many words a reading leaves out, or links and does nothing with."""
    return len(ranked.unused) + sum(rule in IDLE_RULES for rule in ranked.candidate.derivation.trace)
