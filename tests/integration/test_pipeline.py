"""From sources to a published graph: what is made, what is recognised, what a failure leaves."""

import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ingestion.pipeline import Ingested, index, ingest
from records.errors import ConfigError, IngestionError
from stores import versions
from stores.catalog import Library
from stores.vectors_server import collections, connect
from tests.wordhash import WordHash

ROOT = Path(__file__).parents[2]
PREFIX = "@prefix : <http://x.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"


def graph(size: int = 5, colour: str = "green") -> str:
    things = [f':t{n} a :Tree ; rdfs:label "Tree {n}" ; :height "{n} m" ; :leaf "kind {n}" .' for n in range(size)]
    return PREFIX + "\n".join(things) + f'\n:t0 :colour "{colour}" .\n'


class Place:
    def __init__(self, root: Path) -> None:
        self.source = root / "graph.ttl"
        self.source.write_text(graph())
        self.data = root / "data"
        self.home = self.data / "g"
        self.embedder = WordHash()

    def ingest(self, *sources: str, **options: object) -> Ingested:
        options = {"embedder": self.embedder, **options}
        return ingest(sources or [str(self.source)], "g", data=self.data, **options)

    def versions(self) -> list[str]:
        return sorted(path.name for path in (self.home / "versions").iterdir())


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_a_file_becomes_a_graph_with_every_stage_reported(place: Place) -> None:
    seen: list[tuple[str, int, int]] = []
    made = place.ingest(on_stage=lambda stage, done, total: seen.append((stage, done, total)))
    stages = list(dict.fromkeys(stage for stage, _, _ in seen))
    assert stages == ["parse", "tables", "names", "verbalise", "index", "publish"] == list(made.seconds_by_stage)
    assert made.schema.triples == 21
    assert made.passages == made.embedded == 5
    assert not made.unchanged
    assert versions.current(place.home) == made.version
    assert place.versions() == [made.version]


def test_the_same_input_again_is_recognised(place: Place) -> None:
    first = place.ingest()
    again = place.ingest()
    assert again.unchanged
    assert (again.version, again.schema, again.passages) == (first.version, first.schema, 5)
    assert again.seconds_by_stage == {}


def test_a_touched_part_or_setting_is_no_same_input(place: Place, tmp_path: Path) -> None:
    place.ingest()
    texts = tmp_path / "a.md"
    texts.write_text("# A\n\nTrees are tall.")
    assert place.ingest(texts=[str(texts)]).passages == 6
    assert place.ingest(texts=[str(texts)]).unchanged
    assert not place.ingest(no_vectors=True).unchanged
    made = place.ingest()
    (place.home / "versions" / made.version / "passages.sqlite").unlink()
    assert not place.ingest().unchanged


def test_one_changed_entity_embeds_one_passage(place: Place) -> None:
    place.ingest()
    place.embedder.seen.clear()
    place.source.write_text(graph(colour="red"))
    made = place.ingest()
    assert made.passages == 5
    assert made.embedded == 1
    assert [("Tree 0" in text, "red" in text) for text in place.embedder.seen if "Tree" in text] == [(True, True)]
    opened = Library(place.data, place.embedder).open("g")
    assert opened.vectors is not None
    assert opened.passages is not None
    for number, title, text in opened.passages.each():
        best = opened.vectors.search(f"{title}\n{text}", 1)[0]
        assert (best.id, round(best.score, 4)) == (number, 1.0)


def test_an_incremental_ingest_equals_a_full_one(place: Place, tmp_path: Path) -> None:
    place.ingest()
    place.source.write_text(graph(size=7, colour="red"))
    place.ingest()
    (tmp_path / "fresh").mkdir()
    fresh = Place(tmp_path / "fresh")
    fresh.source.write_text(place.source.read_text())
    fresh.ingest()
    one, two = (Library(p.data, p.embedder).open("g") for p in (place, fresh))
    assert list(one.tables.trusted().iterdump()) == list(two.tables.trusted().iterdump())
    assert one.passages.get(one.passages.ids()) == two.passages.get(two.passages.ids())


def test_folders_globs_and_standard_input(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "rdf"
    folder.mkdir()
    (folder / "a.ttl").write_text(PREFIX + ":a :p :b .")
    (folder / "b.nt").write_text("<http://x.org/b> <http://x.org/p> <http://x.org/c> .\n")
    assert place.ingest(str(folder)).schema.triples == 2
    assert place.ingest(str(folder / "*.nt")).schema.triples == 1
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(graph(2).encode())))
    assert place.ingest("-").schema.triples == 9
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(graph(2).encode())))
    assert place.ingest("-").unchanged
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"no RDF <at all")))
    with pytest.raises(IngestionError, match=r"^standard input"):
        place.ingest("-")


def test_tables_only_and_no_vectors_say_so(place: Place) -> None:
    made = place.ingest(tables_only=True)
    assert list(made.seconds_by_stage) == ["parse", "tables", "names", "publish"]
    opened = Library(place.data, place.embedder).open("g")
    assert opened.unavailable == dict.fromkeys(("lexical", "vector"), "ingested with --tables-only")
    assert opened.passages is None
    with pytest.raises(ConfigError, match="--tables-only"):
        index("g", data=place.data, embedder=place.embedder)
    place.ingest(no_vectors=True)
    opened = Library(place.data, place.embedder).open("g")
    assert "--no-vectors" in opened.unavailable["vector"]
    assert opened.lexical is not None
    assert index("g", data=place.data, embedder=place.embedder).embedded == 5
    assert Library(place.data, place.embedder).open("g").unavailable == {}


