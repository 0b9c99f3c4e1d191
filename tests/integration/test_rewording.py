"""Questions that a small model says again in the graph's own words, over a model that follows a script."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from langchain_core.messages import BaseMessage

from agents.agents import build_agents
from agents.model_calls import Limits
from agents.model_priors import model_priors
from agents.turn_view import first_turn
from graph.builder import App, build_graph, compose
from graph.context import Resources
from graph.stream import stream_turn
from nacre.config.settings import Settings
from nacre.extensions.model_agents.query_writer import class_lines, prefill_prompts, reword_question
from nacre.records.answer import Answer
from nacre.records.turn import Understanding
from nacre.stores.catalog import Library
from nacre.stores.sqlite.schema_sql import schema_sql
from tests.support.fake_database import FakeDatabase, rows
from tests.support.scripted_model import ScriptedModel

WAIT = "How long must I wait until the pilaf is ready?"
BUSY = "Which dish keeps the cook busy longest?"
NOTHING = {"sql": "SELECT 1 WHERE 0"}


@pytest.fixture
def app(settings: Settings, scripted: ScriptedModel) -> App:
    composition = compose(settings)
    model_agents = build_agents(scripted, Limits(seconds=1, retries=0, exchanges=1), priors=model_priors("small"))
    return build_graph(Resources(composition.library, {**composition.agents, "model": model_agents}, settings))


async def ask(app: App, question: str, mind: str = "model") -> Answer:
    events = [event async for event in stream_turn(app, question, context={"mind": mind})]
    answer: Answer = events[-1][1]
    return answer


async def test_what_both_wordings_give_is_found_without_a_query(app: App, scripted: ScriptedModel) -> None:
    alone = await ask(app, WAIT, mind="rules")
    scripted.replies = [{"reworded": "the cooking time of the pilaf"}]
    answer = await ask(app, WAIT)
    # the reading leaves "wait" and "ready" out, as a wrong rewording might
    assert (alone["status"], answer["status"]) == ("partial", "clarify")
    assert (answer["confidence"] or 0) > (alone["confidence"] or 0)
    assert answer["values"] == alone["values"] == [25]
    assert (answer["by"]["sql"], answer["llm_calls"]) == ("model", 1)


async def test_a_likelier_reading_of_other_words_answers_with_its_plan(app: App, scripted: ScriptedModel) -> None:
    scripted.replies = [{"reworded": "the dish with the lowest cooking time"}, NOTHING]
    answer = await ask(app, BUSY)
    assert answer["answer"].startswith("The dish with the shortest cooking time is pilaf (25 min) [1].")
    assert answer["values"] == ["pilaf"]
    assert answer["status"] == "clarify"
    assert answer["citations"][0]["keys"] == ["http://example.org/kitchen/pilaf"]


@pytest.mark.parametrize(
    "said",
    ["the stove time of the pilaf", "the cooking time of the dal", WAIT, "tell me about the pilaf", "pilaf", "  "],
    ids=["unknown word", "another name", "the same", "description", "name alone", "nothing"],
)
async def test_what_the_rules_cannot_read_wholly_changes_nothing(app: App, scripted: ScriptedModel, said: str) -> None:
    scripted.replies = [{"reworded": said}, NOTHING]
    answer, alone = await ask(app, WAIT), await ask(app, WAIT, mind="rules")
    assert (answer["values"], answer["status"]) == (alone["values"], alone["status"])


async def test_numbers_of_the_question_have_to_stay(app: App, scripted: ScriptedModel) -> None:
    question = "dishes ready in fewer than 40 or so minutes"
    scripted.replies = [{"reworded": "dishes whose cooking time is below 90 min"}, NOTHING]
    answer, alone = await ask(app, question), await ask(app, question, mind="rules")
    assert answer["values"] == alone["values"]


@pytest.mark.parametrize(("near", "taken"), [("", True), ("sport", False), ("spork", True)])
async def test_a_word_derived_from_a_name_has_to_stay(
    scripted: ScriptedModel, kitchen: Path, near: str, taken: bool
) -> None:
    known = Understanding("How sporty long is the pilaf?", unknown=(("sporty", near),))
    scripted.replies = [{"reworded": "the cooking time of the pilaf"}]
    found = rows(25)
    read = replace(found, evidence=tuple(replace(each, reading=0) for each in found.rows))
    with Library(kitchen, None).open("kitchen") as graph:
        database = FakeDatabase([read], schema=graph.schema, lexicon=graph.lexicon)
        said = await reword_question(scripted, first_turn(known.standalone, known), database, Limits(seconds=1))
    assert (said.rows is not None) == taken


@pytest.mark.parametrize("reply", ["no record", RuntimeError("down")])
async def test_a_model_that_fails_is_asked_nothing_else(app: App, scripted: ScriptedModel, reply: object) -> None:
    scripted.replies = [reply]
    answer = await ask(app, WAIT)
    assert answer["values"] == [25]
    assert answer["by"]["sql"].startswith("rules after model: ")


async def test_the_model_sees_names_and_the_question(app: App, scripted: ScriptedModel) -> None:
    scripted.replies = [{"reworded": "the cooking time of the pilaf"}]
    await ask(app, WAIT)
    begun, turn = map(_text, scripted.asked[0])
    assert "dish: contains (ingredient), cooking time in min\n" in begun
    assert turn == f"Question: {WAIT}"


async def test_what_the_prompt_begins_with_is_read_ahead_last(app: App, scripted: ScriptedModel, kitchen: Path) -> None:
    scripted.replies = ["a", "a", {"reworded": "the cooking time of the pilaf"}]
    with Library(kitchen, None).open("kitchen") as graph:
        await prefill_prompts(scripted, graph.schema, partial(schema_sql, graph.tables), Limits(seconds=1), "small")
    await ask(app, WAIT)
    _, read, begun = (_text(messages[0]) for messages in scripted.asked)
    assert read == begun


def _text(message: BaseMessage) -> str:
    return str(message.content)


def test_names_of_a_large_graph_are_cut(kitchen: Path) -> None:
    with Library(kitchen, None).open("kitchen") as graph:
        every = class_lines(graph.schema, 1000).split("\n")
        assert len(every) == len(graph.schema.classes)
        assert class_lines(graph.schema, len(every[0]) // 4 + 1) == every[0]
        assert class_lines(graph.schema, 1) == ""
