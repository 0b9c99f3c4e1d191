"""What is said about damaged files: it names the graph and the file, never the folder, since clients see it."""

import shutil
from pathlib import Path

import pytest

from ingestion.pipeline import ingest
from nacre.errors import ConfigError
from nacre.serving.http.graphs import graph_summary
from nacre.stores.catalog import Library

GRAPH = Path(__file__).parents[1] / "fixtures/graphs/reading_room.ttl"


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("intact")
    ingest([str(GRAPH)], "reading-room", data=data, no_vectors=True)
    return data


def emptied(file: Path) -> None:
    for each in [file] if file.is_file() else [each for each in file.rglob("*") if each.is_file()]:
        each.write_bytes(b"[[[")


def removed(file: Path) -> None:
    shutil.rmtree(file) if file.is_dir() else file.unlink()


@pytest.mark.parametrize("damage", [emptied, removed])
def test_messages_about_damaged_files_name_no_folder(intact: Path, tmp_path: Path, damage) -> None:
    said: dict[str, str] = {}
    home = intact / "reading-room"
    files = [home / "current", *(file for version in (home / "versions").iterdir() for file in version.iterdir())]
    for number, file in enumerate(files):
        data = tmp_path / str(number)
        shutil.copytree(intact, data)
        damage(data / file.relative_to(intact))
        library = Library(data, None)
        summary = graph_summary(library, "reading-room")
        said[file.name] = f"{summary.problem} {summary.unavailable}"
        try:
            library.open("reading-room").close()
        except (ConfigError, OSError) as error:
            said[file.name] += str(error) if isinstance(error, ConfigError) else ""
        library.close()
    assert any("damaged" in text for text in said.values())
    assert {name: text for name, text in said.items() if str(tmp_path) in text} == {}
