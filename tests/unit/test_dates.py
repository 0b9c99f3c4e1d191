"""Dates in everyday words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.induce.cells import infer_cells
from ingestion.induce.partial_dates import OPEN, parse_partial_date
from ingestion.read.facts import TermSort
from ingestion.vocabulary import XSD
from nacre.language.values import find_periods, format_period, year_key


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


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("in 449 BC", ["in 449 BC"]),
        ("on 15 March 44 BC", ["on 15 March 44 BC"]),
        ("31 before Christ, 30 BCE", ["in 31 BC", "in 30 BC"]),
        ("between 500 and 449 B.C.", ["in 500 BC", "in 449 BC"]),
        ("the 5th century BC", ["between 500 BC and 401 BC"]),
    ],
)
def test_years_before_christ(text: str, found: list[str]) -> None:
    periods = find_periods(text)
    assert [format_period(p.first, p.after) for p in periods] == found
    assert sorted(p.first for p in periods) == [p.first for p in periods]


@pytest.mark.parametrize(
    ("text", "words", "first", "last"),
    [
        ("1929~", "about 1929", "1929-01-01", "1929-12-31"),
        ("1918?", "1918 (uncertain)", "1918-01-01", "1918-12-31"),
        ("19XX", "1900 to 1999", "1900-01-01", "1999-12-31"),
        ("1925/1931", "1925 to 1931", "1925-01-01", "1931-12-31"),
        ("1999-02", "February 1999", "1999-02-01", "1999-02-28"),
        ("2001-21", "spring 2001", "2001-01-01", "2001-12-31"),
        ("1985-04-XX", "April 1985", "1985-04-01", "1985-04-30"),
    ],
)
def test_partial_dates(text: str, words: str, first: str, last: str) -> None:
    assert parse_partial_date(text) == (words, first, last)


@pytest.mark.parametrize(
    "text", ["1999-13", "1999-02-30", "1931/1925", "../..", "19", "to be confirmed", "1/2/3", "box 1903", "3 to 5"]
)
def test_texts_that_are_no_dates(text: str) -> None:
    assert parse_partial_date(text) is None


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("ca. 1895", "1893-01-01", "1897-12-31"),
        ("um 1900", "1895-01-01", "1905-12-31"),
        ("c1911", "1911-01-01", "1911-12-31"),
        ("[1890?]", "1890-01-01", "1890-12-31"),
        ("before 1903", OPEN[0], "1902-12-31"),
        ("bis 1903", OPEN[0], "1903-12-31"),
        ("nach 1903", "1904-01-01", OPEN[1]),
        ("1903 or later", "1903-01-01", OPEN[1]),
        ("late 1870s", "1875-01-01", "1879-12-31"),
        ("1890er Jahre", "1890-01-01", "1899-12-31"),
        ("années 1920", "1920-01-01", "1929-12-31"),
        ("Anfang 19. Jh.", "1800-01-01", "1849-12-31"),
        ("XIXe siècle", "1800-01-01", "1899-12-31"),
        ("AD 85", "0085-01-01", "0085-12-31"),
        ("2nd century AD", "0100-01-01", "0199-12-31"),
        ("2. Jh. v. Chr.", "-9401-01-01", "-9500-12-31"),
        ("500-450 BC", "-9101-01-01", "-9151-12-31"),
        ("1926-31", "1926-01-01", "1931-12-31"),
        ("zwischen 1926 und 1931", "1926-01-01", "1931-12-31"),
        ("Juli 1931", "1931-07-01", "1931-07-31"),
        ("June 30, 1912", "1912-06-30", "1912-06-30"),
        ("summer 1934", "1934-01-01", "1934-12-31"),
        ("9 VII 1931", "1931-07-09", "1931-07-09"),
        ("30.XI.1931", "1931-11-30", "1931-11-30"),
        ("2/IX/1931", "1931-09-02", "1931-09-02"),
        ("viii.1931", "1931-08-01", "1931-08-31"),
        ("07-JUL-1931", "1931-07-07", "1931-07-07"),
    ],
)
def test_dates_in_words(text: str, first: str, last: str) -> None:
    assert parse_partial_date(text) == (text, first, last)


@given(st.integers(-8000, 9999), st.integers(-8000, 9999))
def test_keys_are_in_the_order_of_time(one: int, other: int) -> None:
    assert (year_key(one) < year_key(other)) == (one < other)


@pytest.mark.parametrize(
    ("texts", "datatype", "shape"),
    [
        ({"2001-05-06": "date", "1999-01-02": "date"}, "date", "single"),
        ({"2001-05-06": "date", "2001-05-07": "date", "to be confirmed": ""}, "date", "single"),
        ({"2001-05-06": "date", "1999-01": "gYearMonth"}, "date", "period"),
        ({"2001": "gYear", "1999": "gYear"}, "year", "single"),
        ({"2001": "gYear", "-0043": "gYear"}, "year", "single"),
        ({"2001-05-06": "date", "-0043-03-15": "date"}, "date", "period"),
        ({"2001-05-06": "", "1999": ""}, "date", "period"),
        # seasons, numbers of issues
        ({"2009-10": "", "2010-11": ""}, "text", "single"),
        ({"ca. 1890": "", "1870s": "", "1887": "", "nach 1905": "", "n.d.": ""}, "date", "period"),
        ({"1890": "integer", "before 1903": ""}, "date", "period"),
        ({"0120": "gYear", "300 BC": "", "ca. 650": "", "02XX": ""}, "date", "period"),
        # one in ten is no date
        ({"box 7": "", **{f"before 19{n}": "" for n in range(10, 19)}}, "date", "period"),
        ({"box 7": "", **{f"before 19{n}": "" for n in range(10, 18)}}, "text", "single"),
        ({"undated, found later": "", "before 1903": "", "1890": "integer"}, "date", "period"),
        # amounts
        ({"1200": "integer", "about 1300": ""}, "integer", "single"),
        ({"about 1200": "", "up to 1500": ""}, "text", "single"),
        ({"before 1903": "", "see the plan": ""}, "text", "single"),
    ],
)
def test_columns_of_dates(texts: dict[str, str], datatype: str, shape: str) -> None:
    sorts: list[TermSort] = [("literal", kind and XSD + kind, "") for kind in texts.values()]
    cells = infer_cells("http://e.org/made", list(texts), sorts, [1] * len(texts))
    assert (cells.datatype, cells.shape) == (datatype, shape)
