"""Graphs attached to PostgreSQL and MariaDB servers: the same values as on other engines, read-only, and failures."""

import gc
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
import sqlalchemy as sa
from pydantic import SecretStr

from graph.builder import compose
from graph.stream import stream_turn
from nacre.access.class_table import class_facet, class_table
from nacre.config.settings import Settings
from nacre.errors import IngestionError, ToolError
from nacre.extensions.databases.attach_database import AttachedResult, attach_database
from nacre.extensions.databases.attached_tables import AttachedTables
from nacre.extensions.databases.connection import check_read_only
from nacre.extensions.databases.reflect import Selection
from nacre.records.browse import RowFilter, TableRequest
from nacre.stores.addresses import DatabaseLimits
from nacre.stores.catalog import Library
from tests.support.databases import HOSTILE, QUESTIONS, SERVERS, fill, run_statements, started_server
from tests.support.dialect_cases import DIALECT_CASES, same_rows

_ROLE = {
    "postgres": (
        "CREATE ROLE reader LOGIN",
        "GRANT USAGE ON SCHEMA public TO reader",
        "GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader",
        "CREATE TABLE secret (id INTEGER PRIMARY KEY, name TEXT)",
        "INSERT INTO secret VALUES (1, 'hidden')",
    ),
    "mariadb": (
        "CREATE USER reader@'127.0.0.1' IDENTIFIED BY 'r ead:1'",
        "GRANT SELECT ON bees.* TO reader@'127.0.0.1'",
    ),
}


class Served(NamedTuple):
    """A graph attached to a server by a login that may only read."""

    kind: str
    owner: sa.URL
    process: "subprocess.Popen[bytes]"
    data: Path
    limits: DatabaseLimits
    result: AttachedResult


@pytest.fixture(scope="module", params=SERVERS)
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    kind = request.param
    data = tmp_path_factory.mktemp(kind)
    with started_server(kind) as (owner, process):
        fill(owner)
        run_statements(owner, _ROLE[kind])
        reader = sa.URL.create(owner.drivername, "reader", None, owner.host, owner.port, owner.database)
        limits = DatabaseLimits({f"127.0.0.1:{owner.port}": SecretStr("r ead:1")})
        result = attach_database(reader.render_as_string(), "bees", data=data, limits=limits)
        yield Served(kind, owner, process, data, limits, result)


@pytest.fixture
def tables(served: Served) -> Iterator[AttachedTables]:
    library = Library(served.data, None, database_limits=served.limits)
    with library.open("bees") as graph:
        assert isinstance(graph.tables, AttachedTables)
        yield graph.tables
    library.close()


@pytest.mark.parametrize(("question", "values"), QUESTIONS)
async def test_values_are_those_of_other_engines(served: Served, question: str, values: list[object]) -> None:
    keys = {host: secret.get_secret_value() for host, secret in served.limits.passwords.items()}
    settings = Settings(data=served.data, model=None, qdrant_url=None, embedder="none", database_keys=keys)
    composed = compose(settings)
    app, context = composed.build(), {"mind": "rules"}
    events = [event async for event in stream_turn(app, question, graph="bees", context=context)]
    composed.library.close()
    answer = events[-1][1]
    assert sorted(map(str, answer["values"])) == sorted(map(str, values)), answer["answer"]


@pytest.mark.parametrize("name", DIALECT_CASES)
def test_functions_give_what_they_give_on_other_engines(name: str, tables: AttachedTables) -> None:
    sql, expected = DIALECT_CASES[name]
    found = tables.run(sql).rows
    assert same_rows(found, expected), (found, tables.native(sql).text)


def test_comments_describe_and_tables_without_rights_are_named(served: Served) -> None:
    comments = {c.iri: c.comment for c in served.result.schema.classes}
    assert comments["urn:nacre:db:Bee%20Keeper"] == "members of the association"
    named = {table.table for table in served.result.database.tables}
    assert "secret" not in named
    if served.kind == "postgres":
        assert any(problem.startswith("secret is left out") for problem in served.result.problems)


def test_a_result_without_rows_has_columns(tables: AttachedTables) -> None:
    found = tables.run("SELECT count(*) AS hives FROM hive HAVING count(*) > 9")
    assert (found.columns, found.rows) == (("hives",), [])


