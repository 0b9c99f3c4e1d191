"""Columns of many types on PostgreSQL and MariaDB: how they are reflected, read, compared and asked about."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import sqlalchemy as sa
from pydantic import SecretStr

from graph.builder import compose
from graph.stream import stream_turn
from nacre.config.settings import Settings
from nacre.extensions.databases.attach_database import AttachedResult, attach_database
from nacre.extensions.databases.attached_tables import AttachedTables
from nacre.stores.addresses import DatabaseLimits
from nacre.stores.catalog import Library
from tests.support.databases import SERVERS, run_statements, started_server

# two lamps, the second one with nothing but its name; the session of a server may have any time zone
STATEMENTS = {
    "postgres": (
        "SET TIME ZONE 'Asia/Tokyo'",
        "CREATE TYPE mood AS ENUM ('calm', 'wild')",
        "CREATE DOMAIN grams AS INTEGER CHECK (VALUE > 0)",
        "CREATE TABLE lamp (lamp_no INTEGER PRIMARY KEY, lamp_name VARCHAR(40), price MONEY, cost NUMERIC(12, 2), "
        "sizes INTEGER[], tags TEXT[], extra JSONB, note JSON, seen TIMESTAMPTZ, built TIMESTAMP, opens TIME, "
        "mood mood, warranty INTERVAL, dimmable BOOLEAN, photo BYTEA, serial UUID, host INET, glow REAL, weight grams, "
        "code CHAR(6), shelf TEXT, made DATE)",
        "INSERT INTO lamp VALUES (1, 'Glimmer', 1234.5, 99.90, '{1,2}', '{red,blue}', '{\"k\": [1]}', '{\"a\": 1}', "
        "'2024-05-01 12:30:00+02', '2024-05-01 12:30:00', '08:15:00', 'wild', '1 year 2 days', true, "
        "'\\xdeadbeef', '6ba7b810-9dad-11d1-80b4-00c04fd430c8', '10.0.0.1', 400.605, 250, 'AB', '007', '2024-02-29')",
        "INSERT INTO lamp (lamp_no, lamp_name, dimmable, shelf, price) VALUES (2, 'Ember', false, '12', '20')",
    ),
    "mariadb": (
        "SET time_zone = '+09:00'",
        "CREATE TABLE lamp (lamp_no INTEGER PRIMARY KEY, lamp_name VARCHAR(40), price DECIMAL(19, 4), "
        "cost DECIMAL(12, 2), sizes JSON, tags SET('red', 'blue', 'green'), extra JSON, note JSON, "
        "seen TIMESTAMP NULL, built DATETIME, opens TIME, mood ENUM('calm', 'wild'), warranty TIME, dimmable BOOLEAN, "
        "photo BLOB, serial UUID, host INET6, glow FLOAT, weight INTEGER UNSIGNED, code CHAR(6), shelf TEXT, "
        "made DATE, kept YEAR, flag BIT(1)) CHARACTER SET utf8mb4",
        "INSERT INTO lamp VALUES (1, 'Glimmer', 1234.5, 99.90, '[1, 2]', 'red,blue', '{\"k\": [1]}', '{\"a\": 1}', "
        "'2024-05-01 19:30:00', '2024-05-01 12:30:00', '08:15:00', 'wild', '100:30:00', true, "
        "X'DEADBEEF', '6ba7b810-9dad-11d1-80b4-00c04fd430c8', '::10.0.0.1', 400.605, 250, 'AB', '007', '2024-02-29', "
        "2021, b'1')",
        "INSERT INTO lamp (lamp_no, lamp_name, dimmable, shelf, price) VALUES (2, 'Ember', false, '12', 20)",
    ),
}


class Served(NamedTuple):
    kind: str
    data: Path
    limits: DatabaseLimits
    result: AttachedResult


@pytest.fixture(scope="module", params=SERVERS)
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    kind = request.param
    data = tmp_path_factory.mktemp(kind)
    with started_server(kind) as (owner, _):
        run_statements(owner, STATEMENTS[kind])
        limits = DatabaseLimits({f"127.0.0.1:{owner.port}": SecretStr(owner.password or "")})
        address = sa.URL.create(owner.drivername, owner.username, None, owner.host, owner.port, owner.database)
        yield Served(kind, data, limits, attach_database(address.render_as_string(), "lamps", data=data, limits=limits))


@pytest.fixture
def tables(served: Served) -> Iterator[AttachedTables]:
    library = Library(served.data, None, database_limits=served.limits)
    with library.open("lamps") as graph:
        assert isinstance(graph.tables, AttachedTables)
        yield graph.tables
    library.close()


SHARED: dict[str, str | float] = {
    "lamp_name": "Glimmer",
    "price": 1234.5,
    "cost": 99.9,
    "extra": '{"k": [1]}',
    "note": '{"a": 1}',
    # in UTC, whatever the time zone of the server
    "seen": "2024-05-01T10:30:00",
    "built": "2024-05-01T12:30:00",
    "opens": "08:15:00",
    "mood": "wild",
    "dimmable": 1,
    "serial": "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
    "glow": 400.605,
    "weight": 250,
    "code": "AB",
    "shelf": "007",
    "made": "2024-02-29",
}
OWN: dict[str, dict[str, str | float]] = {
    "postgres": {"sizes": "1, 2", "tags": "red, blue", "warranty": "1 year 2 days", "host": "10.0.0.1/32"},
    "mariadb": {
        "sizes": "[1, 2]", "tags": "red,blue", "warranty": "100:30:00", "host": "::10.0.0.1", "kept": 2021, "flag": 1,
    },
}  # fmt: skip


def test_columns_are_read_as_people_write_them(served: Served, tables: AttachedTables) -> None:
    expected = SHARED | OWN[served.kind]
    for name, value in expected.items():
        assert tables.run(f"SELECT {name} FROM lamp WHERE lamp_name = 'Glimmer'").rows == [(value,)], name
        assert len(tables.run(f"SELECT {name} FROM lamp WHERE lamp_name = 'Ember'").rows) == 1
        assert tables.run(f"SELECT lamp_name FROM lamp WHERE {name} = ?", (value,)).rows == [("Glimmer",)], name
    # binary data is left out
    columns = {column.value for column in tables.schema.relation_of["lamp"].columns}
    assert columns == {*expected, "lamp_no"}


def test_types_and_values_are_known(served: Served) -> None:
    known = {p.iri.removeprefix("urn:nacre:db:lamp#"): p for p in served.result.schema.predicates}
    kinds = {name: known[name].datatype for name in ("price", "seen", "made", "opens", "dimmable", "weight", "code")}
    assert kinds == {
        "price": "real",
        "seen": "datetime",
        "made": "date",
        "opens": "time",
        "dimmable": "boolean",
        "weight": "integer",
        "code": "text",
    }
    assert set(known["mood"].values) == {"calm", "wild"}


QUESTIONS: list[tuple[str, list[object]]] = [
    ("What is the price of Glimmer?", [1234.5]),
    ("What is the average price of the lamps?", [627.25]),
    ("Which lamps are dimmable?", ["Glimmer"]),
    ("Which lamps have the mood wild?", ["Glimmer"]),
    ("Which lamps have the code AB?", ["Glimmer"]),
    ("What is the weight of Glimmer?", [250]),
    ("How many lamps are there?", [2]),
]


@pytest.mark.parametrize(("question", "values"), QUESTIONS)
async def test_questions_are_answered(served: Served, question: str, values: list[object]) -> None:
    keys = {host: secret.get_secret_value() for host, secret in served.limits.passwords.items()}
    settings = Settings(data=served.data, model=None, qdrant_url=None, embedder="none", database_keys=keys)
    composed = compose(settings)
    app, context = composed.build(), {"mind": "rules"}
    events = [event async for event in stream_turn(app, question, graph="lamps", context=context)]
    composed.library.close()
    assert events[-1][1]["values"] == values, events[-1][1]["answer"]
