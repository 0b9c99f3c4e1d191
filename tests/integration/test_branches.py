"""The branches over real stores: what each brings back for one round."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from graph.branches import all_branches
from nacre.config.settings import Settings
from nacre.extensions.foreign_queries.run_model_sql import run_model_sql
from nacre.records.evidence import BranchResult, Rows
from nacre.records.plan import Aggregate, Attribute, Itself, Plan, Select, Variable
from nacre.records.turn import Rewrite
from nacre.stores.catalog import Graph, Library
from nacre.understanding.understand import understand
from nacre.wording.profile import run_plan
from tools import sql
from tools.search_passages import LEXICAL, retrieve_sentences


@pytest.fixture
def graph(settings: Settings) -> Iterator[Graph]:
    library = Library(settings.data, None)
    with library.open("kitchen") as opened:
        yield opened
    library.close()


def table(found: BranchResult) -> Rows:
    assert found.error is None, found.error
    return found.rows[0]


def relation(graph: Graph, label: str) -> str:
    return next(group.relation for group in graph.schema.groups if group.label == label)


def test_every_branch_says_why_it_can_not_be_asked(graph: Graph) -> None:
    lacks = {name: branch.problem(graph) for name, branch in all_branches().items()}
    assert lacks["sql"] == lacks["lexical"] == ""
    assert "embedder" in lacks["vector"]


def test_a_reading_gives_rows_with_keys(graph: Graph) -> None:
    reading = understand(Rewrite("How long does the dal cook?"), graph.schema, graph.lexicon).readings[0]
    found = sql.run_reading(reading, 0, graph.tables, round=1)
    assert "35" in table(found).text
    assert table(found).keys == ("http://example.org/kitchen/dal",)
    assert table(found).query == found.queries[0]


def test_a_written_select_is_traced_to_its_entities(graph: Graph) -> None:
    dish = relation(graph, "dish")
    found = run_model_sql(
        f"SELECT e.label FROM {dish} d JOIN entity e ON e.id = d.id ORDER BY 1", graph.tables, round=1
    )
    rows = table(found).table
    assert rows is not None
    assert rows.rows == (("dal",), ("pilaf",), ("rice porridge",))
    assert rows.keys[0] == ("http://example.org/kitchen/dal",)
    assert found.queries[0].by == "model"


def test_ids_are_shown_as_labels(graph: Graph) -> None:
    found = run_model_sql(f"SELECT id FROM {relation(graph, 'dish')} ORDER BY 1", graph.tables, round=1)
    rows = table(found).table
    assert rows is not None
    assert {row[0] for row in rows.rows} == {"dal", "pilaf", "rice porridge"}


def test_an_aggregate_names_what_it_counts(graph: Graph) -> None:
    found = run_model_sql(f"SELECT count(*) FROM {relation(graph, 'dish')}", graph.tables, round=1)
    rows = table(found).table
    assert rows is not None
    assert rows.rows == ((3,),)
    assert rows.contributing == 3
    assert set(table(found).keys) == {f"http://example.org/kitchen/{name}" for name in ("dal", "pilaf", "porridge")}


def test_a_unit_comes_with_its_column(graph: Graph) -> None:
    column = next(
        column.value
        for relation in graph.schema.relations
        for column in relation.columns
        if graph.schema.predicate_of[column.predicate].unit
    )
    found = run_model_sql(f"SELECT max({column}) AS longest FROM {relation(graph, 'dish')}", graph.tables, round=1)
    assert table(found).text == "longest: 50 min"


def test_rows_over_the_limit_are_said_to_be_cut(graph: Graph) -> None:
    found = run_model_sql("SELECT label FROM entity", graph.tables, round=1, limit=2)
    rows = table(found).table
    assert rows is not None
    assert len(rows.rows) == 2
    assert rows.truncated


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("SELECT flavour FROM entity", "unknown_name"),
        ("SELECT * FROM nothing", "unknown_name"),
        ("SELECT label FROM entity WHERE", "syntax"),
        ("DROP TABLE entity", "refused"),
        ("SELECT * FROM _nacre_meta", "unknown_name"),
        ("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n", "timeout"),
    ],
)
def test_a_failing_select_says_how_it_failed(graph: Graph, text: str, kind: str) -> None:
    found = run_model_sql(text, graph.tables, round=2, seconds=0.2)
    assert found.error is not None
    assert found.error.kind == kind
    assert found.evidence == ()
    assert found.queries[0].error is not None
    # what is told to a model adds how to mend it
    assert found.error.message.startswith(found.queries[0].error.message)


def test_no_statement_changes_the_file(graph: Graph, settings: Settings) -> None:
    file = next(Path(settings.data).glob("kitchen/versions/*/graph.sqlite"))
    before = file.read_bytes()
    for text in ("DELETE FROM entity", "PRAGMA user_version = 7", "WITH d AS (DELETE FROM entity) SELECT 1"):
        assert run_model_sql(text, graph.tables, round=1).error is not None
    assert file.read_bytes() == before
    assert sqlite3.connect(f"file:{file}?mode=ro", uri=True).execute("SELECT count(*) FROM entity").fetchone()[0] > 0


def test_words_find_sentences_with_their_triples(graph: Graph) -> None:
    assert graph.lexical is not None
    assert graph.passages is not None
    found = retrieve_sentences(LEXICAL, graph.lexical, graph.passages, "pilaf", "What is pilaf?", round=1, limit=3)
    assert any("pilaf" in each.text for each in found.evidence)
    assert all(each.triples for each in found.evidence)
    assert found.queries[0].rows > 0


def test_a_count_for_each_value_names_what_it_counts_or_how_many_there_are(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nacre.plans.run.MAX_CONTRIBUTING", 1)
    label = Attribute("d", "http://www.w3.org/2000/01/rdf-schema#label")
    dishes = Variable("d", ("http://example.org/kitchen/Dish",))
    counted = Plan(Select((label, Aggregate("count", Itself("d"))), (dishes,), by=(label,)))
    rows, queries, _ = run_plan(counted, graph.tables, round=1)
    assert not [query.error for query in queries if query.error]
    assert rows is not None
    assert {row[0]: row[1] for row in rows.rows} == {"dal": 1, "pilaf": 1, "rice porridge": 1}
    assert rows.contributing == 3
