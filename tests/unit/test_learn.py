"""Weights and limits are learned together from judged samples, and the limits follow what answers gain."""

from dataclasses import replace

import pytest

from evaluation.answer_limits import (
    AnswerLimits,
    JudgedRun,
    RunReading,
    Shown,
    WeighedRun,
    choose_limits,
    gain,
    judged_run,
    show,
)
from evaluation.samples import REMOVED, ParserSample, Screening, without_answer

READING = RunReading({}, {}, {}, True, ("a",), 0.9, 0, 0.0, "never", False)
LIMITS = AnswerLimits(answered=0.8, refused=0.4, unstated=0.5)


def _run(*readings: RunReading, near: bool = False, variant: str = "") -> JudgedRun:
    return JudgedRun("graph", False, variant, near, readings, tuple(range(len(readings))))


def _sample(graph: int, number: int) -> ParserSample:
    """A question with two readings; the right one has the higher feature, except in every tenth question."""
    is_odd = number % 10 == 0
    features = [{"bias": 1.0, "fit": 2.0 + number / 20}, {"bias": 1.0, "fit": 1.0, "own property": 1.0}]
    screened = {0: Screening(int(is_odd), 0, 0.0, "unlikely" if is_odd else "never"), 1: Screening(0, 0, 0.0, "never")}
    right = [not is_odd, is_odd]
    values: list[tuple[str, ...] | None] = [("a",), ("b",)]
    return ParserSample(f"g{graph}", f"q{number}", "?", features, right, list(values), [0, 0], ["x", "y"], screened)


@pytest.mark.parametrize(
    ("reading", "chance", "shown"),
    [
        (READING, 0.9, Shown(0, True)),
        (READING, 0.5, Shown(0, False)),
        (READING, 0.05, Shown(None, False)),
        (replace(READING, unused=1), 0.9, Shown(0, False)),
        (replace(READING, unused=1, refusal="unlikely"), 0.45, Shown(0, False)),
        (replace(READING, unused=1, refusal="unlikely"), 0.35, Shown(None, False)),
        (replace(READING, unused=1, refusal="always"), 0.9, Shown(None, False)),
        (replace(READING, values=()), 0.9, Shown(0, True)),
        (replace(READING, values=()), 0.5, Shown(None, False)),
    ],
)
def test_what_is_shown_follows_the_limits(reading: RunReading, chance: float, shown: Shown) -> None:
    assert show(_run(reading), (chance,), LIMITS) == shown


def test_an_empty_look_up_is_answered_by_a_reading_with_enough_belief() -> None:
    empty = replace(READING, values=(), looks_up=True, share=0.6)
    assert show(_run(empty, replace(READING, share=0.35)), (0.1, 0.5), LIMITS) == Shown(1, False)
    assert show(_run(empty, replace(READING, share=0.25)), (0.1, 0.5), LIMITS) == Shown(None, False)


def test_a_wrong_answer_costs_more_without_a_doubt_and_facts_nearby_help() -> None:
    wrong = _run(replace(READING, right=False))
    gains = [gain(wrong, Shown(0, True)), gain(wrong, Shown(0, False)), gain(_run(READING), Shown(0, False))]
    assert gains == sorted(gains)
    assert gains[1] < gain(wrong, Shown(None, False)) < gain(_run(READING, near=True), Shown(None, False)) < gains[2]


def test_rows_that_leave_words_out_are_refused_where_they_are_mostly_wrong() -> None:
    partial = replace(READING, unused=1, refusal="unlikely")
    sure = [WeighedRun(_run(READING), (0.9,))] * 50
    unlikely = [WeighedRun(_run(replace(partial, right=i % 10 == 0), near=True), (0.3,)) for i in range(100)]
    likely = [WeighedRun(_run(replace(partial, right=i % 10 > 0), near=True), (0.6,)) for i in range(100)]
    assert 0.3 < choose_limits([*sure, *unlikely, *likely]).refused <= 0.6
    # without a difference nothing is refused
    assert choose_limits([*sure, *likely]).refused == 0


def test_readings_that_use_less_of_a_question_come_later() -> None:
    sample = _sample(1, 1)
    assert [each.right for each in judged_run(sample, [2.0, 1.0]).readings] == [True, False]
    ignoring = replace(sample, screened={**sample.screened, 0: Screening(1, 1, -8.0, "never")})
    assert [each.right for each in judged_run(ignoring, [2.0, 1.0]).readings] == [False, True]


def test_a_look_up_without_its_fact_has_no_right_rows() -> None:
    sample = _sample(1, 10)
    removed = without_answer(sample)
    assert removed is not None
    assert (removed.values, removed.right, removed.variant) == ([("a",), ()], [False, True], REMOVED)
    assert without_answer(_sample(1, 1)) is None
    assert without_answer(removed) is None


def test_learning_is_deterministic_and_writes_all_numbers_of_the_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("scipy")
    from evaluation import learn
    from nacre.understanding.ranking.rank import Weights

    monkeypatch.setattr("evaluation.learn.local_embedder", lambda name: None)
    samples = [_sample(graph, number) for graph in range(10) for number in range(8)]
    text = learn.learn(samples)
    assert text == learn.learn(samples)
    weights = Weights(**text)  # type: ignore[arg-type]
    assert weights.features["fit"] > 0
    assert 0 < weights.threshold <= 1
    assert set(text) == set(Weights.__dataclass_fields__)
