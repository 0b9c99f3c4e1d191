"""A waterfall visits layers from the top and ends at the first that is sure."""

from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.team import build_agents
from agents.tool_selector import LAYERS, by_rules
from agents.turn_view import TurnView, asked
from graph.check import SETTLED, is_answered, wanted
from nacre.records.evidence import Found, Rows, Sentence, Table
from nacre.records.turn import Expected, Understanding
from tests.scripted_model import ScriptedModel

# rows of a reading by SPARQL and by SQL are one piece of evidence, so one of the two stands for their layer
BRANCHES = tuple(branch for layer in LAYERS for branch in layer if branch != "sparql")
ROWS = Rows("sql", 1, Table(("dish",), (("onion",),)), probability=0.9)
WATERFALL = replace(asked("What is in it?", Understanding("What is in it?")), strategy="waterfall")


def layer_of(branch: str) -> int:
    return next(place for place, layer in enumerate(LAYERS) if branch in layer)


@given(
    st.lists(st.sampled_from(BRANCHES), min_size=1, unique=True),
    st.dictionaries(st.sampled_from(BRANCHES), st.floats(0, 1)),
    st.sampled_from(get_args(Expected)),
)
async def test_visited_layers_end_at_the_first_sure_one(
    enabled: list[str], chances: dict[str, float], expected: Expected
) -> None:
    view = replace(WATERFALL, enabled=tuple(enabled), understanding=Understanding("What?", expected=expected))
    while True:
        choice = await by_rules(view)
        if not choice.value.branches:
            break
        rows = (
            Found(branch, (replace(ROWS, branch=branch, probability=chances[branch]),) if branch in chances else ())
            for branch in choice.value.branches
        )
        view = replace(view, visited=(*view.visited, *choice.value.branches), found=(*view.found, *rows))
        view = replace(view, round=view.round + 1, wanted=wanted(view, by_model=False))
    layers = [layer_of(branch) for branch in view.visited]
    assert layers == sorted(layers)
    below = {layer_of(branch) for branch in enabled} - set(layers)
    sure = [layer for branch, layer in zip(view.visited, layers, strict=True) if _settles(branch, chances, expected)]
    # what is not visited lies below the first layer that was sure, and nothing sure was passed over
    assert (not below) or (sure and min(below) > min(sure) == max(layers))


def _settles(branch: str, chances: dict[str, float], expected: Expected) -> bool:
    if branch not in chances:
        return False
    return branch in LAYERS[0] if expected == "prose" else chances[branch] >= SETTLED


def view_with(rows: Rows, understanding: Understanding) -> TurnView:
    return replace(WATERFALL, understanding=understanding, found=(Found(rows.branch, (rows,)),))


@pytest.mark.parametrize(("told", "answered"), [(True, False), (False, True)])
def test_a_word_left_out_keeps_it_going_where_a_text_may_know(told: bool, answered: bool) -> None:
    view = view_with(ROWS, Understanding("What?", unknown=(("winter", ""),)))
    assert is_answered(view, lambda words: list(words) == ["winter"] and told) is answered


def test_a_sentence_alone_is_not_sure() -> None:
    view = replace(WATERFALL, found=(Found("triples", (Sentence("triples", 1, "It holds onions."),)),))
    assert not is_answered(view, lambda words: False)


async def test_no_model_is_asked_where_to_look() -> None:
    model = ScriptedModel()
    chosen = await build_agents(model).tool_selector(replace(WATERFALL, enabled=BRANCHES))
    assert (chosen.value.branches, chosen.by, model.asked) == (("sql",), "rules", [])