def test_without_an_embedder_the_reason_is_kept(place: Place) -> None:
    place.ingest(embedder=None)
    assert "pip install" in Library(place.data, place.embedder).open("g").unavailable["vector"]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("gone.ttl", None, r"gone\.ttl: no such file"),
        ("*.owl", None, r"\*\.owl: no file matches"),
        ("empty.ttl", "", r"empty\.ttl.*empty"),
        ("broken.ttl", PREFIX + ":a :b 'c", r"broken\.ttl"),
        ("paper.pdf", "%PDF", r"paper\.pdf: \.pdf is no RDF.*--texts"),
    ],
)
def test_bad_input_leaves_the_old_graph(
    place: Place, tmp_path: Path, name: str, content: str | None, said: str
) -> None:
    first = place.ingest()
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(IngestionError, match=said):
        place.ingest(str(tmp_path / name))
    with pytest.raises(IngestionError, match=said):
        ingest([str(tmp_path / name)], "new", data=place.data)
    assert versions.current(place.home) == first.version
    assert place.versions() == [first.version]
    assert not (place.data / "new").exists()


def test_ctrl_c_in_any_stage_leaves_nothing_half_written(place: Place) -> None:
    first = place.ingest()
    place.source.write_text(graph(6))
    for stopped in first.seconds_by_stage:

        def stop(stage: str, done: int, total: int, stopped: str = stopped) -> None:
            if stage == stopped:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            place.ingest(on_stage=stop)
        assert versions.current(place.home) in (first.version, max(place.versions()))
        if stopped != "publish":
            assert place.versions() == [first.version]


def test_an_embedder_that_fails_is_named(place: Place) -> None:
    class Broken(WordHash):
        def embed(self, texts: object) -> list[list[float]]:
            raise RuntimeError("no weights")

    with pytest.raises(ConfigError, match="word-hash can't be used: no weights"):
        place.ingest(embedder=Broken())
    assert not place.home.exists()


def test_a_place_that_can_not_be_written(place: Place, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(IngestionError, match=r"Can't write to .*NACRE_DATA"):
        ingest([str(place.source)], "g", data=tmp_path / "file")


def test_vectors_on_a_server_have_a_collection_a_version(place: Place) -> None:
    connect.cache_clear()
    first = place.ingest(qdrant_url=":memory:")
    assert collections(":memory:", None, "nacre_") == [f"nacre_g_{first.version}"]
    place.source.write_text(graph(colour="red"))
    second = place.ingest(qdrant_url=":memory:")
    assert second.embedded == 1
    assert collections(":memory:", None, "nacre_") == [f"nacre_g_{second.version}"]
    library = Library(place.data, place.embedder, ":memory:")
    opened = library.open("g")
    assert opened.vectors is not None
    assert opened.vectors.search("red tree 0", 1)
    assert "NACRE_QDRANT_URL" in Library(place.data, place.embedder).open("g").unavailable["vector"]
    library.close()
    Library(place.data, None, ":memory:").remove("g")
    connect(":memory:").close()
    connect.cache_clear()


def run(code: str, *arguments: object) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


READER = """
import sys
from pathlib import Path
from stores.catalog import Library
from tests.wordhash import WordHash
library = Library(Path(sys.argv[1]), WordHash())
for line in sys.stdin:
    with library.open("g") as graph:
        passages = graph.passages.get([hit.id for hit in graph.lexical.search("colour of tree 0", 3)])
        near = graph.vectors.search("tree 3", 2)
        rows = graph.tables.trusted().execute("SELECT count(*) FROM entity").fetchone()[0]
        red = any("red" in passage.text for passage in passages)
        print(graph.version, "red" if red else "green", len(near), rows > 0, graph.unavailable, flush=True)
"""


def test_three_processes_read_while_a_new_version_is_published(place: Place) -> None:
    first = place.ingest()
    readers = [run(READER, place.data) for _ in range(3)]

    def ask() -> list[str]:
        for reader in readers:
            reader.stdin.write("?\n")
            reader.stdin.flush()
        return [reader.stdout.readline().strip() for reader in readers]

    try:
        assert ask() == [f"{first.version} green 2 True {{}}"] * 3
        place.source.write_text(graph(colour="red"))
        during: list[str] = []
        second = place.ingest(on_stage=lambda stage, done, total: during.extend(ask() if done == 0 else ()))
        assert set(during) == {f"{first.version} green 2 True {{}}"}
        assert ask() == [f"{second.version} red 2 True {{}}"] * 3
        assert place.versions() == [second.version]
    finally:
        for reader in readers:
            reader.communicate(timeout=20)


SLOW_INGEST = """
import sys, time
from pathlib import Path
from ingestion.pipeline import ingest
from tests.wordhash import WordHash
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
    while killed.stdout.readline().strip() != stage:
        assert killed.poll() is None
    with pytest.raises(ConfigError, match="being written by another"):
        place.ingest()
    os.kill(killed.pid, signal.SIGKILL)
    killed.communicate()
    assert versions.current(place.home) == first.version
    library = Library(place.data, place.embedder)
    assert library.open("g").schema.triples == first.schema.triples
    library.close()
    assert len(place.versions()) == 2
    made = place.ingest()
    assert made.schema.triples == 33
    assert place.versions() == [made.version]
