"""Databases as people make them: rows without a column called a name, codes, undeclared keys, dates in texts."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from graph.builder import compose
from graph.stream import stream_turn
from nacre.config.settings import Settings
from nacre.extensions.databases.attach_database import AttachedResult, attach_database
from nacre.stores.catalog import Library
from tests.support.databases import answer_by_rules, attached_app

# kilns are called by their code, makers by a text that is not unique; firings refer to a kiln that is gone
POTTERY = """
CREATE TABLE maker (maker_id INTEGER PRIMARY KEY, company TEXT, grade INTEGER);
CREATE TABLE kiln (code TEXT PRIMARY KEY, maker INTEGER, litres INTEGER, built TEXT, checked TEXT);
CREATE TABLE firing (firing_no INTEGER PRIMARY KEY, code TEXT, degrees INTEGER, day TEXT);
CREATE TABLE reserve (kiln TEXT, day TEXT);
"""


@pytest.fixture(scope="module")
def pottery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[AttachedResult, Any]]:
    folder: Path = tmp_path_factory.mktemp("pottery")
    with closing(sqlite3.connect(folder / "p.db")) as db:
        db.executescript(POTTERY)
        makers = ["Adler & Sons", "Brook & Sons", "Adler & Sons", "Castel Works"]
        db.executemany("INSERT INTO maker VALUES (?, ?, ?)", [(i, name, i) for i, name in enumerate(makers)])
        rows = [(f"K{i}", i % 4, 100 * i, f"20{10 + i}-03-0{i + 1}", f"0{i + 1}/03/2020") for i in range(6)]
        db.executemany("INSERT INTO kiln VALUES (?, ?, ?, ?, ?)", rows)
        firings = [(i, f"K{i % 6}" if i else "K99", 900 + i, f"2021-01-{i % 28 + 1:02}") for i in range(60)]
        db.executemany("INSERT INTO firing VALUES (?, ?, ?, ?)", firings)
        more = [(f"L{i}", 1, 50, None, None) for i in range(8)]
        db.executemany("INSERT INTO kiln VALUES (?, ?, ?, ?, ?)", more)
        db.executemany("INSERT INTO firing VALUES (?, ?, ?, ?)", [(100 + i, f"L{i}", 500, None) for i in range(8)])
        db.commit()
    result = attach_database(f"sqlite:///{folder}/p.db", "pottery", data=folder / "data")
    composed = compose(Settings(data=folder / "data", model=None, qdrant_url=None, embedder="none"))
    yield result, composed.build()
    composed.library.close()


def test_names_dates_and_undeclared_keys_are_found(pottery: tuple[AttachedResult, Any]) -> None:
    tables = {table.table: table for table in pottery[0].database.tables}
    assert tables["kiln"].label == ("code",)
    assert tables["maker"].label == ("company",)
    # a column called like the key or like the table, with one value in fifteen that is gone
    assert [(link.name, link.target, link.guessed) for link in tables["firing"].links] == [("code", "kiln", True)]
    assert [(link.name, link.target, link.guessed) for link in tables["kiln"].links] == [("maker", "maker", True)]
    known = {p.iri.removeprefix("urn:nacre:db:"): p for p in pottery[0].schema.predicates}
    assert known["firing#ref-code"].label == "kiln"
    assert known["kiln#built"].datatype == "date"
    # the database has no dates that can be compared
    assert known["kiln#checked"].datatype == "text"
    # a table without rows is neither a class nor a thing
    assert "reserve" not in tables


QUESTIONS: list[tuple[str, list[object]]] = [
    ("Which kilns have more than 450 litres?", ["K5"]),
    ("Which kilns are made by Castel Works?", ["K3"]),
    ("Which kiln is the oldest?", ["K0"]),
    ("How many kilns are there?", [14]),
    ("What is the highest grade of Brook & Sons?", [1]),
]


@pytest.mark.parametrize(("question", "values"), QUESTIONS)
async def test_questions_are_answered(pottery: tuple[AttachedResult, Any], question: str, values: list[object]) -> None:
    answer = await answer_by_rules(pottery[1], question, "pottery")
    assert answer["values"] == values, answer["answer"]


async def test_the_name_of_a_table_without_rows_is_no_error(
    pottery: tuple[AttachedResult, Any], caplog: pytest.LogCaptureFixture
) -> None:
    events = [e async for e in stream_turn(pottery[1], "How many reserves are there?", graph="pottery", context={})]
    assert events[-1][1]["status"] != "failed"
    assert "failed" not in caplog.text


# names in two columns the other way round, a name beside a code, a number called like its table, one name for three
REGATTA = """
CREATE TABLE crew (crew_id INTEGER PRIMARY KEY, nameFirst TEXT, nameLast TEXT, birthYear INTEGER, debut TEXT);
INSERT INTO crew VALUES (1, 'Ivo', 'Ness', 1961, '1980-05-01'), (2, 'Mia', 'Ness', 1964, '1991-06-01'),
 (3, 'Ivo', 'Dorn', 1970, '1995-07-02');
