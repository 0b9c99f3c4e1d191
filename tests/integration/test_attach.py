"""A graph behind an endpoint: attached by bounded queries, then asked like one that was ingested."""

import json
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pyoxigraph as ox
import pytest
import rdflib

from graph.builder import compose
from ingestion.pipeline import index_graph, ingest
from nacre.access.open_graph import lexicon_for
from nacre.config.settings import Settings
from nacre.errors import ConfigError, IngestionError, ToolError
from nacre.extensions.endpoints.attach import attach_endpoint, attached_endpoint
from nacre.extensions.endpoints.describe_endpoint import describe_endpoint
from nacre.extensions.endpoints.endpoint import EndpointSource
from nacre.extensions.endpoints.probe import Budget, BudgetedEndpoint, probe_endpoint
from nacre.extensions.suggestions.example_questions import find_example_questions
from nacre.plans.sparql_vocabulary import Vocabulary
from nacre.plans.to_sparql import to_sparql
from nacre.records.plan import Select
from nacre.records.threads import run_in_thread
from nacre.records.turn import Rewrite
from nacre.stores.catalog import Graph, Library
from nacre.understanding.understand import understand
from tests.support import sparql_server as servers

GRAPHS = Path(__file__).parents[1] / "fixtures" / "graphs"


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Graph, Graph, Path]]:
    """The same graph attached and ingested, and the folder with both."""
    data = tmp_path_factory.mktemp("attached")
    with servers.endpoint(GRAPHS / "archipelago.ttl") as url:
        attach_endpoint(url, "away", data=data)
        ingest([str(GRAPHS / "archipelago.ttl")], "here", data=data, no_vectors=True)
        library = Library(data, None)
        with library.open("away") as away, library.open("here") as here:
            yield away, here, data
        library.close()


def test_the_schema_is_that_of_the_ingested_graph(both: tuple[Graph, Graph, Path]) -> None:
    away, here, _ = both
    assert {(c.iri, c.label, c.count) for c in away.schema.classes} == {
        (c.iri, c.label, c.count) for c in here.schema.classes if c.count
    }
    known = here.schema.predicate_of
    for predicate in away.schema.predicates:
        # an ingest has what nothing is said of as values
        pointing = predicate.has_links and not any(predicate.ranges)
        if predicate.role in ("fact", "name") and predicate.iri in known and predicate.domains and not pointing:
            other = known[predicate.iri]
            for part in ("label", "has_links", "has_literals", "functional", "datatype", "unit", "role"):
                assert getattr(predicate, part) == getattr(other, part), (predicate.iri, part)
    assert {(link.predicate, link.triples) for link in away.lexicon.links} <= {
        (link.predicate, link.triples) for link in here.lexicon.links
    }


def test_few_queries_make_it(both: tuple[Graph, Graph, Path]) -> None:
    endpoint = attached_endpoint("away", both[2])
    assert 5 < endpoint.queries < 300


def test_things_are_named_as_in_the_ingested_graph(both: tuple[Graph, Graph, Path]) -> None:
    away, here, _ = both
    entities = [name for name in here.lexicon.each() if name.kind == "entity" and name.weight >= 0][:20]
    assert entities
    for name in entities:
        text = f"What is {name.label} like?"
        found = lexicon_for(away, text)
        assert {n.target for n in found.exact(name.tokens) if n.kind == "entity"} >= {name.target}, text
        thing = found.thing(name.target)
        assert thing is not None
        assert thing.label == here.lexicon.thing(name.target).label  # type: ignore[union-attr]


def test_questions_are_read_alike(both: tuple[Graph, Graph, Path]) -> None:
    away, here, _ = both
    for kind in [c.label for c in here.schema.classes if c.count][:6]:
        question = f"How many {kind}s are there?"
        one = understand(Rewrite(question), away.schema, lexicon_for(away, question)).readings
        other = understand(Rewrite(question), here.schema, here.lexicon).readings
        assert [r.plan for r in one[:1]] == [r.plan for r in other[:1]], question


def test_what_needs_tables_says_so(both: tuple[Graph, Graph, Path]) -> None:
    away, _, _ = both
    assert set(away.unavailable) == {"sql", "vector", "lexical"}
    with pytest.raises(ToolError, match="has no tables here") as error:
        _ = away.tables
    assert error.value.kind == "unavailable"


async def _asked(data: Path, question: str, graph: str, branch_seconds: float = 10.0) -> dict[str, object]:
    settings = Settings(data=data, embedder="none", model=None, branch_seconds=branch_seconds)
    composition = await run_in_thread(compose, settings)
    try:
        result = await composition.build().ainvoke({"question": question, "graph": graph})
        record: dict[str, object] = result["answer"]
        return record
    finally:
        composition.library.close()
        composition.resources.sandbox.close()


