"""Dates in everyday words."""

import pytest

from nacre.language.values import find_periods


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("in March 2024", ["2024-03-01..2024-04-01"]),
        ("in December 1999", ["1999-12-01..2000-01-01"]),
        ("on the 5th of May 2019", ["2019-05-05..2019-05-06"]),
        ("May 5th, 2019", ["2019-05-05..2019-05-06"]),
        ("Feb 29 2024", ["2024-02-29..2024-03-01"]),
        ("2019-05", ["2019-05-01..2019-06-01"]),
        ("from 2019-12-31 to 1 Jan. 2020", ["2019-12-31..2020-01-01", "2020-01-01..2020-01-02"]),
        ("the 1990s", ["1990-01-01..2000-01-01"]),
        ("the last quarter of 2023", ["2023-10-01..2024-01-01"]),
        ("2nd half of 2019 and 2019 H1", ["2019-07-01..2020-01-01", "2019-01-01..2019-07-01"]),
        ("third half of 2019, Q7 2020", []),
        ("30 February 2024, 2019-13-01 and room 2019", []),
    ],
)
def test_periods(text: str, found: list[str]) -> None:
    assert [f"{p.first}..{p.after}" for p in find_periods(text)] == found
    assert all(text[p.start : p.end].strip() == text[p.start : p.end] for p in find_periods(text))
