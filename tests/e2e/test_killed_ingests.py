"""Other processes while a graph is ingested: they read one version, and kill -9 leaves one graph, never a mix.

More: `benchmarks.soak_kill`.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.soak_kill import kill_ingests
from ingestion.pipeline import index_graph
from nacre.errors import ConfigError
from nacre.stores import versions
from nacre.stores.catalog import Library
from tests.integration.test_pipeline import Place, graph

ROOT = Path(__file__).parents[2]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_a_kill_at_any_moment_leaves_the_old_or_the_new_graph(tmp_path: Path) -> None:
    found = list(kill_ingests(2, seed=3, folder=tmp_path))
    assert len(found) == 2
    assert [kill.wrong for kill in found] == [""] * 2
    assert {kill.found for kill in found} <= {"old", "new", "new, without vectors"}


def run(code: str, *arguments: object) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


# a new version answers by its other branches while its vectors are made
READER = """
import sys
from pathlib import Path
from nacre.stores.catalog import Library
from tests.support.word_count_embedder import WordHash
library = Library(Path(sys.argv[1]), WordHash())
for line in sys.stdin:
    with library.open("g") as graph:
        passages = graph.passages.get([hit.id for hit in graph.lexical.search("colour of tree 0", 3)])
        near = graph.vectors.search("tree 3", 2) if graph.vectors else []
        rows = graph.tables.trusted().execute("SELECT count(*) FROM entity").fetchone()[0]
        red = any("red" in passage.text for passage in passages)
        print(graph.version, "red" if red else "green", len(near), rows > 0, list(graph.unavailable), flush=True)
"""


def test_three_processes_read_while_a_new_version_is_published(place: Place) -> None:
    first = place.ingest()
    readers = [run(READER, place.data) for _ in range(3)]

    def ask() -> list[str]:
        for reader in readers:
            assert reader.stdin is not None
            reader.stdin.write("?\n")
            reader.stdin.flush()
        return [reader.stdout.readline().strip() for reader in readers if reader.stdout is not None]

    try:
        assert ask() == [f"{first.version} green 2 True []"] * 3
        place.source.write_text(graph(colour="red"))
        during: list[str] = []
        second = place.ingest(on_stage=lambda stage, done, total: during.extend(ask() if done == 0 else ()))
        before, between = f"{first.version} green 2 True []", f"{second.version} red 0 True ['vector']"
        assert list(dict.fromkeys(during)) == [before, between]
        assert ask() == [f"{second.version} red 2 True []"] * 3
        assert place.versions() == [second.version]
    finally:
        for reader in readers:
            reader.communicate(timeout=20)


SLOW_INGEST = """
import sys, time
from pathlib import Path
from ingestion.pipeline import ingest
from tests.support.word_count_embedder import WordHash
def pause(stage, done, total):
    print(stage, flush=True)
    if stage == sys.argv[3]:
        time.sleep(60)
ingest([sys.argv[1]], "g", data=Path(sys.argv[2]), embedder=WordHash(), on_stage=pause)
"""


@pytest.mark.parametrize("stage", ["tables", "index", "publish"])
def test_a_killed_ingest_leaves_the_old_graph_and_the_next_cleans_up(place: Place, stage: str) -> None:
    first = place.ingest()
    place.source.write_text(graph(8))
    killed = run(SLOW_INGEST, place.source, place.data, stage)
    assert killed.stdout is not None
    while killed.stdout.readline().strip() != stage:
        assert killed.poll() is None
    with pytest.raises(ConfigError, match="being written by another"):
        place.ingest()
    os.kill(killed.pid, signal.SIGKILL)
    killed.communicate()
    assert versions.current_version(place.home) == first.version
    library = Library(place.data, place.embedder)
    assert library.open("g").schema.triples == first.schema.triples
    library.close()
    assert len(place.versions()) == 2
    made = place.ingest()
    assert made.schema.triples == 33
    assert place.versions() == [made.version]


SLOW_EMBEDDING = """
import sys, time
from pathlib import Path
from ingestion.pipeline import ingest
from tests.support.word_count_embedder import WordHash
def pause(stage, done, total):
    print(stage, done, flush=True)
    if (stage, done) == ("vectors", int(sys.argv[3])):
        time.sleep(60)
ingest([sys.argv[1]], "g", data=Path(sys.argv[2]), embedder=WordHash(), on_stage=pause)
"""


@pytest.mark.parametrize("done", [0, 128, 300])
def test_a_kill_while_vectors_are_made_leaves_a_graph_that_answers_and_an_index_goes_on(
    place: Place, done: int
) -> None:
    place.source.write_text(graph(300))
    killed = run(SLOW_EMBEDDING, place.source, place.data, done)
    assert killed.stdout is not None
    while killed.stdout.readline().strip() != f"vectors {done}":
        assert killed.poll() is None
    os.kill(killed.pid, signal.SIGKILL)
    killed.communicate()
    library = Library(place.data, place.embedder)
    with library.open("g") as opened:
        assert opened.schema.triples == 1201
        assert set(opened.unavailable) == {"vector"}
    made = index_graph("g", data=place.data, embedder=place.embedder)
    assert (made.version, made.vectors, made.embedded) == (opened.version, 300, 300 - done)
    assert library.open("g").unavailable == {}
    assert len(list((place.home / "vectors").iterdir())) == 1
    library.close()
