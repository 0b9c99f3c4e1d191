"""How an answer came about, in its record: triples, matches, readings, checks; by rules and by a model."""

from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from agents.agents import build_agents
from agents.model_calls import Limits
from agents.model_priors import model_priors
from graph.builder import build_graph, compose
from graph.context import Resources
from graph.stream import stream_turn
from nacre.config.embedder import local_embedder
from nacre.config.settings import Settings
from nacre.extensions.endpoints.attach import attach_endpoint
from nacre.extensions.foreign_queries.model_triple_patterns import sparql_triple_patterns, sql_triple_patterns
from nacre.plans.triple_patterns import QuestionTriples, question_triples, validator_assertions
from nacre.records.answer import Answer, AnswerDerivation
from nacre.records.plan import Aggregate, Attribute, Edge, Filter, Itself, Order, Plan, Profile, Select, Variable
from nacre.stores.catalog import Graph, Library
from tests.support import sparql_server as servers
from tests.support.scripted_model import ScriptedModel, step
from tests.support.small_graphs import FIXTURES

HERE = "http://example.org/kitchen/"
RICE = "which dishes contain rice and take less than 40 minutes"


async def ask(data: Path, question: str, *, model: ScriptedModel | None = None, **more: Any) -> Answer:
    """The record of one question, or of the last of several by "|", in one thread."""
    context, chosen = {"graph": "kitchen", "branches": ["sql"]} | more.pop("context", {}), more
    settings = Settings(data=data, _env_file=None, **{"embedder": "none", **chosen})
    composition = compose(settings)
    agents_by_reasoner = composition.agents
    if model is not None:
        model_agents = build_agents(model, Limits(seconds=2), priors=model_priors("large"), lead="model")
        agents_by_reasoner, context = {**agents_by_reasoner, "model": model_agents}, context | {"mind": "model"}
    app = build_graph(Resources(composition.library, agents_by_reasoner, settings), InMemorySaver())
    for each in question.split("|"):
        events = [event async for event in stream_turn(app, each, thread="one", context=context)]
    composition.library.close()
    answer: Answer = events[-1][1]
    return answer


def said(derived: AnswerDerivation) -> set[tuple[str, ...]]:
    return set(map(tuple, derived["triples"]))


@pytest.mark.parametrize("branch", ["sql", "sparql"])
async def test_a_reading_is_shown_step_by_step(kitchen: Path, branch: str) -> None:
    record = await ask(kitchen, RICE, context={"branches": [branch]})
    derived = record["derivation"]
    assert {("?dish", "is a", "dish"), ("?dish", "contains", "rice")} < said(derived)
    assert ("?dish", "cooking time", "?cooking_time") in said(derived)
    assert (derived["language"], derived["depends"], derived["multi_turn"]) == (branch, False, True)
    assert [each["holds"] for each in derived["assertions"]] == [True] * 4
    rice = next(each for each in derived["matches"] if each["text"] == "rice")
    assert (rice["chosen"], rice["valid"]) == (f"{HERE}rice", True)
    assert rice["candidates"][0] == {"iri": f"{HERE}rice", "label": "rice", "score": 1.0, "similarity": None}
    planned = derived["planned"]
    assert planned["considered"] >= planned["kept"] >= len(planned["selected"]) >= 1
    best = planned["selected"][0]
    assert all(record["queries"][i]["words"] == best["words"] for i in best["queries"])
    assert {each["verdict"] for each in derived["checked"]} == {"passed"}
    assert derived["bounds"] == {"rounds": 3, "things": 0, "considered": 0, "run": 0, "remembered": 100}