def test_a_number_that_no_cell_can_hold_is_named_and_left_out(served: Served, tmp_path: Path) -> None:
    if served.kind != "postgres":
        pytest.skip("MariaDB has no such numbers")
    statements = [
        "CREATE TABLE gauge (id INTEGER PRIMARY KEY, name TEXT, level NUMERIC, flow DOUBLE PRECISION, code TEXT, "
        "depth NUMERIC(8, 2))",
        "INSERT INTO gauge VALUES (1, 'North', 1.5, 2.5, '12', 3), (2, 'South', 1e400, 'Infinity', '34', 'NaN')",
        f"INSERT INTO gauge VALUES (3, 'East', 'NaN', 'NaN', '56', 7), (4, 'West', 1e-400, 1e300, '{'9' * 400}', 5)",
    ]
    run_statements(served.owner, statements)
    try:
        address, owner = served.owner.set(password=None).render_as_string(), DatabaseLimits()
        result = attach_database(address, "gauges", data=tmp_path, selection=Selection(include=("gauge",)))
        assert result.problems[-3:] == (
            "gauge.level is left out in 2; 3: no number of 64 bits",
            "gauge.flow is left out in 2; 3: no number of 64 bits",
            "gauge.depth is left out in 2: no number of 64 bits",
        )
        with closing(AttachedTables(result.database, result.schema, "", owner)) as tables:
            rows = tables.run("SELECT name, level, flow FROM gauge ORDER BY name").rows
            assert rows == [("East", None, None), ("North", 1.5, 2.5), ("South", None, None), ("West", 0.0, 1e300)]
            assert tables.run("SELECT count(*) FROM gauge WHERE level > 1").rows == [(1,)]
            assert tables.run("SELECT max(depth), max(flow) FROM gauge").rows == [(7.0, 1e300)]
            assert tables.run("SELECT count(*) FROM gauge WHERE depth > 4 AND flow IS NULL").rows == [(1,)]
            assert len(tables.run("SELECT code FROM gauge").rows) == 4
    finally:
        run_statements(served.owner, ["DROP TABLE gauge"])


def test_keys_to_another_schema_and_views_without_their_definition_are_read(served: Served, tmp_path: Path) -> None:
    limits, address = served.limits, served.owner.set(password=None).render_as_string()
    if served.kind == "postgres":
        statements = [
            "CREATE SCHEMA lab",
            "CREATE TABLE lab.sample (sample_id INTEGER PRIMARY KEY, place INTEGER REFERENCES public.hive (hive_id))",
            "INSERT INTO lab.sample VALUES (1, 10), (2, 12)",
        ]
        selection, expected = Selection(("lab", "public"), exclude=("gauge",)), ("sample", ["place"], ["place"])
    else:
        view = "SELECT name AS hive_name, weight > 30 AS heavy, weight AS kilos FROM hive"
        statements = [f"CREATE VIEW weights AS {view}"]
        selection = Selection(include=("weights", "hive"))
        reader = sa.URL.create(served.owner.drivername, "reader", None, "127.0.0.1", served.owner.port, "bees")
        address, expected = reader.render_as_string(), ("weights", ["heavy", "hive_name", "kilos"], [])
    run_statements(served.owner, statements)
    try:
        result = attach_database(address, "more", data=tmp_path, selection=selection, limits=limits)
        found = next(each for each in result.database.tables if each.table == expected[0])
        assert [link.columns[0] for link in found.links] == expected[2]
        columns = {column.column for column in found.columns} | {link.columns[0] for link in found.links}
        assert set(expected[1]) <= columns
    finally:
        dropped = "SCHEMA lab CASCADE" if served.kind == "postgres" else "VIEW weights"
        run_statements(served.owner, [f"DROP {dropped}"])


def test_nothing_is_written(tables: AttachedTables) -> None:
    for statement in ("DELETE FROM hive", "CREATE TABLE x (y INTEGER)", "SET TRANSACTION READ WRITE"):
        with pytest.raises(ToolError):
            tables.connections.read(statement, {}, 1, 5.0)
    assert tables.run("SELECT count(*) FROM hive").rows == [(3,)]


