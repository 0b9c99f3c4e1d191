"""What servers share in a PostgreSQL server: verified questions, and the move of a data folder."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from nacre.stores.state.database import StateDatabase, open_database
from tests.support.databases import missing_server, postgres
from tests.support.shared_questions import check_shared_questions

if reason := missing_server("postgres"):
    pytest.skip(reason, allow_module_level=True)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with postgres() as (url, _):
        yield url.render_as_string(hide_password=False)


@pytest.fixture
def database(address: str) -> Iterator[StateDatabase]:
    opened = open_database(address)
    yield opened
    opened.close()


def test_verified_questions_of_two_servers(address: str, tmp_path: Path) -> None:
    check_shared_questions(tmp_path, lambda: open_database(address), time.sleep)


def test_a_connection_that_the_server_ended_is_replaced(database: StateDatabase) -> None:
    own = database.read("SELECT pg_backend_pid()")[0][0]
    other = open_database(database.url.render_as_string(hide_password=False))
    other.read("SELECT pg_terminate_backend(?)", own)
    time.sleep(0.5)
    other.close()
    assert database.read("SELECT pg_backend_pid()")[0][0] != own
    with database.writing() as run:
        run("CREATE TABLE buoy (name TEXT)")
        run.many("INSERT INTO buoy VALUES (?)", [("North\0",), ("South",)])
    assert database.read("SELECT name FROM buoy ORDER BY name") == [("North\ufffd",), ("South",)]
