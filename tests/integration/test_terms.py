"""How long something linked two things, by the dates of what links them, and ages by other words."""

from pathlib import Path

import pytest

from tests.support.ask_graph import ask_graph

GRAPH = """
@prefix : <http://e.org/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:ada a :Singer ; rdfs:label "Ada Rook" ; :born "1950"^^xsd:gYear ; :died "2021"^^xsd:gYear .
:bo a :Singer ; rdfs:label "Bo Lind" ; :born "1971"^^xsd:gYear .
:c a :Choir ; rdfs:label "Harbour Voices" . :d a :Choir ; rdfs:label "Hill Singers" .
:m1 a :Membership ; :singer :ada ; :choir :c ; :start_date "1990-04-01"^^xsd:date ; :end_date "2001-05-01"^^xsd:date .
:m2 a :Membership ; :singer :bo ; :choir :c ; :start_date "2000-04-01"^^xsd:date .
:m3 a :Membership ; :singer :bo ; :choir :d ; :start_date "1995-01-01"^^xsd:date ; :end_date "1999-06-01"^^xsd:date .
:m4 a :Membership ; :singer :ada ; :choir :d ; :start_date "2003-01-01"^^xsd:date ; :end_date "2004-06-01"^^xsd:date .
:m5 a :Membership ; :singer :ada ; :choir :d ; :start_date "2010-01-01"^^xsd:date ; :end_date "2012-06-01"^^xsd:date .
"""


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("How many years was Ada Rook in the Harbour Voices?", [11]),
        ("For how many years was Bo Lind a singer in the Hill Singers?", [4]),
        # not ended, and twice
        ("How many years was Bo Lind in the Harbour Voices?", []),
        ("How many years was Ada Rook in the Hill Singers?", []),
        ("At what age did Ada Rook die?", [71]),
        ("What age was Ada Rook at her death?", [71]),
    ],
)
async def test_the_time_of_a_term(question: str, values: list[int], tmp_path: Path) -> None:
    record = await ask_graph(GRAPH, tmp_path)(question)
    if values:
        assert record["values"] == values, record["answer"]
    else:
        assert record["status"] != "answered", record["answer"]
