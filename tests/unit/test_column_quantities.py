"""Numbers, ranges, pairs and units are found in text, and nothing is found in codes and names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.induce.quantities import COMMON_UNITS, _pint, parse_quantity, read_quantities, unit_conversion


@pytest.mark.parametrize(
    ("text", "shape", "first", "second", "unit"),
    [
        ("1459 mm", "single", 1459, None, "mm"),
        ("4,953 mm", "single", 4953, None, "mm"),
        ("1.835 m", "single", 1.835, None, "m"),
        ("167 - 153 g/km", "range", 167, 153, "g/km"),
        ("167 – 153 g/km", "range", 167, 153, "g/km"),
        ("167 − 153 g/km", "range", 167, 153, "g/km"),
        ("3 to 5 km", "range", 3, 5, "km"),
        ("66.5 / 64.7 kWh", "pair", 66.5, 64.7, "kWh"),
        ("66.5 kWh / 64.7 kWh", "pair", 66.5, 64.7, "kWh"),
        ("125 kW (170 hp)", "single", 125, None, "kW"),
        ("5.8 s", "single", 5.8, None, "s"),
        ("0:31 h", "single", 31, None, "min"),
        (".. min / 0:31 h", "single", 31, None, "min"),
        ("104000.00", "single", 104000, None, ""),
        ("2205 Kg", "single", 2205, None, "kg"),
        ("17.8 – 16.3 kWh/100km", "range", 17.8, 16.3, "kWh/100km"),
        ("39.8 – 44.1 mpg", "range", 39.8, 44.1, "mpg"),
        ("€ 45,000", "single", 45000, None, "€"),
        ("11,000 EUR", "single", 11000, None, "EUR"),
        ("GBP 4.50", "single", 4.5, None, "GBP"),
        ("45 %", "single", 45, None, "%"),
        ("-5 °C", "single", -5, None, "°C"),
        ("1,5 l", "single", 1.5, None, "l"),
        ("3 m²", "single", 3, None, "m²"),
        ("8 GB", "single", 8, None, "GB"),
    ],
)
def test_quantities(text: str, shape: str, first: float, second: float | None, unit: str) -> None:
    assert parse_quantity(text) == (shape, first, second, unit)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nan",
        "inf",
        "01234",
        "5 apples",
        "X5",
        "2024-05-01",
        "555-1234",
        "3/4",
        "10 A4",
        "A 5",
        "1 2 3",
        "12:30",
        "-",
    ],
)
def test_no_quantities(text: str) -> None:
    assert parse_quantity(text) is None


def test_values_are_brought_to_the_unit_of_the_majority() -> None:
    found = read_quantities(["1459 mm", "1.835 m", "1500 mm"])
    assert found is not None
    assert (found.unit, [n and n[0] for n in found.numbers]) == ("mm", [1459, 1835, 1500])
    assert found.whole


def test_another_dimension_has_no_number() -> None:
    found = read_quantities(["39.8 – 44.1 mpg", "40 – 41 mpg", "8.0 – 7.1 l/100km"])
    assert found is not None
    assert found.unit == "mpg"
    assert found.numbers[2] is None
    assert found.numbers[0] == (41.95, 39.8, 44.1)


def test_one_leading_zero_makes_codes_of_all() -> None:
    assert read_quantities(["12345", "01234", "99999"]) is None


def test_too_few_quantities_are_text() -> None:
    assert read_quantities([*(str(n) for n in range(8)), "unknown"]) is None
    assert read_quantities([*(str(n) for n in range(10, 30)), "unknown"]) is not None


def test_decimal_commas_are_told_from_thousands() -> None:
    found = read_quantities(["1,5 l", "2,25 l", "1,125 l"])
    assert found is not None
    assert [n and n[0] for n in found.numbers] == [1.5, 2.25, 1.125]


def test_common_units_are_spelled_as_pint_knows_them() -> None:
    for unit in sorted(COMMON_UNITS):
        known = _pint(unit)
        assert known is not None, unit
        assert known[2] == unit
    assert unit_conversion("kWh/100km", "kWh/km") == (0.01, 0)


@given(st.text(max_size=70))
def test_any_text_is_read_without_error(text: str) -> None:
    found = parse_quantity(text)
    assert found is None or found.first == found.first


def test_ordinal_numbers_are_no_amounts() -> None:
    assert read_quantities(["115th", "93rd", "102nd", "94th"]) is None


def test_with_a_unit_rows_count_and_one_text_may_be_no_amount() -> None:
    found = read_quantities(["5 bar", "9 bar", "unknown"])
    assert found is not None
    assert (found.unit, [n and n[0] for n in found.numbers]) == ("bar", [5, 9, None])
    assert read_quantities(["5 bar", "9 bar", "unknown", "see plate"]) is None
    assert read_quantities(["5 bar", "9 bar", "unknown", "see plate"], counts=[20, 20, 1, 1]) is not None
    # most texts are none, or there is no unit: these may be codes
    assert read_quantities(["5 bar", "unknown"]) is None
    assert read_quantities(["5", "9", "12", "A3"]) is None


def test_a_number_without_a_unit_has_that_of_the_others() -> None:
    found = read_quantities(["5 bar", "9 bar", "12"])
    assert found is not None
    assert [n and n[0] for n in found.numbers] == [5, 9, 12]
