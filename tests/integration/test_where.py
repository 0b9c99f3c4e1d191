"""Where something is: what a link or a text says, or its latitude with its longitude; no other number, and no name."""

from pathlib import Path

import pytest

from ingestion.pipeline import ingest
from nacre.extensions.client.facade import Nacre

GRAPH = """
@prefix : <http://example.org/quays/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Quay rdfs:label "place" . :Crane rdfs:label "crane" . :lat rdfs:label "latitude" . :long rdfs:label "longitude" .
:price rdfs:label "price in pounds" . :harbour rdfs:label "harbour" . :stands rdfs:label "stands at the place" .
:elm a :Quay ; rdfs:label "Elm Quay" ; :lat 50.25 ; :long -5.5 ; :harbour true .
:oak a :Quay ; rdfs:label "Oak Quay" ; :lat 51.5 ; :long -4.75 ; :harbour false .
:c1 a :Crane ; rdfs:label "Goliath" ; :price 400 ; :stands :oak .
:c2 a :Crane ; rdfs:label "Samson" ; :price 550 ; :stands :elm .
"""


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("Where is Elm Quay?", [50.25, -5.5]),
        ("Where is Oak Quay", [51.5, -4.75]),
        ("Where is Goliath?", ["Oak Quay"]),
        ("Where is Samson?", ["Elm Quay"]),
    ],
)
def test_where_something_is(tmp_path: Path, question: str, values: list[object]) -> None:
    (tmp_path / "quays.ttl").write_text(GRAPH, encoding="utf-8")
    ingest([str(tmp_path / "quays.ttl")], "quays", data=tmp_path, no_vectors=True)
    with Nacre(tmp_path) as nacre:
        assert nacre.graph("quays").ask(question, mind="rules").record["values"] == values
