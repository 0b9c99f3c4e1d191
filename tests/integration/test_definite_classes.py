""" "The owner", "its owner", "and the repairs?" after a turn about one thing, where the noun names a class."""

import pytest

from tests.support.ask_graph import Ask, ask_graph

GRAPH = """
@prefix : <http://e.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Patron a rdfs:Class ; rdfs:label "patron" . :Harp a rdfs:Class ; rdfs:label "harp" .
:Hall a rdfs:Class ; rdfs:label "hall" . :Repair a rdfs:Class ; rdfs:label "repair" .
:patron rdfs:label "patron" . :hall rdfs:label "hall" . :harp rdfs:label "harp" . :strings rdfs:label "strings" .
:hours rdfs:label "hours" .
:h1 a :Harp ; rdfs:label "Red Gale" ; :patron :p1 ; :strings 34 .
:h2 a :Harp ; rdfs:label "Blue Reed" ; :patron :p2 ; :strings 40 .
:p1 a :Patron ; rdfs:label "Nils Aho" ; :hall :a1 . :p2 a :Patron ; rdfs:label "Rhea Cole" ; :hall :a2 .
:a1 a :Hall ; rdfs:label "Wind Hall" . :a2 a :Hall ; rdfs:label "Hill Hall" .
:r1 a :Repair ; rdfs:label "R1" ; :harp :h1 ; :hours 20 . :r2 a :Repair ; rdfs:label "R2" ; :harp :h1 ; :hours 35 .
:r3 a :Repair ; rdfs:label "R3" ; :harp :h2 ; :hours 12 .
"""


@pytest.fixture(scope="module")
def harps(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    return ask_graph(GRAPH, tmp_path_factory.mktemp("harps"))


@pytest.mark.parametrize("last", ["And the patron?", "The patron?", "Who is the patron?", "its patron", "Patron?"])
async def test_a_class_in_the_singular_is_that_of_the_thing_before(last: str, harps: Ask) -> None:
    assert (await harps("How many strings does Red Gale have?", last))["values"] == ["Nils Aho"]


@pytest.mark.parametrize(
    ("turns", "values"),
    [
        (["Who is the patron of Red Gale?", "And the hall?"], ["Wind Hall"]),
        (["How many strings does Red Gale have?", "And the repairs?"], ["R1", "R2"]),
        (["What is the longest repair of Red Gale?", "And its patron?"], ["Nils Aho"]),
        (["How many harps are there?", "Who is the patron?"], ["Nils Aho", "Rhea Cole"]),
        (["How many strings does Red Gale have?", "Which patrons are there?"], ["Nils Aho", "Rhea Cole"]),
        (["How many repairs did Red Gale have?", "And the halls?"], [1]),
    ],
)
async def test_what_is_asked_for_of_the_thing_before_and_of_all(
    turns: list[str], values: list[object], harps: Ask
) -> None:
    assert (await harps(*turns))["values"] == values
