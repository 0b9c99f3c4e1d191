"""What rows rest on: things and their triples, or the query as a whole where no single things are behind them."""

from pathlib import Path

import pytest

from nacre.extensions.foreign_queries.run_model_sql import run_model_sql
from nacre.records.evidence import Rows
from nacre.records.plan import Aggregate, Attribute, Combine, Itself, Plan, Select, Variable
from nacre.records.turn import Reading
from nacre.stores.catalog import Graph, Library
from tools.provenance import trace_sources
from tools.sql import run_reading

E = "http://example.org/kitchen/"
TIME = (f"{E}pilaf", f"{E}cookingTime", "25 min")
NAME = (f"{E}pilaf", "http://www.w3.org/2000/01/rdf-schema#label", "pilaf")


@pytest.fixture(scope="module")
def graph(kitchen: Path):
    library = Library(kitchen, None)
    with library.open("kitchen") as graph:
        yield graph
    library.close()


def dish(graph: Graph) -> str:
    return next(group.relation for group in graph.schema.groups if group.label == "dish")


def written(graph: Graph, sql: str) -> Rows:
    [found] = run_model_sql(sql.format(dish=dish(graph)), graph.tables, round=1).rows
    return trace_sources(found, None, graph.tables)  # type: ignore[return-value]


def test_a_row_rests_on_the_values_of_its_thing(graph: Graph) -> None:
    found = written(graph, "SELECT cooking_time FROM {dish} WHERE label = 'pilaf'")
    assert found.keys == (f"{E}pilaf",)
    assert set(found.triples) == {TIME, NAME}
    assert found.basis == "1 row"


def test_a_row_rests_on_the_table_that_is_joined_with_its_label(graph: Graph) -> None:
    found = written(graph, "SELECT e.label FROM entity e JOIN {dish} d ON d.id = e.id WHERE d.cooking_time > 40")
    assert found.keys == (f"{E}porridge",)
    assert (f"{E}porridge", f"{E}cookingTime", "50 min") in found.triples


def test_an_aggregate_rests_on_all_that_it_gathers(graph: Graph) -> None:
    found = written(graph, "SELECT max(cooking_time) FROM {dish}")
    assert found.table.contributing == 3
    assert found.basis == "3 things"
    assert TIME in found.triples


def test_groups_rest_on_all_things_together(graph: Graph) -> None:
    found = written(graph, "SELECT cooking_time > 30, count(*) FROM {dish} GROUP BY 1")
    assert len(found.table.keys) == len(found.table.rows) == 2
    assert len(found.keys) == 3


def test_sets_rest_on_the_query_and_say_so(graph: Graph) -> None:
    found = written(graph, "SELECT label FROM {dish} EXCEPT SELECT label FROM {dish} WHERE cooking_time > 30")
    assert found.table.rows == (("pilaf",),)
    assert (found.keys, found.triples) == ((), ())
    assert "query as a whole" in found.basis


def planned(graph: Graph, plan: Plan) -> Rows:
    [found] = run_reading(Reading(plan, 1.0, 1.0, "x"), 0, graph.tables, round=1).rows
    return trace_sources(found, plan, graph.tables)  # type: ignore[return-value]


def test_a_plan_of_two_sets_says_so_too(graph: Graph) -> None:
    kinds = [Select((Itself("x"),), (Variable("x", (E + kind,)),)) for kind in ("Dish", "Ingredient")]
    found = planned(graph, Plan(Combine("union", *kinds)))  # type: ignore[arg-type]
    assert found.triples == ()
    assert "query as a whole" in found.basis
    assert len(found.keys) == 6


def test_a_plan_names_the_things_behind_its_number(graph: Graph) -> None:
    time = Attribute("x", f"{E}cookingTime")
    found = planned(graph, Plan(Select((Aggregate("avg", time),), (Variable("x", (f"{E}Dish",)),))))
    assert set(found.keys) == {f"{E}dal", f"{E}pilaf", f"{E}porridge"}
    assert {TIME, NAME} <= set(found.triples)
    assert found.basis == "3 things"
