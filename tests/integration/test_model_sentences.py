"""Whole turns in which a model's query answers: a sentence in the words of the question, and no raw column name."""

from pathlib import Path

import pytest

from agents.agents import build_agents
from agents.model_calls import Limits
from agents.model_priors import model_priors
from graph.builder import App, build_graph, compose
from graph.context import Resources
from graph.stream import stream_turn
from ingestion.pipeline import ingest
from nacre.config.settings import Settings
from nacre.records.answer import Answer
from tests.support.scripted_model import ScriptedModel, step

LOOMS = """
@prefix : <http://example.org/mill/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:ada a :Loom ; rdfs:label "Ada" ; :clothWidth "900 mm" ; :threadCount "40 - 60 mm" ; :madeBy :kay .
:bo a :Loom ; rdfs:label "Bo" ; :clothWidth "700 mm" ; :threadCount "30 - 50 mm" ; :madeBy :kay .
:kay a :Maker ; rdfs:label "Kay and Sons" .
"""


@pytest.fixture(scope="module")
def mill(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mill")
    (folder / "mill.ttl").write_text(LOOMS, "utf-8")
    ingest([str(folder / "mill.ttl")], "mill", data=folder)
    return folder


@pytest.fixture
def app(mill: Path, scripted: ScriptedModel) -> App:
    settings = Settings(data=mill, embedder="none", _env_file=None)
    agents = build_agents(scripted, Limits(seconds=5), priors=model_priors("large"), lead="model")
    composition = compose(settings)
    return build_graph(Resources(composition.library, {**composition.agents, "model": agents}, settings))


async def ask(app: App, question: str) -> Answer:
    answer: Answer = [event async for event in stream_turn(app, question)][-1][1]
    return answer


@pytest.mark.parametrize(
    ("query", "wants", "meaning", "text", "values"),
    [
        (
            "SELECT thread_count_low, thread_count_high FROM loom WHERE label = 'Ada'",
            "number",
            "the spacing of Ada's threads",
            "The spacing of Ada's threads is 40 to 60 mm [1].",
            [40, 60],
        ),
        ("SELECT count(DISTINCT l.id) FROM loom l", "number", "", "The number of looms is 2 [1].", [2]),
        ("SELECT avg(cloth_width) FROM loom", "number", "", "The average cloth width is 800 mm [1].", [800]),
        (
            'SELECT a.w > b.w, a.w AS "width of Ada", b.w AS "width of Bo" FROM (SELECT cloth_width w FROM loom '
            "WHERE label = 'Ada') a, (SELECT cloth_width w FROM loom WHERE label = 'Bo') b",
            "yes_no",
            "whether Bo is wider than Ada",
            "Yes, Bo is wider than Ada: the width of Ada is 900 mm and the width of Bo is 700 mm [1].",
            [True],
        ),
        # a name that neither the question nor the query nor its rows have is not said
        (
            "SELECT cloth_width FROM loom WHERE label = 'Ada'",
            "number",
            "the width of the Jacquard",
            "The cloth width is 900 mm [1].",
            [900],
        ),
    ],
)
async def test_rows_of_a_model_are_a_sentence(
    app: App, scripted: ScriptedModel, query: str, wants: str, meaning: str, text: str, values: list[object]
) -> None:
    scripted.replies = [step(query, wants=wants, meaning=meaning)]
    answer = await ask(app, "Tell the figure asked for, please, Ada or Bo?")
    assert (answer["answer"].partition(" Or did")[0], answer["values"]) == (text, values)


async def test_columns_of_a_table_have_the_words_of_the_graph(app: App, scripted: ScriptedModel) -> None:
    query = "SELECT l.label, m.label, l.cloth_width AS w_mm FROM loom l JOIN maker m ON m.id = l.made_by_id"
    scripted.replies = [step(query, wants="table", meaning="the looms with their makers and widths")]
    answer = await ask(app, "Which looms are whose, and how wide?")
    assert answer["table"] is not None
    assert answer["table"]["columns"] == ["loom", "maker", "w mm (mm)"]


async def test_what_a_losing_reading_gives_is_not_in_the_text(app: App, scripted: ScriptedModel) -> None:
    scripted.replies = [step("SELECT 3", wants="number", meaning="the width of Ada"), {"right": "neither"}]
    answer = await ask(app, "What is the cloth width of Ada?")
    assert "otherwise" not in answer["answer"]
    assert not any("otherwise" in caveat for caveat in answer["caveats"])
