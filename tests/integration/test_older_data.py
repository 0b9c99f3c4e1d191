"""A data folder that version 0.1 wrote: its graph answers, and its thread goes on where it ended."""

import tarfile
from pathlib import Path

import pytest

from nacre.config.settings import Settings
from nacre.serving.keys import LOCAL_CALLER
from nacre.serving.turn_service import open_turn_service

FOLDER = Path(__file__).parents[1] / "fixtures/data_folder_0.1.tar.gz"


@pytest.fixture
def old_settings(tmp_path: Path) -> Settings:
    with tarfile.open(FOLDER) as packed:
        packed.extractall(tmp_path, filter="data")
    return Settings(data=tmp_path / "data", embedder="none", _env_file=None)


async def test_a_thread_of_an_older_version_goes_on(old_settings: Settings) -> None:
    async with open_turn_service(old_settings, lasting=True) as service:
        assert service.threads is not None
        [first] = await service.threads.turns(LOCAL_CALLER, "old")
        assert first.record["values"] == ["dal", "pilaf", "rice porridge"]
        second = await service.answer("How many of them are there?", thread="old")
        assert (second["graph"], second["turn"], second["values"]) == ("kitchen", 2, [3])
        assert second["citations"][0]["triples"]
