"""Graphs by name: which there are, what opens, what is said of what does not."""

import gc
import shutil
import threading
import time
from pathlib import Path

import pytest

from ingestion.pipeline import index_graph, ingest
from nacre.errors import ConfigError, GraphNotFound
from nacre.serving import app
from nacre.stores import versions
from nacre.stores.catalog import Library
from nacre.stores.state.verified_questions import FILE as VERIFIED_FILE
from nacre.understanding.linking.link_mentions import _schema_parts, linker_of
from tests.support.word_count_embedder import WordHash

TREES = Path(__file__).parents[1] / "fixtures" / "graphs" / "kitchen.ttl"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    ingest([str(TREES)], "kitchen", data=tmp_path / "data", embedder=WordHash())
    return tmp_path / "data"


def folder(data: Path) -> Path:
    home = data / "kitchen"
    return versions.version_folder(home, versions.current_version(home) or "")


def test_without_graphs_the_next_command_is_told(tmp_path: Path) -> None:
    library = Library(tmp_path / "nowhere", None)
    assert library.names() == []
    with pytest.raises(ConfigError, match=r"No graph. Run: nacre ingest FILE.ttl --graph NAME") as told:
        library.resolve(None)
    assert isinstance(told.value, GraphNotFound)
    assert told.value.folder == tmp_path / "nowhere"
    with pytest.raises(ConfigError, match=r"No graph named 'x'. Run: nacre ingest FILE.ttl --graph x"):
        library.resolve("x")


def test_the_only_graph_needs_no_name_and_others_get_did_you_mean(data: Path) -> None:
    library = Library(data, WordHash())
    assert library.resolve(None) == "kitchen"
    with pytest.raises(ConfigError, match=r"No graph named 'kichen'. Did you mean 'kitchen'"):
        library.resolve("kichen")
    with pytest.raises(ConfigError, match="can't name a graph"):
        library.resolve("../kitchen")
    shutil.copytree(data / "kitchen", data / "other")
    with pytest.raises(ConfigError, match="Which graph\\? There are kitchen, other"):
        library.resolve(None)


def test_a_whole_graph_opens_with_all_its_parts(data: Path) -> None:
    library = Library(data, WordHash())
    with library.open("kitchen") as graph:
        assert graph.unavailable == {}
        assert graph.version == library.current("kitchen")
        assert graph.schema.triples > 0
        assert graph.passages is not None
        assert graph.lexical is not None
        assert graph.vectors is not None
        (passage,) = graph.passages.get([graph.passages.written()[0]])
        assert graph.lexical.search(passage.title, 3)
        assert graph.vectors.search(passage.text, 1)[0].score > 0.5
        assert library.open("kitchen") is graph
    library.close()


def test_a_part_that_is_missing_or_broken_is_named_and_the_rest_opens(data: Path) -> None:
    shutil.rmtree(data / "kitchen" / "vectors")
    (folder(data) / "lexical" / "meta.json").write_text("{")
    graph = Library(data, WordHash()).open("kitchen")
    assert set(graph.unavailable) == {"vector", "lexical"}
    assert all("nacre index --graph kitchen" in reason for reason in graph.unavailable.values())
    assert graph.passages is not None
    assert graph.vectors is None
    assert graph.lexical is None
    assert graph.tables.trusted().execute("SELECT count(*) FROM entity").fetchone()[0] > 0


def test_without_passages_only_the_tables_open(data: Path) -> None:
    (folder(data) / "passages.sqlite").unlink()
    graph = Library(data, WordHash()).open("kitchen")
    assert set(graph.unavailable) == {"vector", "lexical"}


def test_no_embedder_or_another_one_leaves_out_the_vectors(data: Path) -> None:
    class Other(WordHash):
        name = "other"

    assert "embedder" in Library(data, None).open("kitchen").unavailable["vector"]
    reason = Library(data, Other()).open("kitchen").unavailable["vector"]
    assert "word-hash" in reason
    assert "nacre index --graph kitchen" in reason
    made = index_graph("kitchen", data=data, embedder=Other())
    assert made.embedded == made.passages > 0
    assert Library(data, Other()).open("kitchen").unavailable == {}


