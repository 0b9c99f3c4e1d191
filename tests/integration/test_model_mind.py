"""Whole turns with a chat model that follows a script."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from agents import rewriter
from agents.calls import Limits
from agents.result import Result
from agents.rewriter import Conversation
from agents.team import build_agents
from config.settings import Settings
from graph.app import compose
from graph.builder import App, build
from graph.nodes import Resources
from graph.turn import stream
from records.answer import Answer
from records.turn import Rewrite
from stores.catalog import Library
from tests.scripted_model import Cut, ScriptedModel, Slow

UNCLEAR = "Which of them simmers on and on?"
TABLE = "SELECT e.label FROM {dish} d JOIN entity e ON e.id = d.id WHERE e.label = 'dal'"


@pytest.fixture
def dish(kitchen: Path) -> str:
    with Library(kitchen, None).open("kitchen") as graph:
        return next(group.relation for group in graph.schema.groups if group.label == "dish")


@pytest.fixture
def app(settings: Settings, scripted: ScriptedModel) -> App:
    composition = compose(settings)
    teams = {**composition.teams, "model": build_agents(scripted, Limits(seconds=1))}
    return build(Resources(composition.library, teams, settings), InMemorySaver())


async def ask(app: App, question: str, **options: Any) -> Answer:
    events = [event async for event in stream(app, question, **options)]
    answer: Answer = events[-1][1]
    assert "".join(text for kind, text in events if kind == "token") == answer["answer"]
    return answer


async def test_a_model_writes_the_query_and_words_the_answer(app: App, scripted: ScriptedModel, dish: str) -> None:
    scripted.replies = [{"sql": TABLE.format(dish=dish)}, "That dish is dal [1]."]
    answer = await ask(app, UNCLEAR)
    assert answer["answer"] == "That dish is dal [1]."
    assert answer["values"] == ["dal"]
    assert answer["citations"][0]["keys"] == ["http://example.org/kitchen/dal"]
    assert (answer["by"]["sql"], answer["by"]["fuser"]) == ("model", "model")
    assert (answer["llm_calls"], answer["output_tokens"]) == (2, 40)
    assert (answer["input_tokens"], answer["cached_tokens"]) == (200, 80)
    assert [query["by"] for query in answer["queries"] if query["tool"] == "sql"] == ["model"]


async def test_what_the_rules_are_sure_of_is_only_worded_by_the_model(app: App, scripted: ScriptedModel) -> None:
    scripted.replies = ["The pilaf needs 25 min [1]."]
    answer = await ask(app, "What is the cooking time of the pilaf?")
    assert (answer["answer"], answer["values"], answer["unit"]) == ("The pilaf needs 25 min [1].", [25], "min")
    assert answer["llm_calls"] == 1


async def test_the_mind_is_chosen_for_each_turn(app: App, scripted: ScriptedModel) -> None:
    answer = await ask(app, "What is the cooking time of the pilaf?", context={"mind": "rules"})
    assert answer["llm_calls"] == 0
    assert scripted.asked == []


async def test_a_dead_model_gives_an_answer_by_rules_that_says_so(app: App, scripted: ScriptedModel) -> None:
    scripted.replies = [ConnectionError("nobody listens")] * 3
    answer = await ask(app, "What is the cooking time of the pilaf?")
    assert answer["values"] == [25]
    assert "25" in answer["answer"]
    assert answer["by"]["fuser"] == "rules after model: ConnectionError: nobody listens"
    assert answer["status"] == "answered"


async def test_a_model_that_breaks_off_leaves_the_rest_to_the_rules(app: App, scripted: ScriptedModel) -> None:
    scripted.replies = [Cut("The pilaf is cooked [1]. It takes 2", ConnectionError("reset"))]
    answer = await ask(app, "What is the cooking time of the pilaf?")
    assert "25 min" in answer["answer"]
    assert answer["by"]["fuser"] == "rules after model: ConnectionError: reset"


async def test_a_hanging_model_is_left_behind(app: App, scripted: ScriptedModel) -> None:
    scripted.replies = [Slow("late", 60)]
    answer = await ask(app, "What is the cooking time of the pilaf?")
    assert answer["values"] == [25]
    assert answer["by"]["fuser"] == "rules after model: no end within 1 s"


@pytest.mark.parametrize(
    "written", ["DROP TABLE entity", "SELECT * FROM sqlite_master", "SELECT * FROM meals", "hello there"]
)
async def test_a_bad_query_is_sent_back_and_never_runs(
    app: App, scripted: ScriptedModel, dish: str, written: str
) -> None:
    scripted.replies = [{"sql": written}, {"sql": TABLE.format(dish=dish)}, "That dish is dal [1]."]
    answer = await ask(app, UNCLEAR)
    assert answer["values"] == ["dal"]
    tried = [query for query in answer["queries"] if query["tool"] == "sql"]
    assert [bool(query["error"]) for query in tried] == [True, False]
    assert tried[0]["error"] is not None
    assert tried[0]["error"]["message"] in str(scripted.asked[1][-1].content)


async def test_prompts_begin_alike_for_every_question(app: App, scripted: ScriptedModel, dish: str) -> None:
    for question in (UNCLEAR, "Which one hums at night?"):
        scripted.replies = [{"sql": TABLE.format(dish=dish)}, "That dish is dal [1]."]
        await ask(app, question)
    writer, fuser, writer_again, fuser_again = (messages[0].content for messages in scripted.asked)
    assert writer == writer_again
    assert fuser == fuser_again
    assert dish in str(writer)
    assert str(scripted.asked[0][-1].content).endswith(f"Question: {UNCLEAR}")


async def test_a_second_turn_is_worded_with_the_first_in_view(settings: Settings, scripted: ScriptedModel) -> None:
    async def unsure(conversation: Conversation) -> Result[Rewrite]:
        return Result(Rewrite(conversation.question, sure=False))

    composition = compose(settings)
    team = replace(composition.teams["rules"], rewriter=rewriter.by_model(scripted, unsure, Limits()))
    app = build(Resources(composition.library, {"rules": team}, settings), InMemorySaver())
    scripted.replies = [{"question": "What is the cooking time of the dal?"}]
    await ask(app, "What is the cooking time of the pilaf?", thread="t")
    second = await ask(app, "And what is it for the dal?", thread="t")
    assert (second["standalone"], second["values"]) == ("What is the cooking time of the dal?", [35])
    assert "What is the cooking time of the pilaf?" in str(scripted.asked[0][-1].content)
    assert second["by"]["rewriter"] == "model"
