"""Days in eight digits (20240229) in databases and sheets: they are dates, and indexes on them still serve."""

import asyncio
import sqlite3
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path

import pytest

from graph.builder import compose
from graph.stream import stream_turn
from nacre.config.settings import Settings
from nacre.extensions.databases.attach_database import AttachedResult, attach_database
from nacre.extensions.databases.attached import AttachedColumn, AttachedDatabase, AttachedTable
from nacre.extensions.databases.translate import Relations, translate
from nacre.extensions.spreadsheets.columns import ColumnProfile, decide_type
from nacre.records.answer import Answer
from nacre.records.evidence import Cell

HIVES = """
CREATE TABLE hives (hive_id INTEGER PRIMARY KEY, name TEXT);
INSERT INTO hives VALUES (1, 'Oak'), (2, 'Elm'), (3, 'Ash');
CREATE TABLE visits (visit_id INTEGER PRIMARY KEY, hive_id INTEGER REFERENCES hives, date INTEGER, planned_on TEXT,
 honey REAL);
CREATE INDEX by_date ON visits (date);
INSERT INTO visits VALUES (1, 1, 20230405, '20230401', 2.5), (2, 1, 20240229, '20240201', 4), (3, 2, 20240310,
 '20240301', 6), (4, 3, 20241231, '20241230', 1), (5, 3, 20250101, '20250102', 3);
CREATE TABLE jars (jar_id INTEGER PRIMARY KEY, batch INTEGER, sealed_date INTEGER);
INSERT INTO jars VALUES (1, 20240101, 20240101), (2, 20240102, 0), (3, 20240103, 20240103);
CREATE TABLE readings (reading_id INTEGER PRIMARY KEY, taken INTEGER);
"""


def days() -> list[int]:
    return [int((date(2023, 11, 1) + timedelta(days=number)).strftime("%Y%m%d")) for number in range(60)]


@pytest.fixture(scope="module")
def hives(tmp_path_factory: pytest.TempPathFactory) -> tuple[AttachedResult, Path]:
    folder = tmp_path_factory.mktemp("hives")
    with closing(sqlite3.connect(folder / "hives.db")) as db:
        db.executescript(HIVES)
        db.executemany("INSERT INTO readings (taken) VALUES (?)", [(day,) for day in days()])
        db.commit()
    return attach_database(f"sqlite:///{folder}/hives.db", "hives", data=folder / "data"), folder / "data"


def ask(data: Path, question: str) -> Answer:
    async def asked() -> Answer:
        composed = compose(Settings(data=data, model=None, qdrant_url=None, embedder="none", branch_seconds=120))
        events = [event async for event in stream_turn(composed.build(), question, graph="hives")]
        composed.library.close()
        answer: Answer = events[-1][1]
        return answer

    return asyncio.run(asked())


def test_days_in_eight_digits_are_dates(hives: tuple[AttachedResult, Path]) -> None:
    storages = {(t.table, c.column): c.storage for t in hives[0].database.tables for c in t.columns}
    assert storages["visits", "date"] == "day_number"
    assert storages["visits", "planned_on"] == "day_text"
    # many days are dates under any name; a few that may be anything, and those beside what is no day, are numbers
    assert storages["readings", "taken"] == "day_number"
    assert storages["jars", "batch"] == storages["jars", "sealed_date"] == "integer"
    kinds = {p.iri.rsplit(":", 1)[-1]: p.datatype for p in hives[0].schema.predicates}
    assert kinds["visits#date"] == kinds["visits#planned_on"] == kinds["readings#taken"] == "date"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many visits took place in 2024?", "3"),
        ("How many visits were in February 2024?", "1"),
        ("How many visits were after 10 March 2024?", "2"),
        ("How many visits were planned before 2 February 2024?", "2"),
        ("What was the average honey of the visits in 2024?", "3.67"),
        ("What is the date of visit 2?", "29 February 2024"),
        ("When was Ash last visited?", "1 January 2025"),
    ],
)
def test_questions_on_days_in_eight_digits(hives: tuple[AttachedResult, Path], question: str, expected: str) -> None:
    prose = ask(hives[1], question)["answer"]
    assert expected in prose, prose


