"""What a question names is not left out of its answer for the sake of rows: a rank, or a property without values."""

from pathlib import Path

import pytest

from tests.support.ask_graph import Ask, ask_graph

GRAPH = """
@prefix : <http://e.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Stove a rdfs:Class ; rdfs:label "stove" . :Version a rdfs:Class ; rdfs:label "version" .
:variantOf rdfs:label "version of" .
:price rdfs:label "price" . :weight rdfs:label "weight" . :width rdfs:label "width" .
:nib a :Stove ; rdfs:label "Nib" ; :price 900 . :oak a :Stove ; rdfs:label "Oak" ; :price 400 .
:n1 a :Version ; rdfs:label "Nib Small" ; :variantOf :nib ; :price 800 ; :width 40 .
:n2 a :Version ; rdfs:label "Nib Large" ; :variantOf :nib ; :price 950 ; :width 70 .
:o1 a :Version ; rdfs:label "Oak Small" ; :variantOf :oak ; :price 350 ; :width 45 ; :weight 80 .
:o2 a :Version ; rdfs:label "Oak Large" ; :variantOf :oak ; :price 450 ; :width 75 ; :weight 120 .
"""


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    return ask_graph(GRAPH, tmp_path)


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("Which Nib version is the cheapest?", ["Nib Small"]),
        ("Which Oak version is the cheapest?", ["Oak Small"]),
        ("What are the weights of the Oak versions?", [80, 120]),
        ("What are the weights of the Nib versions?", []),
        ("Which Nib version has the highest weight?", []),
    ],
)
async def test_what_is_named_is_used(ask: Ask, question: str, values: list[object]) -> None:
    answer = await ask(question)
    assert sorted(answer["values"], key=str) == sorted(values, key=str)
