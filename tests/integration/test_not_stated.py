"""What the graph does not state is said to be so, and never answered by what answers another question."""

from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from graph.builder import App, compose
from graph.stream import stream_turn
from ingestion.pipeline import ingest
from nacre.config.settings import Settings
from nacre.records.answer import Answer

THEATRE = Path(__file__).parents[1] / "fixtures/graphs/theatre.ttl"
UNSTATED = {
    "where was Odile Marchetti born?": "This graph does not state where.",
    "Who mentored Odile Marchetti?": "This graph names no dancers who mentored Odile Marchetti.",
    "does the Cellar Stage have a trapdoor?": "This graph does not say whether",
    "is the height of the Cellar Stage above 5?": "This graph does not say whether",
}
STATED: dict[str, list[object]] = {
    "is Suvi Lahtinen retired": [False],
    "is the Lantern Stage heated?": [False],
    "how old was Odile Marchetti when she died?": [77],
    "how long did the Harvest Reel last": [3],
}


@pytest.fixture(scope="module", params=["sql", "sparql"])
def app(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> App:
    """The graph of a theatre, asked by SQL or by SPARQL, with its passages."""
    data = tmp_path_factory.mktemp(f"theatre-{request.param}")
    ingest([str(THEATRE)], "theatre", data=data, no_vectors=True, sparql=True)
    settings = Settings(data=data, embedder="none", branches=f"{request.param},lexical", _env_file=None)
    return compose(settings).build(InMemorySaver())


async def ask(app: App, question: str) -> Answer:
    events: list[tuple[str, Any]] = [
        each async for each in stream_turn(app, question, graph="theatre", thread=question)
    ]
    answer: Answer = events[-1][1]
    return answer


@pytest.mark.parametrize("question", UNSTATED)
async def test_what_is_not_stated(app: App, question: str) -> None:
    answer = await ask(app, question)
    assert (answer["status"], answer["values"]) == ("not_in_graph", [])
    assert answer["answer"].startswith(UNSTATED[question])


@pytest.mark.parametrize("question", STATED)
async def test_what_is_stated(app: App, question: str) -> None:
    answer = await ask(app, question)
    assert (answer["status"], answer["values"]) == ("answered", STATED[question])
    assert answer["citations"]


async def test_ages_name_the_days_they_rest_on(app: App) -> None:
    answer = await ask(app, "how old did Bram Oosterhuis get?")
    assert answer["answer"] == "Bram Oosterhuis was 63 years old, from 3 November 1950 to 2 November 2014 [1]."
    assert (answer["values"], answer["unit"]) == ([63], "years")


async def test_a_yes_no_question_with_a_word_that_nothing_accounts_for_is_not_answered(app: App) -> None:
    answer = await ask(app, "is Suvi Lahtinen a flumbering dancer?")
    assert answer["status"] != "answered"
    assert True not in answer["values"]
