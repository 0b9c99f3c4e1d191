"""Graphs that several servers share through a store: what is published, fetched, refused, and never half."""

import io
import json
import tarfile
import zipfile
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import make_url

from ingestion.pipeline import ingest
from nacre.errors import ConfigError
from nacre.extensions.databases.attach_database import known_database
from nacre.extensions.databases.attached import AttachedDatabase
from nacre.extensions.fleet.command import shared_graphs
from nacre.extensions.fleet.graph_store import GraphStore, IncompletePart, Part, Publication, follow_store
from nacre.stores import versions
from nacre.stores.addresses import FILES
from nacre.stores.catalog import Library
from nacre.stores.versions import switch_version

SECRET = "quicksilver-6612"
BOATS = '@prefix : <http://example.org/> . :{0} a :Boat ; <http://www.w3.org/2000/01/rdf-schema#label> "{0}" .'


@pytest.fixture
def store(tmp_path: Path) -> GraphStore:
    return GraphStore(f"file://{tmp_path}/store")


@pytest.fixture
def servers(tmp_path: Path) -> tuple[Path, Path]:
    """The data folders of two servers."""
    folders = tmp_path / "one", tmp_path / "two"
    for folder in folders:
        folder.mkdir()
    return folders


def publish(data: Path, *names: str) -> str:
    """Ingest boats of these names; the version."""
    source = data.parent / f"{data.name}.ttl"
    source.write_text("\n".join(BOATS.format(name) for name in names))
    return ingest([str(source)], "boats", data=data, no_vectors=True).version


def boats(data: Path) -> list[str]:
    library = Library(data, None)
    try:
        with library.open("boats") as graph:
            return sorted(str(row[0]) for row in graph.tables.run("SELECT label FROM boat").rows)
    finally:
        library.close()


def test_what_one_server_ingests_the_other_answers_from(store: GraphStore, servers: tuple[Path, Path]) -> None:
    one, two = servers
    publish(one, "Heron")
    assert follow_store(store, one) == ["boats"]
    assert (follow_store(store, two), boats(two)) == (["boats"], ["Heron"])
    assert (follow_store(store, one), follow_store(store, two)) == ([], [])
    # and back
    publish(two, "Heron", "Petrel")
    assert (follow_store(store, two), follow_store(store, one)) == (["boats"], ["boats"])
    assert boats(one) == ["Heron", "Petrel"]
    # the version before it is gone from this machine, since nobody has it open
    assert len(list((one / "boats" / "versions").iterdir())) == 1


