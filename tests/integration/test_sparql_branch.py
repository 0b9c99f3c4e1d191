"""The branch `sparql` over an ingested graph, from ingest to the record, and the query of a question alone."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pyoxigraph as ox
import pytest
from starlette.testclient import TestClient

from ingestion.pipeline import ingest
from nacre.config.settings import Settings
from nacre.errors import ConfigError, ToolError
from nacre.extensions.endpoints.attach import attach_endpoint
from nacre.extensions.text2sparql.routes import text2sparql
from nacre.plans.sparql_vocabulary import XSD
from nacre.records.turn import Rewrite
from nacre.serving.app import create_app
from nacre.stores.catalog import Library
from nacre.stores.sparql_source import ASIDE, OxigraphStore
from nacre.understanding.understand import understand
from tests.support.read_yaml import read_yaml
from tests.support.small_graphs import FIXTURES
from tests.support.sparql_server import endpoint
from tools import sparql
from tools.sandbox import Sandbox
from tools.sql import run_reading

LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
QUESTIONS = read_yaml(FIXTURES / "questions/kitchen.yaml")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    data = tmp_path_factory.mktemp("sparql")
    ingest([str(FIXTURES / "graphs" / "kitchen.ttl")], "kitchen", data=data, sparql=True)
    library = Library(data, None)
    yield library
    library.close()


def test_a_reading_gives_the_rows_of_its_sql(library: Library) -> None:
    with library.open("kitchen") as graph:
        assert graph.triples is not None
        [reading, *_] = understand(Rewrite("which dishes contain rice"), graph.schema, graph.lexicon).readings
        by_sql = run_reading(reading, 0, graph.tables, round=1)
        by_sparql = run_reading(reading, 0, sparql.ingested_engine(graph.triples, graph.tables), round=1)
    [one], [other] = by_sql.rows, by_sparql.rows
    assert one.table.rows
    assert (other.table, other.keys) == (one.table, one.keys)
    assert (by_sparql.branch, by_sparql.queries[0].tool) == ("sparql", "sparql")
    assert by_sparql.queries[0].text.startswith("SELECT DISTINCT")


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    running = Sandbox()
    yield running
    running.close()


@pytest.fixture(scope="module")
def away(library: Library) -> Iterator[str]:
    """The same file behind an endpoint, attached."""
    with endpoint(FIXTURES / "graphs" / "kitchen.ttl") as url:
        attach_endpoint(url, "away", data=library.data)
        yield "away"


@pytest.mark.parametrize("name", ["kitchen", "away"])
@pytest.mark.parametrize("asked", QUESTIONS, ids=lambda each: each["ask"])
def test_the_query_alone_gives_the_answer_over_the_file_itself(
    library: Library, sandbox: Sandbox, away: str, asked: dict[str, object], name: str
) -> None:
    plain = ox.Store()
    plain.load(path=FIXTURES / "graphs/kitchen.ttl")
    settings = Settings(data=library.data, embedder="none", _env_file=None)
    with library.open(name) as graph:
        query = asyncio.run(text2sparql(str(asked["ask"]), graph, settings, sandbox))
    found = {_shown(term, plain) for solution in plain.query(query) for term in solution}  # type: ignore[union-attr]
    assert found == set(asked["values"])  # type: ignore[call-overload]


def test_what_is_not_understood_gives_no_query(library: Library, sandbox: Sandbox) -> None:
    settings = Settings(data=library.data, embedder="none", _env_file=None)
    with library.open("kitchen") as graph, pytest.raises(ToolError) as refused:
        asyncio.run(text2sparql("hoo ha?", graph, settings, sandbox))
    assert refused.value.kind == "empty"


def test_the_api_writes_the_query_of_a_dataset(library: Library) -> None:
    named = "https://example.org/kitchen/"
    settings = Settings(data=library.data, embedder="none", datasets=f"{named}=kitchen", _env_file=None)
    with TestClient(create_app(settings), base_url="http://127.0.0.1:8200", client=("127.0.0.1", 5000)) as client:
        asked = {"question": "how many ingredients does the dal contain?", "dataset": named}
        told = client.get("/api/text2sparql", params=asked)
        without = client.get("/api/text2sparql", params={**asked, "question": "hoo ha?"})
        unknown = client.get("/api/text2sparql", params={**asked, "dataset": "https://example.org/other/"})
    assert told.status_code == 200
    assert {**told.json(), "query": ""} == {**asked, "query": ""}
    assert "COUNT" in told.json()["query"]
    assert without.status_code == 422
    assert unknown.status_code in (404, 422)


def test_the_same_input_is_built_again_only_for_the_triples(tmp_path: Path) -> None:
    source = str(FIXTURES / "graphs/kitchen.ttl")
    first = ingest([source], "kitchen", data=tmp_path)
    with_triples = ingest([source], "kitchen", data=tmp_path, sparql=True)
    assert with_triples.version != first.version
    assert ingest([source], "kitchen", data=tmp_path, sparql=True).unchanged
    assert ingest([source], "kitchen", data=tmp_path).unchanged


def test_a_query_that_takes_too_long_is_ended_and_the_next_one_answers(library: Library) -> None:
    with library.open("kitchen") as graph:
        assert isinstance(graph.triples, OxigraphStore)
        every = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n1 ?o . ?p ?q ?r }"
        with pytest.raises(ToolError) as stopped:
            graph.triples.select(every, limit=10, seconds=0.5)
        assert stopped.value.kind == "timeout"
        assert graph.triples.ask("ASK { ?a ?b ?c }", seconds=10)


@pytest.mark.parametrize(
    ("query", "kind"), [("SELECT ?a {", "syntax"), ("ASK { ?a ?b ?c }", "refused"), ("DROP ALL", "syntax")]
)
def test_what_can_not_be_asked_is_told_by_kind(library: Library, query: str, kind: str) -> None:
    with library.open("kitchen") as graph:
        assert graph.triples is not None
        with pytest.raises(ToolError) as refused:
            graph.triples.select(query, limit=10, seconds=10)
    assert refused.value.kind == kind


def test_the_store_gives_triples(library: Library) -> None:
    with library.open("kitchen") as graph:
        assert graph.triples is not None
        text = "CONSTRUCT { ?a ?b ?c } WHERE { ?a ?b ?c }"
        found = graph.triples.construct(text, limit=5, seconds=10)
        aside = f"CONSTRUCT {{ ?a ?b ?c }} WHERE {{ GRAPH <{ASIDE}> {{ ?a ?b ?c }} }}"
        everything = [each for query in (text, aside) for each in graph.triples.construct(query, limit=99, seconds=10)]
    assert len(found) == 5
    assert len(everything) == graph.schema.triples


def test_a_missing_store_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--sparql"):
        OxigraphStore(tmp_path)


def _shown(term: object, store: ox.Store) -> object:
    """The label of a thing, a number as a number."""
    if isinstance(term, ox.NamedNode):
        return next(store.quads_for_pattern(term, ox.NamedNode(LABEL), None)).object.value  # type: ignore[union-attr]
    assert isinstance(term, ox.Literal)
    return (
        float(term.value) if term.datatype.value.startswith(XSD) and "string" not in term.datatype.value else term.value
    )
