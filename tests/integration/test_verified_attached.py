"""Verified questions over a SPARQL endpoint and an attached database: they are checked when they are first used."""

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

import pyoxigraph as ox
import pytest

from graph.builder import Composition, compose
from graph.stream import stream_turn
from nacre.access.open_graph import load_lexicon
from nacre.config.settings import Settings
from nacre.extensions.databases.attach_database import attach_database
from nacre.extensions.endpoints.attach import attach_endpoint
from nacre.extensions.verified import look_up as first_use
from nacre.extensions.verified.checks import check_all, confirm, new_entry
from nacre.records.answer import Answer
from nacre.records.json_form import to_json
from nacre.records.turn import Rewrite, VerifiedQuestion
from nacre.understanding.understand import understand
from tests.support import sparql_server

HERE = "http://example.org/lights/"
LIGHTS = {"Skerry": 18, "Oxnose": 24, "Tarbat": 15, "Fidra": 31}
LONG_AGO = "2026-05-03T10:00:00Z"
VERIFIED, ASKED = "How far out do sailors see Skerry?", "How far out do sailors see Fidra?"
# sets the range of a light; None removes it
Change = Callable[[str, int | None], None]


def forget_checks() -> None:
    first_use._outcomes._kept.clear()


@pytest.fixture(params=["endpoint", "database"])
def lights(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Composition, Change]]:
    """Turns over an attached source, and a function that changes what it has."""
    forget_checks()
    monkeypatch.setattr(first_use, "WAIT_SECONDS", 60.0)
    with ExitStack() as stack:
        change = _endpoint(tmp_path, stack) if request.param == "endpoint" else _database(tmp_path)
        composition = compose(Settings(data=tmp_path / "data", embedder="none", _env_file=None))
        stack.callback(composition.library.close)
        yield composition, change


def _endpoint(folder: Path, stack: ExitStack) -> Change:
    store = ox.Store()
    prefixes = f"PREFIX : <{HERE}> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> "
    rows = " ".join(f':{n} a :Light ; rdfs:label "{n}" ; :range {km} .' for n, km in LIGHTS.items())
    terms = ':Light rdfs:label "light" . :range rdfs:label "range" .'
    store.update(f"{prefixes} INSERT DATA {{ {terms} {rows} }}")
    url = stack.enter_context(sparql_server.endpoint(store=store))
    attach_endpoint(url, "lights", data=folder / "data")

    def change(name: str, range: int | None) -> None:
        store.update(f"{prefixes} DELETE WHERE {{ :{name} :range ?x }}")
        if range is not None:
            store.update(f"{prefixes} INSERT DATA {{ :{name} :range {range} }}")

    return change


def _database(folder: Path) -> Change:
    file = folder / "lights.db"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute('CREATE TABLE light (name TEXT PRIMARY KEY, "range" INTEGER)')
        connection.executemany("INSERT INTO light VALUES (?, ?)", LIGHTS.items())
    attach_database(f"sqlite:///{file}", "lights", data=folder / "data")

    def change(name: str, range: int | None) -> None:
        with closing(sqlite3.connect(file)) as connection, connection:
            connection.execute('UPDATE light SET "range" = ? WHERE name = ?', (range, name))

    return change


def verify(house: Composition, question: str = VERIFIED, at: str = LONG_AGO) -> VerifiedQuestion:
    """Confirm the plan that the rules find for plainer words, as of an earlier day."""

    async def run() -> VerifiedQuestion:
        with house.library.open("lights") as graph:
            plain = "What is the range of Skerry?"
            reading = understand(Rewrite(plain), graph.schema, await load_lexicon(graph, plain)).readings[0]
            entry = new_entry(graph, question, question, "ann", plan=to_json(reading.plan))
            store, resources = house.library.verified, house.resources
            entry, _ = await confirm(graph, entry, resources.settings, resources.sandbox, store)
            return store.add("lights", replace(entry, at=at))

    return asyncio.run(run())


def ask(house: Composition, question: str) -> Answer:
    async def run() -> Answer:
        events = [e async for e in stream_turn(house.build(), question, graph="lights", owner="ann")]
        answer: Answer = events[-1][1]
        return answer

    return asyncio.run(run())


def stored(house: Composition, entry: VerifiedQuestion) -> VerifiedQuestion:
    [found] = house.library.verified.entries("lights", entry.id)
    return found


def how(record: Answer) -> str:
    return record["verified"]["how"] if record["verified"] is not None else ""


def test_new_values_are_found_and_kept_in_use(lights: tuple[Composition, Change]) -> None:
    house, change = lights
    entry = verify(house)
    change("Skerry", 20)
    record = ask(house, VERIFIED)
    assert (record["values"], how(record)) == ([20], "same")
    after = stored(house, entry)
    assert (after.state, after.values_hash != entry.values_hash) == ("in use", True)
    assert after.note.startswith("its values changed")
    record = ask(house, ASKED)
    assert (record["values"], how(record)) == ([31], "same shape")


@pytest.mark.parametrize("question", [VERIFIED, ASKED])
def test_one_that_gives_nothing_any_more_is_set_aside_and_the_question_read_without_it(
    lights: tuple[Composition, Change], question: str
) -> None:
    house, change = lights
    entry = verify(house)
    change("Skerry", None)
    assert how(ask(house, question)) == ""
    assert stored(house, entry).state == "empty"


def test_one_check_serves_all_turns_for_a_time(lights: tuple[Composition, Change]) -> None:
    house, change = lights
    entry = verify(house)
    assert how(ask(house, ASKED)) == "same shape"
    change("Skerry", None)
    assert how(ask(house, ASKED)) == "same shape"
    assert stored(house, entry).state == "in use"
    forget_checks()
    assert how(ask(house, ASKED)) == ""


def test_what_was_confirmed_just_now_is_not_run_again(lights: tuple[Composition, Change]) -> None:
    house, change = lights
    entry = verify(house, at=new_entry_time(house))
    change("Skerry", None)
    assert how(ask(house, ASKED)) == "same shape"
    assert stored(house, entry).state == "in use"


def new_entry_time(house: Composition) -> str:
    with house.library.open("lights") as graph:
        return new_entry(graph, "now?", "now?", "ann").at


def test_a_turn_waits_no_longer_than_its_budget(
    lights: tuple[Composition, Change], monkeypatch: pytest.MonkeyPatch
) -> None:
    house, _ = lights
    entry = verify(house)
    monkeypatch.setattr(first_use, "WAIT_SECONDS", 0.0)
    # other questions do without it, the same one runs its plan anyway
    assert how(ask(house, ASKED)) == ""
    assert (ask(house, VERIFIED)["values"], how(ask(house, VERIFIED))) == ([18], "same")
    assert stored(house, entry).state == "in use"
    # a check that did not end is not tried in every turn
    monkeypatch.setattr(first_use, "WAIT_SECONDS", 60.0)
    assert how(ask(house, ASKED)) == ""
    forget_checks()
    assert how(ask(house, ASKED)) == "same shape"


def test_attaching_again_runs_none(lights: tuple[Composition, Change]) -> None:
    house, _ = lights
    verify(house)
    resources = house.resources
    with house.library.open("lights") as graph:
        checking = check_all(graph, house.library.verified, resources.settings, resources.sandbox)
        assert asyncio.run(checking).checked == 0
