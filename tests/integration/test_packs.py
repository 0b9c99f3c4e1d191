"""The packs of common vocabularies: each answers the questions of its test; the pairs in packs/ are extended without
Python."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
import yaml
from langgraph.checkpoint.memory import InMemorySaver

from graph.app import compose
from graph.builder import App
from graph.stream import stream_turn
from ingestion.layer.format.read_layer import read_layer
from ingestion.layer.packs import PACKS, pack_namespaces
from ingestion.pipeline import ingest
from nacre.config.settings import Settings

FOLDER = Path(__file__).parent / "packs"
NAMES = sorted(path.stem for path in PACKS.glob("*.yaml"))
CASES = [
    pytest.param(name, case, id=f"{name}: {case['question']}")
    for name in NAMES
    for case in yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
]
# questions that the test of a pack asks at least
FEWEST = 3


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> App:
    data = tmp_path_factory.mktemp("packs")
    for name in NAMES:
        ingest([str(FOLDER / f"{name}.ttl")], name, data=data, no_vectors=True)
    return compose(Settings(data=data, embedder="none", _env_file=None)).build(InMemorySaver())


@pytest.mark.parametrize(("name", "case"), CASES)
def test_the_pack_answers(name: str, case: dict[str, Any], app: App) -> None:
    async def ask() -> Any:
        events = [e async for e in stream_turn(app, case["question"], graph=name, thread=f"{name} {case['question']}")]
        return events[-1][1]

    values = asyncio.run(ask())["values"]
    assert sorted(str(v).lower() for v in values) == sorted(str(v).lower() for v in case["values"])


@pytest.mark.parametrize("name", NAMES)
def test_each_pack_has_namespaces_and_a_test(name: str) -> None:
    path = PACKS / f"{name}.yaml"
    assert read_layer(path, path.read_text(encoding="utf-8")).entries
    assert pack_namespaces()[name]
    assert len(yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))) >= FEWEST


def test_there_are_packs_of_many_vocabularies() -> None:
    assert len(NAMES) >= 12
