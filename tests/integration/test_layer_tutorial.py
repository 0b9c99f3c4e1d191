"""The tutorial of the semantic layer: what its graph answers before and after its layer is applied."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from graph.builder import compose
from graph.stream import stream_turn
from ingestion.layer.apply import check_layers
from ingestion.layer.layer_file import LayerFiles, load_layer_files
from ingestion.pipeline import change_layers, ingest
from ingestion.report import version_facts
from nacre.config.settings import Settings
from nacre.stores import versions
from nacre.stores.catalog import Servers

EXAMPLE = Path(__file__).parents[2] / "examples" / "workshop"
ASKED: dict[str, list[Any]] = {
    "How heavy is the ship chronometer?": [5200],
    "Which barometers are exhibited?": ["Merton barometer"],
    "Who made the pocket sextant?": ["Anna Reeve"],
    "Which instruments were made by Dolan & Sons?": ["Harbour telescope", "Merton barometer"],
    "What is the oldest instrument?": ["Wheel barometer"],
    "How many instruments are in storage?": [1],
    "Which makers work in Leith?": ["Dolan & Sons", "Hart Brothers"],
    "Which barometer is the heaviest?": ["Merton barometer"],
}
RIGHT_BEFORE, RIGHT_AFTER = 3, 7


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("workshop")
    ingest([str(EXAMPLE / "collection.ttl")], "workshop", data=data, no_vectors=True)
    return data


def right_answers(data: Path) -> int:
    app = compose(Settings(data=data, embedder="none", _env_file=None)).build(InMemorySaver())

    async def ask(question: str) -> Any:
        return [e async for e in stream_turn(app, question, graph="workshop", thread=question)][-1][1]

    answers = {question: asyncio.run(ask(question))["values"] for question in ASKED}
    return sum(sorted(map(str, answers[q])) == sorted(map(str, gold)) for q, gold in ASKED.items())


def test_the_layer_makes_the_example_answer(plain: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(plain, data)
    assert right_answers(data) <= RIGHT_BEFORE
    given = load_layer_files([EXAMPLE / "collection.layer.yaml"])
    changed = change_layers(
        "workshop", lambda present: present.replaced(given.files), data=data, server=Servers(), on_stage=_ignore
    )
    assert right_answers(data) >= RIGHT_AFTER
    assert changed.schema.triples == 68
    removed = change_layers("workshop", lambda _: LayerFiles(), data=data, server=Servers(), on_stage=_ignore)
    assert "weight" not in {p.label for p in removed.schema.predicates}


def test_every_entry_of_the_example_gives_something(plain: Path, tmp_path: Path) -> None:
    home = plain / "workshop"
    version = versions.current_version(home)
    assert version is not None
    facts = version_facts(versions.version_folder(home, version))
    report = check_layers(facts, load_layer_files([EXAMPLE / "collection.layer.yaml"]))
    assert report.problems == ()
    assert all(entry.count != 0 for entry in report.entries)


def _ignore(stage: str, done: int, total: int) -> None:
    pass
