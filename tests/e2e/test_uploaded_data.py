"""Databases that are uploaded and addresses that are attached: kept files, hostile files, hosts, secrets, redirects."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from nacre.errors import ConfigError, ToolError
from nacre.extensions.databases import connection
from nacre.extensions.databases import connection as kept
from nacre.extensions.databases.attached_tables import AttachedTables
from nacre.extensions.uploads.routes import FOLDER, Uploads
from nacre.serving.errors import Forbidden, NotFound
from nacre.stores.addresses import ForbiddenAddress
from nacre.stores.catalog import Library
from tests.e2e.test_uploads import ANN, BO, READER, finished
from tests.support import sparql_server as servers

GRAPHS = Path(__file__).parents[1] / "fixtures" / "graphs"
TABLES = """
CREATE TABLE keeper (id INTEGER PRIMARY KEY, name TEXT, born INTEGER);
CREATE TABLE lighthouse (
    id INTEGER PRIMARY KEY, name TEXT UNIQUE, height REAL, keeper_id INTEGER REFERENCES keeper(id)
);
INSERT INTO keeper VALUES (1, 'Ada Holm', 1901), (2, 'Ben Orsk', 1911);
INSERT INTO lighthouse VALUES (1, 'Skerry Point', 41.5, 1), (2, 'Grey Ness', 22, 2), (3, 'Long Sound', 33, 1);
"""
# views whose tables or functions are gone, and a trigger that would delete rows
HOSTILE = """
CREATE VIEW gone AS SELECT * FROM nowhere;
CREATE VIEW unknown AS SELECT load_extension('/tmp/evil.so') FROM lighthouse;
CREATE TRIGGER t AFTER INSERT ON keeper BEGIN DELETE FROM lighthouse; END;
"""


@pytest.fixture
def uploads(tmp_path: Path) -> Uploads:
    return Uploads(tmp_path / "data", 5)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A SQLite database that its program left in WAL mode, with hostile views."""
    file = tmp_path / "lamps.sqlite"
    with closing(sqlite3.connect(file)) as made:
        made.execute("PRAGMA journal_mode=WAL")
        made.executescript(TABLES + HOSTILE)
    return file


def send(uploads: Uploads, name: str, content: bytes) -> str:
    upload = uploads.begin(ANN).upload
    uploads.append(ANN, upload, name, 0, content)
    return upload


@pytest.fixture
def lamps(uploads: Uploads, database: Path, tmp_path: Path) -> Iterator[AttachedTables]:
    (tmp_path / "data").mkdir()
    upload = send(uploads, "lamps.sqlite", database.read_bytes())
    uploads.start(ANN, upload, "lamps", replace_graph=False)
    state = finished(uploads, ANN, upload)
    assert state.phase == "done", state.lines
    assert any("lighthouse" in line for line in state.lines)
    assert str(tmp_path) not in "\n".join(state.lines)
    library = Library(tmp_path / "data", None)
    with library.open("lamps") as graph:
        assert isinstance(graph.tables, AttachedTables)
        assert graph.attached == "sqlite:///lamps.sqlite"
        yield graph.tables
    library.close()


