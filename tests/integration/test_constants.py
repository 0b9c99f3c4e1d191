"""What a model's query states itself is no evidence; what rests on stored values stays an answer."""

import gc
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.checkpoint.memory import InMemorySaver

from agents.agents import build_agents
from agents.model_calls import Limits
from agents.model_priors import model_priors
from benchmarks.inputs.constant_queries import (
    INVENTED_SPARQL,
    INVENTED_SQL,
    INVENTIONS,
    LAMPS,
    PREFIXES,
    QUESTION,
    STORED_SPARQL,
    STORED_SQL,
)
from graph.builder import App, build_graph, compose
from graph.context import Resources
from graph.stream import stream_turn
from ingestion.pipeline import ingest
from nacre.config.settings import Settings
from nacre.errors import ToolError
from nacre.extensions.foreign_queries.model_sparql import run_model_sparql
from nacre.extensions.foreign_queries.origins import stated_numbers
from nacre.extensions.foreign_queries.run_model_sql import run_model_sql
from nacre.extensions.foreign_queries.sql_guard import guard_sql
from nacre.extensions.foreign_queries.sql_origins import check_sql_values
from nacre.plans.sparql_vocabulary import Prefixes
from nacre.records.answer import Answer
from nacre.records.evidence import BranchResult
from nacre.stores.catalog import Graph, Library
from tests.support.scripted_model import ScriptedModel, step
from tools.provenance import trace_sources

NUMBERS = stated_numbers(QUESTION)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lamps")
    (folder / "lamps.ttl").write_text(LAMPS)
    ingest([str(folder / "lamps.ttl")], "lamps", data=folder / "data", sparql=True)
    return folder / "data"


@pytest.fixture(scope="module")
def graph(data: Path) -> Iterator[Graph]:
    library = Library(data, None)
    with library.open("lamps") as opened:
        yield opened
    library.close()
    # a server of another module collects garbage in its own thread, and results of SPARQL may only go in this one
    gc.collect()


def sql(graph: Graph, text: str, numbers: frozenset[float] | None = NUMBERS) -> BranchResult:
    return run_model_sql(text, graph.tables, round=1, numbers=numbers)


def sparql(graph: Graph, text: str) -> BranchResult:
    assert graph.triples is not None
    query = PREFIXES + text
    return run_model_sparql(query, graph.triples, graph.schema, Prefixes({}), lambda _: {}, round=1, numbers=NUMBERS)


@pytest.mark.parametrize("text", INVENTED_SQL)
def test_what_a_select_states_itself_is_no_evidence(graph: Graph, text: str) -> None:
    found = sql(graph, text)
    assert found.error is not None
    assert found.error.kind in ("refused", "unknown_name")
    assert not found.evidence


@pytest.mark.parametrize("text", STORED_SQL)
def test_what_a_select_takes_from_stored_values_is_evidence(graph: Graph, text: str) -> None:
    found = sql(graph, text)
    assert found.error is None
    assert found.rows[0].table.rows


@pytest.mark.parametrize("text", INVENTED_SPARQL)
def test_what_sparql_states_itself_is_no_evidence(graph: Graph, text: str) -> None:
    found = sparql(graph, text)
    assert found.error is not None
    assert found.error.kind == "refused"
    assert not found.evidence


@pytest.mark.parametrize("text", STORED_SPARQL)
def test_what_sparql_takes_from_stored_values_is_evidence(graph: Graph, text: str) -> None:
    found = sparql(graph, text)
    assert found.error is None
    assert found.rows[0].table.rows


def test_people_may_ask_for_constants(graph: Graph) -> None:
    assert sql(graph, "SELECT 9999", None).rows[0].table.rows == ((9999,),)


def test_the_error_says_what_to_show_instead(graph: Graph) -> None:
    error = sql(graph, "SELECT 9999 FROM lamp").error
    assert error is not None
    assert "number 9999 is no evidence: show stored values" in error.message
    error = sql(graph, "SELECT EXISTS(SELECT 1)").error
    assert error is not None
    assert "reads no table" in error.message


def test_a_misspelt_name_in_quotation_marks_is_repaired_as_any_other(graph: Graph) -> None:
    found = sql(graph, 'SELECT "prices" FROM lamp')
    assert found.error is None
    assert {row[0] for row in found.rows[0].table.rows} == {120, 80, 45}


@pytest.mark.parametrize(
    ("question", "number"),
    [("How much is two dozen?", 2), ("with 25 % off", 0.75), ("over 3 million", 3e6), ("in 1999", 1999)],
)
def test_numbers_of_a_question(question: str, number: float) -> None:
    assert number in stated_numbers(question)
    assert 4711 not in stated_numbers(question)


def test_values_of_joined_tables_are_cited_with_their_triples(graph: Graph) -> None:
    text = "SELECT m.town FROM lamp l JOIN maker m ON m.id = l.made_by_id WHERE l.label = 'Gamma'"
    [rows] = sql(graph, text).rows
    triples = {
        (s.rpartition("/")[2], p.rpartition("/")[2], o) for s, p, o in trace_sources(rows, None, graph.tables).triples
    }
    assert ("brook", "town", "Ripon") in triples
    assert ("brook", "town", "Leek") not in triples
    assert ("gamma", "madeBy", "http://example.org/lamps/brook") in triples