def test_an_owner_can_not_write_either(served: Served) -> None:
    own = DatabaseLimits({"127.0.0.1": SecretStr(served.owner.password or "x")})
    owner = served.owner
    url = sa.URL.create(owner.drivername, owner.username, None, owner.host, owner.port, owner.database)
    result = attach_database(url.render_as_string(), "owned", data=served.data, limits=own)
    tables = AttachedTables(result.database, result.schema, "", own)
    with pytest.raises(ToolError) as refused:
        tables.connections.read("DELETE FROM harvest", {}, 1, 5.0)
    assert refused.value.kind in ("refused", "syntax")
    # and it is told to use a role that can only read
    assert check_read_only(tables.connections)
    tables.close()


def test_a_reader_needs_no_advice(tables: AttachedTables) -> None:
    assert check_read_only(tables.connections) == ""


def test_hostile_values_are_values(tables: AttachedTables) -> None:
    assert tables.run("SELECT note FROM harvest WHERE note = ?", (HOSTILE,)).rows == [(HOSTILE,)]
    assert tables.run("SELECT count(*) FROM hive WHERE name = ? COLLATE NOCASE", ("NORTHWIND",)).rows == [(1,)]
    assert tables.run("SELECT count(*) FROM hive WHERE name = ?", ("NORTHWIND",)).rows == [(0,)]


def test_a_slow_query_is_stopped(tables: AttachedTables) -> None:
    product = ", ".join(f"hive AS t{i}" for i in range(19))
    total = " + ".join(f"t{i}.weight" for i in range(19))
    with pytest.raises(ToolError) as stopped:
        tables.run(f"SELECT sum({total}) FROM {product} WHERE {total} > 1", seconds=1.0)
    assert stopped.value.kind == "timeout"
    assert tables.run("SELECT count(*) FROM hive").rows == [(3,)]


# a cursor of psycopg on a dropped connection can't be closed, and complains when it is collected
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_connection_that_is_dropped_in_a_query_fails_that_query_alone(served: Served, tables: AttachedTables) -> None:
    owner = sa.create_engine(served.owner)
    drop = {
        "postgres": "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'reader'",
        "mariadb": "KILL USER reader",
    }[served.kind]
    failed: list[ToolError] = []

    def slow() -> None:
        product = ", ".join(f"hive AS t{i}" for i in range(19))
        total = " + ".join(f"t{i}.weight" for i in range(19))
        try:
            tables.run(f"SELECT sum({total}) FROM {product} WHERE {total} > 1", seconds=20.0)
        except ToolError as error:
            failed.append(error)

    running = threading.Thread(target=slow)
    running.start()
    time.sleep(1.0)
    with owner.connect() as connection:
        connection.exec_driver_sql(drop)
    running.join(30)
    owner.dispose()
    assert [error.kind for error in failed] == ["unavailable"]
    failed.clear()
    gc.collect()
    assert tables.run("SELECT count(*) FROM hive").rows == [(3,)]


def test_classes_are_browsed(served: Served) -> None:
    library = Library(served.data, None, database_limits=served.limits)
    with library.open("bees") as graph:
        hive = "urn:nacre:db:hive"
        heavy = (RowFilter(f"{hive}#weight", ">=", "30"),)
        found = class_table(graph, TableRequest(hive, "o", heavy, f"{hive}#checked_at"))
        assert found is not None
        assert [row.label for row in found.rows] == ["Northwind", "Rooftop"]
        facet = class_facet(graph, TableRequest(hive), f"{hive}#ref-keeper_id")
        assert facet is not None
        assert {each.text: each.count for each in facet.values} == {"Ada Quill": 2, "Bo O'Hara": 1}
        weight = class_facet(graph, TableRequest(hive), f"{hive}#weight")
        assert weight is not None
        assert (weight.low, weight.high) == (28.0, 40.25)
    library.close()


def test_long_texts_are_cut_before_they_are_sent(served: Served) -> None:
    reader = "reader" if served.kind == "postgres" else "reader@'127.0.0.1'"
    run_statements(
        served.owner,
        [
            f"CREATE TABLE note (id INTEGER PRIMARY KEY, body {'TEXT' if served.kind == 'postgres' else 'LONGTEXT'})",
            "INSERT INTO note SELECT hive_id, repeat('long ', 300000) FROM hive",
            f"GRANT SELECT ON note TO {reader}",
        ],
    )
    address = served.result.database.url
    result = attach_database(address, "notes", data=served.data, limits=served.limits)
    with closing(AttachedTables(result.database, result.schema, "", served.limits)) as tables:
        ((body, number),) = tables.run("SELECT body, 7 AS seven FROM note", limit=1).rows
        assert (len(str(body)), number) == (1_000_000, 7)
        wide = ", ".join(f"body AS b{i}" for i in range(100))
        ((first, *_),) = tables.run(f"SELECT {wide} FROM note", limit=1).rows
        assert len(str(first)) == 100_000
        many = "note a, note b, note c, note d"
        with pytest.raises(ToolError) as refused:
            tables.run(f"SELECT {', '.join(f'a.body AS b{i}' for i in range(100))} FROM {many}", seconds=30.0)
        assert refused.value.kind == "too_large"
        # the connection is free again
        assert tables.run("SELECT DISTINCT body FROM note ORDER BY body").rows == [("long " * 200_000,)]
    run_statements(served.owner, ["DROP TABLE note"])