async def test_a_turn_gives_the_same_values(both: tuple[Graph, Graph, Path]) -> None:
    _, here, data = both
    kind = max((c for c in here.schema.classes if c.count), key=lambda c: c.count).label
    for question in (f"How many {kind}s are there?", f"Which {kind}s are there?"):
        one, other = await _asked(data, question, "away"), await _asked(data, question, "here")
        assert one["values"] == other["values"], question
        assert one["values"]
        assert one["enabled"] == ["sparql"]
        assert {query["tool"] for query in one["queries"]} == {"sparql"}  # type: ignore[attr-defined]


async def test_what_is_in_it_is_told_without_a_query(both: tuple[Graph, Graph, Path]) -> None:
    away, _, data = both
    record = await _asked(data, "What is in this graph?", "away")
    assert "5 islands" in str(record["answer"])
    assert not record["queries"]
    suggested = find_example_questions(away)
    assert suggested
    for question in suggested:
        assert (await _asked(data, question, "away"))["values"], question


async def test_what_an_answer_cites_is_in_the_graph(both: tuple[Graph, Graph, Path]) -> None:
    _, _, data = both
    asked = {
        "Which islands have a population above 5000?": {"http://example.org/archipelago/population"},
        "How many airports are on Great Morrow?": {"http://example.org/archipelago/onIsland"},
        "Which airport has the longest runway?": {"http://example.org/archipelago/runwayLength"},
    }
    triples = set(rdflib.Graph().parse(GRAPHS / "archipelago.ttl"))
    given = {tuple(map(str, triple)) for triple in triples}
    for question, predicates in asked.items():
        record = await _asked(data, question, "away")
        [citation, *_] = record["citations"]  # type: ignore[misc]
        cited = {tuple(triple) for triple in citation["triples"]}  # type: ignore[has-type]
        assert cited <= given, question
        assert predicates < {predicate for _, predicate, _ in cited}, question
        assert citation["keys"], question  # type: ignore[has-type]


async def test_units_are_compared_in_one(both: tuple[Graph, Graph, Path]) -> None:
    _, _, data = both
    record = await _asked(data, "Which airports have a runway length above 1000 m?", "away")
    # 1.1 km among lengths in m
    assert "Sill Valley Airfield" in record["values"]  # type: ignore[operator]
    assert "Quillon Airport" not in record["values"]  # type: ignore[operator]


async def test_a_slip_in_a_name_is_seen_through(both: tuple[Graph, Graph, Path]) -> None:
    _, _, data = both
    record = await _asked(data, "What is the airport code of Tesel Point?", "away")
    assert record["values"] == ["TSP"]


def test_virtuoso_is_asked_as_it_understands(both: tuple[Graph, Graph, Path]) -> None:
    away, _, _ = both
    [average] = [
        reading.plan.body
        for reading in understand(
            Rewrite("What is the average landing fee of the airports?"), away.schema, away.lexicon
        ).readings[:1]
    ]
    assert isinstance(average, Select)
    usual = to_sparql(average, Vocabulary(away.schema)).text
    its_own = to_sparql(average, Vocabulary(away.schema, dialect="virtuoso")).text
    # a division by nothing ends its queries, and so does a cast of what is no number
    assert "1/0" in usual
    assert "1/0" not in its_own
    assert "IF(REGEX(" in its_own
    assert "decimal" in its_own


def test_words_are_looked_up_once(both: tuple[Graph, Graph, Path]) -> None:
    away, _, _ = both
    assert away.remote is not None
    names = away.remote
    lexicon_for(away, "What is the population of Quillon?")
    before = names.source.asked  # type: ignore[attr-defined]
    again = lexicon_for(away, "Which airports are on Quillon?")
    assert again.exact(("quillon",))
    lexicon_for(away, "How many islands are there?")
    assert names.source.asked == before, "no word is new that no class or property accounts for"  # type: ignore[attr-defined]


def test_nothing_of_it_is_indexed_here(both: tuple[Graph, Graph, Path]) -> None:
    with pytest.raises(ConfigError, match="nacre attach --refresh --graph away"):
        index_graph("away", data=both[2], embedder=None)


async def test_an_endpoint_that_has_gone_is_a_failure_not_a_misunderstanding(tmp_path: Path) -> None:
    with servers.endpoint(GRAPHS / "bakery.ttl") as url:
        attach_endpoint(url, "gone", data=tmp_path)
    record = await _asked(tmp_path, "How many breads are there?", "gone")
    assert record["status"] == "failed"
    assert "can't be asked" in json.dumps(record)


@pytest.mark.parametrize("respond", [servers.error_page, servers.friendly_page, servers.cut_off])
def test_a_bad_endpoint_is_not_attached(respond: servers.Respond, tmp_path: Path) -> None:
    with servers.serving(respond) as url, pytest.raises(IngestionError, match="Nothing was attached"):
        attach_endpoint(url, "bad", data=tmp_path)
    assert not (tmp_path / "bad").exists()


def test_a_budget_is_kept() -> None:
    with servers.endpoint(GRAPHS / "archipelago.ttl") as url:
        source = EndpointSource(url)
        asking = BudgetedEndpoint(source, Budget(queries=7))
        found = describe_endpoint(probe_endpoint(asking))
        assert asking.asked == source.asked == 7
        assert asking.over
        assert found.schema.classes
        source.close()


