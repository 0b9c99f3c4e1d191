"""Whole turns with a chat model that follows a script."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from agents.agents import Agents, build_agents
from agents.model_calls import Limits
from agents.model_priors import Size, model_priors
from agents.turn_view import Database, Result, TurnView
from graph.builder import App, build_graph, compose
from graph.context import Resources
from graph.stream import stream_turn
from nacre.config.settings import Settings
from nacre.extensions.model_agents import rewriter as model_rewriter
from nacre.extensions.model_agents.query_writer import prefill_prompts
from nacre.records.answer import Answer
from nacre.records.turn import Rewrite
from nacre.stores.catalog import Library
from nacre.stores.sqlite.schema_sql import schema_sql
from tests.support.scripted_model import Cut, ScriptedModel, Slow, step

UNCLEAR = "Which of them simmers on and on?"
SURE = "What is the cooking time of the pilaf?"
DESCRIBE = "Tell me about the pilaf."
TABLE = "SELECT e.label FROM {dish} d JOIN entity e ON e.id = d.id WHERE e.label = 'dal'"


@pytest.fixture
def dish(kitchen: Path) -> str:
    with Library(kitchen, None).open("kitchen") as graph:
        return next(group.relation for group in graph.schema.groups if group.label == "dish")


@pytest.fixture
def app(settings: Settings, scripted: ScriptedModel) -> App:
    return app_of(settings, build_agents(scripted, Limits(seconds=1)))


def app_of(settings: Settings, model_agents: Agents) -> App:
    composition = compose(settings)
    return build_graph(
        Resources(composition.library, {**composition.agents, "model": model_agents}, settings), InMemorySaver()
    )


async def ask(app: App, question: str, **options: Any) -> Answer:
    events = [event async for event in stream_turn(app, question, **options)]
    answer: Answer = events[-1][1]
    assert "".join(text for kind, text in events if kind == "token") == answer["answer"]
    return answer


async def test_a_model_writes_the_query_and_the_rules_say_its_rows(
    app: App, scripted: ScriptedModel, dish: str
) -> None:
    scripted.replies = [step(TABLE.format(dish=dish))]
    answer = await ask(app, UNCLEAR)
    assert answer["answer"] == "The answer is dal [1]."
    assert answer["values"] == ["dal"]
    assert answer["citations"][0]["keys"] == ["http://example.org/kitchen/dal"]
    assert (answer["by"]["sql"], answer["by"]["fuser"]) == ("model", "rules")
    assert (answer["llm_calls"], answer["output_tokens"]) == (1, 20)
    assert (answer["input_tokens"], answer["cached_tokens"]) == (100, 40)
    assert answer["price"] is None, "nobody knows what this model costs"
    assert [query["by"] for query in answer["queries"] if query["tool"] == "sql"] == ["model"]


@pytest.mark.parametrize(
    ("wants", "values", "unit"), [("names", ["dal"], None), ("number", [35], "min"), ("table", ["dal", 35], "min")]
)
async def test_the_values_are_exactly_what_is_asked_for_and_the_sentence_may_say_more(
    app: App, scripted: ScriptedModel, dish: str, wants: str, values: list[Any], unit: str | None
) -> None:
    minutes = f"SELECT e.label, d.cooking_time FROM {dish} d JOIN entity e ON e.id = d.id WHERE e.label = 'dal'"
    scripted.replies = [step(minutes, wants=wants)]
    answer = await ask(app, UNCLEAR)
    assert (answer["values"], answer["unit"]) == (values, unit)
    assert "35 min" in answer["answer"]
    assert "dal" in answer["answer"]


async def test_a_model_words_a_description_from_rows_that_it_gathered(
    app: App, scripted: ScriptedModel, dish: str
) -> None:
    gather = f"SELECT e.label AS dish, d.cooking_time AS minutes FROM {dish} d JOIN entity e ON e.id = d.id"
    scripted.replies = [step(gather, wants="prose"), "The pilaf takes 25 min, the dal 35 min [1]."]
    answer = await ask(app, "Compare the pilaf with the dal.")
    assert answer["answer"] == "The pilaf takes 25 min, the dal 35 min [1]."
    assert (answer["by"]["sql"], answer["by"]["fuser"], answer["llm_calls"]) == ("model", "model", 2)
    assert "pilaf | 25" in str(scripted.asked[1][-1].content)


async def test_a_model_looks_up_before_it_writes(app: App, scripted: ScriptedModel, dish: str) -> None:
    wanted = [{"kind": "values", "table": "", "column": "", "text": "daal"}]
    scripted.replies = [step(look_ups=wanted), step(TABLE.format(dish=dish))]
    answer = await ask(app, UNCLEAR)
    assert answer["values"] == ["dal"]
    assert "dish.label: dal" in str(scripted.asked[1][-1].content)


async def test_exact_readings_are_left_to_the_rules_where_a_model_is_small(
    settings: Settings, scripted: ScriptedModel
) -> None:
    answer = await ask(app_of(settings, build_agents(scripted, priors=model_priors("small"))), SURE)
    assert (answer["values"], answer["unit"], answer["by"]["fuser"]) == ([25], "min", "rules")
    assert (answer["llm_calls"], answer["price"]) == (0, 0.0)


async def test_rows_that_both_find_are_said_in_the_words_of_the_plan(
    settings: Settings, scripted: ScriptedModel, dish: str
) -> None:
    app = app_of(settings, build_agents(scripted, Limits(seconds=1), priors=model_priors("large"), lead="model"))
    minutes = f"SELECT d.cooking_time FROM {dish} d JOIN entity e ON e.id = d.id WHERE e.label = 'pilaf'"
    scripted.replies = [step(minutes, wants="number")]
    answer = await ask(app, SURE)
    assert (answer["values"], answer["unit"], answer["status"]) == ([25], "min", "answered")
    assert {query["by"] for query in answer["queries"] if query["tool"] == "sql"} == {"rules", "model"}


async def test_what_the_graph_lacks_is_said_as_the_model_names_it(app: App, scripted: ScriptedModel) -> None:
    scripted.replies = [step(missing="the price of a dish")]
    answer = await ask(app, "What does it cost on the moon?")
    assert (answer["status"], answer["values"]) == ("not_in_graph", [])
    assert "the price of a dish" in answer["answer"]


async def test_a_question_in_german_is_answered_in_german(settings: Settings, scripted: ScriptedModel) -> None:
    asked = "Wie lange kocht das Pilaf und was ist es?"
    app = app_of(settings, build_agents(scripted, priors=model_priors("small")))
    scripted.replies = [{"question": asked, "english": SURE}, "Das Pilaf kocht 25 min [1]."]
    answer = await ask(app, asked)
    assert (answer["standalone"], answer["standalone_own"], answer["language"]) == (SURE, asked, "de")
    assert (answer["answer"], answer["values"]) == ("Das Pilaf kocht 25 min [1].", [25])
    assert "Answer in German, and" in str(scripted.asked[1][-1].content)


async def test_a_large_model_reads_german_in_the_call_that_writes_the_query(
    settings: Settings, scripted: ScriptedModel, dish: str
) -> None:
    app = app_of(settings, build_agents(scripted, priors=model_priors("large"), lead="model"))
    minutes = f"SELECT d.cooking_time FROM {dish} d JOIN entity e ON e.id = d.id WHERE e.label = 'pilaf'"
    slow = f"SELECT EXISTS(SELECT 1 FROM {dish} WHERE cooking_time > 30)"
    asked = "Wie lange steht das Pilaf auf dem Herd?"
    own = step(minutes, wants="number", meaning="die Kochzeit des Pilaf")
    scripted.replies = [{**own, "standalone": "How long is the pilaf on the stove?"}]
    answer = await ask(app, asked)
    assert (answer["standalone"], answer["standalone_own"]) == ("How long is the pilaf on the stove?", asked)
    assert (answer["answer"], answer["llm_calls"]) == ("Die Kochzeit des Pilaf: 25 min [1].", 1)
    shown = str(scripted.asked[0][-1].content)
    assert shown.endswith(f"Question: {asked}")
    assert "in English" in shown
    scripted.replies = [{**step(slow, wants="yes_no", meaning="whether a dish takes long"), "standalone": ""}]
    answer = await ask(app, "Steht etwas davon mehr als 30 Minuten auf dem Herd?")
    assert (answer["answer"], answer["llm_calls"]) == ("Ja, das trifft zu [1].", 1)


async def test_a_large_model_reads_dutch_in_the_call_that_writes_the_query(
    settings: Settings, scripted: ScriptedModel, dish: str
) -> None:
    app = app_of(settings, build_agents(scripted, priors=model_priors("large")))
    minutes = f"SELECT d.cooking_time FROM {dish} d JOIN entity e ON e.id = d.id WHERE e.label IN ('dal', 'pilaf')"
    asked, english = "Hoe lang staan de pilaf en de dal op het vuur?", "How long are the pilaf and the dal on the fire?"
    scripted.replies = [
        {**step(minutes, wants="number", meaning="de kooktijd van de pilaf en de dal"), "standalone": english}
    ]
    answer = await ask(app, asked)
    assert (answer["standalone"], answer["standalone_own"], answer["language"]) == (english, asked, "nl")
    assert (answer["answer"], answer["llm_calls"]) == ("De kooktijd van de pilaf en de dal: 35 min en 25 min [1].", 1)
    assert "in English" in str(scripted.asked[0][-1].content)
    assert (answer["options"], answer["caveats"]) == ([], [])
    exists = f"SELECT EXISTS(SELECT 1 FROM {dish} WHERE cooking_time > 30)"
    scripted.replies = [
        {**step(exists, wants="yes_no", meaning="of het lang duurt"), "standalone": "Does it take long?"}
    ]
    answer = await ask(app, "Staat er een van de gerechten lang op het vuur?")
    assert (answer["answer"], answer["llm_calls"]) == ("Ja [1].", 1)
    scripted.replies = [OSError("down")]
    answer = await ask(app, "Hoe lang staat de pilaf op het vuur?")
    assert answer["status"] == "partial"
    assert answer["answer"].startswith("I am not sure what you ask; this is what the graph says of pilaf")
    assert answer["by"]["sql"].startswith("rules after model")


@pytest.mark.parametrize(
    "said", ["Das Pilaf kocht 52 min [1].", "Das Goulash kocht 25 min [1].", "菜需要很长时间 [1]."]
)
async def test_another_language_is_no_way_around_the_gate(
    settings: Settings, scripted: ScriptedModel, said: str
) -> None:
    asked = "Wie lange kocht das Pilaf und was ist es?"
    app = app_of(settings, build_agents(scripted, priors=model_priors("small")))
    scripted.replies = [{"question": asked, "english": SURE}, said]
    answer = await ask(app, asked)
    assert answer["values"] == [25]
    assert "25 min" in answer["answer"]
    assert said[:12] not in answer["answer"]


async def test_the_rules_say_that_they_read_english(app: App) -> None:
    answer = await ask(app, "¿Cuánto tiempo cuece el pilaf y qué es?", context={"mind": "rules"})
    assert "This seems to be Spanish; without a model I read English, German and French only." in answer["caveats"]


async def test_a_conversation_adds_up_what_it_cost(app: App, scripted: ScriptedModel, dish: str) -> None:
    for question in (UNCLEAR, "Which one hums at night?"):
        scripted.replies = [step(TABLE.format(dish=dish))]
        answer = await ask(app, question, thread="t")
    assert (answer["llm_calls"], answer["conversation"]["llm_calls"]) == (1, 2)
    assert answer["conversation"]["price"] is None
    other = await ask(app, SURE, thread="t2", context={"mind": "rules"})
    assert other["conversation"] == {
        "llm_calls": 0,
        "input_tokens": 0,
        "cached_tokens": 0,
        "output_tokens": 0,
        "price": 0.0,
    }


async def test_stepwise_asks_the_selector_before_each_step(app: App, scripted: ScriptedModel) -> None:
    scripted.replies = [
        {"place": "lexical", "search": "pilaf", "enough": False},
        {"place": "sql", "search": "", "enough": False},
        step(missing="nothing that the rules would not know"),
        {"place": "", "search": "", "enough": True},
    ]
    answer = await ask(app, SURE, context={"strategy": "stepwise"})
    assert (answer["visited"], answer["values"]) == (["lexical", "sql"], [25])
    assert (answer["strategy"], answer["by"]["tool_selector"], answer["llm_calls"]) == ("stepwise", "model", 4)


async def test_a_turn_ends_within_its_time_whatever_a_model_does(settings: Settings, scripted: ScriptedModel) -> None:
    hasty = settings.model_copy(update={"turn_seconds": 0.3})
    composition = compose(hasty)
    agents_by_reasoner = {**composition.agents, "model": build_agents(scripted, Limits(seconds=60))}
    app = build_graph(Resources(composition.library, agents_by_reasoner, hasty))
    scripted.replies = [Slow("late", 60)] * 3
    answer = await ask(app, UNCLEAR)
    assert answer["status"] in ("not_in_graph", "answered")
    assert answer["seconds"] < 30
    assert len(scripted.asked) == 1


async def test_the_mind_is_chosen_for_each_turn(app: App, scripted: ScriptedModel) -> None:
    answer = await ask(app, "What is the cooking time of the pilaf?", context={"mind": "rules"})
    assert answer["llm_calls"] == 0
    assert scripted.asked == []


async def test_a_dead_model_gives_an_answer_by_rules_that_says_so(app: App, scripted: ScriptedModel) -> None:
    scripted.replies = [ConnectionError("nobody listens")] * 3
    answer = await ask(app, DESCRIBE)
    assert answer["answer"]
    assert answer["by"]["fuser"] == "rules after model: ConnectionError: the model's server can't be reached"
    assert answer["status"] == "answered"


async def test_a_model_that_breaks_off_leaves_the_rest_to_the_rules(app: App, scripted: ScriptedModel) -> None:
    scripted.replies = [step(wants="prose"), Cut("The pilaf is a dish [1]. It takes 2", ConnectionError("reset"))]
    answer = await ask(app, DESCRIBE)
    assert "It takes 2 " not in answer["answer"]
    assert len(answer["answer"]) > 40
    assert answer["by"]["fuser"] == "rules after model: ConnectionError: the model's server can't be reached"


async def test_a_hanging_model_is_left_behind(app: App, scripted: ScriptedModel) -> None:
    scripted.replies = [step(wants="prose"), Slow("late", 60)]
    answer = await ask(app, DESCRIBE)
    assert answer["answer"]
    assert answer["by"]["fuser"] == "rules after model: no end within 1 s"


@pytest.mark.parametrize(
    "written", ["DROP TABLE entity", "SELECT * FROM sqlite_master", "SELECT * FROM meals", "hello there"]
)
async def test_a_bad_query_is_sent_back_and_never_runs(
    app: App, scripted: ScriptedModel, dish: str, written: str
) -> None:
    scripted.replies = [step(written), step(TABLE.format(dish=dish))]
    answer = await ask(app, UNCLEAR)
    assert answer["values"] == ["dal"]
    tried = [query for query in answer["queries"] if query["tool"] == "sql"]
    assert [bool(query["error"]) for query in tried] == [True, False]
    assert tried[0]["error"] is not None
    assert tried[0]["error"]["message"] in str(scripted.asked[1][-1].content)


async def test_prompts_begin_alike_for_every_question(app: App, scripted: ScriptedModel, dish: str) -> None:
    for question in (UNCLEAR, "Which one hums at night?"):
        scripted.replies = [step(TABLE.format(dish=dish), wants="prose"), "That dish is dal [1]."]
        await ask(app, question)
    heads = [messages[0].content for messages in scripted.asked]
    assert heads[:2] == heads[2:]
    assert f"CREATE TABLE {dish}" in str(heads[0])
    assert all(str(messages[-1].content).endswith(f"Question: {UNCLEAR}") for messages in scripted.asked[:2])


async def test_a_second_turn_is_worded_with_the_first_in_view(settings: Settings, scripted: ScriptedModel) -> None:
    async def unsure(view: TurnView, database: Database) -> Result[Rewrite]:
        return Result(Rewrite(view.question, sure=False))

    composition = compose(settings)
    model_agents = replace(composition.agents["rules"], rewriter=model_rewriter.by_model(scripted, unsure, Limits()))
    app = build_graph(Resources(composition.library, {"rules": model_agents}, settings), InMemorySaver())
    scripted.replies = [{"question": "What is the cooking time of the dal?"}]
    await ask(app, "What is the cooking time of the pilaf?", thread="t")
    second = await ask(app, "And what is it for the dal?", thread="t")
    assert (second["standalone"], second["values"]) == ("What is the cooking time of the dal?", [35])
    assert "What is the cooking time of the pilaf?" in str(scripted.asked[0][-1].content)
    assert second["by"]["rewriter"] == "model"


@pytest.mark.parametrize("size", ["small", "large"])
async def test_what_is_read_ahead_is_what_prompts_begin_with(
    settings: Settings, scripted: ScriptedModel, kitchen: Path, dish: str, size: Size
) -> None:
    written = TABLE.format(dish=dish)
    scripted.replies = ["a", "a", {"sql": written}] if size == "small" else ["a", step(written)]
    with Library(kitchen, None).open("kitchen") as graph:
        await prefill_prompts(scripted, graph.schema, partial(schema_sql, graph.tables), Limits(seconds=1), size)
    app = app_of(settings, build_agents(scripted, Limits(seconds=1), priors=model_priors(size)))
    assert (await ask(app, UNCLEAR))["values"] == ["dal"]
    read, *_, wrote = (messages[0].content for messages in scripted.asked)
    assert read == wrote
    assert all(str(messages[-1].content).removeprefix("Question:").strip() for messages in scripted.asked)


async def test_a_model_that_is_down_is_no_reason_not_to_start(
    scripted: ScriptedModel, kitchen: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Library(kitchen, None).open("kitchen") as graph:
        await prefill_prompts(scripted, graph.schema, partial(schema_sql, graph.tables), Limits(seconds=1), "large")
    assert "could not be prefilled" in caplog.text
    assert len(scripted.asked) == 1


MINUTES = "(SELECT cooking_time FROM {dish} WHERE id = (SELECT id FROM entity WHERE label = '{name}'))"


@pytest.mark.parametrize(
    ("query", "values", "unit"),
    [("SELECT {dal} - {pilaf} AS difference", [10], "min"), ("SELECT {dal} / {pilaf} AS ratio", [1.4], None)],
)
async def test_a_difference_keeps_its_unit_and_a_ratio_has_none(
    app: App, scripted: ScriptedModel, dish: str, query: str, values: list[Any], unit: str | None
) -> None:
    minutes = {name: MINUTES.format(dish=dish, name=name) for name in ("dal", "pilaf")}
    scripted.replies = [step(query.format(**minutes), wants="number", meaning="how much longer the dal cooks")] * 2
    answer = await ask(app, UNCLEAR)
    assert (answer["values"], answer["unit"]) == (values, unit)
