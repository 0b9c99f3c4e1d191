"""Questions in everyday words: the property of a named thing that is nearest in meaning is looked up."""

from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from graph.builder import App, compose
from graph.stream import stream_turn
from ingestion.pipeline import ingest
from nacre.config.embedder import local_embedder
from nacre.config.settings import Settings
from nacre.records.answer import Answer

PUPPETS = Path(__file__).parents[1] / "fixtures/graphs/puppets.ttl"
pytestmark = pytest.mark.skipif(local_embedder("auto") is None, reason="needs the bundled embedder")
# questions whose words the parser cannot read: their values
LOOKED_UP = {
    "how much does Oto Havel still owe us": [120],
    "who came up with Mira the Fox": ["Oto Havel"],
    "where do you keep Old Jackdaw": ["South Shelf"],
}
# questions that nothing answers
UNSTATED = [
    "how many kids has Oto Havel",
    "what is the email of Ilse Brandt",
    "when does the North Shelf shut",
    "does King Gustav bite",
    "which puppets are heavier than King Gustav's kids",
]


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> App:
    data = tmp_path_factory.mktemp("puppets")
    ingest([str(PUPPETS)], "puppets", data=data, no_vectors=True)
    return compose(Settings(data=data, embedder="auto", _env_file=None)).build(InMemorySaver())


async def ask(app: App, question: str) -> Answer:
    events: list[tuple[str, Any]] = [
        each async for each in stream_turn(app, question, graph="puppets", thread=question)
    ]
    answer: Answer = events[-1][1]
    assert not answer["unsupported"]
    return answer


@pytest.mark.parametrize("question", LOOKED_UP)
async def test_a_property_is_looked_up_and_never_sure(app: App, question: str) -> None:
    answer = await ask(app, question)
    assert (answer["values"], answer["status"]) == (LOOKED_UP[question], "clarify")
    assert answer["citations"][0]["triples"]
    assert answer["answer"].count("?") <= 1


async def test_words_that_ask_for_nothing_else_do_not_make_a_reading_unsure(app: App) -> None:
    answer = await ask(app, "what's King Gustav's weight roughly speaking")
    assert (answer["values"], answer["status"], answer["caveats"]) == ([740], "answered", [])


async def test_facts_stand_beside_an_unsure_reading(app: App) -> None:
    answer = await ask(app, "how much is Mira the Fox worth to the insurance people")
    assert (answer["values"], answer["status"]) == ([650], "partial")
    assert "I left out “worth” and “people”; if you meant something else, the graph says" in answer["answer"]
    assert len(answer["citations"]) >= 2


@pytest.mark.parametrize(
    ("question", "shown"),
    {
        # a unit that the question names, the kind of value, and whatever is near
        "how many grams do we pocket for Mira the Fox": ["The weight of Mira the Fox is 410 g"],
        "when did Mira the Fox and her folks move house": ["first shown on"],
        "where is the gubbins of King Gustav": ["stands on"],
    }.items(),
)
async def test_the_nearest_facts_answer_what_is_asked_for(app: App, question: str, shown: list[str]) -> None:
    answer = await ask(app, question)
    facts = [each["text"] for each in answer["citations"]]
    assert len(facts) == len(shown)
    assert all(words in answer["answer"] for words in shown)


@pytest.mark.parametrize("question", UNSTATED)
async def test_what_is_not_stated_gets_no_value(app: App, question: str) -> None:
    answer = await ask(app, question)
    assert answer["values"] == []
    assert answer["status"] in ("partial", "not_in_graph")
