"""Connections to a state database: those that ended are noticed, and a turn needs a bounded number of statements."""

import socket
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import sqlalchemy as sa
from pydantic import SecretStr

from nacre.config.settings import Settings
from nacre.serving.keys import Caller
from nacre.serving.turn_service import open_turn_service
from nacre.stores.state.database import has_news, open_database

ANN = Caller("ann")
# the key, the thread, what is stored, the last turn, verified questions, and the stored turn with its thread
MOST_STATEMENTS = 14


@pytest.fixture
def statements() -> Iterator[list[str]]:
    """The statements that any engine runs."""
    seen: list[str] = []

    def note(connection: object, cursor: object, statement: str, *more: Any) -> None:
        seen.append(statement)

    sa.event.listen(sa.Engine, "before_cursor_execute", note)
    yield seen
    sa.event.remove(sa.Engine, "before_cursor_execute", note)


async def test_a_turn_needs_few_statements(settings: Settings, tmp_path: Path, statements: list[str]) -> None:
    shared = settings.model_copy(update={"database_url": SecretStr(f"sqlite:///{tmp_path}/state.sqlite")})
    async with open_turn_service(shared, lasting=True) as service:
        await service.answer("What does the pilaf contain?", thread="t", caller=ANN)
        statements.clear()
        answer = await service.answer("How many dishes are there?", thread="t", caller=ANN)
    assert (answer["turn"], answer["caveats"]) == (2, [])
    assert len(statements) <= MOST_STATEMENTS, statements


def test_what_waits_at_a_connection_is_noticed() -> None:
    here, there = socket.socketpair()
    connection = SimpleNamespace(closed=False, pgconn=SimpleNamespace(socket=here.fileno()))
    with here:
        with there:
            assert not has_news(connection)
            there.send(b"N")
            assert has_news(connection)
            here.recv(1)
            assert not has_news(connection)
        # the other side has closed it
        assert has_news(connection)
        connection.closed = True
        assert has_news(connection)


def test_many_rows_are_written_together(tmp_path: Path, statements: list[str]) -> None:
    database = open_database(f"sqlite:///{tmp_path}/state.sqlite")
    with database.writing() as run:
        run("CREATE TABLE buoy (name TEXT, depth INTEGER)")
        statements.clear()
        run.many("INSERT INTO buoy VALUES (?, ?)", [("North", 4), ("it's :p0 ?", None)])
        run.many("INSERT INTO buoy VALUES (?, ?)", [])
        assert len(statements) == 1
    assert database.read("SELECT name, depth FROM buoy ORDER BY name") == [("North", 4), ("it's :p0 ?", None)]
    database.close()