def test_a_command_names_the_graphs_that_were_never_in_the_store(
    store: GraphStore,
    servers: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    publish(servers[0], "Heron")
    monkeypatch.setenv("NACRE_GRAPHS", f"file://{tmp_path}/store")
    monkeypatch.setenv("NACRE_DATA", str(servers[0]))
    for expected in ("Published for all servers: boats\n", ""):
        with shared_graphs("graphs"):
            assert list(store.numbers()) == ["boats"]
        assert capsys.readouterr().err == expected


def test_of_two_that_publish_at_once_the_last_is_on_both(store: GraphStore, servers: tuple[Path, Path]) -> None:
    one, two = servers
    publish(one, "Heron")
    follow_store(store, one)
    follow_store(store, two)
    publish(one, "Petrel")
    publish(two, "Tern", "Skua")
    for folder in (one, two, one, two):
        follow_store(store, folder)
    assert boats(one) == boats(two) == ["Skua", "Tern"]


def test_a_change_of_an_earlier_version_gives_way_to_a_new_version(
    store: GraphStore, servers: tuple[Path, Path]
) -> None:
    """As vectors that were built on one server for a version that another one has replaced."""
    one, two = servers
    publish(one, "Heron")
    follow_store(store, one)
    follow_store(store, two)
    publish(one, "Petrel")
    follow_store(store, one)
    earlier = versions.read_pointer(two / "boats")
    assert earlier is not None
    switch_version(two / "boats", versions.Pointer(earlier.version, without="another reason"))
    assert follow_store(store, two) == ["boats"]
    assert boats(two) == ["Petrel"]


def test_a_removed_graph_is_removed_everywhere(store: GraphStore, servers: tuple[Path, Path]) -> None:
    one, two = servers
    publish(one, "Heron")
    follow_store(store, one)
    follow_store(store, two)
    library = Library(two, None)
    library.remove("boats")
    library.close()
    follow_store(store, two)
    assert follow_store(store, one) == ["boats"]
    assert not (one / "boats").exists()
    # and its name can be used again
    publish(one, "Tern")
    follow_store(store, one)
    follow_store(store, two)
    assert boats(two) == ["Tern"]


def test_what_a_command_publishes_after_the_server_looked_stays(
    store: GraphStore, servers: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(servers[0], "Gannet")
    follow_store(store, servers[0])
    seen = [store.numbers()]
    version = publish(servers[0], "Heron")
    follow_store(store, servers[0])
    numbers = store.numbers
    monkeypatch.setattr(store, "numbers", lambda: seen.pop() if seen else numbers())
    assert follow_store(store, servers[0]) == []
    assert not seen
    assert Library(servers[0], None).current("boats") == version


@pytest.mark.parametrize("damage", ["half", "other", "gone", "empty"])
def test_half_a_file_is_never_used(store: GraphStore, servers: tuple[Path, Path], tmp_path: Path, damage: str) -> None:
    one, two = servers
    publish(one, "Heron")
    follow_store(store, one)
    follow_store(store, two)
    publish(one, "Petrel")
    follow_store(store, one)
    (new,) = [part.key for part in store.read("boats", 2).parts]
    file = tmp_path / "store" / new
    content = file.read_bytes()
    changed = {"half": content[: len(content) // 2], "other": content[:-9000] + b"x" + content[-8999:], "empty": b""}
    file.unlink() if damage == "gone" else file.write_bytes(changed[damage])
    assert follow_store(store, two) == []
    assert boats(two) == ["Heron"]
    assert [folder.name for folder in (two / "boats" / "versions").iterdir() if folder.name[0] == "."] == []
    # once it is whole, it is fetched
    file.write_bytes(content)
    follow_store(store, two)
    assert boats(two) == ["Petrel"]


def test_a_number_is_given_once(store: GraphStore) -> None:
    assert [store.create(Publication("boats", 1, None)) for _ in range(2)] == [True, False]


@pytest.mark.parametrize("place", ["versions/../../keys", "/etc", "versions/a/b", "other/a"])
def test_a_publication_names_no_place_outside_of_its_graph(store: GraphStore, place: str) -> None:
    store.create(Publication("boats", 1, versions.Pointer("v"), (Part(place, "k", 1, "s"),)))
    with pytest.raises(IncompletePart):
        store.read("boats", 1)


def test_a_publication_nested_without_end_is_incomplete(store: GraphStore, tmp_path: Path) -> None:
    store.create(Publication("boats", 1, None))
    (tmp_path / "store/current" / f"boats.{2:012}.json").write_bytes(b"[" * 100_000)
    with pytest.raises(IncompletePart):
        store.read("boats", 2)


@pytest.mark.parametrize(
    "key", ["../../secret.tar", "/etc/x.tar", "parts/other/versions-v-1.tar", "parts/boats/../../x.tar", "", 7]
)
def test_keys_and_pointers_of_a_publication_stay_in_its_graph(store: GraphStore, tmp_path: Path, key: Any) -> None:
    """Keys are read, and removed with a later publication."""
    secret = tmp_path / "secret.tar"
    secret.write_text("kept")
    store.create(Publication("boats", 1, versions.Pointer("v"), (Part("versions/v", key, 1, "s"),)))
    store.create(Publication("boats", 2, versions.Pointer("../../v")))
    for number in (1, 2):
        with pytest.raises(IncompletePart, match="outside"):
            store.read("boats", number)
    for number in (3, 4, 5):
        store.create(Publication("boats", number, None))
    with pytest.raises(IncompletePart):
        store.remove_old(Publication("boats", 5, None))
    assert secret.read_text() == "kept"


@pytest.mark.parametrize("kind", ["parent", "absolute", "link", "link inside", "hard link", "device", "zip"])
def test_an_archive_that_somebody_else_wrote_leaves_nothing(store: GraphStore, tmp_path: Path, kind: str) -> None:
    """Its size and checksum are right, as whoever may write the store can make them."""
    (tmp_path / "secret").write_text("kept")
    data = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(data, "w") as archive:
            archive.writestr("../secret", "changed")
    else:
        entry = tarfile.TarInfo({"parent": "../secret", "absolute": f"{tmp_path}/secret"}.get(kind, "inner"))
        entry.type = {
            "link": tarfile.SYMTYPE,
            "link inside": tarfile.SYMTYPE,
            "hard link": tarfile.LNKTYPE,
            "device": tarfile.CHRTYPE,
        }.get(kind, tarfile.REGTYPE)
        entry.linkname = "manifest.json" if "inside" in kind else f"{tmp_path}/secret" if "link" in kind else ""
        entry.size = 7 if entry.isreg() else 0
        with tarfile.open(fileobj=data, mode="w") as tar:
            tar.addfile(entry, io.BytesIO(b"changed"))
    content = data.getvalue()
    place = tmp_path / "store" / "parts" / "boats"
    place.mkdir(parents=True)
    (place / "versions-v-1.tar").write_bytes(content)
    part = Part("versions/v", "parts/boats/versions-v-1.tar", len(content), sha256(content).hexdigest())
    store.create(Publication("boats", 1, versions.Pointer("v"), (part,)))
    two = tmp_path / "two"
    two.mkdir()
    # an absolute path is taken for one within the version, which then lacks its tables
    assert follow_store(store, two) == (["boats"] if kind == "absolute" else [])
    assert (tmp_path / "secret").read_text() == "kept"
    inside = two / "boats" / "versions" / "v"
    found = [file for file in two.rglob("*") if file.name in ("secret", "inner") and inside not in file.parents]
    assert found == []


NAMED = "db.example:5432, store.example"
SCHEMA = "nacre_boats_0123456789abcdef"
KEPT: dict[str, Any] = {"url": "sqlite:///own.db", "dialect": "sqlite", "tables": [], "kept": "kept/own.db"}


def fetch_attached(tmp_path: Path, files: dict[str, Any], place: str = "versions/v") -> AttachedDatabase | None:
    """Publish a folder with these JSON files and a database of its own, and follow the store with another data folder.

    Returns the database that the graph then is attached to. Raises ConfigError if the publication is not taken over.
    """
    folder, data = Path(mkdtemp(dir=tmp_path)), Path(mkdtemp(dir=tmp_path))
    (folder / "kept").mkdir()
    (folder / "kept/own.db").write_bytes(b"own")
    for name, content in files.items():
        (folder / name).write_text(content if isinstance(content, str) else json.dumps(content))
    store = GraphStore(f"file://{folder}-store", NAMED)
    part = store.upload("boats", place, folder)
    is_version = place.startswith("versions")
    pointer = versions.Pointer("v", without="none") if is_version else versions.Pointer("v", place[8:])
    parts = (part,) if is_version else (store.upload("boats", "versions/v", folder / "kept"), part)
    store.create(Publication("boats", 1, pointer, parts))
    if follow_store(store, data) == ["boats"]:
        return known_database("boats", data) if is_version else None
    assert store.refused == {"boats": store.read("boats", 1)}
    # nothing of it is left, and it is not fetched again
    assert follow_store(store, data) == []
    assert [path.name for path in (data / "boats" / place).parent.iterdir()] == []
    raise ConfigError("refused")


@pytest.mark.parametrize(
    "files",
    [
        {"database.json": {**KEPT, "kept": "", "url": "sqlite:///{0}/secret.db"}},
        {"database.json": {**KEPT, "kept": "", "url": "duckdb:///{0}/secret.db", "dialect": "duckdb"}},
        {"database.json": {**KEPT, "kept": "", "url": "sqlite:///kept/own.db"}},
        {"database.json": {**KEPT, "kept": "{0}/secret.db"}},
        {"database.json": {**KEPT, "kept": "../../../../secret.db"}},
        {"database.json": {**KEPT, "kept": "kept/../../../../../secret.db"}},
        {"database.json": {**KEPT, "kept": "kept"}},
        {"database.json": {**KEPT, "kept": "kept/none.db"}},
        {"database.json": {**KEPT, "kept": "kept/own.db\0"}},
        {"database.json": {**KEPT, "dialect": "postgres"}},
        {"database.json": {**KEPT, "kept": "", "url": "postgresql://evil.example/shop"}},
        {"database.json": {**KEPT, "kept": "", "url": "postgresql://db.example:5433/shop"}},
        {"database.json": {**KEPT, "kept": "", "url": "postgresql://db.example/shop?host=evil.example"}},
        {"database.json": {**KEPT, "kept": "", "url": "postgresql:///shop"}},
        {"database.json": {**KEPT, "kept": "", "url": "mysql+pymysql://store.example/x?read_default_file=/etc/my.cnf"}},
        {"database.json": "[" * 100_000},
        {"database.json": "{}"},
        {"endpoint.json": {"url": "http://169.254.169.254/latest"}},
        {"endpoint.json": {"url": "file:///etc/passwd"}},
        {"tables.json": {"url": "postgresql+psycopg://evil.example/x", "schema": SCHEMA}},
        {"tables.json": {"url": "postgresql+psycopg://db.example:5432/x", "schema": "public"}},
        {"tables.json": {"url": "postgresql+psycopg://db.example:5432/x", "schema": SCHEMA.replace("boats", "other")}},
        {"tables.json": {"url": "postgresql+psycopg://db.example:5432/x", "schema": f"{SCHEMA}\n"}},
        {"manifest.json": {"version": "v", "collection": "nacre_other_v"}},
        {"manifest.json": {"version": "v", "tables": "postgresql+psycopg://reader@evil.example:9997/x"}},
        {"manifest.json": {"version": "v", "tables": ["postgresql+psycopg://evil.example/x"]}},
        {"manifest.json": []},
    ],
    ids=str,
)
def test_a_publication_names_no_file_host_or_table_that_is_not_its_own(tmp_path: Path, files: dict[str, Any]) -> None:
    (tmp_path / "secret.db").write_text(SECRET)
    named = {name: json.loads(json.dumps(each).replace("{0}", str(tmp_path))) for name, each in files.items()}
    with pytest.raises(ConfigError):
        fetch_attached(tmp_path, named)


def test_vectors_of_a_publication_are_those_of_its_graph(tmp_path: Path) -> None:
    own = {"version": "v", "embedder": "e", "collection": "nacre_boats_w"}
    fetch_attached(tmp_path, {"manifest.json": own}, "vectors/w")
    with pytest.raises(ConfigError):
        fetch_attached(tmp_path, {"manifest.json": {**own, "collection": "nacre_boats_x"}}, "vectors/w")


def test_what_a_publication_has_itself_and_hosts_that_are_named_are_used(tmp_path: Path) -> None:
    database = fetch_attached(tmp_path, {"database.json": KEPT})
    assert database is not None
    assert Path(database.url.partition("?")[0].removeprefix("sqlite:///")).read_bytes() == b"own"
    far = {**KEPT, "kept": "", "url": "postgresql+psycopg://me@db.example:5432/shop", "dialect": "postgres"}
    database = fetch_attached(tmp_path, {"database.json": far})
    assert database is not None
    assert database.url == far["url"]
    fetch_attached(tmp_path, {"endpoint.json": {"url": "https://store.example/sparql"}})
    fetch_attached(tmp_path, {"tables.json": {"url": "postgresql+psycopg://db.example/x", "schema": SCHEMA}})


SCHEMES = st.sampled_from(("sqlite:", "duckdb:", "postgresql:", "postgresql+psycopg:", "mysql+pymysql:", "file:", ""))
PLACES = st.sampled_from(
    ("db.example", "DB.example:5432", "evil.example", "me@store.example", "", "db.example,evil.example")
)
PIECES = st.sampled_from(
    ("/", "..", "kept", "own.db", "secret.db", "?host=evil.example", "?sslmode=require", "#", "%2f", "x")
)


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    url=st.tuples(SCHEMES, st.just("//"), PLACES, st.lists(PIECES, max_size=4).map("".join)).map("".join),
    kept=st.one_of(st.just(""), st.lists(PIECES, max_size=5).map("/".join), st.text(max_size=9)),
    dialect=st.sampled_from(("sqlite", "duckdb", "postgres", "x")),
)  # fmt: skip
def test_whatever_a_publication_is_attached_to_is_its_file_or_on_a_named_host(
    tmp_path: Path, url: str, kept: str, dialect: str
) -> None:
    try:
        database = fetch_attached(tmp_path, {"database.json": {**KEPT, "url": url, "kept": kept, "dialect": dialect}})
    except ConfigError:
        return
    assert database is not None
    found = make_url(database.url)
    if found.get_backend_name() in FILES:
        assert Path(found.database or "").read_bytes() == b"own"
    else:
        assert (found.host or "").lower() in ("db.example", "store.example")
        assert set(found.query) <= {"sslmode"}


def test_a_publication_that_is_not_written_to_its_end_changes_nothing(
    store: GraphStore, servers: tuple[Path, Path], tmp_path: Path
) -> None:
    one, two = servers
    publish(one, "Heron")
    follow_store(store, one)
    follow_store(store, two)
    current = tmp_path / "store" / "current"
    text = (current / "boats.000000000001.json").read_text()
    (current / "boats.000000000002.json").write_text(text[:40])
    assert (follow_store(store, two), boats(two)) == ([], ["Heron"])


def test_earlier_publications_are_removed_from_the_store(
    store: GraphStore, servers: tuple[Path, Path], tmp_path: Path
) -> None:
    for name in ("Heron", "Petrel", "Tern", "Skua"):
        publish(servers[0], name)
        follow_store(store, servers[0])
    assert store.numbers() == {"boats": 4}
    assert len(list((tmp_path / "store" / "current").iterdir())) == 2
    assert len(list((tmp_path / "store" / "parts" / "boats").iterdir())) == 2
    follow_store(store, servers[1])
    assert boats(servers[1]) == ["Skua"]


def test_a_graph_that_is_being_written_is_left_alone(store: GraphStore, servers: tuple[Path, Path]) -> None:
    one, two = servers
    publish(one, "Heron")
    follow_store(store, one)
    (two / "boats").mkdir()
    with versions.writer_lock(two / "boats"):
        assert follow_store(store, two) == []
    assert follow_store(store, two) == ["boats"]


def test_a_clock_an_hour_ahead_decides_nothing(store: GraphStore, servers: tuple[Path, Path]) -> None:
    """Ids of versions begin with the time, and a server that is an hour ahead published first."""
    one, two = servers
    ahead = publish(one, "Heron")
    later = f"2999{ahead[4:]}"
    home = one / "boats"
    manifest = json.loads((home / "versions" / ahead / "manifest.json").read_text())
    (home / "versions" / ahead / "manifest.json").write_text(json.dumps({**manifest, "version": later}))
    (home / "versions" / ahead).rename(home / "versions" / later)
    switch_version(home, versions.Pointer(later, without="none"))
    follow_store(store, one)
    follow_store(store, two)
    publish(two, "Petrel")
    follow_store(store, two)
    follow_store(store, one)
    assert boats(one) == ["Petrel"]


def test_addresses_that_are_none_are_explained() -> None:
    with pytest.raises(ConfigError, match="NACRE_GRAPHS"):
        GraphStore("nonsense://x")
