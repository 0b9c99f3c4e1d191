"""German questions about a table of bookings: months without a year, follow-ups on counts, computed compounds."""

from collections.abc import Iterator

import pytest

from ingestion.pipeline import ingest
from nacre.extensions.client.facade import Nacre

BOATS = ("Kajak", "Ruderboot", "Segelboot")
PRICES = {"Kajak": 10.5, "Ruderboot": 20.0, "Segelboot": 60.4}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nacre]:
    """120 bookings, ten of each month of 2024, 40 of each sort of boat."""
    folder = tmp_path_factory.mktemp("verleih")
    rows = [
        f"B-{n + 100};{1 + n // 12:02}.{1 + n % 12:02}.2024;{BOATS[n % 3]};{'Uta' if n % 3 else 'Till'};{price}"
        for n in range(120)
        if (price := str(PRICES[BOATS[n % 3]] + (300 - 10 * n if n < 12 else 0)).replace(".", ","))
    ]
    text = "\n".join(("Buchungsnr.;Datum;Gattung;Gast;Preis (€)", *rows))
    (folder / "Buchungen.csv").write_text(text, encoding="utf-8")
    ingest([str(folder / "Buchungen.csv")], "verleih", data=folder / "data", no_vectors=True)
    with Nacre(folder / "data") as found:
        yield found


@pytest.mark.parametrize(
    ("asked", "values"),
    [
        ("Wie viele Buchungen gab es im Mai?", [10]),
        ("Wie viele Buchungen gab es im August?", [10]),
        ("Wie viele Buchungen haben ein Datum zwischen dem 1. April und dem 30. Juni?", [30]),
        ("Wie viele Buchungen haben ein Datum zwischen März und Mai 2024?", [30]),
        ("Wie viele Buchungen gab es seit Juli?", [60]),
        ("Wie viele Kajakbuchungen gab es?", [40]),
        ("How many Buchungen were there in the May?", [10]),
        ("How many Buchungen were there from March to May?", [30]),
    ],
)
def test_a_month_without_a_year_is_a_condition(opened: Nacre, asked: str, values: list[int]) -> None:
    assert opened.graph("verleih").ask(asked, mind="rules").record["values"] == values


def test_two_months_are_never_one_and_said(opened: Nacre) -> None:
    record = opened.graph("verleih").ask("How many Buchungen in April, May and June?", mind="rules").record
    assert record["status"] != "answered"


@pytest.mark.parametrize(
    "turns",
    [
        {"Wie viele Buchungen gab es?": [120], "Wie viele davon waren Kajak?": [40]},
        {"How many Buchungen are there?": [120], "How many of those have Gattung Ruderboot?": [40]},
        {
            "Wie viele Buchungen haben einen Preis über 15 Euro?": [84],
            "Wie viele davon haben einen Preis von weniger als 50 Euro?": [36],
        },
    ],
)
def test_those_that_were_counted_are_all_of_them(opened: Nacre, turns: dict[str, list[int]]) -> None:
    chat = opened.graph("verleih").chat()
    for asked, values in turns.items():
        assert chat.ask(asked, mind="rules").record["values"] == values, asked


def test_a_singular_pronoun_is_the_nearest_single_thing(opened: Nacre) -> None:
    chat = opened.graph("verleih").chat()
    for asked in ("Wie viele Buchungen gab es?", "Was ist die Buchung mit dem höchsten Preis?"):
        chat.ask(asked, mind="rules")
    assert "B-102" in chat.ask("Welche Gattung hat er?", mind="rules").record["standalone"]


def test_the_first_of_a_ranked_list_and_another_order_of_it(opened: Nacre) -> None:
    chat = opened.graph("verleih").chat()
    turns = {
        "Zeig mir die vier teuersten Buchungen": ["B-102", "B-100", "B-105", "B-101"],
        "Nur die ersten drei": ["B-102", "B-100", "B-105"],
        "Sortiere sie nach Datum": ["B-100", "B-102", "B-105"],
    }
    for asked, values in turns.items():
        assert chat.ask(asked, mind="rules").record["values"] == values, asked


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("Durchschnittspreis pro Gattung", "Durchschnitt Preis"),
        ("Gesamtpreis je Gattung", "Summe Preis"),
        ("Was ist der Höchstpreis?", "340,40 €"),
        ("Wie viele Buchungen gab es im Mai?", "Datum: Mai"),
        ("Gattung B-101?", "Der Eintrag „Gattung“ von B-101 lautet Ruderboot"),
    ],
)
def test_words_of_answers(opened: Nacre, asked: str, said: str) -> None:
    assert said in opened.graph("verleih").ask(asked, mind="rules").text
