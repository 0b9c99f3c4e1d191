"""A question that no reading fits is answered with what it asks for of the same things, and never with confidence."""

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from graph.builder import App, compose
from graph.stream import stream_turn
from ingestion.pipeline import ingest
from nacre.config.settings import Settings
from nacre.records.answer import Answer

PREFIXES = """
@prefix : <http://ex.org/>.
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#>.
@prefix xsd: <http://www.w3.org/2001/XMLSchema#>.
:Potter rdfs:label "potter". :Kiln rdfs:label "kiln". :Firing rdfs:label "firing". :Glaze rdfs:label "glaze".
"""
POTTERS = {"ada": ("Ada Moss", "2011-03-02"), "ben": ("Ben Ash", "2016-07-19"), "cleo": ("Cleo Rood", "2019-01-30")}
KILNS = {"owl": ("Owl Kiln", "2014-05-05", 1200, "cleo"), "fox": ("Fox Kiln", "2009-02-11", 1300, "ada")}
GLAZES = {"tin": "Tin White", "ash": "Ash Grey", "iron": "Iron Red"}
# day, potter, kiln, glaze, bowls, price
FIRINGS = [
    ("2024-01-05", "ada", "owl", "tin", 40, 90),
    ("2024-01-19", "ben", "owl", "ash", 30, 60),
    ("2024-02-02", "ben", "owl", "tin", 35, 70),
    ("2024-02-16", "ada", "fox", "ash", 12, 45),
    ("2024-02-23", "ben", "fox", "tin", 20, 55),
]


def pottery() -> str:
    lines = [PREFIXES]
    for key, (name, day) in POTTERS.items():
        lines.append(f':{key} a :Potter; rdfs:label "{name}"; :joinedOn "{day}"^^xsd:date.')
    for key, (name, day, heat, keeper) in KILNS.items():
        lines.append(
            f':{key} a :Kiln; rdfs:label "{name}"; :boughtOn "{day}"^^xsd:date; :heat {heat}; :keeper :{keeper}.'
        )
    lines += [f':{key} a :Glaze; rdfs:label "{name}".' for key, name in GLAZES.items()]
    for n, (day, potter, kiln, glaze, bowls, price) in enumerate(FIRINGS, 1):
        lines.append(
            f':f{n} a :Firing; rdfs:label "F{n}"; :day "{day}"^^xsd:date; :potter :{potter}; :kiln :{kiln};'
            f" :glaze :{glaze}; :bowls {bowls}; :price {price}."
        )
    return "\n".join(lines)


# two classes of persons, of which one has the date that is asked for
SCHOOL = """
:Pupil rdfs:label "pupil". :Teacher rdfs:label "teacher".
:t1 a :Teacher; rdfs:label "Ola Brun"; :town "Hay". :t2 a :Teacher; rdfs:label "Per Lind"; :town "Rye".
:p1 a :Pupil; rdfs:label "Ada Moss"; :teacher :t1; :town "Hay"; :passedExam "2024-03-01"^^xsd:date.
:p2 a :Pupil; rdfs:label "Ben Ash"; :teacher :t1; :town "Rye".
:p3 a :Pupil; rdfs:label "Cleo Rood"; :teacher :t2; :town "Rye"; :passedExam "2023-04-11"^^xsd:date.
"""


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> App:
    data = tmp_path_factory.mktemp("pottery")
    for name, text in {"pottery": pottery(), "school": PREFIXES.partition(":Potter")[0] + SCHOOL}.items():
        (data / f"{name}.ttl").write_text(text, encoding="utf-8")
        ingest([str(data / f"{name}.ttl")], name, data=data, no_vectors=True)
    return compose(Settings(data=data, embedder="none", _env_file=None)).build(InMemorySaver())


async def ask(app: App, *questions: str, graph: str = "pottery") -> Answer:
    """The answer to the last of several turns."""
    for question in questions:
        events: list[tuple[str, Any]] = [
            each async for each in stream_turn(app, question, graph=graph, thread=str(questions))
        ]
    answer: Answer = events[-1][1]
    assert not answer["unsupported"]
    return answer


