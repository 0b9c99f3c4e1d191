"""`nacre migrate`: a folder's conversations, keys and verified questions in a database, whole, and only once."""

import shutil
import sqlite3
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import SecretStr

from nacre.config.settings import Settings
from nacre.errors import ConfigError
from nacre.extensions.fleet.command import migrate
from nacre.extensions.fleet.migrate import Moved, check_moved
from nacre.serving.keys import Caller, KeyStore, open_keys
from nacre.serving.turn_service import open_turn_service
from nacre.stores.state.database import open_database
from nacre.stores.state.verified_questions import FILE, VerifiedQuestionStore
from tests.support.shared_questions import CALIBRATION, QUESTION, check_shared_questions, entry

ANN = Caller("ann")


@pytest.fixture
async def folder(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A data folder with two threads of a key, feedback and metadata."""
    # of its own: what other tests leave in the shared one is counted too
    own = tmp_path / "data"
    shutil.copytree(settings.data / "kitchen", own / "kitchen")
    settings = settings.model_copy(update={"data": own})
    async with open_turn_service(settings, lasting=True) as service:
        for thread in ("one", "two"):
            await service.answer("What does the pilaf contain?", thread=thread, caller=ANN)
            await service.answer("How many are there?", thread=thread, caller=ANN)
        assert service.threads is not None
        conversations = service.threads.conversations
        conversations.say("ann", "one", 1, 1, "good")
        conversations.set_metadata("ann", "two", {"note": "x\0"})
        with conversations.database.writing() as run:
            given = ("hash", "id", "ann", "one", 1, "kitchen", "key", "What?", 1.0, 2.0, "{}")
            run("INSERT INTO shared_answer VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", *given)
    monkeypatch.setenv("NACRE_DATA", str(settings.data))
    monkeypatch.setenv("NACRE_EMBEDDER", "none")
    return settings


def shared(settings: Settings, url: str) -> Settings:
    return settings.model_copy(update={"database_url": SecretStr(url)})


async def test_a_thread_goes_on_in_the_database(
    folder: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str], in_thread: Callable[..., None]
) -> None:
    token = KeyStore(folder.data).add("ann", None)
    url = f"sqlite:///{tmp_path}/shared.sqlite"
    # it can be run again, and adds nothing
    in_thread(migrate, url)
    first = capsys.readouterr().out
    in_thread(migrate, url)
    assert capsys.readouterr().out == first
    for line in (
        "keys 1 of 1",
        "conversation 2 of 2",
        "turn 4 of 4",
        "feedback 1 of 1",
        "thread_metadata 1 of 1",
        "shared_answer 1 of 1",
    ):
        assert line in [" ".join(each.split()) for each in first.splitlines()]
    assert open_keys(shared(folder, url)).find_caller(token) == ANN
    async with open_turn_service(shared(folder, url), lasting=True) as service:
        assert service.threads is not None
        turns = await service.threads.turns(ANN, "one")
        assert [(turn.record["turn"], turn.thumb, turn.comment) for turn in turns] == [(1, 1, "good"), (2, 0, "")]
        assert [each.turns for each in await service.threads.listed(ANN, "pilaf", 10, 0)] == [2, 2]
        # the loop remembers what was asked before the move
        record = await service.answer("What does the pilaf contain?", thread="one", caller=ANN)
        assert (record["turn"], record["caveats"]) == (3, [])
        again = await service.answer("How many are there?", thread="two", caller=ANN)
        assert again["turn"] == 3
    # the folder is as it was
    with sqlite3.connect(folder.data / "threads.sqlite") as before:
        assert before.execute("SELECT count(*) FROM turn").fetchone() == (4,)
    before.close()


def test_verified_questions_and_what_was_learned_from_them_arrive(
    folder: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here = VerifiedQuestionStore(folder.data / FILE)
    for graph in ("ferries", "kitchen"):
        here.add(graph, replace(entry(graph=graph), approved=graph == "kitchen"))
        here.store_calibration(graph, CALIBRATION)
    here.note_graph("kitchen", "v1", frozenset({"term"}), frozenset({"base"}))
    # its last entry is gone, and people undid its calibration
    here.store_calibration("mills", replace(CALIBRATION, shift=0.0, undone=True))
    here.close()
    url = f"sqlite:///{tmp_path}/shared.sqlite"
    migrate(url)
    lines = [" ".join(each.split()) for each in capsys.readouterr().out.splitlines()]
    assert {"verified 2 of 2", "calibration 3 of 3"} <= set(lines)
    there = VerifiedQuestionStore(tmp_path / "none", lambda: open_database(url))
    assert there.find("kitchen", "bo", QUESTION) == replace(entry(graph="kitchen"), approved=True)
    assert (there.find("ferries", "bo", QUESTION), there.find("ferries", "ann", QUESTION)) == (None, entry())
    assert there.calibration("kitchen") == there.calibration("ferries") == CALIBRATION
    assert there.calibration("mills") == replace(CALIBRATION, shift=0.0, undone=True)
    assert there.known_version("kitchen") == "v1"
    # what the servers learned since stays when it is run again
    there.store_calibration("kitchen", replace(CALIBRATION, shift=0.5))
    migrate(url)
    there.close()
    again = VerifiedQuestionStore(tmp_path / "none", lambda: open_database(url))
    assert again.calibration("kitchen") == replace(CALIBRATION, shift=0.5)
    again.close()


def test_what_two_servers_share(tmp_path: Path) -> None:
    check_shared_questions(tmp_path, lambda: open_database(f"sqlite:///{tmp_path}/shared.sqlite"), time.sleep)


@pytest.fixture
def in_thread() -> Callable[..., None]:
    """Runs a command outside of the test's event loop."""
    import threading

    def run(command: Callable[..., None], *given: object) -> None:
        failures: list[BaseException] = []

        def work() -> None:
            try:
                command(*given)
            except BaseException as error:
                failures.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        if failures:
            raise failures[0]

    return run


def test_a_password_on_the_command_line_is_refused() -> None:
    with pytest.raises(ConfigError) as refused:
        migrate("postgresql://ann:hush@db.example/nacre")
    assert "hush" not in str(refused.value)
    assert "NACRE_DATABASE_URL" in str(refused.value)


def test_what_did_not_arrive_is_named() -> None:
    with pytest.raises(ConfigError, match="turn 3 of 4"):
        check_moved([Moved("keys", 1, 1), Moved("turn", 4, 3)])
