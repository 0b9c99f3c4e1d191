import asyncio
from pathlib import Path
from typing import Any

import pytest

from nacre.config.models import model_advice
from nacre.config.settings import Settings
from nacre.extensions.local_model.local_engine import (
    choose_model,
    chosen_model,
    downloaded_models,
    model_file,
    recommended_model,
    recommended_models,
    remove_model,
)
from nacre.extensions.local_model.local_model import FairLock


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "data/_models"
    made.mkdir(parents=True)
    return made


def gguf(file: Path) -> Path:
    file.write_bytes(b"GGUF and more")
    return file


def settings_of(folder: Path, **more: Any) -> Settings:
    return Settings(data=folder.parent, _env_file=None, **more)


def test_the_recommended_models_have_names_of_their_own():
    names = [each.name for each in recommended_models()]
    assert len(set(names)) == len(names)
    assert recommended_model(None) == recommended_models()[0]
    assert all(each.file.endswith(".gguf") and each.licence for each in recommended_models())
    with pytest.raises(ValueError, match=names[-1]):
        recommended_model("nobody")


def test_a_file_elsewhere_is_chosen_and_stays_where_it_is(folder, tmp_path):
    file = gguf(tmp_path / "mine.gguf")
    choose_model(folder, file)
    assert chosen_model(folder) == file
    assert downloaded_models(folder) == []
    assert model_file(settings_of(folder), "local") == file
    assert remove_model(folder, "mine.gguf") == file
    assert file.exists()
    assert chosen_model(folder) is None


def test_a_fetched_file_is_chosen_by_name_and_deleted(folder):
    file = gguf(folder / recommended_models()[0].file)
    choose_model(folder, file)
    settings = settings_of(folder)
    for name in ("local", f"local:{recommended_models()[0].name}", f"local:{file.stem}", f"local:{file}"):
        assert model_file(settings, name) == file
    remove_model(folder, recommended_models()[0].name)
    assert not file.exists()
    with pytest.raises(ValueError, match="nacre model get"):
        model_file(settings, "local")


def test_a_folder_that_is_moved_keeps_its_choice(folder, tmp_path):
    choose_model(folder, gguf(folder / "small.gguf"))
    moved = folder.rename(tmp_path / "moved")
    assert chosen_model(moved) == moved / "small.gguf"


def test_what_is_no_model_is_refused(folder, tmp_path):
    other = tmp_path / "page.gguf"
    other.write_text("<html>")
    with pytest.raises(ValueError, match="no GGUF file"):
        choose_model(folder, other)
    with pytest.raises(ValueError, match="Can't read"):
        choose_model(folder, tmp_path / "missing.gguf")
    with pytest.raises(ValueError, match="no file"):
        model_file(settings_of(folder), "local:missing.gguf")
    with pytest.raises(ValueError, match="nacre model list"):
        remove_model(folder, "missing")


def test_who_has_no_model_is_told_how_to_get_one(folder):
    assert "nacre model get" in model_advice(settings_of(folder, forbid_models=False))
    choose_model(folder, gguf(folder / "small.gguf"))
    assert "small.gguf is installed, set NACRE_MODEL=local" in model_advice(settings_of(folder, forbid_models=False))
    assert model_advice(settings_of(folder, forbid_models=False, model="ollama:small")) == ""
    assert model_advice(settings_of(folder, forbid_models=True)) == ""


async def test_a_turnstile_lets_one_in_at_a_time_in_order():
    turnstile, seen = FairLock(), []

    async def visit(n: int) -> None:
        await turnstile.enter()
        seen.append(n)
        await asyncio.sleep(0)
        seen.append(n)
        turnstile.leave()

    await asyncio.gather(*[visit(n) for n in range(4)])
    assert seen == [0, 0, 1, 1, 2, 2, 3, 3]


async def test_who_gives_up_waiting_holds_up_nobody():
    turnstile = FairLock()
    await turnstile.enter()
    waiting = [asyncio.create_task(turnstile.enter()) for _ in range(3)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    turnstile.leave()
    # it has its turn by now and is cancelled in the same moment
    waiting[1].cancel()
    await asyncio.wait_for(waiting[2], 5)
    assert waiting[0].cancelled()
    turnstile.leave()
    await asyncio.to_thread(turnstile.enter_blocking)
