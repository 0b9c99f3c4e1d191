"""The reading that verified questions offer: question + VerifiedQuestions -> Reading; its place among the others."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from nacre.records.schema import Schema
from nacre.records.turn import Reading, VerifiedMatch
from nacre.records.verified_question import VerifiedQuestion
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.question.types import Link, Question
from nacre.understanding.ranking.calibrate import log_odds_before_running, probability
from nacre.understanding.ranking.rank import weighted_sum
from nacre.understanding.verified.align import Alignment, align_question
from nacre.understanding.verified.contradictions import asks_otherwise, rules_are_surer
from nacre.understanding.verified.likeness import compare_words, likeness_features, word_leads
from nacre.understanding.verified.slots import plan_elements
from nacre.understanding.verified.template import template_of
from nacre.wording.phrases.plan import verbalise_plan

WEIGHTS_FILE = Path(__file__).with_name("weights.json")
# verified questions that are compared with one question
MAX_COMPARED = 24
# longer questions are only compared as a whole, since all pairs of words are looked at (given)
MAX_TOKENS_COMPARED = 60
# less likely plans are not offered, and none is surer than this (given)
MIN_PROBABILITY, MAX_PROBABILITY = 0.2, 0.98
# likelier plans account for all words of the question (given)
LIKELY = 0.5
# the share of an offer of that of the reading of the rules that is surer, at most (given)
SHARE_BEHIND = 0.5


@dataclass(frozen=True)
class Offer:
    """A verified question with the plan for the names of another one, and the probability that its rows answer it."""

    verified: VerifiedQuestion
    alignment: Alignment
    probability: float


@cache
def load_likeness_weights() -> Mapping[str, float]:
    """The weights of the features of likeness, read once."""
    weights: Mapping[str, float] = json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))
    return weights


def offers(
    verified: Sequence[VerifiedQuestion],
    question: Question,
    links: Sequence[Link],
    readings: Sequence[Reading],
    graph: SchemaGraph,
) -> list[Offer]:
    """The plans of verified questions with the names of this one, the likeliest first."""
    compared = compare_verified(verified[:MAX_COMPARED], question, links, readings, graph)
    found = [Offer(each, alignment, offer_probability(features)) for each, alignment, features in compared]
    return sorted(found, key=lambda offer: -offer.probability)


def standing_offer(
    found: Sequence[Offer], question: Question, links: Sequence[Link], graph: SchemaGraph
) -> Offer | None:
    """The likeliest of the offers; None if there is none, or if the question contradicts it. The next one is no
    better: its words are fewer."""
    best = next(iter(found), None)
    if best is None:
        return None
    words = compare_words(best.alignment, question, links, graph)
    return None if asks_otherwise(best.alignment, words, question, links, graph) else best


def compare_verified(
    verified: Sequence[VerifiedQuestion],
    question: Question,
    links: Sequence[Link],
    readings: Sequence[Reading],
    graph: SchemaGraph,
) -> list[tuple[VerifiedQuestion, Alignment, dict[str, float]]]:
    """The verified questions whose slots the question fills, with the features of likeness."""
    compared = []
    if len(question.tokens) > MAX_TOKENS_COMPARED:
        return []
    elements = plan_elements(readings[0].plan.body) if readings else frozenset()
    for each in verified:
        template = template_of(each, graph.schema)
        if template is None or len(template.question.tokens) > MAX_TOKENS_COMPARED:
            continue
        alignment = align_question(template, question, links, graph)
        if alignment is not None:
            words = compare_words(alignment, question, links, graph)
            if not (words.are_shared or (template.names and not alignment.changed)):
                # nothing but its form speaks for it
                continue
            features = likeness_features(alignment, words, question, links, readings, elements)
            compared.append((each, alignment, features))
    leads = word_leads([features for *_, features in compared], [a.plan for _, a, _ in compared])
    return [(each, a, {**features, "lead": lead}) for (each, a, features), lead in zip(compared, leads, strict=True)]


def offer_probability(features: Mapping[str, float]) -> float:
    """The probability that a plan with these features of likeness answers the question."""
    return min(MAX_PROBABILITY, probability(weighted_sum(features, load_likeness_weights())))


def merge_offer(offer: Offer | None, readings: tuple[Reading, ...], schema: Schema, most: int) -> tuple[Reading, ...]:
    """The readings with the offered plan, the likeliest first. A reading of the rules with the same plan takes its
    probability; the others share what is left, and the first one stays before the offer if it is sure and surer."""
    if offer is None or offer.probability < MIN_PROBABILITY:
        return readings
    plan, chance = offer.alignment.plan, offer.probability
    own = next((each for each in readings if each.plan.body == plan.body), None)
    # the chance contains already that the rules agree
    score = max(chance, own.score if own is not None else 0.0)
    sure = min(MAX_PROBABILITY, max(chance, (own.probability or 0.0) if own is not None else 0.0))
    left = 1 - chance
    if rules_are_surer(offer.alignment, chance, next(iter(readings), None)):
        score = min(score, readings[0].score * left * SHARE_BEHIND)
    odds = max(log_odds_before_running(sure), own.odds if own is not None else -math.inf)
    words = verbalise_plan(plan, schema)
    unused = own.unused if own is not None and chance < LIKELY else ()
    covered = own.covered if own is not None and chance < LIKELY else 1.0
    alike = offer.verified
    match = VerifiedMatch(alike.id, alike.by, alike.at, alike.standalone)
    merged = Reading(plan, score, covered, words, sure, unused, odds, verified=match)
    others = [
        replace(each, score=each.score * left, probability=(each.probability or 0.0) * left,
                odds=each.odds + math.log(left))
        for each in readings
        if each is not own
    ]  # fmt: skip
    return tuple(sorted((merged, *others), key=lambda each: -each.score)[:most])
