"""SPARQL written by a chat model that follows a script, over an ingested graph's triples and over an attached graph."""

import re
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest
import rdflib
from langgraph.checkpoint.memory import InMemorySaver

from agents.agents import build_agents
from agents.model_calls import Limits
from agents.model_priors import model_priors
from graph.builder import build_graph, compose
from graph.context import Resources
from graph.stream import stream_turn
from ingestion.pipeline import ingest
from nacre.config.settings import Settings
from nacre.errors import ToolError
from nacre.extensions.endpoints.attach import attach_endpoint
from nacre.extensions.model_agents.schema_sparql import schema_sparql
from nacre.extensions.text2sparql import routes
from nacre.extensions.text2sparql.routes import text2sparql
from nacre.plans.sparql_vocabulary import schema_prefixes
from nacre.records.answer import Answer
from nacre.stores.catalog import Library
from tests.support import sparql_server as servers
from tests.support.scripted_model import ScriptedModel, step
from tools.sandbox import Sandbox

GRAPHS = Path(__file__).parents[1] / "fixtures" / "graphs"
UNCLEAR = "Which of them simmers on and on?"
DAL = 'SELECT DISTINCT ?dish { ?dish a kitchen:Dish ; rdfs:label ?name FILTER(LCASE(STR(?name)) = "dal") }'


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory, kitchen: Path) -> Iterator[Path]:
    """The kitchen, ingested with its triples as `kitchen` and attached as `away`."""
    with servers.endpoint(GRAPHS / "kitchen.ttl") as url:
        both = tmp_path_factory.mktemp("both") / "data"
        shutil.copytree(kitchen, both)
        attach_endpoint(url, "away", data=both)
        yield both


async def ask(data: Path, model: ScriptedModel, question: str, graph: str, size: str = "large") -> Answer:
    settings = Settings(data=data, embedder="none", _env_file=None)
    composition = compose(settings)
    model_agents = build_agents(model, Limits(seconds=2), priors=model_priors(size), lead="model")  # type: ignore[arg-type]
    app = build_graph(
        Resources(composition.library, {**composition.agents, "model": model_agents}, settings), InMemorySaver()
    )
    context: dict[str, Any] = {"mind": "model", "branches": ["sparql"], "graph": graph}
    events = [event async for event in stream_turn(app, question, context=context)]
    composition.library.close()
    answer: Answer = events[-1][1]
    return answer


@pytest.mark.parametrize("graph", ["kitchen", "away"])
async def test_a_model_writes_sparql(data: Path, scripted: ScriptedModel, graph: str) -> None:
    scripted.replies = [step(DAL)]
    answer = await ask(data, scripted, UNCLEAR, graph)
    assert answer["values"] == ["dal"]
    assert answer["by"]["sparql"] == "model"
    [query] = [query for query in answer["queries"] if query["by"] == "model"]
    assert query["text"].startswith("PREFIX kitchen: <http://example.org/kitchen/>")
    assert "LIMIT" in query["text"]
    assert answer["citations"][0]["keys"] == ["http://example.org/kitchen/dal"]
    head = str(scripted.asked[0][0].content)
    assert "SPARQL 1.1" in head
    assert "CLASS kitchen:Dish" in head
    assert "prose" in head, "descriptions are gathered by SPARQL as well"


CONTAINS = "SELECT ?dish (COUNT(?i) AS ?n) { ?dish a kitchen:Dish ; kitchen:contains ?i } GROUP BY ?dish"
CITED = [
    (DAL, {"label"}),
    (f"{CONTAINS} ORDER BY DESC(?n) LIMIT 1", {"contains", "label", "type"}),
    ("SELECT (COUNT(DISTINCT ?dish) AS ?n) { ?dish kitchen:contains ?i OPTIONAL { ?dish kitchen:cookingTime ?t } }",
     {"contains", "cookingTime"}),
    ("ASK { kitchen:dal kitchen:contains ?i }", {"contains"}),
]  # fmt: skip


