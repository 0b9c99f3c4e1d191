"""The prompts of a question over a wide graph: bounded together, with what the question needs and without the rest."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from agents.agents import build_agents
from agents.model_calls import CHARACTERS_PER_TOKEN
from agents.model_priors import model_limits, model_priors
from graph.builder import build_graph, compose
from graph.context import Resources
from graph.stream import stream_turn
from ingestion.pipeline import ingest
from nacre.config.settings import Settings
from nacre.extensions.model_agents.write_queries import Step
from tests.support.scripted_model import ScriptedModel, step

# tokens of all prompts of a question (docs/models.md)
MOST_TOKENS = 8000

LANGUAGES = ("bg", "cs", "da", "de", "et", "fi", "fr", "hu", "it", "lt", "nl", "pl", "pt", "ro", "sv")

QUESTION = "Which valve did the engineer Ada Quill approve last?"


def wide_turtle() -> str:
    """Valves with 150 properties, names in 15 languages and 40 categories; engineers with 40 lists; approvals between
    both, whose details are in nodes of statements."""
    lines = ["@prefix : <http://example.org/wide/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."]
    for n in range(40):
        names = " , ".join(f'"V{n} {code}"@{code}' for code in LANGUAGES)
        facts = " ; ".join(f":measure{k}ofTheWorkshop {k * n}" for k in range(150))
        lines.append(f':valve{n} a :Valve , :Category{n} ; rdfs:label "Valve {n}"@en , {names} ; {facts} .')
        lines.append(f':Category{n} rdfs:subClassOf :Valve ; rdfs:comment "{"A category of valves for works. " * 6}" .')
        lines.append(
            f':serial{n} a :Approval ; :approvedBy :e{n % 4} ; :approved :valve{n} ; :approvedOn "20{n:02}-01-01" .'
        )
    for n in range(4):
        name = "Ada Quill" if not n else f"Engineer {n}"
        lists = " ; ".join(f":list{k} :valve{(n + k) % 40} , :valve{(n + k + 1) % 40}" for k in range(40))
        lines.append(f':e{n} a :Engineer ; rdfs:label "{name}" ; {lists} .')
    return "\n".join(lines)


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    folder: Path = tmp_path_factory.mktemp("wide")
    (folder / "wide.ttl").write_text(wide_turtle(), "utf-8")
    ingest([str(folder / "wide.ttl")], "wide", data=folder / "data")
    return Settings(data=folder / "data", embedder="none", model="openai:any-70b", _env_file=None)


async def ask(settings: Settings, replies: Sequence[dict[str, object]]) -> list[str]:
    """The prompts of the question, if a model gives these replies."""
    model = ScriptedModel(replies=[*replies])
    composition = compose(settings.model_copy(update={"model": None}))
    agents = build_agents(model, model_limits(settings), priors=model_priors("large"), lead="model")
    app = build_graph(
        Resources(composition.library, {**composition.agents, "model": agents}, settings), InMemorySaver()
    )
    async for _ in stream_turn(app, QUESTION, context={"mind": "model", "branches": ["sql"]}):
        pass
    return ["\n".join(str(each.content) for each in messages) for messages in model.asked]


def look(kind: str, table: str) -> dict[str, str]:
    return {"kind": kind, "table": table, "column": "", "text": ""}


@pytest.mark.parametrize("rounds", [0, 1, 2])
async def test_the_prompts_of_a_question_are_bounded_together(wide: Settings, rounds: int) -> None:
    everything = [
        look("columns", "valve"),
        look("rows", "valve"),
        look("columns", "engineer"),
        look("rows", "engineer"),
    ]
    query = (
        "SELECT v.label FROM valve v JOIN approval a ON a.approved_id = v.id JOIN entity e ON e.id = a.approved_by_id "
        "WHERE e.label = 'Ada Quill' ORDER BY a.approved_on DESC LIMIT 1"
    )
    prompts = await ask(wide, [*[step(look_ups=everything)] * rounds, step(query), {"right": "A"}])
    shape = len(json.dumps(Step.model_json_schema()))
    tokens = [(len(each) + shape * ("CREATE TABLE" in each)) // CHARACTERS_PER_TOKEN for each in prompts]
    assert sum(tokens) <= MOST_TOKENS, tokens


async def test_a_prompt_has_the_links_and_no_categories_or_translations(wide: Settings) -> None:
    prompt, *_ = await ask(wide, [step("SELECT 1")] * 3)
    assert "CREATE TABLE approval (" in prompt
    assert "approved_by_id INTEGER REFERENCES engineer(id)" in prompt
    assert prompt.count("measure0of_the_workshop INTEGER") <= 1
    assert "finnish_name TEXT" not in prompt