CREATE TABLE clubs (clubID TEXT PRIMARY KEY, name_official TEXT, active TEXT);
INSERT INTO clubs VALUES ('RYC', 'Royal Yachts', 'Y'), ('BSC', 'Bay Sailors', 'N'), ('HRC', 'Harbour Rowers', 'Y');
CREATE TABLE races (day TEXT, race INTEGER, clubID TEXT REFERENCES clubs);
INSERT INTO races VALUES ('2020-05-01', 12, 'RYC'), ('2020-05-02', 12, 'RYC'), ('2020-05-02', 31, 'BSC');
CREATE TABLE band (band_id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE disc (disc_id INTEGER PRIMARY KEY, title TEXT, band_id INTEGER REFERENCES band);
CREATE TABLE song (song_id INTEGER PRIMARY KEY, name TEXT, disc_id INTEGER REFERENCES disc);
INSERT INTO band VALUES (1, 'High Tide'), (2, 'Low Ebb');
INSERT INTO disc VALUES (1, 'Gulls', 1), (2, 'Masts', 1), (3, 'High Tide', 1), (4, 'Knots', 2);
INSERT INTO song VALUES (1, 'High Tide', 1), (2, 'Squall', 2), (3, 'Reef', 4), (4, 'High Tide', 3), (5, 'High Tide', 4);
"""

REGATTA_QUESTIONS: list[tuple[str, list[object]]] = [
    ("When was Mia Ness born?", [1964]),
    ("Which clubs are active?", ["Harbour Rowers", "Royal Yachts"]),
    ("How many races were there?", [3]),
    ("Which club has the most races?", ["Royal Yachts"]),
    ("How many races did Bay Sailors have in May 2020?", [1]),
    ("How many discs does High Tide have?", [3]),
]


@pytest.fixture(scope="module")
def regatta(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with attached_app(tmp_path_factory.mktemp("regatta"), "regatta", REGATTA) as app:
        yield app


@pytest.mark.parametrize(("question", "values"), REGATTA_QUESTIONS)
async def test_names_and_numbers_of_tables_are_told_apart(regatta: Any, question: str, values: list[object]) -> None:
    answer = await answer_by_rules(regatta, question, "regatta")
    assert answer["values"] == values, answer["answer"]


async def test_things_of_one_name_are_counted_and_not_their_name(tmp_path: Path) -> None:
    script = (
        "CREATE TABLE dog (dog_id INTEGER PRIMARY KEY, name TEXT, kilos REAL);"
        "CREATE TABLE visit (visit_id INTEGER PRIMARY KEY, dog_id INTEGER REFERENCES dog, reason TEXT);"
        "INSERT INTO dog VALUES (1, 'Balto', 40), (2, 'Bella', 4), (3, 'Balto', 30), (4, 'Coco', 1), (5, 'Zorro', 50);"
        "INSERT INTO visit VALUES (1, 2, 'cough'), (2, 5, 'limp');"
    )
    with attached_app(tmp_path, "vet", script) as app:
        for question, expected in (
            ("Which dogs have never had a visit?", "There are 3 dogs without a visit: Balto (2 of them) and Coco"),
            ("Which are the 3 dogs with the most kilos?", "Zorro (50), Balto (40) and Balto (30)"),
        ):
            answer = await answer_by_rules(app, question, "vet")
            assert expected in answer["answer"], answer["answer"]


async def test_a_column_called_like_its_table_names_rows_that_share_it(tmp_path: Path) -> None:
    script = (
        "CREATE TABLE stops (stop_id TEXT, stop_name TEXT, zone_name TEXT, lifts INTEGER);"
        "INSERT INTO stops VALUES ('a1', 'Mill Street', 'Old Town', 1), ('a2', 'Mill Street', 'Old Town', 1),"
        "('a3', 'Mill Street', 'Old Town', 1), ('b1', 'Quay', 'Harbour', 2), ('b2', 'Quay', 'Harbour', 2);"
    )
    with attached_app(tmp_path, "tram", script) as app:
        question = "Which stops have the zone name Old Town?"
        answer = await answer_by_rules(app, question, "tram")
        assert answer["values"] == ["Mill Street"], answer["answer"]
        assert "3" in answer["answer"]


def test_a_row_without_a_name_and_a_key_is_called_by_its_columns(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "doses.db")) as db:
        db.executescript(
            "CREATE TABLE dose (drug TEXT, grams INTEGER, day DATE);"
            "INSERT INTO dose VALUES ('salt', 2, '2024-05-01'), ('salt', 2, '2024-05-01');"
            "INSERT INTO dose VALUES ('zinc', NULL, '2024-05-02');"
        )
    attach_database(f"sqlite:///{tmp_path}/doses.db", "doses", data=tmp_path / "data")
    library = Library(tmp_path / "data", None)
    with library.open("doses") as graph:
        labels = graph.tables.run("SELECT e.label FROM dose d JOIN entity e ON e.id = d.id ORDER BY 1").rows
    library.close()
    assert labels == [("2024-05-01 salt 2",), ("2024-05-01 salt 2",), ("2024-05-02 zinc",)]


# words that are joined, a table that is called like its only column, species, what is counted by a quantity
AQUARIUM = """
CREATE TABLE habitat (habitatid INTEGER PRIMARY KEY, habitat TEXT);
CREATE TABLE fish (fish_id INTEGER PRIMARY KEY, genus TEXT, species TEXT, habitatid INTEGER REFERENCES habitat,
 litres INTEGER, is_transfer INTEGER, boiling_limit INTEGER);
CREATE TABLE guest (guest_no INTEGER PRIMARY KEY, full_name TEXT, town TEXT);
CREATE TABLE show (show_no INTEGER PRIMARY KEY, title TEXT);
CREATE TABLE attendance (guest_no INTEGER REFERENCES guest, show_no INTEGER REFERENCES show,
 PRIMARY KEY (guest_no, show_no));
CREATE TABLE guest_order (id INTEGER PRIMARY KEY, guest_no INTEGER REFERENCES guest, status TEXT);
CREATE TABLE order_item (order_id INTEGER REFERENCES guest_order, souvenir TEXT, unit_price REAL, quantity INTEGER,
 PRIMARY KEY (order_id, souvenir));
INSERT INTO habitat VALUES (1, 'Reef'), (2, 'River'), (3, 'Mangrove');
INSERT INTO fish VALUES (1, 'Nola', 'viridis', 1, 40, 1, 31), (2, 'Nola', 'parva', 2, 15, 0, 35),
 (3, 'Tessa', 'viridis', 1, 90, 1, 38);
INSERT INTO guest VALUES (1, 'Ada Brook', 'Porto'), (2, 'Finn Castle', 'Oslo'), (3, 'Gwen Dale', 'Oslo');
INSERT INTO show VALUES (1, 'Feeding Hour'), (2, 'Night Dive');
INSERT INTO attendance VALUES (1, 1), (1, 2), (2, 2);
INSERT INTO guest_order VALUES (1, 1, 'paid'), (2, 1, 'paid'), (3, 2, 'open'), (4, 1, 'open');
INSERT INTO order_item VALUES (1, 'Mug', 8.5, 2), (1, 'Poster', 4, 1), (2, 'Mug', 8.5, 3), (3, 'Poster', 4, 6),
 (4, 'Mug', 8.5, 1);
"""

AQUARIUM_QUESTIONS: list[tuple[str, list[object]]] = [
    ("Which fish live in the reef?", ["Nola viridis", "Tessa viridis"]),
    ("How many litres does Tessa viridis have?", [90]),
    ("How many fish are transfers?", [2]),
    ("Which guests have never attended a show?", ["Gwen Dale"]),
    ("Which guest ordered most often?", ["Ada Brook"]),
    ("How many orders came from Porto?", [3]),
    ("How many units of the Mug were sold?", [6]),
]


@pytest.fixture(scope="module")
def aquarium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with attached_app(tmp_path_factory.mktemp("aquarium"), "aquarium", AQUARIUM) as app:
        yield app


@pytest.mark.parametrize(("question", "values"), AQUARIUM_QUESTIONS)
async def test_everyday_words_for_joined_names_and_junctions(
    aquarium: Any, question: str, values: list[object]
) -> None:
    answer = await answer_by_rules(aquarium, question, "aquarium")
    assert sorted(map(str, answer["values"])) == sorted(map(str, values)), answer["answer"]


def test_a_joined_key_is_an_identifier_and_no_link_to_its_own_table(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "a.db")) as db:
        db.executescript(AQUARIUM)
    found = attach_database(f"sqlite:///{tmp_path}/a.db", "aquarium", data=tmp_path / "data")
    known = {p.iri.removeprefix("urn:nacre:db:"): p for p in found.schema.predicates}
    assert (known["habitat#habitatid"].label, known["habitat#habitatid"].role) == ("habitat id", "identifier")
    tables = {table.table: table for table in found.database.tables}
    assert (tables["habitat"].label, tables["habitat"].links) == (("habitat",), ())
    assert tables["fish"].label == ("genus", "species")