@pytest.mark.skipif(local_embedder("auto") is None, reason="nothing embeds")
async def test_of_an_endpoint_relations_are_ranked_by_meaning_and_bounds_are_told(tmp_path: Path) -> None:
    with servers.endpoint(FIXTURES / "graphs" / "kitchen.ttl") as url:
        attach_endpoint(url, "away", data=tmp_path)
        chosen = {"endpoint_things": 50, "endpoint_candidates": 3, "endpoint_readings": 1, "max_rounds": 2}
        record = await ask(tmp_path, RICE, context={"graph": "away", "branches": ["sparql"]}, embedder="auto", **chosen)  # type: ignore[arg-type]
    derived = record["derivation"]
    assert derived["bounds"] == {"rounds": 2, "things": 50, "considered": 3, "run": 1, "remembered": 100}
    assert derived["planned"]["considered"] <= 3
    assert len(derived["planned"]["selected"]) == 1
    contain = next(each for each in derived["matches"] if each["text"] == "contain")
    assert contain["candidates"][0]["iri"] == contain["chosen"] == f"{HERE}contains"
    near = [each["similarity"] for each in contain["candidates"]]
    assert None not in near
    assert near[0] == max(near)  # type: ignore[type-var]


async def test_a_follow_up_is_classified_where_turns_are_several(kitchen: Path) -> None:
    asked = "how long does the dal cook?|and the pilaf?"
    multi = await ask(kitchen, asked)
    assert (multi["derivation"]["depends"], multi["values"]) == (True, [25])
    assert ("pilaf", "cooking time", "?cooking_time") in said(multi["derivation"])
    single = await ask(kitchen, asked, dialogue="single", remembered=7)
    assert (single["derivation"]["depends"], single["derivation"]["multi_turn"]) == (False, False)
    assert single["standalone"] == "and the pilaf?"
    assert single["derivation"]["bounds"]["remembered"] == 7


async def test_what_is_not_understood_fails_assertions(kitchen: Path) -> None:
    derived = (await ask(kitchen, "hoo ha?"))["derivation"]
    assert derived["triples"] == []
    assert [each["holds"] for each in derived["assertions"]] == [True, True, False, False]
    assert derived["planned"] == {"considered": 0, "kept": 0, "selected": []}


async def test_a_models_queries_are_shown_with_what_the_check_said(kitchen: Path, scripted: ScriptedModel) -> None:
    scripted.replies = [step("DELETE FROM dish"), step("SELECT label FROM dish WHERE cooking_time < 30")]
    derived = (await ask(kitchen, "Which of them simmers on and on?", model=scripted))["derivation"]
    assert said(derived) == {("?dish", "is a", "dish"), ("?dish", "label", "?label"),
                             ("?dish", "cooking time", "?cooking_time")}  # fmt: skip
    assert [each["verdict"] for each in derived["checked"]] == ["refused", "passed"]
    assert "SELECT" in derived["checked"][0]["why"]


async def test_things_of_a_models_sparql_are_such_as_the_graph_has(kitchen: Path, scripted: ScriptedModel) -> None:
    ghost, dal = f"<{HERE}ghost>", f"<{HERE}dal>"
    scripted.replies = [
        step(f"SELECT ?x {{ {{ {dal} <{HERE}contains> ?x }} UNION {{ {ghost} <{HERE}contains> ?x }} }}")
    ]
    asking = "Which of them simmers on and on?"
    derived = (await ask(kitchen, asking, model=scripted, context={"branches": ["sparql"]}))["derivation"]
    assert said(derived) == {("dal", "contains", "?x"), ("ghost", "contains", "?x")}
    assert derived["language"] == "sparql"
    named = {each["chosen"]: (each["text"], each["valid"]) for each in derived["matches"]}
    assert named[f"{HERE}dal"] == ("dal", True)
    assert named[f"{HERE}ghost"] == ("ghost", False)


@pytest.fixture(scope="module")
def graph(kitchen: Path) -> Any:
    library = Library(kitchen, None)
    with library.open("kitchen") as opened:
        yield opened
    library.close()


