"""What agents of others ask a graph themselves: SQL, SPARQL, words, things; guarded and bounded."""

import asyncio
import time
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from ingestion.pipeline import ingest
from nacre.access import queries
from nacre.access.queries import query_sparql, query_sql, search_sentences
from nacre.access.things import find_thing
from nacre.config.settings import Settings
from nacre.errors import ToolError
from nacre.extensions.endpoints.attach import attach_endpoint
from nacre.extensions.foreign_queries.model_sparql import inspect_query, run_model_sparql
from nacre.plans.sparql_vocabulary import Prefixes
from nacre.serving.app import create_app
from nacre.serving.keys import LOCAL_CALLER, Caller
from nacre.serving.mcp.tools import thing_description
from nacre.serving.turn_service import MAX_REPLAYED, StatelessTurnCache, open_turn_service
from nacre.stores.catalog import Library
from nacre.stores.sparql_source import Solutions
from tests.support import sparql_server as servers
from tools.sandbox import Sandbox

FILE = Path(__file__).parents[1] / "fixtures/graphs/reading_room.ttl"
ROOM = "http://example.org/reading-room/"
PAGES = f"<{ROOM}pages>"


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("queries")
    ingest([str(FILE)], "room", data=folder, no_vectors=True, sparql=True)
    return folder


@pytest.fixture
def settings(data):
    return Settings(data=data, embedder="none", _env_file=None)


@pytest.fixture
def graph(data):
    library = Library(data, None)
    with library.open("room") as graph:
        yield graph
    library.close()


@pytest.fixture(scope="module")
def sandbox():
    running = Sandbox()
    yield running
    running.close()


async def test_a_select_gives_rows_within_its_limit(graph, settings, sandbox):
    found = await query_sql(graph, "SELECT label, pages FROM book ORDER BY pages", settings, sandbox, 2)
    assert found.rows == (("Field Guide to Ferns", 154), ("Lamp Over Water", 198))
    assert (found.columns, found.truncated, found.note) == (("label", "pages"), True, "")
    repaired = await query_sql(graph, "SELECT label FROM bok", settings, sandbox, 9)
    assert "bok" in repaired.note
    assert '"book"' in repaired.query
    nothing = await query_sql(graph, "SELECT label FROM book WHERE pages > 9000", settings, sandbox, 9)
    assert nothing.rows == ()


@pytest.mark.parametrize(
    "text", ["DELETE FROM book", "SELECT 1; SELECT 2", "PRAGMA table_list", "SELECT * FROM sqlite_master", "", "("]
)
async def test_what_is_no_select_is_refused(graph, settings, sandbox, text):
    with pytest.raises(ToolError):
        await query_sql(graph, text, settings, sandbox, 5)


async def test_sparql_has_three_forms(graph, settings, sandbox):
    select = await query_sparql(graph, f"SELECT ?b ?p {{ ?b {PAGES} ?p }} ORDER BY ?p", settings, sandbox, 2)
    assert select.rows == ((f"{ROOM}fern", 154), (f"{ROOM}lamp", 198))
    assert select.truncated
    ask = await query_sparql(graph, f"ASK {{ ?b {PAGES} 540 }}", settings, sandbox, 5)
    assert (ask.columns, ask.rows) == (("ask",), ((True,),))
    built = await query_sparql(graph, f"CONSTRUCT {{ ?b {PAGES} ?p }} WHERE {{ ?b {PAGES} ?p }}", settings, sandbox, 4)
    assert (len(built.rows), built.truncated) == (4, True)
    assert built.rows[0][1] == f"{ROOM}pages"


