"""How confirmed answers shift the probabilities of a graph: which ones may raise or lower them, and how far."""

import pytest

from nacre.records.plan import Itself, Plan, Select, Variable
from nacre.records.turn import Reading
from nacre.understanding.ranking.probabilities import (
    MIN_JUDGED,
    JudgedAnswer,
    graph_shift,
    log_odds,
    probability,
    shift_readings,
)


def answers(count: int, right: float, chance: float, *, written: bool = True) -> list[JudgedAnswer]:
    """So many answers with this probability, a share of them right."""
    return [JudgedAnswer(log_odds(chance), i < right * count, written) for i in range(count)]


def test_answers_as_often_right_as_expected_shift_nothing_much() -> None:
    assert abs(graph_shift(answers(40, 0.8, 0.8))) < 0.05


def test_a_harder_graph_is_lowered_and_the_prior_holds_it_back() -> None:
    shift = graph_shift(answers(40, 0.6, 0.8))
    assert log_odds(0.6) - log_odds(0.8) < shift < -0.2
    few = graph_shift(answers(MIN_JUDGED, 0.6, 0.8))
    assert shift < few < 0


def test_an_easier_graph_is_raised_only_by_answers_to_which_people_wrote_the_query() -> None:
    assert graph_shift(answers(40, 1.0, 0.7)) > 0.2
    # "this is right" is said of right answers
    assert graph_shift(answers(40, 1.0, 0.7, written=False)) == 0
    both = [*answers(40, 1.0, 0.7, written=False), *answers(MIN_JUDGED - 1, 1.0, 0.7)]
    assert graph_shift(both) == 0


@pytest.mark.parametrize(
    "judged",
    [
        answers(MIN_JUDGED - 1, 0.6, 0.9),
        # corrections of wrong answers are no sample of what is asked
        answers(40, 0.4, 0.9),
        [],
    ],
)
def test_too_few_answers_or_only_corrections_shift_nothing(judged: list[JudgedAnswer]) -> None:
    assert graph_shift(judged) == 0


def test_all_readings_but_certain_ones_are_shifted() -> None:
    plan = Plan(Select((Itself("x"),), (Variable("x"),)))
    sure, unsure = Reading(plan, 1.0, 1.0, "x", 1.0), Reading(plan, 0.6, 1.0, "y", 0.6, odds=0.2)
    shifted = shift_readings((sure, unsure), -0.5)
    assert shifted[0] == sure
    assert shifted[1].odds == pytest.approx(-0.3)
    assert shifted[1].probability == pytest.approx(probability(log_odds(0.6) - 0.5))
    assert shift_readings((sure, unsure), 0.0) == (sure, unsure)
