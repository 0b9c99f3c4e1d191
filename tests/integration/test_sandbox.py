"""Queries of others run in a process that can be killed: no statement outlives its limit, the file stays as it is."""

import asyncio
import statistics
import time
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from ingestion.induce.write_tables import write_tables
from ingestion.read.parse import parse_files
from nacre.errors import ToolError
from nacre.records.evidence import BranchResult, Rows
from nacre.records.threads import FairSlots
from nacre.stores.killable_pool import PROCESSES
from nacre.stores.sqlite.tables import Tables
from tests.support.interrupts import interrupted_after
from tools.sandbox import Sandbox

E = "http://example.org/"
SECONDS = 2.0
GROWN = "replace(" * 6 + "'aaaaaaaaa'" + ",'a','aaaaaaaaaa')" * 6
# one call of a function that takes minutes: no handler of SQLite is asked while it runs
BURNING = [
    f"SELECT instr({GROWN} || 'b', {GROWN} || 'c')",
    f"SELECT length(replace({GROWN}, 'aab', 'x'))",
    f"SELECT ltrim({GROWN}, 'cba')",
    f"SELECT {GROWN} LIKE '%a%a%a%a%a%a%a%a%b'",
    f"SELECT {GROWN} GLOB '*a*a*a*a*a*a*a*a*b'",
    "SELECT count(*) FROM entity a, entity b, entity c, entity d, entity e, entity f, entity g",
    "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n",
]


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sandbox")
    lines = [f'<{E}{n}> <{E}size> "{n}"^^<http://www.w3.org/2001/XMLSchema#integer> .' for n in range(50)]
    lines += [f"<{E}{n}> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <{E}Box> ." for n in range(50)]
    (folder / "g.nt").write_text("\n".join(lines))
    write_tables(parse_files([folder / "g.nt"]), folder / "graph.sqlite")
    return folder / "graph.sqlite"


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    running = Sandbox()
    yield running
    running.close()


def test_an_interrupt_ends_the_program_and_not_the_query_alone(tables: Path) -> None:
    with closing(Tables(tables)) as opened:
        # while it runs, only the handler of SQLite is code of Python
        with interrupted_after(0.2), pytest.raises(KeyboardInterrupt):
            opened.run(BURNING[-1], seconds=60)
        assert opened.run("SELECT count(*) FROM entity").rows == [(50,)]


def asked(sandbox: Sandbox, tables: Path, sql: str, seconds: float = 30) -> BranchResult:
    return asyncio.run(sandbox.run(tables, sql, round=1, limit=10, seconds=seconds))


def ended(sandbox: Sandbox, tables: Path, sql: str) -> str:
    """The kind of error that a statement ended with, or ""."""
    try:
        found = asked(sandbox, tables, sql, SECONDS)
    except ToolError as error:
        return error.kind
    return found.error.kind if found.error else ""


def test_rows_come_back_as_they_do_within_the_process(sandbox: Sandbox, tables: Path) -> None:
    found = asked(sandbox, tables, "SELECT count(*), max(size) FROM box")
    assert isinstance(found.evidence[0], Rows)
    assert found.evidence[0].table.rows == ((50, 49),)
    assert found.by == "model"


def test_what_is_refused_says_why(sandbox: Sandbox, tables: Path) -> None:
    found = asked(sandbox, tables, "DELETE FROM box")
    assert found.error is not None
    assert found.error.kind == "refused"


@pytest.mark.parametrize("sql", BURNING)
def test_no_statement_outlives_its_limit(sandbox: Sandbox, tables: Path, sql: str) -> None:
    before = sha256(tables.read_bytes()).hexdigest()
    # a process that was killed takes a moment to be replaced, and that is not the statement's time
    asked(sandbox, tables, "SELECT 1")
    started = time.monotonic()
    assert ended(sandbox, tables, sql) in ("", "timeout", "too_large")
    assert time.monotonic() - started < 3 * SECONDS
    assert asked(sandbox, tables, "SELECT count(*) FROM box").error is None
    assert sha256(tables.read_bytes()).hexdigest() == before


def test_who_leaves_ends_the_statement(sandbox: Sandbox, tables: Path) -> None:
    async def left() -> float:
        running = asyncio.create_task(sandbox.run(tables, BURNING[-1], round=1, limit=10, seconds=60))
        await asyncio.sleep(1)
        running.cancel()
        started = time.monotonic()
        with pytest.raises(asyncio.CancelledError):
            await running
        # both processes answer again: none is left at work
        await asyncio.gather(*(sandbox.run(tables, "SELECT 1", round=1, limit=1, seconds=30) for _ in range(4)))
        return time.monotonic() - started

    assert asyncio.run(left()) < 20


async def test_whoever_leaves_early_keeps_nobody_else_waiting(tables: Path) -> None:
    """A slot ends with the process that was killed for it, so that the next query of the same caller waits for it."""
    sandbox, slots = Sandbox(), FairSlots(PROCESSES)

    async def ask(owner: str, sql: str) -> None:
        async with slots.hold(owner):
            await sandbox.run(tables, sql, round=1, limit=10, seconds=60)

    async def leave_early() -> None:
        while True:
            try:
                await asyncio.wait_for(ask("bo", BURNING[-2]), 0.1)
            except TimeoutError:
                continue

    try:
        await asyncio.gather(ask("bo", "SELECT 1"), ask("eve", "SELECT 1"))
        leaving = [asyncio.create_task(leave_early()) for _ in range(6)]
        waited = []
        for _ in range(10):
            await asyncio.sleep(0.3)
            begun = time.monotonic()
            await ask("eve", "SELECT count(*) FROM box")
            waited.append(time.monotonic() - begun)
        for each in leaving:
            each.cancel()
        await asyncio.wait(leaving)
        # a process takes longer to be replaced; single waits depend on the load of the machine
        assert statistics.median(waited) < 0.5, waited
    finally:
        await asyncio.to_thread(sandbox.close)