def test_the_page_gets_the_same_rows_with_names(settings):
    asked = {
        "sql": "SELECT label, pages FROM book ORDER BY pages LIMIT 1",
        "sparql": f"SELECT ?b ?p {{ ?b {PAGES} ?p }} ORDER BY ?p LIMIT 1",
    }
    with TestClient(create_app(settings), base_url="http://127.0.0.1:8200", client=("127.0.0.1", 5000)) as client:
        for language, text in asked.items():
            told = client.post("/api/graphs/room/query", json={"language": language, "text": text}).json()
            assert told["rows"] == [["Field Guide to Ferns", 154]]
            assert told["keys"] == [[f"{ROOM}fern"]]
        ask = {"language": "sparql", "text": f"ASK {{ ?b {PAGES} 540 }}"}
        assert client.post("/api/graphs/room/query", json=ask).json()["rows"] == [[True]]
        refused = client.post("/api/graphs/room/query", json={"language": "sql", "text": "DELETE FROM book"})
        assert refused.status_code == 422
        assert "Only SELECT" in refused.text


@pytest.mark.parametrize(
    "text",
    [
        "DELETE WHERE { ?s ?p ?o }",
        "SELECT * { SERVICE <http://x.example/> { ?s ?p ?o } }",
        "SELECT * FROM <http://x.example/> { ?s ?p ?o }",
        "DESCRIBE <http://x.example/>",
        f"SELECT * {{ ?b {PAGES} ?p . ?c {PAGES} ?q }}",
        "no query",
    ],
)
async def test_what_sparql_may_not_is_refused(graph, settings, sandbox, text):
    with pytest.raises(ToolError):
        await query_sparql(graph, text, settings, sandbox, 5)


async def test_parsing_counts_in_the_time_of_a_sparql_query(graph, settings, sandbox, monkeypatch):
    left = []

    def slow_guard(text):
        time.sleep(0.5)
        return inspect_query(text)

    def select(query, *, limit, seconds):
        left.append(seconds)
        return Solutions(("p",), [], False)

    monkeypatch.setattr(sandbox, "inspect_sparql", slow_guard)
    monkeypatch.setattr(graph.triples, "select", select)
    query = f"SELECT ?p {{ ?b {PAGES} ?p }}"
    await query_sparql(graph, query, settings, sandbox, 5)
    run_model_sparql(query, graph.triples, graph.schema, Prefixes({}), lambda _: {}, round=1, inspect=slow_guard)
    assert settings.branch_seconds - 1.5 < left[0] < settings.branch_seconds - 0.4
    assert left[1] < 4.6
    hasty = settings.model_copy(update={"branch_seconds": 0.3})
    begun = time.monotonic()
    with pytest.raises(ToolError, match=r"stopped after 0\.3 seconds") as error:
        await query_sparql(graph, query, hasty, sandbox, 5)
    assert error.value.kind == "timeout"
    assert time.monotonic() - begun < 2
    assert len(left) == 2


async def test_processes_for_sparql_start_with_a_server_whose_graphs_have_it(settings, tmp_path, monkeypatch):
    started = []
    monkeypatch.setattr(Sandbox, "warm", lambda self: started.append(self))
    async with open_turn_service(settings, lasting=False):
        assert len(started) == 1
    ingest([str(FILE)], "plain", data=tmp_path, no_vectors=True)
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "current").write_text("[[[")
    async with open_turn_service(settings.model_copy(update={"data": tmp_path}), lasting=False):
        assert len(started) == 1


async def test_what_is_too_much_to_hand_on_is_cut_and_told(graph, settings, sandbox, monkeypatch):
    monkeypatch.setattr(queries, "MOST_CHARACTERS", 40)
    found = await query_sql(graph, "SELECT label FROM book ORDER BY label", settings, sandbox, 100)
    assert 0 < len(found.rows) < 6
    assert found.truncated
    monkeypatch.setattr(queries, "MOST_CHARACTERS", 10)
    found = await query_sql(graph, "SELECT summary FROM book", settings, sandbox, 100)
    assert [[len(cell) for cell in row] for row in found.rows] == [[10]]  # type: ignore[arg-type]


