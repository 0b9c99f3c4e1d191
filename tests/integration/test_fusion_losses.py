"""Counting what fusion lost: answers over a small graph that are falsified, and the candidates behind them."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from agents.agents import build_agents
from agents.model_calls import Limits
from evaluation.fusion_losses import find_fusion_losses, main
from graph.builder import build_graph, compose
from graph.context import Resources
from graph.stream import stream_turn
from nacre.config.settings import Settings
from nacre.records.answer import Answer
from nacre.stores.catalog import Library
from tests.support.scripted_model import ScriptedModel, step

ASKED = "What is the cooking time of the pilaf?"
UNCLEAR = "Which of them simmers on and on?"


def answered(settings: Settings, question: str, *queries: str) -> Answer:
    """The record of one question, by a model that writes these queries."""
    composition = compose(settings)
    model_agents = build_agents(
        ScriptedModel(replies=[step(each) for each in queries]), Limits(seconds=5), lead="model"
    )
    agents_by_reasoner = {**composition.agents, "model": model_agents} if queries else composition.agents

    async def run() -> Any:
        app = build_graph(Resources(composition.library, agents_by_reasoner, settings), InMemorySaver())
        return [event async for event in stream_turn(app, question)][-1][1]

    record: Answer = asyncio.run(run())
    return record


def wrong(record: Answer, *values: Any) -> Answer:
    told = record.copy()
    told["values"] = list(values)
    return told


@pytest.mark.parametrize(("gold", "count"), [([25], 1), ([35], 0)])
def test_a_reading_that_was_right_is_lost(settings: Settings, gold: list[int], count: int) -> None:
    record = answered(settings, ASKED)
    library = Library(settings.data, None)
    questions: list[Any] = [{"id": 1, "question": ASKED, "answers": gold}]
    assert record["values"] == [25]
    assert find_fusion_losses(questions, {1: record}, library)[:2] == (1, count)
    asked, right, found = find_fusion_losses(questions, {1: wrong(record, "rice")}, library)
    assert (asked, right, [each.right.by for each in found]) == (1, 0, ["rules"] * count)


def test_a_query_of_the_model_that_was_right_is_lost(settings: Settings) -> None:
    with Library(settings.data, None).open("kitchen") as graph:
        dish = next(group.relation for group in graph.schema.groups if group.label == "dish")
    query = f"SELECT e.label FROM {dish} d JOIN entity e ON e.id = d.id WHERE e.label = 'dal'"
    record = answered(settings, UNCLEAR, query)
    questions: list[Any] = [{"id": 1, "question": UNCLEAR, "answers": ["dal"]}]
    assert find_fusion_losses(questions, {1: record}, Library(settings.data, None))[2] == []
    [found] = find_fusion_losses(questions, {1: wrong(record)}, Library(settings.data, None))[2]
    assert (found.right.by, found.right.values) == ("model", ("dal",))


def test_what_only_words_can_answer_is_left_out(settings: Settings) -> None:
    questions: list[Any] = [{"id": 1, "question": "Tell me about dal.", "answers": [], "nuggets": [["dal"]]}]
    assert (
        find_fusion_losses(questions, {1: answered(settings, "Tell me about dal.")}, Library(settings.data, None))[0]
        == 0
    )


def test_the_command_adds_up_files(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NACRE_DATA", str(settings.data))
    record = answered(settings, ASKED)
    pairs = []
    for name, values in (("kept", [25]), ("lost", [99])):
        (tmp_path / f"{name}.questions").write_text(json.dumps({"id": name, "question": ASKED, "answers": [25]}))
        (tmp_path / name).write_text(json.dumps({**wrong(record, *values), "id": name}))
        pairs.append(f"{tmp_path / name}.questions={tmp_path / name}")
    main(*pairs)
    total, line = capsys.readouterr().out.splitlines()
    assert total == "asked 2, right 1, lost 1 (50.0%): 1 answered otherwise, 0 without values"
    assert line.startswith("lost (answered, ")