DAYS = AttachedTable(
    "visits",
    "",
    "visits",
    "urn:nacre:db:visits",
    ("visit_id",),
    ("integer",),
    (),
    (AttachedColumn("date", "date", "day_number"), AttachedColumn("planned_on", "planned_on", "day_text")),
)
YEAR, MONTH = 'CAST(substr("date", 1, 4) AS INTEGER)', 'substr("date", 1, 7)'


@pytest.mark.parametrize(
    ("condition", "params", "rows"),
    [
        ('"date" = ?', ("2024-02-29",), [2]),
        ('"date" <> ?', ("2024-02-29",), [1, 3, 4, 5]),
        ("\"date\" >= '2024-12-31'", (), [4, 5]),
        ('"date" < ? COLLATE NOCASE', ("2024",), [1]),
        ('"date" > ?', ("2024-03-10",), [4, 5]),
        ('? >= "date"', ("2024-02-29",), [1, 2]),
        ('"date" BETWEEN ? AND ?', ("2024-02-29", "2024-03-10"), [2, 3]),
        ('"date" IN (?, ?)', ("2023-04-05", "2025-01-01"), [1, 5]),
        (f"{YEAR} = ?", (2024,), [2, 3, 4]),
        (f"{YEAR} <> 2024", (), [1, 5]),
        (f"{YEAR} > ?", (2024,), [5]),
        (f"{YEAR} <= ?", (2023,), [1]),
        (f"{YEAR} >= ?", (2023.5,), [2, 3, 4, 5]),
        (f"{MONTH} = ?", ("2024-02",), [2]),
        (f"{MONTH} > ?", ("2024-02",), [3, 4, 5]),
        ("planned_on = ?", ("2024-02-01",), [2]),
        ("planned_on < ?", ("2024-03",), [1, 2]),
        ("CAST(substr(planned_on, 1, 4) AS INTEGER) = ?", (2025,), [5]),
        ('"date" < ?', ("soon",), [1, 2, 3, 4, 5]),
        ('"date" = ?', ("2024-02-29' OR 1=1",), []),
    ],
)
def test_comparisons_are_those_of_the_column(
    hives: tuple[AttachedResult, Path], condition: str, params: tuple[Cell, ...], rows: list[int]
) -> None:
    database = AttachedDatabase("", "sqlite", (DAYS,))
    query = translate(f"SELECT id FROM visits WHERE {condition} ORDER BY 1", params, database, Relations(database))
    with closing(sqlite3.connect(hives[1].parent / "hives.db")) as db:
        named = {f"p{number}": value for number, value in enumerate(query.params)}
        found = [int(row[0].rsplit("=", 1)[1]) for row in db.execute(query.text, named)]
        (plan,) = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {query.text}", named) if "visits" in row[3]]
    assert found == rows
    is_served = '"date"' in condition and not query.params and "<>" not in condition and params != ("soon",)
    assert ("SEARCH" in plan) == is_served


@pytest.mark.parametrize(
    ("heading", "cells", "kind"),
    [
        ("Sealed date", ["20240229", "20241231"], "date"),
        ("Batch", ["20240229", "20241231"], "integer"),
        ("Batch", [str(day) for day in days()], "date"),
        ("Sealed date", ["20240229", "20240230"], "integer"),
    ],
)
def test_days_in_eight_digits_of_sheets_are_dates(heading: str, cells: list[str], kind: str) -> None:
    profile = ColumnProfile()
    profile.add(cells)
    profile.finish()
    found = decide_type(profile, heading, comma=False)
    assert found.name == kind
    literal = found.literal("20240229")
    assert literal is not None
    assert literal[1] == ("2024-02-29" if kind == "date" else "20240229")
