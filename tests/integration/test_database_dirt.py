"""Bad databases: typed columns, hostile names and values, changes, locks, very many tables, passwords."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from pydantic import SecretStr

from graph.builder import compose
from nacre.config.settings import Settings
from nacre.errors import ConfigError, IngestionError, ToolError
from nacre.extensions.databases.attach_database import attach_database, schema_differences
from nacre.extensions.databases.attached_tables import AttachedTables
from nacre.extensions.databases.connection import DatabaseConnections
from nacre.records.answer import Answer
from nacre.records.schema import Schema
from nacre.serving.cli.ingest import suggest_questions
from nacre.stores.addresses import DatabaseLimits, parse_address, public_address
from nacre.stores.catalog import Graph, Library
from nacre.stores.versions import OVERVIEW
from tests.support.databases import HOSTILE, answer_by_rules, record_queries
from tests.support.interrupts import interrupted_after


def database(file: Path, script: str) -> str:
    with closing(sqlite3.connect(file)) as db:
        db.executescript(f"BEGIN; {script}; COMMIT")
        db.commit()
    return f"sqlite:///{file}"


async def ask(data: Path, question: str, graph: str) -> Answer:
    composed = compose(Settings(data=data, model=None, qdrant_url=None, embedder="none"))
    answer: Answer = await answer_by_rules(composed.build(), question, graph)
    composed.library.close()
    return answer


TYPED = """
CREATE TYPE mood AS ENUM ('calm', 'wild');
CREATE TABLE sensor (
    no INTEGER PRIMARY KEY, name VARCHAR, ratio FLOAT, big HUGEINT, price DECIMAL(18, 2), seen TIMESTAMPTZ,
    local TIMESTAMP, day DATE, hour TIME, kind mood, tags INTEGER[], shape STRUCT(a INTEGER), extra JSON, raw BLOB,
    id UUID, span INTERVAL, live BOOLEAN);