def test_an_endpoint_that_cannot_list_its_classes_is_sampled_with_a_deadline(tmp_path: Path) -> None:
    """It answers queries about few things at once, and none that read the whole graph: these it leaves open."""
    store = ox.Store()
    store.load(path=str(GRAPHS / "bakery.ttl"))
    reads_all: list[str] = []

    def respond(handler: BaseHTTPRequestHandler, query: str) -> None:
        if query.count("LIMIT") < 2 and "VALUES" not in query and ("GROUP BY" in query or "DISTINCT" in query):
            reads_all.append(query)
            servers.slow(handler, query)
            return
        found = store.query(query)
        assert isinstance(found, ox.QuerySolutions)
        servers.reply(handler, found.serialize(format=ox.QueryResultsFormat.JSON), servers.RESULTS)  # type: ignore[arg-type]

    seconds = 5.0
    begun = time.monotonic()
    with servers.serving(respond) as url:
        result = attach_endpoint(url, "slow", data=tmp_path, budget=Budget(seconds=seconds))
    assert time.monotonic() - begun < seconds + 5
    assert reads_all
    assert result.sampled
    with Library(tmp_path, None).open("slow") as graph, servers.endpoint(GRAPHS / "bakery.ttl") as whole:
        other = attach_endpoint(whole, "whole", data=tmp_path)
        assert not other.sampled
        assert {each.iri for each in graph.schema.classes} == {each.iri for each in other.schema.classes}
        assert {each.iri for each in graph.schema.predicates} <= {each.iri for each in other.schema.predicates}
        assert graph.schema.predicates


@pytest.mark.parametrize(
    ("status", "media", "told"),
    [
        (503, "text/html", "503"),
        (502, "text/html", "502"),
        (200, "text/html", "no results"),
        (503, "text/plain", "503"),
    ],
)
async def test_a_page_of_a_proxy_ends_the_turn_by_its_name(
    status: int, media: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nacre.extensions.endpoints.endpoint.RETRY_SECONDS", 0.2)
    broken: list[bool] = []
    store = ox.Store()
    store.load(path=str(GRAPHS / "bakery.ttl"))

    def respond(handler: BaseHTTPRequestHandler, query: str) -> None:
        if broken:
            servers.reply(handler, servers.ERROR_PAGE, media, status)
            return
        found = store.query(query)
        assert isinstance(found, ox.QuerySolutions | ox.QueryBoolean)
        servers.reply(handler, found.serialize(format=ox.QueryResultsFormat.JSON), servers.RESULTS)  # type: ignore[arg-type]

    with servers.serving(respond) as url:
        attach_endpoint(url, "proxied", data=tmp_path)
        broken.append(True)
        begun = time.monotonic()
        record = await _asked(tmp_path, "How many breads are there?", "proxied")
    assert time.monotonic() - begun < 30
    assert record["status"] == "failed"
    assert told in json.dumps(record)
    assert "Bad gateway" not in json.dumps(record)
    assert "<h1>" not in json.dumps(record)


def test_only_what_is_attached_can_be_refreshed(both: tuple[Graph, Graph, Path]) -> None:
    with pytest.raises(ConfigError, match="attached to no endpoint"):
        attached_endpoint("here", both[2])


async def test_names_that_an_endpoint_does_not_give_in_time_are_looked_up_again_and_not_denied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nacre.extensions.endpoints.endpoint_names.LOOKUP_SECONDS", 0.3)
    store, is_slow = ox.Store(), list[bool]()
    store.load(path=str(GRAPHS / "bakery.ttl"))

    def respond(handler: BaseHTTPRequestHandler, query: str) -> None:
        if is_slow:
            servers.slow(handler, query)
            return
        found = store.query(query)
        assert isinstance(found, ox.QuerySolutions)
        servers.reply(handler, found.serialize(format=ox.QueryResultsFormat.JSON), servers.RESULTS)  # type: ignore[arg-type]

    with servers.serving(respond) as url:
        attach_endpoint(url, "bakery", data=tmp_path)
        with Library(tmp_path, None).open("bakery") as graph:
            is_slow.append(True)
            incomplete = lexicon_for(graph, "What is the price of Quillon?")
            is_slow.clear()
            complete = lexicon_for(graph, "What is the price of Quillon?")
            assert complete is not incomplete
            assert lexicon_for(graph, "What is the price of Quillon?") is complete
        is_slow.append(True)
        record = await _asked(tmp_path, "What is the price of Zorblax?", "bakery", 1.0)
        assert (record["status"], "knows nothing" in str(record["answer"])) == ("failed", False)
        is_slow.clear()
        record = await _asked(tmp_path, "What is the price of Zorblax?", "bakery")
        assert (record["status"], "knows nothing" in str(record["answer"])) == ("not_in_graph", True)
