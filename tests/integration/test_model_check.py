"""A model of unknown worth is measured in the background of a server, once, within limits, and its counts are used."""

import asyncio
import json
import shutil
from pathlib import Path

import pytest

from agents.model_priors import calibrated_counts, is_unmeasured, model_worth, query_model_size
from nacre.config.settings import Settings
from nacre.extensions.evaluation import measures
from nacre.serving import turn_service
from nacre.serving.turn_service import TurnService, open_turn_service
from tests.support.model_servers import Reply, openai_server
from tests.support.scripted_model import step

MODEL = "openai:any-name"

COUNT = json.dumps(step("SELECT count(*) FROM dish", wants="number"))


@pytest.fixture
def settings(kitchen: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    shutil.copytree(kitchen, tmp_path / "data")
    monkeypatch.setenv("NACRE_FORBID_MODELS", "false")
    monkeypatch.setattr(turn_service, "IDLE_SECONDS", 0.05)
    return Settings(data=tmp_path / "data", model=MODEL, embedder="none", model_output="json_schema", _env_file=None)


async def checked(service: TurnService, question: str = "Which of them simmers on and on?") -> None:
    """Ask a question, and wait until nothing runs in the background."""
    await service.answer(question, "kitchen", "one")
    waiting = [task for task in asyncio.all_tasks() if "_measure_model" in repr(task.get_coro())]
    await asyncio.gather(*waiting)


async def test_the_first_question_starts_it_and_the_counts_are_used(settings: Settings) -> None:
    with openai_server(*[Reply(COUNT)] * 90) as server:
        settings = settings.model_copy(update={"openai_base_url": server.url, "openai_api_key": "x"})
        assert (is_unmeasured(settings), model_worth(settings)) == (True, "it was not measured yet; the rules lead")
        async with open_turn_service(settings, lasting=True) as service:
            before = service.composition.agents["model"]
            await checked(service)
            assert service.composition.agents["model"] is not before
            counts = calibrated_counts(settings.data, MODEL)
            assert counts is not None
            ((right, asked),) = counts.values()
            assert (asked >= 3, right < asked, len(server.asked) > asked) == (True, True, True)
            assert model_worth(settings) == f"it answers {right} of {asked}; the rules lead"
            assert query_model_size(settings) == "small"
            # no second time
            calls = len(server.asked)
            await checked(service, "How many dishes are there?")
            assert len(server.asked) <= calls + 3
        # while it is measured, the model sees no readings: they are right for these questions
        prompts = [body["messages"][-1]["content"] for body in server.asked]
        assert all("<readings>" not in text for text in prompts[1:asked])


async def test_it_ends_with_its_limit_of_tokens(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measures, "BACKGROUND_TOKENS", 1)
    with openai_server(*[Reply(COUNT)] * 20) as server:
        settings = settings.model_copy(update={"openai_base_url": server.url, "openai_api_key": "x"})
        async with open_turn_service(settings, lasting=True) as service:
            await checked(service)
    counts = calibrated_counts(settings.data, MODEL)
    assert counts is not None
    assert sum(asked for _, asked in counts.values()) == 1


@pytest.mark.parametrize("change", [{"model": "openai:any-70b"}, {"model_size": "small"}, {"day_tokens": {"*": 10**9}}])
async def test_a_model_that_is_known_and_one_with_limited_spending_are_not_measured(
    settings: Settings, change: dict[str, object]
) -> None:
    with openai_server(*[Reply(COUNT)] * 20) as server:
        update = {"openai_base_url": server.url, "openai_api_key": "x", **change}
        async with open_turn_service(settings.model_copy(update=update), lasting=True) as service:
            await checked(service)
    assert not (settings.data / "calibration.json").exists()


async def test_a_model_that_is_down_is_not_counted(settings: Settings) -> None:
    settings = settings.model_copy(update={"openai_base_url": "http://127.0.0.1:9/v1", "busy_retries": 0})
    async with open_turn_service(settings, lasting=True) as service:
        await checked(service)
    assert calibrated_counts(settings.data, MODEL) is None


def test_a_few_right_answers_are_no_measure(settings: Settings) -> None:
    (settings.data / "calibration.json").write_text(json.dumps({MODEL: {"alone": [5, 5]}}))
    assert (query_model_size(settings), model_worth(settings)) == ("small", "it answers 5 of 5; the rules lead")
    (settings.data / "calibration.json").write_text(json.dumps({MODEL: {"alone": [25, 30]}}))
    assert (query_model_size(settings), model_worth(settings)) == ("unknown", "it answers 25 of 30")
