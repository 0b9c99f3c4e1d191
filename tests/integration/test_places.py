"""Distances between places: question -> answer of the rules, from RDF, well-known text and tables."""

import pytest

from nacre.extensions.places.places import distance_request
from tests.support.ask_graph import Ask, ask_graph

PREFIXES = """@prefix : <http://example.org/m/> . @prefix r: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix w: <http://www.w3.org/2003/01/geo/wgs84_pos#> . @prefix g: <http://www.opengis.net/ont/geosparql#> .
"""
# names, classes, latitudes and longitudes
PLACES = (
    ("Ash Mill", "Mill", 52.0, 8.0),
    ("Birch Mill", "Mill", 52.05, 8.0),
    ("Cedar Mill", "Mill", 52.5, 8.5),
    ("Elm Lock", "Lock", 52.04, 8.01),
    ("Fir Lock", "Lock", 51.0, 8.01),
)
THINGS = "".join(f':p{n} a :{kind} ; r:label "{name}" ; {{}} .\n' for n, (name, kind, *_) in enumerate(PLACES))
POINTS = THINGS.format(*(f"w:lat {lat} ; w:long {long}" for *_, lat, long in PLACES))
SHAPES = THINGS.format(*(f'g:asWKT "POINT({long} {lat})"^^g:wktLiteral' for *_, lat, long in PLACES))
SHEET = "Mill,Pots,X,Y\n" + "".join(f"{name},{n + 3},{long},{lat}\n" for n, (name, _, lat, long) in enumerate(PLACES))
GRAPHS = {"points.ttl": PREFIXES + POINTS, "shapes.ttl": PREFIXES + SHAPES, "mills.csv": SHEET}


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ask]:
    return {file: ask_graph(text, tmp_path_factory.mktemp("places"), file) for file, text in GRAPHS.items()}


@pytest.mark.parametrize("file", ["points.ttl", "shapes.ttl"])
@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("Which mill is nearest to Elm Lock?", ["Birch Mill"]),
        ("What are the two mills closest to Elm Lock?", ["Birch Mill", "Ash Mill"]),
        ("Which lock is farthest from Ash Mill?", ["Fir Lock"]),
        ("Which mills are within 10 km of Elm Lock?", ["Birch Mill", "Ash Mill"]),
        ("Which mills are less than 2 miles from Elm Lock?", ["Birch Mill"]),
        ("What is within 10 km of Ash Mill?", ["Elm Lock", "Birch Mill"]),
        ("Which mills are within 1 km of Fir Lock?", []),
        ("How many mills are within 10 km of Elm Lock?", [2]),
        ("Is Ash Mill within 10 km of Elm Lock?", [True]),
        ("Is Fir Lock within 10 km of Elm Lock?", [False]),
        ("How far is Ash Mill from Elm Lock?", [4.5]),
        ("What is the distance between Elm Lock and Ash Mill?", [4.5]),
    ],
)
async def test_distances_are_measured(file: str, question: str, values: list[object], graphs: dict[str, Ask]) -> None:
    answer = await graphs[file](question)
    assert (answer["status"], answer["values"]) == ("answered", values)
    assert answer["citations"][0]["triples"]


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("Which mill is nearest to Elm Lock?", ["Birch Mill"]),
        ("Which mills are within 10 km of Elm Lock?", ["Birch Mill", "Ash Mill"]),
        ("Which is the northernmost mill?", ["Cedar Mill"]),
    ],
)
async def test_x_and_y_of_a_table_in_degrees_are_places(
    question: str, values: list[str], graphs: dict[str, Ask]
) -> None:
    assert (await graphs["mills.csv"](question))["values"] == values


async def test_an_answer_that_leaves_words_out_is_not_sure(graphs: dict[str, Ask]) -> None:
    assert (await graphs["points.ttl"]("Which derelict mill is nearest to Elm Lock?"))["status"] != "answered"


async def test_another_question_and_a_graph_without_places_are_as_before(
    graphs: dict[str, Ask], tmp_path_factory: pytest.TempPathFactory
) -> None:
    answer = await graphs["points.ttl"]("How many mills are there?")
    assert (answer["status"], answer["values"]) == ("answered", [3])
    plain = ask_graph("Mill,Pots\nAsh,3\nElm,5\n", tmp_path_factory.mktemp("plain"), "mills.csv")
    answer = await plain("Which mill is nearest to Elm?")
    assert answer["status"] != "answered"
    assert "places" not in answer["enabled"]


@pytest.mark.parametrize(
    "question", ["Which mill is nearest?", "walks of 2 miles", "How far is Elm Lock?", "far from it"]
)
def test_what_names_no_place_asks_for_no_distance(question: str) -> None:
    request = distance_request(question)
    assert request is None or request.kind == "between"
