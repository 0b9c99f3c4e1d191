"""Rows of a model's query in a sentence, by what the model says that they are."""

import pytest

from nacre.records.evidence import Cell, Table
from nacre.wording.answer import verbalise_meaning, verbalise_rows


def meaning_text(meaning: str, columns: tuple[str, ...], *rows: tuple[Cell, ...], units: tuple[str, ...] = ()) -> str:
    table = Table(columns, rows, units=units)
    return verbalise_meaning(meaning, table, verbalise_rows(table)).text


@pytest.mark.parametrize(
    ("meaning", "columns", "rows", "units", "text"),
    [
        ("the price of the loom", ("price",), [(70,)], ("EUR",), "The price of the loom is 70 EUR."),
        ("number of old looms", ("number",), [(0,)], (), "The number of old looms is 0."),
        ("the looms that are old", ("label",), [("Ada",), ("Bo",)], (), "The looms that are old are Ada and Bo."),
        ("the looms that are old", ("label",), [("Ada",)], (), "The only one of the looms that are old is Ada."),
        ("the looms with the lowest price", ("label",), [("Ada",)], (), "The loom with the lowest price is Ada."),
        ("the looms of Hay", ("label",), [("Ada",)], (), "The only loom of Hay is Ada."),
        ("how much dearer Ada is", ("n",), [(5,)], ("EUR",), "How much dearer Ada is: 5 EUR."),
        ("the oldest loom", ("label",), [("Ada",), ("Bo",)], (), "The oldest looms are Ada and Bo."),
        ("the length of the loom", ("n",), [(4,), (5,)], ("m", "m"), "The lengths of the loom are 4 m and 5 m."),
        ("the equipment of the loom", ("e",), [("A",), ("B",)], (), "The equipment of the loom: A and B."),
        ("when the loom was built", ("year",), [(1999,)], (), "When the loom was built: 1999."),
        ("het bouwjaar van het weefgetouw", ("n",), [(1634,)], (), "Het bouwjaar van het weefgetouw: 1634."),
        ("who built the loom", ("label",), [("Ada",)], (), "Who built the loom: Ada."),
        ("which of the two is older", ("label",), [("Ada",)], (), "Which of the two is older: Ada."),
        (
            "the range of the cart",
            ("range (low)", "range (high)"),
            [(51.1, 55.3)],
            ("mpg", "mpg"),
            "The range of the cart is 51.1 to 55.3 mpg.",
        ),
        (
            "the cheapest loom and its price",
            ("loom", "price"),
            [("Ada", 5)],
            ("", "EUR"),
            "The cheapest loom is Ada, and its price is 5 EUR.",
        ),
        ("whether Ada is old", ("yes",), [(1,)], (), "Yes, Ada is old."),
        ("whether Ada is of oak", ("yes", "wood"), [(1, "Oak")], (), "Yes, Ada is of oak."),
        ("whether Ada is old", ("yes",), [(0,)], (), "No, it is not the case that Ada is old."),
        (
            "whether the Ada is higher than the looms",
            ("yes", "height of the Ada", "average height of the looms"),
            [(0, 1383, 1575)],
            ("", "mm", "mm"),
            "No: the height of the Ada is 1,383 mm and the average height of the looms is 1,575 mm.",
        ),
        ("", ("yes",), [(1,)], (), "Yes."),
        ("", ("average price",), [(70,)], (), "The average price is 70."),
        ("", ("name",), [("Ada",)], (), "The answer is Ada."),
        ("", ("value",), [(4,), (5,)], (), "There are 2: 4 and 5."),
    ],
)
def test_a_sentence_from_the_meaning(
    meaning: str, columns: tuple[str, ...], rows: list[tuple[Cell, ...]], units: tuple[str, ...], text: str
) -> None:
    assert meaning_text(meaning, columns, *rows, units=units) == text


def test_several_rows_are_a_table_with_the_meaning_as_its_caption() -> None:
    text = meaning_text("the prices of the looms", ("loom", "price"), ("Ada", 5), ("Bo", 6))
    assert text.startswith("Here are the prices of the looms:\n\n| Loom")


@pytest.mark.parametrize(
    ("meaning", "columns", "row", "text"),
    [
        ("when the mill was built", ("n",), (1922,), "When the mill was built: 1922."),
        ("the number of mills", ("n",), (2022,), "The number of mills is 2,022."),
        ("", ("first published",), (2022,), "The first published is 2022."),
        ("where the mill is", ("place", "address"), ("Hay", "Dyke 1"), "Where the mill is: Hay, Dyke 1."),
        ("", ("average CO2",), (5,), "The average CO2 is 5."),
    ],
)
def test_years_places_and_headings(meaning: str, columns: tuple[str, ...], row: tuple[int | str], text: str) -> None:
    table = Table(columns, (row,), units=("",) * len(columns))
    assert verbalise_meaning(meaning, table, verbalise_rows(table)).text == text