INSERT INTO sensor VALUES (1, 'Weir', 400.605, 170141183460469231731687303715884105727, 12.50,
    '2024-05-01 12:30:00+02', '2024-05-01 12:30:00', '2024-05-01', '12:30:00', 'calm', [1, 2], {'a': 1}, '{"k": [1]}',
    'ab'::BLOB, '6ba7b810-9dad-11d1-80b4-00c04fd430c8', INTERVAL 3 DAY, true),
    (2, 'Sluice', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
"""


@pytest.fixture(scope="module")
def sensors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    folder = tmp_path_factory.mktemp("typed")
    engine = sa.create_engine(f"duckdb:///{folder}/typed.db")
    with engine.begin() as connection:
        for statement in TYPED.split(";\n"):
            if statement.strip():
                connection.exec_driver_sql(statement)
    engine.dispose()
    attach_database(f"duckdb:///{folder}/typed.db", "typed", data=folder / "data")
    library = Library(folder / "data", None)
    with library.open("typed") as graph:
        yield graph
    library.close()


def test_typed_columns_are_read_as_people_write_them(sensors: Graph) -> None:
    columns = "ratio, price, local, day, hour, kind, live"
    row = sensors.tables.run(f"SELECT {columns} FROM sensor WHERE name = 'Weir'").rows[0]
    assert row == (400.605, 12.5, "2024-05-01T12:30:00", "2024-05-01", "12:30:00", "calm", 1)
    # arrays are lists in words, JSON and intervals are texts; binary data is left out
    tags, extra, span = sensors.tables.run("SELECT tags, extra, span FROM sensor WHERE name = 'Weir'").rows[0]
    assert (tags, extra, span) == ("1, 2", '{"k": [1]}', "3 days")
    assert "urn:nacre:db:sensor#raw" not in sensors.schema.predicate_of
    for column in sensors.schema.relation_of["sensor"].columns:
        rows = sensors.tables.run(f"SELECT \"{column.value}\" FROM sensor WHERE name = 'Sluice'").rows
        assert len(rows) == 1


def test_texts_of_any_kind_are_values(tmp_path: Path) -> None:
    texts = [HOSTILE, "a\0b", "\ud800".encode("utf-8", "replace").decode(), "x" * 100_000, "<script>alert(1)</script>",
             "\u202eabc", "{{7*7}}", "%s%n", "\r\n> .\n<urn:x> <urn:y> <urn:z> ."]  # fmt: skip
    with closing(sqlite3.connect(tmp_path / "x.db")) as db:
        db.execute("CREATE TABLE note (no INTEGER PRIMARY KEY, name TEXT, body TEXT)")
        db.executemany("INSERT INTO note VALUES (?, ?, ?)", [(i, f"Note {i}", t) for i, t in enumerate(texts)])
        # what is no UTF-8
        db.execute("INSERT INTO note VALUES (99, 'Note 99', CAST(x'ff00fe' AS TEXT))")
        db.commit()
    found = attach_database(f"sqlite:///{tmp_path}/x.db", "x", data=tmp_path / "data")
    assert found.schema.classes[0].count == len(texts) + 1
    library = Library(tmp_path / "data", None)
    with library.open("x") as graph:
        for number, text in enumerate(texts):
            rows = graph.tables.run("SELECT body FROM note WHERE id = ?", (f"urn:nacre:db:note/no={number}",)).rows
            assert rows == [(text,)]
            if "\0" not in text:
                assert graph.tables.run("SELECT name FROM note WHERE body = ?", (text,)).rows == [(f"Note {number}",)]
    library.close()


NAMES = [
    "select",
    'a "quoted" name',
    "it's",
    "UPPER",
    "per cent %s",
    "semi;colon",
    "new\nline",
    "{brace}",
    "naïve",
    ":p0",
]


@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
def test_names_of_any_kind_are_quoted(engine: str, tmp_path: Path) -> None:
    url = f"{engine}:///{tmp_path}/names.db"
    metadata = sa.MetaData()
    for name in NAMES:
        columns = [sa.Column(f"{name} {each}", sa.String(20)) for each in ("x", "Y")]
        sa.Table(name, metadata, sa.Column("no", sa.Integer, primary_key=True, autoincrement=False), *columns)
    created = sa.create_engine(url)
    metadata.create_all(created)
    with created.begin() as connection:
        for table in metadata.sorted_tables:
            connection.execute(table.insert().values([1, f"{table.name} one", "y"]))
    created.dispose()
    found = attach_database(url, "names", data=tmp_path / "data")
    assert {table.table for table in found.database.tables} == set(NAMES)
    library = Library(tmp_path / "data", None)
    with library.open("names") as graph:
        for relation in graph.schema.relations:
            shown = ", ".join(f'"{column.value or column.link}"' for column in relation.columns)
            assert len(graph.tables.run(f'SELECT id, {shown} FROM "{relation.name}"').rows) == 1
    library.close()


def test_of_two_thousand_tables_only_those_that_are_read_cost_queries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = "CREATE TABLE t{:04} (id INTEGER PRIMARY KEY, name TEXT, t{:04}_id INT);"
    script = "".join(table.format(number, number // 2) for number in range(2000))
    url = database(tmp_path / "wide.db", script + "INSERT INTO t0000 VALUES (1, 'first', 1)")
    ran = record_queries(monkeypatch, DatabaseConnections)
    monkeypatch.setattr("nacre.extensions.databases.reflect.MOST_TABLES", 20)
    found = attach_database(url, "wide", data=tmp_path / "data")
    assert found.problems[0].startswith("1980 tables are left out")
    assert len(ran) <= 20 * 6


_ENDLESS = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n AS {0}_id, n AS tram_id FROM c"


def test_views_without_an_end_cost_one_check_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = (
        "CREATE TABLE tram (tram_id INTEGER PRIMARY KEY, name TEXT); INSERT INTO tram VALUES (1, 'Red'), (2, 'Blue');"
        "CREATE TABLE ride (tram_id INTEGER, day TEXT); INSERT INTO ride VALUES (2, 'a'), (2, 'b'), (1, 'b');"
    )
    views = [f"endless{number}" for number in range(7)]
    script += "".join(f"CREATE VIEW {name} AS {_ENDLESS.format(name)};" for name in views)
    url = database(tmp_path / "tram.db", script)
    stopped: list[str] = []
    connected = DatabaseConnections.connected

    @contextmanager
    def counted(self: DatabaseConnections, seconds: float) -> Iterator[Any]:
        try:
            with connected(self, seconds) as connection:
                yield connection
        except ToolError as error:
            stopped.append(f"{error.kind} {seconds:g}")
            raise

    monkeypatch.setattr(DatabaseConnections, "connected", counted)
    monkeypatch.setattr("nacre.extensions.databases.guess_links.CHECK_SECONDS", 0.05)
    monkeypatch.setattr("nacre.extensions.databases.attach_database.SECONDS", 0.2)
    found = attach_database(url, "tram", data=tmp_path / "data")
    (ride,) = (table for table in found.database.tables if table.table == "ride")
    assert [(link.target, link.guessed) for link in ride.links] == [("tram", True)]
    assert len([each for each in found.problems if each.startswith("endless")]) == len(views)
    # one check for each view, and one count; after some of them, less time is given
    assert stopped == ["timeout 0.05"] * 7 + ["timeout 0.2"] * 4 + ["timeout 0.02"] * 3


def test_all_checks_of_keys_end_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = (
        "CREATE TABLE tram (tram_id INTEGER PRIMARY KEY, name TEXT); INSERT INTO tram VALUES (1, 'Red');"
        "CREATE TABLE ride (tram_id INTEGER, day TEXT); INSERT INTO ride VALUES (1, 'a');"
    )
    url = database(tmp_path / "tram.db", script)
    monkeypatch.setattr("nacre.extensions.databases.guess_links.ALL_SECONDS", 0.0)
    found = attach_database(url, "tram", data=tmp_path / "data")
    assert all(not table.links for table in found.database.tables)


def test_each_table_and_column_is_in_the_graph_or_in_its_report(tmp_path: Path) -> None:
    """A table of codes, empty tables and columns, a column that only later rows fill, binary data, rows that are equal
    and rows without a value in a unique column."""
    rows = ", ".join(f"({i}, {i % 7}, NULL)" for i in range(5_010))
    url = database(
        tmp_path / "depot.db",
        "CREATE TABLE crates (id INTEGER PRIMARY KEY, name TEXT, mood INTEGER, photo BLOB, spare TEXT);"
        "INSERT INTO crates VALUES (1, 'C1', 1, x'00', NULL), (2, 'C2', 2, x'00', NULL), (3, 'C3', 1, NULL, NULL);"
        "CREATE TABLE crates_mood (id INTEGER PRIMARY KEY, label TEXT);"
        "INSERT INTO crates_mood VALUES (1, 'calm'), (2, 'shaken');"
        "CREATE TABLE amount (id INTEGER PRIMARY KEY, value REAL, unit TEXT);"
        "INSERT INTO amount VALUES (1, 3.5, 'kg'), (2, 4.5, 'kg');"
        "CREATE TABLE reading (no INTEGER PRIMARY KEY, level INTEGER, flaw REAL);"
        f"INSERT INTO reading VALUES {rows}, (9999, 1, 0.5);"
        "CREATE TABLE idle (id INTEGER PRIMARY KEY, name TEXT);"
        "CREATE TABLE badge (mark TEXT UNIQUE, holder TEXT);"
        "INSERT INTO badge VALUES ('B1', 'Ann'), (NULL, 'Bo'), (NULL, 'Cy');"
        "CREATE VIEW shade AS SELECT mood % 2 AS odd, 'x' AS kind FROM crates;"
        "CREATE VIEW broken AS SELECT gone FROM crates;",
    )
    found = attach_database(url, "depot", data=tmp_path / "data")
    shown = {table.table: {c.column for c in table.columns} for table in found.database.tables}
    for table in found.database.tables:
        shown[table.table] |= {column for link in table.links for column in link.columns}
    assert shown.keys() == {"crates", "crates_mood", "amount", "reading", "badge", "shade"}
    assert shown["crates"] >= {"id", "name", "mood"}
    assert shown["amount"] == {"id", "value", "unit"}
    assert shown["reading"] == {"no", "level", "flaw"}
    counts = {c.label: c.count for c in found.schema.classes}
    assert counts["badge"] == 3
    report = "\n".join(found.problems)
    for each in (
        "idle is left out: it has no rows",
        "crates.photo is left out: it is binary",
        "crates.spare",
        "broken",
    ):
        assert each in report
    assert found.database.left_out == found.problems


@pytest.mark.parametrize(
    ("change", "named"),
    [("RENAME COLUMN zone TO area", "zone"), ("DROP COLUMN zone", "zone"), ("RENAME TO halt", "stop")],
)
async def test_a_column_that_was_renamed_is_named_and_nothing_else_is_answered(
    change: str, named: str, tmp_path: Path
) -> None:
    url = database(
        tmp_path / "tram.db",
        "CREATE TABLE stop (no INTEGER PRIMARY KEY, name TEXT, zone TEXT, height INTEGER);"
        "INSERT INTO stop VALUES (1, 'Harbour', 'A', 3), (2, 'Mill', 'B', 4), (3, 'Church', 'B', 4);",
    )
    before = attach_database(url, "tram", data=tmp_path / "data").database
    with closing(AttachedTables(before, Schema((), (), (), (), {}, 0, 0), "", DatabaseLimits())) as tables:
        assert not tables.schema_changes(2.0)
    with closing(sqlite3.connect(tmp_path / "tram.db")) as db:
        db.execute(f"ALTER TABLE stop {change}")
    library = Library(tmp_path / "data", None)
    with library.open("tram") as graph:
        assert re.search(rf"has changed since .* lacks stop\.({named}|height)", graph.tables.schema_changes(2.0))
    library.close()
    for question in ("What is the zone of Mill?", "Which stops have the zone B?"):
        answer = await ask(tmp_path / "data", question, "tram")
        assert answer["status"] == "failed", answer["answer"]
        assert f"no such {'table' if named == 'stop' else 'column'}: stop" in answer["answer"].replace("main.", "")
        assert "nacre attach --refresh" in answer["answer"]
    after = attach_database(url, "tram", data=tmp_path / "data").database
    gone = "- stop" if named == "stop" else "- stop.zone"
    assert gone in list(schema_differences(before, after))


async def test_what_is_not_found_may_be_new_in_the_database(tmp_path: Path) -> None:
    script = (
        "CREATE TABLE stop (no INTEGER PRIMARY KEY, name TEXT, zone INTEGER); INSERT INTO stop VALUES (1, 'Mill', 2);"
    )
    url = database(tmp_path / "tram.db", script)
    before = attach_database(url, "tram", data=tmp_path / "data").database
    unknown = "How many drivers are there?"
    assert "changed" not in (await ask(tmp_path / "data", unknown, "tram"))["answer"]
    with closing(sqlite3.connect(tmp_path / "tram.db")) as db:
        db.executescript(
            "CREATE TABLE driver (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO driver VALUES (1, 'Sam');"
            "ALTER TABLE stop DROP COLUMN zone; ALTER TABLE stop ADD COLUMN zone TEXT; UPDATE stop SET zone = 'B';"
        )
    found = (await ask(tmp_path / "data", unknown, "tram"))["answer"]
    assert "The database has changed since it was attached" in found
    assert "nacre attach --refresh --graph tram" in found
    after = attach_database(url, "tram", data=tmp_path / "data").database
    assert list(schema_differences(before, after)) == ["+ driver", "stop.zone: integer -> text"]


async def test_a_table_that_was_dropped_is_named_in_the_answer(tmp_path: Path) -> None:
    script = "CREATE TABLE stop (no INTEGER PRIMARY KEY, name TEXT, zone TEXT);"
    url = database(tmp_path / "t.db", script + "INSERT INTO stop VALUES (1, 'Harbour', 'A'), (2, 'Mill', 'B');")
    attach_database(url, "tram", data=tmp_path / "data")
    database(tmp_path / "t.db", "DROP TABLE stop;")
    answer = await ask(tmp_path / "data", "What is the zone of Harbour?", "tram")
    assert answer["values"] == []
    errors = [query["error"]["message"] for query in answer["queries"] if query["error"]]
    assert any("stop" in error and "nacre attach --refresh" in error for error in errors)


async def test_a_file_that_is_gone_is_an_error_of_the_answer(tmp_path: Path) -> None:
    script = "CREATE TABLE stop (no INTEGER PRIMARY KEY, name TEXT, zone TEXT);"
    url = database(tmp_path / "t.db", script + "INSERT INTO stop VALUES (1, 'Harbour', 'A');")
    attach_database(url, "tram", data=tmp_path / "data")
    (tmp_path / "t.db").rename(tmp_path / "moved.db")
    answer = await ask(tmp_path / "data", "What is the zone of Harbour?", "tram")
    assert answer["values"] == []
    errors = [query["error"]["kind"] for query in answer["queries"] if query["error"]]
    assert errors
    assert set(errors) == {"unavailable"}
    # no folder is shown
    assert str(tmp_path) not in str(answer)


def test_an_interrupt_ends_the_program_and_not_the_query_alone(tmp_path: Path) -> None:
    url = database(tmp_path / "t.db", "CREATE TABLE stop (no INTEGER PRIMARY KEY);")
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n"

    with closing(DatabaseConnections(url)) as connections:
        with interrupted_after(0.5), pytest.raises(KeyboardInterrupt):
            connections.read(endless, {}, 1, 60.0)
        assert connections.read("SELECT count(*) FROM stop", {}, 1, 60.0).rows == [(0,)]


def test_examples_that_fail_leave_the_graph_attached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = "CREATE TABLE stop (no INTEGER PRIMARY KEY, name TEXT, depth REAL); INSERT INTO stop VALUES "
    script += "(1, 'Harbour', 2.5), (2, 'Old Mill', 3.5), (3, 'Long Bridge', 4.5);"
    attached = attach_database(database(tmp_path / "t.db", script), "tram", data=tmp_path / "data")
    (tmp_path / "data/tram/versions" / attached.version / OVERVIEW).unlink()
    (tmp_path / "t.db").unlink()
    monkeypatch.setenv("NACRE_DATA", str(tmp_path / "data"))
    suggest_questions("tram")
    assert "'tram' can be asked" in capsys.readouterr().out


def test_a_locked_database_is_an_error_and_keeps_the_earlier_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nacre.extensions.databases.connection.BUSY_SECONDS", 0.1)
    script = "CREATE TABLE stop (no INTEGER PRIMARY KEY, name TEXT); INSERT INTO stop VALUES (1, 'Harbour');"
    url = database(tmp_path / "t.db", script)
    first = attach_database(url, "tram", data=tmp_path / "data")
    with closing(sqlite3.connect(tmp_path / "t.db")) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        with pytest.raises(IngestionError, match="Nothing was attached"):
            attach_database(url, "tram", data=tmp_path / "data")
    library = Library(tmp_path / "data", None)
    with library.open("tram") as graph:
        assert isinstance(graph.tables, AttachedTables)
        assert graph.schema.classes[0].count == 1
    library.close()
    assert first.version in {path.name for path in (tmp_path / "data" / "tram" / "versions").iterdir()}


@pytest.mark.parametrize(
    "url",
    [
        "postgresql+psycopg://me:s3cret@db.example/shop",
        "postgresql+psycopg://db.example/shop?user=me&password=s3cret",
        "postgresql+psycopg://db.example/shop?sslpassword=s3cret",
        "postgresql+psycopg://db.example/shop?passfile=s3cret",
        "mysql+pymysql://db.example/shop?passwd=s3cret",
        "mysql+pymysql://db.example/shop?ssl_key_password=s3cret",
        "postgresql+psycopg://db.example/shop?options=-c%20s3cret",
        "postgresql+psycopg://me%3As3cret@db.example/shop",
        "sqlite:///s3cret.db?api_key=s3cret",
        "duckdb:///x.duckdb?motherduck_token=s3cret",
        "postgresql+psycopg:/me:s3cret@db.example/shop",
    ],
)
def test_a_password_in_any_place_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse_address(url)
    assert "s3cret" not in re.sub(r"s3cret\.db", "", str(refused.value))
    assert "s3cret@" not in public_address(url)


def test_a_password_that_a_driver_repeats_is_hidden(tmp_path: Path) -> None:
    limits = DatabaseLimits({"127.0.0.1": SecretStr("s3cret")}, connect_seconds=2)
    connections = DatabaseConnections("postgresql+psycopg://me@127.0.0.1:9/shop", limits)
    error = connections._tool_error(ValueError("connection with s3cret failed"), 1e12, 5.0)
    assert "s3cret" not in str(error)
    with pytest.raises(ToolError) as down:
        connections.read("SELECT 1", {}, 1, 2.0)
    assert down.value.kind == "unavailable"
    connections.close()
