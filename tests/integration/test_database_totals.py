"""Numbers over one-to-many joins: each is computed over the table that has it, and groups without any are kept."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.databases import answer_by_rules, attached_app

# Ada has hires and complaints, Bo only hires, Cleo a hire without a sum, Dora nothing; a complaint of nobody
BOATYARD = """
CREATE TABLE client (id INTEGER PRIMARY KEY, name TEXT, harbour TEXT);
CREATE TABLE hire (id INTEGER PRIMARY KEY, client_id INTEGER REFERENCES client(id), amount NUMERIC, day TEXT);
CREATE TABLE stop (id INTEGER PRIMARY KEY, hire_id INTEGER REFERENCES hire(id), island TEXT, nights INTEGER);
CREATE TABLE complaint (id INTEGER PRIMARY KEY, client_id INTEGER REFERENCES client(id), about TEXT);
INSERT INTO client VALUES (1, 'Ada', 'East'), (2, 'Bo', 'East'), (3, 'Cleo', 'West'), (4, 'Dora', 'West');
INSERT INTO hire VALUES (1, 1, 50, '2024-05-01'), (2, 1, 30, '2024-06-11'), (3, 2, 70, '2024-06-12'),
  (4, 3, 10, '2024-07-01');
INSERT INTO stop VALUES (1, 1, 'Fox', 2), (2, 1, 'Gull', 1), (3, 2, 'Fox', 4), (4, 3, 'Gull', 3), (5, 3, 'Fox', 1);
INSERT INTO complaint VALUES (1, 1, 'leak'), (2, 1, 'rope'), (3, 1, 'late'), (4, 3, 'late'), (5, NULL, 'noise');
"""

EACH = [["Ada", 80, 3], ["Bo", 70, 0], ["Cleo", 10, 1], ["Dora", 0, 0]]

QUESTIONS: list[tuple[str, list[Any]]] = [
    ("What is the total hire amount and the number of complaints for each client?", EACH),
    ("For each client: total hire amount and number of complaints", EACH),
    ("How many hires and complaints does each client have?",
     [["Ada", 2, 3], ["Bo", 1, 0], ["Cleo", 1, 1], ["Dora", 0, 0]]),
    ("total amount and number of hires for each client",
     [["Ada", 80, 2], ["Bo", 70, 1], ["Cleo", 10, 1], ["Dora", 0, 0]]),
    ("total amount and total nights for each client", [["Ada", 80, 7], ["Bo", 70, 4], ["Cleo", 10, 0], ["Dora", 0, 0]]),
    ("average hire amount, number of complaints and number of hires per client",
     [["Ada", 40, 3, 2], ["Bo", 70, 0, 1], ["Cleo", 10, 1, 1], ["Dora", None, 0, 0]]),
    ("total hire amount for each client", [["Ada", 80], ["Bo", 70], ["Cleo", 10], ["Dora", 0]]),
    ("number of hires per client", [["Ada", 2], ["Bo", 1], ["Cleo", 1], ["Dora", 0]]),
    ("number of complaints and hires for each harbour", [["East", 3, 3], ["West", 1, 1]]),
    ("What is the average number of complaints per client?", [1]),
    ("On average, how many stops does each hire have?", [1.25]),
    ("Which clients have a total hire amount above 60?", ["Ada", "Bo"]),
    ("Who spent the most?", ["Ada"]),
    ("Which client spent the least money?", ["Cleo"]),
    ("What percentage of clients never complained?", [50]),
    ("What percentage of clients have no complaints?", [50]),
]  # fmt: skip

# the column is called like what is computed; Gus has no bill
BILLS = """
CREATE TABLE guest (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE bill (id INTEGER PRIMARY KEY, guest_id INTEGER REFERENCES guest(id), total NUMERIC);
INSERT INTO guest VALUES (1, 'Edna'), (2, 'Flo'), (3, 'Gus');
INSERT INTO bill VALUES (1, 1, 12), (2, 1, 30), (3, 1, 12), (4, 2, 9);
"""

TOTALS: list[tuple[str, list[Any]]] = [
    ("What is the total of the bills for each guest?", [["Edna", 54], ["Flo", 9], ["Gus", 0]]),
    ("total amount of bills per guest", [["Edna", 54], ["Flo", 9], ["Gus", 0]]),
    ("What is the average total of the bills for each guest?", [["Edna", 18], ["Flo", 9]]),
    ("What is the total of the bills and the number of bills for each guest?",
     [["Edna", 54, 3], ["Flo", 9, 1], ["Gus", 0, 0]]),
    ("number of bills, average total and total total for each guest",
     [["Edna", 3, 18, 54], ["Flo", 1, 9, 9], ["Gus", 0, None, 0]]),
]  # fmt: skip


@pytest.fixture(scope="module")
def bills(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with attached_app(tmp_path_factory.mktemp("bills"), "bills", BILLS) as app:
        yield app


@pytest.mark.parametrize(("question", "rows"), TOTALS)
async def test_a_total_of_parts_is_added_up_for_each_group(bills: Any, question: str, rows: list[Any]) -> None:
    answer = await answer_by_rules(bills, question, "bills")
    assert sorted(answer["table"]["rows"]) == rows, answer["answer"]


@pytest.fixture(scope="module")
def boatyard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with attached_app(tmp_path_factory.mktemp("boatyard"), "boatyard", BOATYARD) as app:
        yield app


@pytest.mark.parametrize(("question", "values"), QUESTIONS)
async def test_numbers_are_those_of_their_own_table(boatyard: Any, question: str, values: list[Any]) -> None:
    answer = await answer_by_rules(boatyard, question, "boatyard")
    given = answer["table"]["rows"] if isinstance(values[0], list) else answer["values"]
    assert given == values, answer["answer"]
