"""The time between two dates, from tables of one cell."""

from datetime import date
from typing import Literal

import pytest

from nacre.plans.run import AGE_COLUMNS, elapsed_time
from nacre.records.evidence import Cell, Table
from nacre.records.plan import Attribute, Compute, Select, Variable

ON = date(2024, 2, 28)


def _of(predicate: str) -> Select:
    return Select((Attribute("thing", predicate),), (Variable("thing"),))


def _table(*cells: Cell) -> Table:
    return Table(("date",), tuple((cell,) for cell in cells))


@pytest.mark.parametrize(
    ("op", "last", "first", "result"),
    [
        ("years", "2000-02-29", "1980-03-01", (19, "years")),
        ("years", 1990, 1950, (40, "years")),
        ("years", "1990", "1950-06-01", (40, "years")),
        ("days", "2024-03-01", "2024-02-28", (3, "days")),
        ("days", "2024-03-01T10:00:00", "2024-02-28T10:00:00", (2, "days")),
        ("days", "1453-10-19", "1337-05-24", (116, "years")),
        ("age", "2010-01-01", "2000-01-01", (10, "years")),
    ],
)
def test_between_two_dates(
    op: Literal["years", "days", "age"], last: Cell, first: Cell, result: tuple[int, str]
) -> None:
    found = elapsed_time(Compute(op, _of("last"), _of("first")), _table(last), _table(first), ON)
    assert (found.rows[0][0], found.units[0]) == result
    assert found.rows[0][1:] == (last, first)


def test_an_age_without_a_last_day_is_that_of_today() -> None:
    found = elapsed_time(Compute("age", _of("last"), _of("first")), _table(), _table("2000-02-29"), ON)
    assert found.columns == AGE_COLUMNS
    assert found.rows == ((23, "2024-02-28", "2000-02-29"),)


@pytest.mark.parametrize(
    ("op", "last", "first"),
    [
        ("years", ("1950-01-01",), ("1951-01-01",)),
        ("years", (), ("1951-01-01",)),
        ("years", ("1999-01-01",), ("1951-01-01", "1952-01-01")),
        ("years", ("in spring",), ("1951-01-01",)),
        ("years", ("1999-13-45",), ("1951-01-01",)),
        ("days", (2001,), (2001,)),
        ("age", (), ("2051-01-01",)),
    ],
)
def test_dates_that_give_no_time(
    op: Literal["years", "days", "age"], last: tuple[Cell, ...], first: tuple[Cell, ...]
) -> None:
    assert not elapsed_time(Compute(op, _of("last"), _of("first")), _table(*last), _table(*first), ON).rows