def test_a_database_is_kept_with_its_graph_and_opened_in_another_process(
    lamps: AttachedTables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [file.name for file in (tmp_path / "data/lamps").rglob("kept/*")] == ["lamps.sqlite"]
    # in this process, a connection would fail
    monkeypatch.setattr(connection, "_engine", None)
    rows = lamps.run('SELECT "id", "name" FROM "lighthouse" ORDER BY "height" DESC').rows
    assert [row[1] for row in rows] == ["Skerry Point", "Long Sound", "Grey Ness"]
    with pytest.raises(ToolError), lamps.connections.connected(1.0):
        pass


def test_a_query_of_a_kept_file_that_does_not_end_is_killed_with_its_process(
    lamps: AttachedTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = lamps.connections.address
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
    with pytest.raises(ToolError) as stopped:
        lamps.connections.read(endless, {}, 1, 0.3)
    assert stopped.value.kind == "timeout"
    # work that does not keep its own deadline
    monkeypatch.setattr(kept, "GRACE_SECONDS", -3599.5)
    with pytest.raises(ToolError) as killed:
        lamps.connections.read(endless, {}, 1, 3600.0)
    assert killed.value.kind == "timeout"
    monkeypatch.undo()
    assert lamps.connections.read("SELECT count(*) FROM keeper", {}, 1, 60.0).rows == [(2,)]
    assert lamps.connections.address == address


def test_a_duckdb_file_is_kept_and_reads_no_other_files(uploads: Uploads, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    secret = tmp_path / "secret.csv"
    secret.write_text("word\nhunter2\n")
    with closing(duckdb.connect(tmp_path / "sales.duckdb")) as made:
        made.execute("CREATE TABLE shop (id INTEGER PRIMARY KEY, name TEXT)")
        made.execute("INSERT INTO shop VALUES (1, 'Harbour'), (2, 'Market')")
        made.execute(f"CREATE VIEW spy AS SELECT * FROM read_csv('{secret}')")
    # the name says nothing about the kind
    upload = send(uploads, "sales.db", (tmp_path / "sales.duckdb").read_bytes())
    uploads.start(ANN, upload, "sales", replace_graph=False)
    state = finished(uploads, ANN, upload)
    assert state.phase == "done", state.lines
    assert "hunter2" not in "\n".join(state.lines)
    library = Library(tmp_path / "data", None)
    with library.open("sales") as graph:
        assert [group.relation for group in graph.schema.groups] == ["shop"]
        assert isinstance(graph.tables, AttachedTables)
        assert len(graph.tables.run('SELECT "name" FROM "shop"').rows) == 2
        with pytest.raises(ToolError):
            graph.tables.connections.read(f"SELECT * FROM read_csv('{secret}')", {}, 1, 5.0)
    library.close()


def test_what_shows_the_server_in_a_duckdb_file_is_left_out(uploads: Uploads, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    with closing(duckdb.connect(tmp_path / "spy.duckdb")) as made:
        for statement in (
            "CREATE SCHEMA other",
            "CREATE TABLE shop (id INTEGER PRIMARY KEY, name TEXT, platform TEXT)",
            "INSERT INTO shop VALUES (1, 'Harbour', 'a'), (2, 'Market', 'b')",
            "CREATE TABLE stall (id INTEGER PRIMARY KEY, name TEXT, shop_id INTEGER REFERENCES shop(id))",
            "INSERT INTO stall VALUES (7, 'Fish', 1), (8, 'Bread', 2)",
            "CREATE MACRO lower(x) AS current_setting('temp_directory')",
            "CREATE MACRO count(x) AS 4711",
            "CREATE MACRO twice(x) AS x || x",
            "CREATE MACRO every() AS TABLE SELECT name, value FROM duckdb_settings()",
            "CREATE VIEW paths AS SELECT database_name AS name, path FROM duckdb_databases()",
            "CREATE VIEW behind AS SELECT * FROM paths",
            "CREATE VIEW by_macro AS SELECT * FROM every()",
            "CREATE VIEW by_scalar AS SELECT id, lower(name) AS name FROM shop",
            "CREATE VIEW by_text AS SELECT * FROM query('SELECT name, value FROM duckdb_settings()')",
            "CREATE VIEW catalogue AS SELECT * FROM information_schema.tables",
            "CREATE VIEW listed AS SELECT * FROM (SHOW DATABASES)",
            "CREATE TABLE made_up (id INTEGER, name TEXT AS (current_setting('temp_directory')))",
            "INSERT INTO made_up VALUES (1)",
            "CREATE VIEW doubled AS SELECT id, twice(name) AS name, platform FROM shop, range(1)",
        ):
            made.execute(statement)
    upload = send(uploads, "spy.duckdb", (tmp_path / "spy.duckdb").read_bytes())
    uploads.start(ANN, upload, "spy", replace_graph=False)
    state = finished(uploads, ANN, upload)
    assert state.phase == "done", state.lines
    assert "warning: by_macro is left out: it uses every" in state.lines
    library = Library(tmp_path / "data", None)
    with library.open("spy") as graph:
        assert isinstance(graph.tables, AttachedTables)
        assert sorted(group.relation for group in graph.schema.groups) == ["doubled", "shop", "stall"]
        # the functions are those of DuckDB
        assert graph.tables.run("SELECT count(name), lower(max(name)) FROM shop").rows == [(2, "market")]
        linked = "SELECT s.name FROM stall t JOIN shop s ON s.id = t.shop_id WHERE t.name = 'Fish'"
        assert graph.tables.run(linked).rows == [("Harbour",)]
    library.close()


def test_a_view_of_too_large_values_is_left_out_with_a_reason(uploads: Uploads, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    with closing(sqlite3.connect(tmp_path / "lamps.sqlite")) as made:
        made.executescript(TABLES + "CREATE VIEW large AS SELECT hex(zeroblob(400000000)) AS name FROM keeper")
    upload = send(uploads, "lamps.sqlite", (tmp_path / "lamps.sqlite").read_bytes())
    uploads.start(ANN, upload, "lamps", replace_graph=False)
    state = finished(uploads, ANN, upload)
    assert state.phase == "done", state.lines
    assert "warning: large is left out: string or blob too big." in state.lines


def test_files_that_are_no_databases_are_refused_before_they_are_opened(
    uploads: Uploads, database: Path, tmp_path: Path
) -> None:
    (tmp_path / "data").mkdir()
    whole = database.read_bytes()
    for content, why in (
        (b"", "is no database"),
        (b"PK\x03\x04" + b"x" * 200, "is no database"),
        (b"SQLite format 3\0", "is no database"),
        (whole[:-4096], "its end is missing"),
    ):
        upload = send(uploads, "lamps.db", content)
        with pytest.raises(ConfigError, match=why):
            uploads.start(ANN, upload, "lamps", replace_graph=False)
        uploads.cancel(ANN, upload)
    mixed = send(uploads, "lamps.db", whole)
    uploads.append(ANN, mixed, "a.ttl", 0, b"<urn:a> <urn:b> 1 .")
    with pytest.raises(ConfigError, match="graph of its own"):
        uploads.start(ANN, mixed, "lamps", replace_graph=False)


def test_a_database_that_is_damaged_inside_ends_with_a_message_and_makes_no_graph(
    uploads: Uploads, database: Path, tmp_path: Path
) -> None:
    (tmp_path / "data").mkdir()
    content = bytearray(database.read_bytes())
    content[100:] = b"\xff" * (len(content) - 100)
    upload = send(uploads, "lamps.db", bytes(content))
    uploads.start(ANN, upload, "lamps", replace_graph=False)
    state = finished(uploads, ANN, upload)
    assert state.phase == "failed"
    assert "its file is damaged" in state.lines[-1], state.lines
    assert "Traceback" not in "\n".join(state.lines)
    assert not (tmp_path / "data/lamps/current").exists()


def test_only_named_hosts_are_attached_and_only_by_keys_that_may_write(tmp_path: Path) -> None:
    with servers.endpoint(GRAPHS / "reading_room.ttl") as address:
        host = address.split("/")[2]
        named = Uploads(tmp_path, 5, host)
        with pytest.raises(ForbiddenAddress, match="NACRE_ATTACH_HOSTS"):
            Uploads(tmp_path, 5).attach(ANN, address, "far", replace_graph=False)
        with pytest.raises(ForbiddenAddress, match="does not attach that host"):
            Uploads(tmp_path, 5, "127.0.0.1:1").attach(ANN, address, "far", replace_graph=False)
        with pytest.raises(Forbidden, match="may not add"):
            named.attach(READER, address, "far", replace_graph=False)
        upload = named.attach(ANN, address, "far", replace_graph=False).upload
        with pytest.raises(NotFound):
            named.state(BO, upload)
        state = finished(named, ANN, upload)
        assert (state.phase, state.address) == ("done", address), state.lines
        assert any(line.startswith("schema: ") for line in state.lines)
        with pytest.raises(ConfigError, match="Confirm"):
            named.attach(ANN, address, "far", replace_graph=False)


def test_an_address_that_redirects_to_a_host_that_is_not_named_is_not_followed(tmp_path: Path) -> None:
    with servers.serving(servers.elsewhere) as address:
        named = Uploads(tmp_path, 5, address.split("/")[2])
        state = finished(named, ANN, named.attach(ANN, address, "far", replace_graph=False).upload)
    assert state.phase == "failed"
    assert "redirects to another host" in "\n".join(state.lines)
    assert not (tmp_path / "far/current").exists()


def test_a_password_in_an_address_is_neither_repeated_nor_stored(tmp_path: Path) -> None:
    named = Uploads(tmp_path, 5, "db.example")
    with pytest.raises(ConfigError) as refused:
        named.attach(ANN, "postgresql://reader:hunter2@db.example/shop", "shop", replace_graph=False)
    assert "hunter2" not in str(refused.value)
    assert not (tmp_path / FOLDER).exists()
