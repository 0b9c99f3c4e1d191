"""Versions on disk: the switch, pins, and what is cleaned up when."""

import json
import os
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ingestion.stages import build_folder, new_version_id, publish_vectors, publish_version
from nacre.errors import ConfigError, IngestionError
from nacre.stores import versions
from nacre.stores.catalog import Servers
from nacre.stores.versions import Manifest, Pointer, VectorsManifest

V1, V2, V3 = (new_version_id(datetime(2030, 1, day, tzinfo=UTC), "abcdef123456") for day in (1, 2, 3))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "g").mkdir()
    return tmp_path / "g"


def make(home: Path, version: str, content: str = "x") -> None:
    with versions.writer_lock(home), build_folder(home, versions.version_folder(home, version), Servers()) as folder:
        (folder / "deep").mkdir()
        (folder / "deep" / "file").write_text(content)
        publish_version(home, folder, Manifest(version, passages=7), "why not")


def make_vectors(home: Path, vectors: str) -> None:
    with versions.writer_lock(home), build_folder(home, versions.vectors_folder(home, vectors), Servers()) as folder:
        manifest = VectorsManifest(versions.current_version(home) or "", "e", None, 7)
        publish_vectors(home, folder, vectors, manifest)


def present(home: Path) -> list[str]:
    return sorted(p.name for p in (home / "versions").iterdir())


def test_a_published_version_is_current_and_the_one_before_goes(home: Path) -> None:
    make(home, V1)
    make(home, V2, "y")
    assert versions.current_version(home) == V2
    assert present(home) == [V2]
    assert (versions.version_folder(home, V2) / "deep" / "file").read_text() == "y"
    record = json.loads((home / "current").read_text())
    told = {
        "version": V2,
        "format": versions.FORMAT,
        "vectors": None,
        "earlier": None,
        "without": "why not",
        "layers": "",
    }
    assert record == told
    assert versions.read_manifest(home, V2) == Manifest(V2, passages=7)


def test_vectors_follow_by_a_second_switch_and_those_before_stay_until_then(home: Path) -> None:
    make(home, V1)
    make_vectors(home, "one")
    assert versions.read_pointer(home) == Pointer(V1, "one")
    make(home, V2)
    assert versions.read_pointer(home) == Pointer(V2, None, "one", "why not")
    make(home, V3)
    assert versions.read_pointer(home) == Pointer(V3, None, "one", "why not")
    assert sorted(p.name for p in (home / "vectors").iterdir()) == ["one"]
    pinned = versions.pin_folder(versions.vectors_folder(home, "one"))
    assert pinned is not None
    make_vectors(home, "two")
    assert versions.read_pointer(home) == Pointer(V3, "two")
    assert sorted(p.name for p in (home / "vectors").iterdir()) == ["one", "two"]
    os.close(pinned)
    make_vectors(home, "three")
    assert sorted(p.name for p in (home / "vectors").iterdir()) == ["three"]
    assert versions.read_vectors_manifest(home, "three") == VectorsManifest(V3, "e", None, 7)


def test_a_pinned_version_stays_until_it_is_let_go(home: Path) -> None:
    make(home, V1)
    pinned = versions.pin_folder(versions.version_folder(home, V1))
    assert pinned is not None
    make(home, V2)
    assert present(home) == [V1, V2]
    os.close(pinned)
    make(home, V3)
    assert present(home) == [V3]
    assert versions.pin_folder(versions.version_folder(home, V1)) is None


def test_a_failed_build_leaves_nothing_and_the_old_version(home: Path) -> None:
    make(home, V1)

    def interrupted() -> None:
        with versions.writer_lock(home), build_folder(home, versions.version_folder(home, V2), Servers()) as folder:
            (folder / "half").write_text("x")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert present(home) == [V1]
    assert versions.current_version(home) == V1


