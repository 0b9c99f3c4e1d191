"""Databases as people make them: rows without a column called a name, codes, undeclared keys, dates in texts."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from graph.app import compose
from graph.stream import stream_turn
from nacre.config.settings import Settings
from nacre.extensions.databases.attach_database import AttachedResult, attach_database

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
    events = [e async for e in stream_turn(pottery[1], question, graph="pottery", context={"mind": "rules"})]
    assert events[-1][1]["values"] == values, events[-1][1]["answer"]


async def test_the_name_of_a_table_without_rows_is_no_error(
    pottery: tuple[AttachedResult, Any], caplog: pytest.LogCaptureFixture
) -> None:
    events = [e async for e in stream_turn(pottery[1], "How many reserves are there?", graph="pottery", context={})]
    assert events[-1][1]["status"] != "failed"
    assert "failed" not in caplog.text
