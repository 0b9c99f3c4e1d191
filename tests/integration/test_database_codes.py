"""Columns that are called like another table and hold codes of its rows: links, or codes beside links."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from graph.builder import compose
from graph.stream import stream_turn
from nacre.config.settings import Settings
from nacre.extensions.databases.attach_database import AttachedResult, attach_database
from nacre.records.answer import Answer
from nacre.records.evidence import Cell

FERRIES = """
CREATE TABLE harbours (harbour_id INTEGER PRIMARY KEY, name TEXT, short TEXT, town TEXT);
INSERT INTO harbours VALUES (1, 'North Quay', 'NQ', 'Alm'), (2, 'Old Pier', 'OP', 'Alm'), (3, 'Salt Dock', 'SD', 'Bro'),
 (4, 'West Hook', 'WH', 'Cam');
CREATE TABLE companies (company_id INTEGER PRIMARY KEY, name TEXT, letters TEXT);
INSERT INTO companies VALUES (1, 'Blue Line', 'BL'), (2, 'Grey Line', 'GL'), (3, 'Red Line', 'RL');
CREATE TABLE trips (trip_id INTEGER PRIMARY KEY, company TEXT, from_harbour TEXT, from_harbour_id INTEGER, berth TEXT);
INSERT INTO trips VALUES (1, 'BL', 'NQ', 1, 'a'), (2, 'BL', 'SD', 3, 'b'), (3, 'GL', 'OP', 2, 'c'),
 (4, 'RL', 'WH', 4, 'd');
CREATE TABLE notes (note_id INTEGER PRIMARY KEY, company TEXT);
INSERT INTO notes VALUES (1, 'BL'), (2, 'unknown'), (3, 'other'), (4, 'GL');
"""


def attached(folder: Path) -> AttachedResult:
    with closing(sqlite3.connect(folder / "ferries.db")) as db:
        db.executescript(FERRIES)
    return attach_database(f"sqlite:///{folder}/ferries.db", "ferries", data=folder / "data")


def test_codes_of_another_table_are_links_and_those_beside_links_are_called_codes(tmp_path: Path) -> None:
    result = attached(tmp_path)
    links = {
        table.table: {(link.columns, link.target, link.referred) for link in table.links}
        for table in result.database.tables
    }
    by_code = (("company",), "companies", ("letters",))
    assert by_code in links["trips"]
    assert (("from_harbour_id",), "harbours", ("harbour_id",)) in links["trips"]
    assert not any(columns == ("from_harbour",) for columns, _, _ in links["trips"])
    # too few of its values are codes
    assert by_code not in links["notes"]
    labels = {p.iri.rsplit(":", 1)[-1]: p.label for p in result.schema.predicates}
    assert labels["trips#from_harbour"] == "from harbour short"
    assert labels["trips#ref-from_harbour_id"] == "from harbour"


LIGHTS = """
CREATE TABLE posts (post_id INTEGER PRIMARY KEY, town TEXT, height INTEGER);
INSERT INTO posts VALUES (1, 'Alm', 20), (2, 'Bro', 31), (3, 'Cam', 25);
CREATE TABLE keepers (keeper_no INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT, job_title TEXT, hired TEXT,
 post_id INTEGER REFERENCES posts, serves_under INTEGER REFERENCES keepers);
INSERT INTO keepers VALUES (1, 'Ida', 'Holm', 'Head', '2019-03-01', 1, NULL), (2, 'Per', 'Lund', 'Mate', '2020-05-01',
 1, 1), (3, 'Eva', 'Berg', 'Mate', '2020-06-01', 2, 1), (4, 'Tor', 'Vik', 'Mate', '2021-07-01', 3, 1);
CREATE TABLE wages (keeper_no INTEGER REFERENCES keepers, yearID INTEGER, wage REAL, PRIMARY KEY (keeper_no, yearID));
INSERT INTO wages VALUES (1, 2020, 900), (2, 2020, 500), (1, 2021, 950), (2, 2021, 550), (3, 2021, 530), (4, 2021, 520);
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("databases")
    attached(folder)
    with closing(sqlite3.connect(folder / "lights.db")) as db:
        db.executescript(LIGHTS)
    attach_database(f"sqlite:///{folder}/lights.db", "lights", data=folder / "data")
    return folder / "data"


@pytest.mark.parametrize(
    ("graph", "question", "values"),
    [
        ("ferries", "Which company has the most trips?", ["Blue Line"]),
        # the year of the row, and not the day of its keeper
        ("lights", "What was the average wage in 2020?", [700]),
        ("lights", "Who had the highest wage in 2021?", ["Ida Holm"]),
        # a word for a key after the name of a property
        ("ferries", "What is the short code of the Salt Dock harbour?", ["SD"]),
        # people, and not their job titles
        ("lights", "Which keepers work in the Alm post?", ["Ida Holm", "Per Lund"]),
    ],
)
def test_questions_take_what_is_nearest(data: Path, graph: str, question: str, values: list[Cell]) -> None:
    async def asked() -> Answer:
        composed = compose(Settings(data=data, model=None, qdrant_url=None, embedder="none", branch_seconds=120))
        events = [event async for event in stream_turn(composed.build(), question, graph=graph)]
        composed.library.close()
        answer: Answer = events[-1][1]
        return answer

    answer = asyncio.run(asked())
    assert sorted(map(str, answer["values"])) == sorted(map(str, values)), answer["answer"]