@pytest.mark.parametrize("graph", ["kitchen", "away"])
@pytest.mark.parametrize(("query", "predicates"), CITED)
async def test_the_triples_behind_its_query_are_cited(
    data: Path, scripted: ScriptedModel, graph: str, query: str, predicates: set[str]
) -> None:
    scripted.replies = [step(query)]
    answer = await ask(data, scripted, UNCLEAR, graph)
    cited = {tuple(triple) for triple in answer["citations"][0]["triples"]}
    given = {tuple(map(str, triple)) for triple in rdflib.Graph().parse(GRAPHS / "kitchen.ttl")}
    assert cited
    assert cited <= given
    assert predicates <= {re.split("[/#]", predicate)[-1] for _, predicate, _ in cited}
    if "LIMIT 1" in query:
        # of the dish alone that the row is about
        assert len({subject for subject, _, _ in cited}) == 1


async def test_a_small_model_is_asked_for_sparql_alone(data: Path, scripted: ScriptedModel) -> None:
    scripted.replies = [{"sparql": DAL}]
    answer = await ask(data, scripted, UNCLEAR, "away", "small")
    assert answer["values"] == ["dal"]


async def test_it_looks_up_by_queries_of_the_endpoint(data: Path, scripted: ScriptedModel) -> None:
    looks = [
        {"kind": "values", "table": "", "column": "", "text": "porrige"},
        {"kind": "rows", "table": "kitchen:Dish", "column": "", "text": ""},
        {"kind": "columns", "table": "Dish", "column": "", "text": ""},
        {"kind": "values", "table": "", "column": "rdfs:label", "text": "ri"},
    ]
    scripted.replies = [step(look_ups=looks), step(DAL)]
    answer = await ask(data, scripted, UNCLEAR, "away")
    assert answer["values"] == ["dal"]
    seen = str(scripted.asked[1][-1].content)
    assert '"rice porridge" is the name of kitchen:porridge' in seen
    assert "CLASS kitchen:Dish" in seen
    assert 'rdfs:label: "rice"' in seen


async def test_a_wrong_name_is_repaired_and_an_error_goes_back(data: Path, scripted: ScriptedModel) -> None:
    scripted.replies = [step("SELECT nonsense"), step(DAL.replace("kitchen:Dish", "kitchen:Dishes"))]
    answer = await ask(data, scripted, UNCLEAR, "away")
    assert answer["values"] == ["dal"]
    assert "can't be parsed" in str(scripted.asked[1][-1].content)
    kinds = [query["error"] and query["error"]["kind"] for query in answer["queries"] if query["by"] == "model"]
    assert kinds == ["syntax", "unknown_name", None]
    assert "kitchen:Dish instead of kitchen:Dishes" in answer["queries"][-1]["words"]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT ?s { SERVICE <http://127.0.0.1:9/> { ?s ?p ?o } }",
        "SELECT ?s { GRAPH ?g { ?s a kitchen:Dish } }",
        "DELETE WHERE { ?s ?p ?o }",
        "CONSTRUCT { ?s a kitchen:Dish } WHERE { ?s a kitchen:Dish }",
    ],
)
async def test_what_may_not_run_does_not(data: Path, scripted: ScriptedModel, query: str) -> None:
    scripted.replies = [step(query), step(DAL)]
    answer = await ask(data, scripted, UNCLEAR, "away")
    refused = next(query for query in answer["queries"] if query["by"] == "model")
    assert refused["error"] is not None
    assert answer["values"] == ["dal"]


async def test_truth_is_asked_for(data: Path, scripted: ScriptedModel) -> None:
    scripted.replies = [step("ASK { kitchen:dal a kitchen:Dish }", wants="yes_no")]
    answer = await ask(data, scripted, "Is the dal one of them?", "away")
    assert answer["values"] == [True]


def test_the_schema_is_shown_with_prefixes(data: Path) -> None:
    library = Library(data, None)
    with library.open("away") as graph:
        prefixes = schema_prefixes(graph.schema)
        text = schema_sparql(graph.schema, prefixes)
        assert text.startswith("Names of things: rdfs:label")
        assert "PREFIX kitchen: <http://example.org/kitchen/>" in text
        assert prefixes.full("kitchen:Dish") == "http://example.org/kitchen/Dish"
        declared = prefixes.declare("SELECT ?x { ?x a kitchen:Dish }")
        assert declared.count("PREFIX") == 1
        assert prefixes.declare(declared) == declared
    library.close()