def test_a_login_without_a_password_names_the_setting_and_a_missing_database_has_not_changed(
    served: Served, tmp_path: Path
) -> None:
    owner = served.owner
    reader = sa.URL.create(owner.drivername, "reader", None, owner.host, owner.port, owner.database)
    limits = DatabaseLimits({f"reader@127.0.0.1:{served.owner.port}": SecretStr("r ead:1"),
                             "127.0.0.1": SecretStr("of another role")})  # fmt: skip
    found = attach_database(reader.render_as_string(), "bees", data=tmp_path, limits=limits)
    assert found.database.tables
    nowhere = reader.set(database="nowhere").render_as_string()
    with pytest.raises(IngestionError) as missing:
        attach_database(nowhere, "bees", data=tmp_path, limits=limits)
    assert "refresh" not in str(missing.value)
    assert "no database of this name" in str(missing.value) or served.kind == "mariadb"
    if served.kind == "mariadb":
        with pytest.raises(IngestionError, match=r"NACRE_DATABASE_KEYS='{\"reader@127.0.0.1:\d+\": \"file:PATH\"}'"):
            attach_database(reader.render_as_string(), "bees", data=tmp_path)


def test_a_changed_catalogue_is_stated(served: Served, tables: AttachedTables) -> None:
    assert not tables.schema_changes(5.0)
    run_statements(served.owner, ["ALTER TABLE hive ADD COLUMN spare INTEGER"])
    assert "it has other tables, columns or types" in tables.schema_changes(5.0)
    run_statements(served.owner, ["ALTER TABLE hive DROP COLUMN spare"])
    assert not tables.schema_changes(5.0)
    # a column that becomes text and back
    change = "ALTER season TYPE {0} USING season::{0}" if served.kind == "postgres" else "MODIFY season {0}"
    run_statements(served.owner, [f"ALTER TABLE harvest {change.format('text')}"])
    assert "it has other tables, columns or types" in tables.schema_changes(5.0)
    run_statements(served.owner, [f"ALTER TABLE harvest {change.format('integer')}"])
    assert not tables.schema_changes(5.0)


def test_a_server_that_hangs_holds_no_worker(served: Served) -> None:
    limits = replace(served.limits, connections=1, connect_seconds=1.0)
    library = Library(served.data, None, database_limits=limits)
    with library.open("bees") as graph:
        assert graph.tables.run("SELECT count(*) FROM hive").rows == [(3,)]
        served.process.send_signal(signal.SIGSTOP)
        # PostgreSQL serves each connection in a process of its own
        children = subprocess.run(["pgrep", "-P", str(served.process.pid)], capture_output=True, text=True)
        pids = [int(pid) for pid in children.stdout.split()]
        try:
            for pid in pids:
                os.kill(pid, signal.SIGSTOP)
            for _ in range(3):
                with pytest.raises(ToolError) as stopped:
                    graph.tables.run("SELECT count(*) FROM hive", seconds=1.0)
                assert stopped.value.kind in ("timeout", "unavailable")
        finally:
            for pid in (served.process.pid, *pids):
                os.kill(pid, signal.SIGCONT)
        assert graph.tables.run("SELECT count(*) FROM hive").rows == [(3,)]
    library.close()


def test_a_server_that_goes_down_is_an_error_of_the_query(served: Served, tables: AttachedTables) -> None:
    """The last test: it ends the server."""
    assert tables.run("SELECT count(*) FROM hive").rows == [(3,)]
    served.process.kill()
    served.process.wait(30)
    with pytest.raises(ToolError) as down:
        tables.run("SELECT count(*) FROM hive")
    assert down.value.kind == "unavailable"
    assert "r ead:1" not in str(down.value)