def test_triples_of_sql(graph: Graph) -> None:
    text = (
        "SELECT e.label FROM dish AS d JOIN dish_contains AS c ON c.dish_id = d.id "
        "JOIN entity AS e ON e.id = c.contains_id WHERE d.label = 'dal' AND cooking_time < 40"
    )
    junction = graph.schema.relation_of[graph.schema.junctions[f"{HERE}contains"]]
    text = text.replace("dish_contains", junction.name).replace("dish_id", junction.key)
    text = text.replace("contains_id", junction.columns[0].link)
    asked = sql_triple_patterns(text, graph.schema, truth=False)
    assert set(asked.triples) == {
        ("?d", "is a", "dish"), ("?d", "label", "dal"), ("?d", "contains", "?e"),
        ("?d", "cooking time", "?cooking_time"),
    }  # fmt: skip
    assert all(each["holds"] for each in validator_assertions(asked))
    assert not sql_triple_patterns("SELECT ((", graph.schema, truth=False).formed


def test_triples_of_sparql(graph: Graph) -> None:
    text = f"ASK {{ <{HERE}dal> a <{HERE}Dish> ; <{HERE}contains> ?x . ?x <{HERE}made> 'red' }}"
    asked = sparql_triple_patterns(text, graph.schema, lambda iri: iri.rpartition("/")[2])
    assert set(asked.triples) == {("dal", "is a", "dish"), ("dal", "contains", "?x"), ("?x", "made", "red")}
    # no relation of this graph is called so
    assert [each["holds"] for each in validator_assertions(asked)] == [True, False, True, True]
    assert not sparql_triple_patterns("SELECT {", graph.schema, str).formed


def test_a_plan_with_groups_orders_and_conditions(graph: Graph) -> None:
    things = Variable("dish", (f"{HERE}Dish",)), Variable("ingredient", keys=(f"{HERE}rice",), label="rice")
    time = Attribute("dish", f"{HERE}cookingTime")
    select = Select(
        (Itself("dish"), Aggregate("max", time)),
        things,
        (Edge("dish", f"{HERE}contains", "ingredient"),),
        (Filter(time, "=", (25.0, 35.0), negated=True), Filter(Itself("dish"), "in", Select((time,), things[:1]))),
        order=Order(time, descending=True),
    )
    asked = question_triples(Plan(select), graph.schema)
    assert set(asked.triples) == {
        ("?dish", "is a", "dish"), ("?dish", "contains", "rice"), ("?dish", "not cooking time", "25.0 or 35.0"),
        ("?dish", "cooking time", "?cooking_time"), ("?dish'", "is a", "dish"),
        ("?dish'", "cooking time", "?cooking_time'"),
    }  # fmt: skip
    assert all(each["holds"] for each in validator_assertions(asked))
    counted = question_triples(Plan(Select((Aggregate("count", Itself("ingredient")),), things[1:])), graph.schema)
    assert counted.triples == (("?count", "is the number of", "rice"),)
    told = question_triples(Plan(Profile(Select((Itself("ingredient"),), things[1:]), topic="taste")), graph.schema)
    assert told.triples == (("rice", "?property", "?value"),)
    assert all(each["holds"] for each in validator_assertions(told))
    unbound = question_triples(Plan(Select((Attribute("other", f"{HERE}cookingTime"),), things[:1])), graph.schema)
    assert [each["holds"] for each in validator_assertions(unbound)] == [False, False, True, True]


def test_a_question_that_names_nothing_and_asks_nothing() -> None:
    known = frozenset(("is a",))
    assert [
        each["holds"] for each in validator_assertions(QuestionTriples((("?a", "is a", "?b"),), False, known, True))
    ][2] is False
    assert [each["holds"] for each in validator_assertions(QuestionTriples((("a", "is a", "b"),), False, known, True))][
        3
    ] is False
    assert [
        each["holds"] for each in validator_assertions(QuestionTriples((("a", "is a", "b"),), True, known, True))
    ] == [True] * 4
