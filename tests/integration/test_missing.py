"""Whole turns in which a model says that the graph lacks what is asked."""

from pathlib import Path
from typing import Any

import pytest

from agents.agents import build_agents
from agents.model_calls import Limits
from agents.model_priors import model_priors
from graph.builder import App, build_graph, compose
from graph.context import Resources
from graph.stream import stream_turn
from nacre.config.settings import Settings
from nacre.records.answer import Answer
from nacre.stores.catalog import Library
from tests.support.scripted_model import ScriptedModel, step

SURE = "What is the cooking time of the pilaf?"
UNSURE = "How many minutes does the pilaf spend on a journey?"


@pytest.fixture
def app(settings: Settings, scripted: ScriptedModel) -> App:
    agents = build_agents(scripted, Limits(seconds=1), priors=model_priors("large"), lead="model")
    composition = compose(settings)
    return build_graph(Resources(composition.library, {**composition.agents, "model": agents}, settings))


@pytest.fixture
def dish(kitchen: Path) -> str:
    with Library(kitchen, None).open("kitchen") as graph:
        return next(group.relation for group in graph.schema.groups if group.label == "dish")


async def ask(app: App, question: str, **options: Any) -> Answer:
    events = [event async for event in stream_turn(app, question, **options)]
    answer: Answer = events[-1][1]
    return answer


async def test_no_doubtful_reading_answers_what_the_model_calls_missing(app: App, scripted: ScriptedModel) -> None:
    without = await ask(app, UNSURE, context={"mind": "rules"})
    assert without["values"], "the rules alone would give a value"
    scripted.replies = [step(missing="how long a dish travels")]
    answer = await ask(app, UNSURE)
    assert (answer["status"], answer["values"]) == ("not_in_graph", [])
    assert answer["answer"].startswith("This graph does not hold how long a dish travels. What it says of pilaf: ")
    assert "cooking time" in answer["answer"]


async def test_a_confident_reading_stands_whatever_a_model_calls_missing(app: App, scripted: ScriptedModel) -> None:
    scripted.replies = [step(missing="the cooking time")]
    answer = await ask(app, SURE)
    assert (answer["status"], answer["values"]) == ("answered", [25])


async def test_rows_of_the_model_stand_beside_what_it_calls_missing(
    app: App, scripted: ScriptedModel, dish: str
) -> None:
    query = f"SELECT d.cooking_time FROM {dish} d JOIN entity e ON e.id = d.id WHERE e.label = 'dal'"
    scripted.replies = [step(query, wants="number", missing="its price", meaning="the cooking time of the dal")]
    answer = await ask(app, "How long and how much for the dal?")
    assert (answer["status"], answer["values"]) == ("partial", [35])
    assert "This graph does not hold its price." in answer["caveats"]


async def test_a_description_says_first_what_is_missing(app: App, scripted: ScriptedModel) -> None:
    scripted.replies = [step(wants="prose", missing="what guests think of it"), "nothing"]
    answer = await ask(app, "Tell me about the pilaf.")
    assert (answer["status"], answer["values"]) == ("partial", [])
    assert answer["answer"].startswith("This graph does not hold what guests think of it.")
