"""Vectors in a folder and on a server behind one shape: one suite over both."""

import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nacre.errors import ConfigError
from nacre.stores.vectors import (
    Collection,
    CollectionWriter,
    EdgeCollection,
    EdgeWriter,
    ServerCollection,
    ServerWriter,
    Vectors,
    connect_qdrant,
    delete_collection,
)
from tests.support.word_count_embedder import WordHash

TEXTS = {2**62 + 3: "oak tree leaf", 7: "maple tree snow", 8: "share price market"}
Place = tuple[Callable[[], CollectionWriter], Callable[[], Collection]]


@pytest.fixture(params=["edge", "server"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    if request.param == "edge":
        yield lambda: EdgeWriter(tmp_path / "v", WordHash.size), lambda: EdgeCollection(tmp_path / "v")
        return
    connect_qdrant.cache_clear()
    yield (
        lambda: ServerWriter(":memory:", None, "nacre_g_1", WordHash.size),
        lambda: ServerCollection(":memory:", None, "nacre_g_1"),
    )
    connect_qdrant(":memory:").close()
    connect_qdrant.cache_clear()


def fill(writer: CollectionWriter) -> None:
    writer.add(list(TEXTS), WordHash().embed(list(TEXTS.values())))
    writer.finish()


def test_the_nearest_come_first(place: Place) -> None:
    fill(place[0]())
    vectors = Vectors(place[1](), WordHash())
    hits = vectors.search("a leaf of an oak", 2)
    assert hits[0].id == 2**62 + 3
    assert len(hits) == 2
    assert vectors.search("  ", 2) == []
    assert vectors.search("oak", 0) == []
    vectors.close()


def test_vectors_can_be_fetched_to_be_copied(place: Place) -> None:
    fill(place[0]())
    collection = place[1]()
    found = collection.fetch([7, 404])
    assert list(found) == [7]
    assert sum(x * x for x in found[7]) == pytest.approx(1, abs=1e-5)
    collection.close()


def test_an_open_shard_leaves_no_files_for_a_process_that_is_killed(tmp_path: Path, monkeypatch) -> None:
    fill(EdgeWriter(tmp_path / "v", WordHash.size))
    (tmp_path / "private").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "private"))
    collection = EdgeCollection(tmp_path / "v")
    assert list((tmp_path / "private").iterdir()) == []
    assert list(collection.fetch([7])) == [7]
    collection.close()


def test_what_was_abandoned_is_gone(place: Place) -> None:
    writer = place[0]()
    writer.add(list(TEXTS), WordHash().embed(list(TEXTS.values())))
    writer.abandon()
    with pytest.raises(
        (ConfigError, OSError, Exception), match=r"no collection|No such file|not found|[Ee]dge|[Ss]egment"
    ):
        place[1]()


def collections() -> list[str]:
    return [each.name for each in connect_qdrant(":memory:", None).get_collections().collections]


def test_a_collection_of_a_graph_is_dropped() -> None:
    connect_qdrant.cache_clear()
    fill(ServerWriter(":memory:", None, "nacre_g_1", WordHash.size))
    fill(ServerWriter(":memory:", None, "nacre_h_1", WordHash.size))
    assert sorted(collections()) == ["nacre_g_1", "nacre_h_1"]
    delete_collection(":memory:", None, "nacre_g_1")
    assert collections() == ["nacre_h_1"]
    connect_qdrant(":memory:").close()
    connect_qdrant.cache_clear()


def test_a_server_that_is_not_there_is_named() -> None:
    with pytest.raises(ConfigError, match=r"http://127.0.0.1:9 does not serve.*NACRE_QDRANT_URL"):
        ServerCollection("http://127.0.0.1:9", None, "nacre_g_1")


def test_readers_share_a_folder_and_clean_up_after_themselves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(EdgeWriter(tmp_path / "v", WordHash.size))
    (tmp_path / "private").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "private"))

    def state() -> dict[str, str]:
        files = (p for p in (tmp_path / "v").rglob("*") if p.is_file())
        return {str(p): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}

    before = state()
    readers = [EdgeCollection(tmp_path / "v") for _ in range(3)]
    other = subprocess.run(
        [sys.executable, "-c", ANOTHER_PROCESS, str(tmp_path / "v")], capture_output=True, text=True, check=True
    )
    assert other.stdout.strip() == "7"
    for reader in readers:
        assert list(reader.fetch([8])) == [8]
        reader.close()
        reader.close()
    assert state() == before
    assert list((tmp_path / "private").iterdir()) == []


ANOTHER_PROCESS = """
import sys
from pathlib import Path
from nacre.stores.vectors import EdgeCollection
collection = EdgeCollection(Path(sys.argv[1]))
print(list(collection.fetch([7]))[0])
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_folder_that_may_not_be_written_can_be_read(tmp_path_factory: pytest.TempPathFactory) -> None:
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)
        fill(EdgeWriter(Path(place) / "v", WordHash.size))
        done = subprocess.run(
            [sys.executable, "-c", READ_AS_NOBODY + ANOTHER_PROCESS.split("Path\n")[1], place + "/v"],
            capture_output=True,
            text=True,
        )
        assert done.stdout.strip() == "7", done.stderr


READ_AS_NOBODY = """
import sys, os
from pathlib import Path
import qdrant_edge, tempfile, shutil
from nacre.stores.vectors import EdgeCollection
os.setgroups([]); os.setgid(65534); os.setuid(65534)
"""