def test_damaged_tables_are_told_with_the_next_command(data: Path) -> None:
    (folder(data) / "graph.sqlite").write_bytes(
        b"no database at all, but longer than a header of one hundred bytes" * 9
    )
    with pytest.raises(ConfigError, match=r"kitchen.*[Ii]ngest"):
        Library(data, None).open("kitchen")


def test_a_reader_keeps_its_version_until_it_gives_it_back(data: Path, tmp_path: Path) -> None:
    library = Library(data, WordHash())
    old = library.open("kitchen")
    place = folder(data)
    source = tmp_path / "more.ttl"
    source.write_text(TREES.read_text() + "\n<http://x.org/new> <http://x.org/p> 'v' .\n")
    ingest([str(source)], "kitchen", data=data, embedder=WordHash())
    assert place.exists()
    assert old.passages is not None
    assert old.passages.get(old.passages.written())
    assert ("http://x.org/new",) not in old.tables.run("SELECT iri FROM entity").rows
    new = library.open("kitchen")
    assert ("http://x.org/new",) in new.tables.run("SELECT iri FROM entity").rows
    assert new.schema.triples == old.schema.triples + 1
    assert library.open("kitchen", old.version) is old
    old.close()
    old.close()
    library.open("kitchen")
    assert not place.exists()
    with pytest.raises(ConfigError, match="is gone"):
        library.open("kitchen", old.version)
    library.close()


def test_a_removed_graph_is_gone(data: Path) -> None:
    library = Library(data, WordHash())
    library.open("kitchen").close()
    library.remove("kitchen")
    assert library.names() == []
    assert not (data / "kitchen").exists()
    with pytest.raises(ConfigError, match="No graph named 'kitchen'"):
        library.remove("kitchen")


def test_a_removed_graph_takes_its_verified_questions_along(data: Path, caplog: pytest.LogCaptureFixture) -> None:
    library = Library(data, WordHash())
    library.verified.note_graph("kitchen", "v1", frozenset({"http://e.org/Pan"}), frozenset())
    library.remove("kitchen")
    assert library.verified.known_graph("kitchen") is None
    library.close()


def test_a_graph_is_removed_if_its_verified_questions_can_not_be(data: Path, caplog: pytest.LogCaptureFixture) -> None:
    (data / VERIFIED_FILE).write_text("no database" * 1000)
    library = Library(data, WordHash())
    library.remove("kitchen")
    assert library.names() == []
    assert "verified questions of kitchen can't be deleted" in caplog.text


def test_a_graph_that_somebody_reads_is_removed_from_sight_and_later_from_disk(data: Path) -> None:
    reader = Library(data, WordHash())
    graph = reader.open("kitchen")
    Library(data, WordHash()).remove("kitchen")
    assert reader.names() == []
    assert graph.passages is not None
    assert graph.passages.get(graph.passages.written())
    reader.close()
    ingest([str(TREES)], "kitchen", data=data, embedder=WordHash())
    assert len(list((data / "kitchen" / "versions").iterdir())) == 1


def test_what_is_given_up_waits_for_a_thread_that_still_reads(data: Path) -> None:
    library = Library(data, WordHash())
    reading, counts = threading.Event(), list[int]()

    def read() -> None:
        with library.open("kitchen") as graph:
            reading.set()
            time.sleep(0.2)
            counts.append(int(str(graph.tables.run("SELECT count(*) FROM entity").rows[0][0])))

    thread = threading.Thread(target=read)
    thread.start()
    assert reading.wait(5)
    library.close()
    thread.join(5)
    assert [n > 0 for n in counts] == [True]


def test_a_server_opens_large_graphs_before_the_first_question(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "LARGE_GRAPH", 1)
    shutil.copytree(data / "kitchen", data / "damaged")
    damaged = versions.version_folder(data / "damaged", versions.current_version(data / "damaged") or "")
    (damaged / versions.LEXICON).write_bytes(b"no lexicon")
    library = Library(data, WordHash())
    app.open_large_graphs(library)
    built = _schema_parts.cache_info().misses
    with library.open("kitchen") as graph:
        linker_of(graph.lexicon)
    assert _schema_parts.cache_info().misses == built
    assert gc.isenabled()