@dataclass(frozen=True)
class Written:
    """An expression, and whether a stored value is part of it."""

    text: str
    stored: bool


LITERALS = st.sampled_from(["'tungsten'", "4711", "-9999", "'4711'", "x'41'", '"tungsten"']).map(
    lambda text: Written(text, stored=False)
)
COLUMNS = st.sampled_from(["label", "price", "year", "lamp.sold_since"]).map(lambda text: Written(text, stored=True))
WRAPPERS = ("({})", "CAST({} AS TEXT)", "lower({})", "max({}) OVER ()", "(SELECT {} FROM lamp LIMIT 1)", "round({})",
            "CASE WHEN price > 1 THEN {} END", "trim({})", "COALESCE({}, NULL)", "IIF(price > 1, {}, NULL)",
            "(SELECT z FROM (SELECT {} AS z FROM lamp) LIMIT 1)", "NULLIF({}, 'x')", "substr({}, 1)")  # fmt: skip
JOINS = ("{} || {}", "COALESCE({}, {})", "CASE WHEN price > 1 THEN {} ELSE {} END", "IIF(year > 1, {}, {})",
         "concat({}, {})", "max({}, {})", "({} + 0) * ({} + 0)", "{} || ', ' || {}")  # fmt: skip


def _wider(inner: st.SearchStrategy[Written]) -> st.SearchStrategy[Written]:
    return st.one_of(
        st.tuples(st.sampled_from(WRAPPERS), inner).map(
            lambda each: Written(each[0].format(each[1].text), each[1].stored)
        ),
        st.tuples(st.sampled_from(JOINS), inner, inner).map(
            lambda each: Written(each[0].format(each[1].text, each[2].text), each[1].stored and each[2].stored)
        ),
    )


@given(st.recursive(LITERALS | COLUMNS, _wider, max_leaves=6).filter(lambda each: not each.stored))
def test_a_literal_anywhere_in_a_value_is_refused(graph: Graph, written: Written) -> None:
    query = guard_sql(f"SELECT {written.text} AS shown FROM lamp", ["lamp", "maker", "entity"], limit=10)
    with pytest.raises(ToolError):
        check_sql_values(query, graph.schema, frozenset())


@pytest.fixture(scope="module")
def asked(data: Path) -> tuple[App, ScriptedModel]:
    settings = Settings(data=data, embedder="none", _env_file=None)
    composition, model = compose(settings), ScriptedModel()
    agents = build_agents(model, Limits(seconds=5), priors=model_priors("large"), lead="model")
    return build_graph(
        Resources(composition.library, {**composition.agents, "model": agents}, settings), InMemorySaver()
    ), model


async def ask(
    asked: tuple[App, ScriptedModel], *queries: str, question: str = QUESTION, wants: str = "names"
) -> Answer:
    app, model = asked
    # a second opinion of the model agrees
    model.replies = [
        *(step(query, wants=wants, meaning="the weight of Alpha") for query in queries),
        *[{"right": "A"}] * 3,
    ]
    model.asked = []
    events = [event async for event in stream_turn(app, question)]
    answer: Answer = events[-1][1]
    return answer


@pytest.mark.parametrize("text", INVENTED_SQL[::5])
async def test_a_turn_never_answers_with_what_a_model_states(asked: tuple[App, ScriptedModel], text: str) -> None:
    answer = await ask(asked, text, text, text, question="What is the weight of Alpha?", wants="text")
    assert answer["status"] != "answered"
    shown = f"{answer['answer']} {answer['values']} {[each['text'] for each in answer['citations']]}"
    assert not any(each in shown for each in INVENTIONS)


@pytest.mark.parametrize("question", ["What is the weight of Alpha?", "Who sells Beta?", "How heavy are the lamps?"])
async def test_a_bare_number_answers_nothing(asked: tuple[App, ScriptedModel], question: str) -> None:
    answer = await ask(asked, "SELECT 9999", "SELECT 9999 FROM lamp", "SELECT 9999", question=question, wants="number")
    assert answer["status"] != "answered"
    assert 9999 not in answer["values"]


async def test_the_model_gets_the_error_and_may_correct_its_query(asked: tuple[App, ScriptedModel]) -> None:
    answer = await ask(asked, "SELECT 4711 FROM lamp", "SELECT price FROM lamp WHERE label = 'Alpha'", wants="number")
    assert (answer["status"], answer["values"]) == ("answered", [120])
    assert "The number 4711 is no evidence" in str(asked[1].asked[1][-1].content)


@pytest.mark.parametrize("text", STORED_SQL[::4])
async def test_a_turn_answers_with_what_is_stored(asked: tuple[App, ScriptedModel], text: str) -> None:
    answer = await ask(asked, text, text, text, wants="table")
    assert answer["status"] == "answered"
    assert answer["values"]
    assert not any(query["error"] for query in answer["queries"] if query["by"] == "model")
