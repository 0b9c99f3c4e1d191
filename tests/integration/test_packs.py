"""The packs of common vocabularies: each answers the questions of its test; the pairs in packs/ are extended without
Python."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from graph.builder import App, compose
from graph.stream import stream_turn
from ingestion.layer import resolve as packs
from ingestion.layer.layer_file import read_layer
from ingestion.layer.resolve import PACKS, pack_namespaces
from ingestion.pipeline import ingest
from ingestion.vocabulary import SCHEMA_ORG
from nacre.config.settings import Settings
from nacre.errors import IngestionError
from tests.support.read_yaml import read_yaml

FOLDER = Path(__file__).parent / "packs"
NAMES = sorted(path.stem for path in PACKS.glob("*.yaml"))
CASES = [
    pytest.param(name, case, id=f"{name}: {case['question']}")
    for name in NAMES
    for case in read_yaml(FOLDER / f"{name}.yaml")
]


def _graph(name: str) -> str:
    return (FOLDER / f"{name}.ttl").read_text(encoding="utf-8")


def _in_other_scheme(text: str) -> str:
    one, other = SCHEMA_ORG
    return text.replace(one, "\0").replace(other, one).replace("\0", other)


# questions that the test of a pack asks at least
FEWEST = 3
OTHER_SCHEME = [
    case
    for name in NAMES
    if any(scheme in _graph(name) for scheme in SCHEMA_ORG)
    for case in [case for case in CASES if case.values[0] == name][:FEWEST]
]


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> App:
    data = tmp_path_factory.mktemp("packs")
    for name in NAMES:
        ingest([str(FOLDER / f"{name}.ttl")], name, data=data, no_vectors=True)
    return compose(Settings(data=data, embedder="none", _env_file=None)).build(InMemorySaver())


@pytest.fixture(scope="module")
def other_app(tmp_path_factory: pytest.TempPathFactory) -> App:
    data = tmp_path_factory.mktemp("schemes")
    for name in dict.fromkeys(str(case.values[0]) for case in OTHER_SCHEME):
        (data / f"{name}.ttl").write_text(_in_other_scheme(_graph(name)), encoding="utf-8")
        ingest([str(data / f"{name}.ttl")], name, data=data, no_vectors=True)
    return compose(Settings(data=data, embedder="none", _env_file=None)).build(InMemorySaver())


@pytest.mark.parametrize(("name", "case"), CASES)
def test_the_pack_answers(name: str, case: dict[str, Any], app: App) -> None:
    async def ask() -> Any:
        events = [e async for e in stream_turn(app, case["question"], graph=name, thread=f"{name} {case['question']}")]
        return events[-1][1]

    values = asyncio.run(ask())["values"]
    assert sorted(str(v).lower() for v in values) == sorted(str(v).lower() for v in case["values"])


@pytest.mark.parametrize(("name", "case"), OTHER_SCHEME)
def test_the_pack_answers_in_the_other_scheme_of_a_namespace(name: str, case: dict[str, Any], other_app: App) -> None:
    test_the_pack_answers(name, case, other_app)


def test_a_pack_extends_others_and_not_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packs, "PACKS", tmp_path)
    (tmp_path / "barns.yaml").write_text(
        "namespaces: ['urn:barn:']\nextends: farms.yaml\nclasses: {urn:barn:B: {name: barn}}"
    )
    (tmp_path / "farms.yaml").write_text("namespaces: ['urn:farm:']\nclasses: {urn:farm:F: {name: farm}}")
    for cached in (packs.pack_namespaces, packs._pack):
        cached.cache_clear()
    try:
        both = packs.packs_for(["urn:barn:B", "urn:farm:F"])
        assert [Path(layer.source).stem for layer in both] == ["farms", "barns"]
        assert [Path(layer.source).stem for layer in packs.packs_for(["urn:barn:B"])] == ["farms", "barns"]
        packs._pack.cache_clear()
        (tmp_path / "farms.yaml").write_text("namespaces: ['urn:farm:']\nextends: barns.yaml")
        with pytest.raises(IngestionError, match="extends itself"):
            packs.packs_for(["urn:barn:B"])
    finally:
        for cached in (packs.pack_namespaces, packs._pack):
            cached.cache_clear()


@pytest.mark.parametrize("name", NAMES)
def test_each_pack_has_namespaces_and_a_test(name: str) -> None:
    path = PACKS / f"{name}.yaml"
    assert read_layer(path, path.read_text(encoding="utf-8")).entries
    assert pack_namespaces()[name]
    assert len(read_yaml(FOLDER / f"{name}.yaml")) >= FEWEST


def test_there_are_packs_of_many_vocabularies() -> None:
    assert len(NAMES) >= 12
