"""The reading that a verified question offers among the readings of the rules."""

import math

import pytest

from nacre.extensions.verified.offer import MIN_PROBABILITY, Offer, merge_offer, word_leads
from nacre.extensions.verified.template import Alignment, Template
from nacre.records.plan import Itself, Plan, Select, Variable
from nacre.records.schema import Schema
from nacre.records.turn import Reading, VerifiedMatch, VerifiedQuestion
from nacre.understanding.question.analyse import analyse_question

SCHEMA = Schema((), (), (), (), {}, 0, 0)
WORDS = {"same words": 0.0, "synonymous words": 0.0, "own words": 0.0, "missing share": 0.0, "other share": 0.0}


CONFIRMED = VerifiedQuestion("1", "who?", "who?", None, None, "", "text", "ann", "2026-05-03T10:00:00Z", "v1")


def plan(name: str) -> Plan:
    return Plan(Select((Itself(name),), (Variable(name),)))


def offer(name: str, probability: float) -> Offer:
    template = Template(analyse_question("who?"), plan(name), frozenset(), (), (), ())
    return Offer(CONFIRMED, Alignment(template, plan(name), frozenset()), probability)


def reading(name: str, score: float, unused: tuple[str, ...] = ()) -> Reading:
    return Reading(plan(name), score, 0.5, name, score, unused, math.log(score / (1 - score)))


def test_a_likely_offer_comes_first_and_leaves_the_rest_to_the_others() -> None:
    first, other = merge_offer(offer("a", 0.8), (reading("b", 0.6, ("x",)),), SCHEMA, 6)
    assert (first.plan, first.score, first.unused) == (plan("a"), 0.8, ())
    assert (other.plan, other.unused) == (plan("b"), ("x",))
    assert other.score == pytest.approx(0.12)
    assert (first.verified, other.verified) == (VerifiedMatch("1", "ann", CONFIRMED.at, "who?", is_like=True), None)


def test_an_unlikely_offer_comes_later_and_a_hopeless_one_not_at_all() -> None:
    readings = (reading("b", 0.9, ("x",)),)
    found = merge_offer(offer("a", 0.3), readings, SCHEMA, 6)
    assert [each.plan for each in found] == [plan("b"), plan("a")]
    assert merge_offer(offer("a", MIN_PROBABILITY / 2), readings, SCHEMA, 6) is readings
    assert merge_offer(None, readings, SCHEMA, 6) is readings


def test_a_question_that_the_rules_surely_read_as_a_whole_is_another_one() -> None:
    readings = (reading("b", 0.9),)
    assert merge_offer(offer("a", 0.3), readings, SCHEMA, 6) is readings
    assert merge_offer(offer("a", 0.6), readings, SCHEMA, 6) is not readings


def test_the_same_plan_is_one_reading_with_the_higher_probability() -> None:
    [found] = merge_offer(offer("b", 0.7), (reading("b", 0.9),), SCHEMA, 6)
    assert (found.score, found.probability) == (0.9, 0.9)
    [unsure] = merge_offer(offer("b", 0.3), (reading("b", 0.4, ("x",)),), SCHEMA, 6)
    assert (unsure.score, unsure.unused) == (0.4, ("x",))


def test_the_lead_counts_only_questions_with_another_plan() -> None:
    features = [{**WORDS, "same words": 0.9}, {**WORDS, "same words": 0.8}, {**WORDS, "same words": 0.6}]
    leads = word_leads(features, [plan("a"), plan("a"), plan("b")])
    assert leads == [pytest.approx(0.3), pytest.approx(0.2), pytest.approx(-0.3)]


def test_a_sure_reading_of_the_rules_stays_first_and_is_less_sure() -> None:
    first, other = merge_offer(offer("a", 0.5), (reading("b", 0.8),), SCHEMA, 6)
    assert (first.plan, other.plan) == (plan("b"), plan("a"))
    assert first.probability == pytest.approx(0.4)
    assert other.score < first.score