def test_what_killed_builds_left_goes_with_the_next(home: Path) -> None:
    make(home, V1)
    for left in (f".{V2}.building", f".gone-{V2}.building", V2):
        (home / "versions" / left).mkdir()
        (home / "versions" / left / "file").write_text("x")
    make(home, V3)
    assert present(home) == [V3]


def test_what_killed_builds_left_goes_where_nothing_has_to_be_built(tmp_path: Path) -> None:
    from ingestion.pipeline import ingest

    source = tmp_path / "one.ttl"
    source.write_text("<http://ex/a> <http://ex/b> 1 .")
    made = ingest([str(source)], "g", data=tmp_path / "data")
    (tmp_path / "data" / "g" / "versions" / f".gone-{V1}.building").mkdir()
    assert ingest([str(source)], "g", data=tmp_path / "data").unchanged
    assert present(tmp_path / "data" / "g") == [made.version]


def test_the_remote_vectors_of_a_version_go_with_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(home, V1)
    left = home / "vectors" / f".{V2}.building"
    left.mkdir(parents=True)
    versions.write_manifest(left, VectorsManifest(V2, "e", "nacre_g_2"))
    dropped: list[str] = []
    monkeypatch.setattr("nacre.stores.catalog.drop_collection", lambda url, key, name: dropped.append(name))
    assert versions.remove_unused_versions(home, Servers("http://vectors.example").remove_parts) == [left.name]
    assert dropped == ["nacre_g_2"]


def test_vectors_that_can_not_be_removed_now_keep_their_folder(home: Path) -> None:
    make(home, V1)
    left = home / "vectors" / f".{V2}.building"
    left.mkdir(parents=True)
    versions.write_manifest(left, VectorsManifest(V2, "e", "nacre_g_2"))

    def unreachable(folder: Path) -> None:
        raise ConfigError("no server")

    assert versions.remove_unused_versions(home, unreachable) == []
    assert left.exists()


def test_two_writers_do_not_mix(home: Path) -> None:
    with versions.writer_lock(home), pytest.raises(ConfigError, match="being written by another"):
        make(home, V1)
    with versions.writer_lock(home):
        pass


def test_a_writer_waits_for_a_reader_that_tidies_up(home: Path) -> None:
    holding, left = threading.Event(), threading.Event()

    def tidying() -> None:
        with versions.writer_lock(home, seconds=0):
            holding.set()
            left.wait(0.3)

    reader = threading.Thread(target=tidying)
    reader.start()
    holding.wait(5)
    make(home, V1)
    reader.join(5)
    assert versions.current_version(home) == V1


def test_a_place_that_can_not_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    blocked = build_folder(tmp_path / "file" / "g", tmp_path / "file" / "g" / "versions" / V1, Servers())
    with pytest.raises(IngestionError, match=r"Can't write to .*file.*NACRE_DATA"):
        blocked.__enter__()


def test_another_format_and_a_damaged_file_say_what_to_run(home: Path) -> None:
    make(home, V1)
    place = versions.version_folder(home, V1) / versions.MANIFEST
    place.write_text(place.read_text().replace(f'"format": {versions.FORMAT}', '"format": 99'))
    with pytest.raises(ConfigError, match=r"format 99.*nacre ingest"):
        versions.read_manifest(home, V1)
    (home / "current").write_text("{")
    with pytest.raises(ConfigError, match=r"damaged.*nacre ingest"):
        versions.current_version(home)


@pytest.mark.parametrize(
    ("name", "accepted"), [("Fähre Test", "faehre-test"), ("../Côté_2", "cote-2"), ("日本", "my-graph")]
)
def test_a_name_that_can_not_be_gets_the_accepted_form(name: str, accepted: str) -> None:
    with pytest.raises(ConfigError, match=f"such as {accepted}\\.$"):
        versions.check_name(name)


@pytest.mark.parametrize("name", ["", "A", "-a", "a" * 65, "a/b", "..", "a_b", "ä"])
def test_names_that_can_not_be(name: str) -> None:
    with pytest.raises(ConfigError, match="can't name a graph"):
        versions.check_name(name)
