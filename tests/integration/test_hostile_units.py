"""Units that a graph or a text makes up: they end in no error, take no time, and give only finite numbers."""

import random
import subprocess
import sys
from math import isfinite
from pathlib import Path

import pytest

from ingestion.induce.quantities import parse_quantity, read_quantities, unit_conversion
from ingestion.induce.write_tables import write_tables
from ingestion.read.parse import parse_files
from ingestion.report import build_report
from nacre.extensions.foreign_queries.origins import stated_numbers
from nacre.language.quantities import convert_unit, find_amounts
from nacre.stores.sqlite.tables import Tables


@pytest.mark.parametrize(
    "text", ["5 km⁹⁹⁹ - 6 mm⁹⁹⁹", "5 km⁻⁹⁹⁹ - 6 mm⁻⁹⁹⁹", "1e308 km - 2 mm", "5 mW - 6 dBm", "1e400 km"]
)
def test_a_quantity_has_finite_numbers_or_is_none(text: str) -> None:
    assert parse_quantity(text) is None


def test_a_number_without_end_is_a_text() -> None:
    text = f"Which of them cost more than {'9' * 309} EUR, or 5 EUR?"
    assert [amount.value for amount in find_amounts(text)] == [5]
    assert all(map(isfinite, stated_numbers(text)))


def test_a_decimal_comma_makes_no_infinite_number() -> None:
    assert parse_quantity("1,5e999", decimal_comma=True) is None
    assert parse_quantity("1,5e999") is None


@pytest.mark.parametrize("pair", [("mW", "dBm"), ("dBm", "mW"), ("km⁹⁹⁹", "mm⁹⁹⁹"), ("mm⁹⁹⁹", "km⁹⁹⁹"), ("pH", "dB")])
def test_units_without_a_linear_finite_conversion_have_none(pair: tuple[str, str]) -> None:
    assert unit_conversion(*pair) is None


def test_converted_values_of_a_column_are_finite() -> None:
    found = read_quantities([*(f"{n} mm" for n in range(1, 30)), "1e308 km", "1e307 mm - 1.5e308 mm"])
    assert found is not None
    assert found.numbers[29] is None
    assert all(isfinite(each) for numbers in found.numbers if numbers for each in numbers)


def test_a_graph_with_units_beyond_any_float_is_read(tmp_path: Path) -> None:
    values = ", ".join(f'"{n} mm⁹⁹⁹"' for n in range(1, 12))
    (tmp_path / "graph.ttl").write_text(
        f'@prefix : <http://e/> . :a a :C ; :len "5 km⁹⁹⁹ - 6 mm⁹⁹⁹", "1 km", "2 km"; :size "5 km⁹⁹⁹", {values} .'
    )
    write_tables(parse_files([tmp_path / "graph.ttl"]), tmp_path / "graph.sqlite")
    report = build_report(Tables(tmp_path / "graph.sqlite"))
    assert (report.triples, report.shown) == (16, 16)


@pytest.mark.parametrize("unit", ["9**9**9**9", "m**²**²**²²²", "m**2**2**222", "((9^9)^9)^99 m", "m" + "**2" * 20])
def test_powers_of_powers_are_no_units(unit: str) -> None:
    # in a process of its own, since nothing interrupts a computation that does not end
    program = f"from nacre.language.quantities import convert_unit; print(convert_unit(5.0, 'm', {unit!r}))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=30, cwd=Path(__file__).parents[2]
    )
    assert done.stdout == "None\n"


def test_words_that_are_no_units_convert_to_nothing() -> None:
    made = random.Random(1)
    parts = [
        "k",
        "m",
        "s",
        "*",
        "**",
        "^",
        "(",
        ")",
        "/",
        "²",
        "⁹",
        "[",
        "]",
        "'",
        '"',
        "%",
        "=",
        "+",
        "-",
        "\\",
        "{",
        "2",
    ]
    words = ["".join(made.choices(parts, k=made.randint(1, 9))) for _ in range(500)]
    for word in ["m(", "m**m", "m/0", "k$⁹-m#!°$", "b)''';", "km⁹⁹⁹", *words]:
        for found in (convert_unit(5.0, "m", word), convert_unit(5.0, word, "m")):
            assert found is None or isfinite(found)


def test_usual_units_still_convert() -> None:
    assert convert_unit(3.0, "(m/s)^2", "(km/s)^2") == 3e-06
    assert convert_unit(3.0, "m²", "cm²") == 30000.0
    assert convert_unit(20.0, "°C", "K") == 293.15
