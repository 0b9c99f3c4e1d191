"""A waterfall visits layers from the top and ends at the first that is sure."""

from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.agents import build_agents
from agents.tool_selector import LAYERS, by_rules
from agents.turn_view import TurnView, first_turn
from graph.nodes import SETTLED, lower_layers
from nacre.records.evidence import BranchResult, Evidence, EvidenceSentence, Rows, Table
from nacre.records.turn import ExpectedKind, Understanding
from nacre.understanding.ranking.rank import load_weights
from tests.support.scripted_model import ScriptedModel

# rows of a reading by SPARQL and by SQL are one piece of evidence, so one of the two stands for their layer
BRANCHES = tuple(branch for layer in LAYERS for branch in layer if branch != "sparql")
ROWS = Rows("sql", 1, Table(("dish",), (("onion",),)), probability=0.9)
WATERFALL = replace(first_turn("What is in it?", Understanding("What is in it?")), strategy="waterfall")


@given(
    st.lists(st.sampled_from(BRANCHES), min_size=1, unique=True),
    st.dictionaries(st.sampled_from(BRANCHES), st.floats(0, 1)),
    st.sampled_from(get_args(ExpectedKind)),
)
async def test_visited_layers_end_at_the_first_sure_one(
    enabled: list[str], chances: dict[str, float], expected: ExpectedKind
) -> None:
    view = replace(WATERFALL, enabled=tuple(enabled), understanding=Understanding("What?", expected=expected))
    while (choice := await by_rules(view)).value.branches:
        rows = (
            BranchResult(
                branch, (replace(ROWS, branch=branch, probability=chances[branch]),) if branch in chances else ()
            )
            for branch in choice.value.branches
        )
        view = replace(view, visited=(*view.visited, *choice.value.branches), found=(*view.found, *rows))
        view = replace(view, round=view.round + 1, wanted=lower_layers(view, lambda words: True))
    there = [[branch for branch in layer if branch in enabled] for layer in LAYERS]
    there = [layer for layer in there if layer]
    ends = [n for n in range(1, len(there)) if is_sure(there[:n], there[n:], chances, expected)]
    assert list(view.visited) == [branch for layer in there[: min(ends, default=len(there))] for branch in layer]


def is_sure(above: list[list[str]], left: list[list[str]], chances: dict[str, float], expected: ExpectedKind) -> bool:
    """Whether what the layers above found is enough, as the documentation says it."""
    visited = [branch for layer in above for branch in layer if branch in chances]
    if expected == "prose":
        return "sql" in visited
    bar = load_weights().threshold if ["triples"] in left else SETTLED
    return max((chances[branch] for branch in visited), default=0) >= bar


def view_with(understanding: Understanding, enabled: tuple[str, ...], *evidence: Evidence) -> TurnView:
    return replace(
        WATERFALL,
        understanding=understanding,
        enabled=enabled,
        visited=("sql",),
        found=(BranchResult("sql", evidence),),
    )


@pytest.mark.parametrize(("told", "left"), [(True, ("lexical",)), (False, ())])
def test_a_word_left_out_keeps_it_going_where_a_text_may_know(told: bool, left: tuple[str, ...]) -> None:
    view = view_with(Understanding("What?", unknown=(("winter", ""),)), ("sql", "lexical"), ROWS)
    assert lower_layers(view, lambda words: list(words) == ["winter"] and told) == left


def test_triples_may_know_a_word_that_is_left_out() -> None:
    view = view_with(Understanding("What?", unknown=(("winter", ""),)), ("sql", "triples"), ROWS)
    assert lower_layers(view, lambda words: False) == ("triples",)


def test_a_sentence_alone_is_not_sure() -> None:
    view = view_with(Understanding("What?"), ("sql", "lexical"), EvidenceSentence("sql", 1, "It holds onions."))
    assert lower_layers(view, lambda words: False) == ("lexical",)


async def test_no_model_is_asked_where_to_look() -> None:
    model = ScriptedModel()
    chosen = await build_agents(model).tool_selector(replace(WATERFALL, enabled=BRANCHES))
    assert (chosen.value.branches, chosen.by, model.asked) == (("sql",), "rules", [])