ZOO = """@prefix : <http://example.org/zoo/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Bird rdfs:subClassOf :Animal . :Animal a owl:Class . :keeps owl:inverseOf :keptBy .
:tux a :Bird ; rdfs:label "Tux"@en, "Tux der Pinguin"@de ; :weight "12" .
:rex a :Animal, :Bird ; rdfs:label "Rex"@en, "Rex der Hahn"@de ; :weight "8" .
:leo a :Animal ; rdfs:label "Leo"@en, "Leo der Kater"@de ; :weight "31" .
:ann a :Keeper ; rdfs:label "Ann"@en ; :keeps :leo .
:bob a :Keeper ; rdfs:label "Bob"@en ; :keeps :tux, :rex .
"""
HEAVY = "SELECT ?animal {{ ?animal a zoo:Animal ; zoo:weight ?w FILTER({} > 10) }}"


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Library, Path]]:
    folder = tmp_path_factory.mktemp("zoo")
    (folder / "zoo.ttl").write_text(ZOO)
    ingest([str(folder / "zoo.ttl")], "zoo", data=folder / "data", sparql=True)
    library = Library(folder / "data", None)
    yield library, folder / "zoo.ttl"
    library.close()


async def translate(zoo: tuple[Library, Path], question: str, model: ScriptedModel | None) -> tuple[str, set[str]]:
    """The query of a question, and what it selects from the file itself."""
    library, file = zoo
    agents = build_agents(model, Limits(seconds=2), priors=model_priors("large"), lead="model") if model else None
    with library.open("zoo") as graph, closing(Sandbox()) as sandbox:
        settings = Settings(data=library.data, embedder="none", _env_file=None)
        query = await text2sparql(question, graph, settings, sandbox, agents)
    plain = ox.Store()
    plain.load(path=file)
    found = plain.query(query)
    if isinstance(found, ox.QueryBoolean):
        return query, {str(bool(found))}
    return query, {term.value.rpartition("/")[2] for row in found for term in row}


async def test_the_query_of_a_model_gives_the_answer_over_the_data_as_it_was_read(
    zoo: tuple[Library, Path], scripted: ScriptedModel
) -> None:
    # the first compares a text with a number
    scripted.replies = [step(HEAVY.format("?w")), step(HEAVY.format("xsd:decimal(STR(?w))"))]
    query, found = await translate(zoo, "Which animals have a weight beyond 10?", scripted)
    assert found == {"tux", "leo"}
    assert "LIMIT" not in query
    assert "no rows" in str(scripted.asked[1][-1].content)
    head = str(scripted.asked[0][0].content)
    assert "zoo:weight integer written as string" in head
    assert "rdfs:label text@de or @en" in head
    assert "zoo:keptBy" not in head


SHIPS = """@prefix : <http://example.org/ships/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Ship rdfs:label "ship" . :Draught rdfs:label "draught measurement" . :draught rdfs:label "draught" .
:eel a :Ship ; rdfs:label "Eel" ; :draught :m1 . :m1 a :Draught ; :value 90 ; :unit "cm" .
:gull a :Ship ; rdfs:label "Gull" ; :draught :m2 . :m2 a :Draught ; :value 1.4 ; :unit "m" .
:tern a :Ship ; rdfs:label "Tern" ; :draught :m3 . :m3 a :Draught ; :value 2.1 ; :unit "m" .
"""


async def test_a_query_uses_the_nodes_that_ingestion_reads_into_quantities(
    tmp_path: Path, scripted: ScriptedModel
) -> None:
    (tmp_path / "ships.ttl").write_text(SHIPS)
    ingest([str(tmp_path / "ships.ttl")], "zoo", data=tmp_path / "data", sparql=True)
    query = """SELECT ?ship { ?ship a ships:Ship ; ships:draught ?d . ?d ships:value ?v ; ships:unit ?u }
        ORDER BY IF(?u = "cm", ?v / 100, ?v) LIMIT 1"""
    scripted.replies = [step(query)]
    with closing(Library(tmp_path / "data", None)) as library:
        _, found = await translate((library, tmp_path / "ships.ttl"), "Which of them sits shallowest?", scripted)
        with library.open("zoo") as graph, closing(Sandbox()) as sandbox:
            plain = routes.plain_database(graph, Settings(_env_file=None), sandbox, graph.lexicon)
            assert plain is not None
            part = plain.describe(["http://example.org/ships/Ship"])
    assert "\n  ships:draught -> ships:Draught\n    ships:unit text" in part, "a node that is not shown itself"
    assert found == {"eel"}
    prompt = " ".join(str(message.content) for message in scripted.asked[0])
    assert "ships:draught -> ships:Draught" in prompt
    assert 'ships:unit text -- one of "cm", "m"' in prompt