async def test_a_search_finds_sentences_once(graph, settings):
    found = await search_sentences(graph, "desert salt story", settings, 5)
    assert found[0].source == "The Salt Road"
    assert found[0].keys == (f"{ROOM}salt",)
    assert len({each.text for each in found}) == len(found) <= 5
    assert await search_sentences(graph, "\ud800", settings, 5) == []


def test_a_thing_is_known_by_name_part_of_it_spelling_and_iri(graph):
    mira = thing_description(find_thing(graph, "Mira Oake", 5))
    assert (mira.iri, mira.kinds, mira.truncated) == (f"{ROOM}mira", ["author"], False)
    assert {fact.property: fact.value for fact in mira.facts}["year of birth"] == "1951"
    assert {(fact.property, fact.label) for fact in mira.incoming} == {
        ("writer", "The Salt Road"),
        ("writer", "Lamp Over Water"),
    }
    for name in ("mira oake", "Oake", "Mira Oacke", mira.iri):
        assert find_thing(graph, name, 5).thing.iri == mira.iri
    for nothing in ("Zebulon Quark", f"{ROOM}nobody", "", "x" * 5000, "\ud800"):
        with pytest.raises(ToolError):
            find_thing(graph, nothing, 5)
    # without time little is told, and that it is little
    assert thing_description(find_thing(graph, "Mira Oake", 0)).truncated


async def test_a_graph_that_is_attached_is_asked_where_it_lies(tmp_path, settings, sandbox):
    with servers.endpoint(FILE) as url:
        attach_endpoint(url, "away", data=tmp_path)
        library = Library(tmp_path, None)
        with library.open("away") as graph:
            thing = thing_description(await asyncio.to_thread(find_thing, graph, "Mira Oake", 10))
            assert (thing.iri, thing.label, thing.kinds) == (f"{ROOM}mira", "Mira Oake", ["author"])
            assert {fact.label for fact in thing.incoming} == {"The Salt Road", "Lamp Over Water"}
            found = await query_sparql(graph, f"SELECT ?p {{ ?b {PAGES} ?p }} ORDER BY ?p", settings, sandbox, 1)
            assert found.rows == ((154,),)
            for asking in (
                query_sql(graph, "SELECT 1 FROM book", settings, sandbox, 1),
                search_sentences(graph, "salt", settings, 1),
            ):
                with pytest.raises(ToolError) as lacks:
                    await asking
                assert lacks.value.kind == "unavailable"
        library.close()


async def test_conversations_that_clients_carry_are_recalled_or_asked_again(settings):
    said = ["How many pages does Granite have?", "And The Salt Road?", "And Signal Box?"]
    async with open_turn_service(settings, lasting=False) as service:
        asked = []
        events = service.events

        def counted(turn):
            asked.append(turn.question)
            return events(turn)

        service.events = counted  # type: ignore[method-assign]
        recalled = StatelessTurnCache(max_conversations=4)
        turns = await recalled.earlier_turns(service, "room", LOCAL_CALLER, said)
        assert [turn["question"] for turn in turns] == said
        assert asked == said
        assert await recalled.earlier_turns(service, "room", LOCAL_CALLER, said) == turns
        # the evidence of a turn is kept until another follows
        first = await recalled.earlier_turns(service, "room", LOCAL_CALLER, said[:2])
        assert [turn["answer"] for turn in first] == [turn["answer"] for turn in turns[:2]]
        assert first[-1]["evidence"]
        assert asked == said
        # another owner has conversations of its own
        assert len(await recalled.earlier_turns(service, "room", Caller("bo"), said[:1])) == 1
        assert asked == [*said, said[0]]
        # of a long conversation that nobody remembers the last questions are asked, and what can't be asked is left out
        asked.clear()
        many = [f"How many pages does Granite have? ({n})" for n in range(9)]
        await recalled.earlier_turns(service, "room", LOCAL_CALLER, [*many, "", "x" * 5000])
        assert asked == many[-MAX_REPLAYED:]
        # and what is used least is forgotten
        asked.clear()
        await recalled.earlier_turns(service, "room", LOCAL_CALLER, said)
        assert asked == said
