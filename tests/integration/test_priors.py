"""How sure a model is of its rows: counts by outcome -> chances."""

import json
from pathlib import Path

import pytest

from agents.model_priors import (
    CALIBRATION_FILE,
    OUTCOMES,
    Priors,
    Size,
    calibrated_counts,
    measured_size,
    model_limits,
    model_priors,
    model_size_class,
    query_model_size,
    query_priors,
    save_counts,
)
from nacre.config.settings import Settings
from nacre.errors import ConfigError


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("ollama:qwen2.5-coder:1.5b-instruct-q4_K_M", "small"),
        ("ollama:llama3.2:3B", "small"),
        ("ollama:phi:4b", "small"),
        ("ollama:phi:4.1b", "large"),
        ("openai:Qwen2.5-Coder-7B-Instruct", "large"),
        ("ollama:llama3.3:70b", "large"),
        ("openai:mixtral-8x0.5b", "small"),
        ("openai:gpt-4o-2024", "large"),
        # nothing is known of it
        ("openai:gpt-x", "small"),
        # a quantisation is no size
        ("openai:any-4bit", "small"),
    ],
)
def test_a_name_tells_the_size(name: str, size: Size) -> None:
    assert model_size_class(name) == size


@pytest.mark.parametrize(
    ("name", "size"), [("openai:gpt-4o", "small"), ("openai:coder-1.5b", "small"), ("openai:coder-70b", "large")]
)
def test_of_a_server_of_ones_own_only_a_name_with_a_number_tells(name: str, size: Size) -> None:
    assert model_size_class(name, own_server=True) == size


def test_a_model_of_unknown_worth_is_small_until_it_is_measured(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, model="openai:any", openai_base_url="http://127.0.0.1:9/v1", _env_file=None)
    assert (query_model_size(settings), model_limits(settings).schema_tokens) == ("small", 1500)
    assert measured_size(settings) == "unknown"
    save_counts(tmp_path, "openai:any", {"alone": (9, 10)})
    assert (query_model_size(settings), query_priors(settings).counts) == ("unknown", {"alone": (9, 10)})
    assert model_limits(settings).schema_tokens > 1500
    large = settings.model_copy(update={"model_size": "large"})
    assert query_model_size(large) == "large"


@pytest.mark.parametrize("size", ["small", "large", "unknown"])
def test_what_running_a_query_showed_moves_its_chance(size: Size) -> None:
    chances = model_priors(size)
    assert set(chances.counts) == set(OUTCOMES)
    assert chances.after("agreed") > chances.after("alone")
    assert max(chances.after("doubted"), chances.after("empty")) < chances.before < chances.after("agreed")
    assert all(0 < chances.after(outcome) < 1 for outcome in OUTCOMES)


def test_a_small_model_is_less_sure_of_what_nobody_confirms() -> None:
    assert model_priors("small").before < model_priors("unknown").before <= model_priors("large").before


def test_few_counts_lean_on_all_of_them() -> None:
    sure = Priors("large", {"alone": (90, 100), "empty": (0, 1)})
    assert sure.before == pytest.approx(91 / 103)
    # one bad question is no proof: the chance stays above a half
    assert 0.5 < sure.after("empty") < sure.before
    assert sure.after("disputed") == pytest.approx(sure.before), "nothing was counted of it"
    many = Priors("large", {"alone": (90, 100), "empty": (0, 100)})
    assert many.after("empty") < 0.1


def test_without_any_count_it_is_even() -> None:
    assert Priors("unknown", {}).before == Priors("unknown", {}).after("alone") == 0.5


def test_counts_of_ones_own_replace_those_that_come_along(tmp_path: Path) -> None:
    assert calibrated_counts(tmp_path, "openai:m") is None
    save_counts(tmp_path, "openai:m", {"alone": (1, 10)})
    save_counts(tmp_path, "openai:other", {"alone": (9, 10)})
    counts = calibrated_counts(tmp_path, "openai:m")
    assert counts == {"alone": (1, 10)}
    assert model_priors("large", counts).after("alone") < model_priors("large").after("alone")
    assert [file.name for file in tmp_path.iterdir()] == [CALIBRATION_FILE]


@pytest.mark.parametrize("text", ["no json", '{"openai:m": 3}', '{"openai:m": {"alone": ["x", 2]}}', "[]"])
def test_a_file_that_was_spoilt_is_named_with_the_next_command(tmp_path: Path, text: str) -> None:
    (tmp_path / CALIBRATION_FILE).write_text(text)
    with pytest.raises(ConfigError, match="nacre calibrate QUESTIONS"):
        calibrated_counts(tmp_path, "openai:m")


def test_what_is_kept_can_be_read_by_people(tmp_path: Path) -> None:
    save_counts(tmp_path, "openai:m", {"alone": (1, 10), "agreed": (2, 2)})
    assert json.loads((tmp_path / CALIBRATION_FILE).read_text()) == {"openai:m": {"agreed": [2, 2], "alone": [1, 10]}}
