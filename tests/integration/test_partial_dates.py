"""Dates of several precisions in one column: what surely fits answers, what may fit is named."""

from datetime import date
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.support.ask_graph import Ask, ask_graph

GRAPH = """
@prefix : <http://e.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> . @prefix edtf: <http://id.loc.gov/datatypes/edtf/> .
:Vase a rdfs:Class ; rdfs:label "vase" . :made rdfs:label "made in" .
:a a :Vase ; rdfs:label "Owl vase" ; :made "-0448"^^xsd:gYear .
:b a :Vase ; rdfs:label "Horse vase" ; :made "-0043-03-15"^^xsd:date .
:c a :Vase ; rdfs:label "Boat vase" ; :made "0079-08"^^xsd:gYearMonth .
:d a :Vase ; rdfs:label "Moth vase" ; :made "192X"^^edtf:EDTF .
:e a :Vase ; rdfs:label "Fern vase" ; :made "1925/1931"^^edtf:EDTF .
:f a :Vase ; rdfs:label "Reed vase" ; :made "1929~"^^edtf:EDTF .
:g a :Vase ; rdfs:label "Lily vase" ; :made "2001-07-30T10:00:00"^^xsd:dateTime .
"""


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    return ask_graph(GRAPH, tmp_path_factory.mktemp("vases"))


@pytest.mark.parametrize(
    ("question", "values", "possible"),
    [
        ("Which vases were made in the 1920s?", ["Moth vase", "Reed vase"], "Fern vase may fit too"),
        ("How many vases were made before 1930?", [5], "Fern vase may fit too"),
        ("Which vases were made after 1999?", ["Lily vase"], ""),
        ("Which vases were made before 100 BC?", ["Owl vase"], ""),
        ("Which vase was made in 449 BC?", ["Owl vase"], ""),
        ("Which vases were made between 100 BC and 100?", ["Boat vase", "Horse vase"], ""),
        ("Which vases were made before Christ?", ["Horse vase", "Owl vase"], ""),
        ("Which vase is the oldest?", ["Owl vase"], ""),
        ("Which vase is the newest?", ["Lily vase"], ""),
        ("When was the Reed vase made?", ["about 1929"], ""),
        ("When was the Horse vase made?", ["15 March 44 BC"], ""),
    ],
)
async def test_what_surely_fits(ask: Ask, question: str, values: list[object], possible: str) -> None:
    answer = await ask(question)
    assert answer["values"] == values
    assert possible in answer["answer"]
    assert possible or "may fit" not in answer["answer"]


WORDED = """
@prefix : <http://e.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:Kiln a rdfs:Class ; rdfs:label "kiln" . :built rdfs:label "built in" .
:a a :Kiln ; rdfs:label "Ash kiln" ; :built "before 1871" .
:b a :Kiln ; rdfs:label "Birch kiln" ; :built "ca. 1880" .
:c a :Kiln ; rdfs:label "Cedar kiln" ; :built 1884 .
:d a :Kiln ; rdfs:label "Dogwood kiln" ; :built "1890er Jahre" .
:e a :Kiln ; rdfs:label "Elm kiln" ; :built "not recorded" .
:f a :Kiln ; rdfs:label "Fir kiln" ; :built "20th century" .
:g a :Kiln ; rdfs:label "Gum kiln" ; :built "1. Drittel 1899" .
:h a :Kiln ; rdfs:label "Hazel kiln" ; :built "9 VI 1902" .
:i a :Kiln ; rdfs:label "Ivy kiln" ; :built "spring 1911" .
:j a :Kiln ; rdfs:label "Juniper kiln" ; :built 1912 .
:k a :Kiln ; rdfs:label "Koa kiln" ; :built "1902?" .
"""


@pytest.mark.parametrize(
    ("question", "values", "possible"),
    [
        ("Which kilns were built before 1884?", ["Ash kiln"], "Birch kiln and Gum kiln may fit too"),
        # what cannot be read as a date may be any day
        ("How many kilns were built in the 19th century?", [3], "Ash kiln and Gum kiln may fit too"),
        ("Which kilns were built after 1902?", ["Ivy kiln", "Juniper kiln"], "Fir kiln and Gum kiln may fit too"),
        ("Which kilns were built in June 1902?", ["Hazel kiln"], "Fir kiln, Gum kiln and Koa kiln may fit too"),
        ("Which kiln is the oldest?", ["Ash kiln"], "Gum kiln may fit too"),
        ("When was the Birch kiln built?", ["ca. 1880"], ""),
        ("For which kilns do we not know when they were built?", ["Elm kiln"], ""),
    ],
)
async def test_dates_in_words(tmp_path: Path, question: str, values: list[object], possible: str) -> None:
    answer = await ask_graph(WORDED, tmp_path)(question)
    assert answer["values"] == values
    assert possible in answer["answer"]
    assert possible or "may fit" not in answer["answer"]


async def test_years_before_christ_in_words_are_no_years_after(tmp_path: Path) -> None:
    text = (
        GRAPH.partition(":a a :Vase")[0]
        + "@prefix d: <http://purl.org/dc/terms/> ."
        + "".join(
            f':v{n} a :Vase ; rdfs:label "{name}" ; d:date "{date}" .\n'
            for n, (name, date) in enumerate(
                {"Owl vase": "1200 BC", "Boat vase": "1300 v. Chr.", "Elk vase": "AD 79"}.items()
            )
        )
    )
    answer = await ask_graph(text, tmp_path)("Which vase is the oldest?")
    assert (answer["values"], answer["status"]) == (["Boat vase"], "answered")


async def test_only_what_may_fit(ask: Ask) -> None:
    answer = await ask("Which vases were made in 1928?")
    assert answer["values"] == []
    assert "Fern vase and Moth vase may fit: their dates are not exact enough" in answer["answer"]


async def test_dates_are_shown_as_they_are_written(ask: Ask) -> None:
    text = (await ask("List the vases and when they were made"))["answer"]
    shown = ("449 BC", "August 79", "1920s", "1925 to 1931", "about 1929", "30 July 2001")
    assert all(each in text for each in shown)


async def test_years_before_christ(tmp_path: Path) -> None:
    years = GRAPH.partition(":a a :Vase")[0] + "".join(
        f':v{n} a :Vase ; rdfs:label "{name}" ; :made "{year}"^^xsd:gYear .\n'
        for n, (name, year) in enumerate({"Owl vase": "-0448", "Horse vase": "-0043", "Boat vase": "1832"}.items())
    )
    ask = ask_graph(years, tmp_path)
    assert (await ask("Which vases were made before 100 BC?"))["values"] == ["Owl vase"]
    assert "44 BC" in (await ask("When was the Horse vase made?"))["answer"]
    assert "in 1832" in (await ask("When was the Boat vase made?"))["answer"]


@pytest.mark.parametrize(
    ("question", "start"),
    [
        ("Is the Reed vase older than the Lily vase?", "Yes"),
        ("Is the Lily vase older than the Owl vase?", "No"),
        ("Is the Fern vase older than the Moth vase?", "I am not sure"),
    ],
)
async def test_comparisons_of_two_dates(ask: Ask, question: str, start: str) -> None:
    answer = (await ask(question))["answer"]
    assert answer.startswith(start)
    assert "later" not in answer or start == "No"


async def test_times_that_are_told_from_today_are_dates(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents.rewriter.date", SimpleNamespace(today=lambda: date(2002, 3, 1)))
    answer = await ask("Which vases were made last year?")
    assert answer["values"] == ["Lily vase"]
    assert "2001" in answer["answer"]
