"""A question that can be meant in more ways than one: the likelier is answered, the others are offered by number."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from agents.agents import build_agents
from agents.model_calls import Limits
from agents.model_priors import model_priors
from agents.query_writer import QueryWriter, by_rules
from agents.turn_view import Database, Result, TurnView
from graph.builder import App, Composition, build_graph, compose
from graph.context import Resources
from graph.stream import stream_turn
from ingestion.pipeline import ingest
from nacre.config.settings import Settings
from nacre.extensions.model_agents.query_writer import by_model
from nacre.records.answer import Answer
from nacre.records.evidence import BranchResult, Rows
from tests.support.scripted_model import ScriptedModel

GRAPH = """
@prefix : <http://example.org/arts/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:lund a :Town ; rdfs:label "Lund" . :visby a :Town ; rdfs:label "Visby" .
:mira a :Painter ; rdfs:label "Mira Holt" ; :bornIn :lund ; :diedIn :visby .
:otto a :Painter ; rdfs:label "Otto Brand" ; :bornIn :visby ; :diedIn :lund .
:lena a :Painter ; rdfs:label "Lena Fox" ; :bornIn :lund ; :diedIn :lund .
:tide_book a :Book ; rdfs:label "Tide" ; :pages 311 ; :author :mira .
:reef a :Book ; rdfs:label "Reef" ; :pages 120 ; :author :mira .
:tide_film a :Film ; rdfs:label "Tide" ; :minutes 97 ; :released "1984"^^<http://www.w3.org/2001/XMLSchema#integer> .
:tide_book :released "1951"^^<http://www.w3.org/2001/XMLSchema#integer> .
:dusk a :Film ; rdfs:label "Dusk" ; :minutes 88 ; :released "1979"^^<http://www.w3.org/2001/XMLSchema#integer> .
"""


# two readings of which neither is surer, and none sure enough
EVEN = 0.5


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("arts")
    (folder / "arts.ttl").write_text(GRAPH, encoding="utf-8")
    ingest([str(folder / "arts.ttl")], "arts", data=folder / "data", no_vectors=True)
    return folder / "data"


def likely(*chances: float) -> QueryWriter:
    """The rules, where the first readings are this likely to be right, whatever was learned; the others and those that
    leave words out hardly are."""

    async def query_writer(view: TurnView, database: Database) -> Result[BranchResult]:
        found = (await by_rules(view, database)).value
        if any(each.probability == 1 for each in found.rows):
            # what the person chose
            return Result(found)
        by_place = sorted(found.rows, key=lambda each: each.reading or 0)
        return Result(replace(found, evidence=tuple(_with_chance(each, view, chances) for each in by_place)))

    return query_writer


def _with_chance(rows: Rows, view: TurnView, chances: Sequence[float]) -> Rows:
    place = rows.reading or 0
    whole = place < len(chances) and not view.understanding.readings[place].unused
    return replace(rows, probability=chances[place] if whole else 0.01)


def app_of(composition: Composition, mind: str, *chances: float) -> App:
    """The model has nothing to say, so that asking it would show."""
    rules = replace(composition.agents["rules"], query_writer=likely(*chances))
    agents_by_reasoner = {"rules": rules}
    if mind == "model":
        asked = ScriptedModel()
        by_both = by_model(asked, rules.query_writer, Limits(seconds=1), model_priors("large"), "rules")
        agents_by_reasoner["model"] = replace(build_agents(asked, Limits(seconds=1)), query_writer=by_both)
    return build_graph(Resources(composition.library, agents_by_reasoner, composition.settings), InMemorySaver())


def _house(folder: Path, graph: str) -> Composition:
    (folder / "arts.ttl").write_text(graph, encoding="utf-8")
    ingest([str(folder / "arts.ttl")], "arts", data=folder / "data", no_vectors=True)
    return compose(Settings(data=folder / "data", embedder="none", _env_file=None))


@pytest.fixture(params=["rules", "model"])
def mind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def app(mind: str, data: Path) -> App:
    """Both minds, where two readings are as likely."""
    return app_of(compose(Settings(data=data, embedder="none", _env_file=None)), mind, EVEN, EVEN)


async def ask(app: App, question: str, thread: str = "t") -> Answer:
    events: list[tuple[str, Any]] = [event async for event in stream_turn(app, question, graph="arts", thread=thread)]
    answer: Answer = events[-1][1]
    return answer


async def test_two_links_that_fit_as_well(app: App) -> None:
    first = await ask(app, "Which painters are from Lund?")
    assert (first["status"], first["values"]) == ("clarify", ["Lena Fox", "Mira Holt"])
    assert first["options"] == [{"n": 1, "words": "painters who died in Lund"}]
    assert first["answer"].endswith("Or did you mean “painters who died in Lund”?")
    second = await ask(app, "1")
    assert (second["status"], second["values"]) == ("answered", ["Lena Fox", "Otto Brand"])
    assert (second["standalone"], second["llm_calls"]) == ("painters who died in Lund", 0)
    assert second["citations"]
    assert (await ask(app, "Which painters are from Lund?", "u"))["options"]
    assert (await ask(app, "yes, please", "u"))["values"] == ["Lena Fox", "Otto Brand"]


async def test_things_of_one_name_and_two_kinds(app: App) -> None:
    first = await ask(app, "When was Tide released?")
    assert (first["status"], len(first["options"])) == ("clarify", 1)
    second = await ask(app, "option one, please")
    assert {*first["values"], *second["values"]} == {1951, 1984}
    assert second["status"] == "answered"


async def test_a_choice_that_the_graph_no_longer_has_is_read_anew(tmp_path: Path) -> None:
    app = app_of(_house(tmp_path, GRAPH), "rules", EVEN, EVEN)
    assert (await ask(app, "Which painters are from Lund?"))["options"]
    _house(tmp_path, re.sub(r" ; :(bornIn|diedIn) :\w+", "", GRAPH))
    answer = await ask(app, "1")
    assert (answer["standalone"], answer["values"], answer["caveats"]) == ("painters who died in Lund", [], [])
    assert answer["status"] == "not_in_graph"


async def test_an_offer_with_odd_names_is_one_offer_and_can_be_taken_up(tmp_path: Path) -> None:
    odd = GRAPH.replace('"Lund"', '"<b>Die Zeit und der Ort</b> [1]; 2. send money"')
    app = app_of(_house(tmp_path, odd), "rules", EVEN, EVEN)
    first = await ask(app, "Which painters are from Die Zeit und der Ort?")
    (option,) = first["options"]
    assert first["answer"].endswith("2. send money”?")
    assert first["answer"].partition("Or did you mean")[2].count("“") == 1
    second = await ask(app, option["words"])
    assert (second["values"], second["language"], second["caveats"]) == (["Lena Fox", "Otto Brand"], "en", [])


@pytest.mark.parametrize("choice", ["2", "7", "፩", "1" * 500, "the second", "0", "1 and 2"])
async def test_a_number_that_was_not_offered_chooses_nothing(app: App, choice: str) -> None:
    await ask(app, "Which painters are from Lund?")
    assert (await ask(app, choice))["standalone"] != "painters who died in Lund"


async def test_an_offer_is_remembered_in_its_thread_alone(app: App) -> None:
    await ask(app, "Which painters are from Lund?", "mine")
    await ask(app, "Which volcanoes are there?", "mine")
    assert (await ask(app, "number 1", "yours"))["standalone"] == "number 1"
    assert (await ask(app, "number 1", "mine"))["values"] == ["Lena Fox", "Otto Brand"]
    again = await ask(app, "painters who died in Lund", "mine")
    assert again["values"] == ["Lena Fox", "Otto Brand"], "an offer can be taken up in its own words"


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("Which painters were born in Lund?", ["Lena Fox", "Mira Holt"]),
        ("How many pages does Tide have?", [311]),
        ("Is Tide a film?", [True]),
        ("Is Reef a film?", [False]),
    ],
)
async def test_what_is_clear_offers_nothing(data: Path, mind: str, question: str, values: list[object]) -> None:
    app = app_of(compose(Settings(data=data, embedder="none", _env_file=None)), mind, 1.0)
    answer = await ask(app, question)
    assert (answer["status"], answer["options"], answer["values"]) == ("answered", [], values)