# questions, what is answered, and what is offered beside it
ANSWERED: dict[tuple[str, ...], tuple[list[object], list[str]]] = {
    # what is counted or listed is one link away from what is asked for
    ("How often did a potter use Tin White?",): ([3], ["the number of potters with a firing whose glaze is Tin White"]),
    ("Show me the firings of February 2024", "Who was working on those?"): (["Ada Moss", "Ben Ash"], []),
    ("Show me the firings of February 2024", "How many bowls did those yield?"): (
        [67],
        ["the number of those 3 firings"],
    ),
    # a month by the date of what is counted
    ("Which month of 2024 had the most firings?",): (
        ["2024-02"],
        [
            "the month of the date joined of the potter with the most firings whose day is in 2024",
            "the month of the date bought of the kiln with the most firings whose day is in 2024",
        ],
    ),
    # amounts of what leads to each thing
    ("What did we make from each potter?",): (["Ben Ash", 185, "Ada Moss", 135], []),
    ("What has Ben Ash spent?",): ([185], []),
    # a verb that nothing is called, as the only link
    ("Which glazes have we never looked at?",): (["Iron Red"], []),
    # by their number, and not by what may be the most of one
    ("Who has the most firings?",): (["Ben Ash"], []),
    # how long, by the only date of persons
    ("Who has been with us the longest?",): (["Ada Moss"], []),
    # the turn before, of all others, and ranked by its number
    ("What is the heat of the Owl Kiln?", "And the others?"): (["Fox Kiln", 1300], []),
    ("What is the average price of the firings for each potter?", "Which one has the most?"): (
        ["Ada Moss", 67.5],
        ["the one of those 2 potters with the most firings"],
    ),
}
# questions that get no values of the kind, and one of the readings that are offered
OFFERED: dict[tuple[str, ...], str] = {
    ("What was the best price in 2024?",): "the cheapest firing whose day is in 2024",
    ("Which kiln have we had the longest?",): "the kiln bought first",
    ("Who runs the Owl Kiln?",): "the keeper of Owl Kiln",
    ("How often did we use the Owl Kiln?",): "the number of firings whose kiln is Owl Kiln",
    ("Which firings used Tin White?", "What were we working on?"): "kilns with a firing whose glaze is Tin White",
    ("Show me the firings of February 2024", "How many bowls were made then?"): (
        "the total number of bowls of those 3 firings"
    ),
}


@pytest.mark.parametrize("questions", ANSWERED)
async def test_what_does_not_fit_a_question_is_put_right(app: App, questions: tuple[str, ...]) -> None:
    values, offered = ANSWERED[questions]
    answer = await ask(app, *questions)
    assert answer["values"] == values
    assert answer["status"] in ("clarify", "partial")
    assert [each["words"] for each in answer["options"]] == offered


@pytest.mark.parametrize("questions", OFFERED)
async def test_what_may_be_meant_is_offered(app: App, questions: tuple[str, ...]) -> None:
    answer = await ask(app, *questions)
    assert OFFERED[questions] in [each["words"] for each in answer["options"]]
    assert answer["status"] != "answered"


async def test_an_offered_reading_answers_when_it_is_chosen(app: App) -> None:
    question, words = "Who runs the Owl Kiln?", "the keeper of Owl Kiln"
    options = (await ask(app, question))["options"]
    chosen = next(each["n"] for each in options if each["words"] == words)
    assert (await ask(app, question, str(chosen)))["values"] == ["Cleo Rood"]


@pytest.mark.parametrize("question", ["What shape is Tin White?", "What is the owner of Tin White?"])
async def test_no_links_are_offered_for_a_property_that_the_graph_lacks(app: App, question: str) -> None:
    answer = await ask(app, question)
    assert answer["values"] == []
    assert not any("firing" in each["words"] for each in answer["options"])


async def test_how_often_is_no_number_of_persons(app: App) -> None:
    answer = await ask(app, "How often did potters use the Owl Kiln?")
    assert answer["status"] == "clarify"
    assert "the number of firings whose kiln is Owl Kiln" in [each["words"] for each in answer["options"]]


@pytest.mark.parametrize(
    ("question", "values"),
    {"Who has not passed the exam?": ["Ben Ash"], "Who passed the exam in 2024?": ["Ada Moss"]}.items(),
)
async def test_who_may_be_of_one_of_several_classes(app: App, question: str, values: list[str]) -> None:
    answer = await ask(app, question, graph="school")
    assert (answer["values"], answer["caveats"]) == (values, [])
