"""What several servers share in a database, here an address of SQLite: keys, threads, locks and runs."""

import asyncio
import json
import sqlite3
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from nacre.config.settings import Settings
from nacre.errors import ConfigError
from nacre.extensions.fleet.shared_state import LOST, RunStates, SharedKeyStore, SharedRuns
from nacre.serving.errors import NotFound
from nacre.serving.keys import Caller, open_keys
from nacre.serving.runs import Run
from nacre.serving.turn_service import open_turn_service
from nacre.stores.state.conversations import Conversations, ThreadFilter
from nacre.stores.state.database import (
    StateDatabase,
    install_tables,
    json_text,
    open_database,
    open_file,
    parse_url,
    server_error,
)
from nacre.stores.state.locks import locks_of

ANN = Caller("ann")


@pytest.fixture
def address(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/state.sqlite"


@pytest.fixture
def database(address: str) -> Iterator[StateDatabase]:
    opened = open_database(address)
    yield opened
    opened.close()


def record(turn: int, question: str = "Which?", **more: Any) -> Any:
    fields = {"id": f"run-{turn}", "graph": "boats", "thread": "t", "turn": turn, "question": question}
    return {**fields, "answer": "Heron.", "status": "answered", "options": [], **more}


def test_a_key_that_is_revoked_on_one_server_is_refused_on_the_other(
    tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr("nacre.extensions.fleet.shared_state.time.monotonic", lambda: now)
    one, two = (open_keys(Settings(data=tmp_path / name, database_url=SecretStr(address))) for name in "ab")
    token = one.add("ann", ["boats"], may=["write"])
    assert two.find_caller(token) == Caller("ann", ("boats",), ("write",))
    one.revoke("ann")
    now = 0.9
    assert two.find_caller(token) is None
    assert one.find_caller(token) is None
    with pytest.raises(ConfigError, match="in use"):
        two.add("ann", None)
    other = two.add("ann", None, replace=True)
    now = 1.8
    assert one.find_caller(other) == ANN
    # the key itself is not stored
    assert token.encode() not in (tmp_path / "state.sqlite").read_bytes()
    for store in (one, two):
        assert isinstance(store, SharedKeyStore)
        store.database.close()


def test_keys_that_can_not_be_read_let_nobody_in(address: str, tmp_path: Path) -> None:
    keys = open_keys(Settings(data=tmp_path, database_url=SecretStr(address)))
    keys.add("ann", None)
    assert keys.all()
    assert isinstance(keys, SharedKeyStore)
    with keys.database.writing() as run:
        run("DROP TABLE api_key")
    keys._read_at = -1e9
    with pytest.raises(ConfigError, match="no key is accepted"):
        keys.all()
    keys.database.close()


@pytest.mark.parametrize(
    "given", ["oracle://u:hush@h/d", "nonsense hush", "postgresql//u:hush@h", "sqlite://", "mysql://u:hush@h/d"]
)
def test_an_address_that_can_not_be_used_is_not_quoted(given: str) -> None:
    with pytest.raises(ConfigError) as refused:
        open_database(given)
    assert "hush" not in str(refused.value)
    assert "postgresql://" in str(refused.value)


def test_addresses_of_postgres_get_the_driver_that_is_installed() -> None:
    assert parse_url("postgresql://me@h/d").drivername == "postgresql+psycopg"


def test_threads_of_an_earlier_file_are_read(tmp_path: Path) -> None:
    """A file that an earlier version wrote, without a table of versions."""
    file = tmp_path / "state.sqlite"
    with sqlite3.connect(file) as before:
        before.execute(
            "CREATE TABLE conversation (owner TEXT NOT NULL, thread TEXT NOT NULL, graph TEXT NOT NULL, title TEXT NOT"
            " NULL, created REAL NOT NULL, updated REAL NOT NULL, PRIMARY KEY (owner, thread)) WITHOUT ROWID"
        )
        before.execute("INSERT INTO conversation VALUES ('ann', 't', 'boats', 'Boats', 1, 2)")
    before.close()
    conversations = Conversations(open_database(f"sqlite:///{file}"))
    found = conversations.find("ann", "t")
    assert found is not None
    assert (found.title, found.turns) == ("Boats", 0)
    conversations.close()


def test_a_database_of_a_later_version_is_refused(database: StateDatabase) -> None:
    install_tables(database, "boats", (("CREATE TABLE a (x TEXT)",), ("CREATE TABLE b (x TEXT)",)))
    install_tables(database, "boats", (("fails",), ("fails",)))
    with pytest.raises(ConfigError, match="version 2"):
        install_tables(database, "boats", (("CREATE TABLE a (x TEXT)",),))


def test_a_failed_transaction_leaves_nothing(database: StateDatabase) -> None:
    conversations = Conversations(database)
    incomplete = record(1)
    # the thread is written before its turn
    incomplete["answer"] = None
    with pytest.raises(sqlite3.IntegrityError):
        conversations.keep("ann", "t", incomplete)
    assert conversations.find("ann", "t") is None
    conversations.keep("ann", "t", record(1))
    assert conversations.last("ann", "t") == 1


def test_threads_are_searched_with_any_text(database: StateDatabase) -> None:
    conversations = Conversations(database)
    conversations.keep("ann", "t", record(1, "50 % of a_b?"))
    conversations.keep("ann", "u", record(1, "Another"))
    assert [each.thread for each in conversations.listed("ann", "50 %")] == ["t"]
    assert [each.thread for each in conversations.listed("ann", "A_B")] == ["t"]
    assert conversations.listed("ann", "0%f") == []
    assert conversations.listed("bo", "a") == []
    conversations.set_metadata("ann", "t", {"n": 1, "flag": True, "text": "x\0"})
    for metadata, count in (({"n": 1}, 1), ({"n": True}, 0), ({"flag": True}, 1), ({"text": "x\0"}, 1), ({"z": 1}, 0)):
        assert len(conversations.search(ThreadFilter("ann", metadata=metadata))) == count
    assert len(conversations.search(ThreadFilter("ann", ids=[], graphs=["boats"]))) == 0
    assert len(conversations.search(ThreadFilter("ann", without=["t"], waiting=False))) == 1


def test_of_a_long_thread_only_the_last_turns_are_read(database: StateDatabase) -> None:
    conversations = Conversations(database)
    for turn in (1, 2, 3):
        conversations.keep("ann", "t", record(turn))
    size = max(len(json_text(each.record)) for each in conversations.turns("ann", "t"))
    for most, read in ((0, [3]), (2 * size, [2, 3]), (9 * size, [1, 2, 3])):
        assert [each.record["turn"] for each in conversations.latest_turns("ann", "t", most)] == read
    assert [each.record["turn"] for each in conversations.turns("ann", "t", 2, 2)] == [2]
    assert conversations.latest_turns("ann", "none", size) == []


def test_turns_of_another_branch_are_taken_up_again(database: StateDatabase) -> None:
    conversations = Conversations(database)
    for turn in (1, 2, 3):
        conversations.keep("ann", "t", record(turn))
    conversations.keep("ann", "t", record(2, id="other"), after=["run-1"])
    assert [each.record["id"] for each in conversations.turns("ann", "t")] == ["run-1", "other"]
    conversations.take_up("ann", "t", ["run-1", "run-2", "run-3"])
    assert [each.record["id"] for each in conversations.turns("ann", "t")] == ["run-1", "run-2", "run-3"]
    conversations.copy("ann", "t", "copy", 2)
    assert [each.record["thread"] for each in conversations.turns("ann", "copy")] == ["copy", "copy"]


async def test_a_conversation_alternates_between_servers(settings: Settings, address: str) -> None:
    """Two services with one database: each knows what was asked through the other."""
    shared = settings.model_copy(update={"database_url": SecretStr(address)})
    async with open_turn_service(shared, lasting=True) as one, open_turn_service(shared, lasting=True) as two:
        first = await one.answer("What does the pilaf contain?", thread="t")
        second = await two.answer("How many are there?", thread="t")
        third = await one.answer("How many dishes are there?", thread="t")
        assert [each["turn"] for each in (first, second, third)] == [1, 2, 3]
        assert second["values"] == [len(first["values"])]
        assert two.threads is not None
        assert [turn.record["turn"] for turn in await two.threads.turns(_LOCAL, "t")] == [1, 2, 3]
        # both at once: one after the other, none lost
        more = [service.answer("How many dishes are there?", thread="t") for service in (one, two, one, two)]
        assert sorted(each["turn"] for each in await asyncio.gather(*more)) == [4, 5, 6, 7]


_LOCAL = Caller("local")


def test_one_process_at_a_time_holds_a_lock(database: StateDatabase) -> None:
    one, two = locks_of(database), locks_of(database)
    slot = one.slot("ann:t")
    held = one.try_acquire(slot)
    assert held is not None
    assert two.try_acquire(slot) is None
    assert two.is_held(slot)
    held.release()
    assert not two.is_held(slot)
    again = two.try_acquire(slot)
    assert again is not None
    again.release()


@pytest.fixture
async def servers(database: StateDatabase) -> AsyncIterator[tuple[SharedRuns, SharedRuns, list[RunStates]]]:
    states = [RunStates(database, locks_of(database), name) for name in ("one", "two")]
    one, two = (SharedRuns(60, each) for each in states)
    tasks = [asyncio.create_task(runs.share()) for runs in (one, two)]
    yield one, two, states
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for runs in (one, two):
        await runs.close(0)


async def events(gate: asyncio.Event) -> AsyncIterator[tuple[str, Any]]:
    yield "token", {"text": "He"}
    await gate.wait()
    yield "answer", {"answer": "Heron"}


async def collect(run: Run, after: int = 0) -> list[str]:
    return [event.kind async for batch in run.batches(after) for _, event in batch]


async def started(runs: SharedRuns, gate: asyncio.Event, **options: Any) -> Run:
    run = runs.create("ann", "boats", thread="t", **options)
    runs.start(run, events(gate))
    while not run.events:  # noqa: ASYNC110
        await asyncio.sleep(0)
    return run


@pytest.mark.parametrize("steps", range(4))
async def test_the_sharing_of_runs_ends_although_one_begins_at_that_moment(database: StateDatabase, steps: int) -> None:
    runs = SharedRuns(60, RunStates(database, locks_of(database), "one"))
    sharing = asyncio.create_task(runs.share())
    # it waits for a run now
    await asyncio.sleep(0.3)
    runs._begun.set()
    for _ in range(steps):
        await asyncio.sleep(0)
    sharing.cancel()
    await asyncio.wait([sharing], timeout=30)
    assert sharing.cancelled()
    await runs.close(0)


async def test_a_run_is_followed_through_another_server(servers: Any) -> None:
    one, two, _ = servers
    gate = asyncio.Event()
    run = await started(one, gate)
    # what is shared every moment may be from before the run began
    while not (there := await two.find(ANN, run.id)).events:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    assert (there.status, there.thread, [event.kind for event in there.events]) == ("running", "t", ["token"])
    assert [each.id for each in await two.running(ANN, "t")] == [run.id]
    following = asyncio.create_task(collect(there, 1))
    await asyncio.sleep(0)
    gate.set()
    assert await following == ["answer", "done"]
    assert (await two.find(ANN, run.id)).status == "success"
    assert await two.running(ANN) == []
    with pytest.raises(NotFound):
        await two.find(Caller("bo"), run.id)
    with pytest.raises(NotFound):
        await two.find(Caller("ann", ("cars",)), run.id)


async def test_a_run_is_cancelled_through_another_server(servers: Any) -> None:
    one, two, _ = servers
    run = await started(one, asyncio.Event(), lasting=True)
    there = await two.find(ANN, run.id)
    assert there.is_lasting
    there.stop("Stopped.")
    await there.wait()
    assert (run.status, there.status) == ("cancelled", "cancelled")
    assert json.loads(there.events[-2].data)["message"] == "Stopped."


async def test_a_client_that_returns_through_another_server_keeps_its_run(servers: Any) -> None:
    """The run ends without a client, but not while somebody follows it elsewhere."""
    one, two, states = servers
    run = await started(one, asyncio.Event())
    run._resume_seconds = 0.2
    await two.find(ANN, run.id)
    states[1].note_follower(run.id)
    assert states[0].wishes()[run.id].is_followed
    listening = run.batches()
    await anext(listening)
    await listening.aclose()
    before = run._expiry
    run.keep_alive()
    assert before is not None
    assert before.cancelled()
    assert run._expiry is not None
    run.stop()


async def test_a_server_that_died_is_reported(servers: Any, database: StateDatabase) -> None:
    _, two, _ = servers
    dead = RunStates(database, locks_of(database), "dead")
    dead.stay_alive()
    runs = SharedRuns(60, dead)
    run = await started(runs, asyncio.Event())
    await runs._share_once()
    there = await two.find(ANN, run.id)
    following = asyncio.create_task(collect(there))
    # what the system does with the locks of a process that is killed
    dead.close()
    assert await following == ["token", "error", "done"]
    assert json.loads(there.events[-2].data) == {"message": LOST, "status": 503}
    assert await two.running(ANN) == []
    run.stop()
    await run.wait()


def test_old_runs_are_removed(database: StateDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    states = RunStates(database, locks_of(database), "one")
    run = Run.finished("ann", "boats", [("answer", {"answer": "Heron"})])
    from nacre.extensions.fleet.shared_state import _stored

    states.save([(_stored(run), 0, [(event.kind, event.data) for event in run.events])])
    states.remove_old()
    assert states.find(run.id) is not None
    now = database.now()
    monkeypatch.setattr(database, "now", lambda: now + 121)
    states.remove_old()
    assert states.find(run.id) is None
    assert states.events(run.id, 0) == []


def test_threads_of_one_process_share_a_database(database: StateDatabase) -> None:
    conversations = Conversations(database)
    failures: list[BaseException] = []

    def write(number: int) -> None:
        try:
            for turn in range(1, 11):
                conversations.keep("ann", f"t{number}", record(turn))
                conversations.turns("ann", f"t{number}")
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert [each.turns for each in conversations.listed("ann")] == [10] * 4


def test_a_file_is_closed_after_the_statement_that_runs(tmp_path: Path) -> None:
    database = open_file(tmp_path / "state.sqlite")
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000000) SELECT count(*) FROM n"
    begun, rows = threading.Event(), list[tuple[Any, ...]]()

    def read() -> None:
        with database._own[1] as connection:  # type: ignore[index]
            begun.set()
            rows.extend(tuple(row) for row in connection.exec_driver_sql(numbers))

    thread = threading.Thread(target=read)
    thread.start()
    begun.wait()
    database.close()
    assert rows == [(3_000_000,)]
    thread.join()


def test_a_refused_login_names_the_setting_of_passwords_and_not_the_login() -> None:
    refused = str(server_error(Exception('FATAL:  password authentication failed for user "kim"')))
    assert "NACRE_DATABASE_KEYS" in refused
    assert "kim" not in refused
    assert "does not answer" in str(server_error(Exception("connection refused")))
