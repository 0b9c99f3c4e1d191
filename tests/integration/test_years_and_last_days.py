"""Years and days of what is asked for: question -> answer of the rules."""

from pathlib import Path

import pytest

from tests.support.ask_graph import Ask, ask_graph

GRAPH = """
@prefix : <http://e.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:Loom a rdfs:Class ; rdfs:label "loom" . :Refit a rdfs:Class ; rdfs:label "refit" .
:Shed a rdfs:Class ; rdfs:label "shed" . :Fair a rdfs:Class ; rdfs:label "fair" .
:loom rdfs:label "loom" . :shed rdfs:label "shed" . :cost rdfs:label "cost" . :year rdfs:label "year" .
:last_oiled rdfs:label "last oiled" . :next_check rdfs:label "next check" .
:l1 a :Loom ; rdfs:label "Great Loom" ; :shed :s1 ; :last_oiled "2023-04-01"^^xsd:date ;
  :next_check "2025-03-01"^^xsd:date .
:l2 a :Loom ; rdfs:label "Hand Loom" ; :shed :s1 ; :last_oiled "2022-04-01"^^xsd:date ;
  :next_check "2024-03-01"^^xsd:date .
:l3 a :Loom ; rdfs:label "Band Loom" ; :shed :s2 ; :last_oiled "2021-04-01"^^xsd:date .
:s1 a :Shed ; rdfs:label "Weir Shed" . :s2 a :Shed ; rdfs:label "Mill Shed" .
:v1 a :Refit ; rdfs:label "V1" ; :loom :l1 ; :cost 900 ; :year 2021 .
:v2 a :Refit ; rdfs:label "V2" ; :loom :l1 ; :cost 400 ; :year 2023 .
:v3 a :Refit ; rdfs:label "V3" ; :loom :l3 ; :cost 100 ; :year 2023 .
:x1 a :Fair ; rdfs:label "Easter Fair" ; :shed :s1 . :x2 a :Fair ; rdfs:label "Summer Fair" ; :shed :s2 .
"""


@pytest.fixture(scope="module")
def looms(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    return ask_graph(GRAPH, tmp_path_factory.mktemp("looms"))


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("What was the total cost of refits of Great Loom in 2023?", [400]),
        ("Was there a refit of Band Loom in 2021?", [False]),
        ("Which loom was last oiled?", ["Great Loom"]),
        ("Which loom was oiled last?", ["Great Loom"]),
        ("Which loom is next checked?", ["Hand Loom"]),
        ("When was Great Loom last oiled?", ["2023-04-01"]),
        ("Which looms were last oiled before 2022?", ["Band Loom"]),
        ("When was Great Loom last refitted?", [2023]),
    ],
)
async def test_the_years_and_days_of_what_is_asked_for(question: str, values: list[object], looms: Ask) -> None:
    assert (await looms(question))["values"] == values


@pytest.mark.parametrize(
    "question",
    [
        "Was Great Loom oiled in 2022?",
        "Which looms were oiled in 2022?",
        "Which fairs were there in 2023?",
        "fairs at Weir Shed in 2023",
        "How many fairs were there in 2023?",
        "How many looms did Weir Shed have in 1990?",
    ],
)
async def test_no_answer_ignores_a_year_or_takes_the_last_day_for_every_day(question: str, looms: Ask) -> None:
    assert (await looms(question))["status"] != "answered"


async def test_what_was_last_done_is_told_without_saying_last_twice(looms: Ask) -> None:
    assert (await looms("Which loom was last oiled?"))["answer"].startswith("The loom oiled last is Great Loom")


async def test_of_days_the_latest_is_told_and_not_the_highest(looms: Ask) -> None:
    answer = (await looms("When was Great Loom last refitted?"))["answer"]
    assert answer == "The latest year of the refits whose loom is Great Loom is 2023 [1]."


async def test_an_auxiliary_names_no_property(tmp_path: Path) -> None:
    graph = """
    @prefix : <http://e.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
    :done rdfs:label "date" . :raft rdfs:label "raft" .
    :a a :Raft ; rdfs:label "Heron" . :b a :Raft ; rdfs:label "Otter" .
    :x a :Refit ; rdfs:label "R1" ; :raft :a ; :done "2023-03-03"^^xsd:date .
    :y a :Refit ; rdfs:label "R2" ; :raft :b ; :done "2023-05-03"^^xsd:date .
    """
    answer = await ask_graph(graph, tmp_path)("Did Heron have a refit?")
    assert answer["answer"] == "Yes, Heron has a refit [1]."
