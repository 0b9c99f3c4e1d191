"""What a thing has itself comes before what links lead to; what it lacks is said to be unstated."""

import pytest

from tests.support.ask_graph import Ask, ask_graph

GRAPH = """
@prefix : <http://e.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Kiln a rdfs:Class ; rdfs:label "kiln" . :Yard a rdfs:Class ; rdfs:label "yard" .
:Repair a rdfs:Class ; rdfs:label "repair" . :Person a rdfs:Class ; rdfs:label "person" .
:stands rdfs:label "stands in" . :repairOf rdfs:label "repair of" . :height rdfs:label "height" .
:area rdfs:label "area" . :cost rdfs:label "cost" . :boughtFor rdfs:label "bought for" .
:mason rdfs:label "mason" . :foreman rdfs:label "foreman" .
:north a :Yard ; rdfs:label "North Yard" ; :area 900 ; :height 12 ; :foreman :ida .
:south a :Yard ; rdfs:label "South Yard" ; :area 400 ; :height 30 ; :foreman :jan .
:bottle a :Kiln ; rdfs:label "Bottle Kiln" ; :stands :north ; :height 14 ; :boughtFor 8000 ; :mason :ida .
:beehive a :Kiln ; rdfs:label "Beehive Kiln" ; :stands :south ; :boughtFor 5000 .
:ring a :Kiln ; rdfs:label "Ring Kiln" ; :stands :north ; :height 7 ; :mason :jan .
:r1 a :Repair ; rdfs:label "Flue repair" ; :repairOf :beehive ; :cost 650 .
:r2 a :Repair ; rdfs:label "Door repair" ; :repairOf :ring ; :cost 120 .
:ida a :Person ; rdfs:label "Ida Moss" . :jan a :Person ; rdfs:label "Jan Reed" .
"""


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    return ask_graph(GRAPH, tmp_path_factory.mktemp("kilns"))


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("What is the height of the Bottle Kiln?", [14]),
        ("how high is the ring kiln", [7]),
        ("What was the Bottle Kiln bought for?", [8000]),
        ("who is the mason of the Ring Kiln?", ["Jan Reed"]),
        # a word names the link
        ("What is the height of the yard that the Beehive Kiln stands in?", [30]),
        ("What is the cost of the repair of the Beehive Kiln?", [650]),
    ],
)
async def test_what_is_stated(ask: Ask, question: str, values: list[object]) -> None:
    assert (await ask(question))["values"] == values


@pytest.mark.parametrize(
    ("question", "start"),
    [
        ("What is the height of the Beehive Kiln?", "This graph does not state the height of Beehive Kiln."),
        ("how high is the beehive kiln?", "This graph does not state the height of Beehive Kiln."),
        ("What was the Ring Kiln bought for?", "This graph does not state what Ring Kiln was bought for."),
        ("who is the mason of the Beehive Kiln?", "This graph does not state the mason of Beehive Kiln."),
    ],
)
async def test_what_is_not_stated(ask: Ask, question: str, start: str) -> None:
    answer = await ask(question)
    assert (answer["status"], answer["values"]) == ("not_in_graph", [])
    assert answer["answer"].startswith(start)
