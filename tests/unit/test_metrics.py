"""Metrics of answers against cases computed by hand."""

import pytest

from evaluation.metrics import (
    ChoiceScores,
    choice_scores,
    chosen_options,
    hit_rate,
    mean_choice_scores,
)


def test_one_right_option_among_two_chosen() -> None:
    assert choice_scores({"a", "b"}, {"a"}) == ChoiceScores(0.5, 1.0, pytest.approx(2 / 3))  # type: ignore[arg-type]


def test_nothing_chosen_is_zero() -> None:
    assert choice_scores(set(), {"a"}) == ChoiceScores(0.0, 0.0, 0.0)
    assert mean_choice_scores([]) == ChoiceScores(0.0, 0.0, 0.0)


def test_the_mean_is_over_questions() -> None:
    assert mean_choice_scores([ChoiceScores(1, 0.5, 2 / 3), ChoiceScores(0, 0, 0)]) == ChoiceScores(
        0.5,
        0.25,
        pytest.approx(1 / 3),  # type: ignore[arg-type]
    )


def test_options_are_read_from_values_before_words() -> None:
    assert chosen_options(["Elm Hall", "6", "Oak"], [6.0], "6 in Oak") == ["6"]
    assert chosen_options(["Elm Hall", "Elm", "Oak"], [], "It is in Elm Hall, not in oak.") == ["Elm Hall", "Oak"]


def test_hit_rate_counts_whole_names() -> None:
    assert hit_rate("Ada Bergson teaches.", ["Ada Berg"]) == 0
    assert hit_rate("", []) == 1
