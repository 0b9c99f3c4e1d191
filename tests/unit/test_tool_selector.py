from dataclasses import replace
from typing import Any

import pytest

from agents import tool_selector
from agents.agents import build_agents
from agents.model_calls import Limits
from agents.tool_selector import Choice
from agents.turn_view import Result, TurnView, first_turn
from nacre.extensions.model_agents import team as model_tool_selector
from nacre.records.evidence import BranchResult, EvidenceSentence, Query
from tests.support.scripted_model import ScriptedModel

LIMITS = Limits(seconds=2, retries=1)
BOTH = ("sql", "lexical")
FIRST = replace(first_turn("What simmers?"), enabled=BOTH)
DISHES = Query("sql", 1, "SELECT 1", words="dishes")
SIMMERS = EvidenceSentence("lexical", 1, text="Dal simmers.", title="dal")
UNSURE = replace(
    FIRST,
    round=2,
    visited=BOTH,
    wanted=BOTH,
    found=(BranchResult("sql", queries=(DISHES,)), BranchResult("lexical", (SIMMERS,))),
)
STEP = replace(UNSURE, strategy="stepwise")


async def chosen(scripted: ScriptedModel, view: TurnView) -> Result[Choice]:
    return await model_tool_selector.by_model(scripted, tool_selector.by_rules, LIMITS)(view)


async def test_the_first_round_takes_all_and_later_ones_what_is_wanted() -> None:
    team = build_agents(ScriptedModel())
    for selector in (tool_selector.by_rules, team.tool_selector):
        first = await selector(FIRST)
        later = await selector(replace(FIRST, round=2, visited=BOTH, wanted=("sql",)))
        assert (first.value, later.value) == (Choice(BOTH), Choice(("sql",)))


@pytest.mark.parametrize("view", [replace(UNSURE, found=()), replace(UNSURE, wanted=("sql",))])
async def test_where_there_is_nothing_to_weigh_no_model_is_asked(scripted: ScriptedModel, view: TurnView) -> None:
    assert await chosen(scripted, view) == Result(Choice(view.wanted))


async def test_where_it_is_unsure_a_model_chooses_with_what_was_found_in_view(scripted: ScriptedModel) -> None:
    scripted.replies = [{"place": "lexical", "search": "dishes that  simmer", "enough": False}]
    result = await chosen(scripted, UNSURE)
    assert (result.value, result.by) == (Choice(("lexical",), "dishes that simmer"), "model")
    shown = str(scripted.asked[0][-1].content)
    assert "sql: dishes: 0 rows" in shown
    assert "lexical: Dal simmers." in shown
    assert shown.endswith("Question: What simmers?")


async def test_a_model_may_say_that_it_is_enough(scripted: ScriptedModel) -> None:
    scripted.replies = [{"place": "", "search": "", "enough": True}]
    assert (await chosen(scripted, UNSURE)).value == Choice(())


async def test_enough_before_anything_was_found_is_no_end(scripted: ScriptedModel) -> None:
    scripted.replies = [{"place": "", "search": "", "enough": True}]
    assert (await chosen(scripted, replace(FIRST, strategy="stepwise"))).value == Choice(BOTH)


async def test_a_place_that_does_not_exist_goes_back(scripted: ScriptedModel) -> None:
    scripted.replies = [
        {"place": "web_search", "search": "dal", "enough": False},
        {"place": "sql", "search": "dal", "enough": False},
    ]
    assert (await chosen(scripted, STEP)).value.branches == ("sql",)
    assert "There is no place 'web_search'. There are: sql, lexical." in str(scripted.asked[1][-1].content)


@pytest.mark.parametrize(
    "replies", [[{"place": "web", "search": "", "enough": False}] * 2, ["sql", "{}"], [ConnectionError("refused")]]
)
async def test_a_model_that_names_no_place_leaves_it_to_the_rules(scripted: ScriptedModel, replies: list[Any]) -> None:
    scripted.replies = replies
    result = await chosen(scripted, UNSURE)
    assert result.value == Choice(BOTH)
    assert result.by.startswith("rules after model: ")


async def test_stepwise_asks_for_each_step(scripted: ScriptedModel) -> None:
    scripted.replies = [{"place": "lexical", "search": "dal", "enough": False}]
    assert (await chosen(scripted, replace(FIRST, strategy="stepwise"))).value == Choice(("lexical",), "dal")