async def test_what_a_model_misses_is_not_translated_from_a_reading(
    zoo: tuple[Library, Path], scripted: ScriptedModel
) -> None:
    assert (await translate(zoo, "What weighs Leo each day?", None))[0]
    scripted.replies = [step(missing="the daily change of a weight")]
    with pytest.raises(ToolError, match="gives no query"):
        await translate(zoo, "What weighs Leo each day?", scripted)


async def test_a_thing_of_two_classes_is_counted_once(zoo: tuple[Library, Path], scripted: ScriptedModel) -> None:
    scripted.replies = [step("SELECT (COUNT(?a) AS ?n) { ?a a zoo:Animal ; zoo:weight ?w }", wants="number")]
    assert (await translate(zoo, "How many animals were ever weighed?", scripted))[1] == {"3"}


async def test_a_truth_is_asked(zoo: tuple[Library, Path], scripted: ScriptedModel) -> None:
    scripted.replies = [step("ASK { zoo:rex a zoo:Animal }", wants="yes_no")]
    assert (await translate(zoo, "Would Rex count as an animal?", scripted))[1] == {"True"}


@pytest.mark.parametrize(
    ("question", "things"),
    [("What does Ann keep?", {"leo"}), ("Who is Tux kept by?", {"bob"}), ("Which animals are kept by Ann?", {"leo"})],
)
async def test_no_query_rests_on_derived_facts(zoo: tuple[Library, Path], question: str, things: set[str]) -> None:
    query, found = await translate(zoo, question, None)
    assert found == things
    assert "keptBy" not in query


async def test_a_large_graph_is_not_loaded_and_its_query_is_that_of_the_rules(
    zoo: tuple[Library, Path], scripted: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "MAX_PLAIN_TRIPLES", 3)
    assert (await translate(zoo, "What does Ann keep?", scripted))[1] == {"leo"}
    assert not scripted.asked


def test_what_a_property_is_is_said_once(zoo: tuple[Library, Path]) -> None:
    with zoo[0].open("zoo") as graph:
        lines = schema_sparql(graph.schema, schema_prefixes(graph.schema)).split("\n")
    weight = [line for line in lines if line.lstrip().startswith("zoo:weight")]
    assert len(weight) == 1
    assert sum(line.startswith("  rdfs:label ") for line in lines) == 1
    bird = next(i for i, line in enumerate(lines) if line.startswith("CLASS zoo:Bird"))
    assert lines[bird + 1].startswith("  the properties of zoo:Animal")
    assert any(line.startswith("  ") and "rdfs:label" in line and line.endswith(": as above") for line in lines)


async def test_a_question_in_another_language_is_shown_as_asked(
    zoo: tuple[Library, Path], scripted: ScriptedModel
) -> None:
    asked, name = "Wie heißen die Tiere des Zoos alle?", 'FILTER(LANG(?name) = "de")'
    scripted.replies = [step(f"SELECT ?name {{ ?a a zoo:Animal ; rdfs:label ?name {name} }}")]
    found = (await translate(zoo, asked, scripted))[1]
    assert found == {"Tux der Pinguin", "Rex der Hahn", "Leo der Kater"}
    assert str(scripted.asked[0][-1].content).endswith(f"Question: {asked}")


async def test_the_record_has_a_query_for_any_endpoint(zoo: tuple[Library, Path], scripted: ScriptedModel) -> None:
    scripted.replies = [step("SELECT ?animal { ?animal a zoo:Animal }")]
    answer = await ask(zoo[0].data, scripted, UNCLEAR, "zoo")
    assert set(answer["values"]) == {"Tux", "Rex", "Leo"}
    [query] = [query for query in answer["queries"] if query["by"] == "model"]
    assert "zoo:Bird" not in query["text"]
    plain = ox.Store()
    plain.load(path=zoo[1])
    assert len(list(plain.query(query["portable"]))) == 3  # type: ignore[arg-type]
